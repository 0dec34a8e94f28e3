"""A criterion: a statistic that should be equal, how unequal it is, and over which cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import _sweep as sweep
from evenhand import measures
from evenhand._columns import Label
from evenhand._distributions import Distribution, RankedScores
from evenhand._errors import InputError, InputTypeError
from evenhand._groups import show
from evenhand._tally import Tally
from evenhand.measures import Aggregate, Measure
from evenhand.statistics import STATISTICS, E, F, Statistic, Table
from evenhand.statistics.kinds import Rows, Source, summarize


@dataclass(frozen=True, eq=False)
class Reading:
    """A value, the inequality in each cell, and the statistic of each group in each cell."""

    criterion: str
    measure: str
    aggregate: str
    transform: str | None
    value: Any
    cell_values: NDArray[np.float64]
    table: NDArray[np.float64]
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]

    def __float__(self) -> float:
        return float(self.value)

    @property
    def worst_cell(self) -> Label:
        """The cell with the largest inequality."""
        if np.isnan(self.cell_values).all():
            return None
        return self.cells[int(np.nanargmax(self.cell_values))]

    @property
    def left_out(self) -> tuple[tuple[Label, Label], ...]:
        """The (cell, group) pairs where the statistic is undefined; the group is left out there."""
        if not self.cells:
            return ()
        shape = (-1, *self.table.shape[-2:])
        where = np.argwhere(np.isnan(self.table).reshape(shape).any(axis=0))
        return tuple((self.cells[cell], self.groups[group]) for cell, group in where)

    def __str__(self) -> str:
        how = f", {self.transform} transform" if self.transform else ""
        value = np.array2string(np.asarray(self.value), precision=4, threshold=6)
        if np.ndim(self.value) == 0:
            value = f"{self.value:.4g}"
        head = f"{self.criterion} = {value} ({self.measure}{how}, {self.aggregate})"
        names = [f"{show(group)} at {show(cell)}" for cell, group in self.left_out]
        return f"{head}; undefined and left out: {', '.join(names)}" if names else head


@dataclass(frozen=True)
class How:
    """Measure, aggregate, transform and least pooled F, as asked for."""

    measure: str | Measure
    aggregate: str | Aggregate
    transform: str | None = None
    tau: float | None = None

    @property
    def function(self) -> Measure:
        """The measure itself."""
        return measures.resolve(self.measure)

    @property
    def applied(self) -> str | None:
        """The transform; "raw" is none, even where one is the habit."""
        return None if self.transform == "raw" else self.transform

    def check(self, *, sweeps: bool) -> None:
        """Refuse a transform that does not exist, and what only distributions know."""
        if self.transform not in (None, "raw", *measures.TRANSFORMS):
            known = ["raw", *measures.TRANSFORMS]
            raise InputError(f"There is no transform {self.transform!r}; there are {known}.")
        if sweeps and self.aggregate not in ("worst", "integral"):
            raise InputError(
                f"Over cut points the aggregate is 'worst' or 'integral', not {self.aggregate!r}."
            )
        if self.tau is not None and not sweeps:
            raise InputError("tau is for 'strong_parity': the least pooled F of a cut point.")

    def for_supremum(self) -> How:
        """On raw CDFs a scale-free supremum is degenerate: exponentiate, unless told otherwise."""
        if self.transform is None and self.tau is None and measures.is_scale_free(self.function):
            return replace(self, transform="exp")
        return self

    def reading(self, name: str, value: Any, cells: Any, table: Table) -> Reading:
        """The answer, with how it was asked."""
        used = self.applied if measures.is_scale_free(self.function) else None
        asked = (name_of(self.measure), name_of(self.aggregate), used)
        return Reading(name, *asked, value, cells, table.values, table.cells, table.groups)


def name_of(thing: Any) -> str:
    """The name of a measure or aggregate, with the arguments it was given.

    >>> name_of(partial(measures.pq, p=0.5))
    'pq(p=0.5)'
    """
    if isinstance(thing, partial):
        named = [f"{key}={value}" for key, value in thing.keywords.items()]
        return f"{name_of(thing.func)}({', '.join([*map(str, thing.args), *named])})"
    return thing if isinstance(thing, str) else getattr(thing, "__name__", repr(thing))


KINDS: dict[str, type[Any]] = {"steps": Distribution, "ranks": RankedScores}


@dataclass(frozen=True)
class Criterion:
    """A statistic of each group that should be equal; 0 is equal, larger is worse.

    `one_class` marks a question about the favorable class alone when there are two classes;
    with more classes, and no favorable one named, it is asked of each class in turn.
    """

    name: str
    statistic: Statistic
    is_not: str
    measure: str = "pq"
    across: str = "worst"
    one_class: bool = False
    takes_g: bool = False

    def __call__(self, y_true: Any, y_pred: Any = None, **options: Any) -> Any:
        """Its value for a tally (or distribution), or for columns; options as for `read`.

        >>> from evenhand import CRITERIA, tally
        >>> counts = tally([1, 0, 1, 1], [1, 0, 0, 1], sensitive_features=["a", "a", "b", "b"])
        >>> CRITERIA["statistical_parity"](counts, measure="mpd")
        0.0
        """
        value = self.read(y_true, y_pred, **options).value
        return float(value) if np.ndim(value) == 0 else value

    def read(
        self,
        y_true: Any,
        y_pred: Any = None,
        *,
        measure: str | Measure | None = None,
        aggregate: str | Aggregate | None = None,
        g: str | Callable[[Any, Any], Any] | None = None,
        transform: str | None = None,
        tau: float | None = None,
        favorable: Label = None,
        **columns: Any,
    ) -> Reading:
        """Its value with the cells, the table and what was left out.

        `y_true` may be a Tally or Distribution that was made before; then it is all that is read.
        The other columns, and what the options mean, are those of `evaluate`.
        """
        asked, source = self.with_statistic(g), y_true
        if not isinstance(y_true, Tally | Distribution | RankedScores):
            rows = Rows(
                y_true, y_pred, favorable=favorable, loss=g if callable(g) else None, **columns
            )
            source = summarize(asked.statistic.needs, rows)
        asked.check(source)
        how = asked.how(measure, aggregate, transform, tau)
        if isinstance(asked.statistic, F):
            return asked._sweep(source, how)
        return asked.reading(asked.table(source, favorable), how)

    def how(
        self,
        measure: str | Measure | None = None,
        aggregate: str | Aggregate | None = None,
        transform: str | None = None,
        tau: float | None = None,
    ) -> How:
        """How it is asked, with its own habits where nothing is said."""
        how = How(measure or self.measure, aggregate or self.across, transform, tau)
        how.check(sweeps=isinstance(self.statistic, F))
        return how

    @property
    def formula(self) -> str:
        """The criterion in symbols; S is the measure, a runs over the groups.

        >>> from evenhand import CRITERIA
        >>> print(CRITERIA["equal_opportunity"].formula)
        worst over c of S over a of tp / (tp + fn)
        """
        over = self.statistic.over
        each = {"integral": "∫ dt ", "": ""}.get(
            self.across if over else "", f"{self.across} over {over} of "
        )
        return f"{each}S over a of {self.statistic.formula}"

    @property
    def range(self) -> str:
        """Between which values it lies, by measure, for d groups."""
        low, high = self.statistic.bounds
        most = f"{high - low:g}".replace("inf", "∞")
        unit = ", times the range of ŷ" if self.across == "integral" else ""
        return f"0 to {most} by MPD, 1 − 1/d by Gini, 1 − 1/√d by PQ(1, 2), 1 by shortfall{unit}"

    direction = "0: the groups are equal in this respect; larger: less equal"

    def __str__(self) -> str:
        return f"{self.name}: {self.formula}"

    def with_statistic(self, g: str | Callable[[Any, Any], Any] | None) -> Criterion:
        """The same criterion of another statistic, where it takes one."""
        if g is None:
            return self
        if not self.takes_g:
            raise InputError(f"{self.name} has its own statistic; g= is for 'performance_parity'.")
        if callable(g):
            return replace(self, statistic=E("loss", needs="losses", bounds=(-np.inf, np.inf)))
        if g not in STATISTICS:
            raise InputError(f"There is no statistic g={g!r}; there are {list(STATISTICS)}.")
        return replace(self, statistic=STATISTICS[g])

    def check(self, source: Source) -> None:
        """Refuse a summary of the rows that does not hold what the statistic reads."""
        kind = KINDS.get(self.statistic.needs, Tally)
        if not isinstance(source, kind):
            raise InputTypeError(
                f"{self.name} reads a {kind.__name__}, not a {type(source).__name__}: "
                f"{self.statistic.formula} cannot be had from it."
            )

    def table(self, source: Source, favorable: Label = None) -> Table:
        """The statistic's table; of the favorable class alone where the question is about one."""
        table = self.statistic.read(source)
        by_class = self.statistic.over.endswith("c")
        asks_one = self.one_class and len(table.cells) == 2
        if not by_class or (favorable is None and not asks_one):
            return table
        classes = tuple(dict.fromkeys(class_of(cell) for cell in table.cells))
        return _only(table, _favorable(classes, favorable))

    def reading(self, table: Table, how: How) -> Reading:
        """The answer, from the statistic's table."""
        measure = measures.transformed(how.function, how.applied)
        cells = np.asarray(measure(table.values))
        value = measures.resolve_aggregate(how.aggregate)(cells)
        return how.reading(self.name, value, cells, table)

    def _sweep(self, source: Distribution, how: How) -> Reading:
        if how.aggregate == "integral":
            value = sweep.integral(source, how.function, transform=how.applied)
            whole = Table(np.empty((0, len(source.groups))), (), source.groups)
            return how.reading(self.name, value, np.array([]), whole)
        how = how.for_supremum()
        peak = sweep.supremum(source, how.function, transform=how.applied, tau=how.tau or 0.0)
        table = Table(peak.levels[None, :], (peak.at,), source.groups)
        return how.reading(self.name, peak.value, np.array([peak.value]), table)


def _favorable(cells: tuple[Label, ...], favorable: Label) -> Label:
    if favorable is None and cells in ((0, 1), (-1, 1)):
        return cells[1]
    if favorable not in cells:
        raise InputError(
            f"The favorable label {favorable!r} is not among the labels {list(cells)}. "
            "Say which label is favorable: pass favorable=."
            if favorable is not None
            else f"Which of the labels {list(cells)} is the favorable one? Pass favorable=."
        )
    return favorable


def _only(table: Table, cell: Label) -> Table:
    """The cells about one class."""
    at = [i for i, one in enumerate(table.cells) if class_of(one) == cell]
    return Table(table.values[..., at, :], tuple(table.cells[i] for i in at), table.groups)


def class_of(cell: Label) -> Label:
    """The class a cell is about: of a pair (given, class), the second."""
    return cell[1] if isinstance(cell, tuple) else cell
