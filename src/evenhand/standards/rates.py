"""Rates with exact intervals, and ratios to the highest or a named group, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.differences import rate_bounds
from evenhand._uncertainty.reference import compare_rates

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Certainty = Literal["below", "above", "inconclusive"]

FOUR_FIFTHS = 0.8


def rates_of(hits: Counts, rows: Counts) -> Floats:
    """The share of hits; NaN without rows.

    >>> rates_of(np.array([3, 0]), np.array([4, 0]))
    array([0.75,  nan])
    """
    rates = np.full(np.shape(rows), np.nan)
    np.divide(hits, rows, out=rates, where=np.asarray(rows) > 0)
    return rates


def exact_interval(hits: Counts, rows: Counts, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Clopper–Pearson interval of each rate by itself, as in `scipy.stats.binomtest`.

    >>> low, high = exact_interval(np.array([0, 5]), np.array([10, 10]))
    >>> low.round(3), high.round(3)
    (array([0.   , 0.187]), array([0.308, 0.813]))
    """
    return rate_bounds(rates_of(hits, rows), rows, 1 - confidence)


@dataclass(frozen=True, eq=False)
class Ratios:
    """Each group's rate over the reference, with simultaneous intervals.

    `values` are NaN if the reference has no hits; `reference` is its position.
    """

    values: Floats
    low: Floats
    high: Floats
    reference: int

    def certainty(self, limit: float = FOUR_FIFTHS) -> list[Certainty | None]:
        """Whether each interval is below or above the limit, or unclear; None without a ratio."""
        return [
            None
            if np.isnan(value)
            else "below"
            if high < limit
            else "above"
            if low >= limit
            else "inconclusive"
            for value, low, high in zip(self.values, self.low, self.high, strict=True)
        ]


def ratios_of(
    hits: Counts,
    rows: Counts,
    to: Literal["best"] | int = "best",
    confidence: float = 0.95,
    among: NDArray[np.bool_] | None = None,
) -> Ratios:
    """Ratios of the rates to the highest one (of the groups `among`), or to a named one."""
    rates = rates_of(hits, rows)
    compared = rates if among is None else np.where(among, rates, np.nan)
    at = int(np.nanargmax(compared)) if to == "best" else to
    if not hits[at]:
        nothing = np.full(len(rows), np.nan)
        return Ratios(nothing, nothing, nothing, at)
    values, low, high = compare_rates(hits, rows, to, "ratio", 1 - confidence, among)
    return Ratios(values, low, high, at)
