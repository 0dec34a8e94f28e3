"""Simulated samples of groups of given sizes and true values.

The test of `homogeneity.py` and the upper limit of `geometry.py` are applied to them. A draw is one
number for each group, so the cost does not depend on the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.clusters import PRIOR_UNITS
from evenhand._uncertainty.curves import CAUTION
from evenhand._uncertainty.homogeneity import LARGE_COUNTS, MOST_ROWS, _statistics
from evenhand._uncertainty.influence import PRIOR_ROWS
from evenhand._uncertainty.monte_carlo import DRAWS, ENOUGH
from evenhand._uncertainty.normal_design import SEED, Floats, NormalModel, Stratum, farthest

LARGE_SHARE = 0.2
MOST_TOTALS = 60  # totals of hits that the test conditions on
REFERENCE = 400_000  # counts of equal groups drawn for all of them
MANY = 20_000
MOST_HITS = 24  # hits of a group whose limits are computed; others are interpolated


@dataclass(frozen=True, eq=False)
class Rates:
    """Groups of these sizes with these true rates."""

    sizes: Floats
    values: Floats
    quantity = "rate"
    bounds = (0.0, 1.0)

    @property
    def spread(self) -> Floats:
        """The standard deviation of a single row."""
        return np.sqrt(self.values * (1 - self.values))

    @property
    def model(self) -> NormalModel:
        """The same design with normal noise."""
        return NormalModel.of_rates(self.sizes, self.values)

    @property
    def error(self) -> Floats:
        """The true standard errors of rates."""
        return self.spread / np.sqrt(self.sizes)

    def resized(self, sizes: Floats) -> Rates:
        """The same truth with other sizes, in whole rows."""
        return replace(self, sizes=np.maximum(np.ceil(sizes - 1e-9), 1.0))

    def with_values(self, values: Floats) -> Rates:
        """The same groups with other true rates."""
        return replace(self, values=values)

    @cached_property
    def hits(self) -> Floats:
        """Simulated hits (draws, groups)."""
        rng = np.random.default_rng(SEED)
        shape = (DRAWS, len(self.sizes))
        return rng.binomial(self.sizes.astype(np.int64), self.values, shape).astype(np.float64)

    def detected(self, level: float) -> float:
        """The power of the test of homogeneity at this level."""
        rng = np.random.default_rng(SEED + 1)
        groups, rows = len(self.sizes), float(self.sizes.sum())
        totals = self.hits.sum(axis=1)
        mean = float(np.clip(totals.mean(), 0, rows))
        if self.sizes.min() * min(mean, rows - mean) >= LARGE_COUNTS * rows or rows > MOST_ROWS:
            shares = np.repeat([[mean / rows], [1 - mean / rows]], groups, axis=1)
            null = Stratum.of_rates(self.sizes, shares).null(MANY)
            statistics = _statistics(np.stack([self.hits, self.sizes - self.hits], axis=1))
            return float(_rejections(statistics, null, groups - 1, 2 * groups, level).mean())
        parts = _narrow(totals, rows)
        draws = int(np.clip(REFERENCE / max(len(parts) * groups, 1), 20 / level, MANY))
        rejected = 0.0
        for part in parts:
            total = float(np.median(totals[part]).round())
            dealt = rng.multivariate_hypergeometric(
                self.sizes.astype(np.int64), int(total), draws, method="marginals"
            )
            null = self._statistics(dealt.astype(np.float64), total)
            statistics = self._statistics(self.hits[part], total)
            rejected += _rejections(statistics, null, groups - 1, 2 * groups, level).sum()
        return rejected / DRAWS

    def _statistics(self, hits: Floats, total: float) -> tuple[Floats, Floats]:
        """The test's two statistics, given a total near that of the draws.

        The excess over it is taken from large groups; counts of small ones stay whole.
        """
        share = self.sizes / self.sizes.sum()
        beyond = (hits.sum(axis=1) - total)[:, None]
        rate = total / self.sizes.sum()
        gaps = hits - self.sizes * rate - np.where(share >= LARGE_SHARE, share, 0.0) * beyond
        squares = gaps**2 / (self.sizes * rate * (1 - rate))
        return squares.sum(axis=1), (squares / (1 - share)).max(axis=1)

    def upper_ends(self, confidence: float) -> Floats:
        """Upper limits of the largest difference, one for each draw."""
        from scipy.special import betaincinv, ndtr

        def limits(distance: float) -> Floats:
            ends = np.empty(self.hits.shape)
            for size in np.unique(self.sizes):
                these = self.sizes == size
                hits = self.hits[:, these]
                grid = np.unique(np.linspace(hits.min(), hits.max(), MOST_HITS).round())
                shift = np.sign(distance) * CAUTION
                grid_ends = grid / size
                if distance:
                    grid_ends = betaincinv(
                        grid + 0.5 + shift, size - grid + 0.5 - shift, ndtr(distance)
                    )
                    grid_ends[(grid <= 0) & (distance < 0)] = 0.0
                    grid_ends[(grid >= size) & (distance > 0)] = 1.0
                ends[:, these] = np.interp(hits, grid, grid_ends)
            return ends

        return farthest(limits, confidence)


@dataclass(frozen=True, eq=False)
class Means:
    """Groups of these sizes with these true means and standard deviations of single rows."""

    sizes: Floats
    values: Floats
    spread: Floats
    quantity: str = "mean"
    bounds: tuple[float, float] = (-np.inf, np.inf)

    @property
    def units(self) -> Floats:
        """The number of independent values in each mean: the rows."""
        return self.sizes

    @property
    def error(self) -> Floats:
        """The true standard errors of means."""
        return self.spread / np.sqrt(self.sizes)

    @property
    def model(self) -> NormalModel:
        """The same design with normal noise."""
        return NormalModel.of_means(self.values, self.error)

    def resized(self, sizes: Floats) -> Self:
        """The same truth with other sizes, in whole rows."""
        return replace(self, sizes=np.maximum(np.ceil(sizes - 1e-9), 1.0))

    def with_values(self, values: Floats) -> Self:
        """The same groups with other true values."""
        return replace(self, values=values)

    @cached_property
    def samples(self) -> tuple[Floats, Floats]:
        """Simulated means and their standard errors (draws, groups)."""
        rng, units = np.random.default_rng(SEED), self.units
        shape = (DRAWS, len(units))
        means = self.values + rng.standard_normal(shape) * self.error
        squares = self.error**2 * units * self._deviations(rng)
        pooled = squares.sum(axis=1, keepdims=True) / units.sum()
        variance = (squares + self._prior * pooled) / self._free
        return means, np.sqrt(np.maximum(variance, 1e-300) / units)

    def _deviations(self, rng: np.random.Generator) -> Floats:
        """Sums of squared deviations (draws, groups), in units of the variance."""
        many = np.maximum(self.units - 1, 1e-9)
        squares = 2 * rng.standard_gamma(many / 2, (DRAWS, len(many)))
        return np.where(self.units > 1, squares, 0.0)

    @property
    def _prior(self) -> Floats:
        """Prior degrees of freedom of the common variance in each group."""
        return np.full(len(self.units), PRIOR_ROWS)

    @property
    def _free(self) -> Floats:
        return np.maximum(self.units - 1, 0.0) + self._prior

    def detected(self, level: float) -> float:
        """The power of the test of homogeneity at this level."""
        null = Stratum.of_values(self.values, self.error).null(MANY)
        groups = len(self.sizes)
        return float(_rejections(self._test_statistics(), null, groups - 1, groups, level).mean())

    def _test_statistics(self) -> tuple[Floats, Floats]:
        """The two statistics of the test, one for each draw."""
        from scipy.special import ndtri, stdtr

        means, errors = self.samples
        weight = errors**-2
        for _ in range(4):  # the nearest common mean, by Student's distances on a normal scale
            common = (weight * means).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
            score = np.maximum(np.abs(means - common) / errors, 1e-6)
            distance = -ndtri(np.maximum(stdtr(self._free, -score), 1e-280))
            weight = (distance / score) ** 2 / errors**2
        part = weight / weight.sum(axis=1, keepdims=True)
        return (distance**2).sum(axis=1), (distance**2 / np.maximum(1 - part, 1e-9)).max(axis=1)

    def upper_ends(self, confidence: float) -> Floats:
        """Upper limits of the largest difference, one for each draw."""
        from scipy.special import ndtr, stdtrit

        means, errors = self.samples

        def limits(distance: float) -> Floats:
            reach = -np.sign(distance) * stdtrit(self._free, ndtr(-abs(distance)))
            return np.clip(means + (reach if distance else 0.0) * errors, *self.bounds)

        return farthest(limits, confidence)


@dataclass(frozen=True, eq=False)
class Clustered(Means):
    """Rates or means of rows that come in clusters.

    A group has `cluster_size` rows in a cluster. Its differences from other groups vary as if it
    had 1 / `effect` times its rows. Clusters belong to one group, or all groups share them: then
    the errors of all differences are estimated from the same clusters.
    """

    cluster_size: Floats = field(kw_only=True)
    effect: Floats = field(kw_only=True)
    is_shared: bool = field(kw_only=True)

    @classmethod
    def from_rows(
        cls, rows: Rates | Means, cluster_size: Floats, effect: Floats, is_shared: bool
    ) -> Self:
        """The same groups with rows that come in clusters."""
        of_groups = rows.sizes, rows.values, rows.spread, rows.quantity, rows.bounds
        return cls(*of_groups, cluster_size=cluster_size, effect=effect, is_shared=is_shared)

    @property
    def units(self) -> Floats:
        """The clusters of each group."""
        return np.maximum(self.sizes / self.cluster_size, 2.0)

    @property
    def error(self) -> Floats:
        """The true standard errors, as they enter differences."""
        return self.spread * np.sqrt(self.effect / self.sizes)

    def with_values(self, values: Floats) -> Self:
        """The same groups with other true values; a rate determines its variance."""
        if self.quantity != "rate":
            return super().with_values(values)
        lowest = 0.5 / self.sizes
        rate = np.clip(values, lowest, 1 - lowest)
        return replace(self, values=values, spread=np.sqrt(rate * (1 - rate)))

    def _deviations(self, rng: np.random.Generator) -> Floats:
        if not self.is_shared:
            return super()._deviations(rng)
        squares = 2 * rng.standard_gamma((self.units.min() - 1) / 2, (DRAWS, 1))
        return np.asarray(np.broadcast_to(squares, (DRAWS, len(self.units))))

    @property
    def _prior(self) -> Floats:
        freedom = self.units - 1
        return (
            np.minimum(PRIOR_UNITS, freedom.sum() - freedom)
            if not self.is_shared
            else 0.0 * freedom
        )

    def _test_statistics(self) -> tuple[Floats, Floats]:
        """The two statistics; for shared clusters by Hotelling's T², as in `homogeneity.py`."""
        from scipy.special import chdtri, fdtrc

        if not self.is_shared:
            return super()._test_statistics()
        means, errors = self.samples
        part = self.error**-2 / (self.error**-2).sum()
        distance = (means - (part * means).sum(axis=1, keepdims=True)) / errors
        clusters, squares = float(self.units.min()), []
        for square, contrasts in (
            ((distance**2).sum(axis=1), len(part) - 1),
            ((distance**2 / (1 - part)).max(axis=1), 1),
        ):
            free = max(clusters - min(contrasts, 2), 1e-9)
            tail = fdtrc(contrasts, free, square * free / (clusters - 1) / contrasts)
            squares.append(chdtri(contrasts, np.maximum(tail, 1e-300)))
        return squares[0], squares[1]


