"""Ranks, and how far two rankings agree; functions of the last axis, which runs over models."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

TIE = 1e-12  # values this close are equal: Gini and PQ of the same rates round differently


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1, the smallest value; ties share their mean rank, and NaN comes last.

    >>> ranks([0.3, 0.1, np.nan, 0.3])
    array([2.5, 1. , 4. , 2.5])
    """
    array = np.asarray(values, dtype=np.float64)
    steps = _steps(np.where(np.isnan(array), np.finfo(np.float64).max, array))
    below, tied = (steps > 0).sum(axis=-1), (steps == 0).sum(axis=-1)
    return np.asarray(below + (tied + 1) / 2)


def kendall(one: ArrayLike, two: ArrayLike) -> Floats:
    """Kendall's τ-b of two vectors; models undefined in either are left out.

    NaN where fewer than two models are left, or where all are tied in one of the vectors.

    >>> float(kendall([1, 2, 3], [1, 3, 2]).round(4))
    0.3333
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (one, two))
    out = np.isnan(a) | np.isnan(b)
    first, second = (_steps(np.where(out, np.nan, array)) for array in (a, b))
    agreed = np.nansum(first * second, axis=(-2, -1))
    pairs = [np.nansum(np.abs(steps), axis=(-2, -1)) for steps in (first, second)]
    scale = np.sqrt(pairs[0] * pairs[1])
    tau = np.full(np.shape(scale), np.nan)
    np.divide(agreed, scale, out=tau, where=scale > 0)
    return tau


def _steps(values: Floats) -> Floats:
    """+1 where the row's model exceeds the column's, −1 where it is less, 0 at ties."""
    difference = values[..., :, None] - values[..., None, :]
    scale = np.maximum(np.abs(values[..., :, None]), np.abs(values[..., None, :]))
    return np.where(np.abs(difference) <= TIE * np.maximum(scale, TIE), 0.0, np.sign(difference))
