"""The layout of charts with lines: a frame that fills any width, with letters of constant size."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evenhand.report.charts.scale import Scale
from evenhand.report.charts.svg import NOTHING, element, picture, together

UNIT = 1000.0  # of the coordinates of lines
TOP, BOTTOM = 16, 22


def framed(
    ident: str,
    title: str,
    description: str,
    lines: Sequence[Markup],
    across: Scale,
    up: Scale,
    *,
    height: int = 280,
    width: str = "100%",
    kind: str = "",
    above: Markup = NOTHING,
) -> Markup:
    """Lines in coordinates of 0 to 1000 between two axes; `above` is placed by percentages."""
    inner = element(
        "svg",
        *lines,
        viewBox=f"0 0 {UNIT:.0f} {UNIT:.0f}",
        preserveAspectRatio="none",
        **_box(height),
    )
    return picture(
        ident,
        title,
        description,
        _grid(up, height),
        inner,
        element("svg", above, overflow="visible", **_box(height)),
        _labels(across, up, height),
        class_=f"lines {kind}".strip(),
        width=width,
        height=TOP + height + BOTTOM,
    )


def line(data: str, kind: str, told: str = "", group: str | None = None) -> Markup:
    """A line by its path data, whose width does not stretch with the frame."""
    tip = [element("title", told)] if told else []
    return element(
        "path", *tip, d=data, class_=kind, vector_effect="non-scaling-stroke", data_group=group
    )


def _box(height: int) -> dict[str, object]:
    return {"x": 0, "y": TOP, "width": "100%", "height": height}


def _grid(up: Scale, height: int) -> Markup:
    ys = [TOP + height * (1 - up(tick)) for tick in up.ticks]
    return together(
        element("line", x1=0, x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid") for y in ys
    )


def _labels(across: Scale, up: Scale, height: int) -> Markup:
    parts = []
    for tick, name in list(zip(up.ticks, up.names(), strict=True))[1:]:
        y = TOP + height * (1 - up(tick)) - 4
        parts.append(element("text", name, x=0, y=f"{y:.1f}", class_="tick"))
    ends = {across.ticks[0]: "start", across.ticks[-1]: "end"}
    for tick, name in zip(across.ticks, across.names(), strict=True):
        place = {"x": across.percent(tick), "text_anchor": ends.get(tick, "middle")}
        parts.append(element("text", name, y=TOP + height + 16, class_="tick", **place))
    return together(parts)
