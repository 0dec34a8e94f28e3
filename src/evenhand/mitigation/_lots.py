"""Random draws of a person: a keyed hash of an id, equal in any batch, order and process."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from hashlib import sha256
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from evenhand._columns.codes import is_missing
from evenhand._data.dataframes import is_frame
from evenhand._errors import InputError, InputTypeError

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Texts = Callable[[slice], Sequence[str]]

CELLS_AT_A_TIME = 1 << 18  # texts are large beside the numbers they stand for
SEPARATOR, ESCAPE = "|", "^"
LARGEST = 2.0**63
GOLDEN = (5**0.5 - 1) / 2

ONE_BY_ONE = (
    "One row was decided at random without an id: its draw follows from its values, so all who "
    "agree in them get the same answer where they are served one by one, and fitting rows did "
    "agree. Serve them in one call, or pass {ids}."
)


def lots(ids: Any, *, key: int | str, distinct: bool = False) -> Floats:
    """The random draw of each id under a key: a number from 0 up to, not including, 1.

    Every method that decides at random decides by these, so that a person gets the same answer
    whatever other rows are in the call, and anyone who has the key can check it.

    Parameters
    ----------
    ids : array-like, series or dataframe
        A row for each person: a column of ids, or several columns that together are one. Equal
        ids have equal lots.
    key : int or str
        What makes one drawing of lots another; keep it secret where people could choose their id.
    distinct : bool, default False
        Whether equal rows of this call have lots of their own, for rows that are not ids.

    Returns
    -------
    ndarray of shape (n_rows,)
        The lots, uniform over ids.

    Raises
    ------
    InputTypeError
        If the key is neither a whole number nor text.

    Notes
    -----
    The lot is the first 52 bits of SHA-256 of the text ``key:id`` in UTF-8, over 2⁵²::

        int(sha256(f"{key}:{id}".encode()).hexdigest()[:13], 16) / 16**13

    As text, a whole number is its decimal digits, whatever its type (1, 1.0 and True are "1"), and
    text is itself. What is missing is empty. Dates are in ISO 8601, without the time at midnight.
    Any other number is rounded to IEEE single precision, so that an array of float32 agrees with
    the float64 it came from, and written as the eight hexadecimal digits of its bits, the sign
    first. The cells of several columns are joined by ``|``, from left to right; a ``|`` or ``^``
    within one of them has a ``^`` before it, so that no two rows are joined to one text.

    Where lots are `distinct`, the row that n equal ones come before in the call has the lot of
    the first, moved on by n times the golden ratio, modulo 1. Each is uniform, and together they
    are spread so evenly that of many equal rows a share p falls below p, to within a row or two.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import lots
    >>> lots(["ann", "bob", "ann"], key=7).round(4)
    array([0.4025, 0.2687, 0.4025])
    >>> lots([12.0], key=7) == lots(np.array(["12"]), key="7")
    array([ True])
    >>> lots(["ann", "bob", "ann"], key=7, distinct=True).round(4)
    array([0.4025, 0.2687, 0.0205])

    """
    prefix = _key_text(key)
    rows, columns = _columns(ids)
    answers = np.empty(rows)
    step = max(CELLS_AT_A_TIME // max(len(columns), 1), 1)
    for start in range(0, rows, step):
        block = slice(start, min(start + step, rows))
        cells = [texts(block) for texts in columns]
        names = cells[0] if len(cells) == 1 else _joined(cells)
        answers[block] = _hashed(f"{prefix}:{name}" for name in names)
    return (answers + GOLDEN * _earlier(answers)) % 1 if distinct else answers


def drawn(probabilities: Floats, lots: Floats) -> Codes:
    """The class that a draw selects, where probabilities are laid end to end from 0 to 1.

    >>> drawn(np.array([[0.3, 0.7], [0.3, 0.7]]), np.array([0.29, 0.3]))
    array([0, 1])
    """
    if len(lots) != len(probabilities):
        raise InputError(f"There are {len(probabilities)} rows and ids of {len(lots)}.")
    ends = np.cumsum(probabilities, axis=1)
    places = lots * ends[:, -1]
    return np.asarray((places[:, None] >= ends[:, :-1]).sum(axis=1), dtype=np.intp)


def tied(values: Floats) -> NDArray[np.bool_]:
    """Mask of values that occur more than once.

    >>> tied(np.array([0.5, 0.25, 0.5]))
    array([ True, False,  True])
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(counts[place] > 1)


def _earlier(values: Floats) -> Codes:
    """How many equal values come before each; equal rows have equal hashes."""
    order = np.argsort(values, kind="stable")
    new = np.append(True, np.diff(values[order]) > 0)[: len(order)]
    starts = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    counts = np.empty(len(order), np.intp)
    counts[order] = np.arange(len(order)) - starts
    return counts


