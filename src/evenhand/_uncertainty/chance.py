"""What a fair model would show: the noise floor of a criterion, and how unlikely its value is.

Under fairness all groups share one distribution of what the criterion looks at, given what it
conditions on. Drawing counts from the pooled distribution, with the group sizes as they are, shows
what chance alone makes of it. The cost depends on the number of cells, not of rows.
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
from evenhand.criteria.evaluation import asked_of, named
from evenhand.measures import Aggregate, MeasureLike
from evenhand.statistics import Table
from evenhand.statistics.arithmetic import ratio


@dataclass(frozen=True)
class Chance:
    """A value beside what a fair model shows with groups of the same sizes.

    Attributes
    ----------
    value : float
        The criterion's value.
    floor : float
        Its mean among fair models.
    high : float
        What a fair model exceeds once in twenty times; of a ratio, what it falls below.
    p_value : float
        The share of fair models that are at least as uneven as `value`.
    replicates : int
        How many fair models were drawn.

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
    """Compare a criterion with what chance alone would show.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, or a criterion of your own.
    {data}
    {settings}
    replicates : int, default 2000
        How many data sets of equal groups are drawn.
    random_state : int, Generator or None, default 0
        Of the draws; the same counts and the same number give the same answer.

    Returns
    -------
    Chance
        The value with its noise floor and its p-value, which is that of one question: who asks
        many must allow for it.

    See Also
    --------
    interval : Between which values the truth lies.

    Examples
    --------
    >>> y, group = [1, 0, 1, 0, 1, 1, 0, 0], ["a", "b"] * 4
    >>> found = chance("statistical_parity", None, y, sensitive_features=group, measure="mpd")
    >>> found.value, found.p_value > 0.2
    (0.5, True)

    """
    check_kinds(replicates=replicates)
    if replicates is None or replicates < 1:
        raise InputError(f"replicates is how often rows are drawn, at least 1; it is {replicates}.")
    how = {"measure": measure, "aggregate": aggregate, "transform": transform, "tau": tau}
    reading = asked_of(criterion, data).read_data(data, **how, g=g)
    asked = asked_of(criterion, data).with_statistic(g)
    settings = reading.settings
    options = {
        "aggregate": settings.aggregate,
        "transform": settings.transform,
        "tau": settings.tau,
        "favorable": data.favorable,
    }
    own = settings.resolved
    model, (question,) = questions(reading.source, asked, [own.computed], **options)
    if not isinstance(random_state, np.random.Generator):
        random_state = np.random.default_rng(seed_of(random_state))
    known = chances(model, [question], replicates, random_state)[0]
    written = {name: own.written(getattr(known, name)) for name in ("value", "floor", "high")}
    return replace(known, **written)


@dataclass(frozen=True, eq=False)
class Measurement:
    """One measure of a criterion, for any table of its statistic.

    `value` is that of the observed table, and `more` what the exact value adds to it where the
    table knows a number of cut points only.
    """

    reading: Reading
    value: float
    more: float
    of: Callable[[Table], Any]

    def __call__(self, table: Table) -> Floats:
        """The value of every world in a table."""
        return np.atleast_1d(self.of(table))


def questions(
    source: Source, criterion: str | Criterion, ways: Sequence[MeasureLike | None], **options: Any
) -> tuple[Model, list[Measurement]]:
    """The model of a criterion, and a question for each measure."""
    asked = named(criterion).with_statistic(options.pop("g", None))
    asked.check(source)
    favorable = options.pop("favorable", None)
    hows = [asked.settings(way, **options) for way in ways]
    if isinstance(source, Distribution):
        return _about_cuts(source, asked, ways, hows, options)
    table = asked.table(source, favorable)
    make: Callable[..., Model] = MODELS.get(asked.statistic.needs, counts_of)
    model = thinned(make(source, asked, favorable), source, asked, favorable)
    return model, [_question(asked, how, asked.reading(table, how)) for how in hows]


def thinned(model: Model, source: Source, asked: Criterion, favorable: Label) -> Model:
    """The model with fewer rows in every group, by as much as dependent ones say less."""
    if not are_dependent(source):
        return model
    widths = []
    for rows in (independent(source), source):
        curves = estimates_of(rows, asked, favorable).curves
        widths.append(curve_at(curves, 1.0) - curve_at(curves, -1.0))
    known = ratio(*widths)
    seen = np.isfinite(known).any(axis=0)
    part = np.nanmean(np.where(seen, known, 1.0), axis=0) ** 2
    if isinstance(model, Means):
        errors = model.errors / np.sqrt(part)[..., None]
        return replace(model, sizes=model.sizes * part, errors=errors)
    assert isinstance(model, Counts)
    fewer = np.maximum(np.rint(model.sizes * part), np.minimum(model.sizes, 1))
    return replace(model, sizes=fewer.astype(np.int64))


def chances(
    model: Model, asked: Sequence[Measurement], replicates: int, rng: np.random.Generator
) -> list[Chance]:
    """Compare several questions about one criterion with the same fair replicates."""
    fair = np.broadcast_to(model.pooled, model.seen.shape)
    tables = list(model.draw(fair, replicates, rng))
    return [_compared(one, np.concatenate([one(table) for table in tables])) for one in asked]


def _about_cuts(
    source: Distribution,
    asked: Criterion,
    ways: Sequence[MeasureLike | None],
    hows: Sequence[Settings],
    options: dict[str, Any],
) -> tuple[Model, list[Measurement]]:
    """Questions about distributions: replicates know some cut points, the value knows all."""
    cut, edges = cuts_of(source)
    model = thinned(cut, source, asked, None)
    seen = model.expected(model.seen)
    span = source.values[[0, -1]]
    exact = [asked.read(source, measure=way, **options) for way in ways]
    across = [across_cuts(how, cut, edges, span) for how in hows]
    made = [_question(asked, *one, seen) for one in zip(across, exact, strict=True)]
    return model, made


def _question(
    asked: Criterion, how: Settings, reading: Reading, cuts: Table | None = None
) -> Measurement:
    def of(table: Table) -> Any:
        return asked.reading(table, how).value

    value = float(reading)
    shown = value if cuts is None else float(of(cuts))
    return Measurement(reading, shown, value - shown, of)


MODELS: dict[str, Callable[..., Model]] = {
    "moments": means_of,
    "losses": means_of,
    "lists": means_of,
    "bins": hits_of,
    "ranks": areas_of,
}


def _compared(asked: Measurement, values: Floats) -> Chance:
    value, replicates = asked.value, len(values)
    values = values[~np.isnan(values)]
    if np.isnan(value) or not len(values):
        return Chance(np.nan, np.nan, np.nan, np.nan, replicates)
    slack = 1e-12 * max(1.0, abs(value))
    as_large = int(np.count_nonzero(values >= value - slack))
    high = float(np.quantile(values, 0.95))
    p_value = (1 + as_large) / (1 + len(values))
    return Chance(value + asked.more, float(values.mean()), high, p_value, replicates)
