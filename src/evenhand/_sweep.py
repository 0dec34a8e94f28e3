"""A measure of the groups' cumulative distributions at every cut point, in one sweep.

The measures follow from running sums and running extremes along the steps; rows × groups are
never laid out.

The Gini index: when one group moves, the sum of absolute differences changes by its distances to
all the others. Within a block of steps those are the levels at the start of the block,
known once and sorted, and the few moves made since: a block of b steps costs groups · log(groups)
+ b², not b · groups. For the largest value most blocks need no visit: the coefficient of variation,
a running sum, bounds the Gini index from above.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._data.distributions import Distribution, Steps
from evenhand._errors import InputError
from evenhand.measures import Measure, cv_range_of_gini, transformed

Floats = NDArray[np.float64]

Places = NDArray[np.intp]

APART = (
    8.0  # offset between rows of sorted levels that are searched as one array; levels are below e
)
NEGLIGIBLE = 1e-12  # what rounding may leave below 0
TIED = 1e-9  # values this close, relatively, are one value


class Peak(NamedTuple):
    """The largest inequality of the CDFs, the value where it occurs, and F of each group there."""

    value: float
    at: float
    levels: Floats


def supremum(
    distribution: Distribution, measure: Measure, *, transform: str | None = None, tau: float = 0.0
) -> Peak:
    """The largest S of the groups' CDFs over the cut points whose pooled F is at least tau."""
    path = distribution.steps
    levels = np.full(len(distribution.groups), np.nan)
    if path.groups < 2:
        return Peak(np.nan, np.nan, levels)
    if not 0 <= tau <= 1:
        raise InputError(f"tau is a share of the rows, between 0 and 1; it is {tau}.")
    allowed = path.cuts[_pooled(distribution)[path.cuts] >= tau] if tau else path.cuts
    if measure.reads == "ranks":
        peak = gini_peak(path, allowed, transform)
    else:
        peak = int(allowed[first_highest(curve(path, allowed, measure, transform))])
    levels[path.observed] = next(path.levels(np.array([peak + 1])))[1][0]
    value = transformed(measure, transform)(levels[path.observed])
    return Peak(float(value), float(distribution.values[peak]), levels)


def first_highest(values: Floats) -> int:
    """The first place, in flat order, whose value is the largest but for rounding.

    Equal values differ in the last digit when rows are counted in another order.

    >>> first_highest(np.array([0.1, 0.5, 0.3, 0.5 * (1 + 1e-13)]))
    1
    """
    highest = np.nanmax(values)
    return int(np.argmax(values >= highest - TIED * abs(highest)))


def integral(
    distribution: Distribution, measure: Measure, *, transform: str | None = None
) -> float:
    """S of the groups' CDFs, integrated exactly over the range of the pooled values."""
    path = distribution.steps
    if path.groups < 2:
        return np.nan
    widths = np.diff(distribution.values[path.cuts])
    value = float(curve(path, path.cuts[:-1], measure, transform) @ widths)
    return 0.0 if -NEGLIGIBLE < value < 0 else value


def curve(path: Steps, cuts: NDArray[np.intp], measure: Measure, transform: str | None) -> Floats:
    """S of the groups' CDFs after each of the given steps."""
    if measure.reads == "extremes" and (transform is None or not measure.is_relative):
        return np.asarray(measure(np.stack(_extremes(path, cuts)).T))  # in rows: faster by half
    if measure.reads == "ranks" and len(cuts) * _width(path.groups) > len(path):  # few values tie
        return gini_curve(path, transform)[cuts]
    if measure.reads == "powers":
        return _pq_curve(path, cuts, transform, *measure.orders)
    return _any_curve(path, cuts, transformed(measure, transform))


def gini_curve(path: Steps, transform: str | None) -> Floats:
    """Gini after every step."""
    width = _width(path.groups)
    blocks = _visit(path, np.arange(0, len(path), width), width, transform)
    return blocks.ravel()[: len(path)]


