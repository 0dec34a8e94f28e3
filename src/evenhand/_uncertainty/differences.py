"""Proved lower bounds of the difference of two independent rates.

Let P₁ be the probability of at least the observed hits at a supposed rate p₁, P₂ that of at most
the observed hits at p₂, and zᵢ = −Φ⁻¹(Pᵢ). Whatever the true rates are, z₁ and z₂ are independent
and stochastically at most standard normal, and so is w₁ z₁ + w₂ z₂ for weights with w₁² + w₂² = 1
that depend on p₁ and p₂ alone (Stouffer's combination). The pairs with w₁ z₁ + w₂ z₂ ≤ c are a
confidence set for both rates, and the smallest p₁ − p₂ in it is a lower bound of the difference.
With weights wᵢ ∝ √(pᵢ (1 − pᵢ) / nᵢ) it is as tight as the normal approximation for many rows.

A tenth of the error is spent on keeping each rate within its own Clopper–Pearson interval, so that
rates far from the data do not count (Berger and Boos 1994, JASA 89, 1012–1016).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

BOX = 0.1  # the share of the error spent on single intervals
NODES = 13
STEPS = 49
AT_A_TIME = 2048


class Binomials(NamedTuple):
    """Hits among rows; the odds of the rate are `odds` times those of the share of hits.

    With equal weights `odds` is 1. Weighted rows enter as their effective numbers, and `odds` is
    the weight of a hit relative to a miss.
    """

    hits: Floats
    size: Floats
    odds: Floats

    @property
    def rate(self) -> Floats:
        """The observed rates; 0 without rows."""
        share = np.divide(self.hits, self.size, out=np.zeros_like(self.hits), where=self.size > 0)
        return _tilted(share, self.odds)

    @property
    def complement(self) -> Binomials:
        """The counts with hits and misses exchanged."""
        return Binomials(self.size - self.hits, self.size, 1 / self.odds)

    def where(self, chosen: NDArray[np.bool_], alternative: Binomials) -> Binomials:
        """These counts where chosen, the alternative elsewhere."""
        return Binomials(*(np.where(chosen, a, b) for a, b in zip(self, alternative, strict=True)))

    def at(self, places: NDArray[np.intp]) -> Binomials:
        """The counts at some places."""
        return Binomials(*(values[places] for values in self))


def difference_bounds(first: Binomials, second: Binomials, error: float) -> Floats:
    """Lower bounds of the absolute differences of rates; 0 where even the sign is uncertain.

    Each errs with probability `error` at most, both directions together.

    >>> ten = Binomials(np.array([9.0]), np.array([10.0]), np.ones(1))
    >>> many = Binomials(np.array([100.0]), np.array([1000.0]), np.ones(1))
    >>> difference_bounds(ten, many, 0.05).round(2), difference_bounds(ten, ten, 0.05)
    (array([0.45]), array([0.]))
    """
    from scipy.special import ndtri

    is_higher = first.rate >= second.rate
    high, low = first.where(is_higher, first.complement), second.where(is_higher, second.complement)
    # A pair in either order has the same bound: put the smaller group first.
    swapped = (high.size > low.size) | ((high.size == low.size) & (high.hits > low.size - low.hits))
    high, low = low.complement.where(swapped, high), high.complement.where(swapped, low)
    reach = float(-ndtri(error / 2 * (1 - BOX)))
    box = float(-ndtri(error / 2 * BOX / 4))
    bounds = np.zeros(len(high.size))
    places = np.flatnonzero((high.rate > low.rate) & (high.size > 0) & (low.size > 0))
    # The pair of limits at c / √2 is in every such set, since w₁ + w₂ ≤ √2.
    distance = np.array([reach / np.sqrt(2)])
    above = _tilted(_lowest(high.at(places), distance)[:, 0], high.odds[places])
    below = _tilted(1 - _lowest(low.at(places).complement, distance)[:, 0], low.odds[places])
    places = places[above > below]
    for start in range(0, len(places), AT_A_TIME):
        part = places[start : start + AT_A_TIME]
        bounds[part] = np.maximum(0.0, _smallest(high.at(part), low.at(part), reach, box))
    return bounds


def rate_bounds(rate: Any, size: Any, error: float) -> tuple[Floats, Floats]:
    """Clopper–Pearson bounds of a rate, with this error in both tails together.

    Sizes may be effective ones of weighted rows (Kish) and need not be whole. Without rows the
    bounds are 0 and 1.

    >>> low, high = rate_bounds(0.0, 31, 0.05)
    >>> round(float(high), 3)  # 1 − 0.025^(1/31)
    0.112
    """
    from scipy.special import betaincinv

    size, tail = np.asarray(size, dtype=np.float64), error / 2
    hits = np.clip(np.nan_to_num(rate) * size, 0.0, size)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), size - hits + 1, tail), 0.0)
    high = np.where(hits < size, betaincinv(hits + 1, np.maximum(size - hits, 1e-9), 1 - tail), 1.0)
    return low, high


def _smallest(high: Binomials, low: Binomials, reach: float, box: float) -> Floats:
    """The smallest p₁ − p₂ in the confidence set of each pair, along the set's boundary."""
    nodes = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    steps = np.linspace(-1.0, 1.0, STEPS)
    first_rates, first_noise = _supposed(_refined(_lowest(high, box * nodes), nodes, steps), high)
    second_rates, second_noise = _supposed(1 - _lowest(low.complement, box * nodes), low)
    first_rates, first_noise, second_noise = (
        first_rates[:, None],
        first_noise[:, None],
        second_noise[..., None],
    )
    distance = box * (steps * first_noise + nodes[:, None] * second_noise)
    beyond = distance - reach * np.hypot(
        first_noise, second_noise
    )  # (pairs, p₂, p₁), with p₁ falling
    inside = beyond <= 0
    last = STEPS - 1 - np.argmax(inside[..., ::-1], axis=2)[..., None]
    after = np.minimum(last + 1, STEPS - 1)
    under, over = (np.take_along_axis(beyond, at, 2) for at in (last, after))
    part = np.nan_to_num(ratio(-under, over - under))  # 0 where the set extends to the last step
    first_rates = np.broadcast_to(first_rates, beyond.shape)
    start, end = (np.take_along_axis(first_rates, at, 2) for at in (last, after))
    border = (start + part * (end - start))[..., 0]
    return np.asarray(np.where(inside.any(axis=2), border - second_rates, np.inf).min(axis=1))


