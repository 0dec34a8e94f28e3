"""What `frontier` is worth: no method below it, better on test rows, fast.

python benchmarks/frontier.py below    methods of ours, fairlearn, AIF360, OxonFair beside the curve
                                       (below compas: one data set)
python benchmarks/frontier.py small    fifty groups of Adult: the least PQ on test rows
python benchmarks/frontier.py speed    10⁶ rows × 5 groups, and 10⁵ rows × 500 groups by Gini
"""

from __future__ import annotations

import sys
import time
import warnings
from itertools import product

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import evenhand as eh
from evenhand.benchmark import ADAPTERS
from evenhand.datasets import load, split
from evenhand.mitigation import METHODS, GivenProbabilities
from evenhand.mitigation._tradeoff import chances
from evenhand.mitigation.optimal import solve

CRITERIA = ("statistical_parity", "equal_opportunity", "equalized_odds")
PROBLEMS = {
    "adult, 2 groups": ("adult_multigroup", 2),
    "adult, 10 groups": ("adult_multigroup", 10),
    "adult, 50 groups": ("adult_multigroup", 50),
    "compas, 2 groups": ("compas", None),
}
MEASURES = ("mpd", "pq")
LOSS = 0.02


def scored(name, groups, seed=0):
    """Train and test rows as (y, P(class | x), group)."""
    options = {} if groups is None else {"n_groups": groups}
    data = load(name, **options)
    parts = split(data, seed=seed).normalized()
    words = parts.X_train.select_dtypes(exclude="number").columns
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), list(words)), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=500))
    model.fit(parts.X_train, parts.y_train)
    rows = []
    for X, y in ((parts.X_train, parts.y_train), (parts.X_test, parts.y_test)):
        columns = [X[column].astype(str) for column in data.sensitive]
        group = columns[0].str.cat(columns[1:], sep=" × ").to_numpy()
        rows.append((np.asarray(y), model.predict_proba(X), group))
    return rows


def table(rows):
    """What post-processors see: the group and the scores."""
    _, scores, group = rows
    return pd.DataFrame({"group": group, "p0": scores[:, 0], "p1": scores[:, 1]})


def fitted(method, criterion, value, rows):
    options = dict(method.settings)
    if method.hyperparameter:
        options[method.hyperparameter] = value
    names = method.estimator().get_params()
    if "criterion" in names:
        options["criterion"] = criterion
    if "random_state" in names:
        options["random_state"] = 0
    base = GivenProbabilities(["p0", "p1"])
    return method.estimator(base, group="group", **options).fit(table(rows), rows[0])


