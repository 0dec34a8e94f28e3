"""How unequal is a vector? Functions of the last axis: 0 when its entries are equal.

The ratio alone runs the other way: it is 1 when they are equal, and smaller is less equal.

An entry that is NaN stands for a group that was not observed and is left out; fewer than two
observed entries have no inequality to speak of, and give NaN. All zeros are equal: 0.

First the measures, then transforms of what they look at, aggregates of their values over classes,
and what holds between the measures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._errors import InputError
from evenhand._words import did_you_mean

__all__ = [
    "AGGREGATES",
    "DESCRIPTIONS",
    "MEASURES",
    "TRANSFORMS",
    "Description",
    "cv_of_pq",
    "cv_range_of_gini",
    "exponential",
    "gini",
    "gini_bound_of_mpd",
    "greatest_gini",
    "greatest_pq",
    "is_ratio",
    "is_scale_free",
    "mean",
    "mpd",
    "mpd_bound_of_pq",
    "pq",
    "pq_bound_of_gini",
    "pq_of_cv",
    "ratio",
    "resolve",
    "resolve_aggregate",
    "shortfall",
    "total",
    "transformed",
    "worst",
]

Values = NDArray[np.float64]
Measure = Callable[[Values], Any]
Aggregate = Callable[[Values], Any]


def mpd(values: ArrayLike) -> Any:
    """Maximum pairwise difference: the largest entry minus the smallest.

    Parameters
    ----------
    values : array-like
        Groups along the last axis.

    Returns
    -------
    float or ndarray
        The gap, in the unit of the entries; 0 if they are equal.

    Examples
    --------
    >>> float(mpd([0.2, 0.5, 0.3]))
    0.3

    """
    low, high, observed = _extremes(values)
    return np.where(observed >= 2, high - low, np.nan)[()]


def gini(values: ArrayLike, *, transform: str | None = None) -> Any:
    """Gini index: the mean absolute difference between entries over twice their mean.

    Parameters
    ----------
    values : array-like
        Groups along the last axis; not negative, unless they are transformed.
    transform : {"exp"}, optional
        Exponentiate the entries first, so that they may be negative.

    Returns
    -------
    float or ndarray
        From 0, if the entries are equal, to 1 − 1/d, if one of d has everything.

    Raises
    ------
    InputError
        If an entry is negative or infinite.

    Examples
    --------
    >>> float(gini([0.0, 0.0, 0.0, 1.0]))
    0.75

    """
    array = _transformed(values, transform)
    low, high, observed = _extremes(array, least=0.0)
    ordered = np.sort(array / _nonzero(high)[..., None], axis=-1)  # NaN comes last
    ranks = 2.0 * np.arange(array.shape[-1]) + 1
    if (observed == array.shape[-1]).all():
        spread = ordered @ (ranks - array.shape[-1])
    else:
        np.nan_to_num(ordered, copy=False)
        spread = (ordered * (ranks - observed[..., None])).sum(axis=-1)
    index = spread / _nonzero(observed * ordered.sum(axis=-1))
    return _defined(index, low, high, observed)


def pq(
    values: ArrayLike,
    p: float = 1,
    q: float = 2,
    *,
    transform: str | None = None,
    any_order: bool = False,
) -> Any:
    """PQ index: one minus the ratio of the power means of orders p and q.

    Parameters
    ----------
    values : array-like
        Groups along the last axis; not negative, unless they are transformed.
    p, q : float, default 1 and 2
        The orders. Outside 0 < p ≤ 1 ≤ q, p < q they break the Robin Hood axiom (a transfer from a
        larger to a smaller entry could raise the index) and are refused.
    transform : {"exp"}, optional
        Exponentiate the entries first, so that they may be negative.
    any_order : bool, default False
        Take orders that break the axiom all the same.

    Returns
    -------
    float or ndarray
        From 0, if the entries are equal, to 1 − d^(1/q − 1/p), if one of d has everything.

    Raises
    ------
    InputError
        If an entry is negative or infinite, or the orders are refused.

    Notes
    -----
    PQ(1, 2) is a function of the coefficient of variation alone; see `pq_of_cv`.

    Examples
    --------
    >>> float(pq([0.0, 0.0, 0.0, 1.0]))
    0.5

    """
    _check_orders(p, q, any_order)
    array = _transformed(values, transform)
    low, high, observed = _extremes(array, least=0.0)
    scaled = array / _nonzero(high)[..., None]
    if (p, q) == (1, 2):  # by the coefficient of variation, exact for nearly equal entries
        mean = _mean(scaled, observed)
        squares = (scaled - mean[..., None]) ** 2
        cv2 = _mean(squares, observed) / _nonzero(mean) ** 2
        index = -np.expm1(-0.5 * np.log1p(cv2))
    else:
        lesser = _mean(scaled**p, observed) ** (1 / p)
        index = 1 - lesser / _nonzero(_mean(scaled**q, observed)) ** (1 / q)
    return _defined(index, low, high, observed)


def shortfall(values: ArrayLike) -> Any:
    """How far the smallest entry falls short of the largest: 1 − min/max.

    The four-fifths rule of selection rates asks for at most 0.2.

    Parameters
    ----------
    values : array-like
        Groups along the last axis; not negative.

    Returns
    -------
    float or ndarray
        From 0, if the entries are equal, to 1, if one is 0 and another is not.

    Raises
    ------
    InputError
        If an entry is negative or infinite.

    Examples
    --------
    >>> float(shortfall([0.375, 0.5]))
    0.25

    """
    low, high, observed = _extremes(values, least=0.0)
    return _defined((high - low) / _nonzero(high), low, high, observed)


def ratio(values: ArrayLike) -> Any:
    """The smallest entry over the largest: 1 is equal, and *smaller* is less equal.

    The four-fifths rule of selection rates asks for at least 0.8. It is one minus `shortfall`.

    Parameters
    ----------
    values : array-like
        Groups along the last axis; not negative.

    Returns
    -------
    float or ndarray
        From 1, if the entries are equal (all zeros are), to 0, if one is 0 and another is not.

    Raises
    ------
    InputError
        If an entry is negative or infinite.

    Examples
    --------
    >>> float(ratio([0.375, 0.5]))
    0.75

    """
    return 1 - shortfall(values)


MEASURES: dict[str, Measure] = {
    "mpd": mpd,
    "gini": gini,
    "pq": pq,
    "shortfall": shortfall,
    "ratio": ratio,
}


# The field's words for them, to suggest the one that is meant.
TERMS: dict[str, tuple[str, ...]] = {
    "ratio": ("ratio", "quotient", "relative", "impact", "fifths", "80"),
    "mpd": ("difference", "diff", "gap", "range", "spread", "disparity", "max", "maximum"),
    "gini": ("gini", "lorenz", "theil", "entropy", "hoover", "atkinson"),
    "pq": ("cv", "variation", "variance", "std", "deviation", "pq"),
    "shortfall": ("one minus ratio", "deficit"),
}


class Description(NamedTuple):
    """What tables say of a measure of a vector w of d groups.

    Parameters
    ----------
    formula : str
        The measure in symbols.
    range : str
        Between which values it lies.
    is_not : str
        What it does not say, in a sentence.

    """

    formula: str
    range: str
    is_not: str


DESCRIPTIONS: dict[str, Description] = {
    "mpd": Description(
        "max w − min w",
        "0 to the range of the statistic",
        "It sees two groups only, and grows with the number of groups by chance alone.",
    ),
    "gini": Description(
        "Σᵢⱼ |wᵢ − wⱼ| / (2 d Σᵢ wᵢ)",
        "0 to 1 − 1/d",
        "It is relative: rates of 0.1 and 0.2 are as unequal as 0.4 and 0.8.",
    ),
    "pq": Description(
        "1 − mean(w) / √mean(w²)",
        "0 to 1 − 1/√d",
        "It is relative, and near 0 even for visible gaps: compare it with its noise floor.",
    ),
    "shortfall": Description(
        "1 − min w / max w",
        "0 to 1",
        "It sees two groups only, and one empty group makes it 1.",
    ),
    "ratio": Description(
        "min w / max w",
        "1 (equal) to 0",
        "It sees two groups only, one empty group makes it 0, and small rates make it unsteady.",
    ),
}


def resolve(measure: str | Measure) -> Measure:
    """Find a measure by name, or take a function as it is.

    Parameters
    ----------
    measure : str or callable
        A name in `MEASURES`, or a function of the last axis.

    Returns
    -------
    callable
        The function.

    Raises
    ------
    InputError
        If there is no measure of that name.

    Examples
    --------
    >>> resolve("gini").__name__
    'gini'

    """
    if callable(measure):
        return measure
    if not isinstance(measure, str) or measure not in MEASURES:
        raise InputError(
            f"There is no measure {measure!r}; there are {list(MEASURES)}. "
            f"Or pass a function of the last axis.{did_you_mean(measure, MEASURES, TERMS)}"
        )
    return MEASURES[measure]


def is_ratio(measure: str | Measure) -> bool:
    """Whether it is the ratio, the one measure by which larger is more equal.

    Parameters
    ----------
    measure : str or callable
        A name in `MEASURES`, or a function of the last axis.

    Returns
    -------
    bool
        True of "ratio" and of the function.

    Examples
    --------
    >>> is_ratio("ratio"), is_ratio(shortfall)
    (True, False)

    """
    return measure is ratio or (isinstance(measure, str) and measure == "ratio")


def is_scale_free(measure: Measure) -> bool:
    """Whether doubling every entry leaves the measure as it is.

    Parameters
    ----------
    measure : callable
        A function of the last axis.

    Returns
    -------
    bool
        True of relative measures, such as Gini.

    Examples
    --------
    >>> is_scale_free(gini), is_scale_free(mpd)
    (True, False)

    """
    if measure is mpd:  # ours are known: every reading asks
        return False
    if any(measure is known for known in (gini, pq, shortfall, ratio)):
        return True
    probe = np.array([1.0, 2.0, 5.0])
    return bool(np.isclose(measure(probe), measure(2 * probe), rtol=1e-9, atol=0))


def exponential(values: Values) -> Values:
    """The paper's transform to positive entries, exp(w), up to a factor that cannot overflow.

    The factor exp(−max) changes no scale-free measure, and no other is ever transformed.

    Parameters
    ----------
    values : ndarray
        Groups along the last axis, of any sign.

    Returns
    -------
    ndarray
        Entries between 0 and 1.

    Examples
    --------
    >>> exponential(np.array([1000.0, 1001.0])).round(4)
    array([0.3679, 1.    ])

    """
    with np.errstate(invalid="ignore"):
        highest = np.fmax.reduce(values, axis=-1, keepdims=True)
        return np.asarray(np.exp(values - highest))


TRANSFORMS: dict[str, Callable[[Values], Values]] = {"exp": exponential}


def transformed(measure: Measure, transform: str | None) -> Measure:
    """Transform the vector just before a scale-free measure; leave any other as it is.

    Parameters
    ----------
    measure : callable
        A function of the last axis.
    transform : {"exp"} or None
        A name in `TRANSFORMS`.

    Returns
    -------
    callable
        A function of the last axis.

    Examples
    --------
    >>> round(float(transformed(gini, "exp")([-1.0, 0.0])), 4)
    0.2311
    >>> transformed(mpd, "exp") is mpd
    True

    """
    if transform is None or not is_scale_free(measure):
        return measure
    return lambda values: measure(_transformed(values, transform))


def worst(cells: Values) -> Any:
    """The largest defined value along the last axis: the paper's choice over classes.

    Parameters
    ----------
    cells : ndarray
        Values of classes along the last axis; NaN where undefined.

    Returns
    -------
    float or ndarray
        The largest.

    Examples
    --------
    >>> float(worst(np.array([0.2, np.nan, 0.4])))
    0.4

    """
    return np.fmax.reduce(cells, axis=-1)


def mean(cells: Values) -> Any:
    """The mean of the defined values along the last axis.

    Parameters
    ----------
    cells : ndarray
        Values of classes along the last axis; NaN where undefined.

    Returns
    -------
    float or ndarray
        The mean; NaN if none is defined.

    Examples
    --------
    >>> round(float(mean(np.array([0.2, np.nan, 0.4]))), 4)
    0.3

    """
    return total(cells) / np.maximum((~np.isnan(cells)).sum(axis=-1), 1)


def total(cells: Values) -> Any:
    """The sum of the defined values along the last axis.

    Parameters
    ----------
    cells : ndarray
        Values of classes along the last axis; NaN where undefined.

    Returns
    -------
    float or ndarray
        The sum; NaN if none is defined.

    Examples
    --------
    >>> round(float(total(np.array([0.2, np.nan, 0.4]))), 4)
    0.6

    """
    defined = ~np.isnan(cells)
    return np.where(defined.any(axis=-1), np.where(defined, cells, 0).sum(axis=-1), np.nan)[()]


AGGREGATES: dict[str, Aggregate] = {"worst": worst, "mean": mean, "total": total}


def resolve_aggregate(aggregate: str | Aggregate) -> Aggregate:
    """Find an aggregate by name, or take a function as it is.

    Parameters
    ----------
    aggregate : str or callable
        A name in `AGGREGATES`, or a function of the last axis.

    Returns
    -------
    callable
        The function.

    Raises
    ------
    InputError
        If there is no aggregate of that name.

    Examples
    --------
    >>> resolve_aggregate("mean").__name__
    'mean'

    """
    if callable(aggregate):
        return aggregate
    if aggregate not in AGGREGATES:
        raise InputError(
            f"There is no aggregate {aggregate!r}; there are {list(AGGREGATES)}."
            f"{did_you_mean(aggregate, AGGREGATES)}"
        )
    return AGGREGATES[aggregate]


def pq_of_cv(cv: ArrayLike) -> Any:
    """PQ(1, 2) from the coefficient of variation (population standard deviation over mean).

    The ratio ‖w‖₁ / (√d ‖w‖₂) is mean / √(mean² + variance), so both order vectors alike.

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
        How many groups.

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
        How many groups.
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

    The lower is attained by evenly spaced entries (for a Gini of at most (d + 1) / 3d, past which
    such entries would be negative), the upper by one entry apart from equal others. For two
    groups they coincide: CV = 2 · Gini.

    Parameters
    ----------
    gini : array-like
        Gini indices.
    d : int
        How many groups.

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
    return index * np.sqrt(3) * d / np.sqrt(d * d - 1), index * d / np.sqrt(d - 1)


