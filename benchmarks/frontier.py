"""What `frontier` is worth: no method below it, better on test rows, fast.

python benchmarks/frontier.py below    methods of ours, fairlearn, AIF360, OxonFair beside the curve
                                       (below "adult, 2 groups": some of the problems)
python benchmarks/frontier.py small    fifty groups of Adult: the least PQ on test rows
python benchmarks/frontier.py speed    10⁶ rows × 5 groups, and 10⁵ rows × 500 groups by Gini;
                                       and amounts
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import evenhand as eh
from evenhand.benchmark.adapters import ADAPTERS
from evenhand.datasets import load, split
from evenhand.mitigation import METHODS, GivenProbabilities
from evenhand.mitigation._tradeoff import chances
from evenhand.mitigation.crossfit.rows import read_rows
from evenhand.mitigation.optimal import solve

CRITERIA = ("statistical_parity", "equal_opportunity", "equalized_odds")
MEASURES = ("mpd", "pq")
LOSS = 0.02
MOST_ROWS = 6_000  # of a data set, drawn at random

# How many groups: the columns that are crossed, those with a number cut into so many equal parts.
Crossed = dict[str, int | None]
SEX_RACE: Crossed = {"sex": None, "race": None}
PEOPLE: dict[str, tuple[str, dict[int, Crossed]]] = {
    "adult": (
        "adult_multigroup",
        {2: {"sex": None}, 10: SEX_RACE, 50: {**SEX_RACE, "age": 5}},
    ),
    "compas": (
        "compas",
        {2: {"race": None}, 10: {"race": None, "age": 5}, 50: {**SEX_RACE, "age": 13}},
    ),
    "law school": (
        "law_school",
        {
            2: {"gender": None},
            10: {"race": None, "gender": None},
            50: {"race": None, "gender": None, "lsat": 6},
        },
    ),
    "communities": (
        "communities",
        {
            2: {"race": None},
            10: {"race": None, "medIncome": 5},
            50: {"race": None, "medIncome": 25},
        },
    ),
    "acs": ("acs_income_binary", {2: {"sex": None}, 10: SEX_RACE, 50: {**SEX_RACE, "age": 5}}),
    "acs, 5 classes": ("acs_income", {2: {"sex": None}, 10: SEX_RACE, 50: {**SEX_RACE, "age": 5}}),
}
PROBLEMS = {
    f"{name}, {count} groups": (task, crossed)
    for name, (task, by_count) in PEOPLE.items()
    for count, crossed in by_count.items()
}


def scored(name, crossed=None, seed=0):
    """Train and test rows as (y, P(class | x), group).

    Amounts are cut at their median. Test rows of groups that no training row has are left out.
    """
    data = load(name, **({"n_groups": 50} if name == "adult_multigroup" else {}))
    if crossed is not None:
        data = sampled(data, crossed)
    parts = split(data, seed=seed).normalized()
    own = [] if crossed is None else ["group"]
    features = parts.X_train.columns.difference(own, sort=False)
    words = parts.X_train[features].select_dtypes(exclude="number").columns
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), list(words)), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=500))
    model.fit(parts.X_train[features], parts.y_train.astype(int))
    rows = []
    for X, y in ((parts.X_train, parts.y_train), (parts.X_test, parts.y_test)):
        columns = [X[column].astype(str) for column in data.sensitive]
        group = columns[0].str.cat(columns[1:], sep=" × ").to_numpy()
        known = np.isin(group, rows[0][2] if rows else group)
        scores = model.predict_proba(X[features])
        rows.append((np.asarray(y, dtype=int)[known], scores[known], group[known]))
    return rows


def sampled(data, crossed):
    """At most so many rows, in groups of these columns, with a class to predict."""
    X = data.X
    if len(X) > MOST_ROWS:
        X = X.sample(MOST_ROWS, random_state=0).sort_index()
    parts = [
        X[name].astype(str)
        if cuts is None
        else pd.qcut(X[name], cuts, duplicates="drop").astype(str)
        for name, cuts in crossed.items()
    ]
    group = parts[0].str.cat(parts[1:], sep=" × ") if len(parts) > 1 else parts[0]
    y = data.y.loc[X.index]
    if data.kind == "regression":
        y = (y > y.median()).astype(int)
    X, y = X.assign(group=group).reset_index(drop=True), y.reset_index(drop=True)
    return replace(data, X=X, y=y, sensitive=("group",))


def table(rows):
    """What post-processors see: the group and the scores."""
    _, scores, group = rows
    names = [f"p{k}" for k in range(scores.shape[1])]
    return pd.DataFrame(scores, columns=names).assign(group=group)


def fitted(method, criterion, value, rows):
    options = dict(method.settings)
    if method.hyperparameter:
        options[method.hyperparameter] = value
    names = method.estimator().get_params()
    if "criterion" in names:
        options["criterion"] = criterion
    if "random_state" in names:
        options["random_state"] = 0
    base = GivenProbabilities([f"p{k}" for k in range(rows[1].shape[1])])
    return method.estimator(base, group="group", **options).fit(table(rows), rows[0])


def methods(criterion, groups):
    """Every post-processor with two or three settings, here and in other libraries."""
    for name, method in (METHODS | ADAPTERS).items():
        if name.startswith("oxonfair") and groups > 2:
            continue  # its grid of thresholds grows with a power of the groups
        if method.task != "classification" or method.stage != "post":
            continue
        grid = (method.grid or {}).get(criterion)
        if method.hyperparameter is None:
            yield name, method, None
        elif grid:
            for value in list(grid)[:: max(len(grid) // 2, 1)]:
                yield name, method, value


def models_of(problem, criterion, train):
    """Those that can be fitted to these rows."""
    models = []
    for name, method, value in methods(criterion, len(np.unique(train[2]))):
        try:
            models.append((name, method, fitted(method, criterion, value, train)))
        except Exception as failure:  # a method that takes two groups or classes only, say
            print(f"  {name} on {problem}: {str(failure)[:90]}", file=sys.stderr)
    return models


def judged(method, model, rows, curve, believed=False):
    """Disparity and cost of a method's decisions, by labels or by the scores themselves."""
    y, scores, group = rows
    odds = np.asarray(chances(method, model, table(rows)), dtype=float)
    like = read_rows(None if believed else y, scores, group, like=curve.rows)
    decided = like.confusion(odds)
    return curve.question.value(decided, like.favorable), curve.question.price(decided)


