"""Sharp bounds: the smallest and the largest rate of groups that the probabilities allow.

In a cell of the proxy the share p(S) of a set of groups S is known, and so are the hits A, misses B
and other rows E, but not which rows are in S. The rate of S is largest if its members are hits
first, then other rows, and misses last. That order is best in every cell whatever the rates are, so
that the extreme of the ratio of sums needs no search:

    U(S) = Σ min(A, M) / Σ [min(A, M) + max(M − A − E, 0)],  M = p(S) (A + B + E).

The smallest rate is the same with hits and misses exchanged. The largest rate of one group and the
smallest of another are possible together: one takes hits, the other misses, and as their shares
add up to at most 1, there are enough other rows for both. So the largest difference of two groups
is U(g) − L(h), and the largest of these is that of all groups.

Where every row is a hit or a miss, the sums of hits of the groups are the base polytope of the
submodular function f(S) = Σ min(A, M). Its vertices are greedy orders of the groups, at which a
measure with convex level sets is largest. Its base with the most even rates has the largest
smallest rate, min U(S), and at once the smallest largest one, max L(S), over all sets S (Fujishige
1980, Mathematics of Operations Research 5, 186–196). For other rates both are bounds that hold.

*Rows that may be in any group*: for the largest rate of S, all hits among them are in S, and misses
in other groups.

*Means.* The mean of S is largest if its members have the largest values of their cell. With q the
value above which there is a share p(S) of the cell, their sum is that of max(v − q, 0) + p(S) q
over all rows v of the cell, and least of all q there: a row moves it by that much (Rockafellar and
Uryasev 2000), and sums f(S) are submodular as before. Of rows that may be in any group, those
above the mean itself are in S.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.geometry import evenest, most_uneven
from evenhand._unknown.counted import COUNTED, HIT, Counted, Floats
from evenhand.measures import Measure

MOST_SETS = 10  # with more groups, not all sets of groups are used
MOST_ORDERS = 8
KINK = 1.5  # standard errors by which a kink may be nearer than estimated
MAX_DEVIATION = 40.0  # standard errors beyond which a normal density is 0
ROUNDING = 1e-12
SWAPPED = [1, 0, 2]  # hits and misses exchanged


class Limits(NamedTuple):
    """Largest rates of sets of groups, with influences of rows and their bias.

    `value` and `bias` are (sets,), `influence` is (sets, kinds, cells). The estimated minimum
    of two sums is too small on average, by up to the `bias`.
    """

    value: Floats
    bias: Floats
    influence: Floats


def upper(counts: Counted, sets: Floats) -> Limits:
    """The largest rate of each set of groups; `sets` (sets, groups) holds 0 and 1."""
    if counts.value is not None:
        return _upper_means(counts.value, counts, sets)
    return _upper(counts.by_cell(counts.weight), counts.by_cell(counts.squares), counts, sets)


def lower(counts: Counted, sets: Floats) -> Limits:
    """The smallest rate of each set of groups; by its bias it may be too large."""
    if counts.value is not None:
        value, bias, influence = _upper_means(-counts.value, counts, sets)
        return Limits(-value, bias, -influence)
    sums, squares = counts.by_cell(counts.weight), counts.by_cell(counts.squares)
    value, bias, influence = _upper(sums[SWAPPED], squares[SWAPPED], counts, sets)
    return Limits(1 - value, bias, -influence[:, SWAPPED])


def _upper(sums: Floats, squares: Floats, counts: Counted, sets: Floats) -> Limits:
    share, free = _members(counts, sets)
    hits, _, others = sums
    members = share * sums.sum(axis=0)
    room = hits - members  # where it is positive, all members are hits
    short = members - hits - others  # where it is positive, the members that are misses
    top = np.where(free, hits, np.minimum(hits, members))
    last = np.where(free, 0.0, np.maximum(short, 0.0))
    below = (top + last).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = top.sum(axis=-1) / below
    ones, at = np.ones(3)[:, None, None], share[None]
    hit = HIT[:, None, None]
    uncounted = (1 - COUNTED)[:, None, None]
    rises = np.where(free | (room < 0), hit, at * ones)
    falls = np.where(~free & (short > 0), at - hit - uncounted, 0.0)
    rate = np.nan_to_num(value)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = np.moveaxis((1 - rate) * rises - rate * falls, 0, 1) / below[:, None, None]
        mixed = ~free & (share > 0) & (share < 1)
        bent = (1 - rate) * _bent(room, hit - at, squares, mixed)
        bent += rate * _bent(short, at - hit - uncounted, squares, mixed)
        bias = bent.sum(axis=-1) / below
    return Limits(value, bias, influence)


def _members(counts: Counted, sets: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The share of each cell in each set (sets, cells), and where it could be any share."""
    possible = np.isnan(counts.mixing).T.astype(np.float64)
    share = sets @ np.nan_to_num(counts.mixing).T
    inside, outside = sets @ possible > 0, (1 - sets) @ possible > 0
    free = inside & outside
    share = np.where(free, 0.0, np.where(inside, 1.0, np.clip(share, 0.0, 1.0)))
    share[np.abs(share - 1) < 1e-12] = 1.0
    return share, free


