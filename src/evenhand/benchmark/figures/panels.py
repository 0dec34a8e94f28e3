"""Trade-offs as panels: performance over a criterion, a line for each method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from evenhand.benchmark.figures.theme import BAND, PERFORMANCES, SOFT, Style, Theme
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
STEPS = (1.0, 2.0, 5.0)  # round ticks
KEYS = ["problem", "base", "method", "constraint", "hyperparameter"]
LINE = 34  # letters of a title beside each other
CROWD, CROWDED = 0.6, 0.2  # this share of the points in less than this share of a panel
FEW = 8  # points that anyone can distinguish
FLOOR = "noise: all groups treated alike"
SHADE = 0.6
REACH = 4.0
NEAR = 1.4  # a panel that this much more breadth completes is completed: no arrow to what is near
MARGIN, STRIP = 0.07, 0.2  # shares of what is shown, left free at an edge and at one with arrows
BEYOND = "_beyond"  # the label of an arrow's marker
APART = 0.07  # between two arrows, of the edge
LETTER = 0.033  # of a panel's breadth, in a tick's words

Limits = tuple[float, float]


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
        """Panels where this is equal share their y axis."""
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
        """Whether an arrow at an edge stands for points further out."""
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
    there = {panel.problem for panel in panels if len(points[panel])} or {panels[0].problem}
    rows = [[panel for panel in row if panel.problem in there] for row in rows]
    rows = [row for row in rows if row]
    windows = _windows(points, reach)
    corners = {
        panel: corner
        for row in rows
        for panel in ([_crowded(row, points, windows)] if zoom else [])
        if panel is not None and (corner := corner_of(points[panel], *windows[panel])) is not None
    }
    rows = [[*row, *(replace(one, is_zoom=True) for one in row if one in corners)] for row in rows]
    lines = sorted(set(data["series"]), key=theme.place)
    wide = max(map(len, rows))
    figure = framed(len(rows), wide, len(lines))
    places = figure.subplots(len(rows), wide, squeeze=False)
    kept = [list(row[: len(panels)]) for row, panels in zip(places, rows, strict=True)]
    for row, axes in zip(rows, places, strict=True):
        for spare in axes[len(row) :]:
            spare.remove()
    where = {
        panel: axes
        for row, places in zip(rows, kept, strict=True)
        for panel, axes in zip(row, places, strict=True)
    }
    marked = results.stand_ins
    for panel, axes in where.items():
        whole = replace(panel, is_zoom=False)
        _panel(axes, panel, points[whole], theme, marked=panel.problem in marked)
        if points[whole].empty:
            continue
        if panel.is_zoom:
            _frame(where[whole], axes, corners[whole])
        else:
            x, y = windows[panel]
            _limit(axes, panel, x, y)
            _beyond(axes, points[panel], x, y, theme)
    shaded = floors and _shade(results, where)
    _drop_repeated(rows, kept)
    if len(where) > 1:
        lettered(where.values())
    legend(figure, lines, theme, floor=shaded)
    return Grid(figure, data, missing)


def _missing(panels: Sequence[Panel], points: Sequence[Any], theme: Theme) -> tuple[str, ...]:
    """Problems without any point, and single panels of the others."""
    there = {panel.problem for panel, table in zip(panels, points, strict=True) if len(table)}
    empty = [panel for panel, table in zip(panels, points, strict=True) if table.empty]
    names = [
        f"{theme.question(panel.x)} on {theme.problem(panel.problem)}"
        if panel.problem in there
        else theme.problem(panel.problem)
        for panel in empty
    ]
    return tuple(dict.fromkeys(names))


def _points(results: Results, panels: Sequence[Panel], theme: Theme) -> list[Any]:
    """The points of each panel."""
    asked = [name for panel in panels for name in (panel.x, panel.y)]
    problems, bases = [panel.problem for panel in panels], [panel.base for panel in panels]
    table = readings(results, asked, problems, bases, theme)
    return [_of(panel, table) for panel in panels]


def _of(panel: Panel, table: Any) -> Any:
    here = table[(table["problem"] == panel.problem) & (table["base"] == panel.base)]
    points = against(here, panel.x, panel.y)
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
    y_limits = {height: _height(height[1], tables, reach) for height, tables in heights.items()}
    return {
        panel: (_breadth(panel.x, table, reach), y_limits[panel.height])
        for panel, table in points.items()
        if len(table)
    }


def _height(y: str, tables: Sequence[Any], reach: float) -> Limits:
    values = np.concatenate([table["y"].to_numpy() for table in tables])
    if is_by_root(y):
        return 0.0, 1.06 * float(values.max())
    is_high_good = y in ("accuracy", "r2")
    low, high = window(values, low_is_good=not is_high_good, reach=reach)
    bars = np.concatenate([table["y_error"].fillna(0).to_numpy() for table in tables])
    room = float(np.clip((values + bars if is_high_good else values - bars) - high, 0, None).max())
    if is_high_good:  # bars of the best points stay inside, unless they are very long
        high += min(room, 0.25 * (high - low))
    return low if y in PERFORMANCES else 0.0, high  # a criterion is best at 0


def _breadth(x: str, table: Any, reach: float) -> Limits:
    values = table["x"].to_numpy()
    highest = 1.05 * float(np.nanmax(values + table["x_error"].fillna(0)))
    if values.min() < 0:
        return float(values.min()), highest
    if is_by_root(x):
        far = window(np.sqrt(values), low_is_good=True, reach=reach, start=0.0)[1] ** 2
    else:
        far = window(values, low_is_good=True, reach=reach, start=0.0)[1]
    if far > values.max():  # all are inside: their bars too, unless they are very long
        far = max(far, min(highest, NEAR * far))
    return 0.0, max(far, 1.25 * float(np.median(values)), 1e-12)  # also where all are about equal


def _limit(axes: Axes, panel: Panel, x: Limits, y: Limits) -> None:
    if is_by_root(panel.x):
        by_root(axes, x[1])
    else:
        axes.set_xlim(*x)
    if is_by_root(panel.y):
        by_root(axes, y[1], "y")
    else:
        axes.set_ylim(*y)


def _beyond(axes: Axes, points: Any, x: Limits, y: Limits, theme: Theme) -> None:
    """An arrow for each line that leaves the window, in the strip that `window` keeps free."""
    to_axes = axes.transData + axes.transAxes.inverted()
    right = points["x"] > x[1]
    up = (points["y"] > y[1]).astype(int) - (points["y"] < y[0]).astype(int)
    away = points.assign(right=right, up=up.where(~right, 0))[right | (up != 0)]
    taken: list[tuple[int, float]] = []
    for (name, to_right, to_up), own in away.groupby(["series", "right", "up"], sort=False):
        inside = np.column_stack([own["x"].clip(*x), own["y"].clip(*y)])
        along = 1 if to_right else 0
        place = _free(float(np.median(to_axes.transform(inside)[:, along])), int(to_up), taken)
        start, tip = (0.13, 0.0) if to_up < 0 else (0.9, 1.0)
        at, end = (place, start), (place, tip)
        if to_right:
            at, end = at[::-1], end[::-1]
        style = theme.style(str(name))
        axes.plot(*at, transform=axes.transAxes, label=BEYOND, zorder=6, **style.line)
        axes.annotate(
            "",
            xy=end,
            xytext=at,
            xycoords="axes fraction",
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "->", "color": style.ink, "linewidth": 1.0},
        )


def _free(place: float, edge: int, taken: list[tuple[int, float]]) -> float:
    """Where along an edge an arrow stands, beside the others.

    >>> _free(0.9, -1, [(-1, 0.88), (0, 0.9)]) < 0.82
    True
    """
    place = min(max(place, APART), 1 - APART)
    step = APART if place < 0.5 else -APART
    while any(other == edge and abs(place - at) < APART for other, at in taken):
        place += step
    taken.append((edge, place))
    return place


def corner_of(points: Any, x: Limits, y: Limits) -> tuple[Limits, Limits] | None:
    """The corner where most points crowd, if it is a small part of the panel; else None.

    It holds the points nearest to where the middle of them is, and lines of two methods at least.
    """
    inside = points[points["x"].between(*x) & points["y"].between(*y)]
    if len(inside) < FEW or inside["series"].nunique() < 2:
        return None
    spans = np.array([x[1] - x[0], y[1] - y[0]])
    places = (inside[["x", "y"]].to_numpy() - [x[0], y[0]]) / spans
    near = np.hypot(*(places - np.median(places, axis=0)).T)
    crowd = places[np.argsort(near, kind="stable")[: int(np.ceil(CROWD * len(places)))]]
    low, high = crowd.min(axis=0), crowd.max(axis=0)
    margin = 0.08 * np.maximum(high - low, 0.05)
    low, high = np.maximum(low - margin, 0), np.minimum(high + margin, 1)
    if np.prod(high - low) > CROWDED or (high - low).max() > 0.8:
        return None
    ends = np.array([low, high]) * spans + [x[0], y[0]]
    return (float(ends[0, 0]), float(ends[1, 0])), (float(ends[0, 1]), float(ends[1, 1]))


def _crowded(row: Sequence[Panel], points: Any, windows: Any) -> Panel | None:
    """The first panel of a row that has a crowded corner."""
    for panel in row:
        if panel not in windows or is_by_root(panel.x):
            continue
        if corner_of(points[panel], *windows[panel]) is not None:
            return panel
    return None


def _frame(whole: Axes, axes: Axes, corner: tuple[Limits, Limits]) -> None:
    """Limits of a panel that zooms, and where that is in the panel it belongs to."""
    from matplotlib.patches import Rectangle

    (left, right), (bottom, top) = corner
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    size = (right - left, top - bottom)
    edge: dict[str, Any] = {"facecolor": "none", "edgecolor": SOFT, "linewidth": 0.8, "zorder": 2}
    whole.add_patch(Rectangle((left, bottom), *size, **edge))
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
        more, last = divmod(at, len(ascii_lowercase))
        letter = (ascii_lowercase[more - 1] if more else "") + ascii_lowercase[last]
        title = axes.get_title(loc="left")
        axes.set_title(f"({letter}) {title}".rstrip(), loc="left")


def _drop_repeated(rows: Rows, places: Sequence[Sequence[Axes]]) -> None:
    """Titles and y labels once, where panels beside each other share them."""
    for row, own in zip(rows, places, strict=True):
        for left, right, axes in zip(row, row[1:], own[1:], strict=False):
            if left.height == right.height:
                axes.set_title("zoom" if right.is_zoom else "", loc="left")
                axes.set_ylabel("")
                if axes.lines and not right.is_zoom:
                    axes.tick_params(labelleft=False)


def readings(
    results: Results,
    questions: Iterable[str],
    problems: Iterable[str],
    bases: Iterable[str],
    theme: Theme,
) -> Any:
    """Mean and standard error over the seeds of these questions, with the name of the line.

    Parameters
    ----------
    results : Results
        Whose scores are read.
    questions, problems, bases : iterable of str
        Which of them, by name.
    theme : Theme
        Names the lines, in the column `series`.

    Returns
    -------
    pandas.DataFrame
        Columns problem, base, method, constraint, hyperparameter, question, mean, error, seeds,
        series, and setting, which numbers what a question is asked about; a constraint that is
        not there is "".

    Examples
    --------
    >>> from evenhand.benchmark import Question, Results
    >>> found = Results.from_rows(
    ...     runs=[{"key": "a", "problem": "people", "base": "logistic", "method": "Base"}],
    ...     questions=[Question("accuracy")],
    ...     problems=[],
    ...     scores=[("a", "accuracy", "expected", 0.75)],
    ... )
    >>> theme = Theme({}, series=lambda method, constraint: method)
    >>> float(readings(found, ["accuracy"], ["people"], ["logistic"], theme)["mean"].iloc[0])
    0.75

    """
    columns = {"question": questions, "problem": problems, "base": bases}
    where = " and ".join(_among(name, values) for name, values in columns.items())
    table = results.with_fitted_rows(results.curves(where)).fillna({"constraint": ""})
    pairs = zip(table["method"], table["constraint"], strict=True)
    table["series"] = [theme.series(method, constraint) for method, constraint in pairs]
    table["setting"] = table.groupby(KEYS, dropna=False).ngroup()
    return table


def _among(column: str, values: Iterable[object]) -> str:
    """An SQL condition.

    >>> _among("base", ["a", "it's"])
    "base in ('a', 'it''s')"
    """
    quoted = ["'" + str(value).replace("'", "''") + "'" for value in dict.fromkeys(values)]
    return f"{column} in ({', '.join(quoted)})" if quoted else "false"


def against(table: Any, x: str, y: str) -> Any:
    """The points of question y over question x, from `readings`."""
    columns = [*KEYS, "series", "x", "x_error", "seeds", "setting"]
    left = table[table["question"] == x].rename(columns={"mean": "x", "error": "x_error"})
    right = table[table["question"] == y].rename(columns={"mean": "y", "error": "y_error"})
    points = left[columns].merge(right[["setting", "y", "y_error"]], on="setting")
    points = points.sort_values("setting")
    return points.drop(columns="setting").reset_index(drop=True)


def by_root(axes: Axes, highest: float, which: Literal["x", "y"] = "x") -> None:
    """Space an axis by its square root, from 0, with round ticks.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        What is drawn in.
    highest : float
        Where the axis ends.
    which : {"x", "y"}, default "x"
        The axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> by_root(axes, 0.09, "y")
    >>> [float(tick) for tick in axes.get_yticks()]
    [0.0, 0.005, 0.02, 0.05]

    """
    limits, scale = (0, max(highest, 1e-12)), {"functions": (_root, np.square)}
    if which == "x":
        axes.set_xscale("function", **scale)
        axes.set_xlim(*limits)
    else:
        axes.set_yscale("function", **scale)
        axes.set_ylim(*limits)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(root_ticks(highest))
    axis.set_major_formatter(lambda value, _: _tick(value))
    axes.minorticks_off()


def _root(values: Any) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.maximum(values, 0.0)))


def root_ticks(highest: float) -> list[float]:
    """Round numbers up to the highest, so far apart that their digits do not touch.

    >>> root_ticks(0.09), root_ticks(0.02)
    ([0.0, 0.005, 0.02, 0.05], [0.0, 0.001, 0.005, 0.01, 0.02])
    """
    if not highest > 0:
        return [0.0]
    power = np.floor(np.log10(highest))
    round_ones = [step * 10**e for e in np.arange(power, power - 4, -1) for step in STEPS[::-1]]
    kept: list[float] = []
    for value in (float(f"{one:g}") for one in round_ones if one <= highest):
        neighbors = [0.0, *kept[-1:]]
        if all(
            abs(np.sqrt(value) - np.sqrt(one)) >= _room(value, one, highest) for one in neighbors
        ):
            kept.append(value)
    return [0.0, *kept[::-1]]


def _room(one: float, other: float, highest: float) -> float:
    """What two ticks need between them, on an axis that is spaced by the root."""
    letters = sum(len(_tick(value)) for value in (one, other)) / 2
    return float(np.sqrt(highest)) * max(0.18, 0.03 + LETTER * letters)


def _tick(value: float) -> str:
    """The words of a tick.

    >>> _tick(0.00002)
    '2e-5'
    """
    return f"{value:g}".replace("e-0", "e-")


def is_by_root(question: str) -> bool:
    """Whether a question's axis is spaced by the root: those by PQ.

    >>> is_by_root("average_odds.pq"), is_by_root("average_odds.gini")
    (True, False)
    """
    return question.partition(" ")[0].endswith(".pq")


def window(
    values: Any, *, low_is_good: bool = False, reach: float = REACH, start: float | None = None
) -> tuple[float, float]:
    """Limits that show the better three quarters well, and of the others what is not too far.

    No point is at the edge; where some are beyond it, a strip is free for their arrows. `start` is
    where the axis begins, if not at the best value.

    >>> window(np.array([0.70, 0.71, 0.72, 0.72, 0.10]))
    (0.696, 0.7214)
    >>> window(np.array([0.70, 0.71, 0.72, 0.72, 0.69]))
    (0.6879, 0.7221)
    """
    sign = -1.0 if low_is_good else 1.0
    seen = sign * np.asarray(values, dtype=np.float64)
    quarter, best, least = (float(np.quantile(seen, at)) for at in (0.25, 1.0, 0.0))
    worst = least
    if np.isfinite(reach):
        worst = max(worst, quarter - reach * max(best - quarter, 1e-9))
    first = best if start is None else sign * start
    if first - least <= NEAR * (first - worst):
        worst = least
    span = max(best - worst, 1e-3 * abs(best), 1e-4)  # also where all are equal
    shown = float(seen[seen >= worst].min())
    while (near := float(seen[seen >= shown - STRIP * span].min())) < shown:
        shown, span = near, max(best - near, span)
    span = max(best - shown, 1e-3 * abs(best), 1e-4)
    below = STRIP if (seen < shown).any() else MARGIN
    ends = sorted((sign * (shown - below * span), sign * (best + MARGIN * span)))
    return round(ends[0], 6), round(ends[1], 6)
