"""Contrasts of each group with a named one, the best or everyone, with simultaneous limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._kinds import check_kinds, check_names
from evenhand._uncertainty.curves import Floats
from evenhand._uncertainty.errors import covariance
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.reference import Scale, compare_values, place_of
from evenhand._words import did_you_mean, extent, number
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import criterion_without_measure
from evenhand.statistics.arithmetic import ratio

WITHOUT_MEASURE = 'contrasts are differences of each group, or ratios with by="ratio".'


class Contrast(NamedTuple):
    """The difference of a group from the reference, or its ratio to it.

    Attributes
    ----------
    cell : label
        The class, stratum or pair that it is about.
    group : label
        The group.
    value : float
        Its difference from the reference, or its ratio to it.
    low, high : float
        Its confidence limits; the intervals of a cell hold simultaneously.
    error : float
        The standard error of the value, as R's `survey` has it: the linearized variance with
        c / (c − 1) for all c clusters (or rows) of the data, or that of replicate weights around
        the value itself. Limits also allow for few and unequal clusters. NaN if the reference is
        the best group or everyone, and where the statistic's squares are not counted or it also
        depends on the rows of other groups.
    column : str, optional
        The group's sensitive column, where each column has a reference of its own.

    """

    cell: Label
    group: Label
    value: float
    low: float
    high: float
    error: float = float("nan")
    column: str | None = None

    def __repr__(self) -> str:
        where = f" in cell {show(self.cell)}" if self.cell not in (None, "all") else ""
        ends = extent(self.low, self.high)
        group = show(self.group) if self.column is None else f"{self.column}={show(self.group)}"
        return f"<Contrast: {group}{where} {number(self.value)} ({ends})>"


@about_data()
def contrasts(
    criterion: str | Criterion,
    data: Data,
    *,
    to: Label | Mapping[str, Label] = "best",
    by: Scale = "difference",
    g: str | Callable[[Any, Any], Any] | None = None,
    confidence: float = 0.95,
) -> tuple[Contrast, ...]:
    """Differences of each group from a reference, with simultaneous confidence intervals.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, or a criterion of your own; what is compared is its statistic.
    {data}
    to : {"best", "overall"}, label of a group or mapping, default "best"
        The reference: the group with the highest value, whichever it truly is, everyone together,
        or the group of this label. Of several sensitive columns, a mapping from columns to
        references (`{"age": 60, "gender": "male"}`) compares the groups of each column alone:
        main effects instead of combinations.
    by : {"difference", "ratio"}, default "difference"
        Whether the reference is subtracted or divides.
    g : str or callable, optional
        The statistic of "performance_parity".
    confidence : float, default 0.95
        The probability that all intervals of a cell (of main effects, those of a column) cover
        their true values together.

    Returns
    -------
    tuple of Contrast
        One for each cell and group; of main effects, one column after the other.

    Raises
    ------
    InputError
        If there is no such group or column, or the criterion compares distributions, not values.

    See Also
    --------
    interval : With `to=`, the largest distance of a group from the reference.

    Examples
    --------
    >>> decisions = [1] * 30 + [0] * 70 + [1] * 60 + [0] * 40
    >>> group = ["a"] * 100 + ["b"] * 100
    >>> options = {"sensitive_features": group, "by": "ratio"}
    >>> for row in contrasts("selection_rate_ratio", None, decisions, **options):
    ...     print(row.group, f"{row.value:.2f} ({row.low:.2f} to {row.high:.2f})")
    a 0.50 (0.33 to 0.73)
    b 1.00 (1.00 to 1.00)

    """
    check_kinds(confidence=confidence)
    check_names(by=by)
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    if by not in ("difference", "ratio"):
        raise InputError(f"by is 'difference' or 'ratio'; it is {by!r}.")
    if isinstance(to, Mapping):
        return _main_effects(criterion, data, to, by=by, g=g, confidence=confidence)
    named_criterion = criterion_without_measure(criterion, data, WITHOUT_MEASURE)
    definition = named_criterion.with_statistic(g)
    if definition.statistic.sweeps:
        raise InputError(
            f"{definition.name} compares whole distributions; groups are compared with a "
            "reference in a rate or a mean, such as statistical_parity or weak_parity."
        )
    source = named_criterion.read_data(data, g=g).source
    estimates = estimates_of(source, definition, data.favorable)
    place, curves = place_of(to, estimates.groups), np.moveaxis(estimates.curves, 1, 0)
    named = isinstance(place, int)
    spread = covariance(source, definition, data.favorable) if named else None
    compared = []
    for index, cell in enumerate(estimates.cells):
        evidence = estimates.values[index], curves[index], estimates.sizes[index]
        limits = compare_values(*evidence, place, by, 1 - confidence)
        errors = np.full(len(estimates.groups), np.nan)
        if spread is not None:
            errors = _errors(estimates.values[index], spread[index], place, by)
        parts = (part.tolist() for part in (*limits, errors))
        rows = zip(estimates.groups, *parts, strict=True)
        compared += [Contrast(cell, *row) for row in rows]
    return tuple(compared)


def _main_effects(
    criterion: str | Criterion, data: Data, to: Mapping[str, Label], **options: Any
) -> tuple[Contrast, ...]:
    """The contrasts of each column by itself, averaged over the other columns as in the data."""
    counted = data.counted
    for column in to:
        if column not in counted.columns:
            raise InputError(
                f"to names the column {column!r}; the sensitive columns are "
                f"{list(counted.columns)}.{did_you_mean(column, counted.columns)}"
            )
    if not to:
        raise InputError("to names no column; main effects need a reference for each of them.")
    effects = []
    for column, reference in to.items():
        single = Data(counted.by_columns((counted.columns.index(column),)))
        effect = contrasts(criterion, single, to=reference, **options)
        effects += [contrast._replace(column=column) for contrast in effect]
    return tuple(effects)


def _errors(values: Floats, spread: Floats, to: int, by: Scale) -> Floats:
    """Standard errors of differences from a group or ratios to it, from covariances."""
    slopes = np.ones(len(values))
    reference_slopes = -slopes
    if by == "ratio":
        slopes = ratio(slopes, np.full(len(values), values[to]))
        reference_slopes = -values * slopes**2
    variances = np.diagonal(spread)
    square = (
        slopes**2 * variances
        + reference_slopes**2 * variances[to]
        + 2 * slopes * reference_slopes * spread[:, to]
    )
    errors = np.sqrt(np.maximum(square, 0.0))
    errors[to] = 0.0
    return np.asarray(np.where(np.isfinite(values), errors, np.nan))
