"""Intervals that hold at all looks at once, from hits and rows so far.

*Calibrated.* In the direction of a plane that touches the vectors as uneven as the truth, the
estimate's error is a Brownian motion in the information so far (Jennison and Turnbull 1997),
whatever the sizes of the groups and however they grow. A mixture of two of Robbins' normal mixtures
bounds it at all times: for n rows of each group its square, in standard errors, by the f(n) at
which Σ wₖ (1 + n/cₖ)^-½ exp(f n / 2(n + cₖ)) is 1/α. Groups of unequal sizes are stretched by a
convex √(1 + c/n) each, times as much as makes it at least f between the smallest and the largest;
the rest is the geometry of intervals for a single look, with this bound in place of 1.96. Below,
where as many groups are tied as the nearest truth has, the mixture has as many dimensions.

*Guaranteed.* Each group's rate by a mixture of binomial likelihood ratios, all groups at once: the
extremes of the measure over that box. Its coverage is proved for any number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.curves import CAUTION, DISTANCES, FARTHEST, STEP, rate_curves
from evenhand._uncertainty.geometry import (
    NEGLIGIBLE,
    STEPS,
    Cloud,
    _Search,
    evenest,
    most_uneven,
    upper_limits,
)
from evenhand._uncertainty.interval import ConfidenceInterval, Method
from evenhand.measures import Measure, is_scale_free, mpd
from evenhand.watch.rates import Rates

Floats = NDArray[np.float64]

SCALES = np.array([50.0, 800.0])  # rows of a group: a band is narrowest at about 8 times as many
SHARES = np.array([0.6, 0.4])  # of these in the mixture
SCALE = 100.0  # the same of the mixture below, and what groups of about one size are stretched by
STRETCHES = np.array([5.0, 10.0, 20.0, 40.0, 70.0, SCALE])  # that are tried for unequal ones
ALIKE = 1.5  # times as many rows as the smallest group make a band that is as good as it can be
MANY = 30.0  # hits, and as many misses, from which on a quantile of a beta is well approximated
PRIORS = ((0.5, 0.5), (3.0, 3.0), (0.5, 8.0), (8.0, 0.5))  # of a rate, mixed in equal parts
HALVINGS = 40
MOST_STEPS, ENOUGH = 40, 1e-3  # to where an interval is nearest, and how near, in errors
NARROW = 0.01  # of a lower end, relative to what it is below
FEW = 20  # groups up to which the search of a single look is quick enough


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
            relative = is_scale_free(measure)
            cell = _Cell(hits[seen], sizes[seen], rates.limits, relative, effective)
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
    effective: Floats | None = None

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
    sizes = cell.sizes
    scale, reach = _widening(sizes, error)
    cloud = _stretched(cell, scale, reach)
    high = float(upper_limits([cloud], measure, reach)[0])
    if scale != SCALE:
        cloud = _stretched(cell, SCALE, reach)
    return value, _lower(cloud, measure, error, float(np.log1p(sizes / SCALE).mean())), high


def _widening(sizes: Floats, error: float) -> tuple[float, float]:
    """A scale c of the stretch √(1 + c/n), and the reach that with it is at least the bound.

    Any c is right; where sizes differ, the one with which the groups' limits are nearest.
    """
    if sizes.max() <= ALIKE * sizes.min():
        between, scales = np.array([sizes.min(), sizes.max()]), np.array([SCALE])
    else:
        between, scales = np.geomspace(sizes.min(), sizes.max(), 9), STRETCHES
    bound = squared_bound(between, error)
    squares = (bound / (1 + scales[:, None] / between)).max(axis=1)
    width = np.sqrt(squares[:, None] * (1 + scales[:, None] / sizes) / sizes).sum(axis=1)
    best = int(width.argmin())
    return float(scales[best]), float(np.sqrt(squares[best]))


def squared_bound(rows: Floats, error: float) -> Floats:
    """What a squared standardized sum ever exceeds, at some number of rows, so often at most.

    >>> squared_bound(np.array([100.0, 1_000.0, 10_000.0]), 0.05).round(1)
    array([12.1, 10. , 10.3])
    """
    slope = (rows[:, None] / (rows[:, None] + SCALES)) / 2
    start = np.log(SHARES) - np.log1p(rows[:, None] / SCALES) / 2
    bound = ((-np.log(error) - start) / slope).min(axis=1)  # of either of the two alone
    for _ in range(8):  # Newton's steps from above on a convex function
        logs = start + slope * bound[:, None]
        top = logs.max(axis=1)
        terms = np.exp(logs - top[:, None])
        total = terms.sum(axis=1)
        bound = bound - (top + np.log(total) + np.log(error)) * total / (terms * slope).sum(axis=1)
    return np.asarray(bound)


def _stretched(cell: _Cell, scale: float, reach: float) -> Cloud:
    """The groups with distances that are √(1 + scale / n) times as far as those of a single look.

    The variance between few clusters is known as badly as Student's t says, at this reach.
    """
    times = np.sqrt(1 + scale / cell.sizes)
    hits, sizes = cell.hits, cell.sizes
    if cell.effective is not None:
        times = times * _students(reach, cell.sizes - 1)
        hits, sizes = hits / sizes * cell.effective, cell.effective
    limits = _limits(hits, sizes, DISTANCES[:, None] * times)
    return _SortedCloud(cell.values(hits / sizes), cell.values(limits))


def _limits(hits: Floats, sizes: Floats, far: Floats) -> Floats:
    """The rates (distances, groups) that are so far from the data at a single look.

    Of large counts by Abramowitz and Stegun's 26.5.22, which is within 0.01 standard errors up to 4
    of them, and a hundred times as quick as quantiles of the beta distribution.
    """
    limits = (far > 0).astype(np.float64)
    few = np.minimum(hits, sizes - hits) < MANY
    if few.any():
        plain = Cloud(hits[few] / sizes[few], rate_curves(hits[few], sizes[few]))
        limits[:, few] = np.where(
            np.abs(far[:, few]) > FARTHEST, limits[:, few], plain.at(far[:, few])
        )
    if not few.all():
        z, many = far[:, ~few], ~few
        shift = CAUTION * np.sign(DISTANCES)[:, None]
        more, less = hits[many] + 0.5 + shift, (sizes - hits)[many] + 0.5 - shift
        up, down = 1 / (2 * more - 1), 1 / (2 * less - 1)
        middle, bend = 2 / (up + down), (z**2 - 3) / 6
        odds = z * np.sqrt(middle + bend) / middle + (down - up) * (bend + 5 / 6 - (up + down) / 3)
        limits[:, many] = more / (more + less * np.exp(-2 * odds))
    return limits


def _students(reach: float, free: Floats) -> Floats:
    """How much farther than a normal variable Student's t goes as seldom."""
    from scipy.special import ndtr, stdtrit

    tail = ndtr(-reach)
    return np.asarray(np.where(free >= 1, -stdtrit(np.maximum(free, 1.0), tail) / reach, np.inf))


