"""A target cut into levels: thresholds between them are what parity is asked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Levels:
    """Equally spaced values; a number is taken for the nearest of them.

    >>> Levels.between(0.0, 1.0, 5).nearest(np.array([-1.0, 0.3]))
    array([0, 1])
    """

    values: Floats

    @classmethod
    def between(cls, low: float, high: float, count: int) -> Levels:
        """So many levels, the outermost at the ends of the range."""
        return cls(np.linspace(low, high, count))

    def nearest(self, numbers: Floats) -> Codes:
        """The level of each number; those out of range have the outermost."""
        return np.searchsorted((self.values[1:] + self.values[:-1]) / 2, numbers, side="right")

    def tails(self, level: Codes, group: Codes, weight: Floats, groups: int) -> Floats:
        """P(level ≥ each but the lowest | group), as groups × thresholds."""
        size = len(self.values)
        cells = np.bincount(group * size + level, weight, minlength=groups * size)
        parts = cells.reshape(groups, size)
        upward = np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(upward[:, 1:] / upward[:, :1])

    def best(self, prices: Floats, share: Floats) -> Codes:
        """The level that serves each group (row) and true level (column) best, at these prices.

        A price (groups × thresholds) is on how much more often a group is above a threshold than
        all rows are. So being above costs a row of the group its price over the group's share,
        less the sum of all groups' prices.
        """
        squares = np.square(self.values[:, None] - self.values)
        toll = prices / share[:, None] - prices.sum(axis=0)
        tolls = np.pad(np.cumsum(toll, axis=1), ((0, 0), (1, 0)))
        return np.asarray((squares + tolls[:, None, :]).argmin(axis=-1))
