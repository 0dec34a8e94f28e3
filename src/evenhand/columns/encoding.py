"""From a column of any kind and library to codes and labels, or to numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.column import Column, Label, canonical
from evenhand.columns.objects import encode_objects
from evenhand.columns.words import (
    ROWS_AT_A_TIME,
    Codes,
    chunks,
    combine,
    factorize,
    first_rows,
    recode,
    smallest_unsigned,
)


def encode(values: Any, name: str = "values") -> Column:
    """Encode a list, array, or pandas, Polars or Arrow series of any dtype.

    >>> encode(["b", "a", None, "b"])
    Column(codes=array([1, 0, 2, 1], dtype=uint8), labels=('a', 'b', None))
    """
    if isinstance(values, Column):
        return values
    if isinstance(values, np.ndarray):
        return _encode_array(values, name)
    if isinstance(values, list | tuple | range):
        return encode_objects(np.fromiter(values, dtype=object, count=len(values)), name)
    import narwhals as nw

    series = nw.from_native(_chunked(values), series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        from evenhand.columns.series import encode_series

        return encode_series(series, name)
    return _encode_array(np.asarray(values), name)


def numbers(values: Any, name: str = "values") -> NDArray[np.float64]:
    """Read a column of numbers; what is missing becomes NaN.

    >>> numbers([1, 2.5, None])
    array([1. , 2.5, nan])
    """
    if not isinstance(values, np.ndarray | list | tuple | range):
        import narwhals as nw

        series = nw.from_native(_chunked(values), series_only=True, pass_through=True)
        values = series.to_numpy() if isinstance(series, nw.Series) else values
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers; the first is {values[0]!r}.") from None
    if column.ndim != 1:
        raise ValueError(f"{name} must be one column; its shape is {column.shape}.")
    return column


def _chunked(values: Any) -> Any:
    """An Arrow array as the chunked array that narwhals knows."""
    arrow = sys.modules.get("pyarrow")
    return arrow.chunked_array([values]) if arrow and isinstance(values, arrow.Array) else values


def _encode_array(values: NDArray[Any], name: str) -> Column:
    if values.ndim != 1:
        raise ValueError(f"{name} must be one column; its shape is {values.shape}.")
    kind = values.dtype.kind
    if not len(values):
        return Column(np.zeros(0, np.uint8), ())
    if kind == "b":
        return Column(*compressed(values.view(np.uint8), (False, True)))
    if kind in "iu":
        return _encode_integers(values)
    if kind in "US":
        return _encode_text(values)
    if kind == "O":
        return encode_objects(values, name)
    if kind == "f":
        values = np.where(values == 0, 0.0, values.astype(np.float64, copy=False))  # -0.0 is 0.0
    elif kind not in "Mm":
        raise TypeError(f"{name} has dtype {values.dtype}, which cannot name classes or groups.")
    codes, known = factorize(np.ascontiguousarray(values).view(np.uint64))
    return canonical(codes, known.view(values.dtype))


def compressed(codes: NDArray[Any], labels: Sequence[Label]) -> tuple[Codes, tuple[Label, ...]]:
    """Leave out the labels that do not occur."""
    seen = first_rows(codes, len(labels)) >= 0
    if seen.all():
        return codes, tuple(labels)
    rank = (np.cumsum(seen) - 1).astype(smallest_unsigned(int(seen.sum())))
    return recode(rank, codes), tuple(labels[i] for i in np.flatnonzero(seen).tolist())


def _encode_integers(values: NDArray[np.integer[Any]]) -> Column:
    low, high = int(values.min()), int(values.max())
    if high - low >= ROWS_AT_A_TIME:
        codes, known = factorize(values.astype(np.int64).view(np.uint64))
        return canonical(codes, known.view(np.int64).astype(values.dtype))
    codes = np.empty(len(values), smallest_unsigned(high - low + 1))
    for rows in chunks(len(values)):
        np.subtract(values[rows], low, out=codes[rows], casting="unsafe")
    return Column(*compressed(codes, range(low, high + 1)))


def _encode_text(values: NDArray[Any]) -> Column:
    """Fixed-width text is an intersection of columns of eight bytes."""
    if values.dtype.kind == "U" and 0 < values.dtype.itemsize <= 12:
        codes, known = factorize(_packed(values))
        return canonical(codes, values[first_rows(codes, len(known))].tolist())
    step = 8 // np.dtype(f"{values.dtype.kind}1").itemsize
    width = -(-max(values.dtype.itemsize, 1) // 8) * step
    padded = np.ascontiguousarray(values.astype(f"{values.dtype.kind}{width}", copy=False))
    words = padded.view(np.uint64).reshape(len(values), -1)
    varying = [w for w in range(words.shape[1]) if (words[:, w] != words[0, w]).any()]
    parts = [factorize(np.ascontiguousarray(words[:, w])) for w in varying or [0]]
    codes, first = combine([(codes, len(known)) for codes, known in parts])
    return canonical(codes, values[first].tolist())


def _packed(values: NDArray[np.str_]) -> NDArray[np.uint64]:
    """Up to three characters in one word: a code point has 21 bits."""
    points = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
    packed = points[:, 0].astype(np.uint64)
    for place in range(1, points.shape[1]):
        packed |= points[:, place].astype(np.uint64) << np.uint64(21 * place)
    return packed
