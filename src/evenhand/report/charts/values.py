"""Values with their intervals: what was seen, and what may be true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, tick
from evenhand.report.charts.svg import NOTHING, Markup, Scale
from evenhand.report.formats import apart


class Seen(NamedTuple):
    """A finding as numbers; `kind` is its verdict as a style class.

    Bounds have no value between their ends, and what is undefined has neither.
    """

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
    is_rate: bool = False  # in percentage points
    said: str = ""  # to those who do not see it, instead of how many differ

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        ends = [end for seen in self.findings for end in seen[1:5] if end is not None]
        axis = Scale.around([self.factor * end for end in ends], zero=True)
        beyond = sum(seen.kind == "beyond" for seen in self.findings)
        counted = (
            f"{beyond} of {len(self.findings)} values are significant or exceed the tolerance."
        )
        rows = [self._row(seen, axis) for seen in self.findings]
        return chart_of_rows(ident, self.title, self.said or counted, rows, axis)

    @property
    def factor(self) -> float:
        """What values are multiplied by to be drawn."""
        return 100.0 if self.is_rate else 1.0

    def _row(self, seen: Seen, axis: Scale) -> Row:
        if seen.low is None and seen.value is None:
            tip = f"{seen.label}: undefined"
            return Row(seen.label, "–", tip, NOTHING, seen.kind)
        value, low, high, tolerance = (
            None if one is None else self.factor * one for one in seen[1:5]
        )
        marks = (
            tick(axis, tolerance, "tolerance")
            + span(axis, low, high, "whisker", 2)
            + (NOTHING if value is None else dot(axis, value))
        )
        least, most = apart(seen.low, self.is_rate, -1), apart(seen.high, self.is_rate, 1)
        between = f"{least.removesuffix(' pts')} to {most}"
        told = between if value is None else apart(seen.value, self.is_rate)
        tip = f"{seen.label}: {told}" + f", interval {between}" * (value is not None)
        return Row(seen.label, told, f"{tip}; {seen.verdict}", marks, seen.kind)
