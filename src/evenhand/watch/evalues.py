"""Evidence against equality of groups, valid at every look: e-processes from counts by part.

Within a part, given each group's rows and the total number of hits, the hits of equal groups are
distributed as if drawn without replacement. The rate need not be known, and may change from part to
part. So the hits h of one group are hypergeometric, a sum of independent Bernoulli variables
(Vatutin and Mikhailov 1982), and for every tilt t of at most 5 in either direction

    E exp(t (h − E h)) ≤ exp(v (cosh t − 1) + s (sinh t − t)),

where v is the variance of h and s its third central moment (docs/explanation/watch.md has the
proof). Multiplied over the parts this is a supermartingale that depends on three sums. A mixture
over tilts is one too: it exceeds 1/α with probability at most α, whenever and however often one
looks (Ville 1939; Robbins 1970).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TILTS = np.array([0.03, 0.06, 0.12, 0.24, 0.45, 0.8, 1.3])  # of the log odds
WEIGHTS = np.array([0.06, 0.08, 0.12, 0.20, 0.26, 0.16, 0.12])
EVEN, ODD = np.cosh(TILTS) - 1, np.sinh(TILTS) - TILTS
NEWCOMERS = 0.1  # the weight reserved for groups that appear later


class Excess(NamedTuple):
    """Hits beyond expectation, with their variance and third central moment (…, groups)."""

    beyond: Floats
    variance: Floats
    third: Floats


def against_others(hits: Floats, sizes: Floats) -> Excess:
    """The excess of each group of a part against all others, given the margins."""
    all_hits, all_rows = (part.sum(axis=-1, keepdims=True) for part in (hits, sizes))
    return _beyond(hits, sizes, all_hits, all_rows)


def against_later(hits: Floats, sizes: Floats) -> Excess:
    """The excess of each group against later ones, given the margins and the groups before.

    These are successive steps of one draw without replacement, so that together they are the full
    likelihood of a part, and their e-values can be multiplied.
    """
    later = (np.flip(np.cumsum(np.flip(part, -1), axis=-1), -1) for part in (hits, sizes))
    return _beyond(hits, sizes, *later)


def _beyond(hits: Floats, sizes: Floats, all_hits: Floats, all_rows: Floats) -> Excess:
    """The excess over the mean of a hypergeometric variable, and its moments."""
    share = all_hits / np.maximum(all_rows, 1.0)
    mine = sizes / np.maximum(all_rows, 1.0)
    variance = sizes * (1 - mine) * share * (1 - share) * all_rows / np.maximum(all_rows - 1, 1.0)
    skewed = (1 - 2 * share) * (1 - 2 * mine) * all_rows / np.maximum(all_rows - 2, 1.0)
    return Excess(hits - sizes * share, variance, variance * skewed)


def log_one_differs(sums: Excess, slack: float = 0.0) -> Floats:
    """Log e-value (…, groups) that a group differs from all others, mixed over signed tilts."""
    gain, cost = _tilted(sums, slack)
    size = np.abs(gain)  # a bet on more hits and one on fewer: e^g + e^-g = e^|g| (1 + e^-2|g|)
    logs = size - cost
    top = logs.max(axis=0)
    terms = np.exp(logs - top) * (1 + np.exp(-2 * size))
    return np.asarray(top + np.log(np.tensordot(WEIGHTS / 2, terms, 1)))


def log_all_differ(sums: Excess, slack: float = 0.0) -> Floats:
    """Log e-value (…) that groups differ: each has a tilt of the same size, or none."""
    gain, cost = _tilted(sums, slack)
    by_group = np.logaddexp(np.logaddexp(gain, -gain) - cost, 0.0) - np.log(3)
    logs = np.where(sums.variance > 0, by_group, 0.0).sum(axis=-1)
    return log_mean(np.moveaxis(logs, 0, -1), WEIGHTS)


def log_against_equality(
    single: Excess, joint: Excess, weights: Floats, slack: float = 0.0
) -> Floats:
    """Log e-value (…) against equality of all groups: one group differs, or all of them do.

    `weights` (groups) are the prior weights of each being the one that differs; the remainder to 1
    is reserved for groups that appear later.
    """
    by_group = log_one_differs(single, slack)
    padded = np.concatenate([by_group, np.zeros((*by_group.shape[:-1], 1))], axis=-1)
    single_group = log_mean(padded, np.append(weights, max(1 - weights.sum(), 0.0)))
    return np.asarray(np.logaddexp(single_group, log_all_differ(joint, slack)) - np.log(2))


def group_weights(ranks: NDArray[np.intp]) -> Floats:
    """Prior weights of groups by the order in which they appeared; initial ones have rank 0.

    >>> group_weights(np.array([0, 0, 1, 2])).round(4)
    array([0.45  , 0.45  , 0.05  , 0.0167])
    """
    first = ranks == 0
    late = NEWCOMERS / np.maximum(ranks * (ranks + 1), 1)
    return np.asarray(np.where(first, (1 - NEWCOMERS) / max(int(first.sum()), 1), late))


def log_mean(logs: Floats, weights: Floats) -> Floats:
    """The log of a weighted mean (…) of exponentials (…, terms).

    >>> round(float(np.exp(log_mean(np.log([2.0, 4.0]), np.array([0.5, 0.5])))), 6)
    3.0
    """
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top) @ weights))


def _tilted(sums: Excess, slack: float) -> tuple[Floats, Floats]:
    """The gain of a bet on more hits (tilts, …, groups), which one on fewer loses; and the cost."""
    tilts, even, odd = (part.reshape(-1, *(1,) * sums.beyond.ndim) for part in (TILTS, EVEN, ODD))
    return sums.beyond * tilts - sums.third * odd, sums.variance * even + slack * tilts
