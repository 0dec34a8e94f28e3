"""Tests behind rankings: over splits that share rows, and over problems."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

NAN = float("nan")


class Estimate(NamedTuple):
    """A mean over splits with its interval; NaN where there is none.

    Parameters
    ----------
    value : float
        The mean.
    low, high : float, default NaN
        The ends of the interval.

    Examples
    --------
    >>> Estimate(0.812, 0.7, 0.9).text
    '0.81 [0.70, 0.90]'

    """

    value: float
    low: float = NAN
    high: float = NAN

    @property
    def text(self) -> str:
        """The estimate with its interval, in two digits."""
        if isnan(self.value):
            return "–"
        value, low, high = (round(end, 2) + 0.0 for end in self)  # no −0.00
        ends = "" if isnan(low) else f" [{low:.2f}, {high:.2f}]"
        return f"{value:.2f}{ends}".replace("-", "−")


def split_interval(values: ArrayLike, ratio: float, confidence: float = 0.95) -> Estimate:
    """The mean over repeated splits, with an interval that allows for splits sharing rows.

    Training sets of random splits overlap, so that the variance of the mean of n of them is about
    (1/n + ratio)·s², not s²/n, where `ratio` is test rows over training rows (Nadeau, Bengio:
    Inference for the Generalization Error, Machine Learning 52, 2003). The quantile is Student's
    with n − 1 degrees of freedom; one split has a mean alone.

    >>> split_interval([0.1, 0.2, 0.3], ratio=0.25).text
    '0.20 [−0.13, 0.53]'
    """
    from scipy.special import stdtrit

    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < 2:
        return Estimate(float(sample.mean()) if len(sample) else NAN)
    half = stdtrit(len(sample) - 1, (1 + confidence) / 2) * _standard_error(sample, ratio)
    return Estimate(float(sample.mean()), float(sample.mean() - half), float(sample.mean() + half))


def paired_p_value(differences: ArrayLike, ratio: float) -> float:
    """The corrected t test of paired differences over splits: two-sided p value.

    It is 1 where all differences are 0, and NaN from one split; `ratio` as in `split_interval`.

    >>> round(paired_p_value([0.1, 0.2, 0.3], ratio=0.25), 3)
    0.12
    """
    from scipy.special import stdtr

    sample = np.asarray(differences, dtype=np.float64)
    if len(sample) < 2:
        return NAN
    error = _standard_error(sample, ratio)
    if error == 0:
        return 1.0 if sample.mean() == 0 else 0.0
    return float(2 * stdtr(len(sample) - 1, -abs(sample.mean()) / error))


def average_ranks(table: ArrayLike) -> NDArray[np.float64]:
    """Ranks along the last axis, the highest value first; ties share the mean of their ranks.

    >>> average_ranks([[0.5, 0.7, 0.5]]).tolist()
    [[2.5, 1.0, 2.5]]
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(-np.asarray(table, dtype=np.float64), axis=-1))


class Friedman(NamedTuple):
    """Friedman's test in the form of Iman and Davenport."""

    statistic: float
    p_value: float


def friedman(table: ArrayLike) -> Friedman:
    """Whether methods differ at all over problems (problems × methods), higher being better.

    The χ² of Friedman, corrected for ties, in the F form of Iman and Davenport (1980), which
    Demšar (2006) recommends; NaN with fewer than two problems or three methods.

    >>> round(friedman([[3, 2, 1], [3, 2, 1], [3, 1, 2], [3, 2, 1]]).statistic, 2)
    13.0
    """
    from scipy.stats import f, friedmanchisquare

    values = np.asarray(table, dtype=np.float64)
    problems, methods = values.shape
    if problems < 2 or methods < 3:
        return Friedman(NAN, NAN)
    if np.ptp(values, axis=1).max() == 0:
        return Friedman(0.0, 1.0)
    chi = float(friedmanchisquare(*values.T).statistic)
    remainder = problems * (methods - 1) - chi
    if remainder <= 1e-9:  # every problem has the same order
        return Friedman(float("inf"), 0.0)
    statistic = (problems - 1) * chi / remainder
    freedom = (methods - 1, (methods - 1) * (problems - 1))
    return Friedman(statistic, float(f.sf(statistic, *freedom)))


def critical_difference(problems: int, methods: int, alpha: float = 0.05) -> float:
    """By how much two mean ranks must differ to be significant (Nemenyi; Demšar 2006).

    CD = q·√(k(k + 1)/(6N)) with the quantile of the studentized range over √2.

    >>> round(critical_difference(problems=14, methods=4), 2)  # as in Demšar's example
    1.25
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.isf(alpha, methods, np.inf)) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * problems)))


def wilcoxon_p_value(differences: ArrayLike) -> float:
    """Wilcoxon's signed-rank test of differences over problems: two-sided p value.

    >>> wilcoxon_p_value([0.1, 0.2, 0.3, 0.4])
    0.125
    """
    from scipy.stats import wilcoxon

    sample = np.asarray(differences, dtype=np.float64)
    if not sample.any():
        return 1.0
    exact = len(np.unique(abs(sample))) == len(sample) <= 25
    return float(wilcoxon(sample, method="exact" if exact else "approx").pvalue)


def inseparable_runs(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """The longest runs of sorted mean ranks within a critical difference, first and last place.

    >>> inseparable_runs([1.0, 1.5, 2.6, 4.0], difference=1.2)
    [(0, 1), (1, 2)]
    """
    ends = [
        max(j for j, other in enumerate(ranks) if other - rank <= difference)
        for i, rank in enumerate(ranks)
    ]
    return [(i, end) for i, end in enumerate(ends) if end > i and (i == 0 or ends[i - 1] < end)]


def _standard_error(values: NDArray[np.float64], ratio: float) -> float:
    """Standard error of a mean over splits, by Nadeau and Bengio."""
    return float(np.sqrt((1 / len(values) + ratio) * values.var(ddof=1)))
