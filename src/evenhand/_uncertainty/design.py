"""What groups of given sizes and true values would show, dealt by chance.

What is dealt is put to the test of `homogeneity.py` and the upper limit of `geometry.py`
themselves. A draw is a number for each group, so the cost does not depend on rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.curves import CAUTION
from evenhand._uncertainty.homogeneity import (
    DRAWS,
    ENOUGH,
    LARGE_COUNTS,
    MOST_ROWS,
    _statistics,
)
from evenhand._uncertainty.influence import LENT_ROWS
from evenhand._uncertainty.normal_design import SEED, Floats, NormalModel, Stratum, farthest

LARGE_SHARE = 0.2
MOST_TOTALS = 60  # totals of hits that the test is given
REFERENCE = 400_000  # counts of equal groups dealt for all of them
MANY = 20_000
MOST_HITS = 24  # hits of a group whose limits are computed; between them they are interpolated


@dataclass(frozen=True, eq=False)
class Rates:
    """Groups of these sizes with these true rates."""

    sizes: Floats
    values: Floats

    @property
    def spread(self) -> Floats:
        """The standard deviation of a single row."""
        return np.sqrt(self.values * (1 - self.values))

    @property
    def model(self) -> NormalModel:
        """The same with normal noise."""
        return NormalModel.of_rates(self.sizes, self.values)

    def resized(self, sizes: Floats) -> Rates:
        """The same truth with other sizes, in whole rows."""
        return replace(self, sizes=np.maximum(np.ceil(sizes - 1e-9), 1.0))

    @cached_property
    def hits(self) -> Floats:
        """Hits (draws, groups) as chance deals them."""
        rng = np.random.default_rng(SEED)
        shape = (DRAWS, len(self.sizes))
        return rng.binomial(self.sizes.astype(np.int64), self.values, shape).astype(np.float64)

    def detected(self, level: float) -> float:
        """How often the test of homogeneity rejects at this level."""
        rng = np.random.default_rng(SEED + 1)
        groups, rows = len(self.sizes), float(self.sizes.sum())
        totals = self.hits.sum(axis=1)
        mean = float(np.clip(totals.mean(), 0, rows))
        if self.sizes.min() * min(mean, rows - mean) >= LARGE_COUNTS * rows or rows > MOST_ROWS:
            shares = np.repeat([[mean / rows], [1 - mean / rows]], groups, axis=1)
            null = Stratum.of_rates(self.sizes, shares).null(MANY)
            seen = _statistics(np.stack([self.hits, self.sizes - self.hits], axis=1))
            return float(_rejections(seen, null, groups - 1, 2 * groups, level).mean())
        parts = _narrow(totals, rows)
        draws = int(np.clip(REFERENCE / max(len(parts) * groups, 1), 20 / level, MANY))
        rejected = 0.0
        for part in parts:
            total = float(np.median(totals[part]).round())
            dealt = rng.multivariate_hypergeometric(
                self.sizes.astype(np.int64), int(total), draws, method="marginals"
            )
            null = self._statistics(dealt.astype(np.float64), total)
            seen = self._statistics(self.hits[part], total)
            rejected += _rejections(seen, null, groups - 1, 2 * groups, level).sum()
        return rejected / DRAWS

    def _statistics(self, hits: Floats, total: float) -> tuple[Floats, Floats]:
        """Those of the test, given a total near the draws' own.

        What is beyond it, large groups give back; counts of small ones keep their steps.
        """
        share = self.sizes / self.sizes.sum()
        beyond = (hits.sum(axis=1) - total)[:, None]
        rate = total / self.sizes.sum()
        gaps = hits - self.sizes * rate - np.where(share >= LARGE_SHARE, share, 0.0) * beyond
        squares = gaps**2 / (self.sizes * rate * (1 - rate))
        return squares.sum(axis=1), (squares / (1 - share)).max(axis=1)

    def upper_ends(self, confidence: float) -> Floats:
        """Upper limits of the largest difference, one a draw."""
        from scipy.special import betaincinv, ndtr

        def limits(far: float) -> Floats:
            ends = np.empty(self.hits.shape)
            for size in np.unique(self.sizes):
                these = self.sizes == size
                hits = self.hits[:, these]
                grid = np.unique(np.linspace(hits.min(), hits.max(), MOST_HITS).round())
                shift = np.sign(far) * CAUTION
                found = grid / size
                if far:
                    found = betaincinv(grid + 0.5 + shift, size - grid + 0.5 - shift, ndtr(far))
                    found[(grid <= 0) & (far < 0)] = 0.0
                    found[(grid >= size) & (far > 0)] = 1.0
                ends[:, these] = np.interp(hits, grid, found)
            return ends

        return farthest(limits, confidence)


@dataclass(frozen=True, eq=False)
class Means:
    """Groups of these sizes with these true means; rows vary by these standard deviations."""

    sizes: Floats
    values: Floats
    spread: Floats

    @property
    def model(self) -> NormalModel:
        """The same with normal noise."""
        return NormalModel.of_means(self.values, self.spread / np.sqrt(self.sizes))

    def resized(self, sizes: Floats) -> Means:
        """The same truth with other sizes, in whole rows."""
        return replace(self, sizes=np.maximum(np.ceil(sizes - 1e-9), 1.0))

    @cached_property
    def shown(self) -> tuple[Floats, Floats]:
        """Means and their standard errors (draws, groups) as chance deals them."""
        rng = np.random.default_rng(SEED)
        shape = (DRAWS, len(self.sizes))
        means = self.values + rng.standard_normal(shape) * self.spread / np.sqrt(self.sizes)
        many = np.maximum(self.sizes - 1, 1e-9)
        squares = self.spread**2 * 2 * rng.standard_gamma(many / 2, shape)
        squares = np.where(self.sizes > 1, squares, 0.0)
        pooled = squares.sum(axis=1, keepdims=True) / self.sizes.sum()
        variance = (squares + LENT_ROWS * pooled) / self._free
        return means, np.sqrt(np.maximum(variance, 1e-300) / self.sizes)

    @property
    def _free(self) -> Floats:
        return np.maximum(self.sizes - 1, 0.0) + LENT_ROWS

    def detected(self, level: float) -> float:
        """How often the test of homogeneity rejects at this level."""
        from scipy.special import ndtri, stdtr

        means, errors = self.shown
        weight = errors**-2
        for _ in range(4):  # the common mean nearest to all, in distances as normal as Student's
            common = (weight * means).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
            score = np.maximum(np.abs(means - common) / errors, 1e-6)
            far = -ndtri(np.maximum(stdtr(self._free, -score), 1e-280))
            weight = (far / score) ** 2 / errors**2
        part = weight / weight.sum(axis=1, keepdims=True)
        squares = (far**2).sum(axis=1)
        contrasts = (far**2 / np.maximum(1 - part, 1e-9)).max(axis=1)
        errors = self.spread / np.sqrt(self.sizes)
        null = Stratum.of_values(self.values, errors).null(MANY)
        groups = len(self.sizes)
        seen = squares, contrasts
        return float(_rejections(seen, null, groups - 1, groups, level).mean())

    def upper_ends(self, confidence: float) -> Floats:
        """Upper limits of the largest difference, one a draw."""
        from scipy.special import ndtr, stdtrit

        means, errors = self.shown

        def limits(far: float) -> Floats:
            reach = -np.sign(far) * stdtrit(self._free, ndtr(-abs(far)))
            return np.asarray(means + (reach if far else 0.0) * errors)

        return farthest(limits, confidence)


def _narrow(totals: Floats, rows: float) -> list[NDArray[np.intp]]:
    """Draws with about the same number of hits, which the test is given.

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
    seen: tuple[Floats, Floats], null: tuple[Floats, Floats], free: int, tests: int, level: float
) -> Floats:
    """How often `homogeneity`, which combines its two statistics by draws, rejects each draw.

    Its own draws are as many of these as are beyond a draw, which is binomial; where they end, it
    looks at the tails.
    """
    from scipy.special import bdtr, chdtrc

    draws = len(null[0])
    ours, smaller = np.ones(len(seen[0])), np.ones(draws)
    for value, values in zip(seen, null, strict=True):
        ordered = np.sort(values)
        above = draws - np.searchsorted(ordered, value - 1e-9 * np.maximum(1.0, value))
        ours = np.minimum(ours, above / draws)
        beyond = draws - np.searchsorted(ordered, values - 1e-9 * np.maximum(1.0, values))
        smaller = np.minimum(smaller, beyond / draws)
    p_values = np.searchsorted(np.sort(smaller), ours, side="right") / draws
    allowed = np.floor(level * (DRAWS + 1) - 1)
    rejected = bdtr(allowed, DRAWS, p_values) if allowed >= 0 else np.zeros(len(ours))
    tail = 2 * np.minimum(chdtrc(free, seen[0]), tests * chdtrc(1, np.maximum(seen[1], 0.0)))
    few = bdtr(ENOUGH - 1, DRAWS, p_values) * (tail <= level)
    return np.asarray(np.maximum(rejected, few))