def _lowest(rates: Binomials, distance: Floats) -> Floats:
    """Shares (pairs, distances) at which at least these hits are a normal quantile away."""
    from scipy.special import betaincinv, ndtr

    hits, size = rates.hits[:, None], rates.size[:, None]
    return np.asarray(betaincinv(hits, size - hits + 1, ndtr(-distance)))


def _refined(shares: Floats, nodes: Floats, steps: Floats) -> Floats:
    """Shares interpolated to many steps, on the scale that stabilizes the variance."""
    from numpy.polynomial.chebyshev import chebvander

    degree = len(nodes) - 1
    between = chebvander(steps, degree) @ np.linalg.inv(chebvander(nodes, degree))
    angle = np.arcsin(np.sqrt(shares)) @ between.T
    return np.asarray(np.sin(np.clip(angle, 0.0, np.pi / 2)) ** 2)


def _supposed(shares: Floats, rates: Binomials) -> tuple[Floats, Floats]:
    """Rates of supposed shares of hits, and their standard errors."""
    size, odds = rates.size[:, None], rates.odds[:, None]
    slope = odds / (1 - shares + odds * shares) ** 2
    return _tilted(shares, odds), np.sqrt(shares * (1 - shares) / size) * slope


def _tilted(share: Floats, odds: Floats) -> Floats:
    return np.asarray(odds * share / (1 - share + odds * share))
