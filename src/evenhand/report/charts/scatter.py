"""Accuracy, or error, against how uneven each model is: a numbered point with both intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evenhand.report.charts.curves import COLORS
from evenhand.report.charts.svg import UNIT, Markup, Scale, element, framed, line, path, together

HEIGHT = 240
MAX_LETTERS = 20  # of all the ticks across, which a narrow panel has room for


class Point(NamedTuple):
    """A model's place: across (value, low, high) and up, and what hovering says of it."""

    number: int
    label: str
    across: tuple[float, float, float]
    up: tuple[float, float, float]
    tip: str


@dataclass(frozen=True)
class Scatter:
    """A cross of two intervals for each point, and its number where both values meet.

    >>> point = Point(1, "one", (0, 0, 1), (1, 0, 1), "one: 80%")
    >>> chart = Scatter("Accuracy", "Parity", "gap", "accuracy", [point])
    >>> "one: 80%" in chart.svg("s"), ">1</text>" in chart.svg("s")
    (True, True)
    """

    title: str
    name: str
    across: str
    upward: str
    points: Sequence[Point]

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        points = self.points
        across = Scale.around((value for point in points for value in point.across), zero=True)
        if sum(map(len, across.names())) > MAX_LETTERS:
            across = replace(across, ticks=across.ticks[::2])
        up = Scale.around(value for point in points for value in point.up)
        lines = [mark for point in points for mark in _cross(point, across, up)]
        dots = together(_dot(point, across, up) for point in points)
        description = f"{len(points)} models: {'; '.join(point.tip for point in points)}."
        return framed(
            ident,
            self.title,
            description,
            lines,
            across,
            up,
            height=HEIGHT,
            kind="scatter",
            above=dots,
        )


def _cross(point: Point, across: Scale, up: Scale) -> list[Markup]:
    (x, left, right), (y, bottom, top) = point.across, point.up
    ends = ([(left, y), (right, y)], [(x, bottom), (x, top)])
    kind = f"cross c{(point.number - 1) % COLORS}"
    return [
        line(path((UNIT * across(a), UNIT * (1 - up(b))) for a, b in pair), kind) for pair in ends
    ]


def _dot(point: Point, across: Scale, up: Scale) -> Markup:
    x, y = across.percent(point.across[0]), f"{HEIGHT * (1 - up(point.up[0])):.1f}"
    return element(
        "g",
        element("title", point.tip),
        element("circle", cx=x, cy=y, r=9),
        element("text", str(point.number), x=x, y=y, dy="0.35em", text_anchor="middle"),
        class_=f"point c{(point.number - 1) % COLORS}",
    )
