"""How much more uneven one model is than another on the same rows, given how rows may vary.

Sampling noise raises every measure, and a resampled table carries it twice, so a plain bootstrap of
the difference is biased wherever noise raises one model more than the other. On the scale where
noise adds up (the square of MPD and Gini; PQ is quadratic already) resampling raises a value by as
much as sampling did, and the bias can be taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, log2, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.measures import Measure

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A quantity cleared of noise, its interval, and the p-value of its being 0 if asked."""

    value: float
    low: float
    high: float
    p_value: float = np.nan


UNKNOWN = Estimate(np.nan, np.nan, np.nan)


def order_of(measure: Measure) -> int:
    """1 if the measure doubles when small deviations double, 2 if it quadruples.

    >>> from evenhand import gini, pq
    >>> order_of(gini), order_of(pq)
    (1, 2)
    """
    away = 1e-3 * np.array([-1.0, -0.2, 0.3, 1.0])
    return min(2, max(1, round(log2(measure(1 + 2 * away) / measure(1 + away)))))


def single(value: float, drawn: Floats, order: int, confidence: float) -> Estimate:
    """One model's value, from its values in resampled rows; never below 0."""
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(value) or len(drawn) < 2:
        return UNKNOWN
    power = 2 / order
    center, error = _cleared(value**power, drawn**power)
    reach = _z(confidence) * error
    ends = np.maximum([center, center - reach, center + reach], 0.0) ** (1 / power)
    return Estimate(*ends.tolist())


def difference(
    values: tuple[float, float], drawn: tuple[Floats, Floats], order: int, confidence: float
) -> Estimate:
    """The first model's value minus the second's, from their values in the same resampled rows."""
    kept = ~(np.isnan(drawn[0]) | np.isnan(drawn[1]))
    if np.isnan(values).any() or kept.sum() < 2:
        return UNKNOWN
    power = 2 / order
    one, two = (values[i] ** power for i in (0, 1))
    first, second = (drawn[i][kept] ** power for i in (0, 1))
    center, error = _cleared(one - two, first - second)
    total = 0.0
    if order == 1:
        cleared = (_cleared(one, first)[0], _cleared(two, second)[0])
        total = sum(sqrt(max(part, 0.0)) for part in cleared)
    reach = _z(confidence) * error
    middle, low, high = (
        _unsquared(end, total, order) for end in (center, center - reach, center + reach)
    )
    return Estimate(middle, low, high, _p_value(center, error))


def _cleared(seen: float, drawn: Floats) -> tuple[float, float]:
    """What was seen less what resampling adds to it, and the spread of the resampled."""
    return float(2 * seen - drawn.mean()), float(drawn.std(ddof=1))


def _unsquared(squares: float, total: float, order: int) -> float:
    """Read a − b off a² − b², given an estimate of a + b; never more than √|a² − b²|."""
    if order == 2:
        return squares
    most = sqrt(abs(squares))
    return float(np.sign(squares) * min(abs(squares) / total if total else most, most))


def _p_value(center: float, error: float) -> float:
    if error == 0:
        return 1.0 if center == 0 else 0.0
    return erfc(abs(center) / error / sqrt(2))


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1, the smallest value; ties share their mean rank, and NaN comes last.

    >>> ranks([0.3, 0.1, np.nan, 0.3])
    array([2.5, 1. , 4. , 2.5])
    """
    from scipy.stats import rankdata

    array = _without_rounding(values)
    return np.asarray(rankdata(np.where(np.isnan(array), np.inf, array), axis=-1))


def kendall(one: ArrayLike, two: ArrayLike) -> Floats:
    """Kendall's τ-b of two vectors; models undefined in either are left out.

    NaN where fewer than two models are left, or where all are tied in one of the vectors.

    >>> float(kendall([1, 2, 3], [1, 3, 2]).round(4))
    0.3333
    """
    a, b = (_without_rounding(values) for values in (one, two))
    out = np.isnan(a) | np.isnan(b)
    first, second = (_signs(np.where(out, np.nan, array)) for array in (a, b))
    agreed = np.nansum(first * second, axis=(-2, -1))
    pairs = [np.nansum(np.abs(steps), axis=(-2, -1)) for steps in (first, second)]
    scale = np.sqrt(pairs[0] * pairs[1])
    tau = np.full(np.shape(scale), np.nan)
    np.divide(agreed, scale, out=tau, where=scale > 0)
    return tau


def _signs(values: Floats) -> Floats:
    """+1 where the row's model exceeds the column's, −1 where it is less, 0 at ties."""
    return np.asarray(np.sign(values[..., :, None] - values[..., None, :]))


def _without_rounding(values: ArrayLike) -> Floats:
    """Values to twelve digits of the largest: Gini and PQ of the same rates round differently."""
    array = np.asarray(values, dtype=np.float64)
    largest = np.abs(np.nan_to_num(array)).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(np.round(array / np.where(largest > 0, largest, 1.0), 12))
