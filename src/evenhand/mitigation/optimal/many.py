"""The Gini index of many groups: one price and a sort for each level of rates, without pairs.

The sum of all distances of rates is a total variation, which separates by levels: those groups
have a rate above a level whose cost of rising there is least, and how many they are is found by
trying all numbers (Chambolle and Darbon, On total variation minimization and surface evolution
using parametric maximum flows, 2009; here the graph is complete, and a cut of k of d groups has
k (d − k) edges, so that sorting takes the place of a flow).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

HALVINGS = 60
PRICES = 60
TIED = 1e-9
DIGITS = 11
NEAR = 1e-12


MANY = 40  # groups, from which on this is faster than all pairs


class BothError(Exception):
    """Two cells bind at once, which one price cannot express."""


@dataclass(frozen=True, eq=False)
class ManyGroups:
    """The bound on the Gini index of one rate of every group, without a variable for each pair.

    It has the questions of `Bounds`; a dual point is the prices of rates itself. Of two cells whose
    rates add up to 1, one binds.
    """

    epsilon: float
    cells: int
    groups: int
    owner: Codes

    polyhedral: ClassVar[bool] = True
    most_rounds: ClassVar[int] = 200

    @property
    def pairs(self) -> int:
        """The number of rates."""
        return self.cells * self.groups

    @property
    def constant(self) -> Floats:
        """A place for each dual number."""
        return np.zeros(self.pairs)

    def multipliers(self, dual: Floats) -> Floats:
        """The prices of the rates at a dual point."""
        return dual

    def constant_part(self, dual: Floats) -> float:  # noqa: ARG002
        """Zero: the bound is homogeneous."""
        return 0.0

    def slope(self, dual: Floats, rates: Floats) -> Floats:  # noqa: ARG002
        """The direction in which the lower bound rises."""
        return rates

    def mix(self, pool: Codes, rates: Floats, cost: Floats) -> tuple[Floats, Floats]:
        """The share of each rule, and the dual point; rates are (rules, cells)."""
        for cell in np.argsort(self._sums(pool, rates, cost), kind="stable"):
            steps, first = segments(pool, self.owner, rates[:, cell], cost)
            cheapest, prices = cheapest_rates(steps, self.epsilon)
            if self.cells == 1 or excess(1 - cheapest, self.epsilon) <= NEAR * self.groups:
                dual = np.zeros((self.cells, self.groups))
                dual[cell] = prices
                return _shares(steps, first, cheapest, len(cost)), dual.ravel()
        raise BothError

    def _sums(self, pool: Codes, rates: Floats, cost: Floats) -> Floats:
        """The sum of each cell's rates where every pool takes its cheapest rule."""
        order = np.lexsort((cost, pool))
        best = order[np.append(True, np.diff(pool[order]) > 0)]
        return np.asarray(rates[best].sum(axis=0))


class Segments(NamedTuple):
    """Convex costs of rates: by group a first rate, and steps upward of rising slope.

    Step i takes the share of a pool's decisions from the rule `lower[i]` to `upper[i]`.
    """

    first: Floats
    group: Codes
    width: Floats
    slope: Floats
    lower: Codes
    upper: Codes


def segments(pool: Codes, owner: Codes, rate: Floats, cost: Floats) -> tuple[Segments, Codes]:
    """The lower hulls of rules by rate and cost, and each pool's rule of least rate."""
    order = np.lexsort((cost, rate, pool))
    is_new = np.append(True, (np.diff(pool[order]) > 0) | (np.diff(rate[order]) > NEAR))
    rules = order[is_new]  # of equal rates the cheapest
    start = np.flatnonzero(np.append(True, np.diff(pool[rules]) > 0))
    inner = np.flatnonzero(np.diff(pool[rules]) == 0)
    low, high = rules[inner], rules[inner + 1]
    width = rate[high] - rate[low]
    slope = (cost[high] - cost[low]) / width
    if len(inner):  # offset pools so far from each other that no block has rules of two
        offset = 4 * (np.abs(slope).max() + 1)
        blocks = isotonic_regression(slope + offset * pool[low], weights=width).blocks
        low, high = low[blocks[:-1]], high[blocks[1:] - 1]
        width = rate[high] - rate[low]
        slope = (cost[high] - cost[low]) / width
    group = owner[pool[low]]
    sorted_ = np.lexsort((slope, group))
    lowest = np.bincount(owner[pool[rules[start]]], rate[rules[start]], int(owner.max()) + 1)
    first = np.asarray(lowest, dtype=np.float64)
    steps = (group, width, slope, low, high)
    return Segments(first, *(column[sorted_] for column in steps)), rules[start]