def below(asked=""):
    """For each problem and criterion: how far methods lie above the curve, on both sets of rows.

    With more than two classes a frontier believes the scores, and so are methods judged on the
    fitting rows. On test rows all are judged by labels, and a method is matched if some rule is as
    even, within a standard error of its disparity, and as cheap, within one of its cost.
    """
    print(
        f"{'problem':26}{'criterion':20}{'measure':8}{'methods':>8}{'below':>7}{'nearest':>10}"
        f"{'as good on test rows':>23}"
    )
    cells = good = 0
    chosen = {name: of for name, of in PROBLEMS.items() if asked in name}
    rows = {problem: scored(*of) for problem, of in chosen.items()}
    for (problem, (train, test)), criterion in product(rows.items(), CRITERIA):
        models = models_of(problem, criterion, train)
        for measure in MEASURES:
            margins, wins = compared(models, train, test, criterion, measure)
            cells, good = cells + len(wins), good + sum(wins)
            print(
                f"{problem:26}{criterion:20}{measure:8}{len(margins):8}"
                f"{sum(margin < -1e-6 for margin in margins):7}{min(margins):10.1e}"
                f"{sum(wins):17} of {len(wins)}",
                flush=True,
            )
    print(f"as good on test rows, within a standard error: {good} of {cells} ({good / cells:.0%})")


def compared(models, train, test, criterion, measure):
    """How much more each method costs than the frontier on fitting rows; and if rules match it."""
    of = [
        (y, scores if scores.shape[1] > 2 else scores[:, 1], group)
        for y, scores, group in (train, test)
    ]
    curve = eh.frontier(
        *of[0][:2],
        sensitive_features=of[0][2],
        criterion=criterion,
        measure=measure,
        test=of[1],
        values=12,
    )
    reached, spent = along(curve, test)
    tests = [point.test for point in curve.points]
    error = float(np.median([judged.error for judged in tests]))
    noise = float(np.median([(judged.high - judged.low) / 3.92 for judged in tests]))
    margins, wins = [], []
    for name, method, model in models:
        believed = train[1].shape[1] > 2
        value, cost = judged(method, model, train, curve, believed)
        least = solve(curve.proof.problem(value))
        margins.append(cost - (least.cost - least.gap))  # what is proved
        if margins[-1] < -1e-6:
            print(f"  BELOW: {name} by {-margins[-1]:.1e}", file=sys.stderr)
        value, cost = judged(method, model, test, curve)
        within = spent[reached - noise <= value + 1e-9]
        wins.append(len(within) > 0 and within.min() <= cost + error)
        if not wins[-1]:
            nearest = within.min() if len(within) else np.nan
            print(
                f"  better on test rows: {name}, {criterion} by {measure}: {value:.3f} at "
                f"{cost:.4f}, and rules as even cost {nearest:.4f}",
                file=sys.stderr,
            )
    return margins, wins


