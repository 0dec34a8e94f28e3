"""Lending: cut-offs along a score, mean differences, odds ratios, and tests within segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.standards.sample import Scores

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def odds_ratios(hits: Counts, rows: Counts, reference: int) -> Floats:
    """Odds of each group over those of the reference; NaN if 0/0, or for the reference itself.

    >>> odds_ratios(np.array([10, 20]), np.array([40, 40]), 1)
    array([0.33333333,        nan])
    """
    above = np.asarray(hits * (rows[reference] - hits[reference]), dtype=np.float64)
    under = np.asarray((rows - hits) * hits[reference], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = above / under
    values[reference] = np.nan
    return values


@dataclass(frozen=True, eq=False)
class CutOff:
    """A cut-off score, with the share of everybody approved and the approved by group."""

    score: float
    share: float
    hits: Counts


def decile_cut_offs(scores: Scores) -> list[CutOff]:
    """The cut-offs that approve the top tenth, two tenths, … of everybody, including ties."""
    totals = np.add.reduceat(scores.counts, _starts(scores.values))
    values = scores.values[_starts(scores.values)]
    from_top = np.cumsum(totals[::-1])
    everybody = int(from_top[-1])
    cuts = []
    for tenth in range(1, 10):
        at = int(np.searchsorted(from_top, everybody * tenth / 10))
        cut = values[::-1][at]
        approved = scores.above(cut, inclusive=True)
        cuts.append(CutOff(float(cut), float(from_top[at]) / everybody, approved))
    return cuts


def standardized_mean_differences(
    scores: Scores, reference: int, over: Literal["pooled", "population"] = "pooled"
) -> Floats:
    """Mean score minus the reference's over a standard deviation; NaN for the reference itself.

    The pooled one is within the two groups, with n − 1 (Cohen's d); the population one is over all
    scores, with n.
    """
    rows = scores.rows
    sums = np.bincount(scores.codes, scores.counts * scores.values, len(rows))
    means = sums / rows
    off = scores.values - means[scores.codes]
    squares = np.bincount(scores.codes, scores.counts * off**2, len(rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        if over == "pooled":
            variance = (squares + squares[reference]) / (rows + rows[reference] - 2)
        else:
            mean = sums.sum() / rows.sum()
            variance = np.average((scores.values - mean) ** 2, weights=scores.counts)
        values = (means - means[reference]) / np.sqrt(variance)
    values[reference] = np.nan
    return np.asarray(values)


@dataclass(frozen=True)
class MantelHaenszel:
    """The common odds ratio of all segments, and the Cochran–Mantel–Haenszel test that it is 1.

    The statistic has no continuity correction; it is chi-squared with one degree of freedom.
    """

    odds_ratio: float
    statistic: float
    p_value: float


def mantel_haenszel(hits: Counts, rows: Counts, group: int, reference: int) -> MantelHaenszel:
    """Compare a group with the reference within segments; counts are (segments, groups).

    >>> hits, rows = np.array([[10, 20], [3, 6]]), np.array([[40, 40], [10, 10]])
    >>> found = mantel_haenszel(hits, rows, 0, 1)
    >>> round(found.odds_ratio, 4), round(found.statistic, 4), round(found.p_value, 4)
    (0.3229, 6.9841, 0.0082)
    """
    from scipy.stats import chi2

    a, c = (np.asarray(hits[:, at], dtype=np.float64) for at in (group, reference))
    first, second = (np.asarray(rows[:, at], dtype=np.float64) for at in (group, reference))
    n = first + second
    both_present = (first > 0) & (second > 0)
    a, c, first, second, n = (part[both_present] for part in (a, c, first, second, n))
    b, d = first - a, second - c
    selected = a + c
    variance = float((first * second * selected * (n - selected) / (n**2 * (n - 1))).sum())
    under = float((b * c / n).sum())
    above = float((a * d / n).sum())
    ratio = above / under if under else (np.inf if above else np.nan)
    if not variance:
        return MantelHaenszel(ratio, np.nan, np.nan)
    statistic = float((a - first * selected / n).sum()) ** 2 / variance
    return MantelHaenszel(ratio, statistic, float(chi2.sf(statistic, 1)))


def _starts(values: Floats) -> NDArray[np.intp]:
    """Start of each distinct value among ordered values."""
    return np.flatnonzero(np.r_[True, np.diff(values) > 0])
