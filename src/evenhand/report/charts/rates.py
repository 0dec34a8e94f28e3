"""Dot and whisker: the value of each group with its interval, and the overall value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from evenhand._words import number, plural
from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, upright
from evenhand.report.charts.svg import NOTHING, Scale
from evenhand.report.formats import count, name

MOST = 30


class Rate(NamedTuple):
    """The value of a group, with its interval and the rows it was computed from."""

    group: str
    value: float
    low: float | None = None
    high: float | None = None
    rows: float | None = None


def rates(
    ident: str,
    title: str,
    groups: Sequence[Rate],
    overall: float | None,
    *,
    most: int = MOST,
    greatest: float | None = None,
) -> Markup:
    """The groups furthest from the overall value, sorted; colored if their interval excludes it.

    >>> chart = rates("c", "TPR", [Rate("a", 0.4, 0.3, 0.5), Rate("b", 0.6, 0.5, 0.7)], 0.5)
    >>> chart.count("<circle")
    2
    """
    shown = sorted(most_deviant(groups, overall, most), key=lambda rate: rate.value)
    ends = [end for rate in shown for end in (rate.value, rate.low, rate.high)]
    axis = Scale.around([*ends, overall], most=greatest)
    line = NOTHING if overall is None else upright(axis, overall, "overall")
    rows = [_row(rate, overall, axis) for rate in reversed(shown)]
    return chart_of_rows(ident, title, _description(shown, len(groups), overall), rows, axis, line)


def most_deviant(groups: Sequence[Rate], overall: float | None, most: int) -> list[Rate]:
    """The groups whose value is furthest from the overall one, in units of their interval."""
    if len(groups) <= most:
        return list(groups)
    middle = 0.0 if overall is None else overall
    return sorted(groups, key=lambda rate: _distance(rate, middle), reverse=True)[:most]


def side(rate: Rate, overall: float | None) -> str:
    """Whether the interval lies above the overall value, below it, or around it.

    >>> side(Rate("a", 0.4, 0.3, 0.45), 0.5)
    'below'
    """
    if overall is None or rate.low is None or rate.high is None:
        return "around"
    return "above" if rate.low > overall else "below" if rate.high < overall else "around"


def _distance(rate: Rate, overall: float) -> float:
    away = abs(rate.value - overall)
    if rate.low is None or rate.high is None:
        return away
    towards = rate.value - rate.low if rate.value > overall else rate.high - rate.value
    return away / max(towards, 1e-9)


def _row(rate: Rate, overall: float | None, axis: Scale) -> Row:
    marks = span(axis, rate.low, rate.high, "whisker", 2) + dot(axis, rate.value)
    label = name(rate.group)
    tip = f"{label}: {number(rate.value)}"
    if rate.low is not None and rate.high is not None:
        tip += f" (interval {number(rate.low)} to {number(rate.high)})"
    if rate.rows is not None:
        tip += f", from {count(rate.rows)} rows"
    return Row(label, number(rate.value), tip, marks, side(rate, overall), rate.group)


def _description(shown: Sequence[Rate], of: int, overall: float | None) -> str:
    if not shown:
        return "No group has a value."
    lowest, highest = shown[0], shown[-1]
    return (
        f"{count(len(shown))} of {plural(of, 'group')}, from {name(lowest.group)} at "
        f"{number(lowest.value)} to {name(highest.group)} at {number(highest.value)}; "
        f"overall {number(overall)}."
    )
