"""Many questions at once: when a finding still counts, though so many were looked at."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def verdict(
    value: float, p_adjusted: float
) -> Literal["disparity", "within noise", "undefined", "not tested"]:
    """In two words, what the value says.

    >>> verdict(0.1, 0.001), verdict(0.1, 0.2), verdict(0.1, np.nan)
    ('disparity', 'within noise', 'not tested')
    """
    if np.isnan(value):
        return "undefined"
    if np.isnan(p_adjusted):
        return "not tested"
    return "disparity" if p_adjusted <= LEVEL else "within noise"
