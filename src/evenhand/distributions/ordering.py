"""The order of a column of numbers, exactly, faster than an argsort."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ascending(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Row numbers in ascending order of finite values, and the values in that order.

    The top bits of each value and its row number fit into one integer; sorting those moves whole
    words with vector instructions, where an argsort chases indices. Values that differ only in
    the bits that had to give way are few, and a merge of runs puts them right.

    >>> ascending(np.array([0.5, -1.0, 0.25]))
    (array([1, 2, 0]), array([-1.  ,  0.25,  0.5 ]))
    """
    keys = _sortable(values)
    row_bits = np.int64((1 << len(values).bit_length()) - 1)
    keys &= ~row_bits
    keys |= np.arange(len(values))
    keys.sort()
    keys &= row_bits
    placed = values[keys]
    if (placed[1:] < placed[:-1]).any():
        repair = np.argsort(placed, kind="stable")
        keys, placed = keys[repair], placed[repair]
    return keys, placed


def _sortable(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of the numbers: negative floats count their bits backwards."""
    bits = np.ascontiguousarray(values).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))
