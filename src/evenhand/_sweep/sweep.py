"""A measure of the groups' cumulative distributions at every cut point, in one sweep.

The measures follow from running sums and running extremes along the steps; rows × groups are
never laid out.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._distributions.distribution import Distribution, Steps
from evenhand._errors import InputError
from evenhand._sweep.gini import gini_curve, gini_peak
from evenhand.measures import Measure, gini, mpd, pq, shortfall, transformed

Floats = NDArray[np.float64]


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
    if measure is gini:
        peak = gini_peak(path, allowed, transform)
    else:
        peak = int(allowed[np.argmax(curve(path, allowed, measure, transform))])
    levels[path.observed] = next(path.levels(np.array([peak + 1])))[1][0]
    value = transformed(measure, transform)(levels[path.observed])
    return Peak(float(value), float(distribution.values[peak]), levels)


def integral(
    distribution: Distribution, measure: Measure, *, transform: str | None = None
) -> float:
    """S of the groups' CDFs, integrated exactly over the range of the pooled values."""
    path = distribution.steps
    if path.groups < 2:
        return np.nan
    widths = np.diff(distribution.values[path.cuts])
    return float(curve(path, path.cuts[:-1], measure, transform) @ widths)


def curve(path: Steps, cuts: NDArray[np.intp], measure: Measure, transform: str | None) -> Floats:
    """S of the groups' CDFs after each of the given steps."""
    if measure is mpd:
        low, high = _extremes(path, cuts)
        return high - low
    if measure is shortfall and transform is None:
        low, high = _extremes(path, cuts)
        return (high - low) / high
    if measure is gini:
        return gini_curve(path, transform)[cuts]
    orders = _orders(measure)
    if orders is not None:
        return _pq_curve(path, cuts, transform, **orders)
    return _any_curve(path, cuts, transformed(measure, transform))


def _orders(measure: Measure) -> dict[str, float] | None:
    """The orders of a PQ index, if the measure is one and nothing else is asked of it."""
    if measure is pq:
        return {"p": 1, "q": 2}
    if not isinstance(measure, partial) or measure.func is not pq or measure.args:
        return None
    if not measure.keywords.keys() <= {"p", "q", "any_order"}:
        return None
    orders = {"p": 1, "q": 2} | measure.keywords
    return {name: orders[name] for name in ("p", "q")}


def _extremes(path: Steps, cuts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Smallest and largest F: the lowest that has yet to move, and the highest so far."""
    high = np.maximum.accumulate(path.after)
    low = np.minimum.accumulate(np.append(path.before[1:], 1.0)[::-1])[::-1]
    return low[cuts], high[cuts]


def _pq_curve(
    path: Steps, cuts: NDArray[np.intp], transform: str | None, p: float, q: float
) -> Floats:
    lesser, greater = (sums[cuts] for sums in path.power_sums((p, q), transform))
    return np.asarray(1 - path.groups ** (1 / q - 1 / p) * lesser ** (1 / p) / greater ** (1 / q))


def _any_curve(path: Steps, cuts: NDArray[np.intp], measure: Measure) -> Floats:
    """For a measure without a running form: lay out the levels of a few cut points at a time."""
    result = np.empty(len(cuts))
    for some, levels in path.levels(cuts + 1):
        result[some] = measure(levels)
    return result


def _pooled(distribution: Distribution) -> Floats:
    if distribution.weights is None:
        return np.arange(1, len(distribution) + 1) / len(distribution)
    grown = np.cumsum(distribution.weights)
    return np.asarray(grown / grown[-1])
