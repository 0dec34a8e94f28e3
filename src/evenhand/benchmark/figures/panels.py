"""Trade-offs as panels: performance over a criterion, a line for each method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from evenhand.benchmark.figures.theme import PERFORMANCES, SOFT, Style, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evenhand.benchmark.scoring.results import Results

WIDTH, HEIGHT, LEGEND = 2.55, 2.15, 0.23  # inches, of a panel and of a legend's line
STEPS = (1.0, 2.0, 5.0)  # round ticks
KEYS = ["problem", "base", "method", "constraint", "hyperparameter"]


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
    title : str, optional
        By default what the theme calls the problem.

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
    title: str | None = None

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


def grid(results: Results, rows: Rows, theme: Theme) -> Grid:
    """Draw panels in rows, with one legend for all.

    Parameters
    ----------
    results : Results
        What is drawn; no score is computed.
    rows : sequence of sequences of Panel
        The panels from top to bottom and left to right; rows may have different lengths.
    theme : Theme
        Names and styles.

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
    points = _points(results, panels, theme)
    lines = sorted({name for table in points for name in table["series"]}, key=theme.place)
    wide = max(map(len, rows))
    figure = framed(len(rows), wide, len(lines))
    places = figure.subplots(len(rows), wide, squeeze=False)
    kept = [list(row[: len(panels)]) for row, panels in zip(places, rows, strict=True)]
    for row, axes in zip(rows, places, strict=True):
        for spare in axes[len(row) :]:
            spare.remove()
    every = [axes for row in kept for axes in row]
    marked = results.stand_ins
    for panel, table, axes in zip(panels, points, every, strict=True):
        _panel(axes, panel, table, theme, marked=panel.problem in marked)
    _share_heights(panels, points, every)
    _drop_repeated(rows, kept)
    legend(figure, lines, theme)
    data = pd.concat(points, ignore_index=True)
    return Grid(figure, data, _missing(panels, points, theme))


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
    return points.assign(x_question=panel.x).reset_index(drop=True)


def framed(rows: int, columns: int, lines: int) -> Figure:
    """A figure with room for its panels and for a legend below them."""
    height = rows * HEIGHT + LEGEND * (1 + lines // (2 * columns)) + 0.2
    return Figure(figsize=(columns * WIDTH, height), layout="constrained")


def _panel(axes: Axes, panel: Panel, points: Any, theme: Theme, marked: bool) -> None:
    title = theme.problem(panel.problem) if panel.title is None else panel.title
    axes.set_title(f"{title}{'†' if marked else ''}", loc="left")
    axes.set_xlabel(theme.question(panel.x))
    axes.set_ylabel(theme.question(panel.y))
    if points.empty:
        blank(axes)
        return
    for name in sorted(set(points["series"]), key=theme.place):
        _line(axes, points[points["series"] == name], name, theme.style(name))
    highest = float(np.nanmax(points["x"] + points["x_error"].fillna(0)))
    if is_by_root(panel.x):
        by_root(axes, 1.06 * highest)
    else:
        axes.set_xlim(0 if points["x"].min() >= 0 else None, 1.05 * highest)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


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


def legend(figure: Figure, names: Sequence[str], theme: Theme) -> None:
    """The lines by color and marker, below all panels."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **theme.style(name).line) for name in names]
    if handles:
        longest = max(map(len, names))
        wide = max(int(figure.get_size_inches()[0] // max(1.6, 0.5 + 0.07 * longest)), 1)
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
        low, high = window(every, low_is_good=y not in ("accuracy", "r2"))
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
            label = f"{mark} {count} beyond"
            axes.text(0.98, edge, label, transform=axes.transAxes, color=SOFT, fontsize=7, **where)


def _drop_repeated(rows: Rows, places: Sequence[Sequence[Axes]]) -> None:
    """Titles and y labels once, where panels beside each other share them."""
    for row, own in zip(rows, places, strict=True):
        for left, right, axes in zip(row, row[1:], own[1:], strict=False):
            if left.height == right.height:
                axes.set_ylabel("")
                if right.title is None:
                    axes.set_title("", loc="left")
                if axes.lines:
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
    table = results.query(
        'select problem, base, method, coalesce("constraint", \'\') as "constraint", '
        "hyperparameter, question, avg(value) as mean, "
        "stddev_samp(value) / sqrt(count(value)) as error, count(value) as seeds from results "
        f"where lot = 'expected' and {where} and not isnan(value) group by all order by all"
    )
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
    """Space an axis by its square root, from 0, with round ticks."""
    limits, scale = (0, max(highest, 1e-12)), {"functions": (_root, np.square)}
    if which == "x":
        axes.set_xscale("function", **scale)
        axes.set_xlim(*limits)
    else:
        axes.set_yscale("function", **scale)
        axes.set_ylim(*limits)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(root_ticks(highest))
    axis.set_major_formatter(lambda value, _: f"{value:g}".replace("e-0", "e-"))
    axes.minorticks_off()


def _root(values: Any) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.maximum(values, 0.0)))


def root_ticks(highest: float, apart: float = 0.18) -> list[float]:
    """Round numbers up to the highest, no two close together.

    >>> root_ticks(0.09)
    [0.0, 0.005, 0.02, 0.05]
    """
    if not highest > 0:
        return [0.0]
    power = np.floor(np.log10(highest))
    round_ones = [step * 10**e for e in np.arange(power, power - 4, -1) for step in STEPS[::-1]]
    kept: list[float] = []
    limit = float(np.sqrt(highest))
    for value in round_ones:
        previous = np.sqrt(kept[-1]) if kept else np.inf
        root = float(np.sqrt(value))
        if value <= highest and previous - root >= apart * limit and root >= apart * limit:
            kept.append(float(f"{value:g}"))
    return [0.0, *kept[::-1]]


def is_by_root(question: str) -> bool:
    """Whether a question's axis is spaced by the root: those by PQ.

    >>> is_by_root("average_odds.pq"), is_by_root("average_odds.gini")
    (True, False)
    """
    return question.partition(" ")[0].endswith(".pq")


def window(values: Any, *, low_is_good: bool = False, reach: float = 4.0) -> tuple[float, float]:
    """Limits that show the better three quarters well, and of the others what is not too far.

    >>> window(np.array([0.70, 0.71, 0.72, 0.72, 0.10]))
    (0.613, 0.727)
    """
    sign = -1.0 if low_is_good else 1.0
    seen = sign * np.asarray(values, dtype=np.float64)
    quarter, best = float(np.quantile(seen, 0.25)), float(seen.max())
    worst = max(float(seen.min()), quarter - reach * max(best - quarter, 1e-9))
    margin = 0.07 * max(best - worst, 1e-3 * abs(best), 1e-4)  # also where all are equal
    ends = sorted((sign * (worst - margin), sign * (best + margin)))
    return round(ends[0], 6), round(ends[1], 6)
