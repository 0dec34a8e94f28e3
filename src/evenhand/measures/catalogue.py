"""The measures by name: functions of the last axis that are 0 when all entries are equal.

Only the ratio runs the other way: it is 1 when they are equal, and smaller is less equal.

NaN is a group that was not observed and is left out; with fewer than two observed entries the
inequality is undefined, NaN. All zeros are equal: 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evenhand._errors import InputError
from evenhand._words import did_you_mean
from evenhand.measures.measure import Measure, MeasureLike, Values, apply_transform

NEGLIGIBLE = 1e-12


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
    return _where(observed >= 2, high - low, np.nan)


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
    array = apply_transform(values, transform)
    low, high, observed = _extremes(array, minimum=0.0)
    ordered = np.sort(array / _nonzero(high)[..., None], axis=-1)  # NaN comes last
    ranks = 2.0 * np.arange(array.shape[-1]) + 1
    if not _any(observed != array.shape[-1]):
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
        Allow orders that break the axiom.

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
    array = apply_transform(values, transform)
    low, high, observed = _extremes(array, minimum=0.0)
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
    """Relative shortfall of the smallest entry from the largest: 1 − min/max.

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
    low, high, observed = _extremes(values, minimum=0.0)
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


def _gap_slope(values: Values, share: Values | float = 1.0) -> Values:
    """1 for the highest entry, times a share, and −1 for the lowest."""
    slope = np.zeros_like(values)
    top, bottom = values.argmax(axis=-1)[..., None], values.argmin(axis=-1)[..., None]
    np.put_along_axis(slope, top, np.broadcast_to(share, top.shape), axis=-1)
    np.put_along_axis(slope, bottom, -1.0, axis=-1)
    return slope


def _shortfall_slope(values: Values) -> Values:
    high = np.maximum(values.max(axis=-1, keepdims=True), NEGLIGIBLE)
    low = values.min(axis=-1, keepdims=True)
    return np.asarray(_gap_slope(values, low / high) / high)


def _gini_slope(values: Values) -> Values:
    groups, total = values.shape[-1], np.maximum(values.sum(axis=-1, keepdims=True), NEGLIGIBLE)
    ranks = np.empty(values.shape)
    places, in_order = np.argsort(values, axis=-1, kind="stable"), np.arange(groups)
    np.put_along_axis(ranks, places, 2.0 * in_order + 1 - groups, axis=-1)
    spread = (ranks * values).sum(axis=-1, keepdims=True)
    return np.asarray((ranks / total - spread / total**2) / groups)


def _pq_slope(values: Values) -> Values:
    groups, total = values.shape[-1], np.maximum(values.sum(axis=-1, keepdims=True), NEGLIGIBLE)
    square = np.maximum((values * values).sum(axis=-1, keepdims=True), NEGLIGIBLE)
    slope = total * values / square**1.5 - 1 / np.sqrt(square)
    return np.asarray(slope / np.sqrt(groups))


def _half_each(values: Values) -> Values:
    """Contributions: one half shared by the highest entries, one half by the lowest."""
    high, low = values == values.max(), values == values.min()
    if high.all():
        return np.zeros(len(values))
    return np.asarray(high / (2 * high.sum()) + low / (2 * low.sum()))


def _differences(values: Values) -> Values:
    """Each entry's contribution to all pairwise differences, from the sorted entries."""
    order = np.argsort(values)
    ordered = values[order]
    below = np.cumsum(ordered) - ordered
    above = ordered.sum() - below - ordered
    rank = np.arange(len(values))
    parts = np.empty_like(values)
    parts[order] = ordered * rank - below + above - ordered * (len(values) - 1 - rank)
    return np.maximum(parts, 0.0)


def _at_a_corner(
    index: Callable[[Values, float], Values], lowest: float, groups: int | None
) -> float:
    """The greatest value of a quasi-convex index: some groups at 1, the others at the lowest."""
    if groups is None:
        return 1.0
    top = np.arange(1, max(groups, 2)) / max(groups, 2)  # the share of the groups at 1
    return float(index(top, lowest).max())


def _gini_of_two_levels(top: Values, lowest: float) -> Values:
    return np.asarray(top * (1 - top) * (1 - lowest) / (top + (1 - top) * lowest))


def _pq_of_two_levels(top: Values, lowest: float, p: float = 1.0, q: float = 2.0) -> Values:
    low, high = ((top + (1 - top) * lowest**order) ** (1 / order) for order in (p, q))
    return np.asarray(1 - low / high)


def _short_of_one(lowest: float, _: int | None) -> float:
    return 1.0 - lowest


def _from_the_lowest(place: Values, level: Values) -> tuple[Values, Values]:
    return place, place + level


def _to_the_highest(place: Values, level: Values) -> tuple[Values, Values]:
    return (1 - level) * place, place


