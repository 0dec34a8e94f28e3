"""The ends of a band of many groups, quickly: the same geometry with steps that never start anew.

*Above* it is the largest inequality within a reach of the data. *Below* it is the inequality of the
nearest groups that are just not too far: a single look says by how many dimensions they are bound,
and a mixture over as many has to be exceeded. Gaps are searched for by Newton's steps in the width
of an interval that all groups are moved into, together with its place. The Gini index and PQ have a
path of nearest groups, by the price of inequality; on it the distance is solved for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.geometry import NEGLIGIBLE, curved_tail
from evenhand.measures import Measure
from evenhand.watch.distances import Distances

Floats = NDArray[np.float64]

ANGLES = np.linspace(0, np.pi / 2, 13)
CLIMBS = 8
WIDEST = 6  # groups that are tried to be moved alone
STEPS, INNER_STEPS = 16, 12
NEAR = 0.03  # standard errors: near enough
NARROW = 0.005  # of a lower end, relative to it


@dataclass(frozen=True)
class Bound:
    """The squared distance that is too far: so much, and so much more for each dimension."""

    base: float
    by_dimension: float

    def reach(self, dimensions: float) -> float:
        """How far is too far."""
        return float(np.sqrt(self.base + dimensions * self.by_dimension))


def highest(groups: Distances, measure: Measure, reach: float) -> float:
    """The largest inequality within a reach of the data."""
    if measure.reads == "extremes":
        return _farthest_pair(groups, measure, reach)
    return _climbed(groups, measure, reach)


def lowest(groups: Distances, measure: Measure, alike: Bound, apart: Bound) -> float:
    """The least inequality that is not too far from the data.

    `alike` bounds the distance to groups that are all alike, `apart` that to others.
    """
    if not float(measure(groups.values)) > 0:
        return 0.0
    square, place = _common(groups)
    if np.sqrt(square) < alike.reach(len(groups.hits) - 1):
        return 0.0
    if measure.reads == "extremes":
        return _narrowest(groups, measure, apart, place)
    return min(_along_path(groups, measure, apart), _alone(groups, measure, apart.reach(1)))


def heterogeneity(groups: Distances) -> float:
    """The least squared distance of a common value."""
    return _common(groups)[0]


def _farthest_pair(groups: Distances, measure: Measure, reach: float) -> float:
    """The best split of the distance between the highest group and the lowest.

    Only groups that can be as far apart as some pair is at an even split are looked at.
    """
    far = reach * np.array([1.0, np.sqrt(0.5), -np.sqrt(0.5), -1.0])[:, None]
    top, high, low, bottom = groups.at(far * np.ones(len(groups.hits)))
    first, last = int(high.argmax()), int(low.argmin())
    if first == last:
        last = int(np.where(np.arange(len(low)) == first, np.inf, low).argmin())
    sure = float(measure(np.array([high[first], min(low[last], high[first])])))

    def may_be(highs: Floats, lows: Floats) -> NDArray[np.intp]:
        pairs = np.stack(np.broadcast_arrays(highs, np.minimum(lows, highs)), axis=-1)
        return np.flatnonzero(np.asarray(measure(pairs)) >= sure - NEGLIGIBLE)

    tops, bottoms = may_be(top, bottom.min()), may_be(top.max(), bottom)
    highs = groups.some(tops).at(reach * np.cos(ANGLES)[:, None] * np.ones(len(tops)))
    lows = groups.some(bottoms).at(-reach * np.sin(ANGLES)[:, None] * np.ones(len(bottoms)))
    highest, lowest = tops[highs.argmax(axis=1)], bottoms[lows.argmin(axis=1)]
    above, below = highs.max(axis=1), lows.min(axis=1)
    # A group is not a pair: where one is highest and lowest, another is the one or the other.
    is_one = (highest == lowest)[:, None]
    second = np.where(is_one & (tops == highest[:, None]), -np.inf, highs).max(axis=1)
    before_last = np.where(is_one & (bottoms == lowest[:, None]), np.inf, lows).min(axis=1)
    pairs = np.array([[above, second], [np.minimum(before_last, above), np.minimum(below, second)]])
    found = np.asarray(measure(np.moveaxis(pairs, 0, -1)[np.isfinite(pairs).all(axis=0)]))
    return max(sure, float(found.max(initial=0.0)), float(measure(groups.values)))


def _climbed(groups: Distances, measure: Measure, reach: float) -> float:
    """Climb within the ball from the data, and from the one group that raises it most alone."""
    values, number = groups.values, len(groups.hits)
    ends = groups.at(reach * np.array([[1.0], [-1.0]]) * np.ones(number))
    alone = _with_one_moved(values, ends, measure)
    most = max(float(alone.max()), float(measure(values)))
    sign, which = np.unravel_index(int(alone.argmax()), alone.shape)
    start = np.zeros((2, number))
    start[1, which] = reach * (1 - 2 * int(sign))
    distance, here = start, np.stack([values, values])
    here[1, which] = ends[sign, which]
    for _ in range(CLIMBS):
        slope = measure.gradient(here)
        pull = slope / np.maximum(groups.located(here)[1], NEGLIGIBLE)
        length = np.sqrt((pull**2).sum(axis=1, keepdims=True))
        following = np.where(length > 0, reach * pull / np.where(length > 0, length, 1), distance)
        here = groups.at(following)
        most = max(most, float(np.asarray(measure(here)).max()))
        if np.abs(following - distance).max() < NEAR:
            break
        distance = following
    return most


def _with_one_moved(values: Floats, ends: Floats, measure: Measure) -> Floats:
    """The measure (ends, groups) with one group's value moved to an end."""
    number, total = len(values), float(values.sum())
    sums = np.maximum(total - values + ends, NEGLIGIBLE)
    if measure.reads == "powers":
        squares = np.maximum(float(values @ values) - values**2 + ends**2, NEGLIGIBLE)
        return np.asarray(1 - sums / np.sqrt(number * squares))
    order = np.argsort(values)
    in_order = values[order]
    below = np.append(0.0, np.cumsum(in_order))
    gaps = float(((2.0 * np.arange(number) + 1 - number) * in_order).sum())

    def to_all(at: Floats) -> Floats:
        """The sum of gaps between a value and all values."""
        passed = np.searchsorted(in_order, at)
        return np.asarray(at * (2 * passed - number) + total - 2 * below[passed])

    moved = gaps - to_all(values) + to_all(ends) - np.abs(ends - values)
    return np.asarray(moved / (number * sums))


