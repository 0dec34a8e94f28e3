"""Many groups: how uneven they truly may be, once the noise that all of them add is taken off.

Around many groups the largest inequality within z of the data (`geometry.py`) is a limit that
always holds, and a wide one: the noise of every group has raised the inequality that was observed,
and the limit adds to it. Of the coefficient of variation, CV, noise can be taken off. Groups with
CV² ≥ c are those with q(θ) = Σ θ² − (1 + c) (Σ θ)² / d ≥ 0, a quadratic form, and

    q(x) − (1 − (1 + c) / d) Σ s²,    s² = x (1 − x) / (n − 1),

estimates it without bias. Its variance is that of Σ (x − m)², where m = (1 + c) times the mean
rate. The upper limit is the largest c at which the estimate is no more than z standard errors below
0; its skewness is to the safe side there, and is allowed for in the lower limit of PQ. PQ is a
function of CV, and a Gini index is at most √((d² − 1) / 3) / d of CV (that of a uniform gradient).

A sum of many terms is about normal only if no few of them make up its variance, so this is for
groups whose sizes are alike enough: (Σ 1/n)² / Σ 1/n² is the number of groups it amounts to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.measures import Measure

Floats = NDArray[np.float64]

FEWEST = 12.0  # groups alike in size
LENT_ROWS = 2.0  # rows at the common rate that steady the variance of a small group
STEPS = 14


def is_crowd(sizes: Floats) -> bool:
    """Whether there are enough groups, alike enough in size, that their noise averages out.

    >>> is_crowd(np.full(20, 500.0)), is_crowd(np.append(np.full(20, 500.0), 5.0))
    (True, False)
    """
    part = 1 / sizes
    return float(part.sum()) ** 2 >= FEWEST * float((part**2).sum())


def crowd_limit(hits: Floats, sizes: Floats, measure: Measure, reach: float) -> float:
    """The upper limit of the Gini index or PQ of many rates, for a one-sided error of `reach`."""
    groups = len(hits)
    ratio = np.sqrt(_variation(hits, sizes, reach))
    if measure.reads == "ranks":
        return float(min(ratio * np.sqrt((groups**2 - 1) / 3) / groups, 1 - 1 / groups))
    return float(1 - 1 / np.sqrt(1 + ratio**2))


def crowd_floor(hits: Floats, sizes: Floats, reach: float) -> float:
    """The lower limit of PQ of many rates: the least level that is not too far below the data."""
    low, high = 0.0, 1e-3
    test = CrowdTest(hits, sizes)
    while high < len(hits) - 1 and test.exceeds(high, reach):
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if test.exceeds(middle, reach) else (low, middle)
    return float(1 - 1 / np.sqrt(1 + low))


def _variation(hits: Floats, sizes: Floats, reach: float) -> float:
    """The largest CV² that is not too far above the data."""
    most = float(len(hits) - 1)
    if hits.sum() == 0:
        return most
    low, high = 0.0, 1e-3
    test = CrowdTest(hits, sizes)
    while high < most and test.accepts(high, reach):
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if test.accepts(middle, reach) else (low, middle)
    return min(high, most)


class CrowdTest:
    """Whether rates with at least this CV² may have shown hits as even as these."""

    def __init__(self, hits: Floats, sizes: Floats) -> None:
        self.rates, self.sizes = hits / sizes, sizes
        self.noise = float((self.rates * (1 - self.rates) / np.maximum(sizes - 1, 1.0)).sum())
        common = hits.sum() / sizes.sum()
        steadied = (hits + LENT_ROWS * common) / (sizes + LENT_ROWS)
        self.variance = steadied * (1 - steadied) / sizes
        self.third = self.variance * (1 - 2 * steadied) / sizes

    def exceeds(self, level: float, reach: float) -> bool:
        """Whether the data are too uneven for rates of this CV²; skewness adds to the reach."""
        form, away, supposed = self._form(level)
        apart = away**2 * min(1.0, supposed / max(float(away @ away), 1e-300))
        variance = float((2 * self.variance**2 + 4 * self.variance * apart).sum())
        third = float((8 * self.variance**3 + 24 * self.variance**2 * apart).sum())
        reach += (reach**2 - 1) * third / variance**1.5 / 6  # Cornish and Fisher
        return bool(form > reach * np.sqrt(variance))

    def accepts(self, level: float, reach: float) -> bool:
        """Whether the data are not too even for rates of this CV²."""
        form, away, supposed = self._form(level)
        spread = max(1.0, supposed / max(float(away @ away), 1e-300))
        variance = 2 * self.variance**2 + 4 * self.variance * away**2 * spread
        variance += np.maximum(4 * self.third * away, 0.0)
        return bool(form >= -reach * np.sqrt(float(variance.sum())))

    def _form(self, level: float) -> tuple[float, Floats, float]:
        """The quadratic form without bias, how far rates are from m, and Σ (θ − m)² if it is 0."""
        rates, groups = self.rates, len(self.rates)
        part = (1 + level) / groups
        form = float(rates @ rates) - part * float(rates.sum()) ** 2 - (1 - part) * self.noise
        supposed = level * (1 + level) * groups * float(rates.mean()) ** 2
        return form, rates - (1 + level) * rates.mean(), supposed
