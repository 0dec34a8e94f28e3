"""Dot and whisker: the value of each group with its interval, and the overall value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand._words import number, percent, plural
from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, upright
from evenhand.report.charts.svg import NOTHING, Markup, Scale
from evenhand.report.formats import count, name

MAX = 30


class Rate(NamedTuple):
    """The value of a group, with its interval and the rows it was computed from.

    `kind` (above, below, around) colors it; by default, how its interval lies to the overall value.
    """

    group: str
    value: float
    low: float | None = None
    high: float | None = None
    rows: float | None = None
    kind: str | None = None


@dataclass(frozen=True)
class Rates:
    """The groups furthest from the overall value, sorted; colored if their interval excludes it.

    Next to each are its value, in percent if it `is_rate`, and its rows; `line_at` draws a line.
    Groups named in `always` are among those drawn.

    >>> chart = Rates("TPR", [Rate("a", 0.4, 0.3, 0.5), Rate("b", 0.6, 0.5, 0.7)], 0.5)
    >>> chart.svg("c").count("<circle")
    2
    """

    title: str
    groups: Sequence[Rate]
    overall: float | None
    limit: int = MAX
    always: frozenset[str] = frozenset()
    greatest: float | None = None
    is_rate: bool = False
    line_at: float | None = None

    @property
    def visible(self) -> list[Rate]:
        """The groups that are drawn, the highest first."""
        required = [rate for rate in self.groups if rate.group in self.always]
        optional = [rate for rate in self.groups if rate.group not in self.always]
        chosen = required + most_deviant(optional, self.overall, self.limit - len(required))
        return sorted(chosen, key=lambda rate: rate.value, reverse=True)

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        rates = self.visible
        ends = [end for rate in rates for end in (rate.value, rate.low, rate.high)]
        values = [*ends, self.overall, self.line_at]
        axis = Scale.around(values, ceiling=self.greatest, is_share=self.is_rate)
        line = NOTHING if self.overall is None else upright(axis, self.overall, "overall")
        if self.line_at is not None:
            line += upright(axis, self.line_at, "fifths")
        as_text = percent if self.is_rate else number
        return chart_of_rows(
            ident,
            self.title,
            _description(rates, len(self.groups), self.overall, as_text),
            [_row(rate, self.overall, axis, as_text) for rate in rates],
            axis,
            line,
        )


def most_deviant(groups: Sequence[Rate], overall: float | None, limit: int) -> list[Rate]:
    """The groups whose value is furthest from the overall one, in units of their interval."""
    if len(groups) <= limit:
        return list(groups)
    middle = 0.0 if overall is None else overall
    return sorted(groups, key=lambda rate: _distance(rate, middle), reverse=True)[:limit]


def side(rate: Rate, overall: float | None) -> str:
    """Whether the interval lies above the overall value, below it, or around it.

    >>> side(Rate("a", 0.4, 0.3, 0.45), 0.5)
    'below'
    """
    if rate.kind is not None:
        return rate.kind
    if overall is None or rate.low is None or rate.high is None:
        return "around"
    return "above" if rate.low > overall else "below" if rate.high < overall else "around"


def _distance(rate: Rate, overall: float) -> float:
    away = abs(rate.value - overall)
    if rate.low is None or rate.high is None:
        return away
    towards = rate.value - rate.low if rate.value > overall else rate.high - rate.value
    return away / max(towards, 1e-9)


def _row(rate: Rate, overall: float | None, axis: Scale, as_text: Callable[[float], str]) -> Row:
    marks = span(axis, rate.low, rate.high, "whisker", 2) + dot(axis, rate.value)
    label, value = name(rate.group), as_text(rate.value)
    tip, text = f"{label}: {value}", value
    if rate.low is not None and rate.high is not None:
        tip += f" (interval {as_text(rate.low)} to {as_text(rate.high)})"
    if rate.rows is not None:
        tip += f", from {count(rate.rows)} rows"
        text = f"{value} · {count(rate.rows)}"
    return Row(label, text, tip, marks, side(rate, overall), rate.group)


def _description(
    rates: Sequence[Rate], total: int, overall: float | None, as_text: Callable[[float], str]
) -> str:
    if not rates:
        return "No group has a value."
    highest, lowest = rates[0], rates[-1]
    everyone = "" if overall is None else f"; overall {as_text(overall)}"
    return (
        f"{count(len(rates))} of {plural(total, 'group')}, from {name(lowest.group)} at "
        f"{as_text(lowest.value)} to {name(highest.group)} at {as_text(highest.value)}{everyone}."
    )
