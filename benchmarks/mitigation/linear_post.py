"""LinearPost by column generation against its whole linear program, and at the size of a census.

python benchmarks/mitigation/linear_post.py               both
python benchmarks/mitigation/linear_post.py --rows 5000   fewer rows of Adult, for a quick look
python benchmarks/mitigation/linear_post.py --no-census   without the 1.4 million rows of ACS income
python benchmarks/mitigation/linear_post.py --dual        with the dual program too: a minute

ACS income is read where EVENHAND_DATA says. Times are of the processor, so that other work on the
machine does not count; the base model's scores are given to both contestants.
"""

from __future__ import annotations

import argparse
import resource
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from scipy import optimize, sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from evenhand.datasets import load, split
from evenhand.mitigation import LinearPostClassifier
from evenhand.mitigation.optimal import known_groups, problem, solve

EPSILON = 0.01


def timed(work):
    wall, used = perf_counter(), process_time()
    result = work()
    return result, process_time() - used, perf_counter() - wall


def by_columns(scores, group, criterion):
    population = known_groups(scores, group, np.ones(len(group)), group.max() + 1)
    return solve(problem(population, criterion, "mpd", EPSILON)).cost


def by_whole_program(scores, group, criterion):
    """The program as published: chances of each row and class, and a middle for each rate."""
    n, classes = scores.shape
    groups = group.max() + 1
    given = [None] if criterion == "statistical_parity" else range(classes)
    cells = [(k, y) for k in given for y in range(classes)]
    rates, middles = [], []
    for number, (k, y) in enumerate(cells):
        weight = np.ones(n) if k is None else scores[:, k]
        share = weight / np.bincount(group, weight)[group]
        rates.append(
            sparse.csr_array((share, (group, np.arange(n) * classes + y)), (groups, n * classes))
        )
        middles.append(
            sparse.csr_array(
                (np.ones(groups), (np.arange(groups), np.full(groups, number))),
                (groups, len(cells)),
            )
        )
    rate, middle = sparse.vstack(rates), sparse.vstack(middles)
    each = sparse.kron(sparse.eye_array(n), np.ones((1, classes)))
    found = optimize.linprog(
        np.concatenate([(1 - scores).ravel() / n, np.zeros(len(cells))]),
        A_ub=sparse.block_array([[rate, -middle], [-rate, middle]], format="csr"),
        b_ub=np.full(2 * rate.shape[0], EPSILON / 2),
        A_eq=sparse.hstack([each, sparse.csr_array((n, len(cells)))], format="csr"),
        b_eq=np.ones(n),
        bounds=(0, None),
        method="highs",
    )
    return found.fun


def by_whole_dual(scores, group):
    """The dual of the program for parity, which has a criterion for every row and class."""
    n, classes = scores.shape
    groups = group.max() + 1
    row, y = np.divmod(np.arange(n * classes), classes)
    weight = 1 / (np.bincount(group) / n)[group[row]]
    value = sparse.csr_array((np.ones(len(row)), (np.arange(len(row)), row)))
    price = sparse.csr_array((weight, (np.arange(len(row)), y * groups + group[row])))
    balance = sparse.csr_array(np.kron(np.eye(classes), np.ones((1, groups))))
    pairs = 2 * classes * groups
    found = optimize.linprog(
        np.concatenate([-np.ones(n) / n, np.full(pairs, EPSILON / 2)]),
        A_ub=sparse.hstack([value, price, -price], format="csr"),
        b_ub=(1 - scores).ravel(),
        A_eq=sparse.hstack([sparse.csr_array((classes, n)), balance, -balance], format="csr"),
        b_eq=np.zeros(classes),
        bounds=[(None, None)] * n + [(0, None)] * pairs,
        method="highs",
    )
    return -found.fun


def adult_scores(rows):
    adult = load("adult")
    X = split(adult, seed=0).normalized().X_train[:rows]
    y = split(adult, seed=0).normalized().y_train[:rows]
    model = LogisticRegression(max_iter=1000).fit(encoded(X), y)
    return model.predict_proba(encoded(X)), pd.factorize(X["sex"])[0]


def encoded(X):
    """Numbers as they are, categories one-hot."""
    return pd.get_dummies(X, drop_first=True, dtype=float)


def against_the_whole_program(rows, dual):
    scores, group = adult_scores(rows)
    print(f"Adult, {len(group):,} rows, 2 classes, 2 groups, α = {EPSILON}\n")
    print("| criterion | column generation | whole program (HiGHS) | ratio | costs differ by |")
    print("| --- | --- | --- | --- | --- |")
    for criterion in ("statistical_parity", "equalized_odds"):
        ours, fast, _ = min(
            (timed(lambda c=criterion: by_columns(scores, group, c)) for _ in range(5)),
            key=lambda one: one[1],
        )
        whole, slow, _ = timed(lambda c=criterion: by_whole_program(scores, group, c))
        print(
            f"| {criterion} | {1000 * fast:.0f} ms | {slow:.1f} s | {slow / fast:.0f}× "
            f"| {abs(ours - whole):.1e} |",
            flush=True,
        )

    if dual:
        _, slow, _ = timed(lambda: by_whole_dual(scores, group))
        print(f"\nThe dual program of statistical parity took HiGHS {slow:.0f} s.")


def at_the_size_of_a_census():
    census = load("acs_income")
    X, y = census.X.copy(), census.y
    for name in set(census.categorical) - set(census.sensitive):
        X[name] = X[name].astype("category").cat.codes
    some = X.sample(100_000, random_state=0).index
    hidden = X.drop(columns=list(census.sensitive))
    base = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    base.fit(hidden.loc[some], y.loc[some])
    print(
        f"\n{census.title}: {len(X):,} rows, {len(census.classes)} classes, base model of 100,000"
    )
    print("\n| criterion | groups | fit, processor | fit, wall | gap | MPD | peak memory |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for criterion in ("statistical_parity", "equalized_odds"):
        post = LinearPostClassifier(
            base,
            group=list(census.sensitive),
            sees_group=False,
            prefit=True,
            criterion=criterion,
            epsilon=EPSILON,
        )
        fitted, used, wall = timed(lambda post=post: post.fit(X, y))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"| {criterion} | {len(fitted.sensitive_.labels)} | {used:.1f} s | {wall:.1f} s "
            f"| {fitted.gap_:.1e} | {fitted.value_:.6f} | {peak:.2f} GiB |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=39_000)
    parser.add_argument("--no-census", action="store_true")
    parser.add_argument("--dual", action="store_true")
    options = parser.parse_args()
    against_the_whole_program(options.rows, options.dual)
    if not options.no_census:
        at_the_size_of_a_census()
