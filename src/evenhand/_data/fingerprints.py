"""Fingerprints of counts, which identify the same rows in any order.

Rows that agree in everything become one entry with their sums, and entries are ordered, so that
neither the order of rows nor counting them beforehand changes the hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.areas import RankedScores
from evenhand._data.distributions import Distribution
from evenhand._data.groups import show
from evenhand._data.once import Immutable, once
from evenhand._data.tallies import Tally

DIGITS = 9  # of sums with fractions: another order of addition changes the last digits
MOST_KEYS = 2**62


class _Part(NamedTuple):
    """The labels and codes of every axis, and the sums over equal entries."""

    name: str
    labels: dict[str, tuple[Label, ...] | NDArray[np.float64]]
    codes: dict[str, NDArray[Any]]
    sums: dict[str, NDArray[Any]]


def fingerprint(about: Mapping[str, Any], sources: Mapping[str, Immutable]) -> str:
    """SHA-256 of sources by name and of their settings."""
    digests = {name: digest(source) for name, source in sources.items()}
    return hashlib.sha256(json.dumps([about, digests], sort_keys=True).encode()).hexdigest()


def digest(source: Immutable) -> str:
    """SHA-256 of one source."""

    def work_out() -> str:
        hashed = hashlib.sha256()
        for part in _parts("", source):
            _add(hashed, part)
        return hashed.hexdigest()

    return once(source, "digest", work_out)


def _parts(name: str, source: Any) -> Iterator[_Part]:
    if isinstance(source, RankedScores):
        for label, scores in zip(source.classes, source.scores, strict=True):
            yield from _parts(show(label), scores)
    elif isinstance(source, Distribution):
        yield _of_scores(name, source)
    elif isinstance(source, Tally):
        edges = {axis.name: axis.labels for axis in source.axes if axis.kind == "edges"}
        numbers = {name: np.asarray(labels, dtype=np.float64) for name, labels in edges.items()}
        yield _Part(
            name,
            {axis.name: axis.labels for axis in source.axes} | numbers,
            {axis.name: codes for axis, codes in zip(source.axes, source.cells, strict=True)},
            dict(source.sums),
        )


def _of_scores(name: str, scores: Distribution) -> _Part:
    starts = np.flatnonzero(np.diff(scores.values, prepend=np.nan) != 0)
    ranks = np.zeros(len(scores), dtype=np.intp)
    ranks[starts[1:]] = 1
    labels: dict[str, Any] = {"group": scores.groups, "value": scores.values[starts]}
    codes: dict[str, NDArray[Any]] = {"group": scores.codes, "value": np.cumsum(ranks)}
    columns = [("y", scores.truth)] if scores.truth is not None else []
    columns += [(f"cluster {at}", column) for at, column in enumerate(scores.clusters)]
    for axis, column in columns:
        assert column is not None
        labels[axis], codes[axis] = column.labels, column.codes
    weights = scores.row_weights
    sums = {"weight": weights, "square": scores.squared_weights}
    if scores.survey is not None:
        sums["replicates"] = scores.survey.replicates
    return _Part(name, labels, codes, sums)


def _add(hashed: Any, part: _Part) -> None:
    """Add entries to a hash in the order of their labels, without unused labels."""
    keys, size = np.zeros(len(next(iter(part.codes.values()))), dtype=np.int64), 1
    for axis, codes in sorted(part.codes.items()):
        places, count, label_bytes = _ordered(part.labels[axis], codes)
        hashed.update(json.dumps([part.name, axis]).encode())
        hashed.update(label_bytes)
        if size * count > MOST_KEYS:
            entries, keys = np.unique(keys, return_inverse=True)
            hashed.update(entries.astype("<i8").tobytes())
            size = len(entries)
        keys, size = keys * count + places, size * count
    entries, places = np.unique(keys, return_inverse=True)
    hashed.update(entries.astype("<i8").tobytes())
    for name, values in sorted(part.sums.items()):
        hashed.update(name.encode())
        for batch in np.reshape(values, (-1, len(keys))):
            totals = np.bincount(places, batch, len(entries)).astype(np.float64)
            hashed.update(_rounded(totals))


def _ordered(labels: Any, codes: NDArray[Any]) -> tuple[NDArray[np.intp], int, bytes]:
    """Codes in the order of the labels that occur, the number of these, and their bytes."""
    if isinstance(labels, np.ndarray):  # numbers, in order
        return codes.astype(np.intp), len(labels), labels.astype("<f8").tobytes()
    used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    texts = [show(labels[at]) for at in used]
    order = sorted(range(len(used)), key=texts.__getitem__)
    target = np.zeros(len(labels), dtype=np.intp)
    target[used[order]] = np.arange(len(used))
    return target[codes], len(used), json.dumps([texts[at] for at in order]).encode()


def _rounded(totals: NDArray[np.float64]) -> bytes:
    rounded = np.rint(totals)
    if (rounded == totals).all():
        return rounded.astype("<f8").tobytes()
    return json.dumps([f"{total:.{DIGITS}g}" for total in totals]).encode()
