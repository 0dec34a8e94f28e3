"""Cutting planes: the least sum of convex functions, one of each variable, over a region.

Each function is replaced by the tangents found so far. They lie below it, so every round gives a
lower bound of the least cost, and the point it finds gives an upper one: their difference is a
certificate. The functions of a transport are piecewise linear, and few rounds suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np

from evenhand.mitigation.transport.region import Region, Tangents
from evenhand.mitigation.transport.support import Codes, Floats

ROUNDS = 60
PRECISION = 1e-7
Side = Literal["left", "right"]
SIDES: tuple[Side, ...] = ("left", "right")


class Costs(Protocol):
    """A convex function, never below 0, for each entry of an array of cut points × groups."""

    @property
    def weights(self) -> Floats:
        """How much each function counts."""

    def value(self, at: Floats) -> Floats:
        """The functions' values."""

    def slope(self, at: Floats, side: Side) -> Floats:
        """Their slopes, to the left or the right of a kink."""


class Found(NamedTuple):
    """The best point, and by how much its cost can exceed the least."""

    point: Floats
    gap: float


def cheapest(costs: Costs, region: Region, start: Sequence[Floats]) -> Found:
    """The cheapest point of a region, from tangents at some points to begin with."""
    everywhere = np.arange(costs.weights.size)
    known = _joined([_tangents(costs, at, side, everywhere) for at in start for side in SIDES])
    best, least, bound = start[0], np.inf, 0.0
    for _ in range(ROUNDS):
        found, below = region.program(known, costs.weights).solve()
        bound = max(bound, below)
        levels, bounds = np.split(found[: 2 * best.size].reshape(-1, region.shape[1]), 2)
        point = region.inside(levels)
        values = costs.value(point)
        cost = float((costs.weights * values).sum())
        if cost < least:
            best, least = point, cost
        short = np.flatnonzero(values - bounds > PRECISION / 10)
        if least - bound <= PRECISION or not len(short):
            break
        known = _joined([known, *(_tangents(costs, point, side, short) for side in SIDES)])
    return Found(best, max(least - bound, 0.0))


def _tangents(costs: Costs, at: Floats, side: Side, which: Codes) -> Tangents:
    slope = costs.slope(at, side)
    rest = costs.value(at) - slope * at
    return Tangents(which, slope.ravel()[which], rest.ravel()[which])


def _joined(tangents: Sequence[Tangents]) -> Tangents:
    return Tangents(
        np.concatenate([one.place for one in tangents]),
        np.concatenate([one.slope for one in tangents]),
        np.concatenate([one.rest for one in tangents]),
    )
