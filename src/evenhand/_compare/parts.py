"""The parts of a comparison, which `Comparison` puts into different forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evenhand._compare.evidence import Evidence
from evenhand._compare.tables import Columns, Row
from evenhand._data.tasks import Task
from evenhand.criteria.questions import Question


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonParts:
    """The tables of a comparison, with its questions and evidence; see `Comparison`."""

    models: tuple[str, ...]
    task: Task
    confidence: float
    notes: tuple[str, ...]
    tables: Mapping[str, Columns]
    questions: tuple[Question, ...]
    evidence: Evidence
    seed: int = 0
    kind: str | None = None
    title: str | None = None

    def rows(self, name: str) -> list[Row]:
        """The rows of one of the tables, each as a dict."""
        columns = self.tables[name]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
