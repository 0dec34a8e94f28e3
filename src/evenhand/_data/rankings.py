"""Rankings as rows: what the place in a list gives each row, which then adds up like all else.

A row is an item in a list. Its place gives it exposure, a share of the first k places, and pairs
with less relevant rows of its list, of which some stand below it. All of that are numbers of single
rows, so statistics of rankings are means and ratios of sums, and the query is the cluster. Some
lists at a time are put in order and added up by query and group, so that they stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.codes import radix_order
from evenhand._columns.encoding import check_lengths, finite, weights, whole_numbers
from evenhand._data.counting import fused, products
from evenhand._data.groups import Groups, clusters
from evenhand._data.pairs import Segments, is_new, pairs
from evenhand._data.places import (
    ROWS_TOGETHER,
    Discount,
    Exposure,
    Lists,
    Notable,
    Order,
    Ranks,
    Scores,
    Some,
    discount_of,
    lists_of,
    places_of,
)
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tallies import Axis, Tally, gathered
from evenhand._errors import InputError, InputTypeError
from evenhand._words import plural

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Numbers = NDArray[Any]  # integers as they are, or floats
Sums = dict[str, NDArray[Any]]
Sides = tuple[Floats, ...]  # pairs that a row wins, and all that it has

MOST_LEVELS = 1 << 16  # of relevance as it is; more, or fractions, are numbered by sorting


def ranking(
    relevance: Any,
    rank: Any,
    whom: Groups,
    *,
    query: Any,
    score: Any = None,
    exposure: Any = None,
    discount: Discount = "log",
    top_k: int | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
) -> Tally:
    """Add up, by group and query, what criteria of rankings need."""
    check_top(top_k)
    lists = lists_of(query)
    places = places_of(rank, score, lists)
    seen = None if exposure is None else _not_negative(exposure, "exposure")
    merit = None if relevance is None else _not_negative(relevance, "y_true")
    check_lengths(query=lists.codes, y_pred=places, sensitive_features=whom.codes,
                  exposure=seen, y_true=merit)  # fmt: skip
    together = {"query": lists.query, **({} if cluster is None else clusters(cluster))}
    weight, left = _weights(sample_weight)
    check_lengths(**together, sample_weight=weight)
    coded = {**clusters(together), "group": Column(whom.codes, whom.labels)}
    axes = tuple(Axis(name, column.labels) for name, column in coded.items())
    sizes = [axis.size for axis in axes[:-1]] + [axes[-1].size + 1]  # the last is for rows left out
    codes = [column.codes for column in coded.values()]
    given = Exposure(discount_of(discount), places.longest) if seen is None else seen
    items = Items(lists, places, codes, sizes, given, merit, top_k, weight, left)
    parts = list(items.some())
    flat = np.concatenate([part.cells for part in parts]).astype(np.intp)
    cells = np.array(np.unravel_index(flat, sizes), dtype=np.intp)
    kept = cells[-1] < axes[-1].size
    sums = {
        name: np.concatenate([part.sums[name] for part in parts])[kept] for name in parts[0].sums
    }
    notes = (*whom.notes, *places.notes([part.notable for part in parts], lists))
    notes += _notes(sum(part.alone for part in parts), len(lists.names))
    if top_k is not None and top_k >= places.longest:
        notes += (
            f"No list has more than {plural(places.longest, 'place')}, so all of them are among "
            f"the first {top_k}: pass a smaller top_k=.",
        )
    return gathered(axes, cells[:, kept], sums, notes)


def check_top(top_k: Any) -> None:
    """Refuse what is not a number of places."""
    if top_k is None:
        return
    if isinstance(top_k, bool) or not isinstance(top_k, int | np.integer):
        raise InputTypeError(f"top_k must be a whole number of places, not {top_k!r}.")
    if top_k < 1:
        raise InputError(f"top_k is how many first places count, at least 1; it is {top_k}.")


class Part(NamedTuple):
    """Sums over the rows of some lists, by cell, and what is to be noted of these lists.

    `alone` is how many of them have rows of one group only.
    """

    cells: NDArray[Any]
    sums: Sums
    notable: Notable
    alone: int


@dataclass(frozen=True, eq=False)
class Items:
    """All rows, and what is known of them; the codes are those of the axes, the group's last."""

    lists: Lists
    places: Ranks | Scores
    codes: Sequence[NDArray[Any]]
    sizes: Sequence[int]
    exposure: Exposure | Numbers
    relevance: Numbers | None
    top_k: int | None
    weight: Floats | None
    left: Floats | None

    def some(self) -> Iterator[Part]:
        """The sums of some lists at a time."""
        for some in self.lists.some():
            yield self._added(some, self.places.order(some))

    def _added(self, some: Some, by_list: Order) -> Part:
        key = by_list.list_of * self.sizes[-1] + self.codes[-1][some.rows][by_list.rows]
        by_group = radix_order(key)
        order, key = by_list.arranged(by_group), key[by_group]  # by list, group and place
        segments = Segments(np.flatnonzero(is_new(key)), len(key))
        cells = segments
        if len(self.codes) > 2:  # clusters beside the query
            more = [column[some.rows][order.rows] for column in self.codes[1:-1]]
            cells = Segments(np.flatnonzero(is_new(segments.of_row, *more)), len(key))
        weight = None if self.weight is None else self.weight[some.rows][order.rows]
        values, line = self._by_place(some, order)
        sums: Sums = {}
        if self.relevance is not None:
            merit = self.relevance[some.rows]
            level = _levels(merit)[by_list.rows]
            won = pairs(some.segments, level, by_list.tied)
            level = level[by_group]
            won_within = pairs(segments, level, order.tied)
            relevant = np.flatnonzero(level)  # no other row has gain, or pairs
            known = _of_relevant(
                merit[order.rows[relevant]].astype(np.float64),
                values["exposure"][relevant if line is None else line[relevant]],
                tuple(side[by_group[relevant]] for side in won),
                tuple(side[relevant] for side in won_within),
            )
            sums |= Totals.of_some(cells, relevant)(
                known, None if weight is None else weight[relevant]
            )
        sums |= Totals.of_all(cells)(values, weight, line)
        if weight is not None and self.left is not None:
            left = weight**2 * self.left[some.rows][order.rows]
            sums |= Totals.of_all(cells)({"fpc": left})
        sums["rows"] = cells.sizes
        if isinstance(self.exposure, Exposure):
            of_all = cells.sizes if weight is None else sums["weight"]
            sums["attention"] = self.exposure.attention.most * of_all
        first = order.rows[cells.starts]
        codes = [column[some.rows][first] for column in self.codes]
        alone = int((np.bincount(order.list_of[segments.starts]) == 1).sum())
        return Part(fused(codes, self.sizes), sums, order.notable, alone)

    def _by_place(self, some: Some, order: Order) -> tuple[Sums, Places | None]:
        """What the place in its list gives each row, or each place, and then that of each row."""
        if not isinstance(self.exposure, Exposure):
            shown = self.exposure[some.rows][order.rows].astype(np.float64)
            return self._with_powers(shown, order), None
        if order.last is None and self.places.longest <= ROWS_TOGETHER:
            return self._of_places, order.first
        return self._with_powers(self.exposure.of(order), order), None

    @cached_property
    def _of_places(self) -> Sums:
        """What each place gives, after the 0 of rows that were not shown."""
        assert isinstance(self.exposure, Exposure)
        places = np.arange(self.places.longest + 1)
        order = Order(places, np.zeros_like(places), places)
        return self._with_powers(self.exposure.of(order), order)

    def _with_powers(self, shown: Floats, order: Order) -> Sums:
        values = {"exposure": shown, **_powers("exposure", shown)}
        for name, places in (("top", self.top_k), ("first", 1)):
            if places is not None:
                part = order.within(places)
                values |= {name: part, **_powers(name, part, is_share=order.last is None)}
        return values


