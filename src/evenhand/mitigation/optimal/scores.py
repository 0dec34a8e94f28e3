"""Rows that answer prices with their cheapest decisions, in one pass or by bisection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import smallest_unsigned
from evenhand.mitigation.optimal.rule import cheapest, tilt

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

GUESSES = 1024  # among all groups
ROWS_AT_A_TIME = 1 << 14  # scores of a block then stay in the cache


class Response(NamedTuple):
    """Rules: their pools, prices (features, classes), and confusion tables."""

    pool: Codes
    matrices: Floats
    confusion: Floats


class Population(Protocol):
    """Anything that answers prices with decisions."""

    @property
    def mass(self) -> Floats:
        """The share of rows by group and class, under the model."""

    @property
    def pools(self) -> int:
        """The number of pools that decide separately."""

    @property
    def owner(self) -> Codes | None:
        """The group that each pool decides for; None: one pool decides for everyone."""

    @property
    def part(self) -> Floats:
        """The share of its owner's decisions that each pool makes: 1 for all of them."""

    def respond(self, prices: Floats) -> Response:
        """The best decisions at prices (groups, true class, decision): a rule for each pool."""

    def guesses(self) -> Response:
        """Rules that may turn out useful, and are cheap to try."""

    @property
    def rising(self) -> bool:
        """Whether rules may not prefer a lower score to a higher one of the same group."""

    def unrestricted(self) -> Population:
        """The same rows, with rules of any kind."""


def known_groups(
    probabilities: Floats, group: Codes, weight: Floats, groups: int, rising: bool = False
) -> Population:
    """Rows of known groups, with class probabilities (rows, classes).

    Only where there are two classes is one score higher than another, and rules can be `rising`.
    """
    if probabilities.shape[1] == 2:
        return Thresholds.of(probabilities, group, weight, groups, rising)
    return Scores.of(probabilities, group, weight, groups)


class GroupPools:
    """One pool for each group, whose thresholds begin at its place of `start`."""

    start: Codes

    @property
    def pools(self) -> int:
        """The number of pools: one for each group."""
        return len(self.start) - 1

    @property
    def owner(self) -> Codes:
        """Every group has its own pool."""
        return np.arange(self.pools)

    @property
    def part(self) -> Floats:
        """All decisions."""
        return np.ones(self.pools)


