"""P-values from draws of statistics under the null hypothesis.

Two tests are combined: an omnibus one (the chi-squared statistic), for many groups that differ a
little, and the largest standardized contrast of one group with the others, for a single group that
differs. The smaller of their p-values is compared with its own null distribution, so that nothing
is lost to doubling where they agree. P-values too small for the draws come from tails. A share of
draws has a Monte Carlo standard error, and near the usual levels there are more draws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS = 2000
NEAR_LEVEL = 0.1  # a p-value of at most this is drawn again, more precisely
MORE_DRAWS = 5  # times as many
MOST_COUNTS = 500  # cells of groups and outcomes up to which more draws are affordable
SHARES = (0.6, 0.4)  # of the error, for the omnibus test and for the largest contrast
ENOUGH = 10  # draws beyond the observed value: with fewer, tails are more precise


class Test(NamedTuple):
    """A p-value, and its Monte Carlo standard error: 0 where it is exact or of a known tail."""

    p_value: float
    error: float = 0.0


def refined(drawn: Callable[[int], Test], counts: int) -> Test:
    """A test by some draws; near the usual levels by more of them, where they cost little."""
    test = drawn(DRAWS)
    is_near = test.error > 0 and test.p_value <= NEAR_LEVEL
    return drawn(MORE_DRAWS * DRAWS) if is_near and counts <= MOST_COUNTS else test


def combined(observed: tuple[float, float], drawn: tuple[Floats, Floats], tail: Any) -> Test:
    """The p-value of the smaller of two p-values, each relative to its share of the error."""
    smaller = np.full(len(drawn[0]), np.inf)
    smallest = np.inf
    for value, values, share in zip(observed, drawn, SHARES, strict=True):
        slack = 1e-9 * max(1.0, abs(value))
        ordered = np.sort(values)
        beyond = len(values) - np.searchsorted(ordered, values - slack, side="left")
        smaller = np.minimum(smaller, beyond / (len(values) + 1) / share)
        above = len(values) - np.searchsorted(ordered, value - slack, side="left")
        smallest = min(smallest, float(1 + above) / (len(values) + 1) / share)
    extreme = int(np.count_nonzero(smaller <= smallest))
    p_value = (1 + extreme) / (1 + len(smaller))
    return with_tail(p_value, extreme, len(smaller), tail)


def with_tail(p_value: float, extreme: int, draws: int, tail: Callable[[], float]) -> Test:
    """The share of draws that are as extreme; where they are too few, the tail if it is smaller."""
    beyond = tail() if extreme < ENOUGH else np.inf
    if beyond < p_value:
        return Test(beyond)
    return Test(p_value, float(np.sqrt(p_value * (1 - p_value) / draws)))


@lru_cache(maxsize=64)
def chi_squared(free: int, draws: int) -> Floats:
    """Evenly spaced quantiles of a chi-squared variable, one for each draw."""
    from scipy.special import chdtri

    return np.asarray(chdtri(free, evenly(draws)))


def evenly(draws: int) -> Floats:
    """Evenly spaced probabilities, one for each draw."""
    return (np.arange(draws) + 0.5) / draws
