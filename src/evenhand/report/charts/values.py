"""Values with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, tick
from evenhand.report.charts.svg import NOTHING, Markup, Scale
from evenhand.report.formats import gap, gap_interval


class Estimate(NamedTuple):
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

    >>> estimate = Estimate("TPR", 0.3, 0.2, 0.4, None, "differs", "beyond")
    >>> "interval 0.200 to 0.400" in Values("Values", [estimate]).svg("c")
    True
    """

    title: str
    findings: Sequence[Estimate]
    unit: str = ""
    is_rate: bool = False  # in percentage points
    description: str = ""  # for screen readers, instead of how many differ

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        ends = [end for estimate in self.findings for end in estimate[1:5] if end is not None]
        axis = Scale.around([self.factor * end for end in ends], zero=True)
        significant = sum(estimate.kind == "beyond" for estimate in self.findings)
        counted = (
            f"{significant} of {len(self.findings)} values are significant or exceed the tolerance."
        )
        rows = [self._row(estimate, axis) for estimate in self.findings]
        return chart_of_rows(ident, self.title, self.description or counted, rows, axis)

    @property
    def factor(self) -> float:
        """What values are multiplied by to be drawn."""
        return 100.0 if self.is_rate else 1.0

    def _row(self, estimate: Estimate, axis: Scale) -> Row:
        if estimate.low is None and estimate.value is None:
            tip = f"{estimate.label}: undefined"
            return Row(estimate.label, "–", tip, NOTHING, estimate.kind)
        value, low, high, tolerance = (
            None if end is None else self.factor * end for end in estimate[1:5]
        )
        marks = (
            tick(axis, tolerance, "tolerance")
            + span(axis, low, high, "whisker", 2)
            + (NOTHING if value is None else dot(axis, value))
        )
        between = gap_interval(estimate.low, estimate.high, self.is_rate)
        text = between if value is None else gap(estimate.value, self.is_rate)
        tip = f"{estimate.label}: {text}" + f", interval {between}" * (value is not None)
        return Row(estimate.label, text, f"{tip}; {estimate.verdict}", marks, estimate.kind)
