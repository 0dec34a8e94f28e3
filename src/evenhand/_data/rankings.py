"""Rankings as rows: what the place in a list gives each row, which then adds up like all else.

A row is an item in a list. Its place gives it exposure, a share of the first k places, and pairs
with less relevant rows of its list, of which some stand below it. All of that are numbers of single
rows, so statistics of rankings are means and ratios of sums, and the query is the cluster. Rows
that tie share their places. Pairs are counted bit by bit of the relevance, in linear time each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.codes import combine, smallest_unsigned
from evenhand._columns.encoding import check_lengths, encode, finite, numbers, weights
from evenhand._data.counting import count
from evenhand._data.groups import Groups, clusters, columns_of, show
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, InputTypeError
from evenhand._words import plural

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Discount = Literal["log", "inverse"] | float | Sequence[float]
DISCOUNTS: tuple[str, ...] = ("log", "inverse")

MOST_LEVELS = 1 << 16  # of relevance as it is; more, or fractions, are numbered by sorting
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
    by_group = _stable(whom.codes[order.rows])
    rows = order.rows[by_group]  # by group, list and place, so that cells are runs of rows
    shown = order.shared(discount_of(discount))[by_group] if seen is None else seen[rows]
    sums = {"exposure": shown, **_powers("exposure", shown)}
    for name, places in (("top", top_k), ("first", 1)):
        if places is not None:
            part = order.within(places)[by_group]
            sums |= {name: part, **_powers(name, part, is_share=not order.ties)}
    if merit is not None:
        sums |= _with_merit(order, by_group, shown, merit, whom)
    arranged = replace(whom, codes=whom.codes[rows])
    together = {"query": lists.query, **({} if cluster is None else clusters(cluster))}
    check_lengths(**together, sample_weight=sample_weight)
    together = {name: Column(one.codes[rows], one.labels) for name, one in together.items()}
    notes = (*whom.notes, *order.notes, *_notes(order.list_of[by_group], arranged.codes, lists))
    if top_k is not None and top_k >= order.longest:
        notes += (
            f"No list has more than {plural(order.longest, 'place')}, so all of them are among the "
            f"first {top_k}: pass a smaller top_k=.",
        )
    if sample_weight is not None:
        is_survey = isinstance(sample_weight, SurveyWeights)
        weight: Any = sample_weight if is_survey else weights(sample_weight)
        sample_weight = weight[rows]
    counted = count(
        {}, arranged, sample_weight=sample_weight, sums=sums, cluster=together, in_runs=True
    )
    return Tally(counted.axes, counted.cells, counted.sums, notes, counted.scale)


def check_top(top_k: Any) -> None:
    """Refuse what is not a number of places."""
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

    All but `rows` are in this order. Rows that were not shown have no place: their `first` is 0.
    """

    rows: Places
    list_of: Places
    first: Places
    last: Places
    longest: int
    ties: bool = False
    notes: tuple[str, ...] = ()

    def shared(self, attention: Attention) -> Floats:
        """The attention of each row: that of its place, or the mean of those that tie for it."""
        each = np.append(0.0, attention.at(np.arange(1.0, self.longest + 1)))
        if not self.ties:
            return each[self.first]
        total = np.cumsum(each)
        mean = (total[self.last] - total[np.maximum(self.first - 1, 0)]) / self._size
        return np.where(self.first > 0, mean, 0.0)

    def within(self, places: int) -> Floats:
        """The share of each row in the first places: 0 or 1, or a part where rows tie."""
        if not self.ties:
            return ((self.first > 0) & (self.first <= places)).astype(np.float64)
        inside = np.clip(places - self.first + 1, 0, self._size) / self._size
        return np.where(self.first > 0, inside, 0.0)

    @property
    def _size(self) -> Places:
        return self.last - self.first + 1


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
    absent = np.isnan(place)
    is_cut = bool(absent.any())
    known = place[~absent] if is_cut else place
    if not len(known):
        raise InputError("No row has a place in its list.")
    wrong = ~(np.isfinite(known) & (known == np.rint(known)) & (known >= 0))
    if wrong.any():
        raise InputError(
            f"y_pred has the place {known[wrong][0]:g}; places are 1, 2, 3, … If these are scores, "
            "pass them as y_score=."
        )
    if known.min() == 0:
        raise InputError("y_pred begins with the place 0. The first place is 1: add 1 to all.")
    longest = int(known.max())
    at = (np.where(absent, longest + 1, place) if is_cut else place).astype(np.intp)
    order, is_known_once = _ordered(lists.codes * (longest + 2) + at, len(lists.names), longest)
    list_of, first = lists.codes[order], at[order]
    if is_cut:
        first[first > longest] = 0
    if not is_known_once:
        same = (first[1:] == first[:-1]) & (list_of[1:] == list_of[:-1]) & (first[1:] > 0)
        if same.any():
            row = order[1:][same][0]
            raise InputError(
                f"The place {place[row]:g} occurs twice in the list "
                f"{show(lists.names[lists.codes[row]])}. If rows tie, pass their scores as "
                "y_score=; if a query has several lists, name both columns, that of the query "
                "first, in query=."
            )
    notes = _skipped(list_of, first, lists) + _not_shown(int(absent.sum()))
    return Order(order, list_of, first, first, longest, notes=notes)


