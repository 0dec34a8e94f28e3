"""Limits of the inequality of many groups, corrected for the noise that every group adds.

For many groups the largest inequality within z of the data (`geometry.py`) is a limit that always
holds, but a wide one: the noise of every group has raised the observed inequality, and the limit
adds to it. The coefficient of variation, CV, can be corrected for noise. Groups with
CV² ≥ c are those with q(θ) = Σ θ² − (1 + c) (Σ θ)² / d ≥ 0, a quadratic form, and

    q(x) − (1 − (1 + c) / d) Σ s²,    s² = x (1 − x) / (n − 1),

estimates it without bias. Its variance is that of Σ (x − m)², where m = (1 + c) times the mean
rate. The upper limit is the largest c at which the estimate is no more than z standard errors below
0. Its skewness makes that limit conservative; the lower limit of PQ allows for it. PQ is a function
of CV, and a Gini index is at most √((d² − 1) / 3) / d times CV (that of a uniform gradient).

A sum of many terms is about normal only if no few of them dominate its variance, so this needs
groups of similar size: (Σ 1/n)² / Σ 1/n² is their effective number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.measures import Measure

Floats = NDArray[np.float64]

FEWEST = 12.0  # groups of equal size
PRIOR_ROWS = 2.0  # prior rows at the common rate, which steady the variance of a small group
STEPS = 14


def has_many_groups(sizes: Floats) -> bool:
    """Whether there are enough groups, of sizes similar enough, for their noise to average out.

    >>> has_many_groups(np.full(20, 500.0)), has_many_groups(np.append(np.full(20, 500.0), 5.0))
    (True, False)
    """
    part = 1 / sizes
    return float(part.sum()) ** 2 >= FEWEST * float((part**2).sum())


def many_groups_upper(hits: Floats, sizes: Floats, measure: Measure, reach: float) -> float:
    """Upper limit of the Gini index or PQ of many rates, `reach` standard errors away."""
    groups = len(hits)
    ratio = np.sqrt(_variation(hits, sizes, reach))
    if measure.reads == "ranks":
        return float(min(ratio * np.sqrt((groups**2 - 1) / 3) / groups, 1 - 1 / groups))
    return float(1 - 1 / np.sqrt(1 + ratio**2))


def many_groups_lower(hits: Floats, sizes: Floats, reach: float) -> float:
    """Lower limit of PQ of many rates: the smallest level that the data do not reject."""
    low, high = 0.0, 1e-3
    test = VariationTest(hits, sizes)
    while high < len(hits) - 1 and test.exceeds(high, reach):
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if test.exceeds(middle, reach) else (low, middle)
    return float(1 - 1 / np.sqrt(1 + low))


def _variation(hits: Floats, sizes: Floats, reach: float) -> float:
    """The largest CV² that the data do not reject."""
    largest = float(len(hits) - 1)
    if hits.sum() == 0:
        return largest
    low, high = 0.0, 1e-3
    test = VariationTest(hits, sizes)
    while high < largest and test.accepts(high, reach):
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if test.accepts(middle, reach) else (low, middle)
    return min(high, largest)


class VariationTest:
    """Test of a squared coefficient of variation of the true rates, from hits and sizes."""

    def __init__(self, hits: Floats, sizes: Floats) -> None:
        self.rates, self.sizes = hits / sizes, sizes
        self.noise = float((self.rates * (1 - self.rates) / np.maximum(sizes - 1, 1.0)).sum())
        common = hits.sum() / sizes.sum()
        steadied = (hits + PRIOR_ROWS * common) / (sizes + PRIOR_ROWS)
        self.variance = steadied * (1 - steadied) / sizes
        self.third = self.variance * (1 - 2 * steadied) / sizes

    def exceeds(self, level: float, reach: float) -> bool:
        """Whether the data are too unequal for rates of this CV²; skewness adds to the reach."""
        form, away, supposed = self._form(level)
        supposed_squares = away**2 * min(1.0, supposed / max(float(away @ away), 1e-300))
        variance = float((2 * self.variance**2 + 4 * self.variance * supposed_squares).sum())
        third = float((8 * self.variance**3 + 24 * self.variance**2 * supposed_squares).sum())
        reach += (reach**2 - 1) * third / variance**1.5 / 6  # Cornish and Fisher
        return bool(form > reach * np.sqrt(variance))

    def accepts(self, level: float, reach: float) -> bool:
        """Whether the data are unequal enough for rates of this CV²."""
        form, away, supposed = self._form(level)
        spread = max(1.0, supposed / max(float(away @ away), 1e-300))
        variance = 2 * self.variance**2 + 4 * self.variance * away**2 * spread
        variance += np.maximum(4 * self.third * away, 0.0)
        return bool(form >= -reach * np.sqrt(float(variance.sum())))

    def _form(self, level: float) -> tuple[float, Floats, float]:
        """The unbiased quadratic form, the rates less m, and Σ (θ − m)² if the form is 0."""
        rates, groups = self.rates, len(self.rates)
        part = (1 + level) / groups
        form = float(rates @ rates) - part * float(rates.sum()) ** 2 - (1 - part) * self.noise
        supposed = level * (1 + level) * groups * float(rates.mean()) ** 2
        return form, rates - (1 + level) * rates.mean(), supposed
