"""Penalties beside post-processing: small networks on Adult and Law School, drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evenhand import pq as pq_index
from evenhand.measures import gini, mpd

SMALL = {"hidden": (32,), "max_epochs": 8, "patience": None, "progress": False, "device": "cpu"}
WAYS: dict[str, dict[str, Any]] = {
    "plain": {"noise": None},
    "noise subtracted": {"noise": "subtract"},
    "memory": {"noise": "memory"},
    "memory, sharp": {"noise": "memory", "temperature": 0.3},
}


def run(seeds: int) -> None:
    """Small networks on Adult (sex × race) and Law School (race): penalties and post-processing.

    Post-processing adjusts the network without a penalty: with the group when it decides, or
    without, by a model of the group.
    """
    for seed in range(seeds):
        for name, rows in (("adult", adult_decisions), ("law_school", law_school_grades)):
            for method, setting, found in rows(seed):
                line = {"data": name, "seed": seed, "method": method, "setting": setting}
                print(json.dumps(line | found), flush=True)


def halves(task: str, names: list[str], seed: int) -> tuple[Any, Any, Any, Any]:
    """Training and test rows: numbers, 0/1 columns, and the group in a column of its own."""
    import pandas as pd

    from evenhand.datasets import load

    data = load(task)
    group = data.X[names[0]].astype(str)
    for more in names[1:]:
        group = group + " " + data.X[more].astype(str)
    X = pd.get_dummies(data.X.drop(columns=names), dtype=float)
    X["group"] = group.to_numpy()
    y = data.y.to_numpy()
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[: len(y) // 4], order[len(y) // 4 :]
    return X.iloc[train], y[train], X.iloc[test], y[test]


def adult_decisions(seed: int) -> Iterator[tuple[str, float, dict[str, float]]]:
    from sklearn.frozen import FrozenEstimator
    from sklearn.linear_model import LogisticRegression

    from evenhand.mitigation import PenalizedClassifier, RateConstrainedClassifier

    X, y, X_test, y_test = halves("adult_multigroup", ["sex", "race"], seed)
    y, y_test = (np.unique(each, return_inverse=True)[1] for each in (y, y_test))
    common = {"group": "group", "sees_group": False, "random_state": seed, "measure": "pq", **SMALL}

    def found(model: Any, by_lot: bool = False) -> dict[str, float]:
        chosen = model.predict_proba(X_test)[:, 1] if by_lot else model.predict(X_test)
        rates = X_test.assign(chosen=chosen).groupby("group")["chosen"].mean().to_numpy()
        right = float(np.where(y_test == 1, chosen, 1 - chosen).mean())
        measures = {"pq": pq_index, "gini": gini, "mpd": mpd}
        return {"accuracy": right} | {name: float(m(rates)) for name, m in measures.items()}

    base = PenalizedClassifier(**common, strength=0.0).fit(X, y)
    yield "none", 0.0, found(base)
    for name, options in WAYS.items():
        for strength in (0.3, 1.0, 3.0, 10.0):
            model = PenalizedClassifier(**common, strength=strength, **{"measure": "pq"} | options)
            yield name, strength, found(model.fit(X, y))
    for name, group_model in (
        ("with the group", None),
        ("blind", LogisticRegression(max_iter=300)),
    ):
        post = RateConstrainedClassifier(
            FrozenEstimator(base), group="group", sees_group=False, prefit=True, measure="pq",
            group_estimator=group_model, tolerance=1e-4, random_state=seed,
        )  # fmt: skip
        grid = (0.0, 0.01, 0.03, 0.06, 0.1)
        for epsilon, model in zip(grid, post.fit_path(X, y, grid), strict=True):
            yield f"post, {name}", epsilon, found(model, by_lot=True)


def law_school_grades(seed: int) -> Iterator[tuple[str, float, dict[str, float]]]:
    from sklearn.frozen import FrozenEstimator

    from evenhand import CRITERIA, distribution
    from evenhand.mitigation import BarycenterRegressor, PenalizedRegressor

    X, y, X_test, y_test = halves("law_school", ["race"], seed)
    common = {"group": "group", "sees_group": False, "random_state": seed, **SMALL}

    def found(model: Any) -> dict[str, float]:
        values = model.predict(X_test)
        error = float(np.sqrt(np.mean((values - y_test) ** 2)))
        source = distribution(values, sensitive_features=X_test["group"])
        means = X_test.assign(value=values).groupby("group")["value"].mean()
        strong = float(CRITERIA["strong_parity"](source, measure="mpd"))
        return {"error": error, "mpd": float(np.ptp(means.to_numpy())), "strong": strong}

    base = PenalizedRegressor(**common, strength=0.0).fit(X, y)
    yield "none", 0.0, found(base)
    for criterion in ("weak_parity", "wasserstein_parity"):
        for strength in (0.3, 1.0, 3.0, 10.0):
            model = PenalizedRegressor(**common, criterion=criterion, strength=strength)
            yield criterion, strength, found(model.fit(X, y))
    for fraction in (0.25, 0.5, 0.75, 1.0):
        post = BarycenterRegressor(
            FrozenEstimator(base), group="group", sees_group=False, prefit=True, fraction=fraction
        )
        yield "post, with the group", fraction, found(post.fit(X, y))


PANELS: dict[str, Any] = {
    "adult": (
        "accuracy",
        "pq",
        "Adult: income by sex × race",
        "Accuracy (more is better)",
        "PQ of decisions (less is better)",
        (0.80, 0.86),
        0.3,
    ),
    "law_school": (
        "error",
        "strong",
        "Law School: grades by race",
        "Error, RMSE (less is better)",
        "Strong parity, largest difference (less is better)",
        (0.38, 0.43),
        0.45,
    ),
}
MARKS = {"none": "*", "post, with the group": "s", "post, blind": "D"}


def picture(lines: Path, out: Path) -> None:
    """Means over seeds of every method and setting: a table, and curves with a panel each."""
    import pandas as pd
    from matplotlib.figure import Figure

    rows = pd.DataFrame([json.loads(line) for line in lines.read_text().splitlines()])
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    for axes, (data, (across, up, title, below, left, shown, most)) in zip(
        figure.subplots(1, 2), PANELS.items(), strict=True
    ):
        mine = rows[rows["data"] == data].dropna(axis=1, how="all")
        by = mine.groupby(["method", "setting"], sort=False)
        values = [name for name in mine if name not in ("data", "seed", "method", "setting")]
        means, errors = by[values].mean(), by[values].sem()
        print(means.round(3).join(errors.round(3).add_suffix(" ±")).to_string())
        for method in dict.fromkeys(mine["method"]):
            curve = means.loc[method].sort_index()
            is_post = method.startswith("post")
            label = {"none": "no penalty"}.get(method, method.replace("_", " "))
            axes.plot(
                curve[across], curve[up], marker=MARKS.get(method, "o"), markersize=6,
                linestyle=":" if is_post else "-", linewidth=1.4, label=label,
            )  # fmt: skip
        axes.set(title=title, xlabel=below, ylabel=left)
        axes.set(xlim=shown, ylim=(0, most))
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(
            frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2
        )
    figure.savefig(out, dpi=110)
