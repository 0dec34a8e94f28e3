"""A test that the distributions of a score or a label are equal in all groups.

It combines the k-sample Anderson–Darling statistic with the largest Kolmogorov–Smirnov statistic of
one group against the others. For independent rows both have known distributions. Weighted and
dependent rows are compared at quantiles of all rows, by draws of normal processes with the
covariance of the groups' shares there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._data.distributions import Distribution
from evenhand._uncertainty.clusters import combined_codes, crossings, student_rows
from evenhand._uncertainty.curves import Estimates
from evenhand._uncertainty.influence import WEIGHED_ROWS
from evenhand._uncertainty.monte_carlo import (
    SHARES,
    Test,
    chi_squared,
    combined,
    evenly,
    refined,
    with_tail,
)
from evenhand._uncertainty.replicates import deviations
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

LEVEL = 0.05
AT_ONCE = 1 << 20  # moves of some clusters
CUTS = 63  # quantiles at which distributions are compared
FEWEST_CUTS = 3  # of groups of clustered rows
SHARES_AT_CUTS = 300  # of all groups of clustered rows: more groups are compared at fewer cuts
MOST_SHARES = 1000  # whose covariance is computed


def same_distributions(scores: Distribution, estimates: Estimates) -> Test:
    """Test that distributions are equal.

    It combines the k-sample Anderson–Darling statistic with the largest Kolmogorov–Smirnov
    statistic of one group against the others.
    """
    groups, codes = len(scores.groups), scores.codes.astype(np.intp)
    weight = scores.row_weights
    square = scores.squared_weights
    mass = np.bincount(codes, weight, minlength=groups).astype(np.float64)
    if np.count_nonzero(mass) < 2:
        return Test(np.nan)
    pooled = np.cumsum(weight) / weight.sum()
    ends = np.flatnonzero(np.append(scores.values[1:] != scores.values[:-1], True))
    if len(ends) < 2:  # one value: all shares are 1 up to rounding
        return Test(1.0)
    is_joint = bool(scores.clusters or scores.survey) and FEWEST_CUTS * groups <= MOST_SHARES
    number = min(CUTS, max(SHARES_AT_CUTS // groups, FEWEST_CUTS)) if is_joint else CUTS
    table = _cuts_table(codes, weight, ends, pooled, groups, number)
    if scores.weights is None and not scores.clusters and not scores.survey:
        largest = _largest_gaps(scores, pooled, ends)
        return _distribution_tail(largest, table, mass, mass)
    squares = np.bincount(codes, square, minlength=groups).astype(np.float64)
    rows, squared_shares = np.bincount(codes, minlength=groups), table[:, :-1]
    if scores.clusters or scores.survey:
        sizes = full = estimates.sizes.mean(axis=0)
        if estimates.free is not None:
            sizes = student_rows(sizes, estimates.free.mean(axis=0), LEVEL)
    else:  # a group without the heaviest rows borrows the squared weights of all groups
        effect = np.nan_to_num(ratio(rows * squares, mass**2))
        common = float(rows @ effect) / len(scores)
        borrowed = (rows * effect + WEIGHED_ROWS * common) / (rows + WEIGHED_ROWS)
        sizes = np.nan_to_num(ratio(rows.astype(np.float64), np.maximum(effect, borrowed)))
        group_shares = _cuts_table(codes, square, ends, pooled, groups)[:, :-1]
        shared = (group_shares @ rows / len(scores))[:, None]
        squared_shares = (rows * group_shares + WEIGHED_ROWS * shared) / (rows + WEIGHED_ROWS)
        # A variance from few heavy rows has the freedom of (Σ w²)² / Σ w⁴ rows of equal weight.
        fourth = np.bincount(codes, square**2, minlength=groups).astype(np.float64)
        sizes = student_rows(
            sizes, np.maximum(np.nan_to_num(ratio(squares**2, fourth)), 1.0), LEVEL
        )
    observed = mass > 0
    order = np.lexsort((sizes[observed], mass[observed]))  # draws do not depend on names
    places = np.flatnonzero(observed)[order]
    ordered, sizes = table[:, [*places, -1]], sizes[places]
    if is_joint:
        root = _joint_root(scores, table, places)
        roots = list(root * np.sqrt(full[places] / sizes)[:, None, None])
    else:
        roots = [
            _root(squared, table[:, -1]) / np.sqrt(size)
            for squared, size in zip(squared_shares[:, places].T, sizes, strict=True)
        ]
    return _process_tail(ordered, roots, sizes, mass[places], is_joint=is_joint)


def _process_tail(
    table: Floats, roots: Sequence[Floats], sizes: Floats, mass: Floats, *, is_joint: bool
) -> Test:
    """Test that distributions of weighted or dependent rows are equal, by normal processes.

    Row i moves a group's share at or below t by wᵢ (1[vᵢ ≤ t] − F(t)) / W, so the shares at s and t
    have the covariance H(min) − F(s) H(t) − F(t) H(s) + F(s) F(t), with H the shares of the squared
    weights. Where weights depend on the value, that is not a Brownian bridge, so the process is
    drawn with this covariance. `roots` are square roots of it by group; of groups that share
    clusters they are the rows of one root, and their noise comes from the same draws.
    """
    from scipy.special import chdtrc, kolmogorov, ndtri

    common, shares, groups = table[:, -1], table[:, :-1].T, len(sizes)
    part = mass / mass.sum()
    steps = np.diff(np.append(0.0, common), append=1.0)
    weights = np.nan_to_num(ratio((steps[:-1] + steps[1:]) / 2, common * (1 - common)))
    widest = np.array([np.sqrt((root**2).sum(axis=1).max()) for root in roots])
    scale = np.maximum(widest, 1e-300) * np.maximum(1 - part, 1e-12)
    distance = shares - common
    square = float(sizes @ (distance**2 @ weights))
    gap = float((np.abs(distance).max(axis=1) / scale).max())

    @lru_cache(maxsize=1)  # groups of one root have the same draws
    def standard(seeds: tuple[int, ...], size: int, draws: int) -> Floats:
        normal = np.broadcast_to(ndtri(evenly(draws)), (size, draws))
        return np.random.default_rng(seeds).permuted(normal, axis=1).T

    def noise(group: int, draws: int) -> Floats:
        seeds = (groups,) if is_joint else (groups, group)
        return np.asarray(standard(seeds, roots[group].shape[1], draws) @ roots[group].T)

    def drawn(draws: int) -> Test:
        mean = np.sum([part[a] * noise(a, draws) for a in range(groups)], axis=0)
        squares, gaps = np.zeros(draws), np.zeros(draws)
        for a in range(groups):
            deviations = noise(a, draws) - mean
            squares += sizes[a] * (deviations**2 @ weights)
            gaps = np.maximum(gaps, np.abs(deviations).max(axis=1) / scale[a])

        def tail() -> float:
            free = groups - 1
            beyond = 2 * (square / max(float(squares.mean()), 1e-300) - 0.5) * free
            # A bridge of standard deviation at most 1/2 exceeds x / 2 no more often than
            # Kolmogorov's.
            single = groups * float(kolmogorov(gap / 2))
            return min(1.0, float(chdtrc(free, max(beyond, 0.0))) / SHARES[0], single / SHARES[1])

        return combined((square, gap), (squares, gaps), tail)

    return refined(drawn, len(common) * groups)


def _joint_root(scores: Distribution, table: Floats, places: NDArray[np.intp]) -> Floats:
    """A square root of the covariance of all groups' shares at all cut points.

    The root (groups, cuts, groups × cuts) is symmetric, so it depends on the covariance alone, not
    on the order of rows.
    """
    cuts = len(table)
    covariance = (_by_replicates if scores.survey else _by_clusters)(scores, table)
    chosen = (places[:, None] * cuts + np.arange(cuts)).ravel()
    values, vectors = np.linalg.eigh(covariance[np.ix_(chosen, chosen)])
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(root.reshape(len(places), cuts, -1))


def _by_clusters(scores: Distribution, table: Floats) -> Floats:
    """The covariance (groups × cuts, groups × cuts) of all shares, from the clusters.

    Rows of a cluster move the shares of all groups that it has rows of, and those at all cut points
    (Liang and Zeger 1986); of crossed clusterings the covariances add up (Cameron, Gelbach and
    Miller 2011).
    """
    groups, cuts, weight = len(scores.groups), len(table), scores.row_weights
    mass = np.bincount(scores.codes, weight, minlength=groups).astype(np.float64)
    place = _places(scores, table)
    covariance = np.zeros((groups * cuts, groups * cuts))
    for sign, axes in crossings(range(len(scores.clusters))):
        unit, number = combined_codes([scores.clusters[i].codes for i in axes])
        order = np.argsort(unit, kind="stable")
        starts = np.searchsorted(unit[order], np.arange(number + 1))
        step = max(AT_ONCE // (groups * (cuts + 1)), 1)
        product = np.zeros_like(covariance)
        for first in range(0, number, step):
            some = min(step, number - first)
            rows = order[starts[first] : starts[first + some]]
            key = ((unit[rows] - first) * groups + scores.codes[rows]) * (cuts + 1) + place[rows]
            counted = np.bincount(key, weight[rows], minlength=some * groups * (cuts + 1))
            below = np.cumsum(counted.reshape(some, groups, cuts + 1), axis=2)
            moves = below[:, :, :-1] - below[:, :, -1:] * table[:, :-1].T
            flat = ratio(moves, mass[:, None]).reshape(some, -1)
            product += flat.T @ flat
        covariance += sign * product * number / max(number - 1, 1)
    return covariance


def _by_replicates(scores: Distribution, table: Floats) -> Floats:
    """The covariance (groups × cuts, groups × cuts) of all shares, from replicate weights."""
    survey = scores.survey
    assert survey is not None
    groups, cuts = len(scores.groups), len(table)
    key = scores.codes * (cuts + 1) + _places(scores, table)

    def shares(weight: Floats) -> Floats:
        counted = np.bincount(key, weight, minlength=groups * (cuts + 1)).astype(np.float64)
        below = np.cumsum(counted.reshape(groups, cuts + 1), axis=1)
        return np.nan_to_num(ratio(below[:, :-1], below[:, -1:]))

    replicates = (shares(weight) for weight in survey.replicates)
    moves = deviations(replicates, shares(scores.row_weights), survey.scale)
    flat = moves.reshape(len(moves), -1)
    return np.asarray(flat.T @ flat)


def _places(scores: Distribution, table: Floats) -> NDArray[np.intp]:
    """The first cut that is not below each row."""
    weight = scores.row_weights
    pooled = np.cumsum(weight) / weight.sum()
    return np.asarray(np.searchsorted(table[:, -1], pooled - 1e-12))


def _root(squared_shares: Floats, common: Floats) -> Floats:
    """A square root of the covariance of a group's shares at all cut points, for a single row."""
    mixed = np.outer(common, squared_shares)
    covariance = (
        np.minimum.outer(squared_shares, squared_shares)
        - mixed
        - mixed.T
        + np.outer(common, common)
    )
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _largest_gaps(scores: Distribution, pooled: Floats, ends: Any) -> Floats:
    """The largest difference of each group's distribution function from that of all others.

    It is attained just below or at a value; of tied rows of a group, at the first or the last.
    """
    groups, path, codes = len(scores.groups), scores.steps, scores.codes
    widths, levels = np.diff(ends, prepend=-1), pooled[ends]
    above = np.abs(path.after - np.repeat(levels, widths))
    below = np.abs(path.before - np.repeat(np.append(0.0, levels[:-1]), widths))
    if len(ends) < len(scores):
        order = np.argsort(codes, kind="stable")
        value = np.repeat(np.arange(len(ends)), widths)[order]
        tied = np.flatnonzero((value[1:] == value[:-1]) & (codes[order[1:]] == codes[order[:-1]]))
        above[order[tied]] = below[order[tied + 1]] = 0.0
    gaps = np.zeros(groups)
    np.maximum.at(gaps, codes, np.maximum(above, below))
    share = np.bincount(codes, minlength=groups) / len(scores)
    return np.asarray(gaps / np.maximum(1 - share, 1e-12))


