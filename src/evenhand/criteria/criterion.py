"""A criterion: a statistic that should be equal, how unequal it is, and over which cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand import aggregates, measures, sweep
from evenhand.aggregates import Aggregate
from evenhand.columns import Label
from evenhand.criteria.how import How
from evenhand.criteria.reading import Reading
from evenhand.distributions import Distribution, RankedScores
from evenhand.measures import Measure
from evenhand.sources import Rows, Source, summarise
from evenhand.statistics import STATISTICS, E, F, Statistic, Table
from evenhand.tally import Tally

KINDS: dict[str, type[Any]] = {"steps": Distribution, "ranks": RankedScores}


@dataclass(frozen=True)
class Criterion:
    """A statistic of each group that should be equal; 0 is equal, larger is worse.

    `one_class` marks a question about the favourable class alone when there are two classes;
    with more classes, and no favourable one named, it is asked of each class in turn.
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
        favourable: Label = None,
        **columns: Any,
    ) -> Reading:
        """Its value with the cells, the table and what was left out.

        `y_true` may be a Tally or Distribution that was made before; then it is all that is read.
        The other columns, and what the options mean, are those of `evaluate`.
        """
        asked, source = self.with_statistic(g), y_true
        if not isinstance(y_true, Tally | Distribution | RankedScores):
            rows = Rows(
                y_true, y_pred, favourable=favourable, loss=g if callable(g) else None, **columns
            )
            source = summarise(asked.statistic.needs, rows)
        asked.check(source)
        how = asked.how(measure, aggregate, transform, tau)
        if isinstance(asked.statistic, F):
            return asked._sweep(source, how)
        return asked.reading(asked.table(source, favourable), how)

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
            raise ValueError(f"{self.name} has its own statistic; g= is for 'performance_parity'.")
        if callable(g):
            return replace(self, statistic=E("loss", needs="losses", bounds=(-np.inf, np.inf)))
        if g not in STATISTICS:
            raise ValueError(f"There is no statistic g={g!r}; there are {list(STATISTICS)}.")
        return replace(self, statistic=STATISTICS[g])

    def check(self, source: Source) -> None:
        """Refuse a summary of the rows that does not hold what the statistic reads."""
        kind = KINDS.get(self.statistic.needs, Tally)
        if not isinstance(source, kind):
            raise TypeError(
                f"{self.name} reads a {kind.__name__}, not a {type(source).__name__}: "
                f"{self.statistic.formula} cannot be had from it."
            )

    def table(self, source: Source, favourable: Label = None) -> Table:
        """The statistic's table; of the favourable class alone where the question is about one."""
        table = self.statistic.read(source)
        by_class = self.statistic.over.endswith("c")
        asks_one = self.one_class and len(table.cells) == 2
        if not by_class or (favourable is None and not asks_one):
            return table
        classes = tuple(dict.fromkeys(class_of(cell) for cell in table.cells))
        return _only(table, _favourable(classes, favourable))

    def reading(self, table: Table, how: How) -> Reading:
        """The answer, from the statistic's table."""
        measure = measures.transformed(how.function, how.applied)
        cells = np.asarray(measure(table.values))
        value = aggregates.resolve(how.aggregate)(cells)
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


def _favourable(cells: tuple[Label, ...], favourable: Label) -> Label:
    if favourable is None and cells in ((0, 1), (-1, 1)):
        return cells[1]
    if favourable not in cells:
        raise ValueError(
            f"The favourable label {favourable!r} is not among the labels {list(cells)}. "
            "Say which label is favourable: pass favourable=."
            if favourable is not None
            else f"Which of the labels {list(cells)} is the favourable one? Pass favourable=."
        )
    return favourable


def _only(table: Table, cell: Label) -> Table:
    """The cells about one class."""
    at = [i for i, one in enumerate(table.cells) if class_of(one) == cell]
    return Table(table.values[..., at, :], tuple(table.cells[i] for i in at), table.groups)


def class_of(cell: Label) -> Label:
    """The class a cell is about: of a pair (given, class), the second."""
    return cell[1] if isinstance(cell, tuple) else cell
