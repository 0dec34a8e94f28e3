"""Limits of a measure of inequality: its extremes over sets of plausible true values.

MPD, shortfall, the Gini index and PQ are quasi-convex: the vectors whose inequality is at most a
given level form a convex set K. Let the data be a point in the space of true values, with distances
in standard errors.

*Upper limit.* If the truth lies on the boundary of K, the half-space beyond a supporting hyperplane
of K lies outside K. So the data are farther than z from every vector at least as unequal as the
truth with at most the probability that one normal variable exceeds z: whatever the number of
groups, their sizes and ties, the largest inequality within z of the data is an upper limit with the
one-sided error of z.

*Lower limit.* The squared distance from the data to K is chi-squared, with as many degrees of
freedom as equality constraints bind at the nearest point of K (Bartholomew's chi-bar-squared, given
the face; Silvapulle and Sen 2005, ch. 3). For groups that are all equal this is the test of
homogeneity. The boundary of PQ's set is curved: there the distance is that to a ball, in as many
dimensions as give the same mean curvature, which is a noncentral chi-squared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.curves import DISTANCES, STEP
from evenhand.measures import Measure
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

NEGLIGIBLE, ENDLESS = 1e-12, 1e12
CHEAPEST = 1e-12  # a price of inequality that is practically 0
ROUNDS, STEPS = 8, 8
FARTHEST_OFF = 60.0  # standard errors: values beyond are practically impossible
SHARES_OF_A_STEP = np.array([1.0, 0.7, 0.4, 0.2, 0.1, 0.05, 0.0])
ANGLES = np.linspace(0, np.pi / 2, 13)
MOST_ENUMERATED = 12
MOST_MOVED = 6  # groups that are tried one by one: those with the widest curves
MOST_SINGLED_OUT = 500  # with more groups a single one hardly changes a measure
MOST_AT_ONCE = 1 << 19  # numbers of cells that are computed together


@dataclass(frozen=True, eq=False)
class Cloud:
    """The groups observed in one cell: their values and confidence curves.

    Cells with the same number of groups can be stacked: values (cells, groups), curves (distances,
    cells, groups). Their common value and its distance may be `precomputed`.
    """

    values: Floats
    curves: Floats
    precomputed: tuple[float, float] | None = None

    def __len__(self) -> int:
        return int(self.values.shape[-1])

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """The index at which each group's curve begins in the flattened curves."""
        return np.arange(self.values.size).reshape(self.values.shape)

    @cached_property
    def _line(self) -> Floats:
        return self.curves.ravel()

    @cached_property
    def _slopes(self) -> Floats:
        """The slopes of distances by value between the points of the curves, flattened."""
        with np.errstate(invalid="ignore"):  # where a curve has ended
            rise = np.diff(self.curves, axis=0)
        slope = STEP / np.maximum(rise, 1e-9 * (1e-3 + np.abs(self.curves[1:])))
        return np.where(np.isfinite(slope), slope, 0.0).ravel()

    def at(self, distance: Any) -> Floats:
        """The values (…, groups) at signed distances (…, groups)."""
        place = np.maximum((np.asarray(distance) - DISTANCES[0]) / STEP, 0.0)
        below = np.minimum(place.astype(np.intp), len(DISTANCES) - 2)
        part = np.minimum(place - below, 1.0)
        start = self._first + below * self.values.size
        end = start + self.values.size
        return np.asarray((1 - part) * self._line.take(start) + part * self._line.take(end))

    def distance(self, values: Floats) -> Floats:
        """Signed distances of values (…, groups) from the data."""
        return self.located(values)[0]

    def located(self, values: Floats) -> tuple[Floats, Floats]:
        """Signed distances, and their slopes by value."""
        batch = (1,) * (values.ndim - self.values.ndim)
        curves = self.curves.reshape(len(DISTANCES), *batch, *self.values.shape)
        above = values > self.values
        lowest = np.where(above, np.nextafter(values, -np.inf), values)  # so that <= means < above
        passed = np.add.reduce(curves <= lowest, axis=0, dtype=np.uint8).astype(np.intp)
        below = np.minimum(np.maximum(passed - 1, 0), len(DISTANCES) - 2)
        start = self._first + below * self.values.size
        slope = self._slopes.take(start)
        distance = DISTANCES.take(below) + (values - self._line.take(start)) * slope
        distance = np.maximum(distance, np.where(above, 0.0, -FARTHEST_OFF))
        distance = np.minimum(distance, np.where(above, FARTHEST_OFF, 0.0))
        return np.where(values == self.values, 0.0, distance), slope

    @cached_property
    def pooled(self) -> float:
        """The common value nearest to all groups."""
        return self._common[0]

    @cached_property
    def heterogeneity(self) -> float:
        """The smallest sum of squared distances of a common value: chi-squared if all are equal."""
        return self._common[1]

    @cached_property
    def _common(self) -> tuple[float, float]:
        if self.precomputed is not None:
            return self.precomputed
        value, square = _common_values(Cloud(self.values[None], self.curves[:, None]))
        return float(value[0]), float(square[0])


