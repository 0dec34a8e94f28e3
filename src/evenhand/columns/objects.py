"""Codes and labels of a column of Python objects: by address, by hash, or by pandas."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.column import Column, canonical
from evenhand.columns.words import factorize_few, first_rows

Objects = NDArray[np.object_]
Coded = tuple[NDArray[Any], Iterable[Any]]


def encode_objects(values: Objects, name: str) -> Column:
    """Encode any objects that can be hashed."""
    try:
        return canonical(*_coded(values))
    except TypeError:
        culprit = next(value for value in values if not _can_be_hashed(value))
        raise TypeError(f"{name} holds {culprit!r}, which cannot name a class or group.") from None


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
