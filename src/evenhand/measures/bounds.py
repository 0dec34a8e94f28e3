"""Relations between the measures: conversions, greatest values and tight bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def pq_of_cv(cv: ArrayLike) -> Any:
    """PQ(1, 2) from the coefficient of variation (population standard deviation over mean).

    The ratio ‖w‖₁ / (√d ‖w‖₂) is mean / √(mean² + variance), so both rank vectors identically.

    Parameters
    ----------
    cv : array-like
        Coefficients of variation.

    Returns
    -------
    float or ndarray
        The PQ(1, 2) indices.

    Examples
    --------
    >>> float(pq_of_cv(0.75))
    0.2

    """
    return -np.expm1(-0.5 * np.log1p(np.square(cv)))


def cv_of_pq(pq: ArrayLike) -> Any:
    """The coefficient of variation from PQ(1, 2).

    Parameters
    ----------
    pq : array-like
        PQ(1, 2) indices.

    Returns
    -------
    float or ndarray
        The coefficients of variation.

    Examples
    --------
    >>> float(cv_of_pq(0.2).round(12))
    0.75

    """
    return np.sqrt(np.expm1(-2 * np.log1p(-np.asarray(pq, dtype=np.float64))))


def greatest_gini(d: int) -> float:
    """Gini of a vector with one entry that is not zero: 1 − 1/d.

    Parameters
    ----------
    d : int
        The number of groups.

    Returns
    -------
    float
        The largest Gini index of d groups.

    Examples
    --------
    >>> greatest_gini(4)
    0.75

    """
    return 1 - 1 / d


def greatest_pq(d: int, p: float = 1, q: float = 2) -> float:
    """PQ of a vector with one entry that is not zero (Theorem 3.1): 1 − d^(1/q − 1/p).

    Parameters
    ----------
    d : int
        The number of groups.
    p, q : float, default 1 and 2
        The orders.

    Returns
    -------
    float
        The largest PQ index of d groups.

    Examples
    --------
    >>> greatest_pq(4)
    0.5

    """
    return float(1 - d ** (1 / q - 1 / p))


def cv_range_of_gini(gini: ArrayLike, d: int) -> tuple[Any, Any]:
    """Bounds on the coefficient of variation of d entries with this Gini index.

    Both are attained: the lower by evenly spaced entries, with 0 in place of negative ones; the
    upper by one entry that differs from equal others. For two groups they coincide: CV = 2 · Gini.

    Parameters
    ----------
    gini : array-like
        Gini indices.
    d : int
        The number of groups.

    Returns
    -------
    low, high : float or ndarray
        Both bounds.

    Examples
    --------
    >>> [round(float(cv), 4) for cv in cv_range_of_gini(0.25, 2)]
    [0.5, 0.5]

    """
    index = np.asarray(gini, dtype=np.float64)
    positive = np.clip(np.floor((3 * d * (1 - index) + 1) / 2 + 1e-9), 2, d)
    spread = (d * index - (d - positive)) ** 2 * 3 / (positive * (positive**2 - 1))
    cut_off = np.sqrt(np.maximum(d * (1 / positive + spread) - 1, 0.0))
    even = index * np.sqrt(3) * d / np.sqrt(d * d - 1)  # the same where all are positive, and exact
    lowest = np.where(positive == d, even, cut_off)[()]
    return lowest, index * d / np.sqrt(d - 1)


def pq_bound_of_gini(gini: ArrayLike, d: int) -> Any:
    """The greatest PQ(1, 2) of d entries with this Gini index; attained.

    Replaces PQ ≤ Gini of Theorem 3.5, which holds for d ≤ 9 only.

    Parameters
    ----------
    gini : array-like
        Gini indices.
    d : int
        The number of groups.

    Returns
    -------
    float or ndarray
        The bounds.

    Examples
    --------
    >>> bool(pq_bound_of_gini(0.1, 9) <= 0.1 < pq_bound_of_gini(0.1, 100))
    True

    """
    return pq_of_cv(cv_range_of_gini(gini, d)[1])


def mpd_bound_of_pq(pq: ArrayLike, norm: ArrayLike) -> Any:
    """MPD ≤ ‖w‖₂ √(2 I (2 − I)) with I = PQ(1, 2); attained.

    Replaces 2 ‖w‖₂ √(2 I) of Theorem 3.5, and implies 2 ‖w‖₂ √I.

    Parameters
    ----------
    pq : array-like
        PQ(1, 2) indices.
    norm : array-like
        The Euclidean norms ‖w‖₂.

    Returns
    -------
    float or ndarray
        The bounds.

    Examples
    --------
    >>> from evenhand import pq
    >>> round(float(mpd_bound_of_pq(pq([0.0, 1.0]), 1.0)), 4)
    1.0

    """
    index = np.asarray(pq, dtype=np.float64)
    return np.asarray(norm) * np.sqrt(2 * index * (2 - index))


def gini_bound_of_mpd(mpd: ArrayLike, total: ArrayLike, d: int) -> Any:
    """Gini ≤ ⌊d²/4⌋ · MPD / (d ‖w‖₁), attained by two levels.

    Replaces d · MPD / (2 ‖w‖₂) of Theorem 3.5, which is true but never tight.

    Parameters
    ----------
    mpd : array-like
        Maximum pairwise differences.
    total : array-like
        The sums ‖w‖₁.
    d : int
        The number of groups.

    Returns
    -------
    float or ndarray
        The bounds.

    Examples
    --------
    >>> from evenhand import gini
    >>> float(gini([0.0, 1.0])), float(gini_bound_of_mpd(1.0, 1.0, 2))
    (0.5, 0.5)

    """
    return (d * d // 4) * np.asarray(mpd) / (d * np.asarray(total))
