"""An anytime-valid bound of an estimate's error, in squared standard errors.

The error is a Brownian motion in the information so far (Jennison and Turnbull 1997), and a mixture
of two of Robbins' normal mixtures bounds it at all times: for n rows of each group its square by
the f(n) at which Σ wₖ (1 + n/cₖ)^-½ exp(f n / 2(n + cₖ)) is 1/α. Groups of unequal sizes are
stretched by a convex √(1 + c/n) each, times as much as makes it at least f between the smallest and
the largest.

For few groups, a quarter of the mixture is the likelihood ratio of groups that are all equal. If
the data are x from those and f^½ from the groups that are tested, which lie between, that is
exp((f − x²) / 2), which does not shrink as rows accumulate; x² is at most their heterogeneity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SCALES = np.array([8.0, 400.0])  # rows of a group: a band is narrowest at about 8 times as many
SHARES = np.array([0.5, 0.5])  # of these in the mixture
STRETCHES = np.array([1.0, 2.0, 4.0, 8.0, 15.0, 30.0])  # tried for unequal sizes
EVEN = 0.25  # weight of equality in the mixture for few groups, half of which is as above
NEWTON_STEPS = 8


def squared_bound(rows: Floats, error: float, heterogeneity: float | None = None) -> Floats:
    """The bound that a squared standardized sum ever exceeds with at most this probability.

    With the heterogeneity of few groups, in squared standard errors, it is smaller if they are
    about equal.

    >>> squared_bound(np.array([100.0, 1_000.0, 10_000.0]), 0.05).round(1)
    array([10.6, 10.6, 10.7])
    >>> squared_bound(np.array([100.0, 1_000.0, 10_000.0]), 0.05, heterogeneity=0.0).round(1)
    array([8.3, 8.3, 8.4])
    """
    information = rows[:, None] / SCALES
    slope = information / (1 + information) / 2
    start = np.log(SHARES) - np.log1p(information) / 2
    if heterogeneity is not None:
        ones = np.ones((len(rows), 1))
        slope = np.hstack([slope, ones / 2])
        start = np.hstack([start + np.log(0.5), (np.log(EVEN) - heterogeneity / 2) * ones])
    bound = ((-np.log(error) - start) / slope).min(axis=-1)  # the bound of each term by itself
    for _ in range(NEWTON_STEPS):  # from above on a convex function
        logs = start + slope * bound[:, None]
        top = logs.max(axis=-1)
        terms = np.exp(logs - top[:, None])
        total = terms.sum(axis=-1)
        step = (top + np.log(total) + np.log(error)) * total / (terms * slope).sum(axis=-1)
        bound = bound - step
        if (np.abs(step) < 1e-6).all():
            break
    return np.asarray(bound)


def log_mixture_of(square: float, information: Floats, shares: Floats) -> float:
    """The log of the mixture at a squared standardized sum, which rejects at 1/error."""
    slope = information / (1 + information) / 2
    logs = np.log(shares) - np.log1p(information) / 2 + slope * square
    return float(np.logaddexp.reduce(logs))


def widening(
    sizes: Floats, error: float, heterogeneity: float | None = None
) -> tuple[float, float]:
    """A scale c of the stretch √(1 + c/n), and the reach with which it is at least the bound.

    Any c is valid; for unequal sizes, the one with the narrowest limits is chosen.
    """
    lowest, highest = float(sizes.min()), float(sizes.max())
    between = np.geomspace(lowest, highest, 9) if highest > lowest else np.array([lowest])
    stretches = 1 + STRETCHES[:, None] / between
    squares = (squared_bound(between, error, heterogeneity) / stretches).max(axis=1)
    width = np.sqrt(squares[:, None] * (1 + STRETCHES[:, None] / sizes) / sizes).sum(axis=1)
    best = int(width.argmin())
    return float(STRETCHES[best]), float(np.sqrt(squares[best]))
