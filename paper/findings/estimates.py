"""Numbers over splits with intervals, and the verdicts they allow."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from evenhand.benchmark.sections import Verdict

NAN = float("nan")


class Estimate(NamedTuple):
    """A number over the seeds, with a 95 % interval; no interval from one seed."""

    value: float
    low: float = NAN
    high: float = NAN

    @property
    def text(self) -> str:
        """With its interval.

        >>> Estimate(0.812, 0.7, 0.9).text
        '0.81 (0.70 to 0.90)'
        """
        if isnan(self.value):
            return "undefined"
        if isnan(self.low):
            return f"{self.value:.2f} (one split)"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})".replace("-", "−")


def estimate(
    values: ArrayLike, ratio: float = 0.25, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> Estimate:
    """Mean over splits, with an interval that knows that the splits share rows.

    The variance of n repeated splits is (1/n + ratio)·s² with the ratio of test to training rows
    (Nadeau, Bengio: Inference for the Generalization Error, 2003), not s²/n.

    >>> estimate([0.5]).low
    nan
    """
    seen = np.asarray(values, dtype=np.float64)
    seen = seen[~np.isnan(seen)]
    if len(seen) < 2:
        return Estimate(float(seen[0]) if len(seen) else NAN)
    half = stdtrit(len(seen) - 1, 0.975) * np.sqrt((1 / len(seen) + ratio) * seen.var(ddof=1))
    ends = np.clip([seen.mean() - half, seen.mean() + half], *bounds)
    return Estimate(float(seen.mean()), float(ends[0]), float(ends[1]))


def at_least(found: Estimate, threshold: float) -> Verdict:
    """Whether the interval lies above a threshold, below it, or on both sides.

    >>> at_least(Estimate(0.9, 0.8, 1.0), 0.6), at_least(Estimate(0.5), 0.6)
    ('agrees', 'cannot tell')
    """
    if isnan(found.low):
        return "cannot tell"
    if found.low >= threshold:
        return "agrees"
    return "differs" if found.high < threshold else "cannot tell"


def at_most(found: Estimate, threshold: float) -> Verdict:
    """The same for a claim that something is small."""
    return at_least(Estimate(-found.value, -found.high, -found.low), -threshold)