def _lower(cloud: Cloud, measure: Measure, error: float, dimension_cost: float) -> float:
    """The least inequality that is not too far from the data at all looks."""
    search = _AnytimeSearch(cloud, measure, error)
    search.dimension_cost = dimension_cost
    least, most = 0.0, float(measure(cloud.values))
    if not most > 0 or (over := search.excess(0.0)) < 0:
        return 0.0
    under = -float(np.sqrt(-2 * np.log(error)))  # at the data themselves the distance is 0
    for _ in range(STEPS):
        level = least + (most - least) * min(max(over / (over - under), 0.05), 0.95)
        excess = search.excess(level)
        if excess >= 0:
            least, over, under = level, excess, under / 2  # as the Illinois method halves
        else:
            most, under, over = level, excess, over / 2
        if most - least < NARROW * most:
            break
    return least


class _SortedCloud(Cloud):
    """Groups of one cell; distances are found by one search in all curves in a row."""

    @cached_property
    def _in_order(self) -> tuple[Floats, Floats]:
        """By group: what lets its curve begin after that of the group before; and all curves."""
        after = (1 + np.ptp(self.curves)) * np.arange(len(self))
        return after, (self.curves + after).T.ravel()

    def located(self, values: Floats) -> tuple[Floats, Floats]:
        """Signed distances, and how fast they grow with the value."""
        groups, (after, flat) = np.arange(len(self)), self._in_order
        above = values > self.values
        places = np.searchsorted(flat, values + after, side="right") - len(DISTANCES) * groups
        exact = above & (self.curves[np.maximum(places - 1, 0), groups] == values)
        below = np.minimum(np.maximum(places - 1 - exact, 0), len(DISTANCES) - 2)
        start, end = self.curves[below, groups], self.curves[below + 1, groups]
        slope = STEP / np.maximum(end - start, 1e-9 * (1e-3 + np.abs(end)))
        far = DISTANCES[below] + (values - start) * slope
        far = np.where(above, np.clip(far, 0.0, 60.0), np.clip(far, -60.0, 0.0))
        return np.where(values == self.values, 0.0, far), slope


