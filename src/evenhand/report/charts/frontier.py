"""The least cost at every disparity, and the place of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand._words import number
from evenhand.report.charts.svg import UNIT, Markup, Scale, element, framed, line, path, together

HEIGHT = 190


class Tested(NamedTuple):
    """A recommended rule on other rows: its disparity, its cost, and the error of that."""

    value: float
    cost: float
    error: float


@dataclass(frozen=True)
class Tradeoff:
    """A curve that no rule can do better than, shaded below, and models as diamonds.

    >>> chart = Tradeoff("Cost", "gap", "cost", [0.0, 0.2], [0.3, 0.25], {"the model": (0.2, 0.27)})
    >>> "the model: 0.200 at 0.270" in chart.svg("f")
    True
    >>> from dataclasses import replace
    >>> chart = replace(chart, is_share=True)
    >>> "the model: 20.0% at 27.0%" in chart.svg("f"), ">30%<" in chart.svg("f")
    (True, True)
    """

    title: str
    across: str
    upward: str
    bound: Sequence[float]
    cost: Sequence[float]
    models: Mapping[str, tuple[float, float]]
    tested: Sequence[Tested] = ()
    is_share: bool = False

    def svg(self, ident: str) -> Markup:
        """The chart for a page."""
        places = [*self.models.values(), *((rule.value, rule.cost) for rule in self.tested)]
        as_text = _share if self.is_share else number
        across = Scale.around(
            [*self.bound, *(x for x, _ in places)], zero=True, is_share=self.is_share
        )
        up = Scale.around([*self.cost, *(y for _, y in places)], is_share=self.is_share)

        def at(x: float, y: float) -> tuple[float, float]:
            return UNIT * across(x), UNIT * (1 - up(y))

        points = [at(x, y) for x, y in zip(self.bound, self.cost, strict=True)]
        points.append(at(across.high, self.cost[-1]))  # beyond the last bound it costs no less
        below = [*points, (points[-1][0], UNIT), (points[0][0], UNIT)]
        lines = [
            line(path(below), "area impossible"),
            line(path(points), "curve", "no rule can do better"),
        ]
        if self.tested:
            tested = [at(rule.value, rule.cost) for rule in self.tested]
            lines.append(line(path(tested), "s1", "recommended rules, on test rows"))
        tips = {
            name: f"{name}: {as_text(x)} at {as_text(y)}" for name, (x, y) in self.models.items()
        }
        description = (
            f"The least cost falls from {as_text(self.cost[0])} at {as_text(self.bound[0])} to "
            f"{as_text(self.cost[-1])} at {as_text(self.bound[-1])}; {'; '.join(tips.values())}."
        )
        marks = together(
            _model(across, up, name, tips[name], *at) for name, at in self.models.items()
        )
        return framed(
            ident,
            self.title,
            description,
            lines,
            across,
            up,
            height=HEIGHT,
            kind="frontier",
            above=marks,
        )


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def _model(across: Scale, up: Scale, name: str, tip: str, value: float, cost: float) -> Markup:
    """A diamond with its name to the right and above, where no curve that falls can be."""
    place, height = across.percent(value), HEIGHT * (1 - up(cost))
    anchor, shift, rise = "start", 9, "-0.5em"
    if across(value) > 0.7:  # above it, as far to the right as there is room
        anchor, shift, rise = "end", 16, "-0.9em"
    return element(
        "svg",
        element("title", tip),
        element("path", d="M0 -6.5L6.5 0L0 6.5L-6.5 0Z", class_="model"),
        element("text", name, dx=shift, dy=rise, text_anchor=anchor),
        x=place,
        y=f"{height:.1f}",
        overflow="visible",
    )
