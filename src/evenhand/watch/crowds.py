"""PQ of many groups at all looks: the noise that every group adds is taken off.

Groups with a squared coefficient of variation of c are those with q(θ) = Σ θ² − (1 + c) (Σ θ)² / d
of 0, and `_uncertainty.many_groups` estimates q without bias. Its estimate is a U-statistic of the
rows,
so that the covariance of two looks is the variance at the later one: of many groups it is about
normal, hence again a Brownian motion in the information J, one over its variance. Two kinds of
mixtures test a level c: Robbins' with four scales, and, against groups that look too even, the
likelihood ratio of groups that are all alike, for which q is −c (Σ θ)² / d. That one costs nothing
as rows come in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.many_groups import VariationTest
from evenhand.watch.boundary import log_mixture_of

Floats = NDArray[np.float64]

SCALES = np.array([8.0, 60.0, 500.0, 4000.0])  # rows of a group
SHARES = np.array([0.25, 0.25, 0.25, 0.25])
EVEN = 0.5  # of the error above is spent on the alternative that all groups are alike
HALVINGS = 8


def crowd_ends(hits: Floats, sizes: Floats, error: float) -> tuple[float, float]:
    """Between which PQ lies at all looks."""
    most = float(len(hits) - 1)
    if hits.sum() == 0:
        return 0.0, _pq_of(most)
    crowd = _Crowd(hits, sizes, error)
    low = _last(crowd.is_too_uneven, crowd.scale, most)[0]
    high = _last(lambda level: not crowd.is_too_even(level), crowd.scale, most)[1]
    return _pq_of(low), _pq_of(min(high, most))


class _Crowd(VariationTest):
    """Whether rates with this CV² may have shown such hits, at whichever look."""

    def __init__(self, hits: Floats, sizes: Floats, error: float) -> None:
        super().__init__(hits, sizes)
        self.error = error
        self.of_a_row = self.variance * self.sizes
        self.row_square = 2 * float(self.of_a_row @ self.of_a_row)
        self.square = 2 * float(self.variance @ self.variance)

    @property
    def scale(self) -> float:
        """The CV² that noise alone adds."""
        return self.noise / (len(self.rates) * float(self.rates.mean()) ** 2)

    def is_too_uneven(self, level: float) -> bool:
        """Whether the data are too uneven; the form's skewness adds to the reach."""
        form, away, supposed = self._form(level)
        if form <= 0:
            return False
        apart = away**2 * min(1.0, supposed / max(float(away @ away), 1e-300))
        variance = self.square + 4 * float(self.variance @ apart)
        third = float((8 * self.variance**3 + 24 * self.variance**2 * apart).sum())
        bend = third / variance**1.5 / 6
        far = form / np.sqrt(variance)  # Cornish and Fisher: r + bend (r² − 1) of a normal r
        reach = 2 * (far + bend) / (1 + np.sqrt(1 + 4 * bend * (far + bend)))
        return self._is_too_far(reach**2, apart, variance, self.error)

    def is_too_even(self, level: float) -> bool:
        """Whether the data are too even: a mean of e-values is large."""
        form, away, supposed = self._form(level)
        if form >= 0:
            return False
        apart = away**2 * max(1.0, supposed / max(float(away @ away), 1e-300))
        variance = self.square + 4 * float(self.variance @ apart)
        variance += float(np.maximum(4 * self.third * away, 0.0).sum())
        drop = supposed / (1 + level)  # how much less q is if all groups are alike
        alike = (-form * drop - drop**2 / 2) / variance
        if alike >= np.log(2 / (EVEN * self.error)):
            return True
        return self._is_too_far(form**2 / variance, apart, variance, (1 - EVEN) * self.error)

    def _is_too_far(self, square: float, apart: Floats, variance: float, error: float) -> bool:
        """Whether the mixture is too large: information is counted in rows."""
        each = self.row_square / SCALES**2 + 4 * float(self.of_a_row @ apart) / SCALES
        return bool(log_mixture_of(square, each / variance, SHARES) >= -np.log(error))


def _last(holds: Callable[[float], bool], start: float, most: float) -> tuple[float, float]:
    """The level up to which something holds, between two numbers."""
    low = high = start
    while high < most and holds(high):
        low, high = high, 2 * high
    if low == high:
        while low > 1e-6 * start and not holds(low):
            low, high = low / 4, low
        low = low if low > 1e-6 * start else 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _pq_of(level: float) -> float:
    """PQ of a squared coefficient of variation."""
    return float(1 - 1 / np.sqrt(1 + level))
