"""Trade-offs as panels: performance over a criterion, a line for each method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evenhand.benchmark.figures.points import against, readings
from evenhand.benchmark.figures.scales import by_root, is_by_root, window
from evenhand.benchmark.figures.styles import SOFT, place, style
from evenhand.benchmark.findings.criteria import stand_ins
from evenhand.benchmark.findings.families import of_family
from evenhand.benchmark.findings.words import PERFORMANCES, axis_of, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark.scoring.results import Results

WIDTH, HEIGHT, LEGEND = 2.55, 2.15, 0.23  # inches, of a panel and of a legend's line


@dataclass(frozen=True)
class Panel:
    """What one panel shows: performance y over the criterion x on a problem."""

    problem: str
    x: str
    y: str = "accuracy"
    family: str = "all"
    base: str = "logistic"
    title: str | None = None
    methods: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """In words, for what is missing."""
        return f"{axis_of(self.x)} on {name_of(self.problem)}"

    @property
    def height(self) -> tuple[str, str, str]:
        """Panels where this is equal share their y axis."""
        return (self.problem, self.y, self.base)


Rows = Sequence[Sequence[Panel]]


@dataclass(frozen=True, eq=False)
class Grid:
    """A figure of panels, its points, and the panels without any."""

    figure: Figure
    data: Any
    missing: tuple[str, ...]


def grid(results: Results, rows: Rows) -> Grid:
    """Draw panels in rows, with one legend for all."""
    import pandas as pd

    panels = [panel for row in rows for panel in row]
    points = [one.assign(x_question=panel.x) for panel, one in _points(results, panels)]
    lines = sorted({name for one in points for name in one["series"]}, key=place)
    figure = framed(len(rows), len(rows[0]), len(lines))
    axes = figure.subplots(len(rows), len(rows[0]), squeeze=False)
    marked = stand_ins(results)
    for panel, one, place_ in zip(panels, points, axes.ravel(), strict=True):
        _panel(place_, panel, one, marked)
    _share_heights(panels, points, axes.ravel())
    _drop_repeated(rows, axes)
    legend(figure, lines)
    return Grid(figure, pd.concat(points, ignore_index=True), _missing(panels, points))


def _missing(panels: Sequence[Panel], points: Sequence[Any]) -> tuple[str, ...]:
    """Problems without any point, and single panels of the others."""
    there = {panel.problem for panel, one in zip(panels, points, strict=True) if len(one)}
    empty = [panel for panel, one in zip(panels, points, strict=True) if one.empty]
    said = [one.name if one.problem in there else name_of(one.problem) for one in empty]
    return tuple(dict.fromkeys(said))


def _points(results: Results, panels: Sequence[Panel]) -> list[tuple[Panel, Any]]:
    asked = [name for panel in panels for name in (panel.x, panel.y)]
    problems, bases = [one.problem for one in panels], [one.base for one in panels]
    found = readings(results, asked, problems, bases)
    return [(panel, _of(panel, found)) for panel in panels]


def _of(panel: Panel, found: Any) -> Any:
    here = found[(found["problem"] == panel.problem) & (found["base"] == panel.base)]
    points = of_family(against(here, panel.x, panel.y), panel.family)
    if panel.methods is not None:
        points = points[points["method"].isin(panel.methods)]
    return points.reset_index(drop=True)


def framed(rows: int, columns: int, lines: int) -> Figure:
    """A figure with room for its panels and for a legend below them."""
    height = rows * HEIGHT + LEGEND * (1 + lines // (2 * columns)) + 0.2
    return Figure(figsize=(columns * WIDTH, height), layout="constrained")


def _panel(axes: Axes, panel: Panel, points: Any, marked: frozenset[str]) -> None:
    title = name_of(panel.problem) if panel.title is None else panel.title
    axes.set_title(f"{title}{'†' if panel.problem in marked else ''}", loc="left")
    axes.set_xlabel(axis_of(panel.x))
    axes.set_ylabel(axis_of(panel.y))
    if points.empty:
        nothing(axes)
        return
    for name in sorted(set(points["series"]), key=place):
        draw_line(axes, points[points["series"] == name], name)
    highest = float(np.nanmax(points["x"] + points["x_error"].fillna(0)))
    if is_by_root(panel.x):
        by_root(axes, 1.06 * highest)
    else:
        axes.set_xlim(0 if points["x"].min() >= 0 else None, 1.05 * highest)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def draw_line(axes: Axes, points: Any, name: str, label: str | None = None) -> None:
    """A method's points in the order of its hyperparameter, with bars of one standard error."""
    look, ordered = style(name), points.sort_values("hyperparameter")
    x, y = ordered["x"].to_numpy(), ordered["y"].to_numpy()
    bars = _bars(x, y, ordered["x_error"].to_numpy(), ordered["y_error"].to_numpy())
    axes.plot(*bars, color=look.ink, linewidth=0.8, alpha=0.35, label=f"_bars of {name}")
    front = 5 if name == "Base" else 3
    axes.plot(x, y, label=label or name, zorder=front, **look.line)