class Totals(NamedTuple):
    """Adds up rows of cells: where each cell begins, its place, and their number."""

    starts: Places
    cells: Places
    number: int

    @classmethod
    def of_all(cls, cells: Segments) -> Totals:
        """Of all rows."""
        return cls(cells.starts, np.arange(len(cells.starts)), len(cells.starts))

    @classmethod
    def of_some(cls, cells: Segments, rows: Places) -> Totals:
        """Of some rows, in their order."""
        which = cells.of_row[rows]
        starts = np.flatnonzero(is_new(which))
        return cls(starts, which[starts], len(cells.starts))

    def __call__(
        self, values: Mapping[str, Floats], weight: Floats | None = None, line: Places | None = None
    ) -> Sums:
        """Sums by name, times powers of the weight; one that goes by several names is made once.

        The values are those of rows, or of lines of a table, of which each row has one.
        """
        columns: Mapping[str, Floats] = values
        if weight is not None:
            if line is not None:
                values, line = {name: each[line] for name, each in values.items()}, None
            columns = {name: each[:] for name, each in products(values, weight).items()}
        once = {id(column): column for column in columns.values()}
        total = np.zeros((len(once), self.number))
        if line is not None:
            from scipy import sparse  # here, so that `import evenhand` stays quick

            table = np.column_stack([*once.values()])
            ends = np.append(self.starts, len(line))
            rows = sparse.csr_matrix((np.ones(len(line)), line, ends), (len(ends) - 1, len(table)))
            total[:, self.cells] = (rows @ table).T
        elif len(self.starts):
            for column, sums in zip(once.values(), total, strict=True):
                sums[self.cells] = np.add.reduceat(column, self.starts)
        made = dict(zip(once, total, strict=True))
        return {name: made[id(column)] for name, column in columns.items()}


