"""Many questions at once: when a finding still counts, though so many were looked at."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.statistics import Ratio, Statistic

Floats = NDArray[np.float64]

LEVEL = 0.05


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """P-values adjusted for asking them all (Holm 1979); NaN asks nothing and stays NaN.

    >>> holm([0.01, 0.04, np.nan, 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    asked = np.flatnonzero(~np.isnan(given))
    order = asked[np.argsort(given[asked], kind="stable")]
    steps = given[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def hypothesis(statistic: Statistic) -> str:
    """What is tested of a statistic: accuracy and error rates, for one, are equal together."""
    if isinstance(statistic, Ratio) and statistic.below == "all":
        return "rows that are right"
    return statistic.formula


Conclusion = Literal["differs", "alike", "cannot tell", "undefined", "not tested"]


def verdict(value: float, p_adjusted: float, level: float = LEVEL) -> Conclusion:
    """What a test says: not to reject is not to know.

    >>> verdict(0.1, 0.001), verdict(0.1, 0.2), verdict(np.nan, 0.2)
    ('differs', 'cannot tell', 'undefined')
    """
    if np.isnan(value):
        return "undefined"
    if np.isnan(p_adjusted):
        return "not tested"
    return "differs" if p_adjusted <= level else "cannot tell"


def rate_bounds(rate: Any, size: Any, error: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's bounds; both tails together err at most so often.

    Sizes may be those of weighted rows (Kish's), and need not be whole. Where there is no row,
    the bounds are 0 and 1.

    >>> low, high = rate_bounds(0.0, 31, 0.05)
    >>> round(float(high), 3)  # 1 − 0.025^(1/31)
    0.112
    """
    from scipy.special import betaincinv

    size, tail = np.asarray(size, dtype=np.float64), error / 2
    hits = np.clip(np.nan_to_num(rate) * size, 0.0, size)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), size - hits + 1, tail), 0.0)
    high = np.where(hits < size, betaincinv(hits + 1, np.maximum(size - hits, 1e-9), 1 - tail), 1.0)
    return low, high