def _common(groups: Distances) -> tuple[float, float]:
    """The least squared distance of a common value, and that value."""
    share, (low, high) = float(groups.hits.sum() / groups.sizes.sum()), groups.limits
    least, place = np.inf, low + (high - low) * share
    for _ in range(STEPS):
        far, slope = groups.located(np.full(len(groups.hits), place))
        least = min(least, float(far @ far))
        step = -float(far @ slope) / float(slope @ slope)
        if abs(step) * np.sqrt(float(slope @ slope)) < NEAR:
            break
        place += step
    return least, place


def _narrowest(groups: Distances, measure: Measure, bound: Bound, place: float) -> float:
    """The least gap of an interval that groups can be moved into without going too far."""
    values = groups.values
    guess = bound.reach(1) * np.sqrt(0.5) * np.array([[-1.0], [1.0]])
    down, up = groups.at(guess * np.ones(len(values)))
    least, most = 0.0, float(measure(values))
    level = float(measure(np.array([down.max(), min(up.min(), down.max())])))
    level = min(max(level, 0.05 * most), 0.95 * most)
    interval = _Interval(groups, not measure.is_relative)
    place = place - level / 2 if interval.is_gap else place / max(1 - level / 2, 0.1)
    before: tuple[float, float] | None = None
    for _ in range(STEPS):
        place, square, bounded, speed = interval.nearest(level, place)
        over = float(np.sqrt(square)) - bound.reach(max(bounded - 1, 1))
        least, most = (level, most) if over >= 0 else (least, level)
        if most - least < NARROW * most:
            break
        if before is not None and before[0] != level:  # the bound changes, too: the secant knows
            secant = (over - before[1]) / (level - before[0])
            speed = secant if secant < 0 else speed
        step = -over / speed if speed < 0 else 0.0
        if over >= 0 and abs(step) < NARROW * level:
            break
        step += np.copysign(NARROW / 2 * level, step)  # a little too far, to end on both sides
        follow = level + step if least < level + step < most else (least + most) / 2
        place += interval.drift * (follow - level)
        before, level = (level, over), follow
    return least


class _Interval:
    """An interval of a width, or of a ratio of its ends, that is placed nearest to all groups."""

    def __init__(self, groups: Distances, is_gap: bool) -> None:
        self.groups, self.values, self.is_gap = groups, groups.values, is_gap
        self.drift = 0.0  # how much its place changes with its width

    def nearest(self, level: float, place: float) -> tuple[float, float, int, float]:
        """Its place, the squared distance, how many groups it binds, how the distance changes."""
        least = np.inf, place, np.zeros(0), np.zeros(0)
        for _ in range(STEPS):
            low = place if self.is_gap else (1 - level) * place
            high = place + level if self.is_gap else place
            far, slope = self.groups.located(np.minimum(np.maximum(self.values, low), high))
            square = float(far @ far)
            if square < least[0]:
                least = square, place, far, slope
            is_down = far < 0  # those above the interval
            moves = np.where(far == 0, 0.0, np.where(is_down | self.is_gap, 1.0, 1 - level))
            moves *= slope
            curvature = float(moves @ moves)
            step = -float(far @ moves) / curvature if curvature else 0.0
            if abs(step) * np.sqrt(curvature) < NEAR * max(1.0, np.sqrt(square) / 4):
                break
            place += step
        square, place, far, slope = least
        pull, is_down = far * slope, far < 0
        widened = pull[is_down].sum() if self.is_gap else -place * pull[~is_down].sum()
        if self.is_gap and curvature:
            self.drift = -float((slope[is_down] ** 2).sum()) / curvature
        bounded = int((far**2 > NEGLIGIBLE).sum())
        return place, square, bounded, float(widened) / max(float(np.sqrt(square)), NEGLIGIBLE)


