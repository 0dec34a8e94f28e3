"""Views of the evidence: each sensitive column alone, and combinations of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evenhand._audit.examination import read, tested
from evenhand._data.evidence import Evidence
from evenhand._uncertainty.homogeneity import Conclusion, holm, verdict
from evenhand.criteria.questions import Question


@dataclass(frozen=True)
class ViewFinding:
    """A criterion in one view: its value by each measure, and whether its groups differ."""

    criterion: str
    values: Mapping[str, float]
    p_value: float
    level: float
    sameness: str | None = None
    p_adjusted: float = np.nan

    @property
    def verdict(self) -> Conclusion:
        """Whether the groups differ, the rows are inconclusive, or there is nothing to compare."""
        value = next(iter(self.values.values()), np.nan)
        return verdict(value, self.p_adjusted, self.level, self.sameness)


@dataclass(frozen=True, eq=False)
class View:
    """The groups of some of the sensitive columns."""

    evidence: Evidence
    findings: tuple[ViewFinding, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose combinations are the groups."""
        return self.evidence.columns

    @property
    def p_value(self) -> float:
        """The smallest p-value of its findings."""
        return min((f.p_value for f in self.findings if not np.isnan(f.p_value)), default=1.0)


def views_of(evidence: Evidence, depth: int) -> Iterator[View]:
    """Every column alone, then every combination of up to `depth` columns."""
    names = evidence.columns
    for size in range(1, min(depth, len(names)) + 1):
        for places in combinations(range(len(names)), size):
            yield View(evidence if size == len(names) else evidence.by_columns(places))


def examined(views: list[View], questions: list[Question], level: float) -> list[View]:
    """Test the headline questions in every view, with p-values adjusted for all of them."""
    findings = [
        [_finding(view.evidence, question, level) for question in questions] for view in views
    ]
    adjusted = iter(holm([finding.p_value for of_view in findings for finding in of_view]))
    return [
        replace(
            view,
            findings=tuple(
                replace(finding, p_adjusted=float(next(adjusted))) for finding in of_view
            ),
        )
        for view, of_view in zip(views, findings, strict=True)
    ]


class Main(NamedTuple):
    """The groups examined in detail, the number of combinations to choose from, and notes."""

    evidence: Evidence
    choices: int
    notes: tuple[str, ...]


def main_view(evidence: Evidence, views: Sequence[View], depth: int) -> Main:
    """All columns combined or, if there are more than the depth, the most clearly uneven ones."""
    if len(evidence.columns) <= depth:
        return Main(evidence, 1, ())
    main = min(views, key=lambda view: (view.p_value, -len(view.columns)))
    note = (
        f"{len(evidence.columns)} sensitive columns were given and combined up to {depth} at a "
        f"time. In detail: {' × '.join(main.columns)}, the one of {len(views)} combinations whose "
        "groups differ most clearly; p-values allow for this choice."
    )
    return Main(main.evidence, len(views), (note,))


def _finding(evidence: Evidence, question: Question, level: float) -> ViewFinding:
    readings = {name: read(evidence, question.criterion, name) for name in question.measures}
    values = {name: float(reading.value) for name, reading in readings.items()}
    sameness = evidence.sameness(question.needs)
    return ViewFinding(
        question.name, values, tested(evidence, question.criterion)[1].p_value, level, sameness
    )
