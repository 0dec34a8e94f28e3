"""A folder of predictions: one file for each run, the truth once for each split.

    runs/<problem>/<key>.parquet          labels, chances, scores or values of the test rows
    truth/<problem>/<split key>.parquet   row number, true value and group of the test rows
    bases/<problem>/<base key>.parquet    a base model's scores of all rows; may be deleted
    failures/<key>.json                   why a run has no result
    manifest.jsonl                        what the files say of themselves; made again if lost

Files are never changed once written, and appear whole or not at all. What they hold is hashed: a
file that was damaged since is named, and its run is done again.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from evenhand._columns.codes import Column
from evenhand._data.counting import count, expected_tally
from evenhand._data.groups import Groups
from evenhand._data.tallies import Tally
from evenhand._writing import fill_whole, sweep, write_whole
from evenhand.benchmark.predictions import BaseScores, Predictions, Truth
from evenhand.benchmark.sealed import DamagedFileError, read_about, read_columns, save_columns

Entry = dict[str, Any]

DAMAGED = ".damaged"
NAMES = (
    *("problem", "base", "method", "constraint"),
    *("hyperparameter", "seed", "fit_rows", "held_out"),
)


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
        """The entries of all stored runs by key; the manifest is updated."""
        paths = {path.stem: path for path in self.folder.glob("runs/*/*.parquet")}
        listed = read_manifest(self._manifest)
        entries = {
            key: listed[key] if key in listed else read_about(paths[key]) for key in sorted(paths)
        }
        if paths and not _is_whole(self._manifest, entries, listed):
            with suppress(OSError):  # a folder that cannot be written can be read all the same
                write_manifest(self._manifest, entries.values())
        return entries

    def current(self) -> tuple[dict[str, Entry], dict[str, Entry]]:
        """The entries, without those that a later version replaces; and these.

        Where a base model and method is there in several versions of its code, or a problem in
        several of its data, only runs of the latest are current: a mean over runs of two versions
        would be a number about neither. The same goes for other settings, within a problem; a
        design may well set a method otherwise for another problem.
        """
        entries = self.entries()
        latest: dict[Any, tuple[float, Any]] = {}
        for entry in entries.values():
            for name, version in _versions_of(entry):
                written = float(entry.get("written", 0.0))
                if name not in latest or written >= latest[name][0]:
                    latest[name] = (written, version)
        old = {
            key
            for key, entry in entries.items()
            if any(latest[name][1] != version for name, version in _versions_of(entry))
        }
        return (
            {key: entry for key, entry in entries.items() if key not in old},
            {key: entry for key, entry in entries.items() if key in old},
        )

    def keys(self) -> set[str]:
        """The keys of the stored runs."""
        return {path.stem for path in self.folder.glob("runs/*/*.parquet")}

    def failures(self) -> dict[str, Entry]:
        """Runs that failed and have not succeeded since, by key."""
        done = self.keys()
        read = {
            path.stem: _document(path.read_bytes())
            for path in sorted(self.folder.glob("failures/*.json"))
            if path.stem not in done
        }
        return {key: entry for key, entry in read.items() if entry is not None}

    def set_aside_damaged(self, keys: Iterable[str] | None = None) -> dict[Path, str]:
        """Rename damaged files, so that `run` makes them again; which they are, and why.

        A damaged truth costs no run that is sound: it is counted from the data again.
        """
        chosen = self.keys() if keys is None else set(keys)
        paths = [path for path in self.folder.glob("runs/*/*.parquet") if path.stem in chosen]
        faults = {path: _fault(path) for path in sorted(paths)}
        sound = [read_about(path) for path, fault in faults.items() if fault is None]
        truths = {path for path in map(self.truth_path, sound) if path.exists()}
        faults |= {path: _fault(path) for path in sorted(truths)}
        damaged = {path: fault for path, fault in faults.items() if fault is not None}
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

    def add_base(self, problem: str, base_key: str, scores: BaseScores) -> None:
        """Keep a base model's scores, for the methods that read them."""
        save_columns(self.base_path(problem, base_key), scores.columns(), scores.about)

    def base(self, problem: str, base_key: str) -> BaseScores | None:
        """A base model's scores; None where they are not there, or damaged."""
        path = self.base_path(problem, base_key)
        try:
            return BaseScores.from_columns(read_columns(path), read_about(path))
        except (DamagedFileError, FileNotFoundError):
            return None

    def adopt(self, other: Store, wanted: Iterable[Entry]) -> int:
        """Copy these runs from another folder where it has them; return their number.

        A run is the same if its key is, or if it has the same names, settings, code and rows: made
        with other versions of packages, then, which its entry goes on to say.
        """
        theirs = other.entries()
        by_name = {_identity(entry): entry for entry in other.current()[0].values()}
        number = 0
        for entry in wanted:
            stored = theirs.get(entry["key"]) or by_name.get(_identity(entry))
            if stored is not None and _fault(other.truth_path(stored)) is None:
                truth = other.truth(stored)
                self.add_truth(entry["problem"], entry["split_key"], truth)
                adopted = {**stored, **entry, "stored_as": stored["key"]}
                self.add(other.predictions(stored), adopted)
                number += 1
        return number

    def pack(self, path: str | Path) -> int:
        """Put predictions and truth of all current runs into one .tar.xz; how many runs.

        Base models' scores and scores of questions are left out, since both can be computed again.
        The same runs make the same file.
        """
        current = self.current()[0]
        paths = {self.run_path(entry) for entry in current.values()}
        paths |= {self.truth_path(entry) for entry in current.values()}

        def fill(file: Any) -> None:
            with tarfile.open(fileobj=file, mode="w:xz") as archive:
                for source in sorted(paths):
                    about = tarfile.TarInfo(source.relative_to(self.folder).as_posix())
                    about.size = source.stat().st_size
                    with source.open("rb") as content:
                        archive.addfile(about, content)

        fill_whole(Path(path), fill)
        return len(current)

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

    def base_path(self, problem: str, base_key: str) -> Path:
        """The file of a base model's scores."""
        return self.folder / "bases" / plain(problem) / f"{base_key}.parquet"

    def sweep(self) -> None:
        """Remove unfinished files of killed processes."""
        sweep(self.folder)

    @property
    def _manifest(self) -> Path:
        return self.folder / "manifest.jsonl"


