"""Ratio constraints of each (class, group), and the prices that their multipliers come to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONSTRAINTS = ("statistical_parity", "mean_equalized_odds")


@dataclass(frozen=True, eq=False)
class Ratios:
    """What is compared: shares of each (class, group), and of each class in everyone.

    Where a share is 0 there is no constraint. With `own` the rows count by their own probability
    of the class (expectations over the true label), else all alike.
    """

    cell: Floats
    whole: Floats
    alpha: float
    own: bool

    @classmethod
    def of(cls, constraint: str, mass: Floats, alpha: float) -> Ratios:
        """From the weight of each (class, group)."""
        share = mass / mass.sum()
        if constraint == "mean_equalized_odds":
            return cls(share, share.sum(axis=1, keepdims=True), alpha, own=True)
        alone = np.broadcast_to(share.sum(axis=0), share.shape)
        return cls(alone, np.ones((len(share), 1)), alpha, own=False)

    def prices(self, multipliers: Floats) -> Floats:
        """What each (class, group) costs, from the multipliers (±, classes, groups)."""
        above, below = multipliers
        everyone = (1 + self.alpha) * above - (1 - self.alpha) * below
        apart = np.divide(above - below, self.cell, out=np.zeros(above.shape), where=self.cell > 0)
        return np.asarray(apart - everyone.sum(axis=1, keepdims=True) / self.whole)

    def multiplied(self, by_price: Floats) -> Floats:
        """The gradient by the multipliers, from that by the prices."""
        own = np.divide(by_price, self.cell, out=np.zeros(by_price.shape), where=self.cell > 0)
        everyone = by_price.sum(axis=1, keepdims=True) / self.whole
        return np.array([own - (1 + self.alpha) * everyone, (1 - self.alpha) * everyone - own])

    def charged(self, prices: Floats, p: Floats) -> Floats:
        """Prices by row, for rows that count by their own probability or all alike."""
        return prices * p if self.own else prices
