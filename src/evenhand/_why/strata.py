"""A gap between two groups in parts: from their composition, and from differences within strata.

With shares q of strata and means m of two groups a and b, the gap Σ qₐ mₐ − Σ q_b m_b is

    Σ (qₐ − q_b) (mₐ + m_b) / 2   composition, and
    Σ (qₐ + q_b) / 2 (mₐ − m_b)   within strata (Kitagawa 1955, JASA 50, 1168–1194),

which is Oaxaca's and Blinder's account with a dummy for each stratum and coefficients halfway
between those of the groups. Strata where one group has no rows say nothing about a difference
within: what they add to the gap is a part of its own (Ñopo 2008, Review of Economics and Statistics
90, 290–299). How parts vary follows from the derivatives by q and m, taken by a complex step, which
is exact for polynomials.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np

from evenhand._why.entries import Codes, Entries, Floats, lent

STEP = 1e-30  # of an imaginary part, which leaves the real one as it is


class Means(NamedTuple):
    """Rows with values, in strata; `entries` weigh them."""

    entries: Entries
    values: Floats
    stratum: Codes
    strata: int

    def sums(self, values: Floats) -> Floats:
        """Sums (groups, strata) over the rows."""
        at = self.entries.group * self.strata + self.stratum
        added = np.bincount(at, self.entries.weight * values, 2 * self.strata)
        return np.asarray(added.reshape(2, self.strata))

    @property
    def weight(self) -> Floats:
        """The weight of each group in each stratum."""
        return self.sums(np.ones(len(self.values)))

    @property
    def rates(self) -> tuple[Floats, Floats]:
        """Shares of the strata that both groups have, and means in these (groups, strata)."""
        weight = np.where(self.shared, self.weight, 0.0)
        sums = np.where(self.shared, self.sums(self.values), 0.0)
        return weight / weight.sum(axis=1)[:, None], sums / np.where(weight > 0, weight, 1.0)

    @property
    def effective(self) -> Floats:
        """How many rows of equal weight each group has in each stratum."""
        at = self.entries.group * self.strata + self.stratum
        squares = np.bincount(at, self.entries.squares, 2 * self.strata).reshape(2, self.strata)
        return np.where(squares > 0, self.weight**2 / np.where(squares > 0, squares, 1.0), 0.0)

    @property
    def spread(self) -> float:
        """The variance of rows within strata, over both groups."""
        weight = self.weight
        means = self.sums(self.values) / np.where(weight > 0, weight, 1.0)
        away = (self.values - means[self.entries.group, self.stratum]) ** 2
        return float((self.entries.weight * away).sum() / weight.sum())

    @property
    def shared(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """In which strata both groups have rows."""
        return np.asarray((self.weight > 0).all(axis=0))


Formula = Callable[[Floats, Floats], Floats]  # of shares and means (…, groups, strata)


def totals(shares: Floats, means: Floats) -> Floats:
    """Composition and within strata (…, 2)."""
    return np.stack([one.sum(axis=-1) for one in by_stratum(shares, means)], axis=-1)


def within(shares: Floats, means: Floats) -> Floats:
    """Within each stratum (…, strata)."""
    return by_stratum(shares, means)[1]


def by_stratum(shares: Floats, means: Floats) -> list[Floats]:
    """What each stratum adds to composition, and within (…, strata)."""
    first, second = shares[..., 0, :], shares[..., 1, :]
    middle = (means[..., 0, :] + means[..., 1, :]) / 2
    overall = ((first + second) / 2 * middle).sum(axis=-1, keepdims=True)
    apart = (first + second) / 2 * (means[..., 0, :] - means[..., 1, :])
    return [(first - second) * (middle - overall), apart]


class Moved(NamedTuple):
    """Values, how a row of weight 1 moves each (values, rows), and what few rows may hide.

    `hidden` (values, values) is added to the covariance.
    """

    values: Floats
    by_row: Floats
    hidden: Floats


def moved_by(data: Means, formula: Formula) -> Moved:
    """The values of a formula, and how rows move them.

    Only the strata that both groups have count, and rows outside of them move nothing.
    """
    weight = np.where(data.shared, data.weight, 0.0)
    size = weight.sum(axis=1)
    shares, means = data.rates
    values = formula(shares, means)
    by_share, by_mean = _slopes(formula, shares, means)
    group, stratum = data.entries.group, data.stratum
    level = np.einsum("pgx,gx->pg", by_share, shares)
    moved = (by_share[:, group, stratum] - level[:, group]) / size[group]
    own = (data.values - means[group, stratum]) / np.where(weight > 0, weight, 1.0)[group, stratum]
    moved += by_mean[:, group, stratum] * own
    few = lent(data.effective) * data.shared
    hidden = np.einsum("pgx,qgx,gx->pq", by_mean, by_mean, few) * data.spread
    return Moved(values, np.asarray(moved * data.shared[stratum]), hidden)


def _slopes(formula: Formula, shares: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Derivatives (values, groups, strata) by the shares and by the means."""
    size = shares.size
    steps = (1j * STEP * np.eye(size)).reshape(size, *shares.shape)
    found = []
    for by in (0, 1):
        moved = formula(shares + steps * (by == 0), means + steps * (by == 1))
        found.append((moved.imag / STEP).T.reshape(-1, *shares.shape))
    return found[0], found[1]


