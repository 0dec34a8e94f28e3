"""Axes: by the square root for PQ, which grows with the square of the differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = (1.0, 2.0, 5.0)


def by_root(axes: Axes, highest: float, which: Literal["x", "y"] = "x") -> None:
    """Space an axis by its square root, from 0, with round ticks."""
    limits, scale = (0, max(highest, 1e-12)), {"functions": (_root, np.square)}
    if which == "x":
        axes.set_xscale("function", **scale)
        axes.set_xlim(*limits)
    else:
        axes.set_yscale("function", **scale)
        axes.set_ylim(*limits)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(root_ticks(highest))
    axis.set_major_formatter(lambda value, _: f"{value:g}".replace("e-0", "e-"))
    axes.minorticks_off()


def _root(values: Any) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.maximum(values, 0.0)))


def root_ticks(highest: float, apart: float = 0.18) -> list[float]:
    """Round numbers up to the highest, no two close together.

    >>> root_ticks(0.09)
    [0.0, 0.005, 0.02, 0.05]
    """
    if not highest > 0:
        return [0.0]
    power = np.floor(np.log10(highest))
    round_ones = [step * 10**e for e in np.arange(power, power - 4, -1) for step in STEPS[::-1]]
    kept: list[float] = []
    limit = float(np.sqrt(highest))
    for value in round_ones:
        previous = np.sqrt(kept[-1]) if kept else np.inf
        root = float(np.sqrt(value))
        if value <= highest and previous - root >= apart * limit and root >= apart * limit:
            kept.append(float(f"{value:g}"))
    return [0.0, *kept[::-1]]


def is_by_root(question: str) -> bool:
    """Whether a question's axis is spaced by the root: those by PQ(1, 2).

    >>> is_by_root("average_odds.pq"), is_by_root("average_odds.gini")
    (True, False)
    """
    return ".pq" in question


def window(values: Any, *, low_is_good: bool = False, reach: float = 4.0) -> tuple[float, float]:
    """Limits that show the better three quarters well, and of the others what is not too far.

    >>> window(np.array([0.70, 0.71, 0.72, 0.72, 0.10]))
    (0.613, 0.727)
    """
    sign = -1.0 if low_is_good else 1.0
    seen = sign * np.asarray(values, dtype=np.float64)
    quarter, best = float(np.quantile(seen, 0.25)), float(seen.max())
    worst = max(float(seen.min()), quarter - reach * max(best - quarter, 1e-9))
    margin = 0.07 * max(best - worst, 1e-3 * abs(best), 1e-4)  # also where all are equal
    ends = sorted((sign * (worst - margin), sign * (best + margin)))
    return round(ends[0], 6), round(ends[1], 6)
