"""Waterfall: how the parts of a gap lead from one group's value to the other's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, upright
from evenhand.report.charts.svg import Markup, Scale
from evenhand.report.formats import amount, gap, name


class Step(NamedTuple):
    """A part of a gap, with its interval."""

    label: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Waterfall:
    """From the value of one group, part by part, to that of another.

    `start` and `end` are the groups with their values; whiskers are the intervals of the parts.

    >>> steps = [Step("base rates", 0.1, 0.05, 0.15), Step("false positives", -0.02, -0.05, 0.01)]
    >>> chart = Waterfall("Why", ("b", 0.3), steps, ("a", 0.38), is_rate=True)
    >>> [round(low, 2) for low, _ in chart.spans], chart.svg("c").count("<circle")
    ([0.3, 0.38], 2)
    """

    title: str
    start: tuple[str, float]
    steps: Sequence[Step]
    end: tuple[str, float]
    is_rate: bool = False

    @property
    def levels(self) -> list[float]:
        """Where each part begins; the last is where the account ends."""
        return list(accumulate((step.value for step in self.steps), initial=self.start[1]))

    @property
    def spans(self) -> list[tuple[float, float]]:
        """The lower and the upper end of each part."""
        steps = zip(self.steps, self.levels, strict=False)
        return [
            (min(level, level + step.value), max(level, level + step.value))
            for step, level in steps
        ]

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        whiskers = [
            (level + step.low, level + step.high)
            for step, level in zip(self.steps, self.levels, strict=False)
        ]
        ends = [end for pair in (*self.spans, *whiskers) for end in pair]
        axis = Scale.around([*ends, self.start[1], self.end[1]], is_share=self.is_rate)
        rows = [self._group(self.start, axis)]
        for step, ends_of_step, whisker in zip(self.steps, self.spans, whiskers, strict=True):
            marks = span(axis, *ends_of_step, "bar", 10) + span(axis, *whisker, "whisker", 2)
            text = gap(step.value, self.is_rate)
            tip = f"{step.label}: {text} (interval {gap(step.low, self.is_rate)} to "
            tip += f"{gap(step.high, self.is_rate)})"
            kind = "above" if step.value > 0 else "below"
            rows.append(Row(step.label, text, tip, marks, kind))
        rows.append(self._group(self.end, axis))
        line = upright(axis, self.start[1], "overall")
        return chart_of_rows(ident, self.title, self._description, rows, axis, line)

    def _group(self, group: tuple[str, float], axis: Scale) -> Row:
        label, value = name(group[0]), amount(group[1], self.is_rate)
        return Row(label, value, f"{label}: {value}", dot(axis, group[1]), "around")

    @property
    def _description(self) -> str:
        parts = "; ".join(f"{step.label} {gap(step.value, self.is_rate)}" for step in self.steps)
        start, end = (
            f"{name(label)} at {amount(value, self.is_rate)}"
            for label, value in (self.start, self.end)
        )
        return f"From {start} to {end}: {parts}."
