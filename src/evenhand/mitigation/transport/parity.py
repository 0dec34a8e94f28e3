"""The cheapest predictions whose distributions, or means, are at most ε unequal by any measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from evenhand._errors import InputError
from evenhand.measures import Measure
from evenhand.mitigation.group_reader import Codes, Floats
from evenhand.mitigation.optimal.cones import (
    HALVINGS,
    Cone,
    Part,
    Program,
    cone,
    half_spaces,
    has_cone,
    least_where,
    require_convex,
)
from evenhand.mitigation.transport.plan import SIDES, Side, Supply

CUTTING_ROUNDS = 60
PRECISION = 1e-7


class Parity(NamedTuple):
    """The groups' new CDFs, and the optimality gap of their cost."""

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
    optimum = cheapest(_Moves(unit), Region(levels.shape, bound, first), start)
    cdfs = np.column_stack([optimum.point.T, np.ones(len(supply.share))])
    return Parity(cdfs, optimum.gap * span**2)


def corridor(supply: Supply, width: float) -> Floats:
    """The cheapest CDFs of groups that differ nowhere by more than `width`.

    At a cut point, let all CDFs lie between b and b + width: the cheapest are the old ones,
    clipped. That leaves one number b for each cut point, and a convex cost whose slope is known;
    the least b with a slope of at least 0 grows with the cut point, so the clipped CDFs do too.

    >>> two = Supply(np.array([0.0, 1.0]), np.array([[1.0, 1.0], [0.5, 1.0]]), np.full(2, 0.5))
    >>> corridor(two, width=0.2)
    array([[0.7, 1. ],
           [0.5, 1. ]])
    """
    low, high = np.full(len(supply.cuts), -width), np.ones(len(supply.cuts))
    floor = least_where(lambda middle: slope(supply, middle, width) >= 0, low, high)
    inner = np.clip(supply.cdfs[:, :-1], floor, floor + width)
    return np.column_stack([inner, np.ones(len(inner))])


def certified_gap(supply: Supply, width: float) -> float:
    """The optimality gap of `corridor`: the interval of the last bisection."""
    span = float(supply.points[-1] - supply.points[0])
    return 2 * span**2 * (1 + width) * 2.0**-HALVINGS


def slope(supply: Supply, floor: Floats, width: float) -> Floats:
    """The slope of the cost at each cut point by the floor of its corridor."""
    levels = np.broadcast_to(floor, (len(supply.share), len(floor)))
    lifted = np.maximum(supply.quantile(levels, "right") - supply.cuts, 0)
    lowered = np.maximum(supply.cuts - supply.quantile(levels + width, "right"), 0)
    return np.asarray(supply.share @ lifted - supply.share @ lowered)


class Shift(NamedTuple):
    """The groups' new means, and the optimality gap of their cost."""

    means: Floats
    gap: float


def weak_parity(means: Floats, share: Floats, bound: Bound) -> Shift:
    """The vector of means nearest to the given ones, weighted by share, that meets the bound.

    >>> from evenhand.measures import MEASURES
    >>> weak_parity(np.array([1.0, 3.0]), np.array([0.5, 0.5]), Bound(MEASURES["mpd"], 1.0)).means
    array([1.5, 2.5])
    """
    if bound.is_width:
        return Shift(_within_width(means, share, bound.epsilon), 0.0)
    name = bound.measure.title
    if not bound.measure.is_relative:
        raise InputError(f"{name} of means is not bounded: pass a relative measure, or 'mpd'.")
    if means.min() < 0:
        raise InputError(
            f"{name} needs mean predictions of at least 0, and a group's is {means.min():g}; "
            "use measure='mpd'."
        )
    if bound.met_by(means):
        return Shift(means, 0.0)
    scale = float(means.max())
    start = means[None] / scale
    equal = np.full_like(start, start @ share)
    optimum = cheapest(_Squares(start, share[None]), Region(start.shape, bound), [start, equal])
    return Shift(optimum.point[0] * scale, optimum.gap * scale**2)


def _within_width(means: Floats, share: Floats, width: float) -> Floats:
    """The means clipped to the interval of this width with the least cost."""

    def lifted(floor: Any) -> bool:
        return bool(share @ (np.clip(means, floor, floor + width) - means) >= 0)

    floor = least_where(lifted, float(means.min()) - width, float(means.max()))
    return np.clip(means, floor, floor + width)


