"""Confidence sequences of a measure: intervals that hold simultaneously at all looks.

*Calibrated.* In the direction normal to a supporting hyperplane of the vectors that are as unequal
as the truth, the estimate's error stays within a reach (`boundary.py`), whatever the sizes of the
groups and however they grow; otherwise the geometry is that of intervals for a single look, with
this reach in place of 1.96. For lower ends, the mixture has as many dimensions as groups are tied
at the nearest truth. PQ of many groups is corrected for noise (`many_groups.py`).

*Guaranteed.* Each group's rate has limits by a mixture of binomial likelihood ratios, all groups
simultaneously; the ends are the extremes of the measure over that box. Its coverage is proved for
any number of rows.
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
from evenhand.watch.distances import Distances
from evenhand.watch.many_groups import pq_ends
from evenhand.watch.rates import Rates

Floats = NDArray[np.float64]

BEYOND = 1e6  # standard errors: farther than any limit
SCALE = 100.0  # rows of a group: the scale of the mixture and the stretch for lower ends
PRIORS = ((0.5, 0.5), (3.0, 3.0), (0.5, 8.0), (8.0, 0.5))  # of a rate, mixed in equal parts
HALVINGS = 40
NARROW = 0.01  # the relative tolerance of a lower end
FEWEST = 3  # up to this many groups the mixture includes that all are equal


def band_of(
    rates: Rates, measure: Measure, error: float, method: Method, weights: Floats
) -> ConfidenceInterval:
    """The interval of a measure over the cells, of which the worst counts.

    Two classes of the same rows are one cell, since their rates are complements. `weights` (groups)
    are the groups' shares of the error for guaranteed intervals.
    """
    share = error / _looks(rates.strata)
    ends = []
    for i, (hits, sizes) in enumerate(zip(rates.hits, rates.sizes, strict=True)):
        present = sizes > 0
        if present.sum() >= 2:
            effective = None if rates.effective is None else rates.effective[i, present]
            relative = measure.is_relative
            cell = _Cell(
                hits[present], sizes[present], rates.limits, relative, rates.are_counts, effective
            )
            ends.append(_ends(cell, measure, share, method, weights[present]))
    if not ends:
        return ConfidenceInterval(np.nan, np.nan, np.nan, 1 - error, method)
    value, low, high = (max(parts) for parts in zip(*ends, strict=True))
    return ConfidenceInterval(value, min(low, value), max(high, value), 1 - error, method)


def _looks(strata: NDArray[np.intp]) -> int:
    """The number of cells that share the error."""
    return max(sum(max(int(number) - (int(number) == 2), 1) for number in np.bincount(strata)), 1)


def rate_limits(hits: Floats, sizes: Floats, error: float | Floats) -> tuple[Floats, Floats]:
    """Limits of rates that hold at all looks, each with this error.

    >>> low, high = rate_limits(np.array([30.0]), np.array([100.0]), 0.05)
    >>> print(f"{low[0]:.2f} {high[0]:.2f}")
    0.16 0.47
    """
    bound = log_mixture(hits, sizes) + np.log(error)
    rate = hits / np.maximum(sizes, 1.0)

    def beyond(rates: Floats) -> NDArray[np.bool_]:
        """Whether the mixture is 1/error times as likely as this rate."""
        return np.asarray(log_likelihood(hits, sizes, rates) < bound)

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
    """The groups of a cell, as shares of a range; relative measures need values of at least 0."""

    hits: Floats
    sizes: Floats
    limits: tuple[float, float]
    is_relative: bool
    are_counts: bool = True
    effective: Floats | None = None

    @property
    def shows_noise(self) -> bool:
        """Whether noise can be estimated and corrected: for many groups, some with both outcomes.

        A single row does not show its noise, and there is none where all rates are 0 or 1.
        """
        if not (self.are_counts and has_many_groups(self.sizes)):
            return False
        within = bool(((self.hits > 0) & (self.hits < self.sizes)).any())
        return self.sizes.min() > 1 and within

    def values(self, shares: Floats) -> Floats:
        """Values of the statistic, from shares of its range."""
        low, high = self.limits
        values = low + (high - low) * shares
        return np.asarray(np.maximum(values, 0.0) if self.is_relative else values)


def _ends(
    cell: _Cell, measure: Measure, error: float, method: Method, weights: Floats
) -> tuple[float, float, float]:
    """The value and the interval's ends in one cell."""
    value = float(measure(cell.values(cell.hits / cell.sizes)))
    if method == "guaranteed":
        limits = rate_limits(cell.hits, cell.sizes, error * weights)
        lowest, highest = cell.values(limits[0]), cell.values(limits[1])
        return value, evenest(lowest, highest, measure), most_uneven(lowest, highest, measure)
    if measure.reads == "powers" and measure.is_solved and cell.shows_noise:
        return value, *pq_ends(cell.hits, cell.sizes, error)
    scale, reach = widening(cell.sizes, error, _heterogeneity(cell))
    above, below = _stretched(cell, scale, reach), _stretched(cell, SCALE, reach)
    by_dimension = float(np.log1p(cell.sizes / SCALE).mean())
    null_bound, bound = (
        Bound(float(-2 * np.log(part)), by_dimension) for part in (error, error / 2)
    )
    low = _AnytimeSearch(_cloud(below), measure, error).lower(null_bound, bound)
    return value, low, upper_limit(_cloud(above), measure, reach)


