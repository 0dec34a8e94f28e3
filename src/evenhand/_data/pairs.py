"""Pairs of rows of a list: how many rows are less relevant, and how many of these rank lower."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import radix_order

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Levels = NDArray[Any]  # of relevance, whole numbers


def pairs(segment: Segments, level: Levels, tied: Places | None = None) -> tuple[Floats, Floats]:
    """For each row, how many less relevant rows of its segment rank below it, and how many exist.

    Rows are in the order of their places. Rows with the same number in `tied`, which is ascending
    within a segment, tie: half of their pairs count as won.
    """
    if tied is None:
        return _below(segment, level)
    won, lower = np.zeros(len(level)), np.zeros(len(level))
    block = np.cumsum(is_new(segment.of_row, tied)) - 1
    for levels in (level, level.max(initial=0) - level):  # ties as lost, and ties as won
        rows = radix_order(levels)
        rows = rows[radix_order(block[rows])]
        above, lower[rows] = _below(segment, level[rows])
        won[rows] += above / 2
    return won, lower


@dataclass(frozen=True, eq=False)
class Segments:
    """Consecutive rows in segments: where each begins, and the number of rows."""

    starts: Places
    rows: int

    @cached_property
    def sizes(self) -> Places:
        """Number of rows of each."""
        sizes = np.empty_like(self.starts)
        np.subtract(self.starts[1:], self.starts[:-1], out=sizes[:-1])
        sizes[-1:] = self.rows - self.starts[-1:]
        return sizes

    @cached_property
    def of_row(self) -> Places:
        """The segment of each row, from 0."""
        return self.spread(np.arange(len(self.starts)))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each row the value of its segment."""
        return np.repeat(values, self.sizes)


def is_new(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a row differs from the one before it in some key."""
    differs = np.ones(len(keys[0]), bool)
    np.not_equal(keys[0][1:], keys[0][:-1], out=differs[1:])
    for key in keys[1:]:
        differs[1:] |= key[1:] != key[:-1]
    return differs


def _below(segment: Segments, level: Levels) -> tuple[Floats, Floats]:
    """For each row, how many of a lower level follow it in its segment, and how many exist.

    From the highest bit of the level down: rows that agree in the higher bits are together, and
    each that has the bit is above those that lack it. Then the two are separated, order kept.
    """
    after, lower = np.zeros(len(level)), np.zeros(len(level))
    at = None
    for bit in range(int(level.max(initial=0)).bit_length() - 1, -1, -1):
        has = ((level if at is None else level[at]) & (1 << bit)).astype(bool)
        rows = np.flatnonzero(has)
        segment_of = segment.of_row[rows]
        number = np.bincount(segment_of, minlength=len(segment.starts))
        lacking = segment.sizes - number
        passed = rows - np.arange(len(rows))  # rows without the bit before each that has it
        where = rows if at is None else at[rows]
        after[where] += np.cumsum(lacking)[segment_of] - passed
        lower[where] += lacking[segment_of]
        if bit:
            middle = segment.starts + lacking
            parted = np.empty(len(level), np.intp)
            low_rows = np.flatnonzero(~has)
            begins = np.cumsum(number) - number
            parted[(middle - begins)[segment_of] + np.arange(len(rows))] = where
            segment_of = segment.of_row[low_rows]
            begins = np.cumsum(lacking) - lacking
            place = (segment.starts - begins)[segment_of] + np.arange(len(low_rows))
            parted[place] = low_rows if at is None else at[low_rows]
            starts = np.stack([segment.starts, middle], axis=1).ravel()
            segment = Segments(starts[is_new(starts) & (starts < len(level))], len(level))
            at = parted
    return after, lower