def pq_bound_of_gini(gini: ArrayLike, d: int) -> Any:
    """The greatest PQ(1, 2) of d entries with this Gini index; attained.

    Replaces PQ ≤ Gini of Theorem 3.5, which holds for d ≤ 9 only.

    Parameters
    ----------
    gini : array-like
        Gini indices.
    d : int
        How many groups.

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
        How many groups.

    Returns
    -------
    float or ndarray
        The bounds.

    Examples
    --------
    >>> float(gini([0.0, 1.0])), float(gini_bound_of_mpd(1.0, 1.0, 2))
    (0.5, 0.5)

    """
    return (d * d // 4) * np.asarray(mpd) / (d * np.asarray(total))


def _transformed(values: ArrayLike, transform: str | None) -> Values:
    array = np.asarray(values, dtype=np.float64)
    if transform is None:
        return array
    if transform not in TRANSFORMS:
        raise InputError(f"There is no transform {transform!r}; there are {list(TRANSFORMS)}.")
    return TRANSFORMS[transform](array)


def _extremes(values: ArrayLike, least: float | None = None) -> tuple[Any, Any, Any]:
    """Smallest and largest observed entry, and how many were observed."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(f"A measure needs a vector of groups; the shape is {array.shape}.")
    low, high = np.fmin.reduce(array, axis=-1), np.fmax.reduce(array, axis=-1)
    if np.isinf(low).any() or np.isinf(high).any():
        raise InputError(f"A measure needs finite values; it got {low.min()} to {high.max()}.")
    if least is not None and (low < least).any():
        raise InputError(
            "Gini, PQ, shortfall and ratio need values of at least 0; the smallest is "
            f"{low.min():g}. "
            'Use transform="exp", which makes all values positive, or the measure "mpd".'
        )
    return low, high, array.shape[-1] - np.isnan(array).sum(axis=-1)


def _check_orders(p: float, q: float, any_order: bool) -> None:
    if not 0 < p < q:
        raise InputError(f"PQ needs 0 < p < q; it got p={p}, q={q}.")
    if not p <= 1 <= q and not any_order:
        raise InputError(
            f"PQ with p={p}, q={q} breaks the Robin Hood axiom, which needs p ≤ 1 ≤ q. "
            "Pass any_order=True if you want it all the same."
        )


def _mean(values: Values, observed: Any) -> Any:
    total = np.nansum(values, axis=-1) if np.isnan(values).any() else values.sum(axis=-1)
    return total / _nonzero(observed)


def _nonzero(values: Any) -> Any:
    return np.where(values == 0, 1, values)


def _defined(index: Any, low: Any, high: Any, observed: Any) -> Any:
    """Exactly 0 for equal entries, NaN where fewer than two were observed."""
    return np.where(observed >= 2, np.where(low == high, 0.0, np.maximum(index, 0.0)), np.nan)[()]
