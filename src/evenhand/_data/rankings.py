"""Rankings as rows: the place in a list gives each row numbers that add up.

A row is an item in a list. Its place gives it exposure, a share of the first k places, and pairs
with less relevant rows of its list, some of which rank below it. All these are numbers of single
rows, so statistics of rankings are means and ratios of sums, and the query is the cluster. Lists
are ordered and summed by query and group in batches that stay in the processor's cache.
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
from evenhand._columns.encoding import check_lengths, weights, whole_numbers
from evenhand._data.counting import fused, measurable, products
from evenhand._data.groups import Groups, clusters
from evenhand._data.pairs import Segments, is_new, pairs
from evenhand._data.places import (
    ROWS_TOGETHER,
    Batch,
    Discount,
    Exposure,
    Irregularities,
    Lists,
    Order,
    Ranks,
    Scores,
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
Sides = tuple[Floats, ...]  # pairs that a row wins, and all its pairs

MOST_LEVELS = 1 << 16  # of relevance as given; more levels, or fractions, are numbered by sorting


def ranking(
    relevance: Any,
    rank: Any,
    group: Groups,
    *,
    query: Any,
    score: Any = None,
    exposure: Any = None,
    discount: Discount = "log",
    top_k: int | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
) -> Tally:
    """Sum, by group and query, what criteria of rankings need."""
    check_top(top_k)
    lists = lists_of(query)
    places = places_of(rank, score, lists)
    measured = None if exposure is None else _not_negative(exposure, "exposure")
    merit = None if relevance is None else _not_negative(relevance, "y_true")
    check_lengths(query=lists.codes, y_pred=places, sensitive_features=group.codes,
                  exposure=measured, y_true=merit)  # fmt: skip
    together = {"query": lists.query, **({} if cluster is None else clusters(cluster))}
    weight, unsampled = _weights(sample_weight)
    check_lengths(**together, sample_weight=weight)
    coded = {**clusters(together), "group": Column(group.codes, group.labels)}
    axes = tuple(Axis(name, column.labels) for name, column in coded.items())
    sizes = [axis.size for axis in axes[:-1]] + [axes[-1].size + 1]  # the last is for rows left out
    codes = [column.codes for column in coded.values()]
    attention = Exposure(discount_of(discount), places.longest) if measured is None else measured
    items = Items(lists, places, codes, sizes, attention, merit, top_k, weight, unsampled)
    parts = list(items.parts())
    flat = np.concatenate([part.cells for part in parts]).astype(np.intp)
    cells = np.array(np.unravel_index(flat, sizes), dtype=np.intp)
    kept = cells[-1] < axes[-1].size
    sums = {
        name: np.concatenate([part.sums[name] for part in parts])[kept] for name in parts[0].sums
    }
    notes = (*group.notes, *places.notes([part.irregularities for part in parts], lists))
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
    """Sums over the rows of some lists, by cell, with irregularities of these lists.

    `alone` is the number of lists with rows of one group only.
    """

    cells: NDArray[Any]
    sums: Sums
    irregularities: Irregularities
    alone: int


@dataclass(frozen=True, eq=False)
class Items:
    """All rows with their columns; codes are in the order of the axes, the group's last."""

    lists: Lists
    places: Ranks | Scores
    codes: Sequence[NDArray[Any]]
    sizes: Sequence[int]
    exposure: Exposure | Numbers
    relevance: Numbers | None
    top_k: int | None
    weight: Floats | None
    left: Floats | None

    def parts(self) -> Iterator[Part]:
        """The sums of each batch of lists."""
        for batch in self.lists.batches():
            yield self._added(batch, self.places.order(batch))

    def _added(self, batch: Batch, by_list: Order) -> Part:
        key = by_list.list_of * self.sizes[-1] + self.codes[-1][batch.rows][by_list.rows]
        by_group = radix_order(key)
        order, key = by_list.arranged(by_group), key[by_group]  # by list, group and place
        segments = Segments(np.flatnonzero(is_new(key)), len(key))
        cells = segments
        if len(self.codes) > 2:  # clusters other than the query
            other_clusters = [column[batch.rows][order.rows] for column in self.codes[1:-1]]
            cells = Segments(np.flatnonzero(is_new(segments.of_row, *other_clusters)), len(key))
        weight = None if self.weight is None else self.weight[batch.rows][order.rows]
        values, line = self._by_place(batch, order)
        sums: Sums = {}
        if self.relevance is not None:
            merit = self.relevance[batch.rows]
            level = _levels(merit)[by_list.rows]
            won = pairs(batch.segments, level, by_list.tied)
            level = level[by_group]
            won_within = pairs(segments, level, order.tied)
            relevant = np.flatnonzero(level)  # no other row has gain, or pairs
            terms = _of_relevant(
                merit[order.rows[relevant]].astype(np.float64),
                values["exposure"][relevant if line is None else line[relevant]],
                tuple(side[by_group[relevant]] for side in won),
                tuple(side[relevant] for side in won_within),
            )
            sums |= Totals.of_some(cells, relevant)(
                terms, None if weight is None else weight[relevant]
            )
        sums |= Totals.of_all(cells)(values, weight, line)
        if weight is not None and self.left is not None:
            unsampled = weight**2 * self.left[batch.rows][order.rows]
            sums |= Totals.of_all(cells)({"fpc": unsampled})
        sums["rows"] = cells.sizes
        if isinstance(self.exposure, Exposure):
            of_all = cells.sizes if weight is None else sums["weight"]
            sums["attention"] = self.exposure.attention.largest * of_all
        first = order.rows[cells.starts]
        codes = [column[batch.rows][first] for column in self.codes]
        alone = int((np.bincount(order.list_of[segments.starts]) == 1).sum())
        return Part(fused(codes, self.sizes), sums, order.irregularities, alone)

    def _by_place(self, batch: Batch, order: Order) -> tuple[Sums, Places | None]:
        """The values of each row's place; or of each place, with the place of each row."""
        if not isinstance(self.exposure, Exposure):
            exposure = self.exposure[batch.rows][order.rows].astype(np.float64)
            return self._with_powers(exposure, order), None
        if order.last is None and self.places.longest <= ROWS_TOGETHER:
            return self._of_places, order.first
        return self._with_powers(self.exposure.by_row(order), order), None

    @cached_property
    def _of_places(self) -> Sums:
        """The values of each place, after zeros for rows that were not shown."""
        assert isinstance(self.exposure, Exposure)
        places = np.arange(self.places.longest + 1)
        order = Order(places, np.zeros_like(places), places)
        return self._with_powers(self.exposure.by_row(order), order)

    def _with_powers(self, exposure: Floats, order: Order) -> Sums:
        values = {"exposure": exposure, **_powers("exposure", exposure)}
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
        """Totals of all rows."""
        return cls(cells.starts, np.arange(len(cells.starts)), len(cells.starts))

    @classmethod
    def of_some(cls, cells: Segments, rows: Places) -> Totals:
        """Totals of some rows, in ascending order."""
        which = cells.of_row[rows]
        starts = np.flatnonzero(is_new(which))
        return cls(starts, which[starts], len(cells.starts))

    def __call__(
        self, values: Mapping[str, Floats], weight: Floats | None = None, line: Places | None = None
    ) -> Sums:
        """Sums by name, times powers of the weight; a column under several names is summed once.

        The values are those of rows, or of lines of a table that `line` assigns to rows.
        """
        columns: Mapping[str, Floats] = values
        if weight is not None:
            if line is not None:
                values, line = (
                    {name: column_values[line] for name, column_values in values.items()},
                    None,
                )
            columns = {
                name: column_values[:] for name, column_values in products(values, weight).items()
            }
        distinct = {id(column): column for column in columns.values()}
        total = np.zeros((len(distinct), self.number))
        if line is not None:
            from scipy import sparse  # here, so that `import evenhand` stays quick

            table = np.column_stack([*distinct.values()])
            ends = np.append(self.starts, len(line))
            rows = sparse.csr_matrix((np.ones(len(line)), line, ends), (len(ends) - 1, len(table)))
            total[:, self.cells] = (rows @ table).T
        elif len(self.starts):
            for column, sums in zip(distinct.values(), total, strict=True):
                sums[self.cells] = np.add.reduceat(column, self.starts)
        totals = dict(zip(distinct, total, strict=True))
        return {name: totals[id(column)] for name, column in columns.items()}


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
    """Note that lists have rows of one group alone."""
    if not alone:
        return ()
    holds = "holds" if alone == 1 else "hold"
    return (
        f"{alone:,} of {lists:,} lists {holds} one group alone. Such lists do not show which group "
        "is ahead, but their rows count; in a short list each has more exposure.",
    )


