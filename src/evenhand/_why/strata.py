"""Parts of a gap from the composition of groups and from differences within strata.

With shares q of strata and means m of two groups a and b, the gap Σ qₐ mₐ − Σ q_b m_b is

    Σ (qₐ − q_b) (mₐ + m_b) / 2   composition, and
    Σ (qₐ + q_b) / 2 (mₐ − m_b)   within strata (Kitagawa 1955, JASA 50, 1168–1194),

which is Oaxaca's and Blinder's account with a dummy for each stratum and coefficients halfway
between those of the groups. Strata where one group has no rows show no difference within: their
contribution to the gap is a part of its own (Ñopo 2008, Review of Economics and Statistics 90,
290–299). Variances of parts follow from the derivatives by q and m, taken by a complex step, which
is exact for polynomials.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np

from evenhand._why.entries import Codes, Entries, Floats, prior_share

STEP = 1e-30  # imaginary, and too small to change the real part


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
        """Shares and means of strata that both groups have (groups, strata)."""
        weight = np.where(self.shared, self.weight, 0.0)
        sums = np.where(self.shared, self.sums(self.values), 0.0)
        return weight / weight.sum(axis=1)[:, None], sums / np.where(weight > 0, weight, 1.0)

    @property
    def effective(self) -> Floats:
        """Effective number of rows of each group in each stratum."""
        at = self.entries.group * self.strata + self.stratum
        squares = np.bincount(at, self.entries.squares, 2 * self.strata).reshape(2, self.strata)
        return np.where(squares > 0, self.weight**2 / np.where(squares > 0, squares, 1.0), 0.0)

    @property
    def spread(self) -> float:
        """The pooled variance of rows within strata."""
        weight = self.weight
        means = self.sums(self.values) / np.where(weight > 0, weight, 1.0)
        away = (self.values - means[self.entries.group, self.stratum]) ** 2
        return float((self.entries.weight * away).sum() / weight.sum())

    @property
    def shared(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Mask of the strata where both groups have rows."""
        return np.asarray((self.weight > 0).all(axis=0))


Formula = Callable[[Floats, Floats], Floats]  # of shares and means (…, groups, strata)


def totals(shares: Floats, means: Floats) -> Floats:
    """Composition and difference within strata (…, 2)."""
    return np.stack([part.sum(axis=-1) for part in by_stratum(shares, means)], axis=-1)


def within(shares: Floats, means: Floats) -> Floats:
    """Difference within each stratum (…, strata)."""
    return by_stratum(shares, means)[1]


def by_stratum(shares: Floats, means: Floats) -> list[Floats]:
    """Contributions of each stratum to composition and to the difference within (…, strata)."""
    first, second = shares[..., 0, :], shares[..., 1, :]
    middle = (means[..., 0, :] + means[..., 1, :]) / 2
    overall = ((first + second) / 2 * middle).sum(axis=-1, keepdims=True)
    difference = (first + second) / 2 * (means[..., 0, :] - means[..., 1, :])
    return [(first - second) * (middle - overall), difference]


class Influences(NamedTuple):
    """Values, with the influences (values, rows) of rows of weight 1.

    `hidden` (values, values) is added to the covariance, for strata with few rows.
    """

    values: Floats
    by_row: Floats
    hidden: Floats


def influences_of(data: Means, formula: Formula) -> Influences:
    """The values of a formula, with the influences of rows.

    Only strata with both groups count, and rows in other strata have no influence.
    """
    weight = np.where(data.shared, data.weight, 0.0)
    size = weight.sum(axis=1)
    shares, means = data.rates
    values = formula(shares, means)
    by_share, by_mean = _slopes(formula, shares, means)
    group, stratum = data.entries.group, data.stratum
    level = np.einsum("pgx,gx->pg", by_share, shares)
    influence = (by_share[:, group, stratum] - level[:, group]) / size[group]
    deviation = (data.values - means[group, stratum]) / np.where(weight > 0, weight, 1.0)[
        group, stratum
    ]
    influence += by_mean[:, group, stratum] * deviation
    shares_added = prior_share(data.effective) * data.shared
    hidden = np.einsum("pgx,qgx,gx->pq", by_mean, by_mean, shares_added) * data.spread
    return Influences(values, np.asarray(influence * data.shared[stratum]), hidden)


def _slopes(formula: Formula, shares: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Derivatives (values, groups, strata) by the shares and by the means."""
    size = shares.size
    steps = (1j * STEP * np.eye(size)).reshape(size, *shares.shape)
    derivatives = []
    for argument in (0, 1):
        value = formula(shares + steps * (argument == 0), means + steps * (argument == 1))
        derivatives.append((value.imag / STEP).T.reshape(-1, *shares.shape))
    return derivatives[0], derivatives[1]


def outside(data: Means) -> tuple[Floats, Floats]:
    """Contribution of strata with one group alone (1,), and influences of rows (1, rows).

    For each group it is its mean minus its mean over shared strata.
    """
    total, shared = (
        data.weight.sum(axis=1),
        np.where(data.shared, data.weight, 0.0).sum(axis=1),
    )
    sums = data.sums(data.values)
    mean, inside = (
        sums.sum(axis=1) / total,
        np.where(data.shared, sums, 0.0).sum(axis=1) / shared,
    )
    group, is_in = data.entries.group, data.shared[data.stratum]
    influence = (data.values - mean[group]) / total[group]
    influence -= is_in * (data.values - inside[group]) / shared[group]
    signs = np.array([1.0, -1.0])
    added = float(((mean - inside) * signs).sum())
    return np.array([added]), (influence * signs[group])[None]


def order_weight(size: int, number: int, *, is_in: bool) -> float:
    """Shapley weight of a subset of this size in the part of a column in it, or not in it.

    Parts are averages over all orders of adding the columns.
    """
    before = size - is_in
    weight = factorial(before) * factorial(number - before - 1) / factorial(number)
    return weight if is_in else -weight


def column_parts(data: Means, codes: list[Codes]) -> tuple[Floats, Floats]:
    """The part of each column in the composition, where strata are combinations of columns.

    Each is the change of the composition when the column is added, averaged over all orders.
    """
    number = len(codes)
    is_shared = data.shared[data.stratum]
    values, influence = np.zeros(number), np.zeros((number, len(data.values)))
    for mask in range(1, 2**number):
        subset = [at for at in range(number) if mask >> at & 1]
        _, stratum = np.unique(np.stack([codes[at] for at in subset]), axis=1, return_inverse=True)
        stratum = stratum.ravel()
        part = _restricted(data, is_shared, stratum)
        result = influences_of(part, totals)
        full = np.zeros(len(data.values))
        full[is_shared] = result.by_row[0]
        size = len(subset)
        for at in range(number):
            sign = order_weight(size, number, is_in=at in subset)
            values[at] += sign * result.values[0]
            influence[at] += sign * full
    return values, influence


def _restricted(data: Means, kept: np.ndarray[tuple[int], np.dtype[np.bool_]], by: Codes) -> Means:
    """The rows in shared strata, with other strata."""
    entries = data.entries.times(kept.astype(np.float64))
    stratum = by[kept]
    return Means(entries, data.values[kept], stratum, int(stratum.max(initial=-1)) + 1)