def methods(criterion, groups):
    for name, method in (METHODS | ADAPTERS).items():
        if name.startswith("oxonfair") and (groups or 2) > 2:
            continue  # its grid of thresholds grows with a power of the groups
        if method.task != "classification" or method.stage != "post":
            continue
        grid = (method.grid or {}).get(criterion)
        if method.hyperparameter is None:
            yield name, method, None
        elif grid:
            for value in list(grid)[:: max(len(grid) // 4, 1)]:
                yield name, method, value


def judged(method, model, rows, criterion, measure):
    y, _, group = rows
    odds = np.asarray(chances(method, model, table(rows)), dtype=float)
    counts = eh.expected_tally(y, odds, classes=[0, 1], sensitive_features=group)
    favorable = 1 if criterion == "equal_opportunity" else None
    value = eh.evaluate(criterion, counts, measure=measure, favorable=favorable)
    return float(value), float((odds[np.arange(len(y)), 1 - y]).mean())


def below(asked=""):
    """For each problem and criterion: how far methods lie above the curve, on both sets of rows."""
    print(
        f"{'problem':18}{'criterion':20}{'measure':8}{'methods':>8}{'below':>7}{'nearest':>10}"
        f"{'test: as good':>15}"
    )
    cells = good = 0
    chosen = {name: of for name, of in PROBLEMS.items() if asked in name}
    for (problem, (name, groups)), criterion in product(chosen.items(), CRITERIA):
        train, test = scored(name, groups)
        models = []
        for label, method, value in methods(criterion, groups):
            try:
                models.append((label, method, fitted(method, criterion, value, train)))
            except Exception as failure:  # a method that takes two groups only, say
                print(f"  {label} on {problem}: {str(failure)[:90]}", file=sys.stderr)
        for measure in MEASURES:
            curve = eh.frontier(
                train[0],
                train[1][:, 1],
                sensitive_features=train[2],
                criterion=criterion,
                measure=measure,
                test=(test[0], test[1][:, 1], test[2]),
                values=25,
            )
            margins, wins = [], []
            columns = curve.to_dict()
            reached, spent = np.array(columns["test_value"]), np.array(columns["test_cost"])
            error = float(np.median(columns["test_error"]))
            noise = np.subtract(columns["test_high"], columns["test_low"]) / 3.92
            for label, method, model in models:
                value, cost = judged(method, model, train, criterion, measure)
                least = curve.proof.problem(value)
                margins.append(cost - solve(least).cost)
                if margins[-1] < -1e-6:
                    print(f"  BELOW: {label} by {-margins[-1]:.1e}", file=sys.stderr)
                value, cost = judged(method, model, test, criterion, measure)
                within = spent[reached - noise <= value + 1e-9]
                wins.append(len(within) > 0 and within.min() <= cost + error)
            cells, good = cells + len(wins), good + sum(wins)
            print(
                f"{problem:18}{criterion:20}{measure:8}{len(margins):8}"
                f"{sum(m < -1e-6 for m in margins):7}{min(margins):10.1e}"
                f"{sum(wins):9} of {len(wins)}",
                flush=True,
            )
    print(f"on test rows as good within a standard error: {good} of {cells} ({good / cells:.0%})")


def small():
    """The least PQ on test rows for at most 0.02 of accuracy, by seed."""
    for seed in range(3):
        train, test = scored("adult_multigroup", 50, seed)
        base = float((test[1].argmax(axis=1) == test[0]).mean())
        method = METHODS["RateConstrained"]
        before = []
        for epsilon in (0.3, 0.2, 0.1, 0.05, 0.02, 0.01):
            model = fitted(method, "statistical_parity", epsilon, train)
            before.append(judged(method, model, test, "statistical_parity", "pq"))
        curve = eh.frontier(
            train[0],
            train[1][:, 1],
            sensitive_features=train[2],
            measure="pq",
            test=(test[0], test[1][:, 1], test[2]),
        )
        most = 1 - base + LOSS
        within = [point for point in curve.points if point.test.cost <= most]
        best = min(within, key=lambda point: point.test.value)
        least = min(value for value, cost in before if cost <= most)
        print(
            f"seed {seed}: RateConstrained {least:.3f}, frontier {best.test.value:.3f}, "
            f"ratio {best.test.value / least:.2f}; in decisions drawn {drawn(best.rule, test):.3f}"
        )


def drawn(rule, rows, times=20):
    """PQ of decisions that were drawn, on average: with the noise of the draws themselves."""
    y, scores, group = rows
    code = np.unique(group, return_inverse=True)[1]
    chance = rule.probabilities(scores, code)[:, 1]
    random = np.random.default_rng(0)
    values = [
        eh.evaluate(
            "statistical_parity",
            y,
            (random.random(len(y)) < chance).astype(int),
            sensitive_features=group,
            measure="pq",
        )
        for _ in range(times)
    ]
    return float(np.mean(values))


def speed():
    random = np.random.default_rng(0)
    for rows, groups, measures in ((10**6, 5, ("mpd", "gini", "pq")), (10**5, 500, ("gini",))):
        group = random.integers(0, groups, rows)
        lean = random.normal(size=rows) + 0.8 * random.normal(size=groups)[group] - 1
        score = 1 / (1 + np.exp(-lean))
        y = (random.random(rows) < score).astype(int)
        for measure in measures:
            start = time.process_time()
            curve = eh.frontier(
                y, score, sensitive_features=group, measure=measure, rate_error=None
            )
            spent = time.process_time() - start
            gap = max(curve.to_dict()["gap"])
            print(
                f"{rows:.0e} rows × {groups} groups × 20 points by {measure}: {spent:.1f} CPU s, "
                f"largest gap {gap:.1e}"
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"below": below, "small": small, "speed": speed}[sys.argv[1]](*sys.argv[2:])