def _not_negative(values: Any, name: str) -> Numbers:
    """A column of numbers that are at least 0; integers as they are."""
    integers = whole_numbers(values)
    column = measurable(values, name) if integers is None else integers
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
    """Relevance as small whole numbers in the same order; 0 is none."""
    if merit.max(initial=0) < MOST_LEVELS:
        level = merit.astype(np.uint16)
        if merit.dtype.kind != "f" or np.array_equal(level, merit):
            return level
    return np.unique(np.append(merit, 0), return_inverse=True)[1][:-1]


def _of_relevant(merit: Floats, exposure: Floats, all_pairs: Sides, within_group: Sides) -> Sums:
    """Relevance of rows with their gain and the pairs that they win."""
    gain = exposure * merit
    sums = {"relevance": merit, "relevance²": merit * merit, "exposure·relevance": gain}
    sums |= {"gain": gain, "gain²": gain * gain, "gain·relevance": gain * merit}
    across_groups = (all_pairs[0] - within_group[0], all_pairs[1] - within_group[1])
    for end, (won, total) in (
        ("", all_pairs),
        (" within", within_group),
        (" across", across_groups),
    ):
        sums |= {f"pairs{end}": total, f"won{end}": won}
        sums |= {
            f"won{end}²": won * won,
            f"won{end}·pairs{end}": won * total,
            f"pairs{end}²": total * total,
        }
    return sums
