"""What becomes of predictions on a line: each goes to the value of its own rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation.transport.support import Codes, Floats, Support


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
        """The middle between neighbouring values: where it is a tie which one is nearer."""
        return (self.points[1:] + self.points[:-1]) / 2

    @property
    def weights(self) -> Floats:
        """What a unit of cost at each cut point (row) and in each group (column) counts."""
        return 2 * np.diff(self.points)[:, None] * self.share

    def quantile(self, levels: Floats, side: Literal["left", "right"]) -> Floats:
        """The groups' quantiles at levels (groups × any), infinite past the last value."""
        return np.append(self.points, np.inf)[rank(self.cdfs, levels, side)]

    def integral(self, levels: Floats) -> Floats:
        """The integral of the groups' quantiles from 0 to each level (groups × any)."""
        at = np.minimum(rank(self.cdfs, levels, "left"), len(self.points) - 1)
        below = np.pad(self.cdfs, ((0, 0), (1, 0)))
        sums = np.cumsum(np.diff(below, axis=1) * self.points, axis=1)
        sums = np.pad(sums, ((0, 0), (1, 0)))
        rest = levels - np.take_along_axis(below, at, axis=1)
        return np.asarray(np.take_along_axis(sums, at, axis=1) + rest * self.points[at])

    def cost_by_cut(self, levels: Floats) -> Floats:
        """What it costs, by group and cut point, to have these levels; weigh it by `weights`."""
        before = self.cdfs[:, :-1]
        return self.integral(levels) - self.integral(before) - self.cuts * (levels - before)

    def cost(self, after: Floats) -> float:
        """The mean squared distance that predictions travel to have other CDFs."""
        return float((self.weights.T * self.cost_by_cut(after[:, :-1])).sum())


@dataclass(frozen=True, eq=False)
class Plan:
    """The groups' CDFs before and after; a prediction keeps its rank within its group."""

    support: Support
    supply: Supply
    after: Floats

    def levels(self, scores: Floats, codes: Codes) -> tuple[Floats, Floats]:
        """The ranks, from 0 to 1, that a score takes up in its own group."""
        before = np.pad(self.supply.cdfs, ((0, 0), (1, 0)))
        lower, upper = self.support.span(scores)
        return before[codes, lower], before[codes, upper]

    def send(self, scores: Floats, codes: Codes, lots: Floats) -> Floats:
        """Where scores go; the lot (above 0, up to 1) is the part of their rank that is meant."""
        low, high = self.levels(scores, codes)
        step = 2.0 * np.arange(len(self.after))
        stacked = (self.after + step[:, None]).ravel()
        at = np.searchsorted(stacked, high - (1 - lots) * (high - low) + step[codes])
        first, last = (self.after > 0).argmax(axis=1), len(self.support) - 1
        at = np.clip(at - codes * len(self.support), first[codes], last)
        return np.asarray(self.support.points[at])

    @property
    def cost(self) -> float:
        """The mean squared distance that the predictions of the fitting rows travel."""
        return self.supply.cost(self.after)


def rank(cdfs: Floats, levels: Floats, side: Literal["left", "right"]) -> NDArray[np.intp]:
    """How many values of each group's CDF lie below each of its levels, all groups in one search.

    Laid end to end, two units apart, the CDFs are one ascending sequence.

    >>> rank(np.array([[0.5, 1.0], [0.2, 1.0]]), np.array([[0.4], [0.4]]), "left")
    array([[0],
           [1]])
    """
    step = 2.0 * np.arange(len(cdfs))[:, None]
    found = np.searchsorted((cdfs + step).ravel(), (levels + step).ravel(), side=side)
    within = found.reshape(levels.shape) - np.arange(len(cdfs))[:, None] * cdfs.shape[1]
    return np.asarray(np.clip(within, 0, cdfs.shape[1]))
