"""Transport with an unknown for every pair of values, for solvers that are not ours."""

import numpy as np
from scipy import optimize, sparse

from evenhand.mitigation.transport.plan import Supply


def histograms(groups, values, seed, empty=0.1):
    """Groups' probabilities of the values, some of them zero, and the groups' shares."""
    random = np.random.default_rng(seed)
    mass = random.dirichlet(np.full(values, 0.8), size=groups)
    mass[mass < empty / values] = 0
    return mass / mass.sum(axis=1, keepdims=True), random.dirichlet(np.full(groups, 3.0))


def supply_of(points, mass, share):
    cdfs = np.minimum(np.cumsum(mass, axis=1), 1.0)
    cdfs[:, -1] = 1.0
    return Supply(points, cdfs, share)


def least_by_highs(points, mass, share, alpha):
    """The least cost of couplings whose outcomes' CDFs are within α/2 of some common one."""
    groups, k = mass.shape
    costs = np.square(points[:, None] - points).ravel()
    sends = sparse.kron(sparse.eye(k), np.ones((1, k)))
    arrives = np.tril(np.ones((k, k))) @ np.kron(np.ones((1, k)), np.eye(k))
    common = np.kron(np.ones((groups, 1)), np.eye(k))
    cdfs = sparse.block_diag([arrives] * groups)
    away = sparse.hstack([cdfs, -common])
    found = optimize.linprog(
        np.concatenate([np.kron(share, costs), np.zeros(k)]),
        A_ub=sparse.vstack([away, -away]),
        b_ub=np.full(2 * groups * k, alpha / 2),
        A_eq=sparse.hstack([sparse.block_diag([sends] * groups), np.zeros((groups * k, k))]),
        b_eq=mass.ravel(),
        method="highs",
    )
    return found.fun


def least_by_cvxpy(points, mass, share, measure, epsilon, first, p=1, q=2):
    """The least cost of couplings whose CDFs meet the measure's definition from `first` on."""
    import cvxpy as cp

    groups, k = mass.shape
    couplings = [cp.Variable((k, k), nonneg=True) for _ in range(groups)]
    rules = [cp.sum(one, axis=1) == given for one, given in zip(couplings, mass, strict=True)]
    cdfs = [cp.cumsum(cp.sum(one, axis=0)) for one in couplings]
    for cut in range(first, k - 1):
        levels = cp.hstack([cdf[cut] for cdf in cdfs])
        rules.append(bounded(levels, groups, measure, epsilon, p, q))
    costs = np.square(points[:, None] - points)
    paid = [w * cp.sum(cp.multiply(costs, one)) for w, one in zip(share, couplings, strict=True)]
    problem = cp.Problem(cp.Minimize(sum(paid)), rules)
    return problem.solve(solver=cp.CLARABEL)


def bounded(w, groups, measure, epsilon, p=1, q=2):
    """measure(w) ≤ ε as cvxpy writes it."""
    import cvxpy as cp

    if measure == "mpd":
        return cp.max(w) - cp.min(w) <= epsilon
    if measure == "gini":
        pairs = [cp.abs(w[i] - w[j]) for i in range(groups) for j in range(i)]
        return sum(pairs) <= epsilon * groups * cp.sum(w)
    lesser = cp.sum(w) / groups if p == 1 else groups ** (-1 / p) * cp.pnorm(w, p)
    greater = cp.sum(w) / groups if q == 1 else groups ** (-1 / q) * cp.pnorm(w, q)
    return (1 - epsilon) * greater <= lesser
