"""Distances of rates from the data in standard errors: beta quantiles in closed form.

The distance of a rate p is the normal quantile of a beta distribution's probability below p, by
Peizer and Pratt (1968, Journal of the American Statistical Association 63), which is within 0.03
even for no hits at all. Rates at a distance start from Abramowitz and Stegun's 26.5.22, within 0.01
standard errors for 30 hits and misses or more, and a hundred times faster than an exact quantile;
for fewer, Newton's steps on the distance follow, for a handful from Wilson and Hilferty's cube.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.curves import CAUTION, FARTHEST

Floats = NDArray[np.float64]

MANY = 30.0  # hits and misses from which on the quick quantile needs no correction
LEAST = 0.6  # of a parameter of a beta distribution
FEW = 5.0  # hits or misses below which a cube root starts nearer
STEPS = 3


@dataclass(frozen=True, eq=False)
class Distances:
    """Groups with hits and rows, as shares of a range; distances are divided by each `stretch`.

    Relative measures need values of at least 0.
    """

    hits: Floats
    sizes: Floats
    stretch: Floats
    limits: tuple[float, float] = (0.0, 1.0)
    is_relative: bool = False

    @cached_property
    def values(self) -> Floats:
        """The observed values."""
        return self._scaled(self.hits / self.sizes)

    @cached_property
    def _counts(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The parameters of the beta distributions for values above and below the data."""
        hits, misses = self.hits + 0.5, self.sizes - self.hits + 0.5
        parts = hits + CAUTION, misses - CAUTION, hits - CAUTION, misses + CAUTION
        alpha_above, beta_above, alpha_below, beta_below = (
            np.maximum(part, LEAST) for part in parts
        )
        return alpha_above, beta_above, alpha_below, beta_below

    def at(self, distance: Floats) -> Floats:
        """The values (…, groups) at signed distances (…, groups)."""
        z = distance * self.stretch
        up = z > 0
        alpha_above, beta_above, alpha_below, beta_below = self._counts
        alpha, beta = np.where(up, alpha_above, alpha_below), np.where(up, beta_above, beta_below)
        odds = _log_odds(alpha, beta, z)
        is_small = np.minimum(self.hits, self.sizes - self.hits) < MANY
        if is_small.any():
            some = alpha[..., is_small], beta[..., is_small], z[..., is_small]
            odds[..., is_small] = _corrected(*some, odds[..., is_small])
        shares = 1 / (1 + np.exp(-np.clip(odds, -40.0, 40.0)))
        shares = np.where((z > FARTHEST) | (up & (self.hits >= self.sizes)), 1.0, shares)
        shares = np.where((z < -FARTHEST) | (~up & (self.hits <= 0)), 0.0, shares)
        return self._scaled(shares)

    def _scaled(self, shares: Floats) -> Floats:
        low, high = self.limits
        values = low + (high - low) * shares
        return np.asarray(np.maximum(values, 0.0) if self.is_relative else values)


def _log_odds(alpha: Floats, beta: Floats, z: Floats) -> Floats:
    """Abramowitz and Stegun's 26.5.22: log odds at normal quantiles of beta distributions."""
    up, down = 1 / (2 * alpha - 1), 1 / (2 * beta - 1)
    middle, bend = 2 / (up + down), (z * z - 3) / 6
    half = z * np.sqrt(np.maximum(middle + bend, 0.0)) / middle + (down - up) * (
        bend + 5 / 6 - (up + down) / 3
    )
    return np.asarray(2 * half + np.log(alpha / beta))


def _corrected(alpha: Floats, beta: Floats, z: Floats, odds: Floats) -> Floats:
    """Newton's steps to the point at distance z; the derivative is a ratio of densities."""
    from scipy.special import betaln

    constant = np.log(2 * np.pi) / 2 - betaln(alpha, beta)
    for count, sign in ((alpha, 1), (beta, -1)):
        cube = count * np.maximum(1 - 1 / (9 * count) + np.abs(z) / (3 * np.sqrt(count)), 0.0) ** 3
        start = sign * np.log(cube / np.maximum(alpha + beta - 1 - cube, 0.1))
        is_near = (count < FEW) & (alpha + beta > 20 * count) & (sign * z > 0)
        odds = np.where(is_near, start, odds)
    for _ in range(STEPS):
        share = 1 / (1 + np.exp(-np.clip(odds, -27.0, 27.0)))
        quantile = _normal_quantile(alpha, beta, share)
        speed = alpha * np.log(share) + beta * np.log1p(-share) + quantile**2 / 2 + constant
        odds = odds - np.clip((quantile - z) * np.exp(-np.clip(speed, -3.0, 10.0)), -2.0, 2.0)
    return np.asarray(odds)


def _normal_quantile(alpha: Floats, beta: Floats, share: Floats) -> Floats:
    """The normal quantile of the probability that a beta variable is below a share."""
    rows, complement = alpha + beta - 1, 1 - share
    deviation = (rows + 1 / 3) * share - alpha + 1 / 3
    deviation = deviation - 0.02 * (complement / alpha - share / beta + (0.5 - share) / (rows + 1))
    bends = _bend(np.array([(alpha - 0.5) / (rows * share), (beta - 0.5) / (rows * complement)]))
    skew = complement * bends[0] + share * bends[1]
    return np.asarray(deviation * np.sqrt((1 + skew) / ((rows + 1 / 6) * share * complement)))


def _bend(x: Floats) -> Floats:
    """(1 − x² + 2x log x) / (1 − x)², near 1 by its series."""
    off = 1 - x
    is_near = np.abs(off) < 1e-2
    series = off / 3 * (1 + off / 2)
    off[is_near] = 1.0
    return np.asarray(np.where(is_near, series, (1 - x * x + 2 * x * np.log(x)) / (off * off)))