@dataclass(frozen=True, eq=False)
class Thresholds(GroupPools):
    """Two classes, known groups: every best response is a threshold, found by bisection.

    Each group's probabilities of class 1 are sorted once; `weight` and `positive` accumulate the
    rows' weights and their share of class 1 in that order, with a 0 in front of each group.

    Any chance of class 1 that never falls as the score rises is a mixture of thresholds above which
    it is decided; so `rising` rules are those of upward thresholds alone.
    """

    score: Floats
    start: Codes
    weight: Floats
    positive: Floats
    rising: bool = False

    @classmethod
    def of(
        cls,
        probabilities: Floats,
        group: Codes,
        weight: Floats,
        groups: int,
        rising: bool = False,
    ) -> Thresholds:
        """Sort the rows by group and by probability of class 1."""
        score = probabilities[:, 1]
        order = np.argsort(score)
        codes = group[order].astype(smallest_unsigned(groups))  # small integers sort by radix
        order = order[np.argsort(codes, kind="stable")]
        start = np.searchsorted(group[order], np.arange(groups + 1))
        score, weight = score[order], weight[order] / weight.sum()
        total, positive = (np.concatenate([[0.0], np.cumsum(w)]) for w in (weight, weight * score))
        return cls(score, start, total, positive, rising)

    def unrestricted(self) -> Thresholds:
        """The same rows, with thresholds of both directions."""
        return replace(self, rising=False)

    @property
    def mass(self) -> Floats:
        """The share of rows by group and class."""
        everyone, positive = np.diff(self.weight[self.start]), np.diff(self.positive[self.start])
        return np.column_stack([everyone - positive, positive])

    def respond(self, prices: Floats) -> Response:
        """Decide 1 on one side of a threshold that lies between two of the group's scores."""
        extra = prices[:, :, 1] - prices[:, :, 0]  # at score t, 1 costs (1 − t) and t of these more
        slope = extra[:, 1] - extra[:, 0]
        upward = slope < 0
        flat = np.abs(slope) < np.finfo(float).tiny
        cut = np.where(flat, np.inf, -extra[:, 0] / np.where(flat, 1.0, slope))
        cut = np.where(flat & (extra[:, 0] < 0), -np.inf, cut)
        upward |= flat
        if self.rising:
            # Where 1 costs the more the higher the score, the sum over all rows above a cut first
            # rises and then falls as the cut goes down: all of them or none are best.
            falling = ~upward
            all_of_them = (self.mass * extra).sum(axis=1) < 0
            cut = np.where(falling, np.where(all_of_them, -np.inf, np.inf), cut)
            upward |= falling
        everyone = np.arange(self.pools)
        return self._rules(everyone, self._place(everyone, cut, past_ties=upward), upward)

    def guesses(self) -> Response:
        """Thresholds at evenly spaced ranks of every group."""
        count = max(GUESSES // self.pools, 2)
        pool = np.repeat(np.arange(self.pools), count)
        rank = np.tile((np.arange(count) + 0.5) / count, self.pools)
        size = np.diff(self.start)[pool]
        place = self.start[pool] + (rank * size).astype(np.intp)
        cut = self.score[np.minimum(place, len(self.score) - 1)]  # a group may have no rows
        upward = np.ones(len(pool), dtype=bool)
        return self._rules(pool, self._place(pool, cut, past_ties=upward), upward)

    def _place(self, pool: Codes, cut: Floats, past_ties: NDArray[np.bool_]) -> Codes:
        """The number of rows below the cut (or at it), by bisection in all these groups at once."""
        low, high = self.start[pool], self.start[pool + 1]
        while (low < high).any():
            middle = (low + high) // 2
            value = self.score[np.minimum(middle, len(self.score) - 1)]
            below = (value < cut) | ((value == cut) & past_ties)
            open_ = low < high
            low = np.where(open_ & below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        return low

    def _rules(self, pool: Codes, place: Codes, upward: NDArray[np.bool_]) -> Response:
        """Decide 1 above (or below) a place in the order, by a price midway between neighbors.

        So rounding cannot move a row to the other side.
        """
        first, last = self.start[pool], self.start[pool + 1]
        below = np.where(place > first, self.score[np.maximum(place - 1, 0)], -1.0)
        above = np.where(place < last, self.score[np.minimum(place, len(self.score) - 1)], 2.0)
        middle, sign = (below + above) / 2, np.where(upward, 1.0, -1.0)
        prices = sign[:, None] * np.column_stack([middle, middle - 1])
        low, high = self._between(first, place), self._between(place, last)
        none, ones = np.where(upward[:, None], low, high), np.where(upward[:, None], high, low)
        return Response(
            pool,
            np.stack([np.zeros_like(prices), prices], axis=-1),
            np.stack([none, ones], axis=-1),
        )

    def _between(self, start: Codes, stop: Codes) -> Floats:
        """Mass of both classes between two places in the order."""
        everyone = self.weight[stop] - self.weight[start]
        positive = self.positive[stop] - self.positive[start]
        return np.column_stack([everyone - positive, positive])


@dataclass(frozen=True, eq=False)
class Scores:
    """Any number of classes: one pass over the rows, whose features are transposed and sorted.

    `features` (features, rows) are the class probabilities, or where the group is not known the
    joint probabilities of group and class; rows of one pool lie between two of `starts`.
    """

    features: Floats
    weight: Floats
    starts: Codes
    groups: int
    rising: ClassVar[bool] = False

    def unrestricted(self) -> Scores:
        """The population itself."""
        return self

    @classmethod
    def of(cls, probabilities: Floats, group: Codes, weight: Floats, groups: int) -> Scores:
        """Rows of known groups: a pool for each."""
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(groups + 1))
        return cls(
            np.ascontiguousarray(probabilities.T[:, order]),
            weight[order] / weight.sum(),
            starts,
            groups,
        )

    @classmethod
    def blind(cls, joint: Floats, weight: Floats, groups: int) -> Scores:
        """One pool of all rows, by joint probabilities (rows, groups × classes)."""
        ends = np.array([0, len(joint)])
        return cls(np.ascontiguousarray(joint.T), weight / weight.sum(), ends, groups)

    @property
    def pools(self) -> int:
        """The number of pools that decide separately."""
        return len(self.starts) - 1

    @property
    def owner(self) -> Codes | None:
        """Every group has its own pool, or all have one."""
        return np.arange(self.pools) if self.pools == self.groups else None

    @property
    def part(self) -> Floats:
        """All decisions."""
        return np.ones(self.pools)

    @property
    def mass(self) -> Floats:
        """The share of rows by group and class."""
        weighted = [self.features[:, a:b] @ self.weight[a:b] for a, b in pairwise(self.starts)]
        return np.array(weighted).reshape(self.groups, -1)

    def respond(self, prices: Floats) -> Response:
        """Take the class of least price in every row, block by block."""
        classes = prices.shape[-1]
        matrices = (prices + tilt(classes)).reshape(self.pools, -1, classes)
        confusion = np.zeros_like(matrices)
        for pool, (first, last) in enumerate(pairwise(self.starts.tolist())):
            for start in range(first, last, ROWS_AT_A_TIME):
                rows = slice(start, min(start + ROWS_AT_A_TIME, last))
                confusion[pool] += self._block(matrices[pool], rows)
        return Response(np.arange(self.pools), matrices, confusion)

    def guesses(self) -> Response:
        """None: each would cost a pass over the rows."""
        shape = (0, len(self.features), len(self.features) * self.pools // self.groups)
        return Response(np.zeros(0, np.intp), np.zeros(shape), np.zeros(shape))

    def _block(self, matrix: Floats, rows: slice) -> Floats:
        features = self.features[:, rows]
        chosen = cheapest(matrix.T @ features)
        is_chosen = chosen == np.arange(matrix.shape[1])[:, None]
        return np.asarray(features @ (is_chosen * self.weight[rows]).T)
