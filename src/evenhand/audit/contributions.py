"""Which groups the inequality lies with: shares of a measure's value that add up to 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def contributions(values: Floats, measure: str) -> Floats:
    """The share of each group in the inequality of a vector; NaN where it was not observed.

    Gini: the share of the differences that a group takes part in. MPD and shortfall: the extreme
    groups, in halves. PQ, and any other measure: the share of the squared deviations.

    >>> contributions(np.array([0.1, 0.1, 0.4]), "mpd").tolist()
    [0.25, 0.25, 0.5]
    """
    shares = np.full(values.shape, np.nan)
    observed = ~np.isnan(values)
    if observed.any():
        weights = SHARES.get(measure, squared_deviations)(values[observed])
        total = weights.sum()
        shares[observed] = weights / total if total > 0 else 0.0
    return shares


def squared_deviations(values: Floats) -> Floats:
    """Each entry's part of the variance."""
    return np.asarray((values - values.mean()) ** 2)


def differences(values: Floats) -> Floats:
    """Each entry's part of all the pairwise differences, from the sorted entries."""
    order = np.argsort(values)
    ordered = values[order]
    below = np.cumsum(ordered) - ordered
    above = ordered.sum() - below - ordered
    rank = np.arange(len(values))
    parts = np.empty_like(values)
    parts[order] = ordered * rank - below + above - ordered * (len(values) - 1 - rank)
    return np.maximum(parts, 0.0)


def extremes(values: Floats) -> Floats:
    """Half for the highest entries, half for the lowest."""
    high, low = values == values.max(), values == values.min()
    if high.all():
        return np.zeros(len(values))
    return np.asarray(high / (2 * high.sum()) + low / (2 * low.sum()))


SHARES: dict[str, Callable[[Floats], Floats]] = {
    "gini": differences,
    "mpd": extremes,
    "shortfall": extremes,
}
