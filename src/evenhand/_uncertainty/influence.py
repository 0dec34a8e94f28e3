"""Variances of statistics and of their differences, from the influence of single rows.

A statistic T of a group is a function of its weighted rows. To first order row i moves it by its
influence ψᵢ, and the influences add up to 0: for a mean ψᵢ = wᵢ (vᵢ − T) / W, for a ratio N / D
wᵢ (nᵢ − T dᵢ) / D, for an area under the ROC curve a placement (DeLong et al. 1988). Σ ψᵢ² is the
variance of T. The influences of a cluster are added up before they are squared; where a cluster has
rows of several groups, the products are covariances of groups (Liang and Zeger 1986).

*Small samples.* A few rows with a long tail determine their own variance poorly: by their kurtosis
κ, the variance of n rows has about 2 (n − 1) / (κ − 1) degrees of freedom (Satterthwaite). Groups
with few rows borrow the variance of all rows, but no variance is set below the observed one.
Skewness bends the limits (Hall 1992): it is estimated from all groups and from the group by itself,
and each limit is bent by whichever leaves it farther out. Almost equal rows reveal nothing about
their group's spread. Toward the tail its variance is that at the supposed value, as in a score test
of a rate: it grows with the mean by the third moment over the second, as in every exponential
family, up to the variance of all rows.

*Dependent groups.* Only differences between groups matter, so that of a covariance Σ only
V(a, b) = Σ(a, a) + Σ(b, b) − 2 Σ(a, b) counts. *Quasi-variances* q are variances of independent
groups with q(a) + q(b) = V(a, b) (Firth and de Menezes 2004, Biometrika 91, 65–80), exactly for two
groups and approximately for more. With them the methods for independent groups apply to groups that
were asked the same questions, rated by the same people or matched in pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

ROUNDS = 30  # of fitting quasi-variances: each at least halves the error
PRIOR_ROWS = 2.0  # prior rows with the common variance, in every group
SKEWED_ROWS = 100.0  # prior rows with the common skewness, in every group
PRIOR_BY_TAILS = 2 / 3  # further prior rows for each unit of excess kurtosis
WEIGHED_ROWS = 100.0  # prior rows with the squared weights of all groups, in every group
ALIKE = 0.18  # of the common variance: rows that vary less are almost equal
OWN_ROWS = 10.0  # prior rows without skewness, in the skewness of a group by itself
BY_SKEWNESS = 1.5  # excess kurtosis over squared skewness of a gamma: a tail on one side
MOST_UNSEEN = 5.0  # the most by which few rows may understate the skewness, as a factor
TAIL_ALONE = 6.0  # how much more of a tail few rows may hide if other groups have none


def quasi_ratio(covariance: Floats, floor: Floats) -> Floats:
    """Quasi-variances over variances (cells, groups), from covariances (cells, groups, groups).

    `floor` (cells, groups) is what one further unit may add to a variance, and a lower bound of the
    quasi-variance: groups that never differed may differ in the next unit. Pairs are fitted by
    multiplicative corrections, so that no quasi-variance is negative.

    >>> paired = np.array([[[2.0, 1.5], [1.5, 2.0]]])
    >>> quasi_ratio(paired, np.zeros((1, 2)))
    array([[0.25, 0.25]])
    """
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)
    sums = variances[..., :, None] + variances[..., None, :]
    floors = floor[..., :, None] + floor[..., None, :]
    targets = np.maximum(sums - 2 * covariance, floors)
    observed = (variances > 0)[..., :, None] & (variances > 0)[..., None, :]
    observed &= ~np.eye(variances.shape[-1], dtype=bool)
    number = np.maximum(observed.sum(axis=-1), 1)
    variance = np.maximum(variances, floor)
    fitted = np.where(variances > 0, variance, 1.0)
    for _ in range(ROUNDS):
        pairs = fitted[..., :, None] + fitted[..., None, :]
        correction = np.where(observed, targets / pairs, 0.0).sum(axis=-1) / number
        fitted = np.where(observed.any(axis=-1), fitted * correction, fitted)
    fitted_groups = observed.any(axis=-1) & (variance > 0)
    return np.asarray(
        np.divide(fitted, variance, out=np.ones(variances.shape), where=fitted_groups)
    )


class RowMoments(NamedTuple):
    """Sums over independent rows of powers of their influences (cells, groups).

    `rows` is the effective number of rows of equal weight, and `effect` the ratio of the actual
    number to it. Skewness and kurtosis are NaN where unknown.
    """

    variance: Floats
    skewness: Floats
    kurtosis: Floats
    rows: Floats
    effect: Floats

    @classmethod
    def of(
        cls, second: Floats, third: Floats, fourth: Floats, rows: Floats, effect: Floats
    ) -> RowMoments:
        """From the sums Σ ψ², Σ ψ³ and Σ ψ⁴."""
        return cls(
            second,
            ratio(third * np.sqrt(rows), second**1.5),
            ratio(fourth * rows, second**2),
            rows,
            effect,
        )


class ErrorEstimates(NamedTuple):
    """Standard errors, their degrees of freedom, and skewness over the root of the rows.

    `skew` bends lower limits, and upper ones unless there is `skew_above`. `growth` is the slope of
    the squared error by the supposed value, up to the square of `ceiling`.
    """

    error: Floats
    free: Floats
    skew: Floats
    skew_above: Floats | None = None
    growth: Floats | None = None
    ceiling: Floats | None = None

    def scaled(self, factor: Floats) -> ErrorEstimates:
        """The estimates with errors multiplied by a factor."""
        if self.growth is None or self.ceiling is None:
            return self._replace(error=self.error * factor)
        ends = {"growth": self.growth * factor**2, "ceiling": self.ceiling * factor}
        return self._replace(error=self.error * factor, **ends)


def error_estimates(moments: RowMoments) -> ErrorEstimates:
    """Standard errors and degrees of freedom of statistics (cells, groups) of independent rows."""
    rows = moments.rows
    freedom = np.maximum(rows - 1, 0.0)
    row_variance = moments.variance * rows  # of a single row
    kurtosis = np.fmax(np.fmax(_common(moments.kurtosis, rows), moments.kurtosis), 3.0)
    # A group of equal weights may have missed the heavy rows by chance.
    heavier = np.fmax(ratio(_common(moments.effect, rows), moments.effect), 1.0)
    borrowed = PRIOR_ROWS + PRIOR_BY_TAILS * (kurtosis - 3) + WEIGHED_ROWS * (1 - 1 / heavier)
    total_freedom = freedom.sum(axis=-1, keepdims=True)
    total_rows = rows.sum(axis=-1, keepdims=True)
    common = heavier * np.nan_to_num(_common(np.where(rows > 0, row_variance, np.nan), rows))
    common = common * total_rows / np.maximum(total_freedom, 1.0)  # a mean is fitted to each group
    mixed = ratio(row_variance * rows + borrowed * common, freedom + borrowed)
    variance = np.fmax(mixed, row_variance * rows / np.maximum(freedom, 1.0))
    # A long tail makes a variance uncertain; the bend allows for a tail on one side.
    other_freedom = np.maximum(total_freedom - freedom, 1.0)
    unknown = np.maximum(freedom + borrowed**2 / other_freedom, 1e-9) / (freedom + borrowed) ** 2
    ceiling = np.minimum(
        freedom + borrowed, 1 / unknown
    )  # rows borrowed from few others count as few
    skewness = moments.skewness
    has_skewness = np.isfinite(skewness)
    one_sided = np.where(has_skewness, BY_SKEWNESS * np.nan_to_num(skewness) ** 2, 0.0)
    both_sides = np.fmax(np.nan_to_num(moments.kurtosis) - one_sided, 3.0)
    by_tail = np.where(has_skewness, 2 * rows / (both_sides - 1), 2 / (kurtosis - 1) / unknown)
    free = np.minimum(by_tail, np.where(has_skewness, ceiling, freedom + borrowed))
    root = np.sqrt(np.maximum(rows, 1.0))
    low, high = _skews(skewness, rows, root)
    error = np.sqrt(variance) / root
    third = _common(np.where(rows > 0, np.nan_to_num(skewness) * row_variance**1.5, np.nan), rows)
    hidden = np.maximum(1 - np.nan_to_num(ratio(row_variance, ALIKE * common), nan=1.0), 0.0)
    growth = hidden * np.nan_to_num(ratio(third, common * rows))
    common_error = np.sqrt(variance + hidden * np.maximum(common - variance, 0.0)) / root
    return ErrorEstimates(
        error, np.maximum(free, 1.0), low / root, high / root, growth, common_error
    )


def _skews(skewness: Floats, rows: Floats, root: Floats) -> tuple[Floats, Floats]:
    """The smaller and the larger skewness of a row: of all groups, and of the group by itself."""
    common = np.nan_to_num(_common(skewness, rows))
    has_skewness = np.isfinite(skewness)
    skews = np.where(has_skewness, skewness, common)
    mixed = (rows * skews + SKEWED_ROWS * common) / (rows + SKEWED_ROWS)
    # Few rows seldom show their tail: the skewness of n rows is at most √n, whatever the tail.
    part = np.abs(skews) / root
    hidden = 1 + TAIL_ALONE * part * _not_shared(skews, np.where(has_skewness, rows, 0.0))
    unseen = np.minimum(hidden / np.maximum(1 - part, 1e-9), MOST_UNSEEN)
    single = np.where(has_skewness, skews * unseen * rows / (rows + OWN_ROWS), mixed)
    return np.minimum(mixed, single), np.maximum(mixed, single)


def _not_shared(skewness: Floats, rows: Floats) -> Floats:
    """The share of each group's skewness that the other groups lack; 0 without others."""
    weighted = skewness * rows
    elsewhere = ratio(
        weighted.sum(axis=-1, keepdims=True) - weighted, rows.sum(axis=-1, keepdims=True) - rows
    )
    shared = ratio(elsewhere * np.sign(skewness), np.abs(skewness))
    return np.clip(1 - np.nan_to_num(shared, nan=1.0), 0.0, 1.0)


def _common(values: Floats, rows: Floats) -> Floats:
    """The mean over all groups, weighted by rows; NaN where no value is known."""
    weight = np.where(np.isfinite(values), rows, 0.0)
    total = weight.sum(axis=-1, keepdims=True)
    return np.broadcast_to(
        ratio((np.nan_to_num(values) * weight).sum(axis=-1, keepdims=True), total), values.shape
    )