def _cuts_table(
    codes: Any, weight: Floats, ends: Any, pooled: Floats, groups: int, number: int = CUTS
) -> Floats:
    """Distribution functions (cuts, groups) at quantiles of all rows, and the pooled ones last."""
    levels = np.unique(np.searchsorted(pooled[ends], np.linspace(0, 1, number + 2)[1:-1]))
    cuts = ends[np.minimum(levels, len(ends) - 1)]
    place = np.searchsorted(cuts, np.arange(len(codes)), side="left")
    table = np.bincount(place * groups + codes, weight, minlength=(len(cuts) + 1) * groups)
    below = np.cumsum(table.reshape(-1, groups), axis=0)
    shares = below[:-1] / np.maximum(below[-1], 1e-300)
    return np.column_stack([shares, pooled[cuts]])


def _distribution_tail(largest: Floats, table: Floats, sizes: Floats, mass: Floats) -> Test:
    """Both statistics by their asymptotic distributions, for independent rows."""
    from scipy.special import chdtrc, kolmogorov

    observed = mass > 0
    share = mass / mass.sum()
    rows = sizes * (1 - share)
    root = np.sqrt(rows[observed])
    gaps = kolmogorov((root + 0.12 + 0.11 / root) * largest[observed])
    single = min(1.0, float(observed.sum() * gaps.min()))
    pooled = table[:, -1:]
    weights = np.diff(np.append(0.0, pooled[:, 0]), append=1.0)
    weights = (weights[:-1] + weights[1:]) / 2
    squares = np.nan_to_num(ratio((table[:, :-1] - pooled) ** 2, pooled * (1 - pooled)))
    omnibus = float((weights @ squares * sizes)[observed].sum())
    free = int(observed.sum()) - 1
    terms = 1.0 / (np.arange(1, 60) * np.arange(2, 61))
    remaining = free * (1 - terms[0])

    def drawn(draws: int) -> Test:
        rng = np.random.default_rng(free)
        quantiles = np.broadcast_to(chi_squared(free, draws), (len(terms), draws))
        sums = terms @ rng.permuted(quantiles, axis=1)  # each term in an order of its own
        beyond = int(np.count_nonzero(sums >= omnibus))
        test = with_tail(
            (1 + beyond) / (1 + draws),
            beyond,
            draws,
            lambda: float(chdtrc(free, max(2 * (omnibus - remaining), 0.0))),
        )
        each = Test(test.p_value / SHARES[0], test.error / SHARES[0]), Test(single / SHARES[1])
        return min(*each, Test(1.0))

    return refined(drawn, len(terms))
