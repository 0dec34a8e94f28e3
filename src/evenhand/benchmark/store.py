"""A folder of predictions: one file for each run, the truth once for each split.

    runs/<problem>/<key>.parquet       labels, chances, scores or values of the test rows
    truth/<problem>/<split key>.parquet   row number, true value and group of the test rows
    failures/<key>.json                why a run has no result
    manifest.jsonl                     what the files say of themselves; made anew if lost

Files are never changed once written, and appear whole or not at all. What they hold is hashed: a
file that was damaged since is named, and its run is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column
from evenhand._counting import count, expected_tally
from evenhand._groups import Groups
from evenhand._tally import Tally
from evenhand._writing import fill_whole, sweep
from evenhand.benchmark.sealed import DamagedFileError, read_about, read_columns, save_columns

Entry = dict[str, Any]

Floats = NDArray[np.floating[Any]]

DAMAGED = ".damaged"


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labels, chances and scores of a classifier; values of a regressor, maybe several draws.

    Parameters
    ----------
    labels : array of int, optional
        The predicted classes by number; one draw where they are drawn at random.
    chances : array (rows × classes), optional
        The chance of each class, where labels are drawn at random.
    scores : array (rows × classes), optional
        Probabilities that are not those of the decision.
    values : array (rows × draws), optional
        Predicted quantities; a regressor that does not draw has one column.

    Examples
    --------
    >>> Predictions(labels=np.array([0, 1], dtype=np.uint8)).by_lot
    False

    """

    labels: NDArray[np.unsignedinteger[Any]] | None = None
    chances: Floats | None = None
    scores: Floats | None = None
    values: Floats | None = None

    @property
    def by_lot(self) -> bool:
        """Whether another draw could give other answers."""
        return self.chances is not None or (self.values is not None and self.values.shape[1] > 1)

    def columns(self) -> dict[str, NDArray[Any]]:
        """As named columns; the first class's probability is what the others leave."""
        columns: dict[str, NDArray[Any]] = {}
        if self.labels is not None:
            columns["label"] = self.labels
        for name, matrix in (("chance", self.chances), ("score", self.scores)):
            if matrix is not None:
                parts = matrix.astype(np.float32)
                columns |= {f"{name}_{k}": parts[:, k] for k in range(1, matrix.shape[1])}
        if self.values is not None:
            columns |= {f"value_{k}": column for k, column in enumerate(self.values.T)}
        return columns

    @classmethod
    def from_columns(cls, columns: dict[str, NDArray[Any]]) -> Predictions:
        """The inverse of `columns`."""
        values = [column for name, column in columns.items() if name.startswith("value_")]
        return cls(
            labels=columns.get("label"),
            chances=_matrix(columns, "chance"),
            scores=_matrix(columns, "score"),
            values=np.column_stack(values) if values else None,
        )


@dataclass(frozen=True, eq=False)
class Truth:
    """Of the test rows of a split: number in the data set, true value, and group.

    Parameters
    ----------
    rows : array of int
        Their numbers in the data set.
    y : array
        Their true classes by number, or their true values.
    group : array of int
        Their groups by number.
    about : dict
        What is said of the data set, the names of groups and classes included.

    Examples
    --------
    >>> none = np.array([], dtype=int)
    >>> Truth(none, none, none, {"groups": ["f", "m"], "classes": []}).groups
    ('f', 'm')

    """

    rows: NDArray[np.int64]
    y: NDArray[Any]
    group: NDArray[np.intp]
    about: dict[str, Any]

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups in words, by number."""
        return tuple(self.about["groups"])

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in words, by number; none for a regression."""
        return tuple(self.about["classes"])


