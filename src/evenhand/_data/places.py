"""Places in lists: the attention they get, and rows in their order, in batches of lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.codes import combine, radix_order
from evenhand._columns.encoding import check_lengths, encode, finite, numbers, whole_numbers
from evenhand._data.groups import columns_of, show
from evenhand._data.pairs import Segments, is_new
from evenhand._errors import InputError
from evenhand._words import plural

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Discount = Literal["log", "inverse"] | float | Sequence[float]
DISCOUNTS: tuple[str, ...] = ("log", "inverse")
MOST_PLACES = 1 << 53  # beyond it numbers with a fraction skip whole ones
ROWS_TOGETHER = 1 << 16  # of whole lists, so that all their columns stay in the processor's cache


class Attention(NamedTuple):
    """The attention that a place gets relative to the first: by name, by a factor, or listed."""

    discount: Any

    def at(self, place: Floats) -> Floats:
        """The attention of places from 1 on; none beyond the end of a list of numbers."""
        if self.discount == "log":
            return np.asarray(1 / np.log2(1 + place))
        if self.discount == "inverse":
            return np.asarray(1 / place)
        if isinstance(self.discount, float):
            return np.asarray(self.discount ** (place - 1))
        listed = np.append(self.discount, 0.0)
        return listed[np.minimum(place, len(listed)).astype(np.intp) - 1]

    @property
    def largest(self) -> float:
        """The largest attention of a place."""
        return max(self.discount) if isinstance(self.discount, tuple) else 1.0

    @property
    def words(self) -> str:
        """The formula, or a description in words.

        >>> Attention("log").words, Attention(0.8).words
        ('1 / log2(1 + place)', '0.8 to the power of place − 1')
        """
        if isinstance(self.discount, str):
            return {"log": "1 / log2(1 + place)", "inverse": "1 / place"}[self.discount]
        if isinstance(self.discount, float):
            return f"{self.discount:g} to the power of place − 1"
        return f"as listed for the first {plural(len(self.discount), 'place')}, then 0"


def discount_of(discount: Any) -> Attention:
    """Read a discount.

    >>> discount_of("log").at(np.array([1.0, 3.0])), discount_of(0.5).at(np.array([1.0, 3.0]))
    (array([1. , 0.5]), array([1.  , 0.25]))
    """
    if isinstance(discount, str):
        if discount in DISCOUNTS:
            return Attention(discount)
    elif isinstance(discount, Real) and not isinstance(discount, bool):
        if 0 < float(discount) < 1:
            return Attention(float(discount))
    elif np.ndim(discount) == 1 and len(discount):
        listed = finite(discount, "discount")
        if (listed >= 0).all() and listed.any():
            return Attention(tuple(listed.tolist()))
    raise InputError(
        f"discount={discount!r} is not 'log' (1 / log2(1 + place)), 'inverse' (1 / place), a "
        "number between 0 and 1 (how many look one place further), or a list of numbers from the "
        "first place on."
    )


class Batch(NamedTuple):
    """Rows of some lists: their positions, segments and numbers, and the names of all lists."""

    rows: slice | Places
    segments: Segments
    lists: NDArray[Any]
    names: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Lists:
    """The list of each row, the name of each list, and the query of each row."""

    codes: NDArray[Any]
    names: Sequence[Any]
    query: Column

    def batches(self) -> Iterator[Batch]:
        """Batches of lists, small enough to stay in the processor's cache.

        Where the rows of every list are consecutive, nothing is sorted.
        """
        heads = np.flatnonzero(is_new(self.codes))
        order = None
        if len(heads) > len(self.names):
            order = radix_order(self.codes)
            heads = np.append(0, np.cumsum(np.bincount(self.codes)))[:-1]
        ends = np.append(heads, len(self.codes))
        begin = 0
        while begin < len(heads):
            reach = np.searchsorted(ends, ends[begin] + ROWS_TOGETHER, "right") - 1
            end = max(begin + 1, int(reach))
            rows = slice(int(ends[begin]), int(ends[end]))
            first = heads[begin:end]
            numbers = self.codes[first if order is None else order[first]]
            positions = rows if order is None else order[rows]
            segments = Segments(first - ends[begin], rows.stop - rows.start)
            yield Batch(positions, segments, numbers, self.names)
            begin = end


def lists_of(query: Any) -> Lists:
    """Read the list of each row; of several columns, the first is the query."""
    if query is None:
        raise InputError("Pass query=, the column that says which list each row is in.")
    columns = columns_of(query, "query").items()
    coded = {str(name): encode(values, str(name)) for name, values in columns}
    if not coded:
        raise InputError("query has no columns; name that of each row's list.")
    for name, column in coded.items():
        if column.missing:
            raise InputError(
                f"{column.missing:,} of {plural(len(column), 'row')} "
                + (
                    f"has no {name}, so it is"
                    if column.missing == 1
                    else f"have no {name}, so they are"
                )
                + " in no list. Drop such rows."
            )
    first = next(iter(coded.values()))
    if len(coded) == 1:
        return Lists(first.codes, first.labels, first)
    check_lengths(**coded)
    codes, rows = combine([(column.codes, len(column.labels)) for column in coded.values()])
    parts = [[column.labels[i] for i in column.codes[rows]] for column in coded.values()]
    return Lists(codes, list(zip(*parts, strict=True)), first)


class Irregularities(NamedTuple):
    """Lists with gaps, as (list, rows, last place), and the number of rows that tie."""

    skips: tuple[tuple[int, int, int], ...] = ()
    ties: int = 0


NONE = Irregularities()


@dataclass(frozen=True, eq=False)
class Order:
    """Rows of some lists, by list and place; tied rows share the places `first` to `last`.

    All but `rows` are in this order. Rows that were not shown have no place: their `first` is 0.
    """

    rows: Places
    list_of: Places
    first: Places
    last: Places | None = None
    irregularities: Irregularities = NONE

    def arranged(self, rows: Places) -> Order:
        """The same in another order within each list."""
        last = None if self.last is None else self.last[rows]
        return Order(self.rows[rows], self.list_of, self.first[rows], last, self.irregularities)

    def within(self, places: int) -> Floats:
        """The share of each row in the first places: 0 or 1, or a fraction where rows tie."""
        if self.last is None:
            return ((self.first > 0) & (self.first <= places)).astype(np.float64)
        size = self.last - self.first + 1
        return np.asarray(np.clip(places - self.first + 1, 0, size) / size)

    @property
    def tied(self) -> Places | None:
        """A number that tied rows of a list share, or None if no rows tie."""
        return None if self.last is None and self.first.min() > 0 else self.first


@dataclass(frozen=True)
class Exposure:
    """The attention that places give to rows."""

    attention: Attention
    longest: int

    @cached_property
    def _total(self) -> Floats:
        return np.cumsum(np.append(0.0, self.attention.at(np.arange(1.0, self.longest + 1))))

    def by_row(self, order: Order) -> Floats:
        """The attention of each row: that of its place, or the mean over the places it ties for."""
        first, last = order.first, order.last
        if last is not None:
            return np.asarray((self._total[last] - self._total[first - 1]) / (last - first + 1))
        return np.where(first > 0, self.attention.at(np.maximum(first, 1.0)), 0.0)


@dataclass(frozen=True, eq=False)
class Ranks:
    """The place of each row, from 1 on, or NaN where it was not shown."""

    ranks: NDArray[Any]
    longest: int
    absent: int

    def __len__(self) -> int:
        return len(self.ranks)

    def notes(self, irregularities: Sequence[Irregularities], lists: Lists) -> tuple[str, ...]:
        """Notes that rows were not shown, or that lists have gaps."""
        notes, skips = [], [skip for name in irregularities for skip in name.skips]
        if skips:
            name, size, last = min(skips)
            notes = [
                f"{plural(len(skips), 'list')} skip{'s' if len(skips) == 1 else ''} places: "
                f"the list {show(lists.names[name])} has {plural(size, 'row')} and a place {last}. "
                "Rows may be missing; exposure is that of the place stated."
            ]
        if self.absent:
            missing = plural(self.absent, "row")
            notes.append(f"{missing} without a place count as not shown: no exposure.")
        return tuple(notes)

    def order(self, batch: Batch) -> Order:
        """The rows of some lists by their places."""
        rank, lists = self.ranks[batch.rows], batch.segments
        if self.absent:
            rank = np.where(np.isnan(rank), self.longest + 1, rank)
        at, owner = rank.astype(np.intp, copy=False), lists.of_row
        before = lists.spread(lists.starts - 1)
        if (at <= lists.spread(lists.sizes)).all():  # each row has a place to be put into
            places = np.arange(len(at))
            order = np.full(len(at), -1)
            order[before + at] = places
            if order.min() >= 0:
                return Order(order, owner, places - before)
        order = radix_order(at)
        order = order[radix_order(owner[order])]
        first = at[order]
        first[first > self.longest] = 0
        same = (first[1:] == first[:-1]) & (owner[1:] == owner[:-1]) & (first[1:] > 0)
        if same.any():
            row = int(np.flatnonzero(same)[0])
            raise InputError(
                f"The place {first[row]} occurs twice in the list "
                f"{show(batch.names[batch.lists[owner[row]]])}. If rows tie, pass their scores as "
                "y_score=; if a query has several lists, name both columns, that of the query "
                "first, in query=."
            )
        last = np.maximum.reduceat(first, lists.starts)
        present = np.add.reduceat((first > 0).astype(np.intp), lists.starts)
        short = last > present
        skips = zip(*(part[short].tolist() for part in (batch.lists, present, last)), strict=True)
        return Order(order, owner, first, irregularities=Irregularities(tuple(skips)))


@dataclass(frozen=True, eq=False)
class Scores:
    """The score of each row: the highest comes first, and equal ones share their places."""

    scores: Floats
    longest: int

    def __len__(self) -> int:
        return len(self.scores)

    def order(self, batch: Batch) -> Order:
        """The rows of some lists by their scores."""
        score = self.scores[batch.rows]
        list_of = batch.segments.of_row
        order = np.argsort(-score)
        order = order[radix_order(list_of[order])]
        score = score[order]
        ties = np.flatnonzero(is_new(list_of, score))
        size = np.diff(np.append(ties, len(score)))
        first = np.repeat(ties, size) - batch.segments.starts[list_of] + 1
        if len(ties) == len(score):
            return Order(order, list_of, first)
        number = int(size[size > 1].sum())
        last = first + np.repeat(size, size) - 1
        return Order(order, list_of, first, last, Irregularities(ties=number))

    def notes(self, irregularities: Sequence[Irregularities], lists: Lists) -> tuple[str, ...]:  # noqa: ARG002
        """Note that rows tie."""
        ties = sum(item.ties for item in irregularities)
        if not ties:
            return ()
        return (f"{plural(ties, 'row')} share their places with rows of the same score.",)


def places_of(rank: Any, score: Any, lists: Lists) -> Ranks | Scores:
    """Read the ranks or scores that order the lists."""
    if (rank is None) == (score is None):
        raise InputError(
            "Pass what orders the lists: y_pred, the place of each row from 1 on, or y_score, by "
            "which the highest comes first; not both."
        )
    if rank is None:
        values = finite(score, "y_score")
        check_lengths(query=lists.codes, y_score=values)
        return Scores(values, int(np.bincount(lists.codes).max()))
    integers = whole_numbers(rank)
    place: NDArray[Any] = numbers(rank, "y_pred") if integers is None else integers
    check_lengths(query=lists.codes, y_pred=place)
    absent, values = 0, place
    if integers is None:
        missing = np.isnan(place)
        absent = int(missing.sum())
        if absent == len(place):
            raise InputError("No row has a place in its list.")
        values = place[~missing]
        _check(values[~(np.isfinite(values) & (values == np.rint(values)))])
    smallest, longest = int(values.min()), int(values.max())
    if smallest <= 0:
        _check(place[place < 0])
        raise InputError("y_pred begins with the place 0. The first place is 1: add 1 to all.")
    if longest > MOST_PLACES:
        raise InputError(f"y_pred has the place {float(longest):g}, which no list has.")
    return Ranks(place, longest, absent)


def _check(wrong: NDArray[Any]) -> None:
    if len(wrong):
        raise InputError(
            f"y_pred has the place {wrong[0]:g}; places are 1, 2, 3, … If these are scores, "
            "pass them as y_score=."
        )
