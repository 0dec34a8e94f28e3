"""Encoding of columns of any type and library as codes and labels, or as numbers.

Bad input is refused here, with an error that states the values and the way out.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from numbers import Number
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import (
    DENSE,
    ROWS_AT_A_TIME,
    Column,
    Words,
    canonical,
    chunks,
    combine,
    factorize_few,
    factorize_many,
    first_rows,
    levels,
    recode,
    renumber,
    smallest_unsigned,
)
from evenhand._errors import InputError, InputTypeError

Objects = NDArray[np.object_]
Coded = tuple[NDArray[Any], Iterable[Any]]

NUMBERS = "biufO"  # NumPy kinds that hold numbers, or may hold them as objects
TEXT = "UST"
HEAVIEST = 1e100  # weights are squared, and squares are added up
HAS_ADDRESSES = sys.implementation.name == "cpython"  # other interpreters return proxies


def encode(values: Any, name: str = "values") -> Column:
    """Encode a list, array, or pandas, Polars or Arrow series of any dtype.

    >>> encode(["b", "a", None, "b"])
    Column(codes=array([1, 0, 2, 1], dtype=uint8), labels=('a', 'b', None))
    """
    if isinstance(values, Column):
        return values
    if isinstance(values, list | tuple | range):
        values = np.fromiter(values, dtype=object, count=len(values))
    elif not isinstance(values, np.ndarray):
        import narwhals as nw

        series = nw.from_native(_chunked(values), series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            return _encode_series(series, name)
        values = np.asarray(values)
    if values.ndim == 0:
        check_column(values.item(), name)
    if values.ndim != 1:
        raise InputError(not_one_column(name, values.shape))
    if not len(values):
        return Column(np.zeros(0, np.uint8), ())
    if np.ma.is_masked(values):
        values = np.where(np.ma.getmaskarray(values), None, values.data.astype(object))
    elif not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    kind = values.dtype.kind
    if kind in "OT":  # objects, and NumPy's text of variable width
        return _encode_objects(values.astype(object, copy=False), name)
    if kind in "biu":
        return _encode_integers(values)
    if kind in "US" and values.dtype.str[1:] not in ("U1", "U2", "U3"):
        return _encode_long_text(values)
    if kind == "f":
        values = values.astype(np.float64) + 0.0  # turns -0.0 into 0.0
    words = _words(values, name)
    codes, distinct = factorize_few(words) or factorize_many(words)
    labels = values[first_rows(codes, len(distinct))]
    return canonical(codes, _times(labels) if kind in "mM" else labels)


def _times(labels: NDArray[Any]) -> Iterable[Any]:
    """Times that Python's types can hold, where NumPy's are too precise; else text.

    >>> _times(np.array(["2024-05-01"], "datetime64[ns]"))
    [datetime.datetime(2024, 5, 1, 0, 0)]
    """
    defined = labels[~np.isnat(labels)]
    if not any(isinstance(time, int) for time in defined.tolist()):
        return labels
    shorter = labels.astype(f"{labels.dtype.kind}8[us]")
    if (shorter == labels)[~np.isnat(labels)].all():
        times: list[Any] = shorter.tolist()
        if not any(isinstance(time, int) for time in times):
            return times
    return [None if np.isnat(label) else str(label) for label in labels]


def numbers(values: Any, name: str = "values") -> NDArray[np.float64]:
    """Read a column of numbers; what is missing becomes NaN.

    >>> numbers([1, 2.5, None])
    array([1. , 2.5, nan])
    """
    column = floats(_array_of(values), name)
    if column.ndim != 1:
        raise InputError(not_one_column(name, column.shape))
    return column


def whole_numbers(values: Any) -> NDArray[np.integer[Any]] | None:
    """A column of integers, without a copy; None for any other column.

    >>> whole_numbers(np.array([2, 1])), whole_numbers(np.array([1.5]))
    (array([2, 1]), None)
    """
    array = _array_of(values)
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        return None
    return array if array.dtype.kind in "iu" and array.ndim == 1 else None


def _array_of(values: Any) -> Any:
    """The array of a series of any library; any other value unchanged."""
    if isinstance(values, np.ndarray | list | tuple | range):
        return values
    import narwhals as nw

    series = nw.from_native(_decoded(values), series_only=True, pass_through=True)
    return series.to_numpy() if isinstance(series, nw.Series) else values


def floats(values: Any, name: str = "values") -> NDArray[np.float64]:
    """An array of numbers, with NaN for masked entries; text is refused, even if it is numeric."""
    array = values
    try:
        if not isinstance(values, np.ndarray):
            array = np.asarray(values)
        kind = array.dtype.kind
        if kind in TEXT or (kind == "O" and any(isinstance(v, str | bytes) for v in array.flat)):
            raise TypeError
        if kind not in NUMBERS:
            raise InputTypeError(f"{name} must be numbers; its type is {array.dtype}.")
        if isinstance(array, np.ma.MaskedArray):
            return np.asarray(np.ma.filled(array.astype(np.float64), np.nan))
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as failure:
        if isinstance(failure, InputTypeError):
            raise
        flat = np.asarray(values, dtype=object).ravel()
        odd = next((v for v in flat if not _is_number(v)), None)
        way_out = " Convert its text to numbers first." if _spells_number(odd) else ""
        raise InputTypeError(f"{name} must be numbers; it holds {odd!r}.{way_out}") from None


def _is_number(value: Any) -> bool:
    """Whether an object is a number or missing; numeric text is not."""
    try:
        return not isinstance(value, str | bytes) and (value is None or float(value) is not None)
    except (TypeError, ValueError, OverflowError):
        return False


def _spells_number(value: Any) -> bool:
    try:
        return isinstance(value, str | bytes) and float(value) is not None
    except ValueError:
        return False


def not_one_column(name: str, shape: tuple[int, ...]) -> str:
    """The error message for an array that is not a column."""
    way_out = f" Pass {name}.ravel()." if len(shape) == 2 and shape[1] == 1 else ""
    return f"{name} must be one column; its shape is {shape}.{way_out}"


def classes(values: Any, name: str) -> Column:
    """Encode a column of class labels."""
    return check_classes(encode(values, name), name)


def check_classes(column: Column, name: str) -> Column:
    """Refuse missing labels, and scores in their place."""
    if column.missing:
        raise InputError(f"{name} has {column.missing} missing labels; drop or fill those rows.")
    for label in column.labels:
        if isinstance(label, tuple):
            raise InputTypeError(f"{name} holds {label!r}; a class is one value. Make it text.")
        if isinstance(label, float) and not label.is_integer():
            raise InputError(
                f"{name} holds {label!r}, which looks like a score, not a label. Pass labels here "
                "and scores as y_score=, or ask a regression criterion such as 'strong_parity'."
            )
    return column


def finite(values: Any, name: str) -> NDArray[np.float64]:
    """Read a column of numbers; refuse NaN and infinities."""
    column = numbers(values, name)
    bad = np.flatnonzero(~np.isfinite(column))
    if len(bad):
        values = "1 value that is" if len(bad) == 1 else f"{len(bad):,} values that are"
        raise InputError(
            f"{name} has {values} not finite, the first {column[bad[0]]} in row {bad[0]}; drop or "
            "fill those rows."
        )
    return column


def weights(sample_weight: Any) -> NDArray[np.float64] | None:
    """Read sample weights; refuse negative and non-finite ones."""
    if sample_weight is None:
        return None
    if hasattr(sample_weight, "replicates"):
        raise InputError("Weights of a survey with replicates are not read here; pass its weights.")
    column = finite(sample_weight, "sample_weight")
    if len(column):
        if column.min() < 0:
            raise InputError(f"sample_weight has negative values, such as {column.min():g}.")
        check_weights("sample_weight", column.min(where=column > 0, initial=np.inf), column.max())
    return column


def check_weights(name: str, smallest: float, largest: float) -> None:
    """Refuse weights that are all 0, or too large or small to be squared.

    `smallest` is the smallest positive weight.
    """
    if not largest > 0:
        raise InputError(f"All rows have weight 0: {name} is 0 everywhere.")
    for extreme in (smallest, largest):
        if not 1 / HEAVIEST <= extreme <= HEAVIEST:
            raise InputError(
                f"{name} holds {extreme:g}, beyond what can be squared and added up. "
                f"Multiply all weights by {reciprocal(extreme):.0e}, or set weights that do not "
                "count to 0."
            )


def reciprocal(value: float) -> float:
    """One over a positive number, capped at 1e308."""
    return min(1 / float(value), 1e308)


def check_column(values: Any, name: str) -> None:
    """Refuse a single value, such as a column's name, in place of the column.

    >>> check_column("black", "sensitive_features")
    Traceback (most recent call last):
    evenhand.InputTypeError: sensitive_features is 'black', one value and not a column. Pass the
    column itself, such as data['black']; or name columns of a table that is passed as data=.
    """
    if isinstance(values, str | bytes | Number) or getattr(values, "ndim", None) == 0:
        raise InputTypeError(
            f"{name} is {values!r}, one value and not a column. Pass the column itself, such as "
            f"data[{values!r}]; or name columns of a table that is passed as data=."
        )


def check_order(**columns: Any) -> None:
    """Refuse pandas objects with the same index labels in different orders.

    Rows are matched by position. If the labels are the same but their order differs, one of the
    columns was sorted or shuffled, and rows would silently be mismatched.
    """
    first: tuple[str, Any] | None = None
    for role, values in columns.items():
        for name, index in indexes(role, values):
            if first is None:
                first = name, index
            elif index is not first[1] and _reordered(first[1], index):
                raise InputError(
                    f"{first[0]} and {name} have the same index in another order, and rows are "
                    f"read by their place. Put them in one order, such as {name}.reindex("
                    f"{first[0]}.index); or pass {name}.to_numpy() if the rows already match as "
                    "they stand."
                )


def indexes(name: str, values: Any) -> Iterator[tuple[str, Any]]:
    """The index of a pandas object, or of each column in a mapping or list."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    if isinstance(getattr(values, "index", None), pandas.Index):  # the weights of a survey too
        yield name, values.index
    elif isinstance(values, Mapping):
        for key, column in values.items():
            yield from indexes(f"{name}[{key!r}]", column)
    elif isinstance(values, list | tuple) and values and isinstance(values[0], pandas.Series):
        for place, column in enumerate(values):
            yield from indexes(f"{name}[{place}]", column)


