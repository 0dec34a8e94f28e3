"""From a column of any kind and library to codes and labels, or to numbers."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.column import Column, Label, canonical
from evenhand._columns.factorize import (
    ROWS_AT_A_TIME,
    Codes,
    chunks,
    combine,
    factorize,
    factorize_few,
    first_rows,
    recode,
    smallest_unsigned,
)
from evenhand._errors import InputError, InputTypeError


def encode_series(series: Any, name: str) -> Column:
    """Encode a narwhals series; text and categories by the engine, numbers by NumPy."""
    import narwhals as nw

    engine, native = series.implementation, series.to_native()
    if engine.is_pandas() and native.dtype == object:
        return encode(native.to_numpy(), name)
    if series.dtype in (nw.String, nw.Categorical, nw.Enum):
        if engine.is_pandas():
            return _encode_pandas(native)
        if engine.is_polars():
            return _encode_polars(native)
        if engine.is_pyarrow():
            return _encode_arrow(native)
        return encode(series.to_list(), name)
    if series.null_count():
        return encode(series.to_list(), name)
    return encode(series.to_numpy(), name)


def _encode_pandas(native: Any) -> Column:
    if hasattr(native, "cat"):
        codes = native.cat.codes.to_numpy()
        labels = [*native.cat.categories, None]
        return canonical(*compressed(np.where(codes < 0, len(labels) - 1, codes), labels))
    if hasattr(native.array, "__arrow_array__"):
        import pyarrow as pa

        arrow = native.array.__arrow_array__()
        whole = arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])
        return _encode_arrow(whole)
    codes, labels = native.factorize(use_na_sentinel=False)
    return canonical(codes, labels)


def _encode_polars(native: Any) -> Column:
    import polars as pl

    physical = native.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1)
    column = encode(physical.to_numpy())
    first = first_rows(column.codes, len(column.labels))
    return canonical(column.codes, native.gather(first).to_list())


def _encode_arrow(native: Any) -> Column:
    """In chunks, so that what Arrow makes of one is gone before the next."""
    import pyarrow as pa

    if pa.types.is_dictionary(native.type):
        native = native.cast(native.type.value_type)
    codes: NDArray[Any] = np.empty(len(native), np.uint16)
    known: dict[str | None, int] = {}
    for rows in chunks(len(native)):
        part = native.slice(rows.start, rows.stop - rows.start).combine_chunks()
        coded = part.dictionary_encode("encode")
        labels = coded.dictionary.to_pylist()
        place = np.array([known.setdefault(label, len(known)) for label in labels])
        if len(known) > np.iinfo(codes.dtype).max:
            codes = codes.astype(np.uint32)
        codes[rows] = place.astype(codes.dtype).take(coded.indices.to_numpy())
    return canonical(codes, known)


Objects = NDArray[np.object_]
Coded = tuple[NDArray[Any], Iterable[Any]]


def encode_objects(values: Objects, name: str) -> Column:
    """Encode any objects that can be hashed."""
    try:
        return canonical(*_coded(values))
    except TypeError:
        culprit = next(value for value in values if not _can_be_hashed(value))
        raise InputTypeError(
            f"{name} holds {culprit!r}, which cannot name a class or group."
        ) from None


def _coded(values: Objects) -> Coded:
    """By address where many rows share few objects, as they do when read from a file."""
    shared = factorize_few(_addresses(values))
    if shared is not None:
        codes, known = shared
        return codes, [values[i] for i in first_rows(codes, len(known))]
    pandas = sys.modules.get("pandas")
    return _by_hash(values) if pandas is None else _by_pandas(pandas, values)


def _addresses(values: Objects) -> NDArray[np.uint64]:
    """The addresses of the objects, read in place: equal addresses are equal objects."""
    word = np.dtype(np.uintp).str

    class View:
        objects = np.ascontiguousarray(values)
        __array_interface__ = objects.__array_interface__ | {"typestr": word, "descr": [("", word)]}

    return np.asarray(View()).astype(np.uint64, copy=False)


def _by_hash(values: Objects) -> Coded:
    index: defaultdict[Any, int] = defaultdict(count().__next__)
    return np.fromiter(map(index.__getitem__, values), np.uint32, count=len(values)), index


def _by_pandas(pandas: Any, values: Objects) -> Coded:
    """The same, twice as fast, where pandas is there anyway."""
    codes, labels = pandas.factorize(values)
    missing = codes < 0
    if missing.any():
        codes[missing] = len(labels)
        return codes, [*labels, None]
    return codes, labels


def _can_be_hashed(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


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
        raise InputTypeError(f"{name} must be numbers; the first is {values[0]!r}.") from None
    if column.ndim != 1:
        raise InputError(f"{name} must be one column; its shape is {column.shape}.")
    return column


def _chunked(values: Any) -> Any:
    """An Arrow array as the chunked array that narwhals knows."""
    arrow = sys.modules.get("pyarrow")
    return arrow.chunked_array([values]) if arrow and isinstance(values, arrow.Array) else values


def _encode_array(values: NDArray[Any], name: str) -> Column:
    if values.ndim != 1:
        raise InputError(f"{name} must be one column; its shape is {values.shape}.")
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
        raise InputTypeError(
            f"{name} has dtype {values.dtype}, which cannot name classes or groups."
        )
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
