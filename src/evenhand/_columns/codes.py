"""A column as small integer codes into labels, and fast ways to find the codes."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Label = Hashable
Words = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger[Any]]

ROWS_AT_A_TIME = 1 << 16  # a chunk of 64-bit words then stays in the second-level cache
SAMPLE = 4096
FEW = 1024  # distinct words that a hash of about 2²⁰ slots holds without collisions
DENSE = 1 << 20


class Level(str):
    """Text with a place in an order, such as a level of an ordered category.

    It equals the same text without a place, and is sorted by its place.

    >>> union([Level("old", 2), Level("young", 1)]), Level("old", 2) == "old"
    (('young', 'old'), True)
    """

    place: int

    def __new__(cls, text: str, place: int = 0) -> Level:
        """Create the text with its place in the order."""
        level = super().__new__(cls, text)
        level.place = place
        return level


def levels(categories: Iterable[Any]) -> list[Any]:
    """Categories with their places in the order; numbers keep their own order."""
    return [
        Level(category, i) if isinstance(category, str) else category
        for i, category in enumerate(categories, 1)
    ]


@dataclass(frozen=True, eq=False)
class Column:
    """Codes into labels, which are distinct, observed and sorted; None is 'missing'.

    >>> Column(np.array([1, 0, 2, 1], np.uint8), ("a", "b", None)).missing
    1
    """

    codes: Codes
    labels: tuple[Label, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> int:
        """The number of rows without a value."""
        if None not in self.labels:
            return 0
        return int(np.count_nonzero(self.codes == self.labels.index(None)))


def canonical(codes: NDArray[Any], labels: Iterable[Any]) -> Column:
    """A column with sorted, distinct labels, and None for every kind of missing value."""
    plain = [None if is_missing(label) else _plain(label) for label in labels]
    distinct = union(plain)
    rank = positions(plain, distinct).astype(smallest_unsigned(len(distinct)))
    unchanged = np.array_equal(rank, np.arange(len(rank)))
    return Column(
        codes.astype(rank.dtype, copy=False) if unchanged else recode(rank, codes), distinct
    )


def union(*lists: Iterable[Label]) -> tuple[Label, ...]:
    """The sorted labels of all lists; 1, 1.0 and True are one label.

    >>> union(["b", 2], [True, "a", 1.0, None])
    (True, 2, 'a', 'b', None)
    """
    distinct: dict[Label, Label] = {}
    for label in (label for labels in lists for label in labels):
        if label not in distinct or isinstance(label, Level):
            distinct[label] = label
    return tuple(sorted(distinct.values(), key=_order))


def positions(labels: Iterable[Label], within: Sequence[Label]) -> NDArray[np.intp]:
    """The index of each label in a longer list of labels."""
    where = {label: position for position, label in enumerate(within)}
    return np.array([where[label] for label in labels], dtype=np.intp)


def factorize_few(words: Words) -> tuple[Codes, Words] | None:
    """Codes of the words, and the distinct words; None if there are many distinct words.

    One pass by a collision-free hash of the words so far. A new word is detected because its slot
    holds a different word.

    >>> factorize_few(np.array([7, 9, 7], dtype=np.uint64))
    (array([0, 1, 0], dtype=uint16), array([7, 9], dtype=uint64))
    """
    distinct = np.unique(words[:: max(1, len(words) // SAMPLE)])
    if len(distinct) > FEW:
        return None
    codes = np.empty(len(words), np.uint16)
    find = _finder(distinct)
    for rows in chunks(len(words)):
        part = words[rows]
        codes[rows] = find(part)
        wrong = distinct.take(codes[rows]) != part
        if wrong.any():
            distinct = np.concatenate([distinct, np.unique(part[wrong])])
            find = _finder(distinct)
            codes[rows] = find(part)
        if len(distinct) > FEW:
            return None
    return codes, distinct


def factorize_many(words: Words) -> tuple[Codes, Words]:
    """Codes of the words, and the distinct words, by sorting."""
    distinct, inverse = np.unique(words, return_inverse=True)
    return inverse.astype(np.uint32), distinct


def combine(columns: Sequence[tuple[Codes, int]]) -> tuple[Codes, NDArray[np.intp]]:
    """Codes of the observed combinations of coded columns, and a row of each.

    >>> sex, race = np.array([0, 1, 1], np.uint8), np.array([2, 0, 0], np.uint8)
    >>> combine([(sex, 2), (race, 3)])
    (array([0, 1, 1], dtype=uint8), array([0, 2]))
    """
    fused, observed = renumber(*columns[0])
    for codes, width in columns[1:]:
        size = len(observed) * width
        wide = fused.astype(smallest_unsigned(size))
        wide *= wide.dtype.type(width)
        wide += codes.astype(wide.dtype, copy=False)
        fused, observed = renumber(wide, size)
    return fused, first_rows(fused, len(observed))


def renumber(codes: NDArray[Any], size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes without gaps, in the same order, and the old code of each."""
    if size > max(DENSE, 4 * len(codes)):  # else a table of all codes is faster than sorting
        observed, inverse = np.unique(codes, return_inverse=True)
        return inverse.astype(smallest_unsigned(len(observed))), observed
    observed = np.flatnonzero(first_rows(codes, size) >= 0)
    if len(observed) == size:
        return codes, observed
    rank = np.zeros(size, smallest_unsigned(len(observed)))
    rank[observed] = np.arange(len(observed))
    return recode(rank, codes), observed