class _Tails:
    """Upper tails of the values in every cell: sums over the largest values."""

    def __init__(self, value: Floats, counts: Counted) -> None:
        weight, cell, number = counts.weight[0], counts.cell, len(counts.mixing)
        order = np.lexsort((-value, cell))
        self.value = value[order]
        self.ends = np.cumsum(np.bincount(cell, minlength=number))
        self.first = self.ends - np.bincount(cell, minlength=number)
        self.grown = np.append(0.0, np.cumsum(weight[order]))
        self.sums = np.append(0.0, np.cumsum((weight * value)[order]))
        self.weights = np.bincount(cell, weight, number)
        self.total = np.bincount(cell, weight * value, number)
        self.spread = np.sqrt(np.bincount(cell, counts.squares[0], number))

    def at(self, weight: Floats) -> tuple[Floats, Floats]:
        """The value (sets, cells) above which there is this weight, and the sum above it."""
        start = self.grown[self.first]
        place = np.searchsorted(self.grown, start + weight, side="left") - 1
        place = np.clip(place, self.first, np.maximum(self.ends - 1, self.first))
        place = np.minimum(place, len(self.value) - 1)
        value = self.value[place]
        top = (
            self.sums[place] - self.sums[self.first] + (start + weight - self.grown[place]) * value
        )
        return value, np.where(weight >= self.weights, self.total, np.where(weight > 0, top, 0.0))


def _upper_means(value: Floats, counts: Counted, sets: Floats) -> Limits:
    share, free = _members(counts, sets)
    tails = _Tails(value, counts)
    weight = share * tails.weights
    cut, top = tails.at(weight)
    above, below = top.sum(axis=-1), weight.sum(axis=-1)
    error = np.sqrt(share * (1 - share)) * tails.spread
    density = tails.at(np.maximum(weight - error, 0.0))[0] - tails.at(weight + error)[0]
    # Twice the bias of a smooth density, 1.25 times that of a step.
    bias = (error * density).sum(axis=-1) / 2
    for at in np.flatnonzero(free.any(axis=1)):
        above[at], below[at] = _with_free_rows(value, counts, free[at], above[at], below[at])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, bias = above / below, bias / below
    if len(sets) > counts.number:  # for many sets only the means are needed
        return Limits(mean, bias, np.empty((0, 1, 0)))
    rate, cell = np.nan_to_num(mean)[:, None], counts.cell
    moves = np.maximum(value - cut[:, cell], 0.0) + share[:, cell] * (cut[:, cell] - rate)
    moves = np.where(free[:, cell], np.maximum(value - rate, 0.0), moves)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Limits(mean, bias, (moves / below[:, None])[:, None, :])


def _with_free_rows(
    value: Floats, counts: Counted, free: NDArray[np.bool_], above: float, below: float
) -> tuple[float, float]:
    """Sums of values and of weights, including rows of free cells that raise the mean."""
    rows = np.flatnonzero(free[counts.cell] & (counts.weight[0] > 0))
    rows = rows[np.argsort(-value[rows], kind="stable")]
    weight = counts.weight[0][rows]
    tops = np.append(above, above + np.cumsum(weight * value[rows]))
    weights = np.append(below, below + np.cumsum(weight))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(weights > 0, tops / weights, -np.inf)
    best = int(means.argmax())
    return float(tops[best]), float(weights[best])


def _bent(gap: Floats, moves: Floats, squares: Floats, mixed: NDArray[np.bool_]) -> Floats:
    """Bias of the smaller of two sums, near equality.

    For a normal gap with standard error s it is s (φ(z) − z Φ(−z)), z standard errors from 0.
    """
    from scipy.special import ndtr

    error = np.sqrt((moves**2 * squares[:, None, :]).sum(axis=0))
    z = np.clip(np.abs(gap) / np.maximum(error, 1e-300) - KINK, 0.0, MAX_DEVIATION)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(mixed, error * (density - z * ndtr(-z)), 0.0)


def all_sets(groups: int) -> Floats:
    """All nonempty sets of groups; for many groups, single ones, all but one, and all."""
    if groups > MOST_SETS:
        return np.concatenate([np.eye(groups), 1 - np.eye(groups), np.ones((1, groups))])
    return (np.arange(1, 2**groups)[:, None] >> np.arange(groups) & 1).astype(np.float64)


class Range(NamedTuple):
    """Range of a measure; `is_sharp` if both ends are attainable."""

    low: float
    high: float
    is_sharp: bool


