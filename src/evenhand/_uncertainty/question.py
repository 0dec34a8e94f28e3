"""A criterion asked of a summary of the rows: the model of what varies, and how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._distributions import Distribution
from evenhand._uncertainty.models import (
    Floats,
    Model,
    across_cuts,
    areas_of,
    counts_of,
    cuts_of,
    hits_of,
    means_of,
)
from evenhand.criteria import Criterion, Reading
from evenhand.criteria.criterion import Settings
from evenhand.criteria.evaluation import named
from evenhand.measures import Measure, is_scale_free, mpd
from evenhand.statistics import Table
from evenhand.statistics.kinds import Source


@dataclass(frozen=True, eq=False)
class Question:
    """One measure of a criterion, for any table of its statistic.

    `value` is that of the observed table, and `more` what the exact value adds to it where the
    table knows a number of cut points only; `most` is the most there can be.
    """

    reading: Reading
    value: float
    more: float
    most: float
    worst_mpd: bool
    of: Callable[[Table], Any]

    def __call__(self, table: Table) -> Floats:
        """The value of every world in a table."""
        return np.atleast_1d(self.of(table))


def questions(
    source: Source, criterion: str | Criterion, ways: Sequence[str | Measure | None], **options: Any
) -> tuple[Model, list[Question]]:
    """The model of a criterion, and a question for each measure."""
    asked = named(criterion).with_statistic(options.pop("g", None))
    asked.check(source)
    favorable = options.pop("favorable", None)
    hows = [asked.settings(way, **options) for way in ways]
    if isinstance(source, Distribution):
        return _about_cuts(source, asked, ways, hows, options)
    table = asked.table(source, favorable)
    make: Callable[..., Model] = MODELS.get(asked.statistic.needs, counts_of)
    model = make(source, asked, favorable)
    return model, [_question(asked, how, asked.reading(table, how)) for how in hows]


def _about_cuts(
    source: Distribution,
    asked: Criterion,
    ways: Sequence[str | Measure | None],
    hows: Sequence[Settings],
    options: dict[str, Any],
) -> tuple[Model, list[Question]]:
    """Questions about distributions: their worlds know some cut points, their value knows all."""
    model, edges = cuts_of(source)
    seen = model.expected(model.seen)
    span = source.values[[0, -1]]
    exact = [asked.read(source, measure=way, **options) for way in ways]
    across = [across_cuts(how, model, edges, span) for how in hows]
    made = [_question(asked, *one, seen) for one in zip(across, exact, strict=True)]
    return model, made


def _question(
    asked: Criterion, how: Settings, reading: Reading, cuts: Table | None = None
) -> Question:
    sweeps = cuts is not None
    worst = how.aggregate == "worst" or (sweeps and asked.across == "worst")
    low, high = asked.statistic.bounds
    most = high - low if worst and not is_scale_free(how.function) else np.inf

    def of(table: Table) -> Any:
        return asked.reading(table, how).value

    value = float(reading)
    shown = value if cuts is None else float(of(cuts))
    return Question(reading, shown, value - shown, most, worst and how.function is mpd, of)


MODELS: dict[str, Callable[..., Model]] = {
    "moments": means_of,
    "losses": means_of,
    "bins": hits_of,
    "ranks": areas_of,
}
