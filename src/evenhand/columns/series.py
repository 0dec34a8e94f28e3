"""Codes and labels of a pandas, Polars or Arrow series, by the library's own dictionary."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from evenhand.columns.column import Column, canonical
from evenhand.columns.encoding import compressed, encode
from evenhand.columns.words import chunks, first_rows


def encode_series(series: nw.Series[Any], name: str) -> Column:
    """Encode a narwhals series; text and categories by the engine, numbers by NumPy."""
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
