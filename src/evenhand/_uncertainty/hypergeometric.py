"""Tail probabilities of the hypergeometric distribution, for many groups at once.

SciPy has them only in `scipy.stats`, whose import takes longer than most audits. The probabilities
of neighboring counts have a simple ratio, so all of them follow from that of the mode, which need
not be known because they add up to 1. All terms are positive and nothing cancels, so even tiny
tails are precise to the last digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

GROUPS_AT_ONCE = 1 << 12
STEPS = 16  # of the first walk from the mode; each further one is twice as long
MOST_TERMS = 1 << 18  # held at a time
NOTHING = 1e-300  # relative to the mode
NEGLIGIBLE = 1e-20  # relative to the tail


def hypergeometric_tails(
    counts: ArrayLike, rows: float, hits: float, sizes: ArrayLike
) -> tuple[Floats, Floats]:
    """Probabilities of at most and of at least these hits in a group, given all hits and rows.

    >>> at_most, at_least = hypergeometric_tails([0, 2], rows=4, hits=2, sizes=2)
    >>> at_most * 6, at_least * 6
    (array([1., 6.]), array([6., 1.]))
    """
    numbers, groups = np.broadcast_arrays(np.atleast_1d(counts), np.atleast_1d(sizes))
    parts = [
        _tails(
            numbers[start : start + GROUPS_AT_ONCE].astype(np.float64),
            rows,
            hits,
            groups[start : start + GROUPS_AT_ONCE].astype(np.float64),
        )
        for start in range(0, len(numbers), GROUPS_AT_ONCE)
    ]
    at_most, at_least = zip(*parts, strict=True)
    return np.concatenate(at_most), np.concatenate(at_least)


def _tails(counts: Floats, rows: float, hits: float, sizes: Floats) -> tuple[Floats, Floats]:
    likely = np.floor((hits + 1) * (sizes + 1) / (rows + 2))
    likely = np.clip(likely, np.maximum(0, hits + sizes - rows), np.minimum(hits, sizes))
    above, above_at_most, above_at_least = _walk(likely, counts, rows, hits, sizes)
    # Fewer hits in a group are more hits among the other rows.
    below, below_at_least, below_at_most = _walk(
        sizes - likely, sizes - counts, rows, rows - hits, sizes
    )
    total = 1 + above + below
    at_most = (likely <= counts) + above_at_most + below_at_most
    at_least = (likely >= counts) + above_at_least + below_at_least
    return at_most / total, at_least / total


def _walk(
    start: Floats, counts: Floats, rows: float, hits: float, sizes: Floats
) -> tuple[Floats, Floats, Floats]:
    """Relative probabilities of the counts above `start`: all, at most and at least `counts`."""
    weight, position = np.ones(len(start)), start.copy()
    total, at_most, at_least = np.zeros((3, len(start)))
    active, width = np.arange(len(start)), STEPS
    while len(active):
        count = position[active, None] + np.arange(width)
        size, limit = sizes[active, None], counts[active, None]
        ratio = (hits - count) * (size - count)  # 0 at the largest count, where the walk ends
        ratio /= (count + 1) * (rows - hits - size + count + 1)
        weights = weight[active, None] * np.cumprod(ratio, axis=1)
        count += 1
        total[active] += weights.sum(axis=1)
        at_most[active] += np.where(count <= limit, weights, 0.0).sum(axis=1)
        at_least[active] += np.where(count >= limit, weights, 0.0).sum(axis=1)
        weight[active] = last = weights[:, -1]
        position[active] += width
        needed = (position[active] < counts[active]) | (last > NEGLIGIBLE * at_least[active])
        active = active[(last > NOTHING) & needed]
        width = max(STEPS, min(2 * width, MOST_TERMS // max(len(active), 1)))
    return total, at_most, at_least
