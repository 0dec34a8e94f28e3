"""The Lorenz curve of the groups' values: how little the lower groups have of the sum."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from evenhand._words import number
from evenhand.report.charts.svg import UNIT, Markup, Scale, framed, line, path

MAX = 400  # points of the curve


def lorenz(ident: str, title: str, values: Sequence[float]) -> Markup:
    """The share of the sum that the lower groups hold, against their share of the groups.

    >>> "twice the area is 0.750" in lorenz("c", "Rates", [0, 0, 0, 1])
    True
    """
    curve = shares(values)
    gini = 2 * area(curve)
    thin = curve[:: max(1, len(curve) // MAX)]
    points = [(UNIT * x, UNIT * (1 - y)) for x, y in [*thin, (1.0, 1.0)]]
    lines = [
        line(path(points) + "Z", "area"),
        line(path([(0, UNIT), (UNIT, 0)]), "diagonal"),
        line(path(points), "curve"),
    ]
    axis = Scale(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    description = (
        f"The lower half of {len(values)} groups holds {number(_at(curve, 0.5))} of the sum of "
        f"the values; twice the area is {number(gini)}."
    )
    return framed(
        ident, title, description, lines, axis, axis, height=260, width="280", kind="square"
    )


def shares(values: Sequence[float]) -> list[tuple[float, float]]:
    """Points of the curve, from (0, 0) to (1, 1)."""
    sums = [0.0, *accumulate(sorted(values))]
    total = sums[-1] or 1.0
    return [(i / len(values), part / total) for i, part in enumerate(sums)]


def area(curve: Sequence[tuple[float, float]]) -> float:
    """The area between the diagonal and the curve; 0 if all values are 0."""
    if curve[-1][1] == 0:
        return 0.0
    steps = pairwise(curve)
    return 0.5 - sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in steps)


def _at(curve: Sequence[tuple[float, float]], x: float) -> float:
    place = x * (len(curve) - 1)
    below = int(place)
    return curve[below][1] + (place - below) * (
        curve[min(below + 1, len(curve) - 1)][1] - curve[below][1]
    )
