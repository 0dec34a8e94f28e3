"""Ranks of models, and how far two rankings agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


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