@dataclass(frozen=True)
class Store:
    """The predictions in a folder, which `run` fills.

    Parameters
    ----------
    folder : Path
        It need not be there yet.

    Examples
    --------
    >>> Store(Path("nowhere")).entries()
    {}

    """

    folder: Path

    def entries(self) -> dict[str, Entry]:
        """What is known of every run that is there, by key; the manifest is brought up to date."""
        here = {path.stem: path for path in self.folder.glob("runs/*/*.parquet")}
        listed = read_manifest(self._manifest)
        new = [read_about(here[key]) for key in sorted(here.keys() - listed.keys())]
        append_manifest(self._manifest, new)
        listed |= {entry["key"]: entry for entry in new}
        return {key: listed[key] for key in sorted(here)}

    def keys(self) -> set[str]:
        """The runs that are there."""
        return {path.stem for path in self.folder.glob("runs/*/*.parquet")}

    def failures(self) -> dict[str, Entry]:
        """What failed and has not succeeded since, by key."""
        done = self.keys()
        read = {
            path.stem: _document(path.read_bytes())
            for path in sorted(self.folder.glob("failures/*.json"))
            if path.stem not in done
        }
        return {key: entry for key, entry in read.items() if entry is not None}

    def set_aside_damaged(self, keys: Iterable[str] | None = None) -> dict[Path, str]:
        """Rename damaged files, so that their runs are done again; which they are, and why.

        Runs whose truth is damaged go with it: doing one of them again brings the truth back.
        """
        wanted = self.keys() if keys is None else set(keys)
        truths: dict[Path, str | None] = {}
        damaged: dict[Path, str] = {}
        for path in sorted(self.folder.glob("runs/*/*.parquet")):
            if path.stem not in wanted:
                continue
            fault = _fault(path)
            if fault is None:
                entry = read_about(path)
                truth = self.truth_path(entry)
                fault = (
                    truths[truth] if truth in truths else truths.setdefault(truth, _fault(truth))
                )
            if fault is not None:
                damaged[path] = fault
        damaged |= {path: fault for path, fault in truths.items() if fault and path.exists()}
        for path in damaged:
            path.replace(path.with_name(path.name + DAMAGED))
        _truth.cache_clear()
        return damaged

    def add(self, predictions: Predictions, entry: Entry) -> None:
        """Keep a run's predictions under its key."""
        save_columns(self.run_path(entry), predictions.columns(), entry)
        (self.folder / "failures" / f"{entry['key']}.json").unlink(missing_ok=True)

    def add_failure(self, entry: Entry) -> None:
        """Keep why a run has no result."""
        text = json.dumps(entry, ensure_ascii=False, indent=1).encode()
        path = self.folder / "failures" / f"{entry['key']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        fill_whole(path, lambda file: file.write(text))

    def add_truth(self, problem: str, split_key: str, truth: Truth) -> None:
        """Keep truth and groups of a split, unless they are there."""
        path = self.truth_path({"problem": problem, "split_key": split_key})
        if not path.exists():
            group = truth.group.astype(np.uint16)
            columns = {"row": truth.rows.astype(np.int32), "y": truth.y, "group": group}
            save_columns(path, columns, truth.about)

    def predictions(self, entry: Entry) -> Predictions:
        """The predictions of a run."""
        return Predictions.from_columns(read_columns(self.run_path(entry)))

    def truth(self, entry: Entry) -> Truth:
        """Truth and groups of a run's test rows."""
        return _truth(self.truth_path(entry))

    def tally(self, entry: Entry) -> Tally:
        """A classifier's test rows by true class, predicted class and group.

        Where labels are drawn at random, rows are those to be expected. Classes are numbers.
        """
        return counts(self.truth(entry), self.predictions(entry))

    def run_path(self, entry: Entry) -> Path:
        """The file of a run."""
        return self.folder / "runs" / plain(entry["problem"]) / f"{entry['key']}.parquet"

    def truth_path(self, entry: Entry) -> Path:
        """The file of its test rows' truth."""
        return self.folder / "truth" / plain(entry["problem"]) / f"{entry['split_key']}.parquet"

    def sweep(self) -> None:
        """Remove what killed processes left unfinished."""
        sweep(self.folder)

    @property
    def _manifest(self) -> Path:
        return self.folder / "manifest.jsonl"


def groups_of(truth: Truth, times: int = 1) -> Groups:
    """The groups of the test rows, all of them so many times over."""
    return Groups(np.tile(truth.group, times).astype(np.uint32), truth.groups, ("group",))


def counts(truth: Truth, predictions: Predictions, *, drawn: bool = False) -> Tally:
    """Rows by true class, predicted class and group: expected ones, or those of one draw."""
    classes = tuple(range(len(truth.classes)))
    if predictions.chances is not None and not drawn:
        return expected_tally(
            truth.y, predictions.chances, classes=classes, sensitive_features=groups_of(truth)
        )
    assert predictions.labels is not None
    columns = {"y": Column(truth.y, classes), "yhat": Column(predictions.labels, classes)}
    return count(columns, groups_of(truth))


def plain(name: str) -> str:
    """A name that any file system takes.

    >>> plain("my task: 1/2")
    'my_task_1_2'
    """
    return re.sub(r"[^\w.-]+", "_", name)


def read_manifest(path: Path) -> dict[str, Entry]:
    """The entries by key; a line that is torn, damaged or not ours is passed over.

    Nothing is lost by that: the list is made from the files, and whatever it lacks is read there.
    """
    if not path.exists():
        return {}
    entries: dict[str, Entry] = {}
    for line in path.read_bytes().split(b"\n"):
        entry = _entry(line)
        if entry is not None and entry.pop("sha256", None) == _hash(entry):
            entries[entry["key"]] = entry
    return entries


def append_manifest(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Add lines, after ending a line that a killed process may have left torn."""
    lines = [json.dumps(dict(entry) | {"sha256": _hash(entry)}) for entry in entries]
    if not lines:
        return
    with path.open("ab") as file:
        file.write(("\n" + "\n".join(lines) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def _matrix(columns: dict[str, NDArray[Any]], name: str) -> Floats | None:
    parts = [column for key, column in columns.items() if key.startswith(f"{name}_")]
    if not parts:
        return None
    rest = np.column_stack(parts).astype(np.float64)
    first = np.maximum(1 - rest.sum(axis=1), 0)
    whole = np.column_stack([first, rest])
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))


@lru_cache(maxsize=4)
def _truth(path: Path) -> Truth:
    columns = read_columns(path)
    group = columns["group"].astype(np.intp)
    return Truth(columns["row"].astype(np.int64), columns["y"], group, read_about(path))


def _fault(path: Path) -> str | None:
    """Why a file cannot be used, if so."""
    try:
        read_about(path)
        read_columns(path)
    except (DamagedFileError, FileNotFoundError) as failure:
        return str(failure)
    return None


def _hash(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]


def _entry(line: bytes) -> Entry | None:
    entry = _document(line)
    return entry if entry is not None and isinstance(entry.get("key"), str) else None


def _document(text: bytes) -> Entry | None:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