def _bars(x: Any, y: Any, dx: Any, dy: Any) -> tuple[Any, Any]:
    """Both bars of every point as one line with gaps, which keeps files small."""
    dx, dy, gap = np.nan_to_num(dx), np.nan_to_num(dy), np.full(len(x), np.nan)
    across = np.column_stack([x - dx, x + dx, gap, x, x, gap]).ravel()
    up = np.column_stack([y, y, gap, y - dy, y + dy, gap]).ravel()
    return across, up


def nothing(axes: Axes, text: str = "no results yet") -> None:
    """Say in a panel that there is nothing to draw."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=SOFT)
    axes.set(xticks=[], yticks=[])


def legend(figure: Figure, names: Sequence[str], columns: int | None = None) -> None:
    """The methods by color and marker, below all panels."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **style(name).line) for name in names]
    if handles:
        wide = columns or max(int(figure.get_size_inches()[0] // 1.6), 1)
        figure.legend(handles=handles, loc="outside lower center", ncols=min(wide, len(handles)))


def _share_heights(panels: Sequence[Panel], points: Sequence[Any], axes: Any) -> None:
    """Panels of one problem have the same y axis; what lies beyond it is counted at its edge."""
    together: dict[Any, list[int]] = {}
    for at, (panel, one) in enumerate(zip(panels, points, strict=True)):
        if len(one):
            together.setdefault(panel.height, []).append(at)
    for (_, y, _), places in together.items():
        every = np.concatenate([points[at]["y"].to_numpy() for at in places])
        if is_by_root(y):
            for at in places:
                by_root(axes[at], 1.06 * float(every.max()), "y")
            continue
        low, high = window(every, low_is_good=y != "accuracy")
        limits = (low if y in PERFORMANCES else 0.0, high)  # a criterion is best at 0
        for at in places:
            axes[at].set_ylim(*limits)
            _beyond(axes[at], points[at]["y"].to_numpy(), limits)


def _beyond(axes: Axes, y: Any, limits: tuple[float, float]) -> None:
    for count, edge, mark in (
        (int((y < limits[0]).sum()), 0.03, "↓"),
        (int((y > limits[1]).sum()), 0.97, "↑"),
    ):
        if count:
            where: dict[str, Any] = {"va": "bottom" if edge < 0.5 else "top", "ha": "right"}
            told = f"{mark} {count} beyond"
            axes.text(0.98, edge, told, transform=axes.transAxes, color=SOFT, fontsize=7, **where)


def _drop_repeated(rows: Rows, axes: Any) -> None:
    """Titles and y labels once, where panels beside each other share them."""
    for row, places in zip(rows, axes, strict=True):
        for left, right, place_ in zip(row, row[1:], places[1:], strict=False):
            if left.height == right.height:
                place_.set_ylabel("")
                if right.title is None:
                    place_.set_title("", loc="left")
                if place_.lines:
                    place_.tick_params(labelleft=False)