@dataclass(frozen=True)
class Bound:
    """A measure, and its upper bound."""

    measure: Measure
    epsilon: float

    def __post_init__(self) -> None:
        if self.epsilon < 0:
            raise InputError(f"epsilon is {self.epsilon}; no measure is below 0.")
        require_convex(self.measure)

    @property
    def is_width(self) -> bool:
        """Whether it bounds the range of entries: MPD, or 0 by any measure."""
        return self.measure.is_width or self.epsilon == 0

    def met_by(self, vectors: Floats) -> bool:
        """Whether every vector (the last axis) meets the bound."""
        return bool(np.max(self.measure(vectors), initial=0.0) <= self.epsilon)

    def pulled(self, vectors: Floats) -> Floats:
        """Vectors moved toward their means, all by the same share, until they meet the bound."""
        if self.met_by(vectors):
            return vectors
        away = vectors.mean(axis=-1, keepdims=True) - vectors
        part = least_where(lambda part: self.met_by(vectors + part * away), 0.0, 1.0)
        return np.asarray(vectors + part * away)


class Costs(Protocol):
    """A convex function, never below 0, for each entry of an array of cut points × groups."""

    @property
    def weights(self) -> Floats:
        """The weight of each function."""

    def value(self, at: Floats) -> Floats:
        """The functions' values."""

    def slope(self, at: Floats, side: Side) -> Floats:
        """Their slopes, to the left or the right of a kink."""


@dataclass(frozen=True, eq=False)
class _Moves:
    """The cost of changing a group's level at a cut point."""

    supply: Supply

    @property
    def weights(self) -> Floats:
        return self.supply.weights

    def value(self, at: Floats) -> Floats:
        return self.supply.cost_by_cut(at.T).T

    def slope(self, at: Floats, side: Side) -> Floats:
        quantiles = np.minimum(self.supply.quantile(at.T, side), self.supply.points[-1])
        return np.asarray((quantiles - self.supply.cuts).T)


@dataclass(frozen=True, eq=False)
class _Squares:
    """The squared distance of each entry from its target."""

    target: Floats
    weights: Floats

    def value(self, at: Floats) -> Floats:
        return np.square(at - self.target)

    def slope(self, at: Floats, side: Side) -> Floats:  # noqa: ARG002 (a parabola has no kink)
        return 2 * (at - self.target)


class CertifiedPoint(NamedTuple):
    """The best point, and its optimality gap."""

    point: Floats
    gap: float


def cheapest(costs: Costs, region: Region, start: Sequence[Floats]) -> CertifiedPoint:
    """The cheapest point of a region, by cutting planes from tangents at starting points."""
    everywhere = np.arange(costs.weights.size)
    tangents = _joined([_tangents(costs, at, side, everywhere) for at in start for side in SIDES])
    best, lowest, bound = start[0], np.inf, 0.0
    for _ in range(CUTTING_ROUNDS):
        solution, lower_bound = region.program(tangents, costs.weights).solve()
        bound = max(bound, lower_bound)
        levels, bounds = np.split(solution[: 2 * best.size].reshape(-1, region.shape[1]), 2)
        point = region.inside(levels)
        values = costs.value(point)
        cost = float((costs.weights * values).sum())
        if cost < lowest:
            best, lowest = point, cost
        short = np.flatnonzero(values - bounds > PRECISION / 10)
        tighter = region.tightened(levels)
        if lowest - bound <= PRECISION or (not len(short) and tighter is region):
            break
        region = tighter
        tangents = _joined([tangents, *(_tangents(costs, point, side, short) for side in SIDES)])
    return CertifiedPoint(best, max(lowest - bound, 0.0))


class Tangents(NamedTuple):
    """Lines slope · x + constant below the costs of some entries, given by their places."""

    place: Codes
    slope: Floats
    constants: Floats


def _tangents(costs: Costs, at: Floats, side: Side, which: Codes) -> Tangents:
    slope = costs.slope(at, side)
    constants = costs.value(at) - slope * at
    return Tangents(which, slope.ravel()[which], constants.ravel()[which])


def _joined(tangents: Sequence[Tangents]) -> Tangents:
    return Tangents(
        np.concatenate([lines.place for lines in tangents]),
        np.concatenate([lines.slope for lines in tangents]),
        np.concatenate([lines.constants for lines in tangents]),
    )