def _ordered(key: Places, lists: int, longest: int) -> tuple[Places, bool]:
    """The rows in the order of a key, and whether no key is known to occur twice.

    Where there are few slots by list and place, rows are put straight into them.
    """
    slots = lists * (longest + 2)
    if slots <= MOST_PLACES * len(key):
        slot = np.full(slots, -1, np.intp)
        slot[key] = np.arange(len(key))
        order = slot[slot >= 0]
        if len(order) == len(key):
            return order, True
    return np.argsort(key, kind="stable"), False


def _stable(codes: NDArray[Any]) -> Places:
    """The order of codes, of equal ones as they come; those of two bytes are sorted by counting."""
    size = int(codes.max(initial=0)) + 1
    return np.argsort(codes.astype(smallest_unsigned(size), copy=False), kind="stable")


def _by_score(score: Floats, lists: Lists) -> Order:
    """The highest score first; rows of one score in one list share their places."""
    check_lengths(query=lists.codes, y_score=score)
    order = np.lexsort((-score, lists.codes))
    ordered, list_of = score[order], lists.codes[order]
    at = np.arange(len(order))
    begin = np.maximum.accumulate(np.where(_is_new(list_of), at, 0))
    starts = np.flatnonzero(_is_new(list_of, ordered))
    if len(starts) == len(order):
        first = at - begin + 1
        return Order(order, list_of, first, first, int(first.max(initial=0)))
    sizes = np.diff(np.append(starts, len(order)))
    first = np.repeat(starts, sizes) - begin + 1
    last = first + np.repeat(sizes, sizes) - 1
    tied = int(sizes[sizes > 1].sum())
    note = (f"{plural(tied, 'row')} share their places with rows of the same score.",)
    return Order(order, list_of, first, last, int(last.max(initial=0)), True, note)


def _skipped(list_of: Places, first: Places, lists: Lists) -> tuple[str, ...]:
    """That places are missing from lists, in words."""
    starts = np.flatnonzero(_is_new(list_of))
    last = np.maximum.reduceat(first, starts)
    size = np.add.reduceat((first > 0).astype(np.intp), starts)
    short = np.flatnonzero(last > size)
    if not len(short):
        return ()
    example = show(lists.names[list_of[starts[short[0]]]])
    return (
        f"{plural(len(short), 'list')} skip{'s' if len(short) == 1 else ''} places: {example} has "
        f"{plural(int(size[short[0]]), 'row')} and a place {last[short[0]]:g}. Rows may be "
        "missing; exposure is that of the place stated.",
    )


def _not_shown(absent: int) -> tuple[str, ...]:
    if not absent:
        return ()
    return (f"{plural(absent, 'row')} without a place count as not shown: no exposure.",)


def _notes(list_of: Places, group: NDArray[Any], lists: Lists) -> tuple[str, ...]:
    """That lists have rows of one group alone, in words; rows are by group and list."""
    starts = np.flatnonzero(_is_new(list_of, group))
    alone = int((np.bincount(list_of[starts]) == 1).sum())
    if not alone:
        return ()
    number = f"{alone:,} of {len(lists.names):,} lists"
    return (
        f"{number} hold one group alone: no group is ahead of another in them, but their length "
        "counts for exposure.",
    )


