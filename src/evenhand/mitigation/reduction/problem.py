"""Error and constraints of a classifier, from how many it accepts in each (label, group)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EVENTS = {
    "statistical_parity": np.array([[1.0, 1.0]]),
    "equalized_odds": np.array([[1.0, 0.0], [0.0, 1.0]]),
    "equal_opportunity": np.array([[0.0, 1.0]]),
    "predictive_equality": np.array([[1.0, 0.0]]),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Least error such that in every event each group is accepted as often as everyone.

    `shares` holds P(y, a), and `events` which labels each event comprises. A classifier h is the
    table `accepted` of P(h = 1, y, a), and so is a lottery over classifiers: all is linear in it.
    The constraints are acceptance in a group minus that in the event, and its negative, each at
    most `bound`; a group without rows in an event is under no constraint there.
    """

    shares: Floats
    events: Floats
    bound: float

    @property
    def cells(self) -> Floats:
        """P(event, group)."""
        return np.asarray(self.events @ self.shares)

    @property
    def constraints(self) -> int:
        """How many there are."""
        return 2 * int(np.count_nonzero(self.cells))

    def error(self, accepted: Floats) -> Floats:
        """P(h ≠ y)."""
        rejected = self.shares[1] - accepted[..., 1, :]
        return np.asarray(accepted[..., 0, :].sum(axis=-1) + rejected.sum(axis=-1))

    def excess(self, accepted: Floats) -> Floats:
        """By how much each constraint is exceeded."""
        within, cells = self.events @ accepted, self.cells
        everyone = within.sum(axis=-1, keepdims=True) / cells.sum(axis=-1, keepdims=True)
        gap = (within / np.where(cells > 0, cells, 1) - everyone)[..., cells > 0]
        return np.concatenate([gap, -gap], axis=-1) - self.bound

    def costs(self, multipliers: Floats) -> Floats:
        """What accepting a unit of each (label, group) adds to error plus multipliers × excess."""
        cells = self.cells
        net = np.zeros(cells.shape)
        net[cells > 0] = np.subtract(*np.split(multipliers, 2))
        everyone = net.sum(axis=-1, keepdims=True) / cells.sum(axis=-1, keepdims=True)
        price = net / np.where(cells > 0, cells, 1) - everyone
        return np.asarray(np.array([[1.0], [-1.0]]) + self.events.T @ price)

    def netted(self, multipliers: Floats) -> Floats:
        """The least multipliers with the same costs: of a pair of opposites, one is 0."""
        net: Any = np.subtract(*np.split(multipliers, 2))
        return np.concatenate([np.maximum(net, 0), np.maximum(-net, 0)])
