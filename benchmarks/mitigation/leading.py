"""How much of the gap methods remove on test rows for a small loss of accuracy.

python benchmarks/mitigation/leading.py --seeds 2
python benchmarks/mitigation/leading.py --problem adult --criterion equalized_odds --measure pq

Every method has the same base model, logistic regression, and one to eleven settings of its own;
of those that lose at most .05 of the base model's accuracy on test rows, the one with the least gap
counts. Random decisions are judged by their chances.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from evenhand._data.counting import expected_tally
from evenhand.benchmark.adapters import ADAPTERS
from evenhand.criteria.evaluation import named
from evenhand.datasets import load
from evenhand.mitigation import METHODS
from evenhand.mitigation._tradeoff import chances

LOSSES = (0.01, 0.05)
ROWS = 20_000
SEX_RACE = {"sex": None, "race": None}
PROBLEMS = {
    "adult, 5 groups": ("adult_multigroup", {"race": None}),
    "adult, 10 groups": ("adult_multigroup", SEX_RACE),
    "adult, 50 groups": ("adult_multigroup", {**SEX_RACE, "age": 5}),
    "acs, 5 groups": ("acs_income_binary", {"race": None}),
    "acs, 10 groups": ("acs_income_binary", SEX_RACE),
    "acs, 50 groups": ("acs_income_binary", {**SEX_RACE, "age": 5}),
}
PARTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)  # of the base model's gap


@dataclass(frozen=True)
class Half:
    """Rows to fit on, or to judge by."""

    X: pd.DataFrame
    y: np.ndarray


def halves(task, crossed, seed):
    """Half of the rows to fit on; the other half without groups that the first lacks."""
    data = load(task, **({"n_groups": 50} if task == "adult_multigroup" else {}))
    X = data.X
    if len(X) > ROWS:
        X = X.sample(ROWS, random_state=seed)
    parts = [
        X[name].astype(str)
        if cuts is None
        else pd.qcut(X[name], cuts, duplicates="drop").astype(str)
        for name, cuts in crossed.items()
    ]
    group = parts[0].str.cat(parts[1:], sep=" × ") if len(parts) > 1 else parts[0]
    y = data.y.loc[X.index].to_numpy().astype(int)
    X = X.assign(group=group).reset_index(drop=True)
    first = np.random.default_rng(seed).random(len(X)) < 0.5
    second = ~first & X["group"].isin(X["group"][first]).to_numpy()
    return Half(X[first], y[first]), Half(X[second], y[second])


def base(X):
    """Logistic regression on every column but the group."""
    words = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    numbers = [name for name in X.columns if name not in words]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers)
    )
    return make_pipeline(encode, LogisticRegression(max_iter=500))


def place(odds, half, criterion, measure):
    """Gap and accuracy of decisions with these chances."""
    counts = expected_tally(
        half.y, odds, classes=np.array([0, 1]), sensitive_features=half.X["group"].to_numpy()
    )
    table = counts.table("y", "yhat")
    value = named(criterion)(counts, measure=measure, favorable=1)
    return float(value), float(np.trace(table) / table.sum())


def contestants(criterion, measure, gap):
    """Each method with its settings."""
    bounds = [part * gap for part in PARTS]
    told = {"criterion": criterion, "measure": measure, "favorable": 1}
    yield "Frontier", METHODS["Frontier"], [told | {"epsilon": bound} for bound in bounds]
    yield (
        "plain optimum",
        METHODS["RateConstrained"],
        [told | {"epsilon": bound} for bound in bounds],
    )
    yield (
        "Reduction",
        METHODS["Reduction"],
        [{"criterion": criterion, "epsilon": bound / 2, "max_iter": 15} for bound in bounds[::2]],
    )
    if "fairlearn.ThresholdOptimizer" in ADAPTERS:
        yield (
            "ThresholdOptimizer",
            ADAPTERS["fairlearn.ThresholdOptimizer"],
            [{"criterion": criterion}],
        )


def path(method, settings, train, test, criterion, measure):
    """Gap and accuracy on test rows, by setting."""
    features = [name for name in train.X.columns if name != "group"]
    model = base(train.X[features])
    known = method.estimator().get_params()  # methods of other libraries hide the group
    hidden = {"sees_group": False} if "sees_group" in known else {}
    if not hidden:  # and they take a fitted model
        model.fit(train.X[features], train.y)
    made = [method(model, group="group", random_state=0, **hidden, **own) for own in settings]
    if hasattr(made[0], "fit_path"):
        fits = made[0].fit_path(train.X, train.y, [own["epsilon"] for own in settings])
    else:
        fits = (one.fit(train.X, train.y) for one in made)
    return [place(chances(method, fitted, test.X), test, criterion, measure) for fitted in fits]


def removed(places, start, loss):
    """The share of the gap that the best setting removes within this loss of accuracy."""
    gap, accuracy = start
    near = [value for value, own in places if own >= accuracy - loss]
    return max(0.0, 1 - min(near, default=gap) / gap)


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seeds", type=int, default=2)
    words.add_argument("--problem", default="")
    words.add_argument("--criterion", default="statistical_parity")
    words.add_argument("--measure", default="mpd")
    words.add_argument("--only", default="")
    asked = words.parse_args()
    warnings.simplefilter("ignore")
    for problem, (task, crossed) in PROBLEMS.items():
        if asked.problem not in problem:
            continue
        found = {}
        for seed in range(asked.seeds):
            train, test = halves(task, crossed, seed)
            model = base(train.X.drop(columns="group")).fit(train.X.drop(columns="group"), train.y)
            odds = model.predict_proba(test.X.drop(columns="group"))
            start = place(np.eye(2)[odds.argmax(axis=1)], test, asked.criterion, asked.measure)
            for name, method, settings in contestants(asked.criterion, asked.measure, start[0]):
                if asked.only and asked.only not in name:
                    continue
                began = time.perf_counter()
                try:
                    places = path(method, settings, train, test, asked.criterion, asked.measure)
                except Exception as failure:
                    print("  ", name, str(failure)[:100])
                    continue
                spent = time.perf_counter() - began
                found.setdefault(name, []).append(
                    [*(removed(places, start, loss) for loss in LOSSES), spent]
                )
        print(f"{problem}, gap {start[0]:.3f}, accuracy {start[1]:.4f}, rows {len(train.y)}")
        for name, shares in found.items():
            *mean, spent = np.mean(shares, axis=0)
            told = "  ".join(
                f"{share:.2f} within {loss}" for share, loss in zip(mean, LOSSES, strict=True)
            )
            print(f"  {name:20} {told}   {spent:.0f} s", flush=True)


if __name__ == "__main__":
    main()
