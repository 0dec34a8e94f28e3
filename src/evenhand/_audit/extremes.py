"""The two groups with the largest difference."""

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
    """The two groups with the largest difference among those with disjoint simultaneous bounds.

    So a group of a few rows is not named for an extreme value due to chance, and the groups that a
    sentence names have the largest observed difference among the significant ones.
    """
    if np.isfinite(estimates.values).sum() < 2:
        return None
    low, high = _steady_bounds(estimates, level)
    best: tuple[float, Pair] | None = None
    for cell, values, lower, upper in zip(
        estimates.cells, estimates.values, low, high, strict=True
    ):
        defined = np.flatnonzero(np.isfinite(values))
        if len(defined) < 2:
            continue
        a, b = _furthest(values[defined], lower[defined], upper[defined])
        if not lower[defined][a] > upper[defined][b]:
            continue
        difference = float(values[defined][a] - values[defined][b]) + (
            1e-9 if class_of(cell) == favorable else 0.0
        )
        if best is None or difference > best[0]:
            ends = (estimates.groups[defined[a]], float(values[defined[a]]))
            opposite = (estimates.groups[defined[b]], float(values[defined[b]]))
            best = (
                difference,
                Pair(*(ends + opposite if ends[1] >= opposite[1] else opposite + ends), cell),
            )
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
    """The two groups furthest apart in standard errors, if no difference is significant."""
    down = estimates.values - curve_at(estimates.curves, -1.0)
    up = curve_at(estimates.curves, 1.0) - estimates.values
    best: tuple[float, Pair] | None = None
    for cell, values, below, above in zip(estimates.cells, estimates.values, down, up, strict=True):
        defined = np.flatnonzero(np.isfinite(values) & np.isfinite(below) & np.isfinite(above))
        if len(defined) < 2:
            continue
        middle = np.median(values[defined])
        tops = defined[
            np.argsort((values[defined] - middle) / (below[defined] + 1e-12))[-CANDIDATES:]
        ]
        bottoms = defined[
            np.argsort((values[defined] - middle) / (above[defined] + 1e-12))[:CANDIDATES]
        ]
        error = np.hypot(below[tops][:, None], above[bottoms]) + 1e-12
        distances = (values[tops][:, None] - values[bottoms]) / error
        distances[tops[:, None] == bottoms] = -np.inf
        a, b = np.unravel_index(int(np.argmax(distances)), distances.shape)
        distance = float(distances[a, b]) + (1e-9 if class_of(cell) == favorable else 0.0)
        if best is None or distance > best[0]:
            i, j = int(tops[a]), int(bottoms[b])
            ends = (estimates.groups[i], float(values[i]), estimates.groups[j], float(values[j]))
            best = distance, Pair(*ends, cell)
    return None if best is None else best[1]


def _steady_bounds(estimates: Estimates, level: float) -> tuple[Floats, Floats]:
    """Simultaneous bounds of all values; of means, no narrower than a typical spread allows.

    A few rows of a skewed loss that miss its tail show a small mean and a small spread together.
    """
    low, high = estimates.all_at_once(level)
    if estimates.proved:
        return low, high
    root = np.sqrt(np.maximum(estimates.sizes, 1.0))
    spread = (curve_at(estimates.curves, 1.0) - curve_at(estimates.curves, -1.0)) * root
    weight = np.where(np.isfinite(spread), estimates.sizes, 0.0)
    typical = (np.nan_to_num(spread) * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300)
    floor = np.maximum(1e-12 * typical, 1e-300)[:, None]  # for values that do not vary at all
    wider = np.fmax(typical[:, None] / np.maximum(spread, floor), 1.0)
    return (
        estimates.values - (estimates.values - low) * wider,
        estimates.values + (high - estimates.values) * wider,
    )
