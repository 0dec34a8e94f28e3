"""The rules found so far, as columns of the small problem that mixes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class Columns(NamedTuple):
    """Rules: whose, at what cost, which rates they move by how much, and by which prices.

    Row j of `pairs` numbers the pairs (cell, group) whose rates rule j is part of, and row j of
    `rates` says how large they are if it always decides.
    """

    pool: Codes
    cost: Floats
    pairs: Codes
    rates: Floats
    matrices: Floats

    def where(self, chosen: NDArray[np.bool_]) -> Columns:
        """Some of the rules."""
        pool, cost, pairs, rates, matrices = self
        return Columns(pool[chosen], cost[chosen], pairs[chosen], rates[chosen], matrices[chosen])

    def mixed(self, share: Floats, size: int) -> Floats:
        """The rates of all pairs when each rule decides so often."""
        moved = (self.rates * share[:, None]).ravel()
        return np.asarray(np.bincount(self.pairs.ravel(), moved, size), dtype=np.float64)

    def priced(self, multipliers: Floats) -> Floats:
        """The cost of each rule where rates have these prices too."""
        return np.asarray(self.cost + (self.rates * multipliers[self.pairs]).sum(axis=1))

    def table(self, size: int) -> sparse.csc_array:
        """The rates (pairs, rules), sparse."""
        rules, width = self.rates.shape
        ends = np.arange(0, rules * width + 1, width)
        return sparse.csc_array((self.rates.ravel(), self.pairs.ravel(), ends), (size, rules))

    def members(self, pools: int) -> sparse.csc_array:
        """Which rule (column) is whose (row)."""
        rules = len(self.pool)
        return sparse.csc_array((np.ones(rules), self.pool, np.arange(rules + 1)), (pools, rules))

    def normalised(self, share: Floats, pools: int) -> Floats:
        """Shares that add up to 1 in every pool."""
        return np.asarray(share / np.bincount(self.pool, share, pools)[self.pool])


def joined(*some: Columns) -> Columns:
    """All of these rules."""
    return Columns(*(np.concatenate(parts) for parts in zip(*some, strict=True)))