def _reordered(first: Any, second: Any) -> bool:
    """Whether two indexes have the same labels, each once, in another order."""
    if len(first) != len(second) or first.equals(second):
        return False
    return bool(first.is_unique and second.is_unique and first.isin(second).all())


def check_lengths(**columns: Any) -> None:
    """Refuse columns of different lengths, and empty ones."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        raise InputError(f"Columns differ in length: {lengths}.")
    if not max(lengths.values()):
        raise InputError("There are no rows to count.")


def _encode_integers(values: NDArray[Any]) -> Column:
    """Encode integers; those in a narrow range are their own codes, without a lookup."""
    if values.dtype.kind == "b":
        codes, observed = renumber(values.view(np.uint8), 2)
        return Column(codes, tuple(bool(code) for code in observed))
    low, high = int(values.min()), int(values.max())
    if high - low >= max(ROWS_AT_A_TIME, min(len(values), DENSE)):
        words = values.astype(np.int64).view(np.uint64)
        codes, distinct = factorize_few(words) or factorize_many(words)
        numbers = distinct.view(np.int64).astype(values.dtype)
        order = np.argsort(numbers)
        rank = np.empty(len(order), smallest_unsigned(len(order)))
        rank[order] = np.arange(len(order))
        return Column(recode(rank, codes), tuple(numbers[order].tolist()))
    codes = np.empty(len(values), smallest_unsigned(high - low + 1))
    for rows in chunks(len(values)):
        np.subtract(values[rows], low, out=codes[rows], casting="unsafe")
    codes, observed = renumber(codes, high - low + 1)
    if len(observed) == high - low + 1:
        return Column(codes, tuple(range(low, high + 1)))
    return Column(codes, tuple(low + code for code in observed.tolist()))


def _words(values: NDArray[Any], name: str) -> Words:
    """Each value as 64 bits: equal words are equal values."""
    if values.dtype.kind == "U":
        return _packed(values)
    if values.dtype.kind not in "fMm":
        raise InputTypeError(
            f"{name} has dtype {values.dtype}, which cannot name classes or groups."
        )
    return np.ascontiguousarray(values).view(np.uint64)


def _packed(values: NDArray[np.str_]) -> Words:
    """Up to three characters in one word: a code point has 21 bits."""
    points = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
    packed = points[:, 0].astype(np.uint64)
    for place in range(1, points.shape[1]):
        packed |= points[:, place].astype(np.uint64) << np.uint64(21 * place)
    return packed


def _encode_long_text(values: NDArray[Any]) -> Column:
    """Encode fixed-width text as combinations of columns of eight bytes."""
    step = 8 // np.dtype(f"{values.dtype.kind}1").itemsize
    width = -(-max(values.dtype.itemsize, 1) // 8) * step
    padded = np.ascontiguousarray(values.astype(f"{values.dtype.kind}{width}", copy=False))
    words = padded.view(np.uint64).reshape(len(values), -1)
    parts = []
    for place in range(words.shape[1]):
        part = np.ascontiguousarray(words[:, place])
        if (part != part[0]).any():
            codes, distinct = factorize_few(part) or factorize_many(part)
            parts.append((codes, len(distinct)))
    codes, first = combine(parts or [(np.zeros(len(values), np.uint8), 1)])
    return canonical(codes, values[first].tolist())


def _encode_objects(values: Objects, name: str) -> Column:
    """Encode any objects that can be hashed."""
    try:
        return canonical(*_coded(values))
    except (TypeError, ArithmeticError):  # the latter of a signaling NaN
        culprit = next(value for value in values if not _can_be_hashed(value))
        raise InputTypeError(
            f"{name} holds {culprit!r}, which cannot name a class or group."
        ) from None


def _coded(values: Objects) -> Coded:
    """Codes by address where many rows share few objects, as after reading a file.

    It works on a copy, because another thread may replace the objects in the meantime.
    """
    values = values.copy()
    shared = factorize_few(_addresses(values)) if HAS_ADDRESSES else None
    if shared is not None:
        codes, distinct = shared
        return codes, values[first_rows(codes, len(distinct))]
    pandas = sys.modules.get("pandas")
    return _by_hash(values) if pandas is None else _by_pandas(pandas, values)


def _addresses(values: Objects) -> Words:
    """The addresses of the objects, read in place: equal addresses are equal objects.

    A read-only view through NumPy's array interface, whose base keeps the objects alive.
    """
    objects = np.ascontiguousarray(values)
    interface, word = objects.__array_interface__, np.dtype(np.uintp).str
    view = {"typestr": word, "descr": [("", word)], "data": (interface["data"][0], True)}
    holder = SimpleNamespace(__array_interface__=interface | view, objects=objects)
    return np.asarray(holder).astype(np.uint64, copy=False)


def _by_hash(values: Objects) -> Coded:
    index: defaultdict[Any, int] = defaultdict(count().__next__)
    return np.fromiter(map(index.__getitem__, values), np.uint32, count=len(values)), index


def _by_pandas(pandas: Any, values: Objects) -> Coded:
    """The same as `_by_hash`, twice as fast, if pandas is already imported."""
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


def _encode_series(series: Any, name: str) -> Column:
    """Encode a narwhals series; text and categories by the engine, numbers by NumPy."""
    import narwhals as nw

    engine, native = series.implementation, series.to_native()
    if engine.is_pandas() and native.dtype == object:
        return encode(native.to_numpy(), name)
    if series.dtype in (nw.String, nw.Categorical, nw.Enum):
        if engine.is_pandas():
            return _encode_pandas(native, name)
        if engine.is_polars():
            return _encode_polars(native)
        if engine.is_pyarrow():
            return _encode_arrow(native, name)
        return encode(series.to_list(), name)
    if series.null_count():
        return encode(series.to_list(), name)
    if getattr(series.dtype, "time_zone", None):  # which an array of NumPy's would lose
        column = encode(series.to_numpy(), name)
        first = first_rows(column.codes, len(column.labels))
        return canonical(column.codes, series[first.tolist()].to_list())
    return encode(series.to_numpy(), name)


def _encode_pandas(native: Any, name: str) -> Column:
    if hasattr(native, "cat"):
        categories = native.cat.categories
        categories = levels(categories) if native.cat.ordered else categories
        codes, labels = native.cat.codes.to_numpy(), [*categories, None]
        codes, observed = renumber(np.where(codes < 0, len(labels) - 1, codes), len(labels))
        return canonical(codes, [labels[code] for code in observed])
    if hasattr(native.array, "__arrow_array__"):
        import pyarrow as pa

        arrow = native.array.__arrow_array__()
        chunked = arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])
        return _encode_arrow(chunked, name)
    codes, labels = native.factorize(use_na_sentinel=False)
    return canonical(codes, labels)


def _encode_polars(native: Any) -> Column:
    import polars as pl

    physical = native.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1)
    column = encode(physical.to_numpy())
    first = first_rows(column.codes, len(column.labels))
    labels = native.gather(first).to_list()
    if isinstance(native.dtype, pl.Enum):
        place = {str(level): level for level in levels(native.dtype.categories)}
        labels = [place.get(label, label) for label in labels]
    return canonical(column.codes, labels)


def _encode_arrow(native: Any, name: str) -> Column:
    """Encode an Arrow array in chunks, so that the memory for one is freed before the next."""
    import pyarrow as pa

    if pa.types.is_dictionary(native.type):
        native = native.cast(native.type.value_type)
        if not _is_text(native.type):
            return encode(native, name)  # True is not a "true", nor 1 a "1"
    if native.type not in (pa.string(), pa.large_string()):
        native = native.cast(pa.large_string())  # a dictionary of views takes null for ''
    codes: NDArray[Any] = np.empty(len(native), np.uint16)
    codes_by_label: dict[str | None, int] = {}
    for rows in chunks(len(native)):
        part = native.slice(rows.start, rows.stop - rows.start).combine_chunks()
        coded = part.dictionary_encode("encode")
        labels = coded.dictionary.to_pylist()
        place = np.array(
            [codes_by_label.setdefault(label, len(codes_by_label)) for label in labels]
        )
        if len(codes_by_label) > np.iinfo(codes.dtype).max:
            codes = codes.astype(np.uint32)
        codes[rows] = place.astype(codes.dtype).take(coded.indices.to_numpy())
    return canonical(codes, codes_by_label)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    is_view = kind == pa.string_view()
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_view)


def _decoded(values: Any) -> Any:
    """Values with an Arrow dictionary decoded.

    Its own conversion to NumPy turns missing values into the last value of the dictionary.
    """
    values, arrow = _chunked(values), sys.modules.get("pyarrow")
    if arrow and isinstance(values, arrow.ChunkedArray) and arrow.types.is_dictionary(values.type):
        return values.cast(values.type.value_type)
    return values


def _chunked(values: Any) -> Any:
    """An Arrow array as a chunked one, a pandas array as a series, which narwhals supports."""
    arrow, pandas = sys.modules.get("pyarrow"), sys.modules.get("pandas")
    if arrow and isinstance(values, arrow.Array):
        return arrow.chunked_array([values])
    if pandas and isinstance(values, pandas.api.extensions.ExtensionArray):
        return pandas.Series(values)
    return values
