"""Trade-offs as panels: performance over a criterion, a line for each method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evenhand.benchmark.figures._limits import (
    BEYOND,
    REACH,
    Limits,
    beyond,
    breadth,
    corner_of,
    height,
)
from evenhand.benchmark.figures._readings import against, readings
from evenhand.benchmark.figures._roots import by_root, is_by_root
from evenhand.benchmark.figures.theme import BAND, SOFT, Style, Theme
from evenhand.benchmark.scoring.floors import floors_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark.scoring.results import Results

__all__ = [
    "HEIGHT",
    "LEGEND",
    "WIDTH",
    "Grid",
    "Panel",
    "against",
    "blank",
    "by_root",
    "grid",
    "lettered",
    "readings",
]

WIDTH, HEIGHT, LEGEND = 2.55, 2.15, 0.23  # inches, of a panel and of a legend's line
LINE = 34  # letters of a title beside each other
FLOOR = "noise: all groups treated alike"
SHADE = 0.6


@dataclass(frozen=True)
class Panel:
    """What one panel shows: performance y over the criterion x, on a problem and base model.

    Parameters
    ----------
    problem, base : str
        Which runs, by the names in the results.
    x, y : str
        Names of questions.
    constraints : frozenset of str, optional
        Show methods that were told to meet one of these; by default all. The base model was told
        to meet "".
    series : frozenset of str, optional
        Show these lines only, by the names that the theme gives them; by default all.
    title : str, optional
        By default what the theme calls the problem.
    is_zoom : bool, default False
        Whether it shows the crowded corner only.

    Examples
    --------
    >>> Panel("hiring", "logistic", "statistical_parity.mpd", "accuracy").title is None
    True

    """

    problem: str
    base: str
    x: str
    y: str
    constraints: frozenset[str] | None = None
    series: frozenset[str] | None = None
    title: str | None = None
    is_zoom: bool = False

    @property
    def height(self) -> tuple[str, str, str, frozenset[str] | None]:
        """The key of the y axis, which panels of equal keys share."""
        return (self.problem, self.y, self.base, self.series)


Rows = Sequence[Sequence[Panel]]


@dataclass(frozen=True, eq=False)
class Grid:
    """A figure of panels, its points, and the panels without any."""

    figure: Figure
    data: Any
    missing: tuple[str, ...]

    @property
    def has_arrows(self) -> bool:
        """Whether an arrow at an edge marks points further out."""
        lines = (line for axes in self.figure.axes for line in axes.get_lines())
        return any(line.get_label() == BEYOND for line in lines)


def grid(
    results: Results,
    rows: Rows,
    theme: Theme,
    *,
    zoom: bool = False,
    floors: bool = False,
    reach: float = REACH,
) -> Grid:
    """Draw panels in rows, with letters, and one legend for all.

    Points far from all others are not drawn; an arrow at the edge, with the marker of the line,
    stands for them.

    Parameters
    ----------
    results : Results
        What is drawn; no score is computed.
    rows : sequence of sequences of Panel
        The panels from top to bottom and left to right; rows may have different lengths.
    theme : Theme
        Names and styles.
    zoom : bool, default False
        Add a panel to each row for its first panel with a crowded corner.
    floors : bool, default False
        Shade what chance alone shows, where the results have noise floors (`with_floors`).
    reach : float, default 4
        How far panels reach beyond their better three quarters of points, in multiples of what
        these extend over; infinite to draw every point where it is.

    Returns
    -------
    Grid
        The figure, a pandas table of its points, and what there are no results for.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> panel = Panel("hiring", "logistic", "statistical_parity.mpd", "accuracy")
    >>> theme = Theme({}, series=lambda method, constraint: method)
    >>> grid(nothing, [[panel]], theme).missing
    ('hiring',)

    """
    import pandas as pd

    panels = [panel for row in rows for panel in row]
    points = dict(zip(panels, _points(results, panels, theme), strict=True))
    data = pd.concat([points[panel] for panel in panels], ignore_index=True)
    missing = _missing(panels, [points[panel] for panel in panels], theme)
    problems = {panel.problem for panel in panels if len(points[panel])} or {panels[0].problem}
    rows = [[panel for panel in row if panel.problem in problems] for row in rows]
    rows = [row for row in rows if row]
    windows = _windows(points, reach)
    corners = {
        panel: corner
        for row in rows
        for panel in ([_crowded(row, points, windows)] if zoom else [])
        if panel is not None and (corner := corner_of(points[panel], *windows[panel])) is not None
    }
    rows = [[*row, *(replace(p, is_zoom=True) for p in row if p in corners)] for row in rows]
    lines = sorted(set(data["series"]), key=theme.place)
    columns = max(map(len, rows))
    figure = framed(len(rows), columns, len(lines))
    places = figure.subplots(len(rows), columns, squeeze=False)
    used = [list(row[: len(panels)]) for row, panels in zip(places, rows, strict=True)]
    for row, axes in zip(rows, places, strict=True):
        for spare in axes[len(row) :]:
            spare.remove()
    where = {
        panel: axes
        for row, places in zip(rows, used, strict=True)
        for panel, axes in zip(row, places, strict=True)
    }
    stand_ins = results.stand_ins
    for panel, axes in where.items():
        unzoomed = replace(panel, is_zoom=False)
        _panel(axes, panel, points[unzoomed], theme, marked=panel.problem in stand_ins)
        if points[unzoomed].empty:
            continue
        if panel.is_zoom:
            _frame(where[unzoomed], axes, corners[unzoomed])
        else:
            x, y = windows[panel]
            _limit(axes, panel, x, y)
            beyond(axes, points[panel], x, y, theme)
    shaded = floors and _shade(results, where)
    _drop_repeated(rows, used)
    if len(where) > 1:
        lettered(where.values())
    legend(figure, lines, theme, floor=shaded)
    return Grid(figure, data, missing)


def _missing(panels: Sequence[Panel], points: Sequence[Any], theme: Theme) -> tuple[str, ...]:
    """Problems without any point, and single panels of the others."""
    problems = {panel.problem for panel, table in zip(panels, points, strict=True) if len(table)}
    empty = [panel for panel, table in zip(panels, points, strict=True) if table.empty]
    names = [
        f"{theme.question(panel.x)} on {theme.problem(panel.problem)}"
        if panel.problem in problems
        else theme.problem(panel.problem)
        for panel in empty
    ]
    return tuple(dict.fromkeys(names))


def _points(results: Results, panels: Sequence[Panel], theme: Theme) -> list[Any]:
    """The points of each panel."""
    questions = [name for panel in panels for name in (panel.x, panel.y)]
    problems, bases = [panel.problem for panel in panels], [panel.base for panel in panels]
    table = readings(results, questions, problems, bases, theme)
    return [_panel_points(panel, table) for panel in panels]


def _panel_points(panel: Panel, table: Any) -> Any:
    rows = table[(table["problem"] == panel.problem) & (table["base"] == panel.base)]
    points = against(rows, panel.x, panel.y)
    if panel.constraints is not None:
        points = points[points["constraint"].isin(panel.constraints)]
    if panel.series is not None:
        points = points[points["series"].isin(panel.series)]
    return points.assign(x_question=panel.x).reset_index(drop=True)


def framed(rows: int, columns: int, lines: int) -> Figure:
    """A figure with room for its panels and for a legend below them."""
    height = rows * HEIGHT + LEGEND * (1 + lines // (2 * columns)) + 0.2
    return Figure(figsize=(columns * WIDTH, height), layout="constrained")


def _panel(axes: Axes, panel: Panel, points: Any, theme: Theme, marked: bool) -> None:
    title = theme.problem(panel.problem) if panel.title is None else panel.title
    title = fill(f"{title}{'†' if marked else ''}", LINE)
    axes.set_title(title, loc="left")
    axes.set_xlabel(theme.question(panel.x))
    axes.set_ylabel(theme.question(panel.y))
    if points.empty:
        blank(axes)
        return
    for name in sorted(set(points["series"]), key=theme.place):
        _line(axes, points[points["series"] == name], name, theme.style(name))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))


def _line(axes: Axes, points: Any, name: str, style: Style) -> None:
    """A method's points in the order of its hyperparameter, with bars of one standard error."""
    ordered = points.sort_values("hyperparameter")
    x, y = ordered["x"].to_numpy(), ordered["y"].to_numpy()
    bars = _bars(x, y, ordered["x_error"].to_numpy(), ordered["y_error"].to_numpy())
    axes.plot(*bars, color=style.ink, linewidth=0.8, alpha=0.35, label=f"_bars of {name}")
    front = 5 if name == "Base" else 3
    axes.plot(x, y, label=name, zorder=front, **style.line)


