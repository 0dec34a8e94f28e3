"""The cheapest shifts of the groups' predictions whose means are at most ε unequal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand.mitigation.transport.bound import Bound
from evenhand.mitigation.transport.cutting import Side, cheapest
from evenhand.mitigation.transport.region import Region
from evenhand.mitigation.transport.support import Floats

HALVINGS = 60


class Shift(NamedTuple):
    """The groups' new means, and by how much their cost can exceed the least."""

    means: Floats
    gap: float


def weak_parity(means: Floats, share: Floats, bound: Bound) -> Shift:
    """The vector of means nearest to the given ones, weighted by share, that meets the bound.

    >>> weak_parity(np.array([1.0, 3.0]), np.array([0.5, 0.5]), Bound("mpd", 1.0)).means
    array([1.5, 2.5])
    """
    if bound.is_width:
        return Shift(_within_width(means, share, bound.epsilon), 0.0)
    if means.min() < 0:
        raise ValueError(
            f"Gini and PQ need mean predictions of at least 0, and a group's is {means.min():g}; "
            "use measure='mpd'."
        )
    if bound.met_by(means):
        return Shift(means, 0.0)
    scale = float(means.max())
    start = means[None] / scale
    equal = np.full_like(start, start @ share)
    found = cheapest(_Squares(start, share[None]), Region(start.shape, bound), [start, equal])
    return Shift(found.point[0] * scale, found.gap * scale**2)


@dataclass(frozen=True, eq=False)
class _Squares:
    """The squared distance of each entry from its target."""

    target: Floats
    weights: Floats

    def value(self, at: Floats) -> Floats:
        return np.square(at - self.target)

    def slope(self, at: Floats, side: Side) -> Floats:  # noqa: ARG002 (a parabola has no kink)
        return 2 * (at - self.target)


def _within_width(means: Floats, share: Floats, width: float) -> Floats:
    """The means clipped to an interval of this width, which moves them least where it pays."""
    low, high = float(means.min()) - width, float(means.max())
    for _ in range(HALVINGS):
        floor = (low + high) / 2
        moved = np.clip(means, floor, floor + width) - means
        low, high = (low, floor) if share @ moved >= 0 else (floor, high)
    return np.clip(means, high, high + width)
