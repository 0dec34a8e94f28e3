"""Codes and labels of a pandas, Polars or Arrow series, by the library's own dictionary."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from evenhand.columns.column import Column, canonical
from evenhand.columns.encoding import encode
from evenhand.columns.words import first_rows


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
    codes, labels = native.factorize(use_na_sentinel=False)
    return canonical(codes, labels)


def _encode_polars(native: Any) -> Column:
    import polars as pl

    physical = native.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1)
    column = encode(physical.to_numpy())
    first = first_rows(column.codes, len(column.labels))
    return canonical(column.codes, native.gather(first).to_list())


def _encode_arrow(native: Any) -> Column:
    import pyarrow as pa

    if pa.types.is_dictionary(native.type):
        native = native.cast(native.type.value_type)
    array = native.dictionary_encode().unify_dictionaries().combine_chunks()
    labels = array.dictionary.to_pylist()
    codes = array.indices.fill_null(len(labels)).to_numpy()
    return canonical(codes, [*labels, None] if array.null_count else labels)
