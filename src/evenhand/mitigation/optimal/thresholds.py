"""Two classes, known groups: every best response is a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.words import smallest_unsigned
from evenhand.mitigation.optimal.population import Codes, Floats, Response

GUESSES = 1024  # among all groups


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Two classes, known groups: every best response is a threshold, found by bisection.

    Each group's probabilities of class 1 are sorted once; `weight` and `positive` accumulate the
    rows' weights and their share of class 1 in that order, with a 0 in front of each group.
    """

    score: Floats
    start: Codes
    weight: Floats
    positive: Floats

    @classmethod
    def of(cls, probabilities: Floats, group: Codes, weight: Floats, groups: int) -> Thresholds:
        """Sort the rows by group and by probability of class 1."""
        score = probabilities[:, 1]
        order = np.argsort(score)
        small = group[order].astype(smallest_unsigned(groups))  # small integers sort by radix
        order = order[np.argsort(small, kind="stable")]
        start = np.searchsorted(group[order], np.arange(groups + 1))
        score, weight = score[order], weight[order] / weight.sum()
        totals = [np.concatenate([[0.0], np.cumsum(w)]) for w in (weight, weight * score)]
        return cls(score, start, *totals)

    @property
    def pools(self) -> int:
        """One for each group."""
        return len(self.start) - 1

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
        everyone = np.arange(self.pools)
        return self._rules(everyone, self._place(everyone, cut, past_ties=upward), upward)

    def guesses(self) -> Response:
        """Thresholds at evenly spaced ranks of every group."""
        count = max(GUESSES // self.pools, 2)
        pool = np.repeat(np.arange(self.pools), count)
        rank = np.tile((np.arange(count) + 0.5) / count, self.pools)
        size = np.diff(self.start)[pool]
        cut = self.score[self.start[pool] + (rank * size).astype(np.intp)]
        upward = np.ones(len(pool), dtype=bool)
        return self._rules(pool, self._place(pool, cut, past_ties=upward), upward)

    def _place(self, pool: Codes, cut: Floats, past_ties: NDArray[np.bool_]) -> Codes:
        """How many rows lie below the cut (or at it), by bisection in all these groups at once."""
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
        """Decide 1 above (or below) a place in the order, by a price midway between neighbours.

        So rounding cannot move a row to the other side.
        """
        first, last = self.start[pool], self.start[pool + 1]
        below = np.where(place > first, self.score[np.maximum(place - 1, 0)], -1.0)
        above = np.where(place < last, self.score[np.minimum(place, len(self.score) - 1)], 2.0)
        middle, sign = (below + above) / 2, np.where(upward, 1.0, -1.0)
        one = sign[:, None] * np.column_stack([middle, middle - 1])
        low, high = self._between(first, place), self._between(place, last)
        none, ones = np.where(upward[:, None], low, high), np.where(upward[:, None], high, low)
        return Response(
            pool, np.stack([np.zeros_like(one), one], axis=-1), np.stack([none, ones], axis=-1)
        )

    def _between(self, start: Codes, stop: Codes) -> Floats:
        """Mass of both classes between two places in the order."""
        everyone = self.weight[stop] - self.weight[start]
        positive = self.positive[stop] - self.positive[start]
        return np.column_stack([everyone - positive, positive])
