"""Criteria against the decision threshold."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand._words import number
from evenhand.report.charts.svg import UNIT, Markup, Scale, element, framed, line, path

COLORS = 8


def curves(
    ident: str,
    title: str,
    at: Sequence[float],
    series: Sequence[tuple[str, Sequence[float | None]]],
    used: float | None = None,
) -> Markup:
    """A line for each named series over the same places, and where the threshold in use lies.

    >>> chart = curves("c", "By threshold", [0, 0.5, 1], [("tpr", [0.1, None, 0.2])], used=0.5)
    >>> "in use: 0.5" in chart
    True
    """
    across = Scale.around([*at, used])
    up = Scale.around((value for _, values in series for value in values), zero=True)
    lines = [
        line(_points(at, values, across, up), f"s{i % COLORS}", label)
        for i, (label, values) in enumerate(series)
    ]
    description = (
        f"{len(series)} criteria over thresholds from {number(at[0])} to {number(at[-1])}."
    )
    above = Markup() if used is None else _in_use(across, used)
    return framed(ident, title, description, lines, across, up, above=above)


def _points(at: Sequence[float], values: Sequence[float | None], across: Scale, up: Scale) -> str:
    return path(
        None if value is None else (UNIT * across(x), UNIT * (1 - up(value)))
        for x, value in zip(at, values, strict=True)
    )


def _in_use(across: Scale, used: float) -> Markup:
    place = across.percent(used)
    anchor = "end" if across(used) > 0.7 else "start"
    shift = -6 if anchor == "end" else 6
    return element("line", x1=place, x2=place, y1=-14, y2="100%", class_="used") + element(
        "text", f"in use: {used:.4g}", x=place, y=-6, dx=shift, text_anchor=anchor, class_="tick"
    )