def gini_peak(path: Steps, cuts: Places, transform: str | None) -> int:
    """The cut with the largest Gini."""
    if path.groups == 2:  # the bound is attained
        return int(cuts[first_highest(_upper_bounds(path, transform)[cuts])])
    width = _width(path.groups)
    blocks = -(-len(path) // width)
    bounds = np.full((blocks, width), -1.0)
    bounds.flat[cuts] = _upper_bounds(path, transform)[cuts]
    highest = bounds.max(axis=1)

    def best_of(chosen: Places, best: float) -> tuple[float, int]:
        values = _visit(path, chosen * width, width, transform, floor=best)
        values[bounds[chosen] < 0] = -1.0
        row, step = np.unravel_index(first_highest(values), values.shape)
        return float(values[row, step]), int(chosen[row] * width + step)

    promising = np.argpartition(highest, -min(16, blocks))[-16:]
    best, _ = best_of(np.sort(promising), 0.0)
    return best_of(np.flatnonzero(highest >= best * (1 - 1e-9)), best)[1]


def _width(groups: int) -> int:
    """Steps in a block, so that sorting the levels and pairing the moves cost about equally."""
    return max(4, round(2.5 * sqrt(groups)))


def _upper_bounds(path: Steps, transform: str | None) -> Floats:
    """An upper bound: the Gini of evenly spaced entries with the same coefficient of variation."""
    d = path.groups
    total, squares = path.power_sums((1, 2), transform)
    cv2 = np.maximum(squares * d / (total * total) - 1, 0) + 1e-12
    even = (d + 1) / (3 * d)  # up to here the least CV is in proportion to Gini, and then above
    return np.asarray(np.sqrt(cv2) * even / cv_range_of_gini(even, d)[0])


def _visit(
    path: Steps, starts: Places, width: int, transform: str | None, floor: float = 0.0
) -> Floats:
    """Gini after each step of the chosen blocks; 0 past the last step, and where below `floor`."""
    result = np.zeros((len(starts), width))
    places = np.minimum(starts[:, None] + np.arange(width), len(path) - 1)
    past = starts[:, None] + np.arange(width) >= len(path)
    for block, levels in path.levels(starts):
        old, new = path.before[places[block]], path.after[places[block]]
        if transform == "exp":
            levels, old, new = np.exp(levels), np.exp(old), np.exp(new)
        levels = np.sort(levels, axis=-1)
        open_ = _reachable(levels, (new - old).sum(axis=-1)) >= floor * (1 - 1e-9)
        result[block][open_] = _block(levels[open_], old[open_], new[open_])
    result[past] = 0.0
    return result


def _reachable(levels: Floats, moved: Floats) -> Floats:
    """An upper bound of Gini in a block: at most, all moves are in the highest group."""
    d, total = levels.shape[-1], levels.sum(axis=-1)
    return np.asarray((_spread(levels) + (d - 1) * moved) / (d * (total + moved)))


def _spread(levels: Floats) -> Floats:
    """Σ |difference| over all pairs of sorted levels."""
    d = levels.shape[-1]
    return np.asarray(levels @ (2 * np.arange(1, d + 1) - d - 1.0))


def _block(levels: Floats, old: Floats, new: Floats) -> Floats:
    """Gini after each move old → new, from the sorted levels before the first."""
    d = levels.shape[-1]
    sums = np.cumsum(levels, axis=-1)
    spread = _spread(levels)
    change = _distances(levels, sums, new) - _distances(levels, sums, old) - (new - old)
    change += _corrections(old, new)
    total = sums[:, -1:] + np.cumsum(new - old, axis=-1)
    return np.asarray((spread[:, None] + np.cumsum(change, axis=-1)) / (d * total))


def _distances(levels: Floats, sums: Floats, points: Floats) -> Floats:
    """Σ |point − level| over the levels of the same row."""
    rows, d = levels.shape
    shift = APART * np.arange(rows)[:, None]
    rank = np.searchsorted((levels + shift).ravel(), (points + shift).ravel(), side="right")
    rank = rank.reshape(points.shape) - d * np.arange(rows)[:, None]
    below = np.take_along_axis(np.pad(sums, ((0, 0), (1, 0))), rank, axis=-1)
    return np.asarray(points * (2 * rank - d) + sums[:, -1:] - 2 * below)


def _corrections(old: Floats, new: Floats) -> Floats:
    """The effect of earlier moves in the same block on the change of each."""
    result = np.zeros_like(old)
    for step in range(1, old.shape[-1]):
        start, end = old[:, step, None], new[:, step, None]
        earlier_start, earlier_end = old[:, :step], new[:, :step]
        part = np.abs(end - earlier_end) - np.abs(end - earlier_start)
        part -= np.abs(start - earlier_end) - np.abs(start - earlier_start)
        result[:, step] = part.sum(axis=-1)
    return result


def _extremes(path: Steps, cuts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Smallest and largest F: the lowest yet to move, and the highest so far."""
    high = np.maximum.accumulate(path.after)
    low = np.minimum.accumulate(np.append(path.before[1:], 1.0)[::-1])[::-1]
    return low[cuts], high[cuts]


def _pq_curve(
    path: Steps, cuts: NDArray[np.intp], transform: str | None, p: float, q: float
) -> Floats:
    lesser, greater = (sums[cuts] for sums in path.power_sums((p, q), transform))
    return np.asarray(1 - path.groups ** (1 / q - 1 / p) * lesser ** (1 / p) / greater ** (1 / q))


def _any_curve(path: Steps, cuts: NDArray[np.intp], measure: Callable[..., Any]) -> Floats:
    """For a measure without a running form: lay out the levels of a few cut points at a time."""
    result = np.empty(len(cuts))
    for block, levels in path.levels(cuts + 1):
        result[block] = measure(levels)
    return result


def _pooled(distribution: Distribution) -> Floats:
    if distribution.weights is None:
        return np.arange(1, len(distribution) + 1) / len(distribution)
    grown = np.cumsum(distribution.weights)
    return np.asarray(grown / grown[-1])
