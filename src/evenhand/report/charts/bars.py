"""Bars: how much each group, or each class, makes up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from evenhand._words import number, plural
from evenhand.report.charts.rows import Row, chart_of_rows, span
from evenhand.report.charts.svg import NOTHING, Markup, Scale
from evenhand.report.formats import name

MOST = 12


class Bar(NamedTuple):
    """A length with its label; `kind` (above, below) colors it, `group` lets a filter find it."""

    label: str
    value: float
    kind: str = ""
    group: str | None = None


def bars(
    ident: str,
    title: str,
    of: Sequence[Bar],
    *,
    written: Callable[[float], str] = number,
    most: int = MOST,
    rest: str = "",
) -> Markup:
    """The longest bars in order; `rest` names what all others together are, if they add up.

        >>> from evenhand._words import percent
    >>> shares = [Bar("a", 0.7), Bar("b", 0.2), Bar("c", 0.1)]
        >>> "2 other groups" in bars("c", "Shares", shares, most=1, written=percent, rest="group")
        True
    """
    ordered = sorted(of, key=lambda bar: bar.value, reverse=True)
    shown = [bar for bar in ordered[:most] if bar.value or not rest]
    others = ordered[len(shown) :]
    axis = Scale.between(0.0, *(bar.value for bar in shown))
    rows = [_row(bar, axis, written) for bar in shown]
    if others and rest:
        label, left = (
            plural(len(others), f"other {rest}"),
            written(sum(bar.value for bar in others)),
        )
        rows.append(Row(label, left, f"{label}: {left}", NOTHING))
    first = f"The longest is {name(ordered[0].label)} at {written(ordered[0].value)}." if of else ""
    return chart_of_rows(ident, title, first, rows)


def _row(bar: Bar, axis: Scale, written: Callable[[float], str]) -> Row:
    mark = span(axis, min(0.0, bar.value), max(0.0, bar.value), "bar", 10)
    label = name(bar.label)
    where = f", {bar.kind} the overall value" if bar.kind else ""
    tip = f"{label}: {written(bar.value)}{where}"
    return Row(label, written(bar.value), tip, mark, bar.kind, bar.group)
