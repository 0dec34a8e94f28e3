"""Bins of numeric columns: labels that sort and print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label, canonical
from evenhand._columns.encoding import numbers
from evenhand._errors import InputError

MOST_CLASSES = 20  # more different whole numbers than this may be amounts, such as ages


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
    """Bin numbers at quantiles or at given edges; NaN stays missing.

    >>> [str(label) for label in cut([17, 25, 40, 90], 2).labels]
    ['[17, 32.5]', '(32.5, 90]']
    """
    column = numbers(values, name)
    if isinstance(bins, int):
        if bins < 1:
            raise InputError(
                f"bins={{{name!r}: {bins}}} makes no bins: name how many, such as 4, or the edges."
            )
        if np.isnan(column).all():
            raise InputError(f"{name} has no numbers to cut into {bins} bins.")
        return binned(column, quantile_edges(column, bins))
    return binned(column, _checked_edges(column, bins, name))


def quantile_edges(column: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Bin edges: the smallest value, the inner quantiles and the largest value.

    Equal quantiles are one edge, so that a value that many rows share makes fewer bins. If that is
    the smallest or the largest value it is a bin of its own: if most rows are 0, they are compared
    with the rows above 0, where pandas' `qcut` would drop the edge and merge the two.

    >>> quantile_edges(np.array([0.0, 0, 0, 7]), 2), quantile_edges(np.array([0.0, 5, 9, 9, 9]), 2)
    (array([0., 0., 7.]), array([0., 5., 9.]))
    """
    return edges_at(np.nanquantile(column, np.linspace(0, 1, bins + 1)), column)


def edges_at(quantiles: NDArray[np.float64], column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantiles of a column as distinct edges, except that the smallest may occur twice."""
    low, *inner, high = quantiles
    if low < high and inner and inner[-1] == high:
        below = column[column < high].max()
        inner = [min(edge, below) for edge in inner]
    return np.concatenate([[low], np.unique(inner), [high]])


def binned(column: NDArray[np.float64], edges: NDArray[np.float64]) -> Column:
    """The bin of each number; numbers beyond the outer edges are in the outer bins."""
    codes = np.searchsorted(edges[1:-1], column, side="left")
    spans = [Bin(low, high, i == 0) for i, (low, high) in enumerate(pairwise(edges.tolist()))]
    codes[np.isnan(column)] = len(spans)
    observed, inverse = np.unique(codes, return_inverse=True)
    return canonical(inverse, [[*spans, None][i] for i in observed])


def _checked_edges(
    column: NDArray[np.float64], bins: Sequence[float], name: str
) -> NDArray[np.float64]:
    """The caller's edges; refuse them unless they increase and contain all values."""
    edges = np.asarray(bins, dtype=np.float64)
    if len(edges) < 2 or (np.diff(edges) <= 0).any():
        raise InputError(
            f"The bin edges of {name} must increase, and be two or more, such as [18, 40, 65]; "
            f"they are {list(bins)}."
        )
    outside = column[(column < edges[0]) | (column > edges[-1])]
    if len(outside):
        raise InputError(
            f"{name} has {len(outside)} values outside its bins, such as {outside[0]:g}; "
            f"the edges run from {edges[0]:g} to {edges[-1]:g}. Begin with -inf and end with inf "
            "to have bins for all of them, or drop those rows."
        )
    return edges


def some_fraction(labels: Iterable[Label]) -> float | None:
    """The first label that is a fractional number, if there is one.

    >>> some_fraction(["a", 1, 2.0, 2.5])
    2.5
    """
    return fraction_among(np.array([label for label in labels if is_number(label)], np.float64))


def fraction_among(values: NDArray[np.float64]) -> float | None:
    """The first finite number that is not whole, if there is one."""
    odd = np.isfinite(values) & (values != np.rint(values))
    return float(values[np.argmax(odd)]) if odd.any() else None


def is_number(label: Label) -> bool:
    """Whether a label is a number; True and False are not."""
    return isinstance(label, Real | Decimal) and not isinstance(label, bool)