def recode(target: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """target[codes], a chunk at a time, because NumPy widens indices to 64 bits."""
    result = np.empty(len(codes), target.dtype)
    for start in range(0, len(codes), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        target.take(codes[rows], out=result[rows], mode="clip")
    return result


def first_rows(codes: NDArray[Any], size: int) -> NDArray[np.intp]:
    """A row of each code, from the first chunk that has it; −1 for a code that never occurs."""
    first = np.full(size, -1, np.intp)
    step = max(ROWS_AT_A_TIME, 8 * size)
    for start in range(0, len(codes), step):
        part, rows = codes[start : start + step], np.full(size, -1, np.intp)
        rows[part] = np.arange(start, start + len(part))
        np.copyto(first, rows, where=first < 0)
        if (first >= 0).all():
            break
    return first


def radix_order(codes: NDArray[Any]) -> NDArray[np.intp]:
    """The stable order of nonnegative integers, two bytes at a time.

    NumPy sorts two-byte integers by counting, and wider ones by comparing.
    """
    if int(codes.max(initial=0)) < 1 << 16:
        return np.argsort(codes.astype(np.uint16, copy=False), kind="stable")
    low = np.argsort(codes.astype(np.uint16), kind="stable")
    return low[radix_order(codes[low] >> 16)]


def chunks(rows: int, size: int = ROWS_AT_A_TIME) -> Iterator[slice]:
    """Slices that cover the rows, each small enough for the cache."""
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def smallest_unsigned(size: int) -> np.dtype[Any]:
    """The smallest unsigned dtype that holds 0 … size − 1."""
    return np.min_scalar_type(max(size - 1, 0))


def _finder(distinct: Words) -> Callable[[Words], NDArray[Any]]:
    """A function from words to their places in `distinct`; arbitrary places for other words.

    Multiplying by a random odd number and keeping the top bits is a universal hash (Dietzfelbinger
    et al., 1997); with more slots than the square of the words, few draws have a collision.
    """
    bits = max(2 * len(distinct).bit_length(), 1)
    shift = np.uint64(64 - bits)
    random = np.random.default_rng(0)
    while len(distinct) <= FEW:
        odd = random.integers(1 << 63, dtype=np.uint64) | np.uint64(1)
        slots = (distinct * odd) >> shift
        if len(np.unique(slots)) == len(distinct):
            table = np.zeros(1 << bits, np.uint16)
            table[slots] = np.arange(len(distinct))
            return lambda words: table.take(((words * odd) >> shift).view(np.int64))
    return lambda words: np.zeros(len(words), np.uint16)


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or another missing value."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):  # pandas.NA refuses to be a truth value
        return True


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _order(label: Label) -> tuple[Any, ...]:
    """Sort key: numbers, then text, tuples, anything else, and missing values last."""
    if label is None:
        return (9,)
    if isinstance(label, str):  # first: of many labels, most are text
        return (1, getattr(label, "place", 0), label)
    if isinstance(label, Real):
        return (0, label)
    if isinstance(label, tuple):
        return (2, *(_order(part) for part in label))
    if isinstance(label, datetime.date):
        return (3, label.isoformat())
    return (4, type(label).__name__, str(label))
