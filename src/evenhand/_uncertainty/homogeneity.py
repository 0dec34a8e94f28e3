"""A test of homogeneity, that is of a statistic that is equal in all groups.

Counts are drawn as if groups were exchangeable, given the totals (Fisher's reference set), so the
test is exact for rates near 0 and 1 and for groups of a few rows. Statistics that do not count rows
are compared by their standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._columns import Label
from evenhand._data.distributions import Distribution
from evenhand._data.tallies import Tally
from evenhand._uncertainty.clusters import (
    plain,
    shared_clusters,
)
from evenhand._uncertainty.curves import Estimates, stretched
from evenhand._uncertainty.distributions import same_distributions
from evenhand._uncertainty.geometry import Cloud
from evenhand._uncertainty.hypergeometric import hypergeometric_tails
from evenhand._uncertainty.monte_carlo import SHARES, Test, chi_squared, combined, refined
from evenhand.criteria import Criterion
from evenhand.statistics import Statistic

Floats = NDArray[np.float64]

LEVEL = 0.05
ROUNDING = 1e-12  # relative difference of equal values that were summed in another order
TIED = 9  # digits of values, relative to their range, by which groups are ordered
FARTHEST = 1e100  # standard errors: the square of it is finite
LARGE_COUNTS = 25.0
AT_ONCE = 1 << 16  # counts of some draws
MOST_ROWS = 5e8  # NumPy's hypergeometric draws end at a billion
EXPECTED = 5.0  # rows that a chi-squared tail needs in every cell


def homogeneity(source: Any, criterion: Criterion, estimates: Estimates) -> Test:
    """Test the hypothesis that a criterion's statistic is equal in all groups and cells.

    It does not depend on a measure. The same data give the same p-value: the counts are the seed of
    the draws.
    """
    source = plain(source)
    if isinstance(source, Distribution):
        return same_distributions(source, estimates)
    tables = _tables(source, criterion, estimates)
    if tables is not None:
        tests = [_independence(part) for part in tables]
    else:
        shared = shared_clusters(source)
        tests = [_studentized(cloud, shared) for cloud in _clouds(estimates)]
    defined = [test for test in tests if not np.isnan(test.p_value)]
    if not defined:
        return Test(np.nan)
    smallest = min(defined)
    return Test(min(1.0, len(defined) * smallest.p_value), len(defined) * smallest.error)


def _clouds(estimates: Estimates) -> list[Cloud]:
    curves = np.moveaxis(estimates.curves, 1, 0)
    clouds = []
    for values, curve in zip(estimates.values, curves, strict=True):
        if np.isinf(curve).any():  # unbounded ratios: as shares of the sum, which are bounded
            values, curve = _as_shares(values), _as_shares(curve)
        observed = np.isfinite(values) & np.isfinite(curve).all(axis=0)
        if observed.sum() >= 2:
            clouds.append(
                Cloud(values[observed], np.maximum.accumulate(curve[:, observed], axis=0))
            )
    if len(clouds) != 2:
        return clouds
    first, second = clouds[0].values, clouds[1].values
    complements = first.shape == second.shape and np.allclose(first + second, 1.0)
    return clouds[:1] if complements else clouds  # of two classes, one rate determines the other


def _as_shares(ratios: Floats) -> Floats:
    """Ratios x as x / (1 + x), which is 1 at infinity; equal exactly where the ratios are."""
    return np.asarray(1 - 1 / (1 + ratios))


def _tables(source: Any, criterion: Criterion, estimates: Estimates) -> list[list[Floats]] | None:
    """Counts (outcomes, groups) by test and stratum, where the statistic counts rows; else None."""
    if not isinstance(source, Tally) or "weight" in source.sums or source.clusters:
        return None
    if estimates.counts is None:
        return None
    if criterion.statistic.is_partition:
        return [_outcomes(source, criterion.statistic, estimates.cells)]
    defined = ~np.isnan(
        estimates.values
    )  # undefined ratios are left out of the test as of the value
    counted = zip(*estimates.counts, defined, strict=True)
    tables = [[_ordered((size - hit)[groups], hit[groups])] for hit, size, groups in counted]
    same = len(tables) == 2 and np.array_equal(tables[0][0], tables[1][0])
    return tables[:1] if same else tables


def _outcomes(source: Tally, statistic: Statistic, requested: Sequence[Label]) -> list[Floats]:
    """Counts (outcomes, groups) of every stratum; if one cell is requested, of it and the rest.

    Of two outcomes, the other one is the rest.
    """
    cells, shares = statistic.read(source).cells, statistic.shares(source)
    assert shares is not None
    strata, is_requested = (
        statistic.strata(cells),
        np.array([cell in set(requested) for cell in cells]),
    )
    tables = []
    for stratum in np.unique(strata):
        chosen = np.flatnonzero(strata == stratum)
        if len(chosen) != 2 and len(only := chosen[is_requested[chosen]]) == 1:
            tables.append(np.stack([shares.misses[only[0]], shares.hits[only[0]]]))
        else:
            tables.append(shares.hits[chosen])
    return tables


def _ordered(first: Floats, second: Floats) -> Floats:
    """Two outcomes, the rarer first, since the test is symmetric in hits and misses."""
    return np.stack([first, second] if first.sum() <= second.sum() else [second, first])


def _independence(strata: Sequence[Floats]) -> Test:
    """Test that outcomes are independent of groups in all strata (outcomes, groups)."""
    tables = [_by_counts(part) for part in map(_observed, strata) if part is not None]
    if not tables:
        return Test(np.nan)
    tables.sort(key=lambda part: (part.shape, part.tolist()))
    if len(tables) == 1 and tables[0].shape == (2, 2):
        return Test(_enumerated(tables[0]))
    statistics = [_statistics(part[None]) for part in tables]
    sums = sum(float(square[0]) for square, _ in statistics)
    largest = max(float(contrast[0]) for _, contrast in statistics)
    start = [int(part.sum()) % (1 << 32) for part in tables]

    def drawn(draws: int) -> Test:
        rng = np.random.default_rng([*start, int(tables[0][0, 0])])
        squares, contrasts = np.zeros(draws), np.zeros(draws)
        for part in tables:
            square, contrast = _drawn(part, draws, rng)
            squares += square
            contrasts = np.maximum(contrasts, contrast)
        return combined((sums, largest), (squares, contrasts), lambda: _count_tail(tables))

    return refined(drawn, sum(part.size for part in tables))


def _enumerated(counts: Floats) -> float:
    """Fisher's exact test of two outcomes in two groups.

    Both statistics order the tables in the same way, by the distance of one count from its
    expectation.
    """
    rows, hits, size = counts.sum(), counts[0].sum(), counts[:, 0].sum()
    expected = hits * size / rows
    distance = abs(counts[0, 0] - expected) * (1 - 1e-9)
    ends = [np.floor(expected - distance), np.ceil(expected + distance)]
    at_most, at_least = hypergeometric_tails(ends, rows, hits, size)
    return float(min(1.0, at_most[0] + at_least[1]))


def _observed(counts: Floats) -> Floats | None:
    """The groups and outcomes that occur; None where there is nothing to compare."""
    part = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    return part if min(part.shape) >= 2 else None


def _by_counts(counts: Floats) -> Floats:
    """Outcomes and groups in the order of their counts, so that draws do not depend on names."""
    rows = sorted(range(len(counts)), key=lambda i: (counts[i].sum(), *np.sort(counts[i])))
    ordered = counts[rows]
    return ordered[:, np.lexsort(ordered)]


def _statistics(counts: Floats) -> tuple[Floats, Floats]:
    """Pearson's statistic, and the largest squared contrast of a cell, of counts (…, c, groups)."""
    total = counts.sum(axis=(-2, -1), keepdims=True)
    outcome = counts.sum(axis=-1, keepdims=True) / total
    group = counts.sum(axis=-2, keepdims=True)
    expected = outcome * group
    squares = (counts - expected) ** 2 / expected
    contrasts = squares / ((1 - outcome) * (1 - group / total))
    return squares.sum(axis=(-2, -1)), contrasts.max(axis=(-2, -1))