def located_at_once(clouds: Sequence[Cloud]) -> list[Cloud]:
    """The same cells, each with its common value and the squared distance of that."""
    located = list(clouds)
    for places, cells in _stacked(clouds, 17 * len(DISTANCES) // 8):
        for place, *pair in zip(places, *_common_values(cells), strict=True):
            located[place] = replace(clouds[place], precomputed=(float(pair[0]), float(pair[1])))
    return located


def _common_values(cells: Cloud) -> tuple[Floats, Floats]:
    """The value nearest to all groups of each cell, and its squared distance, by refined grids."""
    low, high = cells.values.min(axis=1), cells.values.max(axis=1)
    cell = np.arange(len(low))
    for _ in range(6):
        grid = np.linspace(low, high, 17)
        values = np.repeat(grid[..., None], len(cells), axis=-1)
        sums = (cells.distance(values) ** 2).sum(axis=-1)
        best = sums.argmin(axis=0)
        low, high = grid[np.maximum(best - 1, 0), cell], grid[np.minimum(best + 1, 16), cell]
    return grid[best, cell], sums[best, cell]


def upper_limit(cloud: Cloud, measure: Measure, reach: float) -> float:
    """The largest inequality within a distance of the data."""
    return float(upper_limits([cloud], measure, reach)[0])


def upper_limits(clouds: Sequence[Cloud], measure: Measure, reach: float) -> Floats:
    """The upper limits of many cells; those with the same number of groups are computed at once."""
    endless = np.array([not np.isfinite(cloud.at(reach)).all() for cloud in clouds])
    limits = np.where(endless, np.inf, 0.0)
    is_gap = measure.reads == "extremes"
    bounded = np.flatnonzero(~endless)
    for batch, cells in _stacked(
        [clouds[i] for i in bounded.tolist()], len(ANGLES) if is_gap else 0
    ):
        places = bounded[batch]
        largest = (_farthest_pair if is_gap else _steepest)(cells, measure, reach)
        limits[places] = np.maximum(largest, measure(cells.values))
    return limits


def _stacked(clouds: Sequence[Cloud], times: int) -> Iterator[tuple[list[int], Cloud]]:
    """Stacks of cells with the same number of groups, with their places.

    `times` is how many copies of each number the computation holds; 0 stands for twice the number
    of groups.
    """
    sizes = np.array([len(cloud) for cloud in clouds])
    for groups in np.unique(sizes).tolist():
        places = np.flatnonzero(sizes == groups).tolist()
        step = max(MOST_AT_ONCE // (groups * max(times or 2 * groups, len(DISTANCES))), 1)
        for start in range(0, len(places), step):
            part = places[start : start + step]
            values = np.stack([clouds[place].values for place in part])
            yield part, Cloud(values, np.stack([clouds[place].curves for place in part], axis=1))


def lower_limit(cloud: Cloud, measure: Measure, error: float, beyond: float = 0.0) -> float:
    """The smallest inequality that the data do not reject; `error` is that of both tails together.

    Near equality no data are too even, so the error is spent on one tail there. A limit that does
    not exceed `beyond` is not searched for; then 0 is returned.
    """
    value = float(measure(cloud.values))
    search = EvennessSearch(cloud, measure, error)
    if not value > beyond or not search.rejects(beyond):
        return 0.0
    low, high = beyond, value
    for _ in range(STEPS):
        level = (low + high) / 2
        low, high = (level, high) if search.rejects(level) else (low, level)
    return low


class EvennessSearch:
    """Tests whether groups of at most some inequality are too far from the data.

    Each search for the nearest such groups starts where the last one ended.
    """

    def __init__(self, cloud: Cloud, measure: Measure, error: float) -> None:
        from scipy.special import ndtri

        self.cloud, self.measure, self.error = cloud, measure, error
        self.reach = float(-ndtri(error / 2))
        self.nearest: tuple[Floats, float] | None = None

    @cached_property
    def single_moves(self) -> tuple[NDArray[np.intp], Floats]:
        """The groups with the widest curves, and the measure (distances, groups) if one moves."""
        cloud = self.cloud
        wide = np.argsort(cloud.at(-1.0) - cloud.at(1.0), kind="stable")[:MOST_MOVED]
        values = np.tile(cloud.values, (len(DISTANCES), len(wide), 1))
        values[:, np.arange(len(wide)), wide] = np.clip(cloud.curves[:, wide], 0.0, ENDLESS)
        return wide, np.asarray(self.measure(values))

    def one_moved(self, level: float) -> Floats:
        """The values with one group moved just enough to reach the level, or as near as it can."""
        groups, values_moved = self.single_moves
        distance = np.where(values_moved <= level, np.abs(DISTANCES)[:, None], np.inf)
        order = distance if np.isfinite(distance).any() else values_moved
        at, group = np.unravel_index(int(order.argmin()), order.shape)
        values = self.cloud.values.copy()
        values[groups[group]] = np.clip(self.cloud.curves[at, groups[group]], 0.0, ENDLESS)
        return values

    def rejects(self, level: float) -> bool:
        """Whether the data reject an inequality of at most this level."""
        tail, square, faces = self.tail(level)
        if np.sqrt(self.cloud.heterogeneity) - np.sqrt(square) < self.reach:
            return tail <= self.error
        beyond = 1 - 0.5**faces if faces else 1.0  # the probability that data lie outside the set
        return tail * beyond <= self.error / 2

    def tail(self, level: float) -> tuple[float, float, int]:
        """The p-value of an inequality of at most `level`, given that the data exceed it.

        With the squared distance to such groups, and the number of inequalities that bind there; 0
        where the tail is not conditional.
        """
        from scipy.special import chdtrc

        cloud, measure, groups = self.cloud, self.measure, len(self.cloud)
        if level <= 0:
            return float(chdtrc(groups - 1, cloud.heterogeneity)), cloud.heterogeneity, 0
        if measure.reads == "extremes":
            _, frees, squares = clipped(cloud, measure, np.array([level]))
            square, free = float(squares[0]), int(frees[0])
            return float(chdtrc(free, square)), square, free
        self.nearest = _nearest(cloud, measure, level, self.nearest, self.one_moved(level))
        values = self.nearest[0]
        square = float((cloud.distance(values) ** 2).sum())
        if measure.reads == "ranks":
            ties = groups - len(np.unique(values.round(9)))
            free = groups - 1 if ties == groups - 1 else ties + 1
            return float(chdtrc(free, square)), square, free
        return curved_tail(cloud, values, level, square), square, 0


def _farthest_pair(cells: Cloud, measure: Measure, reach: float) -> Floats:
    """The largest gap within a distance, split between the highest and the lowest group."""
    high = cells.at(reach * np.cos(ANGLES)[:, None, None])
    low = cells.at(-reach * np.sin(ANGLES)[:, None, None])
    tops = np.argsort(high, axis=-1)[..., -2:]
    bottoms = np.argsort(low, axis=-1)[..., :2]
    highest, lowest = (
        np.take_along_axis(*pair, axis=-1) for pair in ((high, tops), (low, bottoms))
    )
    largest = np.zeros(len(cells.values))
    for top in range(2):
        for bottom in range(2):
            above = highest[..., top]
            pair = np.stack([above, np.minimum(lowest[..., bottom], above)], axis=-1)
            inequality = np.where(tops[..., top] != bottoms[..., bottom], measure(pair), 0.0)
            largest = np.maximum(largest, inequality.max(axis=0))
    return largest


def _steepest(cells: Cloud, measure: Measure, reach: float) -> Floats:
    """The largest inequality within a ball, by ascent from several starts.

    A convex function rises at every step.
    """
    number, groups = cells.values.shape
    distance = np.zeros((number, groups))
    largest = np.zeros(number)
    if groups <= MOST_SINGLED_OUT:
        every_group = np.arange(groups)
        shifted = np.repeat(cells.values[None], 2 * groups, axis=0)
        shifted[every_group, :, every_group] = cells.at(reach).T
        shifted[groups + every_group, :, every_group] = cells.at(-reach).T
        single = np.asarray(measure(shifted))
        largest, best = single.max(axis=0), single.argmax(axis=0)
        offset = np.where(best < groups, reach, -reach)
        # Start from the data, and from the best move of a single group.
        distance = np.concatenate(
            [distance, np.where(every_group == (best % groups)[:, None], offset[:, None], 0.0)]
        )
        largest = np.concatenate([largest, largest])
        cells = Cloud(np.tile(cells.values, (2, 1)), np.tile(cells.curves, (1, 2, 1)))
    reached = cells.at(distance)
    climbing: NDArray[np.bool_] = np.ones(len(largest), dtype=bool)
    for _ in range(8):
        point = np.where((distance != 0).any(axis=1, keepdims=True), reached, cells.values)
        slope = measure.gradient(point)
        offset = np.abs(distance)
        before, beyond = np.maximum(offset - 0.5, 0.125), offset + 0.5
        # A curve may end between the reach and beyond it, such as that of a ratio of errors.
        highest, lowest = cells.at(beyond), cells.at(-beyond)
        ends = np.isfinite(highest) & np.isfinite(lowest)
        if not ends.all():
            beyond = np.where(ends, beyond, np.minimum(beyond, reach))
            highest, lowest = cells.at(beyond), cells.at(-beyond)
        rise, fall = highest - cells.at(before), cells.at(-before) - lowest
        span = beyond - before
        pull = slope * np.where(slope > 0, rise, fall) / span
        length = np.sqrt((pull**2).sum(axis=1))
        climbing &= length > 0
        if not climbing.any():
            break
        following = reach * pull / np.where(climbing, length, 1.0)[:, None]
        following = np.where(climbing[:, None], following, distance)
        reached = cells.at(following)
        largest = np.where(climbing, np.maximum(largest, measure(reached)), largest)
        climbing &= np.abs(following - distance).max(axis=1) >= 1e-3
        distance = following
    return np.asarray(largest.reshape(-1, number).max(axis=0))


def clipped(cloud: Cloud, measure: Measure, levels: Floats) -> tuple[Floats, Floats, Floats]:
    """The nearest groups in an interval as wide as each level, and the degrees of freedom."""
    values, rows = cloud.values, np.arange(len(levels))
    lowest, highest = float(values.min()), float(values.max())
    if measure.is_relative:
        first, last = np.full(len(levels), lowest), highest / np.maximum(1 - levels, 1e-6)
    else:
        first, last = lowest - levels, np.full(len(levels), highest)
    assert measure.band is not None
    parts, width = np.linspace(0, 1, 17), levels[:, None]
    for _ in range(5):
        place = first[:, None] + (last - first)[:, None] * parts
        low, high = measure.band(place, width)
        inside = np.minimum(np.maximum(values, low[..., None]), high[..., None])
        squares = cloud.distance(inside) ** 2
        best = squares.sum(axis=2).argmin(axis=1)
        first, last = place[rows, np.maximum(best - 1, 0)], place[rows, np.minimum(best + 1, 16)]
    square = squares[rows, best]
    free = np.maximum((square > NEGLIGIBLE).sum(axis=1) - 1, 1)
    return inside[rows, best], free.astype(np.float64), square.sum(axis=1)


def _nearest(
    cloud: Cloud,
    measure: Measure,
    level: float,
    start: tuple[Floats, float] | None,
    single_start: Floats,
) -> tuple[Floats, float]:
    """The nearest values with at most this inequality, by Gauss–Newton steps; and their price.

    Every step ends at values with at most this inequality, and the nearest of all are returned. A
    small group's curve is so bent that steps from the middle of all groups may miss how near the
    values are that move this group alone, so a second search starts at `single_start`.
    """
    if start is None:
        toward = min(1.0, level / float(measure(cloud.values)))
        start = cloud.pooled + toward * (cloud.values - cloud.pooled), 1e-3
    best, smallest = start, np.inf
    for values, price, ordered in ((*start, None), (single_start, start[1], single_start)):
        for _ in range(ROUNDS):
            distance, slope = cloud.located(values)
            weight = np.maximum(slope**2, 1e-6 * _typical(slope**2))
            wish = values - distance / np.sqrt(weight)
            if measure.reads == "ranks":
                solve = fused(wish, weight, level, wish if ordered is None else ordered)
            else:
                solve = shrunk(wish, weight, level)
            aim, price = _priced(solve, measure, level, price)
            # The set is convex: the line between two of its points lies inside.
            inside = float(measure(values)) <= level
            steps = values + SHARES_OF_A_STEP[:, None] * (aim - values) if inside else aim[None]
            squares = (cloud.distance(steps) ** 2).sum(axis=1)
            nearest = int(squares.argmin())
            change = float(np.abs(steps[nearest] - values).max())
            values = steps[nearest]
            if squares[nearest] < smallest:
                best, smallest = (values, price), float(squares[nearest])
            if change < 1e-4 * max(float(np.abs(values).max()), 1e-3):
                break
    return best


def _typical(weights: Floats) -> float:
    """The median of the positive weights; the slope is 0 where a curve ends."""
    positive = np.sort(weights[weights > 0])
    if not len(positive):
        return 1.0
    return float(positive[(len(positive) - 1) // 2] + positive[len(positive) // 2]) / 2


Solver = Callable[[float], Floats]


def fused(wish: Floats, weight: Floats, level: float, ordered: Floats) -> Solver:
    """A solver for the Gini index: the best values at a price of inequality above the level.

    For a fixed order of the groups the constraint is linear, and isotonic regression solves it. The
    order of the unconstrained values is the best one if their weights are equal.
    """
    from scipy.optimize import isotonic_regression

    groups = len(wish)
    order = np.argsort(ordered, kind="stable")
    ranks = 2.0 * np.arange(groups) + 1 - groups - level * groups
    sorted_wish, sorted_weight = wish[order], weight[order]

    def solve(price: float) -> Floats:
        fitted = np.empty(groups)
        pulled = sorted_wish - price * ranks / sorted_weight
        fitted[order] = isotonic_regression(pulled, weights=sorted_weight).x
        return np.maximum(fitted, 0.0)

    return solve


def shrunk(wish: Floats, weight: Floats, level: float) -> Solver:
    """A solver for PQ: the best values at a price of inequality above the level."""
    bound = 1 / ((1 - level) ** 2 * len(wish))

    def solve(price: float) -> Floats:
        all_weight = weight + price
        room = max(1 - price * bound * float((1 / all_weight).sum()), 1e-9)
        total = float((weight * wish / all_weight).sum()) / room
        return np.maximum((weight * wish + price * bound * total) / all_weight, 0.0)

    return solve


def _priced(solve: Solver, measure: Measure, level: float, price: float) -> tuple[Floats, float]:
    """The solution at the lowest price that meets the level, to one percent of the price."""

    def excess(at: float) -> tuple[float, Floats]:
        values = solve(at)
        return float(measure(values)) - level, values

    low, high = 0.0, max(price, CHEAPEST)
    over, best = excess(high)
    short = over
    while over > 0 and high < 1e15:
        low, short, high = high, over, 4 * high
        over, best = excess(high)
    while low == 0.0 and high > CHEAPEST:
        beyond, values = excess(high / 4)
        if beyond > 0:
            low, short = high / 4, beyond
        else:
            high, over, best = high / 4, beyond, values
    for _ in range(8):
        if high - low <= 0.01 * high:
            break
        part = min(max(short / max(short - over, 1e-300), 0.1), 0.9)
        middle = low + part * (high - low)
        beyond, values = excess(middle)
        if beyond > 0:
            low, short = middle, beyond
        else:
            high, over, best = middle, beyond, values
    return best, high


def curved_tail(cloud: Cloud, nearest: Floats, level: float, square: float) -> float:
    """The tail probability of the distance to PQ's set, whose boundary is curved."""
    from scipy.special import chdtrc, chndtr, ndtr

    groups = len(nearest)
    weight = np.maximum(cloud.located(nearest)[1] ** 2, NEGLIGIBLE)
    mean = float((weight * nearest).sum() / weight.sum())
    radius = float(np.sqrt((weight * (nearest - mean) ** 2).sum()))
    bound = 1 / ((1 - level) ** 2 * groups)
    slope = (2 * nearest - 2 * bound * nearest.sum()) / np.sqrt(weight)
    length = float(np.sqrt(slope @ slope))
    if length < NEGLIGIBLE or radius < 1e-4:
        return float(chdtrc(groups - 1, square))
    normal = slope / length
    trace = float(((2 - 2 * bound) / weight).sum())
    along = float(
        (2 / weight * normal**2).sum() - 2 * bound * (normal / np.sqrt(weight)).sum() ** 2
    )
    bend = (trace - along) / (2 * length)
    free = float(np.clip(1 + 2 * radius * bend, 1, groups - 1))
    within = float(chndtr((radius + np.sqrt(square)) ** 2, free, radius**2))
    if np.isnan(within):  # beyond SciPy's series; so far out the boundary is practically flat
        within = float(ndtr(np.sqrt(square)))
    return 1 - within


def evenest(low: Floats, high: Floats, measure: Measure) -> float:
    """The smallest inequality of values between bounds: all as near to one level as they can be."""
    first, last = float(high.min()), float(low.max())
    if last <= first:
        return 0.0
    for _ in range(6):
        grid = np.linspace(first, last, 33)
        unevenness = np.asarray(measure(np.clip(grid[:, None], low, high)))
        best = int(unevenness.argmin())
        first, last = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 32)])
    return float(unevenness.min())


def most_uneven(low: Floats, high: Floats, measure: Measure) -> float:
    """The largest inequality of values between bounds, or for many groups an upper bound of it.

    If the measure is quasi-convex, it is attained at a corner.
    """
    groups = len(low)
    if np.isinf(high).any():  # one value may be so large that the others are negligible
        return float(measure(np.eye(groups)[0])) if measure.is_relative else np.inf
    if measure.reads == "extremes":
        best = 0.0
        for top in np.argsort(high)[-2:]:
            for bottom in np.argsort(low)[:2]:
                if top != bottom:
                    pair = np.array([high[top], min(low[bottom], high[top])])
                    best = max(best, float(measure(pair)))
        return best
    if groups <= MOST_ENUMERATED and measure.is_convex:
        chosen = (np.arange(1 << groups)[:, None] >> np.arange(groups)) & 1
        return float(np.max(measure(np.where(chosen == 1, high, low))))
    if not measure.is_solved:
        return measure.greatest((float(low.min()), float(high.max())), None, groups)
    return _relaxed(low, high, measure)


def _relaxed(low: Floats, high: Floats, measure: Measure) -> float:
    """An upper bound of the largest Gini index or PQ: a concave relaxation of choosing corners.

    For PQ the sum of squares, given the sum, is at most that of the groups with the largest
    low + high at their upper ends. A Gini index is at most CV √((d² − 1) / 3) / d.
    """
    groups, scale = len(low), float(high.max())
    if scale == 0:
        return 0.0
    low, high = low / scale, high / scale
    order = np.argsort(-(low + high))
    sums = np.append(0.0, np.cumsum((high - low)[order])) + low.sum()
    squares = np.append(0.0, np.cumsum((high**2 - low**2)[order])) + (low**2).sum()
    rise = np.diff(squares) / np.maximum(np.diff(sums), NEGLIGIBLE)
    start = squares[:-1] - rise * sums[:-1]
    inner = np.clip(np.nan_to_num(ratio(-2 * start, rise)), sums[:-1], sums[1:])
    candidate_sums = np.concatenate([sums, inner])
    candidate_squares = np.concatenate([squares, start + rise * inner])
    share = min(float(np.max(candidate_squares / np.maximum(candidate_sums, NEGLIGIBLE) ** 2)), 1.0)
    spread = max(groups * share, 1.0)  # 1 where all are equal
    if measure.reads == "powers":
        return 1 - 1 / float(np.sqrt(spread))
    variation = np.sqrt(spread - 1)
    return min(float(variation * np.sqrt((groups**2 - 1) / 3) / groups), 1 - 1 / groups)
