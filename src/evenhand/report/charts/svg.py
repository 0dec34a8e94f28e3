"""SVG as text, escaped by construction: elements, axes, and frames of lines.

A frame fills any width, with letters of constant size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10


class Markup(str):
    """Text that is markup already, which templates take as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return self

    def __add__(self, other: str) -> Markup:
        return Markup(str.__add__(self, other))


NOTHING = Markup()

UNIT = 1000.0  # of the coordinates of lines
TOP, BOTTOM = 16, 22
LEFT = 44  # of a frame, for the names of its ticks


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """An element; plain text is escaped, elements are taken as they are.

    >>> print(element("text", "a < b", x="5%", class_="label", text_anchor="end"))
    <text x="5%" class="label" text-anchor="end">a &lt; b</text>
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not children:
        return Markup(f"<{tag}{pairs}/>")
    texts = (child if isinstance(child, Markup) else escape(child) for child in children)
    return Markup(f"<{tag}{pairs}>{''.join(texts)}</{tag}>")


def together(parts: Iterable[Markup]) -> Markup:
    """Elements one after another."""
    return Markup("".join(parts))


def picture(ident: str, title: str, description: str, *children: Markup, **kw: object) -> Markup:
    """A whole SVG with a title and a description for screen readers."""
    return element(
        "svg",
        element("title", title, id=f"{ident}-title"),
        element("desc", description, id=f"{ident}-desc"),
        *children,
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
        **kw,
    )


def path(points: Iterable[tuple[float, float] | None]) -> str:
    """Path data through points in order; None breaks the line. Steps take half of the letters.

    >>> path([(0, 0), (10, 5), None, (20, 5), (30, 5), (30, 7.25), (40, 8)])
    'M0 0L10 5M20 5H30V7.2L40 8'
    """
    data: list[str] = []
    last: tuple[str, str] | None = None
    for point in points:
        if point is None:
            last = None
            continue
        x, y = map(_short, point)
        if last is None:
            data.append(f"M{x} {y}")
        elif y == last[1]:
            data.append("" if x == last[0] else f"H{x}")
        else:
            data.append(f"V{y}" if x == last[0] else f"L{x} {y}")
        last = x, y
    return "".join(data)


@dataclass(frozen=True)
class Scale:
    """An axis from low to high, with ticks at round values.

    >>> axis = Scale.around([0.03, 0.41])
    >>> axis.ticks
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    >>> axis.percent(0.25)
    '50%'
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    is_share: bool = False

    @classmethod
    def around(
        cls,
        values: Iterable[float | None],
        *,
        zero: bool = False,
        ceiling: float | None = None,
        is_share: bool = False,
    ) -> Scale:
        """An axis that holds the values; it begins at zero if `zero`, or if zero is near."""
        finite = [float(value) for value in values if value is not None and isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
        if zero or 0 <= low < 0.5 * high:
            low = min(low, 0.0)
        resolution = 1e-9 * max(1.0, abs(low), abs(high))
        if high - low < resolution:
            low, high = (low - 0.5, high + 0.5) if abs(low) > resolution else (0.0, 1.0)
        step = _round_step((high - low) / 5)
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        ticks = tuple(round(step * i, 12) for i in range(first, last + 1))
        if ceiling is not None and ticks[-1] > ceiling >= high:
            ticks = (*(tick for tick in ticks if tick < ceiling), ceiling)
        return cls(ticks[0], ticks[-1], ticks, is_share)

    @classmethod
    def between(cls, *values: float) -> Scale:
        """An axis from the least of the values to the greatest."""
        low, high = min(values), max(values)
        return cls(low, high if high > low else low + 1.0, (low, high))

    def __call__(self, value: float) -> float:
        """The place along the axis, 0 to 1; values beyond its ends are kept at them."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def percent(self, value: float) -> str:
        """The place as an SVG length."""
        return f"{100 * self(value):.2f}".rstrip("0").rstrip(".") + "%"

    def names(self) -> list[str]:
        """The ticks, exact and all with the same number of decimals; shares in percent.

        >>> Scale.around([0.26, 0.38], is_share=True).names()[:3]
        ['25.0%', '27.5%', '30.0%']
        """
        scale, unit = (100, "%") if self.is_share else (1, "")
        ticks = [scale * tick for tick in self.ticks]
        decimals = max(len(f"{tick:.8f}".rstrip("0").partition(".")[2]) for tick in ticks)
        return [f"{tick:,.{decimals}f}{unit}".replace("-", "−") for tick in ticks]


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
        width="100%",
        height=height,
    )
    return picture(
        ident,
        title,
        description,
        element("svg", _grid(up, height), inner, above, overflow="visible", **_box(height)),
        _labels(up, height),
        element("svg", _below(across, height), overflow="visible", **_box(height)),
        class_=f"lines {kind}".strip(),
        width=width,
        height=TOP + height + BOTTOM,
    )


def line(data: str, kind: str, title: str = "", group: str | None = None) -> Markup:
    """A line by its path data, whose width does not stretch with the frame."""
    tip = [element("title", title)] if title else []
    return element(
        "path", *tip, d=data, class_=kind, vector_effect="non-scaling-stroke", data_group=group
    )


def _short(coordinate: float) -> str:
    return f"{coordinate:.1f}".removesuffix(".0")


def _round_step(rough: float) -> float:
    """The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is at least `rough`."""
    power = 10.0 ** floor(log10(rough))
    return next(float(f * power) for f in (1, 2, 2.5, 5, 10) if f * power >= rough * (1 - 1e-9))


def _box(height: int) -> dict[str, object]:
    """The place of the frame; style sheets rely on its beginning at LEFT."""
    return {"x": LEFT, "y": TOP, "width": "92%", "height": height, "class_": "frame"}


def _grid(up: Scale, height: int) -> Markup:
    ys = [height * (1 - up(tick)) for tick in up.ticks]
    return together(
        element("line", x1=0, x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid") for y in ys
    )


def _labels(up: Scale, height: int) -> Markup:
    """The names of the upright axis's ticks, left of the frame, where no line crosses them."""
    return together(
        element(
            "text",
            name,
            x=LEFT - 6,
            y=f"{TOP + height * (1 - up(tick)) + 4:.1f}",
            text_anchor="end",
            class_="tick",
        )
        for tick, name in zip(up.ticks, up.names(), strict=True)
    )


def _below(across: Scale, height: int) -> Markup:
    """The names of the level axis's ticks, below the frame."""
    ends = {across.ticks[0]: "start", across.ticks[-1]: "end"}
    return together(
        element(
            "text",
            name,
            x=across.percent(tick),
            y=height + 16,
            text_anchor=ends.get(tick, "middle"),
            class_="tick",
        )
        for tick, name in zip(across.ticks, across.names(), strict=True)
    )
