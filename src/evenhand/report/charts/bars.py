"""Bars: how much each group, or each class, makes up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from evenhand._words import number, plural
from evenhand.report.charts.rows import Row, chart_of_rows, span
from evenhand.report.charts.svg import NOTHING, Markup, Scale
from evenhand.report.formats import name

MAX = 12


class Bar(NamedTuple):
    """A length with its label; `kind` (above, below) colors it, `group` lets a filter find it."""

    label: str
    value: float
    kind: str = ""
    group: str | None = None


def bars(
    ident: str,
    title: str,
    values: Sequence[Bar],
    *,
    format_value: Callable[[float], str] = number,
    limit: int = MAX,
    noun: str = "",
) -> Markup:
    """The longest bars in order; `noun` names what the others are, if they add up.

        >>> from evenhand._words import percent
    >>> shares = [Bar("a", 0.7), Bar("b", 0.2), Bar("c", 0.1)]
        >>> "2 other groups" in bars(
        ...     "c", "Shares", shares, limit=1, format_value=percent, noun="group"
        ... )
        True
    """
    ordered = sorted(values, key=lambda bar: bar.value, reverse=True)
    longest = [bar for bar in ordered[:limit] if bar.value or not noun]
    remainder = ordered[len(longest) :]
    axis = Scale.between(0.0, *(bar.value for bar in longest))
    rows = [_row(bar, axis, format_value) for bar in longest]
    if remainder and noun:
        label, total = (
            plural(len(remainder), f"other {noun}"),
            format_value(sum(bar.value for bar in remainder)),
        )
        rows.append(Row(label, total, f"{label}: {total}", NOTHING))
    description = (
        f"The longest is {name(ordered[0].label)} at {format_value(ordered[0].value)}."
        if values
        else ""
    )
    return chart_of_rows(ident, title, description, rows)


def _row(bar: Bar, axis: Scale, format_value: Callable[[float], str]) -> Row:
    mark = span(axis, min(0.0, bar.value), max(0.0, bar.value), "bar", 10)
    label = name(bar.label)
    where = f", {bar.kind} the overall value" if bar.kind else ""
    tip = f"{label}: {format_value(bar.value)}{where}"
    return Row(label, format_value(bar.value), tip, mark, bar.kind, bar.group)