def _joined(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """The cells of each row as one unambiguous text."""
    return map(SEPARATOR.join, zip(*map(_escaped, cells), strict=True))


def _escaped(texts: Sequence[str]) -> Sequence[str]:
    everything = "".join(texts)  # most columns have nothing to escape, and one look is enough
    if SEPARATOR not in everything and ESCAPE not in everything:
        return texts
    doubled = (text.replace(ESCAPE, ESCAPE * 2) for text in texts)
    return [text.replace(SEPARATOR, ESCAPE + SEPARATOR) for text in doubled]


def _hashed(messages: Iterator[str]) -> Floats:
    """The first 52 bits of each message's SHA-256, as a part of 1."""
    heads = b"".join([sha256(_bytes(message)).digest()[:8] for message in messages])
    return np.asarray((np.frombuffer(heads, ">u8") >> 12) / 2.0**52)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _key_text(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, Integral) and not isinstance(key, bool):
        return str(int(key))
    raise InputTypeError(f"The key of the draws is a whole number or text, not {key!r}.")


def _columns(ids: Any) -> tuple[int, list[Texts]]:
    """The number of rows, and for each column a reader of blocks as text."""
    import narwhals as nw

    if is_frame(ids):
        frame = nw.from_native(ids, eager_only=True)
        return len(frame), [_series_texts(frame[:, place]) for place in range(frame.shape[1])]
    if issparse(ids):
        table = ids.tocsr()
        return table.shape[0], _sparse_texts(table)
    series = nw.from_native(ids, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return len(series), [_series_texts(series)]
    if hasattr(ids, "to_flat_index"):  # the index of a pandas dataframe, of one level or several
        levels = [ids.get_level_values(place) for place in range(ids.nlevels)]
        return len(ids), [_array_texts(np.asarray(level)) for level in levels]
    array = ids if isinstance(ids, np.ndarray) else _array(ids)
    if array.ndim not in (1, 2):
        raise InputError(f"ids are a column, or a table of several; their shape is {array.shape}.")
    table = array[:, None] if array.ndim == 1 else array
    return len(table), [_array_texts(table[:, place]) for place in range(table.shape[1])]


def _array(ids: Any) -> NDArray[Any]:
    """A list as an array that keeps each value unchanged: text, and integers of any size."""
    array = np.asarray(ids)
    return array if array.dtype.kind in "biu" else np.asarray(ids, dtype=object)


def _series_texts(series: Any) -> Texts:
    """A column of a dataframe as text; NumPy reads numbers faster, but has no missing integers."""
    dtype = series.dtype
    if dtype.is_float() or (dtype.is_integer() and not series.null_count()):
        return _array_texts(series.to_numpy())
    return lambda block: [_text(value) for value in series[block].to_list()]


def _sparse_texts(table: Any) -> list[Texts]:
    """The columns of a sparse matrix; a block of rows is made dense once, not for each column."""
    dense: dict[str, Any] = {"block": None}

    def texts(place: int) -> Texts:
        def read(block: slice) -> Sequence[str]:
            if dense["block"] != block:
                dense.update(block=block, rows=table[block].toarray())
            return _array_texts(dense["rows"][:, place])(slice(None))

        return read

    return [texts(place) for place in range(table.shape[1])]


def _array_texts(values: NDArray[Any]) -> Texts:
    kind = values.dtype.kind
    if kind in "iu":
        return lambda block: list(map(str, values[block].tolist()))
    if kind == "b":
        return lambda block: list(map(str, values[block].astype(np.int8).tolist()))
    if kind == "f":
        return lambda block: _float_texts(values[block].astype(np.float64))
    if kind in "Mm":
        values = values.astype("datetime64[us]" if kind == "M" else "timedelta64[us]")
    return lambda block: [_text(value) for value in values[block].tolist()]


def _float_texts(values: Floats) -> list[str]:
    """Whole numbers in decimal digits, others as the bits of the nearest single."""
    with np.errstate(over="ignore"):
        single = values.astype(">f4")
    nearest = np.where(values == np.floor(values), values, single)
    is_integer = (nearest == np.floor(nearest)) & (np.abs(nearest) < LARGEST)
    if is_integer.all():
        return list(map(str, nearest.astype(np.int64).tolist()))
    bits = single.tobytes().hex()
    texts = [bits[place : place + 8] for place in range(0, len(bits), 8)]
    places = np.flatnonzero(is_integer)
    for place, number in zip(
        places.tolist(), nearest[places].astype(np.int64).tolist(), strict=True
    ):
        texts[place] = str(number)
    for place in np.flatnonzero(np.isnan(values)).tolist():
        texts[place] = ""
    return texts


def _float_text(value: float) -> str:
    """The same for a single value, for which an array would be slow."""
    if value % 1 and math.isfinite(value):
        bits = struct.pack(">f", value)
        value = struct.unpack(">f", bits)[0]
        if value % 1:
            return bits.hex()
    return str(int(value)) if abs(value) < LARGEST else ("ff800000" if value < 0 else "7f800000")


def _text(value: Any) -> str:
    """One value of any type as text."""
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_ | Integral):
        return str(int(value))
    if isinstance(value, Real | Decimal):
        return _float_text(float(value))
    if isinstance(value, datetime.datetime):
        midnight = value.tzinfo is None and value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