def range_of(counts: Counted, measure: Measure) -> Range:
    """Range of a measure that the probabilities allow, ignoring sampling error."""
    groups = counts.number
    single = np.eye(groups)
    high, low = upper(counts, single).value, lower(counts, single).value
    defined = np.isfinite(high) & np.isfinite(low)
    if defined.sum() < 2:
        return Range(np.nan, np.nan, True)
    high, low = high[defined], low[defined]
    of_all = counts.is_complete and counts.counts_every_row and bool(defined.all())
    few = groups <= MOST_SETS
    if measure.reads == "extremes":
        sets = all_sets(groups)
        top = float(np.nanmax(lower(counts, sets).value))
        bottom = float(np.nanmin(upper(counts, sets).value))
        if top - bottom < ROUNDING * max(1.0, abs(top)):  # equal rates are possible
            top = bottom
        smallest = float(measure(np.array([top, bottom])))
        # A row of unknown group with a value between the two means is in one of the groups, and
        # keeps that end from being attained.
        of_two = groups == 2 and (counts.value is None or counts.is_complete)
        return Range(smallest, most_uneven(low, high, measure), (of_all or of_two) and few)
    largest = most_uneven(low, high, measure)
    if of_all and groups <= MOST_ORDERS:
        largest = float(np.max(measure(vertices(counts))))
    return Range(evenest(low, high, measure), largest, False)


def vertices(counts: Counted) -> Floats:
    """The rates (orders, groups) if groups take the hits one after the other."""
    groups = counts.number
    sums = counts.by_cell(counts.weight)
    total = sums.sum(axis=0)
    sets = np.arange(2**groups)[:, None] >> np.arange(groups) & 1
    members = (sets @ counts.mixing.T) * total
    if counts.value is None:
        hits = np.minimum(sums[0], members).sum(axis=-1)
    else:
        hits = _Tails(counts.value, counts).at(members)[1].sum(axis=-1)
    orders = np.array(list(permutations(range(groups))))
    grown = np.concatenate(
        [np.zeros((len(orders), 1), np.intp), np.cumsum(2**orders, axis=1)], axis=1
    )
    hits_taken = np.diff(hits[grown], axis=1)
    rates = np.empty(hits_taken.shape)
    np.put_along_axis(rates, orders, hits_taken / (counts.mixing.T @ total)[orders], axis=1)
    return rates


def interval_of(
    counts: Counted, measure: Measure, error: float, share: float
) -> tuple[float, float]:
    """Confidence interval of a measure of the true rates.

    Upper ends have the error `error` / 2, lower ends `share` / 2, the share of a cell. The largest
    difference is that of a single pair of groups, so that the largest upper end of all pairs needs
    no correction; lower ends are corrected for their number.
    """
    from scipy.special import ndtri

    groups = counts.number
    high, low = upper(counts, np.eye(groups)), lower(counts, np.eye(groups))
    defined = np.flatnonzero(np.isfinite(high.value) & np.isfinite(low.value))
    if len(defined) < 2:
        return np.nan, np.nan
    influence = np.concatenate([high.influence[defined], low.influence[defined]])
    number = len(defined)
    joint = covariance(counts, influence)
    variances = np.diag(joint)
    over = high.value[defined] + high.bias[defined]
    under = low.value[defined] - low.bias[defined]
    if measure.is_width:
        variance = variances[:number, None] + variances[None, number:] - 2 * joint[:number, number:]
        upper_gaps = (
            over[:, None] - under[None, :] - ndtri(error / 2) * np.sqrt(np.maximum(variance, 0))
        )
        variance = variances[number:, None] + variances[None, :number] - 2 * joint[number:, :number]
        pairs = number * (number - 1)
        lower_gaps = under[:, None] - over[None, :]
        lower_gaps = lower_gaps + ndtri(share / 2 / pairs) * np.sqrt(np.maximum(variance, 0.0))
        is_pair = ~np.eye(number, dtype=bool)
        widest = counts.limits[1] - counts.limits[0]
        return max(float(lower_gaps[is_pair].max()), 0.0), min(
            float(upper_gaps[is_pair].max()), widest
        )
    multiplier = float(-ndtri(share / (2 * number)))
    tops = np.minimum(over + multiplier * np.sqrt(variances[:number]), counts.limits[1])
    bottoms = np.maximum(under - multiplier * np.sqrt(variances[number:]), counts.limits[0])
    return evenest(bottoms, tops, measure), most_uneven(bottoms, tops, measure)


def covariance(counts: Counted, influence: Floats) -> Floats:
    """Covariance of limits; no variance is below what one more row could add."""
    influence = np.nan_to_num(influence, posinf=0.0, neginf=0.0)  # of groups without rows
    result = counts.covariance(influence)
    weight = counts.squares.sum() / max(counts.rows.sum(), 1.0)
    floor = (influence**2).max(axis=(1, 2)) * weight
    np.fill_diagonal(result, np.maximum(np.diag(result), floor))
    return result
