"""The cheapest predictions whose distributions differ, over all cut points, by at most ε."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.mitigation.group_reader import Codes, Floats
from evenhand.mitigation.transport.parity import Parity, corridor
from evenhand.mitigation.transport.plan import Supply

PRICES_TRIED = 60  # bisections of the price; as many as a double can resolve
PRECISION = 1e-12  # of the squared range of the predictions
MOST_QUANTILES = 4_000_000  # that are kept at once


def wasserstein_parity(supply: Supply, epsilon: float) -> Parity:
    """The groups' CDFs that cost least to reach, the integral of whose range is at most ε.

    Of two groups this is their W1 distance. At a price λ for a unit of the integral the cut points
    no longer depend on each other, and at each it is best to clip the old CDFs to some [b, B]: B
    is where lowering whoever lies above begins to cost more than λ, b where lifting does, and
    where they cross everybody meets at one level. Both rise with the cut point, since the range of
    a vector is submodular (Topkis), so that clipped CDFs ascend. Plans at the two prices next to
    the right one are mixed until the integral is ε; the price's dual bounds the gap.

    >>> two = Supply(np.array([0.0, 1.0]), np.array([[1.0, 1.0], [0.5, 1.0]]), np.full(2, 0.5))
    >>> wasserstein_parity(two, 0.2).cdfs
    array([[0.7, 1. ],
           [0.5, 1. ]])
    """
    before = _Priced.of(supply, supply.cdfs)
    if before.integral <= epsilon:
        return Parity(supply.cdfs, 0.0)
    levels = _Levels.of(supply)
    merged = corridor(supply, 0.0)
    span = float(np.ptp(supply.points))
    low, high = 0.0, 2 * span
    uneven, even = before, _Priced.of(supply, merged)
    best = -np.inf
    for _ in range(PRICES_TRIED):
        price = (low + high) / 2
        plan = _Priced.of(supply, levels.clipped(price, merged))
        best = max(best, plan.cost + price * (plan.integral - epsilon))
        if plan.integral > epsilon:
            low, uneven = price, plan
        else:
            high, even = price, plan
        mixed = _mixed(supply, uneven, even, epsilon)
        if mixed.cost - best <= PRECISION * span**2:
            break
    return Parity(mixed.cdfs, max(mixed.cost - best, 0.0))


class _Priced(NamedTuple):
    """CDFs, what they cost to reach, and the integral of their range."""

    cdfs: Floats
    cost: float
    integral: float

    @classmethod
    def of(cls, supply: Supply, cdfs: Floats) -> _Priced:
        return cls(cdfs, supply.cost(cdfs), integral_of_range(supply.points, cdfs))


def integral_of_range(points: Floats, cdfs: Floats) -> float:
    """The range of the groups' CDFs, integrated over the values.

    >>> integral_of_range(np.array([0.0, 2.0]), np.array([[1.0, 1.0], [0.5, 1.0]]))
    1.0
    """
    return float(np.ptp(cdfs[:, :-1], axis=0) @ np.diff(points))


def _mixed(supply: Supply, uneven: _Priced, even: _Priced, epsilon: float) -> _Priced:
    """The mixture with as much of the plan with too large an integral as the bound allows."""
    part = (epsilon - even.integral) / (uneven.integral - even.integral)
    cdfs = even.cdfs + part * (uneven.cdfs - even.cdfs)  # exact where the two agree
    return _Priced.of(supply, np.maximum.accumulate(cdfs, axis=1))


@dataclass(frozen=True, eq=False)
class _Levels:
    """All levels of the old CDFs, where costs have their kinks, and quantiles just above them.

    Of many groups the quantiles are looked up when they are needed, to save memory.
    """

    supply: Supply
    levels: Floats
    quantiles: Floats | None

    @classmethod
    def of(cls, supply: Supply) -> _Levels:
        levels = np.unique(np.append(supply.cdfs, (0.0, 1.0)))
        shape = (len(supply.share), len(levels))
        small = shape[0] * shape[1] <= MOST_QUANTILES
        levels_by_group = np.broadcast_to(levels, shape)
        return cls(supply, levels, supply.quantile(levels_by_group, "right") if small else None)

    def clipped(self, price: float, merged: Floats) -> Floats:
        """The cheapest CDFs where a unit of the integral of their range has a price."""
        size, last = len(self.supply.cuts), len(self.levels) - 1
        top = _first(lambda at: 2 * self._moved(at, -1) <= price, size, last)
        floor = _first(lambda at: 2 * self._moved(at, 1) >= price, size, last)
        low, high = self.levels[floor], self.levels[np.maximum(top, floor)]
        inner = np.clip(self.supply.cdfs[:, :-1], low, high)
        inner = np.where(floor > top, merged[:, :-1], inner)
        return np.column_stack([inner, np.ones(len(inner))])

    def _moved(self, at: Codes, sign: int) -> Floats:
        """The distance beyond each cut point, by share, that levels lift (1) or lower."""
        if self.quantiles is None:
            level = np.broadcast_to(self.levels[at], (len(self.supply.share), len(at)))
            quantiles = self.supply.quantile(level, "right")
        else:
            quantiles = self.quantiles[:, at]
        distance = np.maximum(sign * (quantiles - self.supply.cuts), 0)
        return np.asarray(self.supply.share @ distance)


def _first(holds: Callable[[Codes], Any], size: int, last: int) -> Codes:
    """The first index from which on a condition holds, by bisection, for several at once."""
    low, high = np.zeros(size, np.intp), np.full(size, last, np.intp)
    while (low < high).any():
        middle = (low + high) // 2
        enough = holds(middle)
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    return high
