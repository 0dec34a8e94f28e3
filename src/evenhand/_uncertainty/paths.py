"""Paths from the observed groups to equal ones, through the nearest groups of each inequality.

`geometry.py` has the distance of groups of at most some inequality, and its distribution; here are
the groups themselves, for all levels at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.geometry import NEGLIGIBLE, Cloud, clipped, curved_tail, fused, shrunk
from evenhand.measures import Measure
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

PRICES = np.geomspace(3e-3, 30, 9)  # of inequality, relative to what makes all groups alike
PARTS = np.array([0.02, 0.06, 0.12, 0.2, 0.3, 0.42, 0.56, 0.72, 0.88])  # of the observed level


@dataclass(frozen=True, eq=False)
class Path:
    """Groups of decreasing inequality, from the observed ones: levels, distances and directions.

    `levels` fall; `scores` are the distances as quantiles of one normal variable; `moves` (levels,
    groups) are signed distances of every group.
    """

    cloud: Cloud
    kept: NDArray[np.bool_]
    levels: Floats
    scores: Floats
    moves: Floats

    def at(self, scores: Floats) -> tuple[Floats, Floats]:
        """The levels and the moves of all groups at these distances."""
        last = len(self.scores) - 1
        before = np.clip(np.searchsorted(self.scores, scores, side="right") - 1, 0, last)
        after = np.minimum(before + 1, last)
        gap = self.scores[after] - self.scores[before]
        part = ratio(scores - self.scores[before], gap)
        part = np.clip(np.nan_to_num(part, nan=1.0), 0.0, 1.0)
        moves = np.zeros((len(scores), len(self.kept)))
        levels = self.levels[before] + part * (self.levels[after] - self.levels[before])
        step = self.moves[after] - self.moves[before]
        moves[:, self.kept] = self.moves[before] + part[:, None] * step
        return levels, moves


def path_of(cloud: Cloud, defined: NDArray[np.bool_], measure: Measure) -> Path:
    """The path from the observed groups to equal ones, through the nearest of each inequality."""
    groups, value = len(cloud), float(measure(cloud.values))
    levels, scores, moves = [np.array([value])], [np.zeros(1)], [np.zeros((1, groups))]
    if value > 0:
        if measure.reads == "extremes":
            points, free, squares = clipped(cloud, measure, value * (1 - PARTS))
        else:
            points, free, squares = _priced(cloud, measure)
        even = np.full((1, groups), cloud.pooled)
        levels += [np.asarray(measure(points)), np.zeros(1)]
        scores += [
            _scores(cloud, measure, points, free, squares),
            _as_normal(cloud.heterogeneity, groups - 1, 0),
        ]
        moves += [cloud.distance(points), cloud.distance(even)]
    path = np.concatenate(levels), np.concatenate(scores)
    order = np.argsort(-path[0], kind="stable")
    rising = np.maximum.accumulate(path[1][order])
    return Path(cloud, defined, path[0][order], rising, np.concatenate(moves)[order])


def _priced(cloud: Cloud, measure: Measure) -> tuple[Floats, Floats, Floats]:
    """The optimal groups for increasing prices of inequality, with degrees of freedom and squares.

    Squared distances are approximated by a quadratic, with the standard error toward equality. For
    the Gini index isotonic regression solves it; for PQ every group shrinks toward a common value.
    """
    values, groups = cloud.values, len(cloud)
    toward = np.sign(cloud.pooled - values)
    error = np.where(toward < 0, values - cloud.at(-1.0), cloud.at(1.0) - values)
    weight = 1 / np.maximum(error, NEGLIGIBLE * (1 + np.abs(values))) ** 2
    weight = np.minimum(weight, 1e6 * float(np.median(weight)))
    prices = float(np.median(weight)) * PRICES
    if measure.reads == "ranks":
        solve = fused(values, weight, float(measure(values)), values)
        prices = prices * float(np.ptp(values)) / groups
    else:
        solve = shrunk(values, weight, 0.0)
    points = np.array([solve(candidate) for candidate in prices])
    ties = np.array([groups - len(np.unique(point.round(9))) for point in points])
    free = np.where(ties == groups - 1, groups - 1, ties + 1)
    return points, free.astype(np.float64), (cloud.distance(points) ** 2).sum(axis=1)


def _scores(
    cloud: Cloud, measure: Measure, points: Floats, free: Floats, squares: Floats
) -> Floats:
    """Distances as normal quantiles with the same tail probability."""
    from scipy.special import ndtri

    if measure.reads in ("extremes", "ranks"):
        return _as_normal(squares, free, free)
    tails = [
        curved_tail(cloud, point, float(measure(point)), float(square))
        for point, square in zip(points, squares, strict=True)
    ]
    return np.asarray(np.maximum(-ndtri(np.maximum(tails, 1e-300)), 0.0))


def _as_normal(squares: Floats | float, free: Floats | int, faces: Floats | int) -> Floats:
    """Normal quantiles of chi-squared distances to sets with this many faces."""
    from scipy.special import chdtrc, ndtri

    beyond = np.where(np.asarray(faces) > 0, 1 - 0.5 ** np.asarray(faces), 1.0)
    tail = np.maximum(chdtrc(free, squares) * beyond, 1e-300)
    return np.atleast_1d(np.maximum(-ndtri(tail), 0.0))
