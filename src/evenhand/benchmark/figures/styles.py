"""One look for all figures: a color and a marker for each method, wherever it appears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zlib import crc32

INK, SOFT, GRID, PAPER, BAND = "#1c2024", "#565d66", "#e4e4de", "#ffffff", "#dddcd4"

# On white paper, and on a dark screen. Colors differ in lightness too, and never stand alone:
# each method also has its marker.
PALETTE = {
    "teal": ("#00808c", "#52cbdb"),
    "pink": ("#c2478f", "#ff8fc0"),
    "amber": ("#b97f00", "#f0c04a"),
    "brown": ("#7a4a1e", "#d9a878"),
    "green": ("#007a45", "#57d08f"),
    "gray": ("#757b83", "#a9b0b8"),
    "blue": ("#0b5fa5", "#6cb4f5"),
    "red": ("#d1480a", "#ff8a4c"),
    "purple": ("#6a3fb3", "#b9a4f5"),
    "ramp0": ("#1f1147", "#f2e9ff"),
    "ramp1": ("#5a2a82", "#d5b6f2"),
    "ramp2": ("#a03a7a", "#e58bc0"),
    "ramp3": ("#d9603f", "#f0865f"),
    "ramp4": ("#c99a1d", "#c9a24a"),
}


@dataclass(frozen=True)
class Style:
    """How a method is drawn: a color of the palette, a marker, filled or not."""

    color: str
    marker: str
    hollow: bool = False
    size: float = 4.2
    width: float = 1.1

    @property
    def ink(self) -> str:
        """The color on paper."""
        return PALETTE[self.color][0] if self.color in PALETTE else INK

    @property
    def line(self) -> dict[str, Any]:
        """Options of a line with markers."""
        return {
            "color": self.ink,
            "marker": self.marker,
            "markersize": self.size,
            "markeredgewidth": 0.9,
            "markerfacecolor": PAPER if self.hollow else self.ink,
            "linewidth": self.width,
            "linestyle": (0, (3, 1.6)) if self.hollow else "-",
        }


STYLES: dict[str, Style] = {
    "Base": Style("ink", "*", size=8),
    "Reweight": Style("teal", "P", size=5.5),
    "FairRR": Style("pink", "v"),
    "Reduction": Style("amber", "s", size=3.8),
    "Rejection": Style("brown", "<"),
    "EqOdds": Style("green", "X", size=5.5),
    "CalEqOdds": Style("gray", "D", size=4.5),
    "FairProj-KL": Style("blue", "o"),
    "FairProj-CE": Style("blue", "o", hollow=True),
    "LinearPost": Style("red", "^"),
    "RateConstrained": Style("purple", "d", width=1.7, size=5),
    "RateConstrained, average odds": Style("purple", "p", hollow=True, size=5),
    "RateConstrained-Gini": Style("purple", "d", hollow=True, size=5),
    "FairReg": Style("amber", "s", size=3.8),
    "ParityReduction": Style("blue", "o"),
    "WassBC": Style("green", "X", size=6),
    "WassBC-Geodesic": Style("green", "x", hollow=True, size=4.5),
    "LinearPost_R": Style("red", "^"),
    "ParityConstrained": Style("purple", "d", width=1.7, size=5),
    "ParityConstrained, means": Style("purple", "p", hollow=True, size=5),
}
SPARE = tuple(
    Style(color, marker, hollow=True)
    for color, marker in zip(
        ("teal", "pink", "brown", "green", "gray", "red"), "h<>DvH", strict=True
    )
)
VARIANTS = {
    ("RateConstrained", "average_odds"): "RateConstrained, average odds",
    ("ParityConstrained", "weak_parity"): "ParityConstrained, means",
}


def series(method: str, constraint: str) -> str:
    """The name of a line: the method, and what sets it apart from others of the same method.

    >>> series("RateConstrained", "average_odds")
    'RateConstrained, average odds'
    """
    return VARIANTS.get((method, constraint), method)


def style(name: str) -> Style:
    """The style of a line; a method of one's own gets a spare one, always the same.

    >>> style("LinearPost").marker, style("mine") == style("mine")
    ('^', True)
    """
    return STYLES.get(name) or SPARE[crc32(name.encode()) % len(SPARE)]


def place(name: str) -> tuple[int, str]:
    """The order of lines in legends: that of the registry, then by name."""
    known = list(STYLES)
    return (known.index(name) if name in known else len(known), name)


RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": SOFT,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "figure.facecolor": PAPER,
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.facecolor": PAPER,
    "svg.hashsalt": "evenhand",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": SOFT,
    "xtick.labelsize": 7.5,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.7,
    "ytick.color": SOFT,
    "ytick.labelsize": 7.5,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.7,
}
