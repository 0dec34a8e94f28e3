"""What is asked: a criterion by measures, read from any name that people have for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand._errors import InputTypeError
from evenhand._kinds import check_kinds
from evenhand.criteria.criterion import Criterion
from evenhand.criteria.evaluation import named, split_name
from evenhand.measures import MeasureLike, measure_named, name_of, resolve

Criteria = str | Criterion | Sequence[str | Criterion]


@dataclass(frozen=True)
class Question:
    """A criterion, the measures by which it is asked, and how.

    Parameters
    ----------
    criterion : Criterion
        With its statistic.
    measures : tuple
        Names, or functions where these are taken; the first is `measure`.
    settings : mapping
        Further options of `Criterion.read`: transform, aggregate, favorable.

    """

    criterion: Criterion
    measures: tuple[Any, ...]
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The name of the criterion."""
        return self.criterion.name

    @property
    def needs(self) -> str:
        """Which summary of the rows is read."""
        return self.criterion.statistic.needs

    @property
    def measure(self) -> MeasureLike:
        """The first measure."""
        first: MeasureLike = self.measures[0]
        return first

    @property
    def measure_name(self) -> str:
        """The first measure, with the orders it was given."""
        return name_of(self.measure)

    @property
    def options(self) -> dict[str, Any]:
        """The options of `Criterion.read`, by the first measure."""
        return {"measure": self.measure, **self.settings}

    def with_options(self, **changed: Any) -> Question:
        """The same question, asked in another way."""
        measures = (changed.pop("measure"),) if "measure" in changed else self.measures
        return replace(self, measures=measures, settings={**self.settings, **changed})


def questions_of(
    criteria: Criteria,
    measures: MeasureLike | Sequence[MeasureLike],
    task: str | None = None,
    *,
    functions: bool = False,
) -> list[Question]:
    """Resolve names such as "equalized_odds" and "performance_parity(f1)"; one may stand alone.

    A name that says its measure is asked by that one; the paper's SP and EO mean those of the task.
    Measures are names, or where `functions` are taken these too.

    >>> [
    ...     (one.criterion.statistic.formula, one.measures)
    ...     for one in questions_of(["performance_parity(f1)", "SP.PQ(1, 3)"], ["gini"])
    ... ]
    [('2 tp / (2 tp + fp + fn)', ('gini',)), ('P(ŷ = c | a)', ('pq(q=3)',))]
    """
    check_kinds(criteria=criteria)
    asked = (criteria,) if isinstance(criteria, str | Criterion) else criteria
    if not isinstance(asked, Iterable):  # another function
        raise InputTypeError(f"criteria must be criteria or their names, not {criteria!r}.")
    many = isinstance(measures, Iterable) and not isinstance(measures, str)
    given: tuple[Any, ...] = tuple(measures) if many else (measures,)  # type: ignore[arg-type]
    by = tuple(_kept(one) if functions else resolve(one).name for one in given)
    return [_question(named(one, task), one, by) for one in asked]


def _kept(measure: Any) -> Any:
    """The name of a measure, by which it is found again; a function that has none as it is."""
    known = resolve(measure)
    return known.name if measure_named(known.name) == known else measure


def _question(criterion: Criterion, name: str | Criterion, measures: tuple[Any, ...]) -> Question:
    own = resolve(criterion.measure)
    if isinstance(name, str) and split_name(name)[1] is not None:
        measures = (own.name,)
    elif own.falls:  # its own measure is in its name; the one that it is one minus says the same
        measures = (own.name, *(one for one in measures if resolve(one) == own.computed))
    elif criterion.across == "integral":  # ratios are not added up
        measures = tuple(one for one in measures if not resolve(one).falls) or measures
    return Question(criterion, measures)
