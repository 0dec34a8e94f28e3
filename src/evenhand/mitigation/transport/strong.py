"""The cheapest predictions whose distributions are at most ε unequal, by any measure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evenhand.mitigation.transport.bound import Bound
from evenhand.mitigation.transport.corridor import certified_gap, corridor
from evenhand.mitigation.transport.cutting import Side, cheapest
from evenhand.mitigation.transport.plan import Supply
from evenhand.mitigation.transport.region import Region
from evenhand.mitigation.transport.support import Floats


class Parity(NamedTuple):
    """The groups' new CDFs, and by how much their cost can exceed the least."""

    cdfs: Floats
    gap: float


def strong_parity(supply: Supply, bound: Bound, tau: float = 0.05) -> Parity:
    """The groups' CDFs, at most ε unequal at every cut point, that cost least to reach.

    Measures of ratios are asked only where the pooled CDF, before the move, is at least τ; below,
    CDFs can only be lowered, so that no other cut point comes to be asked.
    """
    if bound.is_width:
        return Parity(corridor(supply, bound.epsilon), certified_gap(supply, bound.epsilon))
    levels = supply.cdfs[:, :-1].T
    first = int(np.searchsorted(levels @ supply.share, tau))
    if bound.met_by(levels[first:]):
        return Parity(supply.cdfs, 0.0)
    span = float(np.ptp(supply.points))
    unit = replace(supply, points=(supply.points - supply.points[0]) / span)
    start = [levels, corridor(unit, 0.0)[:, :-1].T]
    found = cheapest(_Moves(unit), Region(levels.shape, bound, first), start)
    cdfs = np.column_stack([found.point.T, np.ones(len(supply.share))])
    return Parity(cdfs, found.gap * span**2)


@dataclass(frozen=True, eq=False)
class _Moves:
    """What it costs that a group has another level at a cut point than before."""

    supply: Supply

    @property
    def weights(self) -> Floats:
        return self.supply.weights

    def value(self, at: Floats) -> Floats:
        return self.supply.cost_by_cut(at.T).T

    def slope(self, at: Floats, side: Side) -> Floats:
        quantiles = np.minimum(self.supply.quantile(at.T, side), self.supply.points[-1])
        return np.asarray((quantiles - self.supply.cuts).T)
