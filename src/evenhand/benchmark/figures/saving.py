"""Figures as files, and as SVG inside a page that follows its light or dark colors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.layout_engine import ConstrainedLayoutEngine

from evenhand.benchmark.figures.drawing import FORMATS, Drawing
from evenhand.benchmark.figures.theme import GRID, INK, PALETTE, RC, SOFT, WHITE

UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}
VARIABLES = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    GRID: "var(--grid)",
    WHITE: "var(--paper)",
    **{light: f"var(--c-{name})" for name, (light, _) in PALETTE.items()},
}
COLORS = re.compile("|".join(map(re.escape, VARIABLES)))
LONG = re.compile(r"-?\d+\.\d{3,}")
MARKED = re.compile(  # a group of markers that all look alike
    r'(<g(?: clip-path="[^"]*")?)>'
    r'((?:\s*<use [^>]*?(style="[^"]*")/>)(?:\s*<use [^>]*?\3/>)*\s*)</g>'
)
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def save(drawing: Drawing, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure as SVG, PDF and PNG, and its points as CSV.

    Parameters
    ----------
    drawing : Drawing
        What is written.
    folder : Path
        Made if it is not there.
    name : str
        The files' name, without an ending.
    formats : sequence of {"svg", "pdf", "png"}, default all
        Which files are written in addition to the .csv.

    Returns
    -------
    list of Path
        The files.

    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in formats]
    with mpl.rc_context(RC):
        _settle(drawing)
        for path, kind in zip(paths, formats, strict=True):
            metadata = {"Title": drawing.title} | UNDATED[kind]
            drawing.figure.savefig(path, dpi=200, metadata=metadata)
    table = folder / f"{name}.csv"
    drawing.data.to_csv(table, index=False)
    return [*paths, table]


def inline(drawing: Drawing, name: str) -> str:
    """A figure as an SVG element for HTML: no fixed size, no address outside, colors by name."""
    file = StringIO()
    with mpl.rc_context(RC | {"svg.fonttype": "none"}):
        _settle(drawing)
        drawing.figure.savefig(file, format="svg", transparent=True, metadata=UNDATED["svg"])
    text = file.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r"<!--.*?-->|<!DOCTYPE[^>]*>", "", text, flags=re.S)
    text = text.replace("xlink:href", "href").replace("'DejaVu Sans'", FONT)
    text = _own_ids(text, name)
    text = re.sub(r"<[^>]+>", lambda tag: _plain(tag.group()), text)
    text = MARKED.sub(_style_once, re.sub(r"\n\s*", "\n", text))
    head = f'<svg class="drawing" role="img" aria-label="{escape(drawing.alt)}"'
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None
    return re.sub(r"^<svg[^>]*>", lambda _: f"{head} {box.group()}>", text)


def _settle(drawing: Drawing) -> None:
    """Lay a figure out once: every file has the same places, whichever is written first."""
    if isinstance(drawing.figure.get_layout_engine(), ConstrainedLayoutEngine):
        drawing.figure.draw_without_rendering()
        drawing.figure.set_layout_engine("none")


def _plain(tag: str) -> str:
    """A tag with colors by name and hundredths of a point; what people read stays as it is."""
    tag = COLORS.sub(lambda match: VARIABLES[match.group()], tag)
    return LONG.sub(lambda match: f"{float(match.group()):.2f}", tag)


def _own_ids(text: str, name: str) -> str:
    """Short identifiers that no other figure of the page has; what nothing refers to goes."""
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    short = {ident: f"{name}-{at}" for at, ident in enumerate(used)}

    def own(match: re.Match[str]) -> str:
        return f' id="{short[match.group(1)]}"' if match.group(1) in short else ""

    def refer(match: re.Match[str]) -> str:
        return match.group(1) + short[match.group(2)]

    text = re.sub(r' id="([^"]+)"', own, text)
    return re.sub(r'(href="#|url\(#)([^")]+)', refer, text)


def _style_once(match: re.Match[str]) -> str:
    """The style of markers on their group instead of on each of them."""
    style = match.group(3)
    markers = match.group(2).replace(f" {style}", "")
    return f"{match.group(1)} {style}>{markers}</g>"
