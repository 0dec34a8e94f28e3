"""Bins of a continuous attribute, as labels that sort and print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, canonical
from evenhand._columns.encoding import numbers
from evenhand._errors import InputError


class Bin(NamedTuple):
    """A bin of a continuous attribute; only the lowest bin contains its own left end.

    Parameters
    ----------
    low, high : float
        Where it begins and ends.
    lowest : bool, default False
        Whether it contains its left end.

    Examples
    --------
    >>> print(Bin(28.0, 37.0), Bin(17.0, 28.0, lowest=True))
    (28, 37] [17, 28]

    """

    low: float
    high: float
    lowest: bool = False

    def __str__(self) -> str:
        return f"{'[' if self.lowest else '('}{self.low:g}, {self.high:g}]"


def cut(values: Any, bins: int | Sequence[float], name: str = "values") -> Column:
    """Put numbers into quantile bins, or between given edges; NaN stays missing.

    >>> [str(label) for label in cut([17, 25, 40, 90], 2).labels]
    ['[17, 32.5]', '(32.5, 90]']
    """
    column = numbers(values, name)
    edges = _edges(column, bins, name)
    codes = np.maximum(np.searchsorted(edges, column, side="left"), 1) - 1
    codes[np.isnan(column)] = len(edges) - 1
    lows, highs = edges[:-1].tolist(), edges[1:].tolist()
    spans = [Bin(low, high, low == lows[0]) for low, high in zip(lows, highs, strict=True)]
    seen, inverse = np.unique(codes, return_inverse=True)
    return canonical(inverse, [[*spans, None][i] for i in seen])


def _edges(
    column: NDArray[np.float64], bins: int | Sequence[float], name: str
) -> NDArray[np.float64]:
    if isinstance(bins, int):
        return np.unique(np.nanquantile(column, np.linspace(0, 1, bins + 1)))
    edges = np.asarray(bins, dtype=np.float64)
    if len(edges) < 2 or (np.diff(edges) <= 0).any():
        raise InputError(f"The bin edges of {name} must increase; they are {list(bins)}.")
    outside = column[(column < edges[0]) | (column > edges[-1])]
    if len(outside):
        raise InputError(
            f"{name} has {len(outside)} values outside its bins, such as {outside[0]:g}; "
            f"the edges run from {edges[0]:g} to {edges[-1]:g}."
        )
    return edges
