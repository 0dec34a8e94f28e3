"""Rankings as rows: what the place in a list gives each row, which then adds up like all else.

A row is an item in a list. Its place gives it exposure, a share of the first k places, and pairs
with less relevant rows of its list, of which some stand below it. All of that are numbers of single
rows, so statistics of rankings are means and ratios of sums, and the query is the cluster. Rows
that tie share their places. Pairs are counted bit by bit of the relevance, in linear time each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.codes import combine
from evenhand._columns.encoding import check_lengths, encode, finite, numbers
from evenhand._data.counting import count
from evenhand._data.groups import Groups, columns_of, show
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, InputTypeError
from evenhand._words import plural

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Discount = Literal["log", "inverse"] | float | Sequence[float]
DISCOUNTS: tuple[str, ...] = ("log", "inverse")

MOST_PLACES = 4  # slots by list and place to a row, where rows are put straight into them


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
    lists = _lists(query)
    order = _by_rank(rank, lists, score)
    seen = None if exposure is None else _not_negative(exposure, "exposure")
    merit = None if relevance is None else _not_negative(relevance, "y_true")
    check_lengths(query=lists.codes, y_pred=order.first, sensitive_features=whom.codes,
                  exposure=seen, y_true=merit)  # fmt: skip
    shown = order.shared(discount_of(discount)) if seen is None else seen
    sums = {"exposure": shown, **_powers("exposure", shown)}
    for name, places in (("top", top_k), ("first", 1)):
        if places is not None:
            part = order.within(places)
            sums |= {name: part, **_powers(name, part)}
    if merit is not None:
        sums |= _with_merit(order, shown, merit, whom)
    together = {"query": lists.query} | ({} if cluster is None else columns_of(cluster, "cluster"))
    notes = (*whom.notes, *order.notes, *_notes(lists, whom))
    if top_k is not None and top_k >= order.longest:
        notes += (
            f"No list has more than {plural(order.longest, 'place')}, so all of them are among the "
            f"first {top_k}: pass a smaller top_k=.",
        )
    counted = count({}, whom, sample_weight=sample_weight, sums=sums, cluster=together)
    return Tally(counted.axes, counted.cells, counted.sums, notes, counted.scale)


def check_top(top_k: Any) -> None:
    """Refuse what is no number of places."""
    if top_k is None:
        return
    if isinstance(top_k, bool) or not isinstance(top_k, int | np.integer):
        raise InputTypeError(f"top_k must be a whole number of places, not {top_k!r}.")
    if top_k < 1:
        raise InputError(f"top_k is how many first places count, at least 1; it is {top_k}.")


class Attention(NamedTuple):
    """How much attention a place gets, beside the first: by name, by a factor, or as listed."""

    of: Any

    def at(self, place: Floats) -> Floats:
        """The attention of places from 1 on; none beyond the end of a list of numbers."""
        if self.of == "log":
            return np.asarray(1 / np.log2(1 + place))
        if self.of == "inverse":
            return np.asarray(1 / place)
        if isinstance(self.of, float):
            return np.asarray(self.of ** (place - 1))
        listed = np.append(self.of, 0.0)
        return listed[np.minimum(place, len(listed)).astype(np.intp) - 1]


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


class Lists(NamedTuple):
    """The list of each row, from 0, how each is called, and the query that it is a list of."""

    codes: NDArray[np.intp]
    names: Sequence[Any]
    query: Column


def _lists(query: Any) -> Lists:
    """Several columns name a list together, of which the first is the query."""
    if query is None:
        raise InputError("Pass query=, the column that says which list each row is in.")
    coded = {name: encode(values, name) for name, values in columns_of(query, "query").items()}
    for name, column in coded.items():
        if column.missing:
            raise InputError(
                f"{plural(column.missing, 'row')} of {len(column)} have no {name}, so they are in "
                "no list. Drop those rows."
            )
    first = next(iter(coded.values()))
    if len(coded) == 1:
        return Lists(first.codes.astype(np.intp), first.labels, first)
    check_lengths(**coded)
    codes, rows = combine([(column.codes, len(column.labels)) for column in coded.values()])
    parts = [[column.labels[i] for i in column.codes[rows]] for column in coded.values()]
    return Lists(codes.astype(np.intp), list(zip(*parts, strict=True)), first)


@dataclass(frozen=True, eq=False)
class Order:
    """Rows in the order of their lists and places; `first` and `last` are the places that tie.

    Rows that were not shown have no place: their `first` is 0.
    """

    rows: Places
    list_of: Places
    first: Floats
    last: Floats
    longest: int
    notes: tuple[str, ...] = ()

    def shared(self, attention: Attention) -> Floats:
        """The attention of each row: that of its place, or the mean of those that tie for it."""
        if not self.ties:
            return np.where(self.first > 0, attention.at(np.maximum(self.first, 1.0)), 0.0)
        total = np.cumsum(attention.at(np.arange(1.0, self.longest + 1)))
        total = np.concatenate([[0.0], total])
        first, last = self.first.astype(np.intp), self.last.astype(np.intp)
        mean = (total[last] - total[np.maximum(first - 1, 0)]) / np.maximum(last - first + 1, 1)
        return np.where(first > 0, mean, 0.0)

    def within(self, places: int) -> Floats:
        """The share of each row in the first places: 0 or 1, or a part where rows tie."""
        size = self.last - self.first + 1
        inside = np.clip(places - self.first + 1, 0.0, size) / size
        return np.where(self.first > 0, inside, 0.0)

    @cached_property
    def ties(self) -> bool:
        """Whether some rows share their places."""
        return bool((self.last > self.first).any())


def _by_rank(rank: Any, lists: Lists, score: Any) -> Order:
    if (rank is None) == (score is None):
        raise InputError(
            "Pass what orders the lists: y_pred, the place of each row from 1 on, or y_score, by "
            "which the highest comes first; not both."
        )
    if rank is None:
        return _by_score(finite(score, "y_score"), lists)
    place = numbers(rank, "y_pred")
    check_lengths(query=lists.codes, y_pred=place)
    shown = ~np.isnan(place)
    known = place[shown]
    if not len(known):
        raise InputError("No row has a place in its list.")
    if not np.isfinite(known).all() or (known != np.rint(known)).any() or known.min() < 0:
        wrong = known[~(np.isfinite(known) & (known == np.rint(known)) & (known >= 0))][0]
        raise InputError(
            f"y_pred has the place {wrong:g}; places are 1, 2, 3, … If these are scores, pass them "
            "as y_score=."
        )
    if known.min() == 0:
        raise InputError("y_pred begins with the place 0. The first place is 1: add 1 to all.")
    longest = int(known.max())
    key = np.where(shown, place, longest + 1).astype(np.intp) + lists.codes * (longest + 2)
    order = _ordered(key, len(lists.names) * (longest + 2))
    placed = key[order]
    same = np.flatnonzero((placed[1:] == placed[:-1]) & shown[order][1:])
    if len(same):
        row = order[same[0]]
        name = show(lists.names[lists.codes[row]])
        raise InputError(
            f"The place {place[row]:g} occurs twice in the list {name}. If rows tie, pass their "
            "scores as y_score=; if a query has several lists, name both columns, that of the "
            "query first, in query=."
        )
    first = np.where(shown, place, 0.0)
    notes = _skipped(first, shown, lists) + _not_shown(shown)
    return Order(order, lists.codes[order], first, first, longest, notes)


def _ordered(key: Places, slots: int) -> Places:
    """The rows in the order of a key; where there are few slots, straight into them."""
    if slots > MOST_PLACES * len(key):
        return np.argsort(key, kind="stable")
    slot = np.full(slots, -1, np.intp)
    slot[key] = np.arange(len(key))
    order = slot[slot >= 0]
    return order if len(order) == len(key) else np.argsort(key, kind="stable")


def _by_score(score: Floats, lists: Lists) -> Order:
    """The highest score first; rows of one score in one list share their places."""
    check_lengths(query=lists.codes, y_score=score)
    order = np.lexsort((-score, lists.codes))
    ordered, list_of = score[order], lists.codes[order]
    at = np.arange(len(order))
    is_new = np.append(True, list_of[1:] != list_of[:-1])
    begin = np.maximum.accumulate(np.where(is_new, at, 0))
    is_first = is_new | np.append(True, ordered[1:] != ordered[:-1])
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(order)) - 1
    block = np.cumsum(is_first) - 1
    first, last = np.empty(len(order)), np.empty(len(order))
    first[order] = starts[block] - begin + 1
    last[order] = ends[block] - begin + 1
    tied = int((last > first).sum())
    share = "shares its place" if tied == 1 else "share their places"
    note = (f"{plural(tied, 'row')} {share} with rows of the same score.",) if tied else ()
    return Order(order, list_of, first, last, int(last.max(initial=0)), note)


def _skipped(first: Floats, shown: NDArray[np.bool_], lists: Lists) -> tuple[str, ...]:
    """That places are missing from lists, in words."""
    size = np.bincount(lists.codes[shown], minlength=len(lists.names))
    last = np.zeros(len(lists.names))
    np.maximum.at(last, lists.codes, first)
    short = np.flatnonzero(last > size)
    if not len(short):
        return ()
    example = show(lists.names[short[0]])
    return (
        f"{plural(len(short), 'list')} skip{'s' if len(short) == 1 else ''} places: {example} has "
        f"{plural(int(size[short[0]]), 'row')} and a place {last[short[0]]:g}. Rows may be "
        "missing; exposure is that of the place stated.",
    )


def _not_shown(shown: NDArray[np.bool_]) -> tuple[str, ...]:
    absent = int((~shown).sum())
    if not absent:
        return ()
    return (f"{plural(absent, 'row')} without a place count as not shown: no exposure.",)


def _notes(lists: Lists, whom: Groups) -> tuple[str, ...]:
    """That lists have rows of one group alone, in words."""
    one = np.full(len(lists.names), -1, np.int64)
    one[lists.codes] = whom.codes
    mixed = np.zeros(len(one), bool)
    mixed[lists.codes[one[lists.codes] != whom.codes]] = True
    alone = int((~mixed).sum())
    if not alone:
        return ()
    number = f"{alone:,} of {len(one):,} lists"
    return (
        f"{number} hold one group alone: no group is ahead of another in them, but their length "
        "counts for exposure.",
    )


def _not_negative(values: Any, name: str) -> Floats:
    column = finite(values, name)
    if len(column) and column.min() < 0:
        what = "Relevance" if name == "y_true" else "Exposure"
        raise InputError(
            f"{what} is at least 0, and {name} has {column.min():g}. Shift or clip it, so that 0 "
            "means none at all."
        )
    return column


def _powers(name: str, values: Floats) -> dict[str, Floats]:
    square = values * values
    return {f"{name}²": square, f"{name}³": square * values, f"{name}⁴": square * square}


def _with_merit(order: Order, shown: Floats, merit: Floats, whom: Groups) -> dict[str, Floats]:
    """What is known beside the relevance of rows."""
    gain = shown * merit
    sums = {"relevance": merit, "relevance²": merit * merit, "exposure·relevance": gain}
    sums |= {"gain": gain, "gain²": gain * gain, "gain·relevance": gain * merit}
    every = _pairs(order, merit, None)
    within = _pairs(order, merit, whom.codes)
    across = every[0] - within[0], every[1] - within[1]
    for end, (won, pairs) in (("", every), (" within", within), (" across", across)):
        sums |= {f"pairs{end}": pairs, f"won{end}": won}
        sums |= {f"won{end}²": won * won, f"won{end}·pairs{end}": won * pairs}
        sums |= {f"pairs{end}²": pairs * pairs}
    return sums


def _pairs(order: Order, merit: Floats, groups: NDArray[Any] | None) -> tuple[Floats, Floats]:
    """Of each row: how many less relevant ones of its list stand below it, and how many there are.

    With `groups`, of those in its group. Ties count one half: as if they were won, and lost.
    """
    levels = np.unique(merit, return_inverse=True)[1].astype(np.int64)
    place = np.where(order.first > 0, order.first, np.inf)[order.rows]
    arranged = [order.rows]
    tied = np.append(False, (place[1:] == place[:-1]) & (order.list_of[1:] == order.list_of[:-1]))
    if tied.any():
        block = np.cumsum(~tied)
        arranged = [order.rows[np.lexsort((sign * levels[order.rows], block))] for sign in (1, -1)]
    won, pairs = np.zeros(len(merit)), np.zeros(len(merit))
    for rows in arranged:
        segment = order.list_of
        if groups is not None:
            key = segment * (int(groups.max(initial=0)) + 1) + groups[rows]
            by_group = np.argsort(key, kind="stable")
            rows, segment = rows[by_group], key[by_group]
        above, lower = _below(segment, levels[rows])
        won[rows] += above / len(arranged)
        pairs[rows] = lower
    return won, pairs


def _below(segment: Places, level: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Of each place in a segment: how many of a lower level come after it, and how many there are.

    From the highest bit of the level on: rows that agree in the bits before it are together, and
    each that has the bit is above those that have not. Then both are parted, in their order.
    """
    after, lower = np.zeros(len(level)), np.zeros(len(level))
    at = np.arange(len(level))
    for bit in range(int(level.max(initial=0)).bit_length() - 1, -1, -1):
        has = (level[at] >> bit) & 1
        starts = np.flatnonzero(np.append(True, segment[1:] != segment[:-1]))
        sizes = np.diff(np.append(starts, len(at)))
        without = np.cumsum(1 - has)
        before = without[starts] - (1 - has[starts])
        total = np.repeat(without[starts + sizes - 1] - before, sizes)
        passed = without - np.repeat(before, sizes)  # of those without, up to each place
        start = np.repeat(starts, sizes)
        after[at] += has * (total - passed)
        lower[at] += has * total
        inside = np.arange(len(at)) - start
        target = start + np.where(has == 1, total + inside - passed, passed - 1)
        part = np.repeat(np.arange(len(starts)), sizes) * 2 + has
        at, segment = _moved(at, target), _moved(part, target)
    return after, lower


def _moved(values: Places, target: Places) -> Places:
    moved = np.empty_like(values)
    moved[target] = values
    return moved
