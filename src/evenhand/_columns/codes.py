"""A column as small integer codes and the labels they stand for, and how codes are found, fast."""

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
FEW = 1024  # so many distinct words still get a collision-free hash of about 2²⁰ slots
DENSE = 1 << 20


class Level(str):
    """Text that is one of several in a stated order, such as of an ordered category.

    It is equal to the same text without a place, and sorted by its place.

    >>> union([Level("old", 2), Level("young", 1)]), Level("old", 2) == "old"
    (('young', 'old'), True)
    """

    place: int

    def __new__(cls, text: str, place: int = 0) -> Level:
        """The text at its place in the order."""
        level = super().__new__(cls, text)
        level.place = place
        return level


def levels(categories: Iterable[Any]) -> list[Any]:
    """Categories in their order; numbers have one of their own."""
    return [Level(one, i) if isinstance(one, str) else one for i, one in enumerate(categories, 1)]


@dataclass(frozen=True, eq=False)
class Column:
    """Codes into labels; the labels are distinct, observed and sorted, and None is 'missing'.

    >>> Column(np.array([1, 0, 2, 1], np.uint8), ("a", "b", None)).missing
    1
    """

    codes: Codes
    labels: tuple[Label, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        if None not in self.labels:
            return 0
        return int(np.count_nonzero(self.codes == self.labels.index(None)))


def canonical(codes: NDArray[Any], labels: Iterable[Any]) -> Column:
    """Make a Column: every kind of missing is None, equal labels are one, labels are sorted."""
    plain = [None if is_missing(label) else _plain(label) for label in labels]
    kept = union(plain)
    rank = positions(plain, kept).astype(smallest_unsigned(len(kept)))
    unchanged = np.array_equal(rank, np.arange(len(rank)))
    return Column(codes.astype(rank.dtype, copy=False) if unchanged else recode(rank, codes), kept)


def union(*lists: Iterable[Label]) -> tuple[Label, ...]:
    """Labels of any of the lists, sorted; 1, 1.0 and True are one label.

    >>> union(["b", 2], [True, "a", 1.0, None])
    (True, 2, 'a', 'b', None)
    """
    seen: dict[Label, Label] = {}
    for label in (label for labels in lists for label in labels):
        if label not in seen or isinstance(label, Level):
            seen[label] = label
    return tuple(sorted(seen.values(), key=_order))


def positions(labels: Iterable[Label], within: Sequence[Label]) -> NDArray[np.intp]:
    """Where each label stands within a longer list of labels."""
    where = {label: position for position, label in enumerate(within)}
    return np.array([where[label] for label in labels], dtype=np.intp)


def factorize_few(words: Words) -> tuple[Codes, Words] | None:
    """Codes of the words, and the distinct words; None if the distinct words are many.

    One pass by a collision-free hash of the words seen so far. A word that is new is noticed,
    because the word found in its place is another one.

    >>> factorize_few(np.array([7, 9, 7], dtype=np.uint64))
    (array([0, 1, 0], dtype=uint16), array([7, 9], dtype=uint64))
    """
    known = np.unique(words[:: max(1, len(words) // SAMPLE)])
    if len(known) > FEW:
        return None
    codes = np.empty(len(words), np.uint16)
    find = _finder(known)
    for rows in chunks(len(words)):
        part = words[rows]
        codes[rows] = find(part)
        wrong = known.take(codes[rows]) != part
        if wrong.any():
            known = np.concatenate([known, np.unique(part[wrong])])
            find = _finder(known)
            codes[rows] = find(part)
        if len(known) > FEW:
            return None
    return codes, known


def factorize_many(words: Words) -> tuple[Codes, Words]:
    """Codes of the words, and the distinct words, by sorting."""
    known, inverse = np.unique(words, return_inverse=True)
    return inverse.astype(np.uint32), known


def combine(columns: Sequence[tuple[Codes, int]]) -> tuple[Codes, NDArray[np.intp]]:
    """Codes of the observed combinations of coded columns, and a row that shows each.

    >>> sex, race = np.array([0, 1, 1], np.uint8), np.array([2, 0, 0], np.uint8)
    >>> combine([(sex, 2), (race, 3)])
    (array([0, 1, 1], dtype=uint8), array([0, 2]))
    """
    fused, seen = renumber(*columns[0])
    for codes, width in columns[1:]:
        size = len(seen) * width
        wide = fused.astype(smallest_unsigned(size))
        wide *= wide.dtype.type(width)
        wide += codes.astype(wide.dtype, copy=False)
        fused, seen = renumber(wide, size)
    return fused, first_rows(fused, len(seen))


def renumber(codes: NDArray[Any], size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes without gaps, in the same order, and the old code of each."""
    if size > max(DENSE, 4 * len(codes)):  # else it is faster to write down all places than to sort
        seen, inverse = np.unique(codes, return_inverse=True)
        return inverse.astype(smallest_unsigned(len(seen))), seen
    seen = np.flatnonzero(first_rows(codes, size) >= 0)
    if len(seen) == size:
        return codes, seen
    rank = np.zeros(size, smallest_unsigned(len(seen)))
    rank[seen] = np.arange(len(seen))
    return recode(rank, codes), seen


def recode(target: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """target[codes], a chunk at a time: NumPy widens what it indexes with to 64 bits."""
    result = np.empty(len(codes), target.dtype)
    for start in range(0, len(codes), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        target.take(codes[rows], out=result[rows], mode="clip")
    return result


def first_rows(codes: NDArray[Any], size: int) -> NDArray[np.intp]:
    """The row of each code in the first chunk that has it; −1 for a code that never occurs."""
    first = np.full(size, -1, np.intp)
    step = max(ROWS_AT_A_TIME, 8 * size)
    for start in range(0, len(codes), step):
        part, here = codes[start : start + step], np.full(size, -1, np.intp)
        here[part] = np.arange(start, start + len(part))
        np.copyto(first, here, where=first < 0)
        if (first >= 0).all():
            break
    return first


def radix_order(codes: NDArray[Any]) -> NDArray[np.intp]:
    """The order of whole numbers from 0 on, of equal ones as they come: two bytes at a time.

    NumPy sorts two bytes by counting, and all that is wider by comparing.
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


def _finder(known: Words) -> Callable[[Words], NDArray[Any]]:
    """A function from words to their places in `known`; any place for an unknown word.

    Multiplying by a random odd number and keeping the top bits is a universal hash (Dietzfelbinger
    et al., 1997); with more slots than the square of the words, few draws have a collision.
    """
    bits = max(2 * len(known).bit_length(), 1)
    shift = np.uint64(64 - bits)
    random = np.random.default_rng(0)
    while len(known) <= FEW:
        odd = random.integers(1 << 63, dtype=np.uint64) | np.uint64(1)
        slots = (known * odd) >> shift
        if len(np.unique(slots)) == len(known):
            table = np.zeros(1 << bits, np.uint16)
            table[slots] = np.arange(len(known))
            return lambda words: table.take(((words * odd) >> shift).view(np.int64))
    return lambda words: np.zeros(len(words), np.uint16)


def is_missing(label: Any) -> bool:
    """Whether it is None, NaN, NaT or another that stands for no value."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):  # pandas.NA refuses to be a truth value
        return True


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _order(label: Label) -> tuple[Any, ...]:
    """Sort numbers, then text, tuples, anything else, and last what is missing."""
    if label is None:
        return (9,)
    if isinstance(label, Real):
        return (0, label)
    if isinstance(label, str):
        return (1, getattr(label, "place", 0), label)
    if isinstance(label, tuple):
        return (2, *(_order(part) for part in label))
    if isinstance(label, datetime.date):
        return (3, label.isoformat())
    return (4, type(label).__name__, str(label))
