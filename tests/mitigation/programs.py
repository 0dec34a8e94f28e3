"""The whole problem, with an unknown for every row and class, for solvers that are not ours."""

from inspect import signature

import numpy as np
from scipy import optimize, sparse


def rows_of(n, classes, groups, seed=0, decimals=None):
    """Class probabilities whose law depends on the group; rounded ones have many ties."""
    random = np.random.default_rng(seed)
    group = np.concatenate([np.arange(groups), random.integers(groups, size=n - groups)])
    scores = 1.5 * random.normal(size=(n, classes)) + random.normal(size=(groups, classes))[group]
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    if decimals is not None:
        probabilities = np.round(probabilities, decimals) + 10.0**-decimals
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities, group


def known(probabilities, group):
    """P(group, class | x) where the group is known: (rows, groups, classes)."""
    return np.eye(group.max() + 1)[group][:, :, None] * probabilities[:, None, :]


def rates_of(joint, criterion):
    """For each cell its class, and by group the weight of each row in the rate (groups, rows)."""
    classes = joint.shape[2]
    truths = {
        "statistical_parity": [(y, range(classes)) for y in range(classes)],
        "equal_opportunity": [(y, [y]) for y in ([1] if classes == 2 else range(classes))],
        "equalized_odds": [(y, [k]) for k in range(classes) for y in range(classes)],
    }
    if criterion == "average_odds":
        cells = []
        for y in range(classes):
            hits, alarms = joint[:, :, [y]].sum(2).T, np.delete(joint, y, axis=2).sum(2).T
            halves = [part / part.sum(axis=1, keepdims=True) / 2 for part in (hits, alarms)]
            cells.append((y, sum(halves)))
        return cells
    parts = [(y, joint[:, :, list(given)].sum(axis=2).T) for y, given in truths[criterion]]
    return [(y, part / part.sum(axis=1, keepdims=True)) for y, part in parts]


def whole_program(joint, criterion, alpha, cost=None):
    """The least expected cost with rates at most α apart, by HiGHS."""
    n, groups, classes = joint.shape
    cost = 1 - np.eye(classes) if cost is None else cost
    cells = rates_of(joint, criterion)
    upper, limits = [], []
    for number, (y, weights) in enumerate(cells):
        rate = np.zeros((groups, n, classes))
        rate[:, :, y] = weights
        low = np.zeros((groups, len(cells)))
        low[:, number] = 1
        upper += [np.hstack([-rate.reshape(groups, -1), low])]
        upper += [np.hstack([rate.reshape(groups, -1), -low])]
        limits += [np.zeros(groups), np.full(groups, alpha)]
    unknowns = n * classes + len(cells)
    each = sparse.hstack([sparse.kron(sparse.eye(n), np.ones(classes)), np.zeros((n, len(cells)))])
    objective = np.concatenate([(joint.sum(axis=1) @ cost).ravel() / n, np.zeros(len(cells))])
    found = optimize.linprog(
        objective,
        A_ub=np.vstack(upper),
        b_ub=np.concatenate(limits),
        A_eq=each,
        b_eq=np.ones(n),
        bounds=[(0, None)] * (n * classes) + [(None, None)] * (unknowns - n * classes),
    )
    assert found.status == 0
    return found.fun


def convex_program(joint, criterion, measure, epsilon, p=1, q=2):
    """The least expected error with measure(rates) ≤ ε in every cell, by cvxpy."""
    import cvxpy as cp

    # cvxpy before 1.8 knows no other way than the one that it has called approximate since
    exact = {"approx": False} if "approx" in signature(cp.pnorm).parameters else {}
    n, d, classes = joint.shape
    chance = cp.Variable((n, classes), nonneg=True)
    limits = [cp.sum(chance, axis=1) == 1]
    for y, weights in rates_of(joint, criterion):
        rate = weights @ chance[:, y]
        if measure == "gini":
            pairs = sum(cp.abs(rate[i] - rate[j]) for i in range(d) for j in range(i))
            limits.append(pairs <= epsilon * d * cp.sum(rate))
        else:
            factor = d ** (1 / p - 1 / q) * (1 - epsilon)
            upper, lower = (
                cp.sum(rate) if order == 1 else cp.pnorm(rate, order, **exact) for order in (q, p)
            )
            limits.append(factor * upper <= lower)
    error = cp.sum(cp.multiply(1 - joint.sum(axis=1), chance)) / n
    return cp.Problem(cp.Minimize(error), limits).solve(solver=cp.CLARABEL)
