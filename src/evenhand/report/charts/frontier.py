"""The least cost at every disparity, and where a model stands."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evenhand._words import number
from evenhand.report.charts.svg import UNIT, Scale, element, framed, line, path

HEIGHT = 240


def frontier(
    ident: str,
    title: str,
    bound: Sequence[float],
    cost: Sequence[float],
    model: tuple[float, float],
) -> Markup:
    """A curve below which there is no rule, shaded, and the model as a diamond.

    >>> chart = frontier("f", "Cost", [0.0, 0.2], [0.3, 0.25], (0.2, 0.27))
    >>> "the model: 0.200 at 0.270" in chart
    True
    """
    value, own = model
    across = Scale.around([*bound, value], zero=True)
    up = Scale.around([*cost, own])
    level = zip((*bound, across.high), (*cost, cost[-1]), strict=True)  # no bound: no less
    points = [(UNIT * across(x), UNIT * (1 - up(y))) for x, y in level]
    below = [*points, (points[-1][0], UNIT), (points[0][0], UNIT)]
    lines = [
        line(path(below), "area impossible"),
        line(path(points), "curve", "no rule is below"),
    ]
    description = (
        f"The least cost falls from {number(cost[0])} at {number(bound[0])} to {number(cost[-1])} "
        f"at {number(bound[-1])}; the model: {number(value)} at {number(own)}."
    )
    return framed(
        ident,
        title,
        description,
        lines,
        across,
        up,
        height=HEIGHT,
        kind="frontier",
        above=_model(across, up, value, own),
    )


def _model(across: Scale, up: Scale, value: float, cost: float) -> Markup:
    """A diamond with its name, on the side where there is room."""
    place, height = across.percent(value), HEIGHT * (1 - up(cost))
    anchor = "end" if across(value) > 0.7 else "start"
    shift = -11 if anchor == "end" else 11
    rise = "-0.8em" if up(cost) < 0.1 else "0.35em"  # clear of the axis
    return element(
        "svg",
        element("title", f"the model: {number(value)} at {number(cost)}"),
        element("path", d="M0 -6.5L6.5 0L0 6.5L-6.5 0Z", class_="model"),
        element("text", "the model", dx=shift, dy=rise, text_anchor=anchor),
        x=place,
        y=f"{height:.1f}",
        overflow="visible",
    )