def _bars(x: Any, y: Any, dx: Any, dy: Any) -> tuple[Any, Any]:
    """Both bars of every point as one line with gaps, which keeps files small."""
    dx, dy, gap = np.nan_to_num(dx), np.nan_to_num(dy), np.full(len(x), np.nan)
    across = np.column_stack([x - dx, x + dx, gap, x, x, gap]).ravel()
    up = np.column_stack([y, y, gap, y - dy, y + dy, gap]).ravel()
    return across, up


def blank(axes: Axes, text: str = "no results yet") -> None:
    """Say in a panel that there is nothing to draw."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=SOFT)
    axes.set(xticks=[], yticks=[])


def legend(figure: Figure, names: Sequence[str], theme: Theme, *, floor: bool = False) -> None:
    """The lines by color and marker, below all panels, and what is shaded."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D([], [], label=theme.label(name), **theme.style(name).line) for name in names
    ]
    if floor:
        handles.append(Patch(facecolor=BAND, alpha=SHADE, edgecolor="none", label=FLOOR))
    if handles:
        longest = max(len(handle.get_label()) for handle in handles)
        wide = max(int(figure.get_size_inches()[0] // max(1.6, 0.5 + 0.07 * longest)), 1)
        figure.legend(handles=handles, loc="outside lower center", ncols=min(wide, len(handles)))


def _windows(points: dict[Panel, Any], reach: float) -> dict[Panel, tuple[Limits, Limits]]:
    """Limits of x and y of every panel; panels of one problem have the same y axis."""
    heights: dict[Any, list[Any]] = {}
    for panel, table in points.items():
        if len(table):
            heights.setdefault(panel.height, []).append(table)
    y_limits = {key: height(key[1], tables, reach) for key, tables in heights.items()}
    return {
        panel: (breadth(panel.x, table, reach), y_limits[panel.height])
        for panel, table in points.items()
        if len(table)
    }


def _limit(axes: Axes, panel: Panel, x: Limits, y: Limits) -> None:
    if is_by_root(panel.x):
        by_root(axes, x[1])
    else:
        axes.set_xlim(*x)
    if is_by_root(panel.y):
        by_root(axes, y[1], "y")
    else:
        axes.set_ylim(*y)


def _crowded(row: Sequence[Panel], points: Any, windows: Any) -> Panel | None:
    """The first panel of a row that has a crowded corner."""
    for panel in row:
        if panel not in windows or is_by_root(panel.x):
            continue
        if corner_of(points[panel], *windows[panel]) is not None:
            return panel
    return None


def _frame(parent: Axes, axes: Axes, corner: tuple[Limits, Limits]) -> None:
    """Set the limits of a zoomed panel, and mark them in its parent."""
    from matplotlib.patches import Rectangle

    (left, right), (bottom, top) = corner
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    size = (right - left, top - bottom)
    edge: dict[str, Any] = {"facecolor": "none", "edgecolor": SOFT, "linewidth": 0.8, "zorder": 2}
    parent.add_patch(Rectangle((left, bottom), *size, **edge))
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def _shade(results: Results, where: dict[Panel, Axes]) -> bool:
    """Noise floors behind the points; whether there are any."""
    floors = floors_of(results).set_index(["problem", "base", "question"])
    for panel, axes in where.items():
        key = (panel.problem, panel.base, panel.x)
        if key in floors.index and axes.lines and not panel.x.partition(" ")[0].endswith(".ratio"):
            limits = axes.get_xlim()
            floor, high = floors.loc[key, "floor"], floors.loc[key, "high"]
            axes.axvspan(0, high, color=BAND, alpha=SHADE, linewidth=0, zorder=0)
            line: dict[str, Any] = {"color": SOFT, "linestyle": ":", "linewidth": 0.9}
            axes.axvline(floor, zorder=1, label="_floor", **line)
            axes.set_xlim(*limits)
    return len(floors) > 0


def lettered(every: Iterable[Axes]) -> None:
    """Panels as (a), (b) …; after (z) comes (aa)."""
    for at, axes in enumerate(every):
        round_of_letters, last = divmod(at, len(ascii_lowercase))
        letter = (
            ascii_lowercase[round_of_letters - 1] if round_of_letters else ""
        ) + ascii_lowercase[last]
        title = axes.get_title(loc="left")
        axes.set_title(f"({letter}) {title}".rstrip(), loc="left")


def _drop_repeated(rows: Rows, places: Sequence[Sequence[Axes]]) -> None:
    """Show titles and y labels once, where adjacent panels share them."""
    for row, axes_of_row in zip(rows, places, strict=True):
        for left, right, axes in zip(row, row[1:], axes_of_row[1:], strict=False):
            if left.height == right.height:
                axes.set_title("zoom" if right.is_zoom else "", loc="left")
                axes.set_ylabel("")
                if axes.lines and not right.is_zoom:
                    axes.tick_params(labelleft=False)
