"""The look of Matplotlib figures of audits and comparisons: the colors and type of the page."""

from __future__ import annotations

from typing import Any

from evenhand._errors import require

INK, SOFT, GRID = "#1c2024", "#565d66", "#e4e4de"
SERIES = (
    *("#0b5fa5", "#a84c00", "#00735c", "#9c1458"),
    *("#6a4fb3", "#7a6000", "#00707f", "#4a5058"),
)


def new_figure(width: float, height: float) -> Any:
    """A figure of so many inches that no window shows; needs Matplotlib."""
    require("matplotlib", purpose="A figure", extra="figures")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def tick_format(ends: tuple[float, float]) -> str:
    """How the ticks of an axis with these ends are written."""
    return "{x:,.4g}" if max(map(abs, ends)) < 1000 else "{x:,.0f}"
