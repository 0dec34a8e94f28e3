"""Pairs of rows of one list: how many less relevant rows each one has, and how many below it."""

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
    """Of each row: how many less relevant ones of its segment stand below it, and how many are.

    Rows are in the order of their places. Rows of one number in `tied`, which does not fall within
    a segment, tie: one half of their pairs is won.
    """
    if tied is None:
        return _below(segment, level)
    won, lower = np.zeros(len(level)), np.zeros(len(level))
    block = np.cumsum(is_new(segment.of_row, tied)) - 1
    for levels in (level, level.max(initial=0) - level):  # as if lost, and as if won
        rows = radix_order(levels)
        rows = rows[radix_order(block[rows])]
        above, lower[rows] = _below(segment, level[rows])
        won[rows] += above / 2
    return won, lower


@dataclass(frozen=True, eq=False)
class Segments:
    """Where segments of rows that follow each other begin, and the number of rows."""

    starts: Places
    rows: int

    @cached_property
    def sizes(self) -> Places:
        """How many rows each has."""
        sizes = np.empty_like(self.starts)
        np.subtract(self.starts[1:], self.starts[:-1], out=sizes[:-1])
        sizes[-1:] = self.rows - self.starts[-1:]
        return sizes

    @cached_property
    def of_row(self) -> Places:
        """The segment of each row, from 0."""
        return self.spread(np.arange(len(self.starts)))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """The value of its segment for each row."""
        return np.repeat(values, self.sizes)


def is_new(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a row differs from the one before it in some key."""
    differs = np.ones(len(keys[0]), bool)
    np.not_equal(keys[0][1:], keys[0][:-1], out=differs[1:])
    for key in keys[1:]:
        differs[1:] |= key[1:] != key[:-1]
    return differs


def _below(segment: Segments, level: Levels) -> tuple[Floats, Floats]:
    """Of each row of a segment: how many of a lower level come after it, and how many there are.

    From the highest bit of the level on: rows that agree in the bits before it are together, and
    each that has the bit is above those that have not. Then both are parted, in their order.
    """
    after, lower = np.zeros(len(level)), np.zeros(len(level))
    at = None
    for bit in range(int(level.max(initial=0)).bit_length() - 1, -1, -1):
        has = ((level if at is None else level[at]) & (1 << bit)).astype(bool)
        rows = np.flatnonzero(has)
        which = segment.of_row[rows]
        number = np.bincount(which, minlength=len(segment.starts))
        lacking = segment.sizes - number
        passed = rows - np.arange(len(rows))  # rows without the bit before each that has it
        where = rows if at is None else at[rows]
        after[where] += np.cumsum(lacking)[which] - passed
        lower[where] += lacking[which]
        if bit:
            middle = segment.starts + lacking
            parted = np.empty(len(level), np.intp)
            others = np.flatnonzero(~has)
            begins = np.cumsum(number) - number
            parted[(middle - begins)[which] + np.arange(len(rows))] = where
            which = segment.of_row[others]
            begins = np.cumsum(lacking) - lacking
            place = (segment.starts - begins)[which] + np.arange(len(others))
            parted[place] = others if at is None else at[others]
            both = np.stack([segment.starts, middle], axis=1).ravel()
            segment = Segments(both[is_new(both) & (both < len(level))], len(level))
            at = parted
    return after, lower
