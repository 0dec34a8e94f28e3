"""SVG elements as text, escaped by construction."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

NOTHING = Markup("")


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """An element; plain text is escaped, elements are taken as they are.

    >>> print(element("text", "a < b", x="5%", class_="label", text_anchor="end"))
    <text x="5%" class="label" text-anchor="end">a &lt; b</text>
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{told}>{''.join(escape(child) for child in children)}</{tag}>")


def together(parts: Iterable[Markup]) -> Markup:
    """Elements one after another."""
    return Markup("").join(parts)


def picture(ident: str, title: str, description: str, *children: Markup, **kw: object) -> Markup:
    """A whole SVG that says what it shows to those who do not see it."""
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
    """Path data through points in order; None breaks the line.

    >>> path([(0, 0), (10, 5), None, (20, 5), (30, 5.25)])
    'M0 0L10 5M20 5L30 5.2'
    """
    data, pen = [], "M"
    for point in points:
        if point is not None:
            data.append(f"{pen}{_short(point[0])} {_short(point[1])}")
        pen = "M" if point is None else "L"
    return "".join(data)


def _short(coordinate: float) -> str:
    return f"{coordinate:.1f}".removesuffix(".0")
