"""Regression methods against their bars, and AIF360's grid search, as ratios within one run.

PYTHONPATH=benchmarks python benchmarks/mitigation/regression_speed.py
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from timing import readable, take_turns

from evenhand.mitigation import (
    BarycenterRegressor,
    BoundedGroupLossRegressor,
    GivenScores,
    ParityConstrainedRegressor,
    TransportRegressor,
)
from report import Bar, Line, shown

GRID = 10


def lines(scale: float = 1.0) -> Iterator[Line]:
    """The grid search next to AIF360's, then the post-processors alone."""
    yield from _grid_search(int(16_000 * scale))
    yield from _post_processors(int(1e6 * scale))


def people(rows: int, groups: int, features: int = 8) -> tuple[pd.DataFrame, pd.Series[float]]:
    """Numeric features, a score that depends on the group, and a target from 0 to 1."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(rows, features))).add_prefix("x")
    X["group"] = random.integers(groups, size=rows)
    X["score"] = X["x0"] + X["group"] / groups
    y = X["score"] + X["x1"] + random.normal(size=rows)
    return X, ((y - y.min()) / np.ptp(y)).rename("y")


def _grid_search(rows: int) -> Iterator[Line]:
    """Both see the group, and choose by squared loss; AIF360's is clipped, here far away."""
    from aif360.sklearn.inprocessing import GridSearchReduction

    X, y = people(rows, groups=2)
    theirs: Any = GridSearchReduction(
        "group",
        LinearRegression(),
        constraints="BoundedGroupLoss",
        loss="Square",
        min_val=-10,
        max_val=10,
        grid_size=GRID,
        drop_prot_attr=False,
    )
    ours = BoundedGroupLossRegressor(group="group", grid_size=GRID)
    timed = take_turns(
        {
            "evenhand": lambda: ours.fit(X, y).predict(X),
            "AIF360": lambda: theirs.fit(X, y).predict(X),
        },
        rounds=3,
    )
    case = f"bounded group loss, {rows} rows"
    best, peer = timed["evenhand"], timed["AIF360"]
    yield Line(case, "BoundedGroupLossRegressor", readable(best.seconds))
    ratio = peer.seconds / best.seconds
    yield Line(case, "AIF360 GridSearchReduction", readable(peer.seconds), ratio, Bar("≥", 20))
    apart = float(np.abs(best.result - peer.result).max())
    yield Line(case, "greatest difference of predictions", f"{apart:.1e}")


def _post_processors(rows: int) -> Iterator[Line]:
    X, y = people(rows, groups=4)
    given = {"estimator": GivenScores("score"), "group": "group"}
    asked = {
        f"barycenter, fit and predict {rows} rows": (BarycenterRegressor(**given), 2.0),
        "transport, 4 groups × 500 bins": (
            TransportRegressor(epsilon=0.05, support=500, **given),
            5.0,
        ),
        "optimal by PQ, 4 groups × 100 bins": (
            ParityConstrainedRegressor(**given, measure="pq"),
            None,
        ),
        "optimal by Gini, 4 groups × 100 bins": (
            ParityConstrainedRegressor(measure="gini", epsilon=0.05, **given),
            None,
        ),
    }
    for case, (model, limit) in asked.items():
        spent = take_turns({"evenhand": lambda m=model: m.fit(X, y).predict(X)}, rounds=3)
        seconds = spent["evenhand"].seconds
        bar = None if limit is None else Bar("<", limit)
        yield Line(case, type(model).__name__, readable(seconds), seconds, bar, " s")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable()  # AIF360 announces optional parts that are not installed
    list(shown(lines()))
