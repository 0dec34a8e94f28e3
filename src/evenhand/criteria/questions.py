"""Questions: criteria with measures, from any of their names."""

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
    """A criterion with the measures and options of its evaluation.

    Parameters
    ----------
    criterion : Criterion
        The criterion, with its statistic.
    measures : tuple
        Names, or functions where these are allowed; the first is `measure`.
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
        """The kind of summary of the rows that is read."""
        return self.criterion.statistic.needs

    @property
    def measure(self) -> MeasureLike:
        """The first measure."""
        first: MeasureLike = self.measures[0]
        return first

    @property
    def measure_name(self) -> str:
        """The name of the first measure, with its orders."""
        return name_of(self.measure)

    @property
    def options(self) -> dict[str, Any]:
        """The options of `Criterion.read`, by the first measure."""
        return {"measure": self.measure, **self.settings}

    def with_options(self, **changed: Any) -> Question:
        """The same question with other options."""
        measures = (changed.pop("measure"),) if "measure" in changed else self.measures
        return replace(self, measures=measures, settings={**self.settings, **changed})


def questions_of(
    criteria: Criteria,
    measures: MeasureLike | Sequence[MeasureLike],
    task: str | None = None,
    *,
    functions: bool = False,
) -> list[Question]:
    """Resolve one or several names such as "equalized_odds" and "performance_parity(f1)".

    A name with a measure is asked by that measure; the paper's SP and EO mean those of the task.
    Measures are names, or with `functions` also functions.

    >>> [
    ...     (question.criterion.statistic.formula, question.measures)
    ...     for question in questions_of(["performance_parity(f1)", "SP.PQ(1, 3)"], ["gini"])
    ... ]
    [('2 tp / (2 tp + fp + fn)', ('gini',)), ('P(ŷ = c | a)', ('pq(q=3)',))]
    """
    check_kinds(criteria=criteria)
    requested = (criteria,) if isinstance(criteria, str | Criterion) else criteria
    if not isinstance(requested, Iterable):  # another function
        raise InputTypeError(f"criteria must be criteria or their names, not {criteria!r}.")
    many = isinstance(measures, Iterable) and not isinstance(measures, str)
    supplied: tuple[Any, ...] = tuple(measures) if many else (measures,)  # type: ignore[arg-type]
    names = tuple(_name_or_function(item) if functions else resolve(item).name for item in supplied)
    return [_question(named(item, task), item, names) for item in requested]


def _name_or_function(measure: Any) -> Any:
    """The name of a registered measure; other functions unchanged."""
    resolved = resolve(measure)
    return resolved.name if measure_named(resolved.name) == resolved else measure


def _question(criterion: Criterion, name: str | Criterion, measures: tuple[Any, ...]) -> Question:
    default = resolve(criterion.measure)
    if isinstance(name, str) and split_name(name)[1] is not None:
        measures = (default.name,)
    elif default.falls:  # its name implies the measure; the measure that it mirrors is redundant
        measures = (default.name, *(each for each in measures if resolve(each) == default.computed))
    elif criterion.across == "integral":  # ratios are not added up
        measures = tuple(each for each in measures if not resolve(each).falls) or measures
    return Question(criterion, measures)
