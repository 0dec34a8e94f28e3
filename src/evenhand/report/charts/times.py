"""Values over time with their band and bound, and rates of groups as small lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from evenhand._words import extent, number, percent
from evenhand.report.charts.svg import UNIT, Markup, Scale, element, framed, line, path

MAX_TICKS = 5


@dataclass(frozen=True)
class Band:
    """A value with its band, day by day; `since` marks a day, with a `label`.

    >>> points = [{"day": "2026-01-01", "value": 0.1, "low": 0.0, "high": 0.3}]
    >>> "bound: 0.2" in Band("MPD", points, bound=0.2).svg("c")
    True
    """

    title: str
    points: Sequence[Mapping[str, Any]]
    bound: float | None = None
    since: str | None = None
    label: str = ""
    name: str = ""

    @property
    def observed(self) -> list[Mapping[str, Any]]:
        """The days with a value."""
        return [point for point in self.points if point["value"] is not None]

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        points = self.observed
        across = _days([point["day"] for point in points])
        ends = (end for point in points for end in (point["low"], point["high"], self.bound))
        up = Scale.around(ends, zero=True)
        tops, floors, values = (
            [(_x(across, point), UNIT * (1 - up(point[end]))) for point in points]
            for end in ("high", "low", "value")
        )
        marks = [
            element("path", d=path([*tops, *reversed(floors)]) + "Z", class_="band"),
            line(path(values), "s0", f"{self.title}, observed so far"),
        ]
        above = _bound(up, self.bound)
        if self.since is not None and points:
            above += _since(across, self.since, self.label)
        description = _description(self.title, points)
        return framed(ident, self.title, description, marks, across, up, height=200, above=above)


def _bound(up: Scale, bound: float | None) -> Markup:
    if bound is None:
        return Markup()
    y = f"{100 * (1 - up(bound)):.2f}%"
    place = {"x": "100%", "y": y, "dy": -5, "text_anchor": "end", "class_": "tick"}
    return element("line", x1=0, x2="100%", y1=y, y2=y, class_="tolerance") + element(
        "text", f"bound: {number(bound)}", **place
    )


def _since(across: Scale, day: str, label: str) -> Markup:
    place, end = across.percent(_ordinal(day)), across(_ordinal(day)) > 0.6
    anchor = {"dx": -6 if end else 6, "text_anchor": "end" if end else "start"}
    return element("line", x1=place, x2=place, y1=-14, y2="100%", class_="used") + element(
        "text", label, x=place, y=-6, class_="tick", **anchor
    )


def rates_over_time(
    ident: str,
    group: str,
    points: Sequence[tuple[str, float]],
    overall: Sequence[tuple[str, float]],
    up: Scale,
    across: Scale,
    *,
    is_rate: bool = True,
) -> Markup:
    """A group's rate in each span of days next to that of everyone; all groups on the same axes."""
    lines = [
        line(_path(overall, across, up), "everyone", "everyone"),
        line(_path(points, across, up), "s0", group),
    ]
    format_value = percent if is_rate else number
    first, last = points[0], points[-1]
    description = (
        f"{group}: {format_value(first[1])} on {first[0]}, {format_value(last[1])} on {last[0]}."
    )
    return framed(ident, group, description, lines, across, up, height=90)


def days_scale(days: Sequence[str]) -> Scale:
    """An axis of days, with a few of them named."""
    return _days(days)


class _Days(Scale):
    """An axis whose ticks are days."""

    def names(self) -> list[str]:
        """The days, without the year where all are of one."""
        days = [date.fromordinal(int(tick)) for tick in self.ticks]
        is_one_year = len({day.year for day in days}) == 1
        return [f"{day:%b} {day.day}" + ("" if is_one_year else f", {day.year}") for day in days]


def _days(days: Sequence[str]) -> Scale:
    numbers = sorted({_ordinal(day) for day in days}) or [1.0]
    low, high = numbers[0], numbers[-1]
    if high == low:
        return _Days(low, low + 1, (low,))
    steps = min(MAX_TICKS - 1, int(high - low))
    ticks = dict.fromkeys(round(low + (high - low) * i / steps) for i in range(steps + 1))
    return _Days(low, high, tuple(float(tick) for tick in ticks))


def _ordinal(day: str) -> float:
    return float(date.fromisoformat(day).toordinal())


def _x(across: Scale, point: Mapping[str, Any]) -> float:
    return UNIT * across(_ordinal(point["day"]))


def _path(points: Sequence[tuple[str, float]], across: Scale, up: Scale) -> str:
    return path((UNIT * across(_ordinal(day)), UNIT * (1 - up(value))) for day, value in points)


def _description(title: str, points: Sequence[Mapping[str, Any]]) -> str:
    if not points:
        return "Nothing has been counted yet."
    last = points[-1]
    ends = extent(last["low"], last["high"])
    latest = f"on {last['day']} {number(last['value'])} ({ends})"
    return f"{title} over {len(points)} spans of days; {latest}."
