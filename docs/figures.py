"""The figures of the page "Theory", as SVG, and the report of the demo, for the gallery.

`python docs/figures.py FOLDER png` draws PNG.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from evenhand import distribution, gini, mpd, pq
from evenhand._sweep import curve
from evenhand.measures import greatest_gini, pq_bound_of_gini, resolve

Vector = NDArray[np.float64]

INK, BLUE, ORANGE, GREY = "#222222", "#3060a8", "#d1600a", "#8a8a8a"
STYLE = {
    "axes.edgecolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "svg.fonttype": "path",
    "svg.hashsalt": "evenhand",
}


def pq_against_gini() -> Figure:
    """Where PQ(1, 2) and Gini can lie together, for four numbers of groups."""
    figure = Figure(figsize=(9.6, 3.0), layout="constrained")
    panels = figure.subplots(1, 4, sharex=True, sharey=True)
    for panel, d in zip(panels, (2, 5, 10, 100), strict=True):
        _region(panel, d)
        panel.set_title(f"{d} groups", fontsize=11)
        panel.set_xlabel("Gini")
    panels[0].set_ylabel("PQ(1, 2)")
    lines, names = panels[-1].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _region(panel: Axes, d: int) -> None:
    x = np.linspace(0, greatest_gini(d), 400)
    low_x, low_y = _least(d)
    panel.fill_between(x, np.interp(x, low_x, low_y), pq_bound_of_gini(x, d), color=BLUE, alpha=0.2)
    panel.plot(low_x, low_y, color=BLUE, lw=2, label="least: evenly spaced, cut off at 0")
    most = pq_bound_of_gini(x, d)
    dashes = (0, (6, 4)) if d == 2 else "-"  # here both lines are one
    panel.plot(x, most, color=ORANGE, lw=2, ls=dashes, label="greatest: one group apart")
    panel.plot([0, 1], [0, 1], color=GREY, lw=1, ls=(0, (4, 3)), label="PQ = Gini")
    panel.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))


def _least(d: int) -> tuple[Vector, Vector]:
    """The least PQ for each Gini: evenly spaced entries, cut off at zero."""
    level = 2.0 * np.arange(1, d + 1) - d - 1
    reach = np.concatenate([-np.geomspace(1e4, 1, 400) * d, np.linspace(-d, d - 1 - 1e-6, 800)])
    w = np.maximum(level - reach[:, None], 0)
    return gini(w), pq(w)


def degenerate_supremum() -> Figure:
    """S of two groups' CDFs along the pooled predictions: the left end says nothing."""
    figure = Figure(figsize=(9.6, 3.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("the same distribution in both groups", "one group shifted by a standard deviation")
    for panel, gap, title in zip(panels, (0.0, 1.0), titles, strict=True):
        _sweeps(panel, gap)
        panel.set_title(title, fontsize=11)
    panels[0].set_ylabel("measure of the two CDFs")
    return figure


def _sweeps(panel: Axes, gap: float) -> None:
    values, group = two_groups(gap)
    scores = distribution(values, sensitive_features=group)
    path, pooled = scores.steps, (scores.steps.cuts + 1) / len(scores)
    lines = (
        ("MPD of F", mpd, None, GREY, 1.5),
        ("PQ of F", pq, None, ORANGE, 2.0),
        ("PQ of exp(F)", pq, "exp", BLUE, 2.0),
    )
    for name, measure, transform, color, width in lines:
        line = curve(path, path.cuts, resolve(measure), transform)
        label = f"{name}: {line.max():.4f}"
        panel.plot(pooled, line, color=color, lw=width, label=label, solid_joinstyle="round")
    panel.set(xlim=(-0.01, 1), ylim=(0, 0.55), xlabel="pooled F at the cut point")
    panel.legend(title="supremum of", alignment="left", frameon=False, loc="upper right")


def two_groups(gap: float) -> tuple[Vector, NDArray[np.str_]]:
    """Normal predictions of 400 rows in each of two groups whose means differ by `gap`."""
    values = np.random.default_rng(4).normal(size=800)
    group = np.repeat(["a", "b"], 400)
    return values + np.where(group == "b", gap, 0.0), group


FIGURES = {"pq-against-gini": pq_against_gini, "degenerate-supremum": degenerate_supremum}


def draw(folder: Path, kind: str = "svg") -> None:
    """Draw every figure into a folder."""
    with mpl.rc_context(STYLE):
        for name, figure in FIGURES.items():
            meta = {"Date": None} if kind == "svg" else None
            figure().savefig(folder / f"{name}.{kind}", metadata=meta, dpi=150)


def write_report(file: Path) -> None:
    """Write the page of `evenhand demo`, unless it is newer than the package."""
    from evenhand import report
    from evenhand.cli.demo import audited_adult

    package = Path(report.__file__).parents[1]
    sources = [*package.rglob("*.py"), *package.rglob("templates/*")]
    if not file.exists() or file.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        audited_adult().to_html(file)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), *sys.argv[2:])
