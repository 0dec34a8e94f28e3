"""The new values of predictions: each moves to the value of its own rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.mitigation._fields import Count
from evenhand.mitigation.group_reader import Codes, Floats

Choice = Count | Literal["exact"]
Side = Literal["left", "right"]

NEAR = 1e-12  # ranks that differ by rounding alone are the same rank
SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, eq=False)
class Plan:
    """The groups' CDFs before and after; a prediction keeps its rank within its group."""

    support: Support
    supply: Supply
    after: Floats

    def levels(self, scores: Floats, codes: Codes) -> tuple[Floats, Floats]:
        """The interval of ranks, from 0 to 1, of a score in its own group."""
        before = np.pad(self.supply.cdfs, ((0, 0), (1, 0)))
        lower, upper = self.support.span(scores)
        return before[codes, lower], before[codes, upper]

    def send(self, scores: Floats, codes: Codes, lots: Floats) -> Floats:
        """The new values of scores; the draw, above 0 and up to 1, selects a rank."""
        low, high = self.levels(scores, codes)
        level = high - (1 - lots) * (high - low)
        level = np.minimum(np.maximum(level, low + NEAR), high - NEAR)
        at = np.empty(len(level), np.intp)
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(1, len(self.after)))
        for after, rows in zip(self.after, np.split(order, ends), strict=True):
            at[rows] = np.searchsorted(after, level[rows])
        first, last = (self.after > 0).argmax(axis=1), len(self.support) - 1
        return np.asarray(self.support.points[np.clip(at, first[codes], last)])

    @property
    def cost(self) -> float:
        """The mean squared distance that the predictions of the fitting rows move."""
        return self.supply.cost(self.after)


@dataclass(frozen=True, eq=False)
class Support:
    """Values in ascending order; with `edges`, each is the center of a bin between two edges.

    Without edges the values are all the scores seen at fit. Scores beyond the outer edges belong
    to the outer bins.

    >>> grid = Support.bins(0.0, 1.0, 4)
    >>> grid.points, grid.span(np.array([0.3, 7.0]))
    (array([0.125, 0.375, 0.625, 0.875]), (array([1, 3]), array([2, 4])))
    """

    points: Floats
    edges: Floats | None = None

    @classmethod
    def bins(cls, low: float, high: float, count: int) -> Support:
        """Bins of equal width over a range."""
        edges = np.linspace(low, high, count + 1)
        return cls((edges[1:] + edges[:-1]) / 2, edges)

    @classmethod
    def of(cls, scores: Floats, choice: Choice, bounds: tuple[float, float] | None) -> Support:
        """Bins over the bounds (or the scores' own range), or exactly the scores."""
        if choice == "exact":
            return cls(np.unique(scores if bounds is None else np.clip(scores, *bounds)))
        low, high = (scores.min(), scores.max()) if bounds is None else bounds
        return cls.bins(float(low), float(high), int(choice)) if low < high else cls(scores[:1])

    def __len__(self) -> int:
        return len(self.points)

    def span(self, scores: Floats) -> tuple[Codes, Codes]:
        """The number of values below each score, and at or below it.

        The two agree for a score that is not a value: an unseen one, where there are no bins.
        """
        if self.edges is None:
            inside = np.clip(scores, self.points[0], self.points[-1])
            lower, upper = (np.searchsorted(self.points, inside, side) for side in SIDES)
            return lower, upper
        lower = np.searchsorted(self.edges[1:-1], scores, side="right")
        return lower, lower + 1

    def place(self, scores: Floats) -> Floats:
        """The place of a score in its bin, above 0, up to 1; a half where there are no bins."""
        if self.edges is None:
            return np.full(len(scores), 0.5)
        lower, upper = self.span(scores)
        left, right = self.edges[lower], self.edges[upper]
        return np.clip((scores - left) / (right - left), 1e-9, 1.0)

    def histograms(self, scores: Floats, codes: Codes, weight: Floats, groups: int) -> Floats:
        """The weight of every group (a row) at every value (a column)."""
        cell = codes * len(self) + self.span(scores)[1] - 1
        cells = np.bincount(cell, weight, minlength=groups * len(self))
        return np.asarray(cells, dtype=np.float64).reshape(groups, len(self))


@dataclass(frozen=True, eq=False)
class Supply:
    """The groups' predictions as they are: CDFs (groups × values), and each group's share.

    Moving a group's mass so that a fraction q of it ends below a cut point costs, up to a
    constant, the integral of (quantile − cut point) from 0 to q. That is all a squared distance
    needs: the cost of a whole plan is a sum over cut points, whatever the coupling, because the
    best coupling of two distributions on a line keeps the order.
    """

    points: Floats
    cdfs: Floats
    share: Floats

    @property
    def cuts(self) -> Floats:
        """The midpoints between neighboring values."""
        return (self.points[1:] + self.points[:-1]) / 2

    @property
    def weights(self) -> Floats:
        """The weight of the cost at each cut point (row) in each group (column)."""
        return 2 * np.diff(self.points)[:, None] * self.share

    def quantile(self, levels: Floats, side: Side) -> Floats:
        """The groups' quantiles at levels (groups × any), infinite past the last value."""
        return np.append(self.points, np.inf)[rank(self.cdfs, levels, side)]

    def integral(self, levels: Floats) -> Floats:
        """The integral of the groups' quantiles from 0 to each level (groups × any)."""
        at = np.minimum(rank(self.cdfs, levels, "left"), len(self.points) - 1)
        below = np.pad(self.cdfs, ((0, 0), (1, 0)))
        sums = np.cumsum(np.diff(below, axis=1) * self.points, axis=1)
        sums = np.pad(sums, ((0, 0), (1, 0)))
        distance = levels - np.take_along_axis(below, at, axis=1)
        return np.asarray(np.take_along_axis(sums, at, axis=1) + distance * self.points[at])

    def cost_by_cut(self, levels: Floats) -> Floats:
        """The cost of these levels by group and cut point, to be weighted by `weights`."""
        before = self.cdfs[:, :-1]
        return self.integral(levels) - self.integral(before) - self.cuts * (levels - before)

    def cost(self, after: Floats) -> float:
        """The mean squared distance that predictions move to reach other CDFs."""
        return max(0.0, float((self.weights.T * self.cost_by_cut(after[:, :-1])).sum()))


def rank(cdfs: Floats, levels: Floats, side: Side) -> Codes:
    """The number of values of each group's CDF below each of its levels, in one search.

    Laid end to end, two units apart, the CDFs are one ascending sequence.

    >>> rank(np.array([[0.5, 1.0], [0.2, 1.0]]), np.array([[0.4], [0.4]]), "left")
    array([[0],
           [1]])
    """
    step = 2.0 * np.arange(len(cdfs))[:, None]
    place = np.searchsorted((cdfs + step).ravel(), (levels + step).ravel(), side=side)
    within = place.reshape(levels.shape) - np.arange(len(cdfs))[:, None] * cdfs.shape[1]
    return np.asarray(np.clip(within, 0, cdfs.shape[1]))