class _AnytimeSearch(_Search):
    """Whether groups at most so uneven are too far from the data, at whichever look.

    A single look says by how many dimensions the nearest such groups are bound; a mixture over as
    many has to be exceeded.
    """

    dimension_cost = 0.0
    place = 0.0

    def tail(self, level: float) -> tuple[float, float, int]:
        """As for a single look; differences by steps from the place of the last level."""
        from scipy.special import chdtrc

        if self.measure is not mpd or len(self.cloud) < FEW:
            return super().tail(level)
        square, bound = self._clipped(level)
        free = len(self.cloud) - 1 if level <= 0 else max(bound - 1, 1)
        return float(chdtrc(free, square)), square, 0 if level <= 0 else free

    def _clipped(self, level: float) -> tuple[float, int]:
        """The squared distance to groups within an interval of that width; how many it binds.

        Distances are almost linear in the values, so that Gauss and Newton's steps from the last
        level's place soon find the interval's; a step beyond what is known of it halves that.
        """
        values = self.cloud.values
        first, last = float(values.min()) - level, float(values.max())
        place = self.place if first < self.place < last else (first + last) / 2
        least, bound = np.inf, 0
        for _ in range(MOST_STEPS):
            far, slope = self.cloud.located(np.minimum(np.maximum(values, place), place + level))
            square = float((far**2).sum())
            if square < least:
                least, self.place, bound = square, place, int((far**2 > NEGLIGIBLE).sum())
            pull = np.where(far != 0, slope, 0.0)
            curvature, force = float((pull**2).sum()), float((pull * far).sum())
            step = -force / curvature if curvature else 0.0
            first, last = (first, place) if step < 0 else (place, last)
            if abs(step) * np.sqrt(curvature) < ENOUGH or last - first < NEGLIGIBLE:
                break
            place = place + step if first < place + step < last else (first + last) / 2
        return least, bound

    def excess(self, level: float) -> float:
        """How much farther such groups are than the bound; negative where they are not rejected."""
        tail, square, _ = self.tail(level)
        error = self.error if level <= 0 else self.error / 2
        bound, far = float(-2 * np.log(error)), float(np.sqrt(square))
        one = far - float(np.sqrt(bound + self.dimension_cost))
        if one < 0:
            return one
        free = _dimensions(square, tail, len(self.cloud) - 1)
        return far - float(np.sqrt(bound + free * self.dimension_cost))


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
    from scipy.special import betaln, logsumexp

    parts = [betaln(hits + a, sizes - hits + b) - betaln(a, b) for a, b in PRIORS]
    return np.asarray(logsumexp(np.array(parts), axis=0) - np.log(len(PRIORS)))