def _alone(groups: Distances, measure: Measure, reach: float) -> float:
    """The least inequality if one group alone is moved as far as is not too far."""
    values = groups.values
    ends = groups.at(reach * np.array([[1.0], [-1.0]]) * np.ones(len(values)))
    wide = np.argsort(ends[1] - ends[0], kind="stable")[:WIDEST]
    return float(_with_one_moved(values, ends, measure)[:, wide].min())


def _along_path(groups: Distances, measure: Measure, bound: Bound) -> float:
    """The inequality of the nearest groups, on the path by its price, that are too far by a hair.

    Distances are taken as linear around the last ones found: there the path is solved exactly.
    """
    values, level = groups.values, float(measure(groups.values))
    price, far = 0.0, np.zeros(len(values))
    slope, is_ordered = groups.located(values)[1], measure.reads == "ranks"
    for _ in range(STEPS):
        weight = np.maximum(slope**2, 1e-6 * float(np.median(slope**2)))
        wish = values - far / np.sqrt(weight)
        solve = _fused(wish, weight, level) if is_ordered else _shrunk(wish, weight, level)

        def over(at: float) -> tuple[float, Floats]:
            aim, dimensions = solve(at)  # noqa: B023
            square = float(weight @ (aim - wish) ** 2)  # noqa: B023
            if not is_ordered:
                dimensions = _curved_dimensions(groups, measure, aim, square)
            return np.sqrt(square) - bound.reach(dimensions), aim

        price, values = _crossing(over, price or float(np.median(weight)) / len(values))
        now = float(measure(values))
        far, slope = groups.located(values)
        if abs(now - level) < NARROW * max(now, NEGLIGIBLE):
            return now
        level = now
    return level


def _crossing(over: Callable[[float], tuple[float, Floats]], price: float) -> tuple[float, Floats]:
    """The price from which on the distance is too far, and the values there."""
    low = high = price
    under = above = over(price)[0]
    while above < 0 and high < 1e15:
        low, under = high, above
        high *= 4
        above, _ = over(high)
    while under >= 0 and low > 1e-15:
        high, above = low, under
        low /= 4
        under, _ = over(low)
    for _ in range(INNER_STEPS):
        if above < NEAR:
            break
        part = min(max(under / (under - above), 0.1), 0.9)
        middle = low * (high / low) ** part
        excess, _ = over(middle)
        if excess < 0:
            low, under = middle, excess
        else:
            high, above = middle, excess
    return high, over(high)[1]


Path = Callable[[float], tuple[Floats, float]]


def _fused(wish: Floats, weight: Floats, level: float) -> Path:
    """By price, the values nearest to the wishes and by how many dimensions a Gini index binds."""
    from scipy.optimize import isotonic_regression

    number = len(wish)
    order = np.argsort(wish, kind="stable")
    ranks = 2.0 * np.arange(number) + 1 - number - level * number
    sorted_wish, sorted_weight = wish[order], weight[order]
    push = ranks / sorted_weight

    def solve(price: float) -> tuple[Floats, float]:
        fitted = isotonic_regression(sorted_wish - price * push, weights=sorted_weight)
        values = np.empty(number)
        values[order] = np.maximum(fitted.x, 0.0)
        ties = number - (len(fitted.blocks) - 1)
        return values, float(min(ties + 1, number - 1))

    return solve


def _shrunk(wish: Floats, weight: Floats, level: float) -> Path:
    """By price, the values nearest to the wishes with a PQ of about this level."""
    ratio = 1 / ((1 - level) ** 2 * len(wish))

    def solve(price: float) -> tuple[Floats, float]:
        both = weight + price
        room = max(1 - price * ratio * float((1 / both).sum()), 1e-9)
        total = float((weight * wish / both).sum()) / room
        return np.maximum((weight * wish + price * ratio * total) / both, 0.0), 1.0

    return solve


def _curved_dimensions(groups: Distances, measure: Measure, values: Floats, square: float) -> float:
    """By how many dimensions PQ binds values: as many as make chi-squared exceed as often."""
    tail = curved_tail(groups, values, float(measure(values)), square)  # type: ignore[arg-type]
    return dimensions(square, tail, len(values) - 1)


def dimensions(square: float, tail: float, most: int) -> float:
    """The degrees of freedom with which chi-squared exceeds a square so often."""
    from scipy.special import chdtrc

    low, high = 1.0, float(max(most, 1))
    if tail <= chdtrc(low, square):
        return low
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if chdtrc(middle, square) < tail else (low, middle)
    return high