def along(curve, rows, steps=5):
    """Disparity and cost on rows of the recommended rules, and of mixtures of neighbors."""
    y, scores, group = rows
    like = read_rows(y, scores, group, like=curve.rows)
    tables = [
        like.confusion(point.rule.probabilities(like.features, like.known))
        for point in curve.points
    ]
    mixtures = [
        (1 - part) * one + part * other
        for one, other in pairwise(tables)
        for part in np.linspace(0, 1, steps, endpoint=False)
    ] + tables[-1:]
    values = [curve.question.value(mixture, like.favorable) for mixture in mixtures]
    return np.array(values), np.array([curve.question.price(mixture) for mixture in mixtures])


def small():
    """The least PQ on test rows for at most 0.02 of accuracy, and how far the curve turns back."""
    for seed in range(3):
        train, test = scored("adult_multigroup", seed=seed)
        base = float((test[1].argmax(axis=1) == test[0]).mean())
        method = METHODS["RateConstrained"]
        curve = eh.frontier(
            train[0],
            train[1][:, 1],
            sensitive_features=train[2],
            measure="pq",
            test=(test[0], test[1][:, 1], test[2]),
        )
        before = []
        for epsilon in (0.3, 0.2, 0.1, 0.05, 0.02, 0.01):
            model = fitted(method, "statistical_parity", epsilon, train)
            before.append(judged(method, model, test, curve))
        most = 1 - base + LOSS
        within = [point for point in curve.points if point.test.cost <= most]
        best = min(within, key=lambda point: point.test.value)
        least = min(value for value, cost in before if cost <= most)
        print(
            f"seed {seed}: RateConstrained {least:.3f}, frontier {best.test.value:.3f}, "
            f"ratio {best.test.value / least:.2f}; in decisions drawn {drawn(best.rule, test):.3f};"
            f" fitted to {curve.fitted_to}; {turned(curve)}",
            flush=True,
        )


def turned(curve):
    """By how much the disparity on test rows rises where the bound gets tighter, at most."""
    value = np.array([point.test.value for point in curve.points])
    noise = np.median([(point.test.high - point.test.low) / 3.92 for point in curve.points])
    rise = float(np.max(value - np.minimum.accumulate(value[::-1])[::-1]))
    return f"a tighter bound raises it by {rise:.4f} at most (standard error {noise:.3f})"


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
            curve = eh.frontier(y, score, sensitive_features=group, measure=measure)
            spent = time.process_time() - start
            gap = max(curve.to_dict()["gap"])
            print(
                f"{rows:.0e} rows × {groups} groups × 20 points by {measure}: {spent:.1f} CPU s, "
                f"largest gap {gap:.1e}"
            )
    speed_of_amounts(random)


def speed_of_amounts(random):
    for rows, groups in ((10**5, 5), (10**6, 5), (10**6, 50)):
        group = random.integers(0, groups, rows)
        truth = random.normal(group / groups)
        predicted = truth + 0.5 * random.normal(size=rows)
        for criterion in ("strong_parity", "wasserstein_parity", "weak_parity"):
            start = time.process_time()
            curve = eh.frontier(truth, predicted, sensitive_features=group, criterion=criterion)
            spent = time.process_time() - start
            gap = max(curve.to_dict()["gap"])
            print(
                f"{rows:.0e} rows × {groups} groups × 20 points of {criterion}: {spent:.1f} CPU s, "
                f"largest gap {gap:.1e}"
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"below": below, "small": small, "speed": speed}[sys.argv[1]](*sys.argv[2:])
