"""Rows by class and group: how much weight each cell has, and which have none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._groups import show

Codes = NDArray[np.intp]


def cell_masses(
    y: Codes, group: Codes, classes: int, groups: int, weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weight of every (class, group); without weights, its number of rows.

    >>> cell_masses(np.array([1, 1, 0]), np.array([0, 0, 1]), 2, 2)
    array([[0., 1.],
           [2., 0.]])
    """
    cell = y * groups + group
    mass = np.bincount(cell, weight, classes * groups).reshape(classes, groups)
    return np.asarray(mass, dtype=np.float64)


def empty_cells(
    mass: NDArray[np.float64], classes: Iterable[Any], groups: Iterable[Any], criterion: str = ""
) -> tuple[str, ...]:
    """A sentence for each (class, group) without rows: nothing can be required there.

    Statistical parity requires nothing of classes, and has none of these.

    >>> empty_cells(np.array([[3.0, 0.0]]), ["yes"], ["F", "M"])
    ('Group M has no rows of class yes, so nothing is required of it there.',)
    """
    if criterion == "statistical_parity":
        return ()
    names = [show(label) for label in classes], [show(label) for label in groups]
    return tuple(
        f"Group {names[1][a]} has no rows of class {names[0][y]}, so nothing is required of it "
        "there."
        for y, a in np.argwhere(mass == 0)
    )