GAP = Measure(
    mpd,
    title="Largest difference",
    symbol="MPD",
    phrase="largest difference",
    about="the largest value minus the smallest (MPD)",
    formula="max w − min w",
    range="0 to the range of the statistic",
    is_not="It sees two groups only, and grows with the number of groups by chance alone.",
    terms=("difference", "diff", "gap", "range", "spread", "disparity", "max", "maximum"),
    relative=False,
    reads="extremes",
    slope=_gap_slope,
    parts=_half_each,
    band=_from_the_lowest,
    usual=True,
)
SHORTFALL = Measure(
    shortfall,
    about="one minus the ratio of the smallest value to the largest",
    formula="1 − min w / max w",
    range="0 to 1",
    is_not="It sees two groups only, and one empty group makes it 1.",
    terms=("one minus ratio", "deficit"),
    relative=True,
    reads="extremes",
    slope=_shortfall_slope,
    parts=_half_each,
    greatest_of=_short_of_one,
    band=_to_the_highest,
)

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        GAP,
        Measure(
            gini,
            phrase="Gini index",
            about="the mean absolute difference between two groups over twice the mean; relative, "
            "0 to 1",
            formula="Σᵢⱼ |wᵢ − wⱼ| / (2 d Σᵢ wᵢ)",
            range="0 to 1 − 1/d",
            is_not="It is relative: rates of 0.1 and 0.2 are as unequal as 0.4 and 0.8.",
            terms=("gini", "lorenz", "theil", "entropy", "hoover", "atkinson"),
            relative=True,
            reads="ranks",
            slope=_gini_slope,
            parts=_differences,
            greatest_of=partial(_at_a_corner, _gini_of_two_levels),
            usual=True,
        ),
        Measure(
            pq,
            title="PQ",
            phrase="PQ index",
            about="one minus the ratio of the mean to the root mean square; relative, 0 to 1, and "
            "stresses groups far from the rest",
            formula="1 − mean(w) / √mean(w²)",
            range="0 to 1 − 1/√d",
            is_not="It is relative, and near 0 even for visible gaps: compare it with its noise "
            "floor.",
            terms=("cv", "variation", "variance", "std", "deviation", "pq"),
            relative=True,
            reads="powers",
            slope=_pq_slope,
            greatest_of=partial(_at_a_corner, _pq_of_two_levels),
            usual=True,
        ),
        SHORTFALL,
        Measure(
            ratio,
            about="the smallest value over the largest; 1 is equal, smaller is less equal",
            formula="min w / max w",
            range="1 (equal) to 0",
            is_not="It sees two groups only, one empty group makes it 0, and small rates make it "
            "unsteady.",
            terms=("ratio", "quotient", "relative", "impact", "fifths", "80"),
            relative=True,
            parts=_half_each,
            mirrors=SHORTFALL,
        ),
    )
}


DEFAULT_MEASURES = tuple(measure.name for measure in MEASURES.values() if measure.usual)
DEFAULT_MEASURE = DEFAULT_MEASURES[0]  # where a single measure is needed and none is named
ORDERS = re.compile(r"\s*(?:(p|q)\s*=)?\s*([0-9.eE+-]+)\s*")


def measure_named(name: str) -> Measure | None:
    """The measure of a name, as written in the field or the paper; None if there is none.

    Parameters
    ----------
    name : str
        Such as "gini", "MPD", "pq(p=0.5)" or "PQ(1, 3)".

    Returns
    -------
    Measure or None
        The one in `MEASURES`, or a PQ index of other orders.

    Examples
    --------
    >>> measure_named("MPD"), measure_named("PQ(0.5, 3)"), measure_named("pq(q=2)")
    (<Measure mpd>, <Measure pq(p=0.5, q=3)>, <Measure pq>)

    """
    word, bracket, arguments = name.lower().partition("(")
    measure = MEASURES.get(word.strip())
    if measure is not None and measure.name != word.strip():  # registered under another name
        measure = replace(measure, name=word.strip())
    if measure is None or not bracket:
        return measure
    orders: dict[str, float] = {}
    parts = [ORDERS.fullmatch(part) for part in arguments.rstrip().removesuffix(")").split(",")]
    for key, part in zip("pq", parts, strict=False):
        if part is None or (part[1] or key) in orders:
            return None
        orders[part[1] or key] = float(part[2])
    if measure.reads != "powers" or len(parts) > 2 or not arguments.rstrip().endswith(")"):
        return None
    return resolve(measure, **orders)


