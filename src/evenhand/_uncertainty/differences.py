"""How far two rates of different rows differ at least: bounds with a proof, for any two rates.

Let P₁ be the chance of as many hits or more at a supposed rate p₁, P₂ that of so few or fewer at
p₂, and zᵢ = −Φ⁻¹(Pᵢ). Whatever the true rates are, z₁ and z₂ are independent and at most standard
normal (stochastically), and so is w₁ z₁ + w₂ z₂ for weights with w₁² + w₂² = 1 that depend on
nothing but p₁ and p₂ (Stouffer's combination). The pairs with w₁ z₁ + w₂ z₂ ≤ c are a confidence
set of both rates, and the smallest p₁ − p₂ in it is a lower bound of the difference. With weights
wᵢ ∝ √(pᵢ (1 − pᵢ) / nᵢ) it is as short as that of the normal approximation where rows are many.

A tenth of the error is spent on keeping each rate within its own Clopper and Pearson interval, so
that rates far from the data do not count (Berger and Boos 1994, JASA 89, 1012–1016).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

BOX = 0.1  # the part of the error that single intervals get
NODES = 13
STEPS = 49
AT_A_TIME = 2048


class Binomials(NamedTuple):
    """Hits of some rows, each an array; the odds of the rate are `odds` times those of the hits.

    Rows of equal weight have odds of 1. Weighted rows count as many as vary as much, and the odds
    say how much more a hit weighs than a miss.
    """

    hits: Floats
    size: Floats
    odds: Floats

    @property
    def rate(self) -> Floats:
        """The observed rates; 0 where there is no row."""
        share = np.divide(self.hits, self.size, out=np.zeros_like(self.hits), where=self.size > 0)
        return _tilted(share, self.odds)

    @property
    def complement(self) -> Binomials:
        """Misses for hits."""
        return Binomials(self.size - self.hits, self.size, 1 / self.odds)

    def where(self, chosen: NDArray[np.bool_], other: Binomials) -> Binomials:
        """These where chosen, and the other ones elsewhere."""
        return Binomials(*(np.where(chosen, a, b) for a, b in zip(self, other, strict=True)))

    def at(self, kept: NDArray[np.intp]) -> Binomials:
        """Some of them."""
        return Binomials(*(values[kept] for values in self))


def sure_difference(first: Binomials, second: Binomials, error: float) -> Floats:
    """Lower bounds of the absolute differences of rates; 0 where not even the sign is sure.

    Each errs with probability `error` at most, in either direction together.

    >>> ten = Binomials(np.array([9.0]), np.array([10.0]), np.ones(1))
    >>> many = Binomials(np.array([100.0]), np.array([1000.0]), np.ones(1))
    >>> sure_difference(ten, many, 0.05).round(2), sure_difference(ten, ten, 0.05)
    (array([0.45]), array([0.]))
    """
    from scipy.special import ndtri

    more = first.rate >= second.rate
    high, low = first.where(more, first.complement), second.where(more, second.complement)
    # The same pair in either order is one question: the smaller side first.
    swapped = (high.size > low.size) | ((high.size == low.size) & (high.hits > low.size - low.hits))
    high, low = low.complement.where(swapped, high), high.complement.where(swapped, low)
    reach = float(-ndtri(error / 2 * (1 - BOX)))
    box = float(-ndtri(error / 2 * BOX / 4))
    least = np.zeros(len(high.size))
    kept = np.flatnonzero((high.rate > low.rate) & (high.size > 0) & (low.size > 0))
    # The limits at c / √2 are a pair of every such set, since w₁ + w₂ ≤ √2.
    both = np.array([reach / np.sqrt(2)])
    above = _tilted(_lowest(high.at(kept), both)[:, 0], high.odds[kept])
    below = _tilted(1 - _lowest(low.at(kept).complement, both)[:, 0], low.odds[kept])
    kept = kept[above > below]
    for start in range(0, len(kept), AT_A_TIME):
        part = kept[start : start + AT_A_TIME]
        least[part] = np.maximum(0.0, _smallest(high.at(part), low.at(part), reach, box))
    return least


def rate_bounds(rate: Any, size: Any, error: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's bounds; both tails together err at most so often.

    Sizes may be those of weighted rows (Kish's), and need not be whole. Where there is no row,
    the bounds are 0 and 1.

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
    """The smallest p₁ − p₂ in the confidence set of each pair, along the set's border."""
    nodes = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    steps = np.linspace(-1.0, 1.0, STEPS)
    ours, noise = _supposed(_refined(_lowest(high, box * nodes), nodes, steps), high)
    theirs, their_noise = _supposed(1 - _lowest(low.complement, box * nodes), low)
    ours, noise, their_noise = ours[:, None], noise[:, None], their_noise[..., None]
    distance = box * (steps * noise + nodes[:, None] * their_noise)
    beyond = distance - reach * np.hypot(noise, their_noise)  # (pairs, p₂, p₁), with p₁ falling
    inside = beyond <= 0
    last = STEPS - 1 - np.argmax(inside[..., ::-1], axis=2)[..., None]
    after = np.minimum(last + 1, STEPS - 1)
    under, over = (np.take_along_axis(beyond, at, 2) for at in (last, after))
    part = np.nan_to_num(ratio(-under, over - under))  # 0 where the set goes on to the last step
    ours = np.broadcast_to(ours, beyond.shape)
    first, second = (np.take_along_axis(ours, at, 2) for at in (last, after))
    border = (first + part * (second - first))[..., 0]
    return np.asarray(np.where(inside.any(axis=2), border - theirs, np.inf).min(axis=1))


def _lowest(rates: Binomials, distance: Floats) -> Floats:
    """Shares (pairs, distances) at which as many hits or more are a given number of errors away."""
    from scipy.special import betaincinv, ndtr

    hits, size = rates.hits[:, None], rates.size[:, None]
    return np.asarray(betaincinv(hits, size - hits + 1, ndtr(-distance)))


def _refined(shares: Floats, nodes: Floats, steps: Floats) -> Floats:
    """Shares at many steps by a polynomial through the few, on the scale where noise is even."""
    from numpy.polynomial.chebyshev import chebvander

    degree = len(nodes) - 1
    between = chebvander(steps, degree) @ np.linalg.inv(chebvander(nodes, degree))
    angle = np.arcsin(np.sqrt(shares)) @ between.T
    return np.asarray(np.sin(np.clip(angle, 0.0, np.pi / 2)) ** 2)


def _supposed(shares: Floats, rates: Binomials) -> tuple[Floats, Floats]:
    """Rates of supposed shares of hits, and how much such a rate varies."""
    size, odds = rates.size[:, None], rates.odds[:, None]
    slope = odds / (1 - shares + odds * shares) ** 2
    return _tilted(shares, odds), np.sqrt(shares * (1 - shares) / size) * slope


def _tilted(share: Floats, odds: Floats) -> Floats:
    return np.asarray(odds * share / (1 - share + odds * share))