def _narrow(totals: Floats, rows: float) -> list[NDArray[np.intp]]:
    """Draws split by their total number of hits, on which the test conditions.

    Draws without hits, or without misses, have nothing to test and are left out.
    """
    order = np.argsort(totals, kind="stable")
    order = order[(totals[order] > 0) & (totals[order] < rows)]
    if len(np.unique(totals[order])) <= MOST_TOTALS:
        parts = np.split(order, np.flatnonzero(np.diff(totals[order])) + 1)
    else:
        edges = np.linspace(totals[order[0]], totals[order[-1]], MOST_TOTALS + 1)[1:-1]
        parts = np.split(order, np.searchsorted(totals[order], edges))
    return [part for part in parts if len(part)]


def _rejections(
    statistics: tuple[Floats, Floats],
    null: tuple[Floats, Floats],
    free: int,
    tests: int,
    level: float,
) -> Floats:
    """The probability that `homogeneity` rejects each draw.

    It combines its two statistics by simulation: the number of its draws beyond the observed one is
    binomial. Where too few are beyond, it uses tail probabilities.
    """
    from scipy.special import bdtr, chdtrc

    draws = len(null[0])
    smallest, smaller = np.ones(len(statistics[0])), np.ones(draws)
    for value, values in zip(statistics, null, strict=True):
        ordered = np.sort(values)
        above = draws - np.searchsorted(ordered, value - 1e-9 * np.maximum(1.0, value))
        smallest = np.minimum(smallest, above / draws)
        beyond = draws - np.searchsorted(ordered, values - 1e-9 * np.maximum(1.0, values))
        smaller = np.minimum(smaller, beyond / draws)
    p_values = np.searchsorted(np.sort(smaller), smallest, side="right") / draws
    allowed = np.floor(level * (DRAWS + 1) - 1)
    rejected = bdtr(allowed, DRAWS, p_values) if allowed >= 0 else np.zeros(len(smallest))
    tail = 2 * np.minimum(
        chdtrc(free, statistics[0]), tests * chdtrc(1, np.maximum(statistics[1], 0.0))
    )
    by_tails = bdtr(ENOUGH - 1, DRAWS, p_values) * (tail <= level)
    return np.asarray(np.maximum(rejected, by_tails))