def groups_of(truth: Truth, times: int = 1) -> Groups:
    """The groups of the test rows, repeated."""
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
    """A name that any file system accepts.

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


def write_manifest(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """One JSON document a line, and nothing else, as JSON lines are read anywhere."""
    sealed = ({**entry, "sha256": _hash(entry)} for entry in entries)
    lines = (json.dumps(entry, allow_nan=False) for entry in sealed)
    write_whole(path, "".join(f"{line}\n" for line in lines))


def _is_whole(path: Path, entries: dict[str, Entry], listed: dict[str, Entry]) -> bool:
    """Whether a manifest has a line for each run and no other, torn or empty."""
    if entries.keys() != listed.keys():
        return False
    content = path.read_bytes()
    return content.count(b"\n") == len(entries) and content.endswith(b"\n")


def _versions_of(entry: Entry) -> list[tuple[Any, Any]]:
    """The identity of a run without its version, and the version."""
    method = (entry["base"], entry["method"], entry["constraint"], entry.get("fit_rows"))
    problem, settings = entry["problem"], entry.get("settings")
    return [
        (("code", *method, settings), entry.get("version")),
        (("settings", *method, problem), settings),
        (("data", problem), entry.get("data")),
    ]


def _identity(entry: Entry) -> tuple[Any, ...]:
    """The identity of a run across versions of packages: names, settings, code and rows."""
    parts = (*NAMES, "settings", "code", "split_key")
    return tuple(entry.get(name) for name in parts)


@lru_cache(maxsize=4)
def _truth(path: Path) -> Truth:
    if not path.exists():
        raise DamagedFileError(
            f"{path} is missing: the truth of runs that are there. `evenhand bench run` makes it "
            "again from the data, and does no run again for it."
        )
    columns = read_columns(path)
    group = columns["group"].astype(np.intp)
    return Truth(columns["row"].astype(np.int64), columns["y"], group, read_about(path))


def _fault(path: Path) -> str | None:
    """Why a file cannot be used; None if it can."""
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
