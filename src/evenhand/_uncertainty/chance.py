"""The noise floor of a criterion: its distribution if the model is fair, and a p-value.

If a model is fair, all groups share one distribution of the outcome that the criterion compares,
given what it conditions on. Counts drawn from the pooled distribution, with the group sizes as they
are, give the criterion's null distribution. The cost depends on the number of cells, not of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.distributions import Distribution
from evenhand._data.doors import about_data
from evenhand._data.summaries import Source
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._seeds import RandomState, seed_of
from evenhand._signatures import SETTINGS, documented
from evenhand._uncertainty.clusters import are_dependent, independent
from evenhand._uncertainty.curves import curve_at
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.models import (
    Counts,
    Floats,
    Means,
    Model,
    across_cuts,
    areas_of,
    counts_of,
    cuts_of,
    hits_of,
    means_of,
)
from evenhand.criteria import Criterion, Reading, Settings
from evenhand.criteria.evaluation import criterion_of, named, warn_if_undefined
from evenhand.measures import Aggregate, MeasureLike
from evenhand.statistics import Table
from evenhand.statistics.arithmetic import ratio


@dataclass(frozen=True)
class Chance:
    """A criterion's value, and its null distribution for groups of the same sizes.

    Attributes
    ----------
    value : float
        The criterion's value.
    floor : float
        The mean value of fair models.
    high : float
        The value that one fair model in twenty exceeds; for a ratio, that one in twenty is below.
    p_value : float
        The share of fair models that are at least as unequal as `value`.
    replicates : int
        The number of fair models drawn.

    """

    value: float
    floor: float
    high: float
    p_value: float
    replicates: int


@about_data()
@documented(settings=SETTINGS)
def chance(
    criterion: str | Criterion,
    data: Data,
    *,
    measure: MeasureLike | None = None,
    aggregate: str | Aggregate | None = None,
    g: str | Callable[[Any, Any], Any] | None = None,
    transform: str | None = None,
    tau: float | None = None,
    replicates: int = 2000,
    random_state: RandomState = 0,
) -> Chance:
    """Compare a criterion with its distribution under chance alone.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, or a criterion of your own.
    {data}
    {settings}
    replicates : int, default 2000
        The number of data sets drawn with equal groups.
    random_state : int, Generator or None, default 0
        The seed of the draws; the same counts and the same seed give the same answer.

    Returns
    -------
    Chance
        The value with its noise floor and its p-value, which is not corrected for asking several
        questions.

    See Also
    --------
    interval : Confidence interval for the true value.

    Examples
    --------
    >>> y, group = [1, 0, 1, 0, 1, 1, 0, 0], ["a", "b"] * 4
    >>> finding = chance("statistical_parity", None, y, sensitive_features=group, measure="mpd")
    >>> finding.value, finding.p_value > 0.2
    (0.5, True)

    """
    check_kinds(replicates=replicates)
    if replicates is None or replicates < 1:
        raise InputError(f"replicates is how often rows are drawn, at least 1; it is {replicates}.")
    choices = {"measure": measure, "aggregate": aggregate, "transform": transform, "tau": tau}
    reading = criterion_of(criterion, data).read_data(data, **choices, g=g)
    warn_if_undefined(reading.value, reading)
    definition = criterion_of(criterion, data).with_statistic(g)
    settings = reading.settings
    options = {
        "aggregate": settings.aggregate,
        "transform": settings.transform,
        "tau": settings.tau,
        "favorable": data.favorable,
    }
    resolved = settings.resolved
    model, (question,) = questions(reading.source, definition, [resolved.computed], **options)
    if not isinstance(random_state, np.random.Generator):
        random_state = np.random.default_rng(seed_of(random_state))
    comparison = chances(model, [question], replicates, random_state)[0]
    written = {
        name: resolved.written(getattr(comparison, name)) for name in ("value", "floor", "high")
    }
    return replace(comparison, **written)


@dataclass(frozen=True, eq=False)
class Measurement:
    """One measure of a criterion, as a function of a table of its statistic.

    `value` is that of the observed table; `remainder` is the exact value less it, where the table
    has only some of the cut points.
    """

    reading: Reading
    value: float
    remainder: float
    read: Callable[[Table], Any]

    def __call__(self, table: Table) -> Floats:
        """The value of every replicate in a table."""
        return np.atleast_1d(self.read(table))


def questions(
    source: Source,
    criterion: str | Criterion,
    measures: Sequence[MeasureLike | None],
    **options: Any,
) -> tuple[Model, list[Measurement]]:
    """The null model of a criterion, and a measurement for each measure."""
    definition = named(criterion).with_statistic(options.pop("g", None))
    definition.check(source)
    favorable = options.pop("favorable", None)
    all_settings = [definition.settings(measure, **options) for measure in measures]
    if isinstance(source, Distribution):
        return _about_cuts(source, definition, measures, all_settings, options)
    table = definition.table(source, favorable)
    make: Callable[..., Model] = MODELS.get(definition.statistic.needs, counts_of)
    model = thinned(make(source, definition, favorable), source, definition, favorable)
    return model, [
        _question(definition, settings, definition.reading(table, settings))
        for settings in all_settings
    ]


def thinned(model: Model, source: Source, criterion: Criterion, favorable: Label) -> Model:
    """The model with the effective number of rows in every group, where rows are dependent."""
    if not are_dependent(source):
        return model
    widths = []
    for rows in (independent(source), source):
        curves = estimates_of(rows, criterion, favorable).curves
        widths.append(curve_at(curves, 1.0) - curve_at(curves, -1.0))
    ratios = ratio(*widths)
    available = np.isfinite(ratios).any(axis=0)
    part = np.nanmean(np.where(available, ratios, 1.0), axis=0) ** 2
    if isinstance(model, Means):
        errors = model.errors / np.sqrt(part)[..., None]
        return replace(model, sizes=model.sizes * part, errors=errors)
    assert isinstance(model, Counts)
    fewer = np.maximum(np.rint(model.sizes * part), np.minimum(model.sizes, 1))
    return replace(model, sizes=fewer.astype(np.int64))


def chances(
    model: Model, measurements: Sequence[Measurement], replicates: int, rng: np.random.Generator
) -> list[Chance]:
    """Compare several measures of one criterion with the same fair replicates."""
    fair = np.broadcast_to(model.pooled, model.observed.shape)
    tables = list(model.draw(fair, replicates, rng))
    return [
        _compared(measurement, np.concatenate([measurement(table) for table in tables]))
        for measurement in measurements
    ]


def _about_cuts(
    source: Distribution,
    criterion: Criterion,
    measures: Sequence[MeasureLike | None],
    all_settings: Sequence[Settings],
    options: dict[str, Any],
) -> tuple[Model, list[Measurement]]:
    """Measurements of distributions: replicates use some cut points, the value uses all."""
    cut, edges = cuts_of(source)
    model = thinned(cut, source, criterion, None)
    observed = model.expected(model.observed)
    span = source.values[[0, -1]]
    exact = [criterion.read(source, measure=measure, **options) for measure in measures]
    across = [across_cuts(settings, cut, edges, span) for settings in all_settings]
    measurements = [
        _question(criterion, *pair, observed) for pair in zip(across, exact, strict=True)
    ]
    return model, measurements


def _question(
    criterion: Criterion, settings: Settings, reading: Reading, cuts: Table | None = None
) -> Measurement:
    def read(table: Table) -> Any:
        return criterion.reading(table, settings).value

    value = float(reading)
    approximate = value if cuts is None else float(read(cuts))
    return Measurement(reading, approximate, value - approximate, read)


MODELS: dict[str, Callable[..., Model]] = {
    "moments": means_of,
    "losses": means_of,
    "lists": means_of,
    "bins": hits_of,
    "ranks": areas_of,
}


def _compared(measurement: Measurement, values: Floats) -> Chance:
    value, replicates = measurement.value, len(values)
    values = values[~np.isnan(values)]
    if np.isnan(value) or not len(values):
        return Chance(np.nan, np.nan, np.nan, np.nan, replicates)
    slack = 1e-12 * max(1.0, abs(value))
    as_large = int(np.count_nonzero(values >= value - slack))
    high = float(np.quantile(values, 0.95))
    p_value = (1 + as_large) / (1 + len(values))
    return Chance(value + measurement.remainder, float(values.mean()), high, p_value, replicates)
