"""The layout of charts with a line for each thing: a label, marks along an axis, a number.

Places along the axis are percentages, so the chart fills any width and its letters keep their size.
The style sheet places the rows, by --i, and where it is narrow puts the label above the marks: each
mark therefore also gives, as --a and --b, its place where the axis takes the full width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evenhand._words import shortened
from evenhand.report.charts.svg import NOTHING, Markup, Scale, element, picture, together

HEIGHT = 24  # of a row
MIDDLE = 12
TOP = 26  # of the axis
START, WIDTH = 0.30, 0.57  # of the axis, between label and number
LONGEST = 34  # letters of a label next to the axis; longer ones are placed above it
MAX_LETTERS = 56


class Row(NamedTuple):
    """A line of the chart; `tip` is shown on hovering, `group` is what a filter finds."""

    label: str
    text: str
    tip: str
    marks: Markup
    kind: str = ""
    group: str | None = None


def chart_of_rows(
    ident: str,
    title: str,
    description: str,
    rows: Sequence[Row],
    axis: Scale | None = None,
    behind: Markup = NOTHING,
) -> Markup:
    """All rows, below an axis if there is one; `behind` is drawn once, over the whole height."""
    top = 2 if axis is None else TOP
    return picture(
        ident,
        title,
        description,
        NOTHING if axis is None else _grid(axis),
        behind,
        *(_row(number, row) for number, row in enumerate(rows)),
        class_="rows tall" if any(len(row.label) > LONGEST for row in rows) else "rows",
        width="100%",
        height=top + HEIGHT * len(rows) + 4,
        style=f"--n:{len(rows)};--top:{top}px",
    )


def upright(
    axis: Scale, value: float, kind: str, top: float = TOP - 4, end: str = "100%"
) -> Markup:
    """A vertical line at a value."""
    at = _across(axis(value))
    return element(
        "line", x1=at, x2=at, y1=top, y2=end, class_=f"at {kind}", style=_narrow(axis(value))
    )


def tick(axis: Scale, value: float | None, kind: str) -> Markup:
    """A short vertical line in a row; none where there is no value."""
    if value is None:
        return NOTHING
    return upright(axis, value, kind, MIDDLE - 8, str(MIDDLE + 8))


def span(axis: Scale, low: float | None, high: float | None, kind: str, height: int) -> Markup:
    """A horizontal bar in the middle of a row; none where there is no value."""
    if low is None or high is None:
        return NOTHING
    start, length = axis(low), axis(high) - axis(low)
    return element(
        "rect",
        x=_across(start),
        width=_percent(WIDTH * length),
        y=MIDDLE - height // 2,
        height=height,
        class_=f"span {kind}",
        style=f"{_narrow(start)};--b:{_percent(length)}",
    )


def dot(axis: Scale, value: float) -> Markup:
    """A dot in the middle of a row."""
    place = axis(value)
    return element("circle", cx=_across(place), class_="at dot", style=_narrow(place))


def _row(number: int, row: Row) -> Markup:
    return element(
        "g",
        element("title", row.tip) if row.tip else NOTHING,
        element("text", shortened(row.label, MAX_LETTERS), x=0, y=16),
        row.marks,
        element("text", row.text, x="100%", y=16, class_="told"),
        class_=f"row {row.kind}".strip(),
        style=f"--i:{number}",
        data_group=row.group,
    )


def _grid(axis: Scale) -> Markup:
    parts = []
    ends = {axis.ticks[0]: "start", axis.ticks[-1]: "end"}
    for value, name in zip(axis.ticks, axis.names(), strict=True):
        place = {"x": _across(axis(value)), "style": _narrow(axis(value))}
        anchor = ends.get(value, "middle")
        parts.append(upright(axis, value, "grid"))
        parts.append(element("text", name, y=14, text_anchor=anchor, class_="at tick", **place))
    return together(parts)


def _across(place: float) -> str:
    return _percent(START + WIDTH * place)


def _narrow(place: float) -> str:
    return f"--a:{_percent(place)}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"
