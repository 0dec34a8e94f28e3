"""Adverse impact between groups: four-fifths, tests, shortfalls, and whether one flips it.

Counts are whole people, so verdicts are read from whole numbers: 5 × hits × rows of the other
against 4 × hits of the other × rows. A ratio of exactly four-fifths is not below it. `among` says
whose rates count as the highest: those of very small groups may be left out; by default all do.
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
    """Which groups have a rate below the limit times the highest rate.

    >>> below(np.array([8, 10, 7]), np.array([20, 20, 20]))
    [False, False, True]
    """
    rates = _fractions(hits, rows)
    highest = max(_chosen(rates, among))
    return [rate < limit * highest for rate in rates]


def shortfall(
    hits: Counts, rows: Counts, limit: Fraction = LIMIT, among: Flags | None = None
) -> list[int]:
    """The fewest more selections of each group that bring it to the limit, all else as it is.

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
    """For which groups one other decision on one person, in any group, turns the verdict.

    A verdict compares a rate with the highest. The decision may be on the group's own person, or
    on one of another group: then only the highest rate after it matters, so it is enough to try
    the change that raises it most and the one that lowers it.

    >>> flips(np.array([8, 10, 2]), np.array([20, 20, 20]))
    [True, False, False]
    """
    rates = _fractions(hits, rows)
    verdicts = below(hits, rows, limit, among)
    more = [_changed(k, n, +1) for k, n in zip(hits, rows, strict=True)]
    less = [_changed(k, n, -1) for k, n in zip(hits, rows, strict=True)]
    top, raised = _three_highest(rates, among), _three_highest(more, among)
    turned = []
    for at, verdict in enumerate(verdicts):
        others = _highest_but(top, at)
        own = [
            rate < limit * max(rate, others) for rate in (more[at], less[at]) if rate is not None
        ]
        highest = [max(rates[at], others, _highest_but(raised, at))]
        best = top[0][1]
        if best != at and less[best] is not None:
            lowered = less[best] or Fraction(0)
            highest.append(max(rates[at], lowered, _highest_but(top, best, at)))
        theirs = [rates[at] < limit * new for new in highest]
        turned.append(any(new != verdict for new in (*own, *theirs)))
    return turned


def swaps(
    hits: Counts, rows: Counts, limit: Fraction = LIMIT, among: Flags | None = None
) -> list[bool]:
    """For which groups one swap of people turns the verdict: one more here, one fewer there.

    The other is a person of the group with the highest rate; where the verdict is not below, the
    swap goes the other way. Nothing turns for the highest group itself.

    >>> swaps(np.array([7, 10, 2]), np.array([20, 20, 20]))
    [True, False, False]
    """
    rates = _fractions(hits, rows)
    best = _three_highest(rates, among)[0][1]
    turned = []
    for at, verdict in enumerate(below(hits, rows, limit, among)):
        by = 1 if verdict else -1
        new = list(rates)
        mine, other = _changed(hits[at], rows[at], by), _changed(hits[best], rows[best], -by)
        if at == best or mine is None or other is None:
            turned.append(False)
            continue
        new[at], new[best] = mine, other
        turned.append((mine < limit * max(_chosen(new, among))) != verdict)
    return turned


def pooled_shortfall(hits: Counts, rows: Counts) -> Floats:
    """How many more of each group would have been selected at the rate of everybody together.

    Below 0 where more were selected than that.

    >>> pooled_shortfall(np.array([3, 9]), np.array([20, 20]))
    array([ 3., -3.])
    """
    return np.asarray(rows * (hits.sum() / rows.sum()) - hits)


def fisher(hits: Counts, rows: Counts, reference: int, *, mid: bool = False) -> Floats:
    """Fisher's exact two-sided p-value of each group beside the reference; NaN for itself.

    A mid-p is less by half the probability of the table itself.
    """
    from scipy.stats import fisher_exact, hypergeom

    k, n = int(hits[reference]), int(rows[reference])
    tables = ([[int(a), int(b) - int(a)], [k, n - k]] for a, b in zip(hits, rows, strict=True))
    values = np.array([float(fisher_exact(table)[1]) for table in tables])
    if mid:
        values -= hypergeom.pmf(hits, rows + n, hits + k, rows) / 2
    return np.where(np.arange(len(rows)) == reference, np.nan, values)


def standard_deviations(hits: Counts, rows: Counts, reference: int) -> Floats:
    """By how many standard deviations each rate is above the reference's: z of pooled proportions.

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
    """The rate after one person's decision, if there is such a person."""
    new = int(hits) + by
    return Fraction(new, int(rows)) if 0 <= new <= rows else None


Ranked = list[tuple[Fraction, int]]


def _three_highest(rates: Sequence[Fraction | None], among: Flags | None) -> Ranked:
    """The highest rates and whose they are; of three, two can be left out."""
    flags = [True] * len(rates) if among is None else among
    known = [
        (rate, at)
        for at, (rate, counts) in enumerate(zip(rates, flags, strict=True))
        if rate is not None and counts
    ]
    return sorted(known, reverse=True)[:3]


def _highest_but(ranked: Ranked, *left_out: int) -> Fraction:
    return next((rate for rate, at in ranked if at not in left_out), Fraction(0))
