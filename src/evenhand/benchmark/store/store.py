"""A folder of predictions: one file for each run, the truth once for each split.

    runs/<problem>/<key>.parquet       labels, chances, scores or values of the test rows
    truth/<problem>/<split key>.parquet   row number, true value and group of the test rows
    failures/<key>.json                why a run has no result
    manifest.jsonl                     what the files say of themselves; made anew if lost

Files are never changed once written, and appear whole or not at all.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._writing import fill_whole, sweep
from evenhand.benchmark.store import manifest, parquet
from evenhand.benchmark.store.manifest import Entry
from evenhand.benchmark.store.predictions import Predictions


@dataclass(frozen=True, eq=False)
class Truth:
    """Of the test rows of a split: number in the data set, true value, and group by number."""

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
    """The predictions in a folder.

    >>> Store(Path("nowhere")).entries()
    {}
    """

    folder: Path

    def entries(self) -> dict[str, Entry]:
        """What is known of every run that is there, by key; the manifest is brought up to date."""
        here = {path.stem: path for path in self.folder.glob("runs/*/*.parquet")}
        listed = manifest.read(self._manifest)
        new = [parquet.about(here[key]) for key in here.keys() - listed.keys()]
        manifest.append(self._manifest, new)
        listed |= {entry["key"]: entry for entry in new}
        return {key: listed[key] for key in sorted(here)}

    def keys(self) -> set[str]:
        """The runs that are there."""
        return {path.stem for path in self.folder.glob("runs/*/*.parquet")}

    def failures(self) -> dict[str, Entry]:
        """What failed and has not succeeded since, by key."""
        done = self.keys()
        found = {path.stem: path for path in sorted(self.folder.glob("failures/*.json"))}
        return {
            key: json.loads(path.read_text("utf-8"))
            for key, path in found.items()
            if key not in done
        }

    def add(self, predictions: Predictions, entry: Entry) -> None:
        """Keep a run's predictions under its key."""
        parquet.save(self.run_path(entry), predictions.columns(), entry)
        (self.folder / "failures" / f"{entry['key']}.json").unlink(missing_ok=True)

    def add_failure(self, entry: Entry) -> None:
        """Keep why a run has no result."""
        text = json.dumps(entry, ensure_ascii=False, indent=1).encode()
        path = self.folder / "failures" / f"{entry['key']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        fill_whole(path, lambda file: file.write(text))

    def add_truth(self, problem: str, split_key: str, truth: Truth) -> None:
        """Keep truth and groups of a split, unless they are there."""
        path = self._truth_path(problem, split_key)
        if not path.exists():
            group = truth.group.astype(np.uint16)
            columns = {"row": truth.rows.astype(np.int32), "y": truth.y, "group": group}
            parquet.save(path, columns, truth.about)

    def predictions(self, entry: Entry) -> Predictions:
        """The predictions of a run."""
        return Predictions.from_columns(parquet.columns(self.run_path(entry)))

    def truth(self, entry: Entry) -> Truth:
        """Truth and groups of a run's test rows."""
        return _truth(self._truth_path(entry["problem"], entry["split_key"]))

    def run_path(self, entry: Entry) -> Path:
        """The file of a run."""
        return self.folder / "runs" / plain(entry["problem"]) / f"{entry['key']}.parquet"

    def sweep(self) -> None:
        """Remove what killed processes left unfinished, when it is old."""
        sweep(self.folder)

    @property
    def _manifest(self) -> Path:
        return self.folder / "manifest.jsonl"

    def _truth_path(self, problem: str, split_key: str) -> Path:
        return self.folder / "truth" / plain(problem) / f"{split_key}.parquet"


@lru_cache(maxsize=4)
def _truth(path: Path) -> Truth:
    found = parquet.columns(path)
    group = found["group"].astype(np.intp)
    return Truth(found["row"].astype(np.int64), found["y"], group, parquet.about(path))


def plain(name: str) -> str:
    """A name that any file system takes.

    >>> plain("my task: 1/2")
    'my_task_1_2'
    """
    return re.sub(r"[^\w.-]+", "_", name)