@dataclass(frozen=True, eq=False)
class Region:
    """Arrays of cut points × groups within [0, 1], ascending, that meet a bound from `first` on.

    The variables of its programs are the entries, then a bound on the cost of each, then what
    helps to describe the cones, cut point by cut point. Where the measure has no cone, `cuts` are
    half-spaces that keep out levels found to be too unequal: at a cut point, normal and limit.
    """

    shape: tuple[int, int]
    bound: Bound
    first: int = 0
    cuts: tuple[tuple[int, Floats, float], ...] = ()

    @property
    def cone(self) -> Cone | None:
        """The cone of levels at one cut point; None if there is none."""
        level_cone = cone(self.bound.measure, self.shape[1], self.bound.epsilon)
        if level_cone is None and has_cone(self.bound.measure):
            name = self.bound.measure.name
            raise InputError(f"No vector of {self.shape[1]} entries has a {name} above ε.")
        return level_cone

    def tightened(self, at: Floats) -> Region:
        """The same without too unequal levels (cut points, groups), if no cone excludes them."""
        measure, epsilon = self.bound.measure, self.bound.epsilon
        if has_cone(measure):
            return self
        levels = np.maximum(at[self.first :], 0.0)
        places = np.flatnonzero(measure(levels) > epsilon)
        if not len(places):
            return self
        normals, limits = half_spaces(measure, levels[places], epsilon)
        new = zip((places + self.first).tolist(), normals, limits.tolist(), strict=True)
        return replace(self, cuts=(*self.cuts, *new))

    def inside(self, at: Floats) -> Floats:
        """A solver's answer, made exactly ascending in [0, 1] and exactly within the bound."""
        ascending = np.maximum.accumulate(np.clip(at, 0.0, 1.0), axis=0)
        levels = self.bound.pulled(ascending[self.first :])
        return np.vstack([np.minimum(ascending[: self.first], levels[:1]), levels])

    def program(self, tangents: Tangents, weights: Floats) -> Program:
        """The least weighted sum of costs, each no less than its tangents."""
        slack, constant = self._everywhere()
        size, width = weights.size, slack.shape[1]
        linear = [_lines(tangents, size, width), self._ascending(width)]
        linear += [-sparse.eye_array(size, width), sparse.eye_array(size, width)]
        zeros = [np.zeros(part.shape[0]) for part in linear[1:3]]
        limits = np.concatenate([-tangents.constants, *zeros, np.ones(size), constant])
        cost = np.concatenate([np.zeros(size), weights.ravel(), np.zeros(width - 2 * size)])
        rows = sparse.vstack([*linear, -slack], format="csr")
        flat = Part("nonnegative", rows.shape[0] - slack.shape[0])
        level_cone = self.cone
        parts = (
            (Part("nonnegative", len(constant)),)
            if level_cone is None
            else level_cone.parts * (self.shape[0] - self.first)
        )
        return Program(cost, rows, limits, (flat, *parts))

    def _everywhere(self) -> tuple[sparse.csr_array, Floats]:
        """The slack of the cones at all cut points from the first on: its rows and constant."""
        (cuts, groups), cone = self.shape, self.cone
        if cone is None:
            normals = np.zeros((len(self.cuts), cuts, groups))
            for row, (place, normal, _) in enumerate(self.cuts):
                normals[row, place] = -normal
            slack = sparse.csr_array(normals.reshape(len(self.cuts), cuts * groups))
            slack.resize((len(self.cuts), 2 * cuts * groups))
            return slack, np.array([limit for *_, limit in self.cuts])
        constrained = sparse.eye_array(cuts, format="csr")[self.first :]
        levels = sparse.kron(constrained, cone.of_rates)
        helping = sparse.kron(sparse.eye_array(cuts - self.first), cone.of_help)
        bounds = sparse.csr_array((levels.shape[0], cuts * groups))
        slack = sparse.hstack([levels, bounds, helping], format="csr")
        return slack, np.tile(cone.constant, cuts - self.first)

    def _ascending(self, width: int) -> sparse.csr_array:
        """Each level minus the next one of its group."""
        cuts, groups = self.shape
        pairs = (cuts - 1) * groups
        return sparse.eye_array(pairs, width) - sparse.eye_array(pairs, width, k=groups)


def _lines(tangents: Tangents, size: int, width: int) -> sparse.csr_array:
    """Each slope times its entry, minus the bound on the cost of that entry."""
    row = np.arange(len(tangents.place))
    entries = np.concatenate([tangents.slope, -np.ones(len(row))])
    places = np.concatenate([tangents.place, tangents.place + size])
    return sparse.csr_array((entries, (np.tile(row, 2), places)), shape=(len(row), width))