def _shares(steps: Segments, first: Codes, rates: Floats, rules: int) -> Floats:
    """The share of each rule where groups have these rates: steps are used in order."""
    reached = np.append(0.0, np.cumsum(steps.width))
    start = np.searchsorted(steps.group, np.arange(len(rates)))
    passed = reached[:-1] - reached[start[steps.group]]
    remaining = (rates - steps.first)[steps.group] - passed
    fraction = np.clip(remaining / steps.width, 0, 1)
    share = np.zeros(rules)
    share[first] = 1.0
    np.subtract.at(share, steps.lower, fraction)
    np.add.at(share, steps.upper, fraction)
    return np.maximum(share, 0)


@dataclass(frozen=True, eq=False)
class Levels:
    """Costs of rates on a grid: `rate[a]` are the rates of group a at which its slope changes."""

    steps: Segments
    ends: Floats
    start: Codes
    levels: Floats

    @classmethod
    def of(cls, steps: Segments) -> Levels:
        """All rates at which any slope changes."""
        groups = len(steps.first)
        start = np.searchsorted(steps.group, np.arange(groups + 1))
        reached = np.append(0.0, np.cumsum(steps.width))
        ends = steps.first[steps.group] + reached[1:] - reached[start[steps.group]]
        first, ends = (
            steps.first.round(DIGITS),
            ends.round(DIGITS),
        )  # merge levels that differ by rounding
        levels = np.unique(np.concatenate([first, ends]))
        return cls(steps._replace(first=first), ends, start, levels)

    def slope(self, group: Codes, level: Codes) -> Floats:
        """The slope of a group's cost from a level to the next; infinite beyond its rates."""
        if not len(self.ends):
            return np.full(len(group), np.inf)
        middle = (self.levels[level] + self.levels[level + 1]) / 2
        key = 2.0 * self.steps.group + self.ends
        place = np.searchsorted(key, 2.0 * group + middle)
        is_over = place >= self.start[group + 1]
        slopes = self.steps.slope[np.minimum(place, len(self.ends) - 1)]
        slopes = np.where(is_over, np.inf, slopes)
        return np.where(middle < self.steps.first[group], -np.inf, slopes)

    def cost(self, rates: Floats) -> float:
        """The cost of rates beyond the first ones."""
        steps = self.steps
        risen = rates[steps.group] - (self.ends - steps.width)
        return float(np.clip(risen, 0, steps.width) @ steps.slope)

    def best(self, price: float, bonus: float) -> Floats:
        """Rates of least cost + price · (Σ |rᵢ − rⱼ| − bonus · Σ r), by bisection in levels.

        All groups begin with all levels. Those of one interval are split at its middle level, where
        the k with the least slopes go up; their number minimizes the sum.
        """
        groups = len(self.steps.first)
        low, high = np.zeros(groups, np.intp), np.full(groups, len(self.levels) - 1)
        everyone = np.arange(groups)
        while (low < high).any():
            middle = np.minimum((low + high) // 2, len(self.levels) - 2)
            slope = np.where(low < high, self.slope(everyone, middle), np.inf)
            order = np.lexsort((slope, -low))  # intervals from the highest to the lowest
            goes_up = np.zeros(groups, dtype=bool)
            goes_up[order] = _prefixes(slope[order], low[order], price, bonus)
            goes_up &= low < high
            low, high = np.where(goes_up, middle + 1, low), np.where(goes_up, high, middle)
            high = np.maximum(low, high)
        return self.levels[low]


def _prefixes(slope: Floats, node: Codes, price: float, bonus: float) -> NDArray[np.bool_]:
    """Which groups go up: the first k of each run of equal nodes, with the best k."""
    total = len(slope)
    is_new = np.append(True, np.diff(node) != 0)
    starts = np.flatnonzero(is_new)
    run = np.cumsum(is_new) - 1
    above = np.arange(1, total + 1)  # groups that would be above, those of higher nodes included
    edges = above * (total - above) - bonus * above
    base = starts * (total - starts) - bonus * starts
    sums = np.cumsum(np.where(np.isfinite(slope), slope, 0.0))
    before = np.append(0.0, sums)[starts]
    gain = sums - before[run] + price * (edges - base[run])
    must, may_not = slope == -np.inf, slope == np.inf  # below their least rate, at their largest
    gain[may_not | np.append(must[1:] & (run[1:] == run[:-1]), False)] = np.inf
    minimum = np.minimum(np.minimum.reduceat(gain, starts), np.where(must[starts], np.inf, 0.0))
    is_best = (gain <= minimum[run]) & ~may_not
    place = np.where(is_best, np.arange(total), -1)
    last = np.maximum.reduceat(place, starts)
    return np.asarray(np.arange(total) <= last[run])


class Mixed(NamedTuple):
    """Rates, and the price of moving each: a subgradient of the constraint."""

    rates: Floats
    prices: Floats


def cheapest_rates(steps: Segments, epsilon: float) -> Mixed:
    """The cheapest rates whose Gini index is at most ε, by the price of it.

    Two prices hold the right one between them; the next is where their rates would cost the same,
    and when nothing is cheaper there, it is the right one.
    """
    levels, groups = Levels.of(steps), len(steps.first)
    bonus = epsilon * groups
    uneven, price = levels.best(0.0, bonus), 1.0
    if excess(uneven, epsilon) <= 0:
        return Mixed(uneven, np.zeros(groups))
    while excess(even := levels.best(price, bonus), epsilon) > 0 and price < 1e12:
        uneven, price = even, 4 * price
    for _ in range(PRICES):
        over, under = excess(uneven, epsilon), excess(even, epsilon)
        if over <= under:
            break
        price = (levels.cost(even) - levels.cost(uneven)) / (over - under)
        rates = levels.best(price, bonus)
        overshoot = excess(rates, epsilon)
        saved = levels.cost(uneven) + price * over - levels.cost(rates) - price * overshoot
        if saved <= NEAR:
            break
        uneven, even = (rates, even) if overshoot > 0 else (uneven, rates)
    rates = _between(uneven, even, epsilon)
    return Mixed(rates, price * (_subgradient(levels, rates, price, bonus) - bonus))


def excess(rates: Floats, epsilon: float) -> float:
    """Σ |rᵢ − rⱼ| over pairs − ε d Σ r."""
    ranks = 2 * np.arange(len(rates)) + 1 - len(rates)
    return float(np.sort(rates) @ ranks - epsilon * len(rates) * rates.sum())


def _between(uneven: Floats, even: Floats, epsilon: float) -> Floats:
    """The mixture of two solutions at one price that just meets the bound: as cheap as both."""
    low, high = 0.0, 1.0  # the share of the even one
    for _ in range(HALVINGS):
        share = (low + high) / 2
        if excess((1 - share) * uneven + share * even, epsilon) > 0:
            low = share
        else:
            high = share
    return np.asarray((1 - high) * uneven + high * even)


def _subgradient(levels: Levels, rates: Floats, price: float, bonus: float) -> Floats:
    """A subgradient of Σ |rᵢ − rⱼ| that agrees with the slopes of the costs on both sides.

    Subgradients are what the ranks of each cluster of equal rates majorize. Of all vectors between
    the slopes with the ranks' sum, one level cut off at the slopes is majorized by every other, so
    that it is a subgradient if any is (Marshall, Olkin and Arnold, Inequalities, 2011, ch. 5).
    It ends in the permutahedron, where any point proves a bound.
    """
    everyone, last = np.arange(len(rates)), len(levels.levels) - 2
    place = np.searchsorted(levels.levels, rates - NEAR)
    is_at = np.abs(levels.levels[np.minimum(place, last + 1)] - rates) <= TIED
    right = np.clip(np.where(is_at, place, place - 1), 0, last)
    left = np.clip(place - 1, 0, last)
    upper = bonus - np.where(place > 0, levels.slope(everyone, left), -np.inf) / price
    lower = bonus - levels.slope(everyone, right) / price
    lower = np.where(is_at & (place > last), -np.inf, lower)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    order = np.argsort(rates, kind="stable")
    rank, cluster = np.empty(len(rates)), np.empty(len(rates), np.intp)
    rank[order] = _ranks(len(rates))
    cluster[order] = np.cumsum(np.append(0, np.diff(rates[order]) > TIED))
    return _projected(_leveled(rank, cluster, lower, upper), cluster)


def _leveled(rank: Floats, cluster: Codes, lower: Floats, upper: Floats) -> Floats:
    """In each cluster one level between least and most, with the sum of the ranks."""
    total = np.bincount(cluster, rank)
    low, high = np.full(len(total), rank.min()), np.full(len(total), rank.max())
    for _ in range(HALVINGS):
        level = (low + high) / 2
        is_under = np.bincount(cluster, np.clip(level[cluster], lower, upper)) < total
        low, high = np.where(is_under, level, low), np.where(is_under, high, level)
    return np.asarray(np.clip(high[cluster], lower, upper))


def _ranks(groups: int) -> Floats:
    return np.asarray(2.0 * np.arange(groups) + 1 - groups, dtype=np.float64)


def _projected(point: Floats, cluster: Codes) -> Floats:
    """The nearest subgradient: of each cluster of equal rates in its ranks' permutahedron.

    That is an isotonic regression (Lim and Wright, Efficient Bregman projections onto the
    permutahedron, 2016).
    """
    order = np.lexsort((point, cluster))
    excess = point[order] - _ranks(len(point))
    offset = 2 * np.ptp(excess) * cluster[order]
    nearest = np.empty(len(point))
    nearest[order] = point[order] - (isotonic_regression(excess + offset).x - offset)
    return nearest