def outside(data: Means) -> tuple[Floats, Floats]:
    """What strata of one group alone add to the gap (1,), and how rows move that (1, rows).

    Of each group it is its mean less the mean over shared strata.
    """
    whole, shared = (
        data.weight.sum(axis=1),
        np.where(data.shared, data.weight, 0.0).sum(axis=1),
    )
    sums = data.sums(data.values)
    mean, inside = (
        sums.sum(axis=1) / whole,
        np.where(data.shared, sums, 0.0).sum(axis=1) / shared,
    )
    group, is_in = data.entries.group, data.shared[data.stratum]
    moved = (data.values - mean[group]) / whole[group]
    moved -= is_in * (data.values - inside[group]) / shared[group]
    signs = np.array([1.0, -1.0])
    added = float(((mean - inside) * signs).sum())
    return np.array([added]), (moved * signs[group])[None]


def order_weight(size: int, number: int, *, is_in: bool) -> float:
    """What columns of a subset of this size count for the part of one of them, or of another.

    Parts are averages over all orders in which columns can be added (Shapley).
    """
    others = size - is_in
    weight = factorial(others) * factorial(number - others - 1) / factorial(number)
    return weight if is_in else -weight


def column_parts(data: Means, codes: list[Codes]) -> tuple[Floats, Floats]:
    """The composition in parts, one for each column whose combinations are the strata.

    The average over all orders of what the composition grows by as columns are added (Shapley).
    """
    number = len(codes)
    kept = data.shared[data.stratum]
    values, moved = np.zeros(number), np.zeros((number, len(data.values)))
    for mask in range(1, 2**number):
        chosen = [at for at in range(number) if mask >> at & 1]
        _, again = np.unique(np.stack([codes[at] for at in chosen]), axis=1, return_inverse=True)
        again = again.ravel()
        part = _restricted(data, kept, again)
        found = moved_by(part, totals)
        full = np.zeros(len(data.values))
        full[kept] = found.by_row[0]
        size = len(chosen)
        for at in range(number):
            sign = order_weight(size, number, is_in=at in chosen)
            values[at] += sign * found.values[0]
            moved[at] += sign * full
    return values, moved


def _restricted(data: Means, kept: np.ndarray[tuple[int], np.dtype[np.bool_]], by: Codes) -> Means:
    """The rows of shared strata, in other strata."""
    entries = data.entries.times(kept.astype(np.float64))
    chosen = by[kept]
    return Means(entries, data.values[kept], chosen, int(chosen.max(initial=-1)) + 1)
