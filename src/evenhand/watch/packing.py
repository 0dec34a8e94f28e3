"""Counts of days as JSON values, packed into text."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Bin, Label
from evenhand._data.tallies import Axis, Tally
from evenhand._errors import InputError
from evenhand.watch.ledger import MOST_ROWS

MOST_SUM = 2.0**60  # such sums can still be added up over all spans


def packed_spans(spans: Mapping[int, Tally]) -> dict[str, Any]:
    """Dense tables by span, all with the same labels."""
    total = sum(spans.values())
    assert isinstance(total, Tally)
    axes, names = total.axes, list(total.sums)
    order = [axis.name for axis in axes]
    return {
        "axes": [[a.name, a.kind, [to_json(label) for label in a.labels]] for a in axes],
        "sums": names,
        "spans": {
            str(span): [packed(_wide(sums, axes).table(*order, of=name)) for name in names]
            for span, sums in sorted(spans.items())
        },
    }


def _wide(sums: Tally, axes: tuple[Axis, ...]) -> Tally:
    """The same sums with the labels of all spans."""
    if sums.axes == axes:
        return sums
    empty = Tally(
        axes,
        np.zeros((len(axes), 0), dtype=np.intp),
        {name: values[:0] for name, values in sums.sums.items()},
    )
    return sums + empty


def spans_of(stored: Mapping[str, Any]) -> dict[int, Tally]:
    """The counts of each span of days, checked."""
    axes = tuple(
        Axis(name, tuple(from_json(label) for label in labels), kind)
        for name, kind, labels in stored["axes"]
    )
    require(all(len({*axis.labels}) == len(axis.labels) for axis in axes), "labels")
    shape = tuple(axis.size for axis in axes)
    number = prod(shape)
    cells = np.array(np.unravel_index(np.arange(number), shape), dtype=np.intp)
    tallies = {}
    for span, rows in stored["spans"].items():
        sums = {name: unpacked(row, number) for name, row in zip(stored["sums"], rows, strict=True)}
        if "rows" in sums:
            require(bool((sums["rows"] >= 0).all() and (sums["rows"] <= MOST_ROWS).all()), "rows")
        if "hits" in sums:
            require(bool(((sums["hits"] >= 0) & (sums["hits"] <= sums["rows"])).all()), "hits")
        tallies[int(span)] = Tally(axes, cells, sums)
    return tallies


def packed(table: NDArray[Any]) -> str:
    """Numbers as text: whole ones ("i") or not ("f"), eight bytes each, compressed, in base 64.

    Bytes of the same place are stored together, since most of the high ones are 0. That is half as
    long as decimal digits.

    >>> unpacked(packed(np.array([3.0, 400000.0, -1.0])), 3)
    array([     3, 400000,     -1])
    """
    flat = np.ravel(table)
    kind = "i" if (flat == np.rint(flat)).all() else "f"
    data = flat.astype("<i8" if kind == "i" else "<f8")
    shuffled = np.ascontiguousarray(data.view(np.uint8).reshape(-1, 8).T).tobytes()
    return kind + b64encode(zlib.compress(shuffled, 9)).decode()


def unpacked(text: str, number: int) -> NDArray[Any]:
    """The packed numbers; refuse text with any other number of them."""
    content = zlib.decompressobj()
    data = content.decompress(b64decode(text[1:], validate=True), 8 * number + 1)
    require(len(data) == 8 * number and content.eof and text[0] in "if", "a table")
    shuffled = np.frombuffer(data, np.uint8).reshape(8, -1)
    values = np.frombuffer(
        np.ascontiguousarray(shuffled.T).tobytes(), "<i8" if text[0] == "i" else "<f8"
    ).astype(np.int64 if text[0] == "i" else np.float64)
    require(bool((np.abs(values.astype(np.float64)) <= MOST_SUM).all()), "a sum")
    return values


def to_json(label: Label) -> Any:
    """A label as a JSON value that can be read back."""
    if isinstance(label, Bin):
        return {"bin": [label.low, label.high, label.lowest]}
    if isinstance(label, tuple):
        return {"parts": [to_json(part) for part in label]}
    if isinstance(label, str):
        return str(label)
    if label is None or isinstance(label, bool | int | float):
        return label
    raise InputError(
        f"The label {label!r} cannot be stored; make it text or a number before it is counted."
    )


def from_json(label: Any) -> Label:
    """The label of a JSON value."""
    if isinstance(label, dict):
        if "bin" in label:
            return Bin(*label["bin"])
        return tuple(from_json(part) for part in label["parts"])
    return label  # type: ignore[no-any-return]


def require(condition: bool, what: str) -> None:
    """Refuse an impossible stored value, naming it."""
    if not condition:
        raise ValueError(what)
