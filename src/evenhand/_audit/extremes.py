"""The two groups that are furthest apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.finding import Pair
from evenhand._columns import Label
from evenhand._uncertainty.curves import Estimates, curve_at
from evenhand.criteria.criterion import class_of

Floats = NDArray[np.float64]
CANDIDATES = 20  # groups at either end that are compared in pairs


def furthest_pair(estimates: Estimates, favorable: Label, level: float) -> Pair | None:
    """The two groups furthest apart of those with disjoint bounds, which hold for all at once.

    So a group of a few rows does not lead because chance threw it far, and the groups that a
    sentence names are those with the largest observed difference wherever that is significant.
    """
    if np.isfinite(estimates.values).sum() < 2:
        return None
    low, high = _steady_bounds(estimates, level)
    best: tuple[float, Pair] | None = None
    for cell, values, lower, upper in zip(
        estimates.cells, estimates.values, low, high, strict=True
    ):
        seen = np.flatnonzero(np.isfinite(values))
        if len(seen) < 2:
            continue
        a, b = _furthest(values[seen], lower[seen], upper[seen])
        if not lower[seen][a] > upper[seen][b]:
            continue
        sure = float(values[seen][a] - values[seen][b]) + (
            1e-9 if class_of(cell) == favorable else 0.0
        )
        if best is None or sure > best[0]:
            ends = (estimates.groups[seen[a]], float(values[seen[a]]))
            others = (estimates.groups[seen[b]], float(values[seen[b]]))
            best = sure, Pair(*(ends + others if ends[1] >= others[1] else others + ends), cell)
    return _furthest_in_errors(estimates, favorable) if best is None else best[1]


def _furthest(values: Floats, lower: Floats, upper: Floats) -> tuple[int, int]:
    """The groups (high, low) with the largest difference of values among disjoint bounds.

    >>> _furthest(np.array([0.9, 0.6, 0.1]), np.array([0.0, 0.5, 0.0]), np.array([1.0, 0.7, 0.2]))
    (1, 2)
    """
    order = np.argsort(upper)
    lowest = np.minimum.accumulate(values[order])
    ends = np.searchsorted(upper[order], lower)  # how many groups end below each one's bound
    ends[np.isnan(lower)] = 0
    gaps = np.where(ends > 0, values - lowest[np.maximum(ends - 1, 0)], -np.inf)
    high = int(np.argmax(gaps))
    if not ends[high]:
        return int(np.argmax(lower)), int(np.argmin(upper))
    below = order[: ends[high]]
    return high, int(below[np.argmin(values[below])])


def _furthest_in_errors(estimates: Estimates, favorable: Label) -> Pair | None:
    """Where no two groups are clearly apart: those the furthest, in their standard errors."""
    down = estimates.values - curve_at(estimates.curves, -1.0)
    up = curve_at(estimates.curves, 1.0) - estimates.values
    best: tuple[float, Pair] | None = None
    for cell, values, below, above in zip(estimates.cells, estimates.values, down, up, strict=True):
        seen = np.flatnonzero(np.isfinite(values) & np.isfinite(below) & np.isfinite(above))
        if len(seen) < 2:
            continue
        middle = np.median(values[seen])
        tops = seen[np.argsort((values[seen] - middle) / (below[seen] + 1e-12))[-CANDIDATES:]]
        bottoms = seen[np.argsort((values[seen] - middle) / (above[seen] + 1e-12))[:CANDIDATES]]
        error = np.hypot(below[tops][:, None], above[bottoms]) + 1e-12
        far = (values[tops][:, None] - values[bottoms]) / error
        far[tops[:, None] == bottoms] = -np.inf
        a, b = np.unravel_index(int(np.argmax(far)), far.shape)
        distance = float(far[a, b]) + (1e-9 if class_of(cell) == favorable else 0.0)
        if best is None or distance > best[0]:
            i, j = int(tops[a]), int(bottoms[b])
            ends = (estimates.groups[i], float(values[i]), estimates.groups[j], float(values[j]))
            best = distance, Pair(*ends, cell)
    return None if best is None else best[1]


def _steady_bounds(estimates: Estimates, level: float) -> tuple[Floats, Floats]:
    """Bounds of all values at once; those of means no narrower than the spread of most rows makes.

    A few rows of a skewed loss that miss its tail show a small mean and a small spread together.
    """
    low, high = estimates.all_at_once(level)
    if estimates.proved:
        return low, high
    root = np.sqrt(np.maximum(estimates.sizes, 1.0))
    own = (curve_at(estimates.curves, 1.0) - curve_at(estimates.curves, -1.0)) * root
    weight = np.where(np.isfinite(own), estimates.sizes, 0.0)
    typical = (np.nan_to_num(own) * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300)
    least = np.maximum(1e-12 * typical, 1e-300)[:, None]  # of values that do not vary at all
    wider = np.fmax(typical[:, None] / np.maximum(own, least), 1.0)
    return (
        estimates.values - (estimates.values - low) * wider,
        estimates.values + (high - estimates.values) * wider,
    )
