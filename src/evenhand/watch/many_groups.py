"""Anytime-valid limits of PQ of many groups, corrected for the noise that every group adds.

Groups with a squared coefficient of variation of c are those with q(θ) = Σ θ² − (1 + c) (Σ θ)² / d
of 0, and `_uncertainty.many_groups` estimates q without bias. Its estimate is a U-statistic of the
rows, so that the covariance of two looks is the variance at the later one: for many groups it is
about normal, hence again a Brownian motion in the information J, one over its variance. Two kinds
of mixtures test a level c: Robbins' with four scales, and, against groups that look too even, the
likelihood ratio of groups that are all equal, for which q is −c (Σ θ)² / d. That one does not
shrink as rows accumulate.
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
EVEN = 0.5  # the share of the upper error spent on the alternative that all groups are equal
HALVINGS = 8


def pq_ends(hits: Floats, sizes: Floats, error: float) -> tuple[float, float]:
    """Limits of PQ that hold at all looks."""
    largest = float(len(hits) - 1)
    if hits.sum() == 0:
        return 0.0, _pq_of(largest)
    test = AnytimeVariationTest(hits, sizes, error)
    low = _last(test.is_too_uneven, test.scale, largest)[0]
    high = _last(lambda level: not test.is_too_even(level), test.scale, largest)[1]
    return _pq_of(low), _pq_of(min(high, largest))


class AnytimeVariationTest(VariationTest):
    """Test of a squared coefficient of variation of the true rates that is valid at any look."""

    def __init__(self, hits: Floats, sizes: Floats, error: float) -> None:
        super().__init__(hits, sizes)
        self.error = error
        self.of_a_row = self.variance * self.sizes
        self.row_square = 2 * float(self.of_a_row @ self.of_a_row)
        self.square = 2 * float(self.variance @ self.variance)

    @property
    def scale(self) -> float:
        """The CV² that noise adds."""
        return self.noise / (len(self.rates) * float(self.rates.mean()) ** 2)

    def is_too_uneven(self, level: float) -> bool:
        """Whether the data are too unequal; the form's skewness adds to the reach."""
        form, away, supposed = self._form(level)
        if form <= 0:
            return False
        supposed_squares = away**2 * min(1.0, supposed / max(float(away @ away), 1e-300))
        variance = self.square + 4 * float(self.variance @ supposed_squares)
        third = float((8 * self.variance**3 + 24 * self.variance**2 * supposed_squares).sum())
        bend = third / variance**1.5 / 6
        distance = form / np.sqrt(variance)  # Cornish and Fisher: r + bend (r² − 1) of a normal r
        reach = 2 * (distance + bend) / (1 + np.sqrt(1 + 4 * bend * (distance + bend)))
        return self._is_too_far(reach**2, supposed_squares, variance, self.error)

    def is_too_even(self, level: float) -> bool:
        """Whether the data are too even, by a mean of e-values."""
        form, away, supposed = self._form(level)
        if form >= 0:
            return False
        supposed_squares = away**2 * max(1.0, supposed / max(float(away @ away), 1e-300))
        variance = self.square + 4 * float(self.variance @ supposed_squares)
        variance += float(np.maximum(4 * self.third * away, 0.0).sum())
        drop = supposed / (1 + level)  # the decrease of q if all groups are equal
        log_ratio = (-form * drop - drop**2 / 2) / variance
        if log_ratio >= np.log(2 / (EVEN * self.error)):
            return True
        return self._is_too_far(
            form**2 / variance, supposed_squares, variance, (1 - EVEN) * self.error
        )

    def _is_too_far(
        self, square: float, supposed_squares: Floats, variance: float, error: float
    ) -> bool:
        """Whether the mixture rejects; information is counted in rows."""
        by_scale = (
            self.row_square / SCALES**2 + 4 * float(self.of_a_row @ supposed_squares) / SCALES
        )
        return bool(log_mixture_of(square, by_scale / variance, SHARES) >= -np.log(error))


def _last(holds: Callable[[float], bool], start: float, largest: float) -> tuple[float, float]:
    """Two bounds of the level up to which a condition holds."""
    low = high = start
    while high < largest and holds(high):
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