def _drawn(counts: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Both statistics of random counts with the same totals."""
    outcomes, sizes = counts.sum(axis=1), counts.sum(axis=0)
    total = sizes.sum()
    expected = np.outer(outcomes, sizes) / total
    if expected.min() < LARGE_COUNTS and total <= MOST_ROWS:
        return _dealt(outcomes, sizes, draws, rng)
    drawn = _normal(outcomes / total, sizes, draws, rng)
    step = max(AT_ONCE // counts.size, 1)  # parts that fit the cache are faster
    parts = [_statistics(drawn[start : start + step]) for start in range(0, draws, step)]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _dealt(
    outcomes: Floats, sizes: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Allocate each outcome to the remaining rows, group by group, in all draws at once.

    Each group's count is added to the statistics immediately, so that only the remaining rows of
    each group are held in memory.
    """
    total, last = sizes.sum(), len(sizes) - 1
    remaining = np.repeat(sizes.astype(np.int32)[:, None], draws, axis=1)
    squares, contrasts = np.zeros(draws), np.zeros(draws)

    def add(outcome: float, size: float, dealt: NDArray[Any]) -> None:
        expected = outcome * size / total
        square = (dealt - expected) ** 2 / expected
        np.add(squares, square, out=squares)
        square /= (1 - outcome / total) * (1 - size / total)
        np.maximum(contrasts, square, out=contrasts)

    for outcome in outcomes[:-1]:
        hits, later = np.full(draws, int(outcome)), remaining.sum(axis=0, dtype=np.int64)
        for group, size in enumerate(sizes):
            later -= remaining[group]
            dealt = hits if group == last else rng.hypergeometric(remaining[group], later, hits)
            hits = hits - dealt
            remaining[group] -= dealt
            add(outcome, size, dealt)
    for group, size in enumerate(sizes):
        add(outcomes[-1], size, remaining[group])
    return squares, contrasts


def _normal(share: Floats, sizes: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Normal approximations of random counts with the same totals."""
    noise = rng.standard_normal((draws, len(share), len(sizes)))
    root, weight = np.sqrt(share)[:, None], np.sqrt(sizes / sizes.sum())
    noise -= root * (root * noise).sum(axis=1, keepdims=True)
    noise -= weight * (noise * weight).sum(axis=2, keepdims=True)
    return np.asarray(np.outer(share, sizes) + noise * root * np.sqrt(sizes))


def _count_tail(strata: Sequence[Floats]) -> float:
    """The p-value by exact tails of single groups, and a chi-squared tail with small ones merged.

    For p-values too small for the draws.
    """
    from scipy.special import chdtrc

    smallest, tests, total, free = 1.0, 0, 0.0, 0
    for counts in strata:
        outcomes, sizes = counts.sum(axis=1), counts.sum(axis=0)
        rows = sizes.sum()
        for outcome, hits in zip(outcomes, counts, strict=True):
            at_most, at_least = hypergeometric_tails(hits, rows, outcome, sizes)
            smallest = min(smallest, 2 * float(np.minimum(at_most, at_least).min()))
            tests += len(sizes)
        merged = _merged(counts)
        if merged is not None:
            total += float(_statistics(merged[None])[0][0])
            free += (merged.shape[0] - 1) * (merged.shape[1] - 1)
    chi_squared = float(chdtrc(free, total)) if free else 1.0
    return min(1.0, chi_squared / SHARES[0], smallest * tests / SHARES[1])


def _merged(counts: Floats) -> Floats | None:
    """Counts with groups too small for a chi-squared tail merged, and rare outcomes merged."""
    share = counts.sum(axis=1) / counts.sum()
    common = share * counts.sum() >= EXPECTED * counts.shape[1]
    rows = np.vstack([counts[common], counts[~common].sum(axis=0)[None]])
    rows = rows[rows.sum(axis=1) > 0]
    smallest = (rows.sum(axis=1) / rows.sum()).min()
    large = rows.sum(axis=0) * smallest >= EXPECTED
    if large.any() and 0 < rows[:, ~large].sum() * smallest < EXPECTED:
        # Even together the small groups have too few rows: merge them with the smallest other.
        large[np.where(large, rows.sum(axis=0), np.inf).argmin()] = False
    columns = np.hstack([rows[:, large], rows[:, ~large].sum(axis=1)[:, None]])
    return _observed(columns)


def _studentized(cloud: Cloud, shared: int = 0) -> Test:
    """Test that values with standard errors are all equal.

    `shared` is the number of clusters that groups share, which all errors are estimated from.
    """
    from scipy.special import chdtrc

    if np.ptp(cloud.values) <= ROUNDING * np.abs(cloud.values).max():  # constants have no errors
        return Test(1.0)
    # Draws do not depend on names, nor ties on the order of summation.
    rounded = np.array([cloud.at(-1.0), cloud.values]) / np.ptp(cloud.values)
    order = np.lexsort(np.round(rounded, TIED))
    cloud = Cloud(cloud.values[order], cloud.curves[:, order])
    groups, square = len(cloud), cloud.heterogeneity
    distance, slope = cloud.located(np.full(groups, cloud.pooled))
    weight = slope / np.sqrt(float((slope**2).sum()))
    part = np.maximum(1 - weight**2, 1e-9)
    contrast = float((distance**2 / part).max())
    if shared:
        distance = _nearest_by_t(cloud, shared - 1.0)
        place = int((distance**2 / part).argmax())
        square = min(square, _hotelling(distance, np.ones(groups), groups - 1, shared))
        contrast = min(contrast, _hotelling(distance[[place]], part[[place]], 1, shared))
    if groups == 2:  # both statistics are the same
        return Test(float(chdtrc(1, max(square, 0.0))))

    def tail() -> float:
        single = groups * float(chdtrc(1, max(contrast, 0.0)))
        return min(1.0, float(chdtrc(groups - 1, square)) / SHARES[0], single / SHARES[1])

    def drawn(draws: int) -> Test:
        noise = np.random.default_rng(groups).standard_normal((draws, groups))
        noise -= weight * (noise @ weight)[:, None]
        # Directions are drawn, lengths are quantiles: the same draws serve all data, without bias.
        squares = chi_squared(groups - 1, draws)
        noise *= np.sqrt(squares / (noise**2).sum(axis=1))[:, None]
        contrasts = (noise**2 / part).max(axis=1)
        return combined((square, contrast), (squares, contrasts), tail)

    return refined(drawn, groups)


def _nearest_by_t(cloud: Cloud, free: float) -> Floats:
    """Distances from the common value with the smallest sum of squared t, not of squared z.

    In the tails Student's t grows much faster than z: the nearest value by z lies close to one
    group, and squared t from there are too large.
    """
    low, high = float(cloud.values.min()), float(cloud.values.max())
    for _ in range(5):
        grid = np.linspace(low, high, 17)
        distance = cloud.distance(np.repeat(grid[:, None], len(cloud), axis=1))
        student = np.clip(stretched(distance, np.asarray(free)), -FARTHEST, FARTHEST)
        best = int((student**2).sum(axis=1).argmin())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 16)]
    return np.asarray(distance[best])


def _hotelling(distance: Floats, part: Floats, contrasts: int, clusters: int) -> float:
    """The chi-squared quantile with the tail probability of Hotelling's T² of these distances.

    Student's limits of single groups do not allow enough for the error of a contrast that is
    estimated from shared clusters. The variances of two contrasts and their covariance are
    estimated from the same clusters: F with one degree of freedom less. Quasi-variances have no
    more parameters than the covariance of three groups.
    """
    from scipy.special import chdtri, fdtrc

    free = clusters - min(contrasts, 2)
    if free < 1:
        return 0.0
    student = np.clip(stretched(distance, np.asarray(clusters - 1.0)), -FARTHEST, FARTHEST)
    square = float((student**2 / part).sum())
    tail = float(fdtrc(contrasts, free, square * free / (clusters - 1) / contrasts))
    return float(chdtri(contrasts, max(tail, 1e-300)))


# Correction for multiple testing.


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """P-values adjusted for multiple testing (Holm 1979); NaN is not a test and stays NaN.

    >>> holm([0.01, 0.04, np.nan, 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    raw = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(raw.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(raw))
    order = defined[np.argsort(raw[defined], kind="stable")]
    steps = raw[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


Conclusion = Literal["differs", "alike", "cannot tell", "undefined", "not tested"]


def verdict(
    value: float, p_adjusted: float, level: float = LEVEL, sameness: str | None = None
) -> Conclusion:
    """The conclusion of a test; not to reject is inconclusive.

    `sameness` says why there is nothing to compare, if all rows share one label or score.

    >>> verdict(0.1, 0.001), verdict(0.1, 0.2), verdict(np.nan, 0.2)
    ('differs', 'cannot tell', 'undefined')
    """
    if p_adjusted <= level and not np.isnan(value):
        return "differs"
    if np.isnan(value) or sameness is not None:
        return "undefined"
    return "not tested" if np.isnan(p_adjusted) else "cannot tell"
