"""Intervals that hold at all looks at once, from hits and rows so far.

*Calibrated.* In the direction of a plane that touches the vectors as uneven as the truth, the
estimate's error stays within a reach (`boundary.py`) whatever the sizes of the groups and however
they grow; the rest is the geometry of intervals for a single look, with this reach in place of
1.96. Below, where as many groups are tied as the nearest truth has, the mixture has as many
dimensions. Of PQ of many groups the noise is taken off (`crowds.py`).

*Guaranteed.* Each group's rate by a mixture of binomial likelihood ratios, all groups at once: the
extremes of the measure over that box. Its coverage is proved for any number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.curves import DISTANCES
from evenhand._uncertainty.geometry import (
    STEPS,
    Cloud,
    EvennessSearch,
    evenest,
    most_uneven,
    upper_limit,
)
from evenhand._uncertainty.interval import ConfidenceInterval, Method
from evenhand._uncertainty.many_groups import has_many_groups
from evenhand.measures import Measure
from evenhand.watch.boundary import widening
from evenhand.watch.crowds import crowd_ends
from evenhand.watch.distances import Distances
from evenhand.watch.rates import Rates

Floats = NDArray[np.float64]

BEYOND = 1e6  # standard errors: farther than any limit
SCALE = 100.0  # rows of a group: of the mixture below, and what groups are stretched by there
PRIORS = ((0.5, 0.5), (3.0, 3.0), (0.5, 8.0), (8.0, 0.5))  # of a rate, mixed in equal parts
HALVINGS = 40
NARROW = 0.01  # of a lower end, relative to what it is below
FEWEST = 3  # groups up to which it pays to suppose that they may be alike


def band_of(
    rates: Rates, measure: Measure, error: float, method: Method, weights: Floats
) -> ConfidenceInterval:
    """The band of a measure over the cells, of which the worst counts.

    Two classes of the same rows are one cell seen from both sides. `weights` (groups) are how the
    error is shared out among groups where the box is asked for.
    """
    share = error / _looks(rates.strata)
    ends = []
    for i, (hits, sizes) in enumerate(zip(rates.hits, rates.sizes, strict=True)):
        seen = sizes > 0
        if seen.sum() >= 2:
            effective = None if rates.effective is None else rates.effective[i, seen]
            relative = measure.is_relative
            cell = _Cell(
                hits[seen], sizes[seen], rates.limits, relative, rates.are_counts, effective
            )
            ends.append(_ends(cell, measure, share, method, weights[seen]))
    if not ends:
        return ConfidenceInterval(np.nan, np.nan, np.nan, 1 - error, method)
    value, low, high = (max(parts) for parts in zip(*ends, strict=True))
    return ConfidenceInterval(value, min(low, value), max(high, value), 1 - error, method)


def _looks(strata: NDArray[np.intp]) -> int:
    """How many cells the error is shared out among."""
    return max(sum(max(int(number) - (int(number) == 2), 1) for number in np.bincount(strata)), 1)


def rate_limits(hits: Floats, sizes: Floats, error: float | Floats) -> tuple[Floats, Floats]:
    """Limits of rates that hold at all looks, each with its error.

    >>> low, high = rate_limits(np.array([30.0]), np.array([100.0]), 0.05)
    >>> print(f"{low[0]:.2f} {high[0]:.2f}")
    0.16 0.47
    """
    bound = log_mixture(hits, sizes) + np.log(error)
    rate = hits / np.maximum(sizes, 1.0)

    def beyond(at: Floats) -> NDArray[np.bool_]:
        """Whether the mixture is 1/error times as likely as this rate."""
        return np.asarray(log_likelihood(hits, sizes, at) < bound)

    ends = []
    for end in (0.0, 1.0):
        outer, inner = np.full(rate.shape, end), rate
        is_out = beyond(outer)
        for _ in range(HALVINGS):
            middle = (outer + inner) / 2
            out = beyond(middle)
            outer, inner = np.where(out, middle, outer), np.where(out, inner, middle)
        ends.append(np.where(is_out, outer, end))
    return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class _Cell:
    """The groups of a cell, as shares of a range; a relative measure wants values of at least 0."""

    hits: Floats
    sizes: Floats
    limits: tuple[float, float]
    is_relative: bool
    are_counts: bool = True
    effective: Floats | None = None

    @property
    def shows_noise(self) -> bool:
        """Whether the noise of many groups can be taken off: some group has hits and misses.

        A group of one row shows none of its own, and where all rates are 0 or 1 there is none.
        """
        if not (self.are_counts and has_many_groups(self.sizes)):
            return False
        within = bool(((self.hits > 0) & (self.hits < self.sizes)).any())
        return self.sizes.min() > 1 and within

    def values(self, shares: Floats) -> Floats:
        low, high = self.limits
        values = low + (high - low) * shares
        return np.asarray(np.maximum(values, 0.0) if self.is_relative else values)


def _ends(
    cell: _Cell, measure: Measure, error: float, method: Method, weights: Floats
) -> tuple[float, float, float]:
    """Value and ends in one cell."""
    value = float(measure(cell.values(cell.hits / cell.sizes)))
    if method == "guaranteed":
        limits = rate_limits(cell.hits, cell.sizes, error * weights)
        least, most = cell.values(limits[0]), cell.values(limits[1])
        return value, evenest(least, most, measure), most_uneven(least, most, measure)
    if measure.reads == "powers" and measure.is_solved and cell.shows_noise:
        return value, *crowd_ends(cell.hits, cell.sizes, error)
    scale, reach = widening(cell.sizes, error, _heterogeneity(cell))
    above, below = _stretched(cell, scale, reach), _stretched(cell, SCALE, reach)
    more = float(np.log1p(cell.sizes / SCALE).mean())
    alike, apart = (Bound(float(-2 * np.log(part)), more) for part in (error, error / 2))
    low = _AnytimeSearch(_cloud(below), measure, error).lower(alike, apart)
    return value, low, upper_limit(_cloud(above), measure, reach)


def _heterogeneity(cell: _Cell) -> float | None:
    """The squared distance to groups that are all alike, of so few that it is small if they are."""
    if len(cell.sizes) > FEWEST or cell.effective is not None or not cell.are_counts:
        return None
    return _cloud(Distances(cell.hits, cell.sizes, np.ones(len(cell.sizes)))).heterogeneity


def _stretched(cell: _Cell, scale: float, reach: float) -> Distances:
    """The groups with distances that are √(1 + scale / n) times as far as those of a single look.

    The variance between few clusters is known as badly as Student's t says, at this reach.
    """
    times = np.sqrt(1 + scale / cell.sizes)
    hits, sizes = cell.hits, cell.sizes
    if cell.effective is not None:
        times = times * _students(reach, cell.sizes - 1)
        hits, sizes = hits / sizes * cell.effective, cell.effective
    return Distances(hits, sizes, times, cell.limits, cell.is_relative)


def _cloud(groups: Distances) -> Cloud:
    """The groups with their confidence curves, as the search of a single look wants them."""
    curves = groups.at(DISTANCES[:, None] * np.ones(len(groups.hits)))
    return Cloud(groups.values, np.maximum.accumulate(curves, axis=0))


def _students(reach: float, free: Floats) -> Floats:
    """How much farther than a normal variable Student's t goes as seldom.

    One cluster is beyond all, at a finite distance: no steps of infinite length are not a number.
    """
    from scipy.special import ndtr, stdtrit

    tail = ndtr(-reach)
    return np.asarray(np.where(free >= 1, -stdtrit(np.maximum(free, 1.0), tail) / reach, BEYOND))


@dataclass(frozen=True)
class Bound:
    """The squared distance that is too far: so much, and so much more for each dimension."""

    base: float
    by_dimension: float

    def reach(self, dimensions: float) -> float:
        """How far is too far."""
        return float(np.sqrt(self.base + dimensions * self.by_dimension))


class _AnytimeSearch(EvennessSearch):
    """Whether groups at most so uneven are too far from the data, at whichever look."""

    def lower(self, alike: Bound, apart: Bound) -> float:
        """The least inequality that is not too far."""
        least, most = 0.0, float(self.measure(self.cloud.values))
        if not most > 0 or (over := self._excess(0.0, alike)) < 0:
            return 0.0
        under = -apart.reach(0)  # at the data themselves the distance is 0
        for _ in range(STEPS):
            level = least + (most - least) * min(max(over / (over - under), 0.05), 0.95)
            excess = self._excess(level, apart)
            if excess >= 0:
                least, over, under = level, excess, under / 2  # as the Illinois method halves
            else:
                most, under, over = level, excess, over / 2
            if most - least < NARROW * most:
                break
        return least

    def _excess(self, level: float, bound: Bound) -> float:
        """How much farther such groups are than the bound; negative where they are not rejected."""
        tail, square, _ = self.tail(level)
        far = float(np.sqrt(square))
        one = far - bound.reach(1)
        return one if one < 0 else far - bound.reach(_dimensions(square, tail, len(self.cloud) - 1))


def _dimensions(square: float, tail: float, most: int) -> float:
    """The degrees of freedom with which chi-squared exceeds a square so often."""
    from scipy.special import chdtrc

    low, high = 1.0, float(max(most, 1))
    if tail <= chdtrc(low, square):
        return low
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if chdtrc(middle, square) < tail else (low, middle)
    return high


def log_likelihood(hits: Floats, sizes: Floats, rate: Floats) -> Floats:
    """Log likelihood of hits, one after the other, at a rate."""
    from scipy.special import xlog1py, xlogy

    return np.asarray(xlogy(hits, rate) + xlog1py(sizes - hits, -rate))


def log_mixture(hits: Floats, sizes: Floats) -> Floats:
    """Log likelihood of hits, one after the other, mixed over rates."""
    return log_mixed(hits, sizes, PRIORS)


def log_mixed(hits: Floats, sizes: Floats, priors: Sequence[tuple[Any, Any]]) -> Floats:
    """Log likelihood of hits mixed over beta distributions of a rate, in equal parts."""
    from scipy.special import betaln, gammaln

    misses = sizes - hits
    parts = [
        gammaln(hits + a) + gammaln(misses + b) - gammaln(sizes + (a + b)) - betaln(a, b)
        for a, b in priors
    ]
    return np.asarray(np.logaddexp.reduce(parts) - np.log(len(parts)))
