"""Exact bounds of a rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.uncertainty.model import Floats


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