def resolve(measure: MeasureLike, p: float | None = None, q: float | None = None) -> Measure:
    """Find a measure by its name or function; any other function is wrapped in a `Measure`.

    Parameters
    ----------
    measure : str or callable
        A name in `MEASURES`, "pq(p=0.5, q=3)" for other orders, a measure, or a function of the
        last axis.
    p, q : float, optional
        The orders of "pq", by default 1 and 2; other measures have none.

    Returns
    -------
    Measure
        The function with its properties.

    Raises
    ------
    InputError
        If there is no measure of that name.

    Examples
    --------
    >>> resolve("gini"), resolve(gini), resolve(partial(pq, p=0.5))
    (<Measure gini>, <Measure gini>, <Measure pq(p=0.5)>)

    """
    if isinstance(measure, str):
        measure = measure_named(measure) or measure
    if isinstance(measure, Measure):
        orders = (measure.orders[0] if p is None else p, measure.orders[1] if q is None else q)
        if orders == measure.orders:
            return measure
        if measure.reads != "powers":
            raise InputError(
                f"p and q are orders of the measure 'pq', not of {measure.name!r}; they are "
                f"{orders[0]:g} and {orders[1]:g}."
            )
        return resolve(partial(pq, p=orders[0], q=orders[1]))
    if not callable(measure):
        ordered = sorted(MEASURES.values(), key=lambda candidate: not candidate.falls)
        terms = {
            candidate.name: candidate.terms for candidate in ordered
        }  # "max ratio" means the ratio
        raise InputError(
            f"There is no measure {measure!r}; there are {list(MEASURES)}. "
            f"Or pass a function of the last axis.{did_you_mean(measure, MEASURES, terms)}"
        )
    return next(
        (candidate for candidate in MEASURES.values() if candidate.function is measure), None
    ) or (_with_orders(measure) or Measure(measure))


def _with_orders(measure: Any) -> Measure | None:
    """The measure of a `partial` of `pq` with other orders; None for other functions."""
    if not isinstance(measure, partial) or measure.func not in (pq, MEASURES["pq"]):
        return None
    if measure.args or not measure.keywords.keys() <= {"p", "q", "any_order"}:
        return None
    p, q = (float(measure.keywords.get(name, order)) for name, order in (("p", 1), ("q", 2)))
    if (p, q) == MEASURES["pq"].orders:
        return MEASURES["pq"]
    orders = [
        f"{key}={value:g}" for key, value, default in (("p", p, 1), ("q", q, 2)) if value != default
    ]
    orders += ["any_order=True"] if measure.keywords.get("any_order") else []
    greatest = partial(_at_a_corner, partial(_pq_of_two_levels, p=p, q=q))
    return Measure(
        measure,
        name=f"pq({', '.join(orders)})",
        symbol=f"PQ({p:g}, {q:g})",
        title=f"PQ({p:g}, {q:g})",
        phrase=f"PQ index of orders {p:g} and {q:g}",
        formula=f"1 − mean(w^{p:g})^(1/{p:g}) / mean(w^{q:g})^(1/{q:g})",
        is_not=MEASURES["pq"].is_not,
        about=MEASURES["pq"].about.replace("mean to the root mean square", "means of both orders"),
        relative=True,
        reads="powers",
        orders=(p, q),
        greatest_of=greatest,
    )


def _extremes(values: ArrayLike, minimum: float | None = None) -> tuple[Any, Any, Any]:
    """Smallest and largest observed entry, and the number observed."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(f"A measure needs a vector of groups; the shape is {array.shape}.")
    if array.ndim == 1:  # solvers mostly pass single vectors, so use plain numbers
        low, high = float(np.minimum.reduce(array)), float(np.maximum.reduce(array))
        if isfinite(low) and isfinite(high) and (minimum is None or low >= minimum):
            return low, high, len(array)
    low, high = np.fmin.reduce(array, axis=-1), np.fmax.reduce(array, axis=-1)
    if _any(np.isinf(low)) or _any(np.isinf(high)):
        raise InputError(f"A measure needs finite values; it got {low.min()} to {high.max()}.")
    if minimum is not None and _any(low < minimum):
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
    complete = not _any(observed != values.shape[-1])
    return (values.sum(axis=-1) if complete else np.nansum(values, axis=-1)) / _nonzero(observed)


def _nonzero(values: Any) -> Any:
    return _where(values == 0, 1.0, values)


def _defined(index: Any, low: Any, high: Any, observed: Any) -> Any:
    """Exactly 0 for equal entries, NaN where fewer than two were observed."""
    return _where(observed >= 2, _where(low == high, 0.0, np.maximum(index, 0.0)), np.nan)


def _any(condition: Any) -> bool:
    return bool(condition.any() if isinstance(condition, np.ndarray) else condition)


def _where(condition: Any, chosen: Any, other: Any) -> Any:
    if isinstance(condition, np.ndarray):
        return np.where(condition, chosen, other)
    return np.float64(chosen if condition else other)
