"""A confidence interval for a criterion's value: deterministic, and valid however groups differ.

`method="calibrated"` inverts a test: is the data's distance from all groups of a given inequality
too large (`geometry.py` shows why this holds for any number of groups, sizes and ties)?
`method="guaranteed"` takes the extremes of the measure over exact simultaneous bounds of groups.

*One test.* The lower end of a calibrated interval is above equality exactly where the test of equal
groups (`homogeneity.py`) rejects at the same level. Where the geometry has less power than the
test, the p-value itself bounds the distance from equality: if groups are λ standard errors from
equal ones, no test is more powerful than Neyman and Pearson's of that one alternative, whose
p-value is below p with probability Φ(λ − z), z = −Φ⁻¹(p). So λ ≥ z − zₐ with error α, whatever the
test is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.distributions import Distribution
from evenhand._data.doors import about_data
from evenhand._data.summaries import Source
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._signatures import REFERENCE, SETTINGS, documented
from evenhand._uncertainty.curves import Estimates, Floats
from evenhand._uncertainty.differences import Binomials, difference_bounds
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.geometry import (
    Cloud,
    evenest,
    located_at_once,
    lower_limit,
    most_uneven,
    upper_limits,
)
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.many_groups import has_many_groups, many_groups_lower, many_groups_upper
from evenhand._uncertainty.reference import Scale, reference_limits
from evenhand._words import did_you_mean, extent, number
from evenhand.criteria import Criterion, Reading, Settings
from evenhand.criteria.evaluation import criterion_of, warn_if_undefined
from evenhand.measures import Aggregate, Measure, MeasureLike
from evenhand.statistics.arithmetic import ratio

Method = Literal["calibrated", "guaranteed"]
METHODS: tuple[Method, ...] = ("calibrated", "guaranteed")
LARGEST_EXPONENT = 200.0  # the cube of its exponential is finite too
SINGLE_GROUP_SHARE = 0.4  # of the error, spent on the gap of one group to all others
HALVES = np.array([0.5, -0.5])
LEAST_PART = 1e-9  # of a value: the lower end for a p-value that just reaches the level
MOST_SEARCHED = 12  # cells of a sum whose lower ends are searched for one by one


@dataclass(frozen=True)
class ConfidenceInterval:
    """A value, with an interval that covers the true one with the stated confidence.

    Attributes
    ----------
    value : float
        What was observed.
    low, high : float
        The ends of the interval.
    confidence : float
        The probability that such intervals cover the true value.
    method : str
        "calibrated" or "guaranteed"; where group memberships are uncertain, the deciding answer,
        such as "bounds", which has no value.

    """

    value: float
    low: float
    high: float
    confidence: float
    method: str = "calibrated"

    def __repr__(self) -> str:
        ends = extent(self.low, self.high)
        level = f"{100 * self.confidence:g}% interval"
        return f"<ConfidenceInterval: {number(self.value)}, {level} {ends} ({self.method})>"


@about_data()
@documented(settings=SETTINGS, reference=REFERENCE)
def interval(
    criterion: str | Criterion,
    data: Data,
    *,
    measure: MeasureLike | None = None,
    aggregate: str | Aggregate | None = None,
    g: str | Callable[[Any, Any], Any] | None = None,
    transform: str | None = None,
    tau: float | None = None,
    to: Label = None,
    confidence: float = 0.95,
    method: Method = "calibrated",
) -> ConfidenceInterval:
    """Confidence interval for a criterion.

    The same counts give the same interval: nothing is drawn.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, or a criterion of your own.
    {data}
    {settings}
    {reference}
    confidence : float, default 0.95
        The probability that the interval covers the true value.
    method : {"calibrated", "guaranteed"}, default "calibrated"
        "guaranteed" takes the extremes over exact simultaneous bounds of the groups: its coverage
        is proved for rates, and it is wide. "calibrated" is shorter.

    Returns
    -------
    ConfidenceInterval
        The value with `low` and `high`; NaN, with an `UndefinedWarning`, if fewer than two groups
        were observed.

    Raises
    ------
    InputError
        If the confidence is not between 0 and 1, or there is no such method.

    See Also
    --------
    chance : The criterion's distribution if all groups are equal.

    Examples
    --------
    >>> y, group = [1, 1, 1, 0] * 100 + [1, 0, 0, 0] * 100, ["a"] * 400 + ["b"] * 400
    >>> answer = interval("statistical_parity", None, y, sensitive_features=group, measure="mpd")
    >>> print(f"{answer.low:.2f} {answer.value:.2f} {answer.high:.2f}")
    0.44 0.50 0.56

    """
    check_kinds(confidence=confidence, method=method)
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    if method not in METHODS:
        hint = did_you_mean(method, METHODS)
        raise InputError(f"There is no method {method!r}; there are {list(METHODS)}.{hint}")
    definition = criterion_of(criterion, data).with_statistic(g)
    choices = {"measure": measure, "aggregate": aggregate, "transform": transform, "tau": tau}
    reading = criterion_of(criterion, data).read_data(data, **choices, g=g, to=to)
    warn_if_undefined(reading.value, reading)
    check_guaranteed(reading.settings.function, method)
    estimates = estimates_of(reading.source, definition, data.favorable)
    if to is not None and to != "best":
        return _reference_interval(estimates, reading, to, confidence, method)
    source = reading.source
    p_value = np.nan
    if method != "guaranteed":
        p_value = homogeneity(source, definition, estimates).p_value
    evidence = estimates, reading.settings, reading, source
    return interval_of(*evidence, confidence, p_value, method)


def check_guaranteed(measure: Measure, method: str) -> None:
    """Refuse guaranteed intervals for measures that are not declared quasi-convex."""
    if method == "guaranteed" and not measure.is_convex:
        raise InputError(
            "Guaranteed intervals need a measure for which vectors of at most a given inequality "
            f"form a convex set, and {measure.name!r} does not say so. If they do, declare it with "
            'its gradient: Measure(…, convex=True, slope=…); or pass method="calibrated".'
        )


def interval_of(
    estimates: Estimates,
    settings: Settings,
    reading: Reading,
    source: Source,
    confidence: float,
    p_value: float,
    method: Method = "calibrated",
) -> ConfidenceInterval:
    """The interval of one measure, from estimates of the groups and the p-value of their equality.

    With a p-value of NaN the lower end does not depend on the test.
    """
    measure = settings.resolved
    if measure.falls:  # its ends change places
        reading = as_computed(reading)
        mirrored = interval_of(
            estimates, reading.settings, reading, source, confidence, p_value, method
        )
        low, high = measure.ends(mirrored.low, mirrored.high)
        return replace(mirrored, value=measure.written(mirrored.value), low=low, high=high)
    value = float(reading)
    if np.isnan(value):
        return ConfidenceInterval(np.nan, np.nan, np.nan, confidence, method)
    sweeps = isinstance(source, Distribution)
    if sweeps:
        settings = settings.for_supremum() if settings.aggregate == "worst" else settings
    cells = cells_of(estimates, settings)
    make = _guaranteed if method == "guaranteed" else _calibrated
    worst = settings.aggregate == "worst"
    lows, highs, observed = make(cells, estimates, settings.function, 1 - confidence, worst)
    if isinstance(source, Distribution):
        low, high = _across_cuts(lows, highs, observed, settings, source, estimates, value)
    elif settings.aggregate == "worst":
        low, high = float(np.nanmax(lows)), float(np.nanmax(highs))
    else:
        _, combine = settings.resolve()
        assert combine is not None
        low, high = float(combine(lows)), float(combine(highs))
    low = min(low, value)
    if method == "calibrated" and not np.isnan(p_value):
        low = _tested_lower_end(
            low, value, cells, estimates, reading.settings, p_value, 1 - confidence
        )
    return ConfidenceInterval(value, low, max(high, value), confidence, method)


def _tested_lower_end(
    low: float,
    value: float,
    cells: Cells,
    estimates: Estimates,
    settings: Settings,
    p_value: float,
    error: float,
) -> float:
    """The lower end, set above equality exactly where the test rejects."""
    from scipy.special import ndtri

    if p_value > min(error, np.nextafter(1, 0)):
        return 0.0
    if low > 0 or settings.tau is not None:  # groups may be equal at some cut points
        return low
    measure, observed = settings.function, [cell[0] for cell in cells if cell is not None]
    worst = max(observed, key=lambda cloud: float(measure(cloud.values)))
    by_stratum = dict.fromkeys(estimates.strata.tolist(), 0.0)
    for stratum, cell in zip(estimates.strata.tolist(), cells, strict=True):
        if cell is not None:
            by_stratum[stratum] = max(by_stratum[stratum], _information(cell[0]))
    information = sum(by_stratum.values()) * estimates.looks
    distance = float(ndtri(error) - ndtri(p_value))
    gap = distance / np.sqrt(max(information, 1e-300))
    # The most even groups at this distance are two that differ, with all others in the middle.
    groups = np.full(len(worst), worst.pooled)
    groups[[worst.values.argmax(), worst.values.argmin()]] += (
        min(gap, np.ptp(worst.values)) * HALVES
    )
    groups = np.maximum(groups, 0.0) if measure.is_relative else groups
    inequality = float(measure(worst.values))
    part = float(measure(groups)) / inequality if inequality > 0 else 0.0
    return value * float(np.clip(part, LEAST_PART, 1.0))


def _information(cloud: Cloud) -> float:
    """The largest squared distance from equality, in standard errors, of groups one unit apart."""
    weight = cloud.located(np.full(len(cloud), cloud.pooled))[1] ** 2
    largest, total = float(weight.max()), float(weight.sum())
    top = max(largest, total / 2)  # half of the total on either side, or one group with more
    return top * (total - top) / total if total > 0 else 0.0


def _reference_interval(
    estimates: Estimates, reading: Reading, to: Label, confidence: float, method: Method
) -> ConfidenceInterval:
    """The interval of the largest distance of a group from a reference."""
    if method == "guaranteed" or reading.settings.aggregate != "worst":
        raise InputError(
            f"Intervals with to={to!r} are calibrated ones of the worst cell; leave out method= "
            "and aggregate=."
        )
    scale: Scale = "ratio" if reading.settings.function.is_relative else "difference"
    lows, highs = reference_limits(estimates, to, scale, 1 - confidence)
    value, low, high = float(reading), float(np.nanmax(lows)), float(np.nanmax(highs))
    low, high = reading.settings.resolved.ends(low, high)
    return ConfidenceInterval(value, min(low, value), max(high, value), confidence, method)


def as_computed(reading: Reading) -> Reading:
    """The reading by the measure of inequality that a falling measure is one minus."""
    measure = reading.settings.resolved
    return replace(
        reading,
        measure=measure.computed.name,
        value=measure.written(reading.value),
        cell_values=measure.written(reading.cell_values),
        settings=replace(reading.settings, measure=measure.computed),
    )


Cells = list[tuple[Cloud, NDArray[np.bool_], Floats] | None]


def cells_of(estimates: Estimates, settings: Settings) -> Cells:
    """The groups observed in each cell, transformed for the measure.

    Relative measures need values of at least 0: if no observed value is negative, the true ones are
    assumed not to be.
    """
    relative = settings.function.is_relative
    exp = settings.applied == "exp" and relative
    # Measures share their cells: where no value can be negative, none is truncated.
    key = (exp, relative and bool((estimates.curves < 0).any()))
    if key not in estimates.located:
        estimates.located[key] = _located(estimates, *key)
    return cast(Cells, estimates.located[key])


def _located(estimates: Estimates, exp: bool, relative: bool) -> Cells:
    cells: Cells = []
    for values, curves in zip(estimates.values, np.moveaxis(estimates.curves, 1, 0), strict=True):
        defined = np.isfinite(values)
        if defined.sum() < 2:
            cells.append(None)
            continue
        changed = (
            _exp(part, values[defined]) if exp else part for part in (values, curves[:, defined])
        )
        transformed, limits = changed
        limits = np.maximum(limits, 0.0) if relative else limits
        cells.append(
            (
                Cloud(transformed[defined], np.maximum.accumulate(limits, axis=0)),
                defined,
                transformed,
            )
        )
    clouds = iter(located_at_once([cell[0] for cell in cells if cell is not None]))
    return [None if cell is None else (next(clouds), *cell[1:]) for cell in cells]


def _exp(values: Floats, observed: Floats) -> Floats:
    """Exponentials for a scale-free measure, with the largest observed value set to 1."""
    return np.asarray(np.exp(np.minimum(values - observed.max(), LARGEST_EXPONENT)))


def _calibrated(
    cells: Cells, estimates: Estimates, measure: Measure, error: float, worst: bool
) -> tuple[Floats, Floats, Floats]:
    """Calibrated ends; lower ones are corrected for the number of independent cells.

    Where only the worst cell counts, only the largest lower end is searched for.
    """
    from scipy.special import ndtri

    reach = float(-ndtri(error / 2))
    share = error / (len(np.unique(estimates.strata)) * estimates.looks)
    lows, highs, observed = _guaranteed(cells, estimates, measure, error, worst)
    best = float(np.nanmax(lows, initial=0.0)) if worst else 0.0
    present = [i for i, cell in enumerate(cells) if cell is not None]
    clouds = [cell[0] for cell in cells if cell is not None]
    highs[present] = np.fmin(highs[present], upper_limits(clouds, measure, reach))
    by_cell = dict(zip(present, clouds, strict=True))
    for i in sorted(present, key=lambda i: -observed[i]):
        counts = None if measure.reads == "extremes" else _counts(estimates, i)
        if counts is not None and (not measure.is_solved or not has_many_groups(counts[1])):
            counts = None  # the correction for noise needs many groups and a suitable measure
        if counts is not None:
            highs[i] = max(observed[i], min(highs[i], many_groups_upper(*counts, measure, reach)))
        if measure.is_solved and (worst or len(cells) <= MOST_SEARCHED):
            limit = lower_limit(by_cell[i], measure, share, best if worst else lows[i])
            if limit > 0 and measure.reads == "powers" and counts is not None:
                limit = min(limit, many_groups_lower(*counts, float(-ndtri(share / 2))))
            lows[i] = max(lows[i], limit)
            if lows[i] == 0 and measure.reads == "extremes" and not measure.is_relative:
                lows[i] = _one_group_gap(estimates, i, SINGLE_GROUP_SHARE * share)
            best = max(best, lows[i]) if worst else 0.0
    return lows, highs, observed


def _one_group_gap(estimates: Estimates, cell: int, error: float) -> float:
    """A lower bound of the largest gap: that between some group and all others together.

    The distance to equal groups misses a single outlying group among many; the test does not.
    """
    counts = _counts(estimates, cell)
    if counts is None:
        return 0.0
    hits, sizes = counts
    evens = np.ones(len(hits))
    group_counts = Binomials(hits, sizes, evens)
    other_counts = Binomials(hits.sum() - hits, sizes.sum() - sizes, evens)
    return float(difference_bounds(group_counts, other_counts, error / len(hits)).max())


def _counts(estimates: Estimates, cell: int) -> tuple[Floats, Floats] | None:
    """Hits and rows of the groups observed in a cell, where the statistic is a rate itself."""
    if estimates.counts is None or estimates.is_weighted:
        return None
    values = estimates.values[cell]
    hits, sizes = (part[cell][np.isfinite(values)] for part in estimates.counts)
    same = np.allclose(ratio(hits, sizes), values[np.isfinite(values)], atol=1e-9)
    return (hits, sizes) if same else None


def _guaranteed(
    cells: Cells, estimates: Estimates, measure: Measure, error: float, _: bool
) -> tuple[Floats, Floats, Floats]:
    """The extremes over bounds that hold simultaneously for all groups and cells.

    For a measure that is not declared quasi-convex only the lower end is defined.
    """
    lows, highs, observed = (np.full(len(cells), np.nan) for _ in range(3))
    for i, cell in enumerate(cells):
        if cell is not None:
            observed[i] = float(measure(cell[0].values))
            low, high = _box(estimates, i, cell, measure, error)
            lows[i] = evenest(low, high, measure)
            highs[i] = most_uneven(low, high, measure) if measure.is_convex else np.nan
    return lows, highs, observed


def _box(
    estimates: Estimates,
    at: int,
    cell: tuple[Cloud, NDArray[np.bool_], Floats],
    measure: Measure,
    error: float,
) -> tuple[Floats, Floats]:
    """Simultaneous bounds of every group of a cell, over all cells and groups (Šidák)."""
    low, high = (part[at][cell[1]] for part in estimates.all_at_once(error))
    observed = estimates.values[at][cell[1]]
    if not np.array_equal(cell[2][cell[1]], observed):
        return _exp(low, observed), _exp(high, observed)
    return (np.maximum(low, 0.0), high) if measure.is_relative else (low, high)


def _across_cuts(
    lows: Floats,
    highs: Floats,
    observed: Floats,
    settings: Settings,
    scores: Distribution,
    estimates: Estimates,
    value: float,
) -> tuple[float, float]:
    """The interval of a supremum or integral over cut points; the exact value uses more of them."""
    edges = np.asarray(estimates.cells, dtype=np.float64)
    if settings.aggregate == "integral":
        ends = np.concatenate([scores.values[:1], (edges[1:] + edges[:-1]) / 2, scores.values[-1:]])
        widths = np.diff(ends)
        low, high, sampled = (float(np.nansum(part * widths)) for part in (lows, highs, observed))
        remainder = value - sampled
        return max(0.0, low + min(remainder, 0.0)), high + max(remainder, 0.0)
    allowed = np.ones(len(edges), bool)
    if settings.tau is not None:
        pooled = np.searchsorted(scores.values, edges, side="right") / len(scores)
        allowed = pooled >= settings.tau
    low, high = float(np.nanmax(lows[allowed])), float(np.nanmax(highs[allowed]))
    return low, high + max(value - float(np.nanmax(observed[allowed])), 0.0)
