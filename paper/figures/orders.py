"""The orders p and q of the PQ index: what they do to a trade-off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from evenhand.benchmark.figures import Drawing
from evenhand.benchmark.figures.drawing import caption, over_seeds, provenance
from evenhand.benchmark.figures.panels import HEIGHT, WIDTH, against, blank, readings
from evenhand.benchmark.figures.theme import PALETTE
from paper.theme import THEME
from paper.words import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark import Results

P, Q = (0.1, 0.3, 0.5, 0.7, 0.9), (1.1, 1.5, 2.0, 2.5)
SHADES = tuple(name for name in PALETTE if name.startswith("ramp"))
MARKERS = "ov^sD"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ROWS = (
    ("adult", "statistical_parity", "statistical_parity"),
    ("adult", "average_odds", "equalized_odds"),
    ("compas", "statistical_parity", "statistical_parity"),
    ("compas", "average_odds", "equalized_odds"),
)
SHORT = {"statistical_parity": "S-SP", "average_odds": "S-EO"}


def orders(results: Results, method: str = "LinearPost") -> Drawing:
    """Accuracy over S-SP and S-EO by PQ(p, q), a panel for each q and a line for each p."""
    import pandas as pd

    figure = Figure(figsize=(len(Q) * WIDTH, len(ROWS) * HEIGHT * 0.9 + 0.5), layout="constrained")
    axes = figure.subplots(len(ROWS), len(Q), sharex="row", sharey="row", squeeze=False)
    marked, drawn, missing = results.stand_ins, [], []
    for row, places in zip(ROWS, axes, strict=True):
        points = _points(results, row, method)
        for q, place in zip(Q, places, strict=True):
            _panel(place, points[points["q"] == q] if len(points) else points)
            place.set_title(f"q = {q:g}", loc="right", fontsize=8.5)
        problem, criterion, _ = row
        places[0].set_title(name_of(problem) + ("†" if problem in marked else ""), loc="left")
        places[0].set_ylabel("accuracy")
        for place in places:
            place.set_xlabel(f"{SHORT[criterion]} by PQ(p, {place.get_title(loc='right')[4:]})")
        drawn.append(points)
        missing += [] if len(points) else [f"{SHORT[criterion]} on {name_of(problem)}"]
    _legend(figure)
    data = pd.concat(drawn, ignore_index=True)
    return Drawing(
        title=f"The orders p and q of the PQ index, on {method}",
        caption=caption(
            f"Accuracy of {method} over S-SP and S-EO by PQ(p, q); x is logarithmic and the same "
            "along a row. The closer p and q, the smaller the values.",
            over_seeds(data),
            "Bars that would reach below 0 end at a twentieth of the value.",
            provenance(results, [row[0] for row in ROWS], THEME),
        ),
        alt=f"Accuracy of {method} over PQ(p, q) for p from 0.1 to 0.9 in shades and q from 1.1 "
        f"to 2.5 from left to right, {len(data)} points.",
        figure=figure,
        data=data,
        missing=tuple(missing),
    )


def _points(results: Results, row: tuple[str, str, str], method: str) -> Any:
    """The method's points for every p and q; those with its own constraint."""
    import pandas as pd

    problem, criterion, constraint = row
    asked = {(p, q): f"{criterion}.pq p={p} q={q}" for p in P for q in Q}
    found = readings(results, [*asked.values(), "accuracy"], [problem], ["logistic"], THEME)
    found = found[(found["method"] == method) & (found["constraint"] == constraint)]
    parts = [
        against(found, name, "accuracy").assign(p=p, q=q, x_question=name)
        for (p, q), name in asked.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _panel(axes: Axes, points: Any) -> None:
    if points.empty:
        blank(axes)
        return
    axes.set_xscale("log")
    for p, shade, marker in zip(P, SHADES, MARKERS, strict=True):
        here = points[(points["p"] == p) & (points["x"] > 0)].sort_values("hyperparameter")
        color = PALETTE[shade][0]
        x, y = here["x"].to_numpy(), here["y"].to_numpy()
        error = np.nan_to_num(here["x_error"].to_numpy())
        gap = np.full(len(x), np.nan)
        ends = np.column_stack([np.where(error < x, x - error, x / 20), x + error, gap]).ravel()
        heights = np.column_stack([y, y, gap]).ravel()
        axes.plot(ends, heights, color=color, linewidth=0.8, alpha=0.4, label=f"_bars of {p}")
        axes.plot(x, y, color=color, marker=marker, markersize=3.4, linewidth=1, label=f"p = {p}")
    axes.xaxis.set_major_locator(LogLocator(numticks=5))
    axes.xaxis.set_major_formatter(lambda value, _: power(value))
    axes.xaxis.set_minor_formatter(NullFormatter())


def power(value: float) -> str:
    """A power of ten as people write it.

    >>> power(0.001)
    '10⁻³'
    """
    return "10" + str(round(np.log10(value))).translate(RAISED) if value > 0 else ""


def _legend(figure: Figure) -> None:
    handles = [
        Line2D([], [], color=PALETTE[shade][0], marker=marker, markersize=4, label=f"p = {p:g}")
        for p, shade, marker in zip(P, SHADES, MARKERS, strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
