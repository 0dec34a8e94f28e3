"""The dual of projecting probabilities onto ratio constraints: a price for each (class, group).

The program of Alghamdi et al. (2022): the mean divergence from the base model is least subject
to |P(ŷ = y | …, a) / P(ŷ = y | …) − 1| ≤ α for every class y and group a. Its dual has two
multipliers for each (class, group), whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from evenhand.columns.words import chunks
from evenhand.mitigation.projection.divergences import DIVERGENCES
from evenhand.mitigation.projection.ratios import Ratios
from evenhand.mitigation.reader import Codes

Floats = NDArray[np.float64]

ROWS_AT_A_TIME = 1 << 13  # what is computed from so many rows and some classes fits the cache
STEPS = 100
CLOSE = 1e-13
SMOOTHING = 1e-4


class Expansion(NamedTuple):
    """The dual around some multipliers: value, gradient, and curvature by price.

    `by_price` is (classes, classes, groups): prices of different groups do not interact.
    """

    value: float
    gradient: Floats
    by_price: Floats


@dataclass(frozen=True, eq=False)
class Dual:
    """The dual function of rows that are sorted by group; p is (classes, rows)."""

    p: Floats
    group: Codes
    weight: Floats
    ratios: Ratios
    divergence: str
    ridge: float
    as_published: bool

    def least(self) -> Floats:
        """The multipliers (±, classes, groups) of the least dual, by projected Newton steps."""
        at = np.zeros((2, *self.ratios.cell.shape))
        here = self.expand(at)
        for _ in range(STEPS):
            towards = self._least_nearby(at, here) - at
            slope = float((here.gradient * towards).sum())
            if slope > -CLOSE:
                break
            step, there = 1.0, self.expand(at + towards)
            while there.value > here.value + 1e-4 * step * slope and step > CLOSE:
                step /= 2
                there = self.expand(at + step * towards)
            at, here = at + step * towards, there
        return at

    def expand(self, multipliers: Floats) -> Expansion:
        """The dual around these multipliers, a chunk of rows at a time."""
        prices = self.ratios.prices(multipliers)
        value = 0.5 * self.ridge * float((multipliers**2).sum())
        slope = np.zeros(prices.shape)
        by_price = np.zeros((len(prices), *prices.shape))
        for rows in chunks(len(self.group), ROWS_AT_A_TIME):
            seen, starts = np.unique(self.group[rows], return_index=True)
            part, slopes, curves = self._rows(prices, rows)
            value += part
            slope[:, seen] += np.add.reduceat(slopes, starts, axis=-1)
            by_price[:, :, seen] += np.add.reduceat(curves, starts, axis=-1)
        gradient = self.ratios.multiplied(slope) + self.ridge * multipliers
        return Expansion(value, gradient, by_price)

    def _rows(self, prices: Floats, rows: slice) -> tuple[float, Floats, Floats]:
        """Some rows' part of the dual, and their slopes and curvatures by the prices."""
        p, weight = self.p[:, rows], self.weight[rows]
        v = self.ratios.charged(prices[:, self.group[rows]], p)
        best, h, q = DIVERGENCES[self.divergence](p, v)
        pulled = v - np.log(p) if self.as_published else v
        best += 0.5 * self.ridge * (pulled * pulled).sum(axis=0)
        slopes = self.ratios.charged((self.ridge * pulled - h) * weight, p)
        own = self.ratios.charged(np.ones(p.shape), p)
        leaning = own * q * np.sqrt(weight / q.sum(axis=0))
        curves = -leaning[:, None] * leaning
        diagonal = np.arange(len(p))
        curves[diagonal, diagonal] += own * own * (q + self.ridge) * weight
        return float(best @ weight), slopes, curves

    def _least_nearby(self, at: Floats, here: Expansion) -> Floats:
        """The multipliers ≥ 0 at which the expansion, as a quadratic function, is least."""

        def quadratic(flat: Floats) -> tuple[float, Floats]:
            moved = flat.reshape(at.shape) - at
            bent = np.einsum("yza,za->ya", here.by_price, self.ratios.prices(moved))
            curved = self.ratios.multiplied(bent) + self.ridge * moved
            value = (moved * (here.gradient + 0.5 * curved)).sum()
            return float(value), (here.gradient + curved).ravel()

        free = np.broadcast_to(self.ratios.cell > 0, at.shape).ravel()
        bounds = np.column_stack([np.zeros(len(free)), np.where(free, np.inf, 0)])
        options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-10, "maxcor": 30}
        found = minimize(quadratic, at.ravel(), jac=True, bounds=bounds, options=options)
        return np.asarray(found.x).reshape(at.shape)


def smoothed(p: Floats) -> Floats:
    """Probabilities (rows, classes), all above 0, as (classes, rows)."""
    raised = np.ascontiguousarray(p.T) + SMOOTHING
    return np.asarray(raised / raised.sum(axis=0))


def fit_prices(
    p: Floats,
    group: Codes,
    ratios: Ratios,
    weight: Floats | None = None,
    *,
    divergence: str = "kl",
    ridge: float | None = None,
    as_published: bool = False,
) -> Floats:
    """The price of each (class, group) at which the projected rows meet the ratio constraints.

    `ridge` is ζ, by default one over the root of the number of rows (of their total weight);
    `as_published` repeats a slip of the published code, which with "kl" pulls v towards log p
    instead of 0.
    """
    order = np.argsort(group, kind="stable")
    weight = np.ones(len(group)) if weight is None else weight
    ridge = float(weight.sum()) ** -0.5 if ridge is None else ridge
    share = weight[order] / weight.sum()
    dual = Dual(p[:, order], group[order], share, ratios, divergence, ridge, as_published)
    return ratios.prices(dual.least())


def project(p: Floats, group: Codes, prices: Floats, ratios: Ratios, divergence: str) -> Floats:
    """The projected probabilities of rows, (rows, classes), at given prices."""
    v = ratios.charged(prices[:, group], p)
    return np.asarray(DIVERGENCES[divergence](p, v)[1].T)