def _heterogeneity(cell: _Cell) -> float | None:
    """The squared distance to equal groups, if there are few groups; else None."""
    if len(cell.sizes) > FEWEST or cell.effective is not None or not cell.are_counts:
        return None
    return _cloud(Distances(cell.hits, cell.sizes, np.ones(len(cell.sizes)))).heterogeneity


def _stretched(cell: _Cell, scale: float, reach: float) -> Distances:
    """The groups with distances √(1 + scale / n) times those of a single look.

    Where few clusters determine the variance, distances also grow as Student's t at this reach.
    """
    times = np.sqrt(1 + scale / cell.sizes)
    hits, sizes = cell.hits, cell.sizes
    if cell.effective is not None:
        times = times * _students(reach, cell.sizes - 1)
        hits, sizes = hits / sizes * cell.effective, cell.effective
    return Distances(hits, sizes, times, cell.limits, cell.is_relative)


def _cloud(groups: Distances) -> Cloud:
    """The groups with their confidence curves, for the search of a single look."""
    curves = groups.at(DISTANCES[:, None] * np.ones(len(groups.hits)))
    return Cloud(groups.values, np.maximum.accumulate(curves, axis=0))


def _students(reach: float, free: Floats) -> Floats:
    """The ratio of the quantiles of Student's t to a normal one with the same tail.

    For a single cluster it is large but finite, so that no infinite steps produce NaN.
    """
    from scipy.special import ndtr, stdtrit

    tail = ndtr(-reach)
    return np.asarray(np.where(free >= 1, -stdtrit(np.maximum(free, 1.0), tail) / reach, BEYOND))


@dataclass(frozen=True)
class Bound:
    """The critical squared distance: a base, and an increment for each dimension."""

    base: float
    by_dimension: float

    def reach(self, dimensions: float) -> float:
        """The critical distance."""
        return float(np.sqrt(self.base + dimensions * self.by_dimension))


class _AnytimeSearch(EvennessSearch):
    """Tests whether groups of at most some inequality are too far from the data, at any look."""

    def lower(self, null_bound: Bound, bound: Bound) -> float:
        """The smallest inequality that is not rejected."""
        low, high = 0.0, float(self.measure(self.cloud.values))
        if not high > 0 or (over := self._excess(0.0, null_bound)) < 0:
            return 0.0
        under = -bound.reach(0)  # at the data themselves the distance is 0
        for _ in range(STEPS):
            level = low + (high - low) * min(max(over / (over - under), 0.05), 0.95)
            excess = self._excess(level, bound)
            if excess >= 0:
                low, over, under = level, excess, under / 2  # as the Illinois method halves
            else:
                high, under, over = level, excess, over / 2
            if high - low < NARROW * high:
                break
        return low

    def _excess(self, level: float, bound: Bound) -> float:
        """The distance of such groups beyond the bound; negative if they are not rejected."""
        tail, square, _ = self.tail(level)
        distance = float(np.sqrt(square))
        in_one_dimension = distance - bound.reach(1)
        return (
            in_one_dimension
            if in_one_dimension < 0
            else distance - bound.reach(_dimensions(square, tail, len(self.cloud) - 1))
        )


def _dimensions(square: float, tail: float, largest: int) -> float:
    """The degrees of freedom for which chi-squared has this tail probability at a square."""
    from scipy.special import chdtrc

    low, high = 1.0, float(max(largest, 1))
    if tail <= chdtrc(low, square):
        return low
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if chdtrc(middle, square) < tail else (low, middle)
    return high


def log_likelihood(hits: Floats, sizes: Floats, rate: Floats) -> Floats:
    """Log likelihood of a sequence of hits and misses at a rate."""
    from scipy.special import xlog1py, xlogy

    return np.asarray(xlogy(hits, rate) + xlog1py(sizes - hits, -rate))


def log_mixture(hits: Floats, sizes: Floats) -> Floats:
    """Log likelihood of a sequence of hits and misses, mixed over rates."""
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
