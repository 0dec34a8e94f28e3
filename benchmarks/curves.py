"""PQ, Gini and MPD of the groups' distributions, exactly, next to one argsort of the scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import readable, take_turns

from evenhand import CRITERIA, distribution
from report import Bar, Line

MEASURES = ("pq", "gini", "mpd")
BARS = {2: Bar("<", 2), 1000: Bar("<", 4)}
MODELS = ("fair", "unfair")


def lines(scale: float) -> Iterator[Line]:
    """Fair and unfair models, few and many groups."""
    for groups, model in product((2, 50, 1000), MODELS):
        yield from _against(f"{groups} groups, {model}", *draw(int(1e6 * scale), groups, model))


def draw(rows: int, groups: int, model: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Predictions and groups; an unfair model shifts the groups by up to a standard deviation."""
    random = np.random.default_rng(groups)
    group = random.integers(groups, size=rows)
    shift = group / groups if model == "unfair" else 0.0
    return random.normal(size=rows) + shift, group


def asked(criterion: str, scores: Any, group: Any) -> Callable[[], tuple[float, ...]]:
    """Order once, then all the measures."""

    def run() -> tuple[float, ...]:
        ordered = distribution(scores, sensitive_features=group)
        return tuple(CRITERIA[criterion](ordered, measure=measure) for measure in MEASURES)

    return run


def _against(case: str, scores: NDArray[np.float64], group: NDArray[np.int64]) -> Iterator[Line]:
    timed = take_turns(
        {
            "np.argsort": lambda: np.argsort(scores),
            "strong_parity": asked("strong_parity", scores, group),
            "wasserstein_parity": asked("wasserstein_parity", scores, group),
        }
    )
    base = timed.pop("np.argsort").seconds
    yield Line(case, "np.argsort", readable(base))
    for name, ours in timed.items():
        bar = BARS.get(int(case.split()[0])) if name == "strong_parity" else None
        yield Line(case, f"{name}: pq, gini, mpd", readable(ours.seconds), ours.seconds / base, bar)
