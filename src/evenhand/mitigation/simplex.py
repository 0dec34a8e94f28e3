"""Points of a simplex, one corner for each group: well spread, and alike for all groups."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHELLS = (1 / 2, 1 / 4, 3 / 4, 1 / 8, 3 / 8, 5 / 8, 7 / 8)


def lattice(corners: int, steps: int) -> Floats:
    """All points whose coordinates are multiples of 1/steps.

    >>> lattice(2, 2)
    array([[0. , 1. ],
           [0.5, 0.5],
           [1. , 0. ]])
    """
    bars = np.array(list(combinations(range(steps + corners - 1), corners - 1)), dtype=np.intp)
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, steps + corners - 1)))
    return np.asarray((np.diff(ends, axis=1) - 1) / steps)


def spread(centre: Floats, size: int) -> Floats:
    """The centre and about `size` points around it: the finest lattice that fits, then shells.

    A shell has one point for each corner, part of the way from the centre. Where not even the
    corners fit, it is one shell, half-way, so that every corner is approached.

    >>> spread(np.array([0.25, 0.75]), 3)
    array([[0.25, 0.75],
           [0.  , 1.  ],
           [0.5 , 0.5 ],
           [1.  , 0.  ]])
    """
    corners, steps = len(centre), 0
    while steps < size and comb(steps + corners, corners - 1) <= size:
        steps += 1
    points = lattice(corners, steps) if steps else np.empty((0, corners))
    fitting = max((size - len(points)) // corners, 0 if steps else 1)
    shells = [centre + part * (np.eye(corners) - centre) for part in SHELLS[:fitting]]
    return np.vstack([centre, points, *shells])
