"""Random numbers that are equal on every platform and with every version of NumPy.

NumPy promises a fixed stream of raw bits for a bit generator, not for the distributions on top of
it, so the distributions are made here.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray


def bits(n: int, *seed: int) -> NDArray[np.uint64]:
    """Draw n random 64-bit words.

    >>> bits(2, 0)
    array([11749869230777074271,  4976686463289251617], dtype=uint64)
    """
    return np.random.PCG64(np.random.SeedSequence(seed)).random_raw(n)


def uniform(n: int, *seed: int) -> NDArray[np.float64]:
    """Draw n numbers strictly between 0 and 1."""
    return ((bits(n, *seed) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def normal(n: int, *seed: int) -> NDArray[np.float64]:
    """Draw n standard normal numbers."""
    from scipy.special import ndtri

    return cast(NDArray[np.float64], ndtri(uniform(n, *seed)))


def order(n: int, *seed: int) -> NDArray[np.intp]:
    """Shuffle the row numbers 0 … n − 1.

    >>> order(5, 0)
    array([3, 2, 1, 0, 4])
    """
    return np.argsort(bits(n, *seed), kind="stable")


def some(n: int, size: int, *seed: int) -> NDArray[Any]:
    """Choose `size` of n row numbers, in ascending order."""
    return np.sort(order(n, *seed)[:size])