def _weights(sample_weight: Any) -> tuple[Floats | None, Floats | None]:
    """The weights of rows and, of a survey, the part of its stratum that was not sampled."""
    if not isinstance(sample_weight, SurveyWeights):
        return weights(sample_weight), None
    if sample_weight.scale:
        raise InputError(
            "Rankings are not counted with replicate weights, since rows of a query go together: "
            "make the survey's weights without replicates."
        )
    return sample_weight.weight, sample_weight.left


def _notes(alone: int, lists: int) -> tuple[str, ...]:
    """That lists have rows of one group alone, in words."""
    if not alone:
        return ()
    holds = "holds" if alone == 1 else "hold"
    return (
        f"{alone:,} of {lists:,} lists {holds} one group alone. Such lists do not show which group "
        "is ahead, but their rows count; in a short list each has more exposure.",
    )


def _not_negative(values: Any, name: str) -> Numbers:
    """A column of numbers that are at least 0; integers as they are."""
    whole = whole_numbers(values)
    column = finite(values, name) if whole is None else whole
    if len(column) and column.min() < 0:
        what = "Relevance" if name == "y_true" else "Exposure"
        raise InputError(
            f"{what} is at least 0, and {name} has {column.min():g}. Shift or clip it, so that 0 "
            "means none at all."
        )
    return column


def _powers(name: str, values: Floats, *, is_share: bool = False) -> Sums:
    """Powers that variances need; of a share that is 0 or 1 they are the share."""
    square = values if is_share else values * values
    cube, fourth = (square, square) if is_share else (square * values, square * square)
    return {f"{name}²": square, f"{name}³": cube, f"{name}⁴": fourth}


def _levels(merit: Numbers) -> NDArray[Any]:
    """Relevance as whole numbers in the same order, of few bytes; 0 is none."""
    if merit.max(initial=0) < MOST_LEVELS:
        level = merit.astype(np.uint16)
        if merit.dtype.kind != "f" or np.array_equal(level, merit):
            return level
    return np.unique(np.append(merit, 0), return_inverse=True)[1][:-1]


def _of_relevant(merit: Floats, shown: Floats, every: Sides, within: Sides) -> Sums:
    """What is known beside the relevance of rows: their gain, and the pairs that they win."""
    gain = shown * merit
    sums = {"relevance": merit, "relevance²": merit * merit, "exposure·relevance": gain}
    sums |= {"gain": gain, "gain²": gain * gain, "gain·relevance": gain * merit}
    across = (every[0] - within[0], every[1] - within[1])
    for end, (won, of) in (("", every), (" within", within), (" across", across)):
        sums |= {f"pairs{end}": of, f"won{end}": won}
        sums |= {f"won{end}²": won * won, f"won{end}·pairs{end}": won * of, f"pairs{end}²": of * of}
    return sums