def _is_new(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a row differs from the one before it in some key."""
    is_new = np.zeros(len(keys[0]), bool)
    is_new[:1] = True
    for key in keys:
        is_new[1:] |= key[1:] != key[:-1]
    return is_new


def _not_negative(values: Any, name: str) -> Floats:
    column = finite(values, name)
    if len(column) and column.min() < 0:
        what = "Relevance" if name == "y_true" else "Exposure"
        raise InputError(
            f"{what} is at least 0, and {name} has {column.min():g}. Shift or clip it, so that 0 "
            "means none at all."
        )
    return column


def _powers(name: str, values: Floats, *, is_share: bool = False) -> dict[str, Floats]:
    """Powers that variances need; of a share that is 0 or 1 they are the share."""
    square = values if is_share else values * values
    cube, fourth = (square, square) if is_share else (square * values, square * square)
    return {f"{name}²": square, f"{name}³": cube, f"{name}⁴": fourth}


def _levels(merit: Floats) -> Places:
    """Relevance as whole numbers in the same order."""
    level = merit.astype(np.intp) if merit.max(initial=0.0) < MOST_LEVELS else None
    if level is not None and np.array_equal(level, merit):
        return level
    return np.unique(merit, return_inverse=True)[1].astype(np.intp)


def _with_merit(
    order: Order, by_group: Places, shown: Floats, merit: Floats, whom: Groups
) -> dict[str, Floats]:
    """What is known beside the relevance of rows, by group, list and place."""
    level = _levels(merit)
    is_share = int(level.max(initial=0)) <= 1 and bool(merit.max(initial=0.0) <= 1.0)
    ranked, merit = level[order.rows], merit[order.rows[by_group]]
    gain = shown * merit
    both = gain if is_share else gain * merit
    sums = {"relevance": merit, "relevance²": merit if is_share else merit * merit}
    sums |= {"exposure·relevance": gain, "gain": gain, "gain²": gain * gain, "gain·relevance": both}
    every = [side[by_group] for side in _pairs(order, ranked, _is_new(order.list_of))]
    cells = _is_new(order.list_of[by_group], whom.codes[order.rows][by_group])
    within = _pairs(order, ranked, cells, by_group)
    across = [one - other for one, other in zip(every, within, strict=True)]
    for end, (won, pairs) in (("", every), (" within", within), (" across", across)):
        sums |= {f"pairs{end}": pairs, f"won{end}": won}
        sums |= {f"won{end}²": won * won, f"won{end}·pairs{end}": won * pairs}
        sums |= {f"pairs{end}²": pairs * pairs}
    return sums


def _pairs(
    order: Order, level: Places, is_new: NDArray[np.bool_], by: Places | None = None
) -> tuple[Floats, Floats]:
    """Of each row: how many less relevant ones of its segment stand below it, and how many are.

    Rows are in their order, or in that of `by`; `is_new` says where segments of them begin. Ties
    count one half: as if won, and as if lost.
    """
    chosen = slice(None) if by is None else by
    level, starts = level[chosen], np.flatnonzero(is_new)
    if not order.ties and order.first.all():
        return _below(starts, level)
    block = np.cumsum(is_new | _is_new(order.first[chosen]))
    won, pairs = np.zeros(len(level)), np.zeros(len(level))
    for sign in (1, -1):
        rows = np.lexsort((sign * level, block))
        above, lower = _below(starts, level[rows])
        won[rows] += above / 2
        pairs[rows] = lower
    return won, pairs


def _below(starts: Places, level: Places) -> tuple[Floats, Floats]:
    """Of each row of a segment: how many of a lower level come after it, and how many there are.

    From the highest bit of the level on: rows that agree in the bits before it are together, and
    each that has the bit is above those that have not. Then both are parted, in their order.
    """
    bits = int(level.max(initial=0)).bit_length()
    if bits <= 1:
        after, lower, *_ = _one_bit(starts, level.astype(np.float64))
        return after, lower
    after, lower = np.zeros(len(level)), np.zeros(len(level))
    at = np.arange(len(level))
    for bit in range(bits - 1, -1, -1):
        has = ((level[at] >> bit) & 1).astype(np.float64)
        more, below, passed, total = _one_bit(starts, has)
        after[at] += more
        lower[at] += below
        sizes = np.diff(np.append(starts, len(at)))
        start, ahead = np.repeat(starts, sizes), np.repeat(total, sizes)
        inside = np.arange(len(at)) - start
        target = start + np.where(has > 0, ahead + inside - passed, passed - 1)
        at = _moved(at, target.astype(np.intp))
        both = np.stack([starts, starts + total.astype(np.intp)], axis=1).ravel()
        starts = np.unique(both[both < len(at)])
    return after, lower


def _one_bit(starts: Places, has: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each row that has a bit: how many of its segment have not and come after it, and in all.

    Also how many have not up to each row, and in each segment.
    """
    sizes = np.diff(np.append(starts, len(has)))
    lacks = 1 - has
    passed = np.cumsum(lacks)
    before = passed[starts] - lacks[starts]
    total = passed[starts + sizes - 1] - before
    passed -= np.repeat(before, sizes)
    whole = np.repeat(total, sizes)
    return has * (whole - passed), has * whole, passed, total


def _moved(values: Places, target: Places) -> Places:
    moved = np.empty_like(values)
    moved[target] = values
    return moved
