"""Adverse impact between groups: four-fifths, tests, shortfalls, and single decisions that flip it.

Counts are of people, so verdicts compare whole numbers: 5 × hits × rows of the other group with
4 × hits of the other group × rows. A ratio of exactly four-fifths is not below it. `among` marks
the groups whose rate may be the highest, to exclude very small ones; by default all.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

Flags = NDArray[np.bool_]

LIMIT = Fraction(4, 5)


def below(
    hits: Counts, rows: Counts, limit: Fraction = LIMIT, among: Flags | None = None
) -> list[bool]:
    """Mark the groups with a rate below the limit times the highest rate.

    >>> below(np.array([8, 10, 7]), np.array([20, 20, 20]))
    [False, False, True]
    """
    rates = _fractions(hits, rows)
    highest = max(_chosen(rates, among))
    return [rate < limit * highest for rate in rates]


def shortfall(
    hits: Counts, rows: Counts, limit: Fraction = LIMIT, among: Flags | None = None
) -> list[int]:
    """The smallest number of additional selections that bring each group to the limit.

    With a limit of 1 it is the number that makes the rate at least the highest one.

    >>> shortfall(np.array([3, 10]), np.array([20, 20]))
    [5, 0]
    """
    highest = max(_chosen(_fractions(hits, rows), among))
    return [
        max(0, ceil(limit * highest * int(n)) - int(k)) for k, n in zip(hits, rows, strict=True)
    ]


def flips(
    hits: Counts, rows: Counts, limit: Fraction = LIMIT, among: Flags | None = None
) -> list[bool]:
    """Mark the groups whose verdict changes if one decision on one person, in any group, changes.

    A verdict compares a rate with the highest. The decision may be on a person of the group, or of
    another group: then only the highest rate after it matters, so it is enough to try the change
    that raises it most and the one that lowers it.

    >>> flips(np.array([8, 10, 2]), np.array([20, 20, 20]))
    [True, False, False]
    """
    rates = _fractions(hits, rows)
    verdicts = below(hits, rows, limit, among)
    raised_rates = [_changed(k, n, +1) for k, n in zip(hits, rows, strict=True)]
    less = [_changed(k, n, -1) for k, n in zip(hits, rows, strict=True)]
    top, raised = _three_highest(rates, among), _three_highest(raised_rates, among)
    turned = []
    for at, verdict in enumerate(verdicts):
        highest_other = _highest_but(top, at)
        own_changes = [
            rate < limit * max(rate, highest_other)
            for rate in (raised_rates[at], less[at])
            if rate is not None
        ]
        highest = [max(rates[at], highest_other, _highest_but(raised, at))]
        best = top[0][1]
        if best != at and less[best] is not None:
            lowered = less[best] or Fraction(0)
            highest.append(max(rates[at], lowered, _highest_but(top, best, at)))
        other_changes = [rates[at] < limit * new for new in highest]
        turned.append(any(new != verdict for new in (*own_changes, *other_changes)))
    return turned


def swaps(
    hits: Counts, rows: Counts, limit: Fraction = LIMIT, among: Flags | None = None
) -> list[bool]:
    """Mark the groups whose verdict changes by one swap: one more selected here, one fewer there.

    The other person is in the group with the highest rate; if the verdict is not below, the swap
    goes the other way. The verdict of the highest group itself never changes.

    >>> swaps(np.array([7, 10, 2]), np.array([20, 20, 20]))
    [True, False, False]
    """
    rates = _fractions(hits, rows)
    best = _three_highest(rates, among)[0][1]
    turned = []
    for at, verdict in enumerate(below(hits, rows, limit, among)):
        by = 1 if verdict else -1
        new = list(rates)
        own_rate, other_rate = (
            _changed(hits[at], rows[at], by),
            _changed(hits[best], rows[best], -by),
        )
        if at == best or own_rate is None or other_rate is None:
            turned.append(False)
            continue
        new[at], new[best] = own_rate, other_rate
        turned.append((own_rate < limit * max(_chosen(new, among))) != verdict)
    return turned


def pooled_shortfall(hits: Counts, rows: Counts) -> Floats:
    """Additional selections of each group at the overall rate; negative above it.

    >>> pooled_shortfall(np.array([3, 9]), np.array([20, 20]))
    array([ 3., -3.])
    """
    return np.asarray(rows * (hits.sum() / rows.sum()) - hits)


def fisher(hits: Counts, rows: Counts, reference: int, *, mid: bool = False) -> Floats:
    """Fisher's exact two-sided p-value of each group and the reference; NaN for itself.

    A mid-p subtracts half the probability of the table itself.
    """
    from scipy.stats import fisher_exact, hypergeom

    k, n = int(hits[reference]), int(rows[reference])
    tables = ([[int(a), int(b) - int(a)], [k, n - k]] for a, b in zip(hits, rows, strict=True))
    values = np.array([float(fisher_exact(table)[1]) for table in tables])
    if mid:
        values -= hypergeom.pmf(hits, rows + n, hits + k, rows) / 2
    return np.where(np.arange(len(rows)) == reference, np.nan, values)


def standard_deviations(hits: Counts, rows: Counts, reference: int) -> Floats:
    """Difference of each rate from the reference's in standard deviations (pooled z).

    NaN for the reference itself, and where both rates are 0 or both 1.

    >>> standard_deviations(np.array([10, 20]), np.array([40, 40]), 1).round(3)
    array([-2.309,    nan])
    """
    pooled = (hits + hits[reference]) / (rows + rows[reference])
    variance = pooled * (1 - pooled) * (1 / rows + 1 / rows[reference])
    z = np.full(len(rows), np.nan)
    difference = hits / rows - hits[reference] / rows[reference]
    np.divide(difference, np.sqrt(variance), out=z, where=variance > 0)
    z[reference] = np.nan
    return z


def _fractions(hits: Counts, rows: Counts) -> list[Fraction]:
    return [Fraction(int(k), int(n)) for k, n in zip(hits, rows, strict=True)]


def _chosen(rates: list[Fraction], among: Flags | None) -> list[Fraction]:
    return rates if among is None else [rates[at] for at in np.flatnonzero(among)]


def _changed(hits: int, rows: int, by: int) -> Fraction | None:
    """The rate after one decision changes, if there is such a person."""
    changed = int(hits) + by
    return Fraction(changed, int(rows)) if 0 <= changed <= rows else None


Ranked = list[tuple[Fraction, int]]


def _three_highest(rates: Sequence[Fraction | None], among: Flags | None) -> Ranked:
    """The three highest rates with their groups, of which up to two may be excluded later."""
    flags = [True] * len(rates) if among is None else among
    present = [
        (rate, at)
        for at, (rate, counts) in enumerate(zip(rates, flags, strict=True))
        if rate is not None and counts
    ]
    return sorted(present, reverse=True)[:3]


def _highest_but(ranked: Ranked, *excluded: int) -> Fraction:
    return next((rate for rate, at in ranked if at not in excluded), Fraction(0))
