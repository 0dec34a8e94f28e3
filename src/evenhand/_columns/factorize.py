"""Integer codes for columns of 64-bit words: the one place where rows are looked up, fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger[Any]]

ROWS_AT_A_TIME = 1 << 16  # a chunk of 64-bit words then stays in the second-level cache
SAMPLE = 4096
FEW = 1024  # so many distinct words still get a collision-free hash of about 2²⁰ slots
DENSE = 1 << 20


def chunks(rows: int, size: int = ROWS_AT_A_TIME) -> Iterator[slice]:
    """Slices that cover the rows, each small enough for the cache."""
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def smallest_unsigned(size: int) -> np.dtype[Any]:
    """The smallest unsigned dtype that holds 0 … size − 1."""
    return np.min_scalar_type(max(size - 1, 0))


def recode(target: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """target[codes], a chunk at a time: NumPy widens what it indexes with to 64 bits."""
    result = np.empty(len(codes), target.dtype)
    for rows in chunks(len(codes)):
        target.take(codes[rows], out=result[rows], mode="clip")
    return result


def factorize(words: Words) -> tuple[Codes, Words]:
    """Codes of the words, and the distinct words they stand for."""
    coded = factorize_few(words)
    if coded is not None:
        return coded
    known, inverse = np.unique(words, return_inverse=True)
    return inverse.astype(np.uint32), known


def factorize_few(words: Words) -> tuple[Codes, Words] | None:
    """Factorize in one pass by a collision-free hash, or None if the distinct words are many.

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


def combine(columns: Sequence[tuple[Codes, int]]) -> tuple[Codes, NDArray[np.intp]]:
    """Codes of the observed combinations of coded columns, and a row that shows each.

    >>> sex, race = np.array([0, 1, 1], np.uint8), np.array([2, 0, 0], np.uint8)
    >>> combine([(sex, 2), (race, 3)])
    (array([0, 1, 1], dtype=uint8), array([0, 2]))
    """
    fused, size = _compressed(*columns[0])
    for codes, width in columns[1:]:
        wide = fused.astype(smallest_unsigned(size * width))
        wide *= wide.dtype.type(width)
        wide += codes.astype(wide.dtype, copy=False)
        fused, size = _compressed(wide, size * width)
    return fused, first_rows(fused, size)


def first_rows(codes: NDArray[Any], size: int) -> NDArray[np.intp]:
    """The row of each code in the first chunk that has it; −1 for a code that never occurs."""
    first = np.full(size, -1, np.intp)
    for rows in chunks(len(codes), max(ROWS_AT_A_TIME, 8 * size)):
        here = np.full(size, -1, np.intp)
        here[codes[rows]] = np.arange(rows.start, rows.stop)
        np.copyto(first, here, where=first < 0)
        if (first >= 0).all():
            break
    return first


def _compressed(codes: Codes, size: int) -> tuple[Codes, int]:
    """Renumber codes so that each one occurs, in the same order."""
    if size > DENSE:
        known, inverse = np.unique(codes, return_inverse=True)
        return inverse.astype(smallest_unsigned(len(known))), len(known)
    seen = first_rows(codes, size) >= 0
    if seen.all():
        return codes, size
    rank = np.cumsum(seen) - 1
    return recode(rank.astype(smallest_unsigned(int(seen.sum()))), codes), int(seen.sum())


def _finder(known: Words) -> Callable[[Words], NDArray[Any]]:
    """A function from words to their places in `known`; any place for an unknown word."""
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
