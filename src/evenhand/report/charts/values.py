"""Values with their intervals: what was seen, and what may be true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand._words import extent, number
from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, tick
from evenhand.report.charts.svg import NOTHING, Markup, Scale


class Seen(NamedTuple):
    """A finding as numbers; `kind` is its verdict as a style class."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    tolerance: float | None
    verdict: str
    kind: str


@dataclass(frozen=True)
class Values:
    """A row for each finding: interval, value, and tolerance if any.

    >>> seen = Seen("TPR", 0.3, 0.2, 0.4, None, "differs", "beyond")
    >>> "interval 0.200 to 0.400" in Values("Values", [seen]).svg("c")
    True
    """

    title: str
    findings: Sequence[Seen]
    unit: str = ""

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        axis = Scale.around([end for seen in self.findings for end in seen[1:5]], zero=True)
        beyond = sum(seen.kind == "beyond" for seen in self.findings)
        description = (
            f"{beyond} of {len(self.findings)} values are significant or exceed the tolerance."
        )
        rows = [_row(seen, axis) for seen in self.findings]
        return chart_of_rows(ident, self.title, description, rows, axis)


def _row(seen: Seen, axis: Scale) -> Row:
    if seen.value is None:
        tip = f"{seen.label}: undefined"
        return Row(seen.label, "–", tip, NOTHING, seen.kind)
    marks = (
        tick(axis, seen.tolerance, "tolerance")
        + span(axis, seen.low, seen.high, "whisker", 2)
        + dot(axis, seen.value)
    )
    tip = (
        f"{seen.label}: {number(seen.value)}, interval {extent(seen.low, seen.high)}; "
        f"{seen.verdict}"
    )
    return Row(seen.label, number(seen.value), tip, marks, seen.kind)
