"""Two classes judged by their labels: the corners of every group's ROC curve."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import isotonic_regression

from evenhand.mitigation.optimal.scores import GUESSES, Codes, Floats, GroupPools, Response


@dataclass(frozen=True, eq=False)
class Curves(GroupPools):
    """Any mixture of thresholds, upward or downward, judged by the rows' labels.

    Whatever the prices, the best threshold of a group is a corner of the convex hull of its ROC
    curve, or of the curve's mirror image, where one decides 1 below the threshold. Corners are
    where isotonic regression of the labels on the score begins a new block (Fawcett and
    Niculescu-Mizil, PAV and the ROC convex hull, 2007); so the cost of a response depends on them,
    and not on the number of rows.

    `cut` is a threshold between two scores, infinite where all are on one side; `above` is the
    share of all rows by class that lie above it. Those of a group are between two of `start`.
    Rules that are `rising` decide 1 above thresholds alone: on the curve, not its mirror image.
    """

    cut: Floats
    above: Floats
    start: Codes
    mass: Floats
    rising: bool = False

    @classmethod
    def of(
        cls,
        score: Floats,
        positive: Floats,
        group: Codes,
        weight: Floats,
        groups: int,
        rising: bool = False,
    ) -> Curves:
        """Sort the rows; `positive` is 1 in rows of class 1, or how probable that is."""
        order = np.lexsort((score, group))
        score, group = score[order], group[order]
        ones = weight[order] / weight.sum()
        news = np.flatnonzero(np.append(True, (np.diff(score) > 0) | (np.diff(group) > 0)))
        everyone = np.add.reduceat(ones, news)
        hits = np.add.reduceat(ones * positive[order], news)
        score, group = score[news], group[news]
        start = np.searchsorted(group, np.arange(groups + 1))
        corners = _corners(hits, everyone, group)
        curves = cls._at(corners, score, start, np.column_stack([everyone - hits, hits]))
        return replace(curves, rising=rising)

    def unrestricted(self) -> Curves:
        """The same rows, with thresholds of both directions."""
        return replace(self, rising=False)

    @classmethod
    def _at(cls, corners: Codes, score: Floats, start: Codes, rows: Floats) -> Curves:
        """Thresholds below the rows at corners, and above all rows of each group."""
        groups = len(start) - 1
        place = np.concatenate([corners, start[1:]])
        pool = np.concatenate([np.searchsorted(start, corners, "right") - 1, np.arange(groups)])
        order = np.lexsort((place, pool))
        place, pool = place[order], pool[order]
        total = np.vstack([np.zeros((1, 2)), np.cumsum(rows, axis=0)])
        first, last = start[pool], start[pool + 1]
        # A group may have no rows here, if those are held out: its place is past the last score.
        before = np.minimum(np.maximum(place - 1, first), len(score) - 1)
        middle = (score[before] + score[np.minimum(place, last - 1)]) / 2
        middle[place == first], middle[place == last] = -np.inf, np.inf
        return cls(
            middle,
            np.maximum(total[last] - total[place], 0),
            np.searchsorted(pool, np.arange(groups + 1)),
            total[start[1:]] - total[start[:-1]],
        )

    def respond(self, prices: Floats) -> Response:
        """The best corner of each group, and the side of it where 1 is decided."""
        extra = prices[:, :, 1] - prices[:, :, 0]  # what deciding 1 costs more, by true class
        pool = np.repeat(np.arange(self.pools), np.diff(self.start))
        cost = (self.above * extra[pool]).sum(axis=1)
        everyone = (self.mass * extra).sum(axis=1)
        upward, downward = _first(cost, self.start), _first(-cost, self.start)
        is_upward = (cost[upward] <= everyone - cost[downward]) | self.rising
        return self._rules(np.where(is_upward, upward, downward), is_upward)

    def guesses(self) -> Response:
        """All corners, or evenly spaced ones of many."""
        step = 1 + len(self.cut) // (4 * GUESSES)
        chosen = np.arange(0, len(self.cut), step)
        return self._rules(chosen, np.ones(len(chosen), dtype=bool))

    def _rules(self, corner: Codes, is_upward: np.ndarray) -> Response:
        pool = np.searchsorted(self.start, corner, "right") - 1
        cut, above, mass = self.cut[corner], self.above[corner], self.mass[pool]
        ones = np.where(is_upward[:, None], above, mass - above)
        finite = np.isfinite(cut)
        lean = np.where(finite, cut, np.sign(cut))[:, None] - finite[:, None] * [0.0, 1.0]
        prices = np.where(is_upward, 1.0, -1.0)[:, None] * lean
        return Response(
            pool,
            np.stack([np.zeros_like(prices), prices], axis=-1),
            np.stack([mass - ones, ones], axis=-1),
        )


def _corners(hits: Floats, everyone: Floats, group: Codes) -> Codes:
    """The starts of blocks whose labels rise or fall with the score, group by group.

    Groups are offset so far from each other that no block has rows of two.
    """
    share, offset = hits / everyone, 2.0 * group
    rising = isotonic_regression(share + offset, weights=everyone, increasing=True)
    falling = isotonic_regression(share - offset, weights=everyone, increasing=False)
    return np.union1d(rising.blocks[:-1], falling.blocks[:-1])


def _first(values: Floats, start: Codes) -> Codes:
    """The place of the least value of each stretch, the first of ties."""
    minimum = np.repeat(np.minimum.reduceat(values, start[:-1]), np.diff(start))
    places = np.flatnonzero(values == minimum)
    return places[np.searchsorted(places, start[:-1])]
