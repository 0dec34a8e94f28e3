"""A submission: a folder of predictions and a file that describes them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand._errors import InputError
from evenhand._toml import read_toml
from evenhand._words import did_you_mean, plural
from evenhand.benchmark.adapters import ADAPTERS
from evenhand.benchmark.design.fingerprints import fingerprint
from evenhand.benchmark.design.treatments import BASE
from evenhand.benchmark.predictions import Predictions, Truth
from evenhand.benchmark.store import Entry, Store
from evenhand.mitigation import METHODS

METADATA = "submission.toml"
NEEDED = ("method", "base", "group_known", "predictions")
OPTIONAL = ("authors", "about", "license")
OF_PREDICTIONS = ("file", "problem", "seed", "constraint", "hyperparameter")
SUM = 1e-3  # by which chances may miss 1
MOST = 20  # faults that are named


class SubmissionError(InputError):
    """All faults of a submission at once."""


@dataclass(frozen=True, eq=False)
class Submission:
    """Predictions that passed every check, ready to be stored.

    `check_submission` makes it.

    Parameters
    ----------
    method : str
        What it is called on the leaderboard.
    about : dict
        What the metadata says of it.
    runs : tuple of (dict, Predictions)
        What is stored of every run, and its predictions.
    notes : tuple of str
        What is worth knowing and no fault, such as a problem that it leaves out.

    Examples
    --------
    >>> Submission("mine", {"group_known": False}, ()).notes
    ()

    """

    method: str
    about: dict[str, Any]
    runs: tuple[tuple[Entry, Predictions], ...]
    notes: tuple[str, ...] = ()


def check_submission(folder: str | Path, store: Store | str | Path) -> Submission:
    """Read a submission and check it against the truth of a store; scores in it are ignored.

    Parameters
    ----------
    folder : str or Path
        It holds submission.toml, and the .csv or .parquet files that this names.
    store : Store, str or Path
        Where the benchmark's test rows and base models are.

    Returns
    -------
    Submission
        For `add_submission`.

    Raises
    ------
    SubmissionError
        With everything that is wrong, file by file.

    Examples
    --------
    >>> check_submission("nowhere", "nowhere")
    Traceback (most recent call last):
    ...
    evenhand.benchmark.boards.submissions.SubmissionError: nowhere has no submission.toml.

    """
    folder = Path(folder)
    store = store if isinstance(store, Store) else Store(Path(store))
    metadata = _metadata(folder)
    _refuse_used_name(metadata["method"], folder, store)
    references = _references(store, metadata["base"])
    if not references:
        plain = (run for run in store.entries().values() if run["method"] == BASE)
        bases = sorted({run["base"] for run in plain})
        raise SubmissionError(
            f"{folder} uses the base model {metadata['base']!r}; the benchmark has "
            f"{', '.join(bases) or 'none'}."
        )
    faults: list[str] = []
    runs, places = [], set()
    content = hashlib.sha256()
    for table in metadata["predictions"]:
        try:
            entry, predictions, raw = _run(folder, table, metadata, references, store)
        except (InputError, OSError, ValueError, KeyError, TypeError) as failure:
            faults.append(f"{table.get('file', 'a table [[predictions]]')}: {failure}")
            continue
        place = tuple(entry[name] for name in ("problem", "seed", "constraint", "hyperparameter"))
        if place in places:
            faults.append(f"{table['file']}: the same problem, split and setting come twice.")
        places.add(place)
        content.update(raw)
        runs.append((entry, predictions))
    faults += _partial([entry for entry, _ in runs], references)
    if faults:
        remainder = f"\n… and {len(faults) - MOST} more" if len(faults) > MOST else ""
        listed = "\n".join(f"  {fault}" for fault in faults[:MOST])
        raise SubmissionError(f"{folder} cannot be accepted:\n{listed}{remainder}")
    version = content.hexdigest()[:24]
    about = {name: metadata[name] for name in ("group_known", *OPTIONAL) if name in metadata}
    finished = tuple(
        (
            _finished(entry, about, version)
            | {"by_lot": predicted.by_lot, "has_scores": predicted.scores is not None},
            predicted,
        )
        for entry, predicted in runs
    )
    stored = store.keys()
    if all(entry["key"] in stored for entry, _ in finished):
        raise SubmissionError(
            f"{folder} is a duplicate: these predictions of {metadata['method']} are stored "
            "already."
        )
    return Submission(metadata["method"], about, finished, tuple(_notes(finished, store)))


def add_submission(submission: Submission, store: Store | str | Path) -> int:
    """Store the predictions of a submission, and return how many runs are new.

    Parameters
    ----------
    submission : Submission
        Made by `check_submission`.
    store : Store, str or Path
        Where it goes; an earlier submission of the same method is kept, and no longer counted.

    Returns
    -------
    int
        How many runs were not there yet.

    Examples
    --------
    >>> add_submission(Submission("mine", {}, ()), "nowhere")
    0

    """
    store = store if isinstance(store, Store) else Store(Path(store))
    stored = store.keys()
    new = [(entry, predicted) for entry, predicted in submission.runs if entry["key"] not in stored]
    for entry, predictions in new:
        store.add(predictions, entry)
    return len(new)


def _metadata(folder: Path) -> dict[str, Any]:
    path = folder / METADATA
    if not path.is_file():
        raise SubmissionError(f"{folder} has no {METADATA}.")
    content = read_toml(path, SubmissionError)
    valid = (*NEEDED, *OPTIONAL)
    for key in content:
        if key not in valid:
            hint = " Scores are computed here, never taken." if "score" in key else ""
            raise SubmissionError(
                f"{path} has the key {key!r}.{did_you_mean(key, valid)}{hint} "
                f"There are {', '.join(valid)}."
            )
    for key in NEEDED:
        if key not in content:
            raise SubmissionError(f"{path} does not say {key}.")
    if content["method"] in ("", BASE) or not isinstance(content["method"], str):
        raise SubmissionError(f"{path}: {content['method']!r} cannot be the name of a method.")
    if not isinstance(content["group_known"], bool):
        raise SubmissionError(f"{path}: group_known must be true or false.")
    tables = content["predictions"]
    if not isinstance(tables, list) or not tables or not isinstance(tables[0], Mapping):
        raise SubmissionError(f"{path} needs at least one table [[predictions]].")
    return content


def _references(store: Store, base: str) -> dict[tuple[str, int], Entry]:
    """The base model's runs by problem and split: a submission predicts their test rows."""
    entries = store.current()[0].values()
    plain = (entry for entry in entries if entry["method"] == BASE and entry["base"] == base)
    return {(entry["problem"], entry["seed"]): entry for entry in plain}


def _run(
    folder: Path,
    table: Mapping[str, Any],
    metadata: Mapping[str, Any],
    references: Mapping[tuple[str, int], Entry],
    store: Store,
) -> tuple[Entry, Predictions, bytes]:
    for key in table:
        if key not in OF_PREDICTIONS:
            raise InputError(
                f"[[predictions]] has the key {key!r}.{did_you_mean(key, OF_PREDICTIONS)} "
                f"There are {', '.join(OF_PREDICTIONS)}."
            )
    absent = [key for key in ("file", "problem", "seed") if key not in table]
    if absent:
        raise InputError(f"does not say {', '.join(absent)}.")
    place = (table["problem"], table["seed"])
    if place not in references:
        problems = sorted({problem for problem, _ in references})
        seeds = sorted(seed for problem, seed in references if problem == table["problem"])
        choices = f"its splits are {seeds}" if seeds else f"problems are {', '.join(problems)}"
        raise InputError(f"there is no split {table['seed']} of {table['problem']!r}; {choices}.")
    reference = references[place]
    path = (folder / table["file"]).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError("lies outside of the folder.")
    raw = path.read_bytes()
    predictions = _predictions(_frame(path), store.truth(reference))
    value = table.get("hyperparameter")
    entry = {
        "problem": reference["problem"],
        "base": reference["base"],
        "method": metadata["method"],
        "constraint": table.get("constraint"),
        "parameter": None if value is None else "hyperparameter",
        "hyperparameter": None if value is None else float(value),
        "seed": reference["seed"],
        "fit_rows": None,
        "split_key": reference["split_key"],
        "data": reference.get("data"),
        "sha256": hashlib.sha256(raw).hexdigest(),
    }
    return entry, predictions, raw


def _finished(entry: Entry, about: Mapping[str, Any], version: str) -> Entry:
    return entry | {
        "key": fingerprint([{k: v for k, v in entry.items() if k != "data"}, "submission"]),
        "cpu_seconds": None,
        "seconds": None,
        "notes": [],
        "versions": {},
        "version": version,
        "written": time.time(),
        "submission": dict(about),
    }


def _frame(path: Path) -> Any:
    import pandas as pd

    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".csv":
        return pd.read_csv(path)
    raise InputError("should be a .csv or .parquet file.")


def _predictions(frame: Any, truth: Truth) -> Predictions:
    """The columns of a file in the order of the test rows, or what is wrong with them."""
    if "row" not in frame.columns:
        raise InputError(f"has no column row; it has {', '.join(map(str, frame.columns))}.")
    if frame["row"].duplicated().any():
        twice = frame["row"][frame["row"].duplicated()].iloc[0]
        raise InputError(f"predicts row {twice} twice.")
    expected = set(truth.rows.tolist())
    predicted = set(frame["row"].tolist())
    if expected != predicted:
        extra, absent = sorted(predicted - expected, key=str), sorted(expected - predicted)
        wrong = [
            f"{verb} {plural(len(rows), 'row')} {which} (such as {rows[0]})"
            for verb, rows, which in (
                ("has", extra, "outside the test rows of this split"),
                ("lacks", absent, "of the test rows"),
            )
            if rows
        ]
        raise InputError(f"{' and '.join(wrong)}.")
    frame = frame.set_index("row").loc[truth.rows]
    return _regressed(frame) if not truth.classes else _classified(frame, truth.classes)


def _regressed(frame: Any) -> Predictions:
    if "value" not in frame.columns:
        raise InputError("has no column value.")
    values = frame["value"].to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"has {plural(int((~np.isfinite(values)).sum()), 'value')} not finite.")
    return Predictions(values=values[:, None])


def _classified(frame: Any, classes: tuple[str, ...]) -> Predictions:
    chances, scores = (_matrix(frame, kind, classes) for kind in ("chance", "score"))
    small = np.min_scalar_type(len(classes))
    if "label" in frame.columns:
        numbers = {name: number for number, name in enumerate(classes)}
        labels = frame["label"].map(_name).map(numbers)
        if labels.isna().any():
            unknown = str(frame["label"][labels.isna()].iloc[0])
            raise InputError(f"has the label {unknown!r}; classes are {', '.join(classes)}.")
        decided = labels.to_numpy().astype(small)
    elif chances is not None or scores is not None:
        probabilities = chances if chances is not None else scores
        assert probabilities is not None
        decided = probabilities.argmax(axis=1).astype(small)
    else:
        raise InputError("has no column label, and none of chance_CLASS or score_CLASS.")
    return Predictions(labels=decided, chances=chances, scores=scores)


def _name(label: Any) -> str:
    """The class of a label: 1.0, as pandas writes whole numbers where some are missing, is 1."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _matrix(frame: Any, kind: str, classes: tuple[str, ...]) -> Any:
    """Chances or scores (rows × classes) of columns such as score_yes; None without any."""
    names = [f"{kind}_{name}" for name in classes]
    present = [name for name in names if name in frame.columns]
    if not present:
        return None
    if len(present) < len(names):
        raise InputError(f"has {', '.join(present)}, and not all of {', '.join(names)}.")
    matrix = frame[names].to_numpy(dtype=np.float64)
    if not ((matrix >= -SUM) & (matrix <= 1 + SUM)).all():
        raise InputError(f"has a {kind} below 0, above 1, or missing.")
    if (abs(matrix.sum(axis=1) - 1) > SUM).any():
        raise InputError(f"has a row whose {kind}s do not add up to 1.")
    return np.clip(matrix, 0, 1) / matrix.sum(axis=1, keepdims=True)


def _refuse_used_name(method: str, folder: Path, store: Store) -> None:
    """Refuse the name of a method of the benchmark: one row would mix two methods."""
    own = {entry["method"] for entry in store.current()[0].values() if "submission" not in entry}
    if method in own | set(METHODS) | set(ADAPTERS):
        raise SubmissionError(
            f"{folder}: the benchmark has a method called {method!r}; give yours another name."
        )


def _partial(runs: Sequence[Entry], references: Mapping[tuple[str, int], Entry]) -> Iterator[str]:
    """Settings that lack a split of a problem: they would have no number there."""
    seeds_of: dict[tuple[Any, ...], set[int]] = {}
    for entry in runs:
        setting = tuple(entry[name] for name in ("problem", "constraint", "hyperparameter"))
        seeds_of.setdefault(setting, set()).add(entry["seed"])
    for (problem, *options), seeds in seeds_of.items():
        needed = {seed for name, seed in references if name == problem}
        if lacking := sorted(needed - seeds):
            setting_text = ", ".join(str(option) for option in options if option is not None)
            named = f"{problem} ({setting_text})" if setting_text else problem
            yield (
                f"{named} lacks {plural(len(lacking), 'split')}: "
                f"{', '.join(map(str, lacking))}. Predict every split of a problem, or leave the "
                "problem out."
            )


def _notes(runs: tuple[tuple[Entry, Predictions], ...], store: Store) -> Iterator[str]:
    """Notes on what a submission leaves out: it is ranked on the rest."""
    plain = [entry for entry in store.current()[0].values() if entry["method"] == BASE]
    problems = {entry["problem"] for entry, _ in runs}
    bases = {entry["base"] for entry, _ in runs}
    without = {entry["problem"] for entry in plain if entry["base"] in bases} - problems
    if without:
        yield f"leaves out {', '.join(sorted(without))}, and is ranked on each other problem alone"
    other_bases = {entry["base"] for entry in plain if entry["problem"] in problems} - bases
    if other_bases:
        yield (
            f"uses {', '.join(sorted(bases))} and not {', '.join(sorted(other_bases))}, "
            f"and is ranked on {', '.join(sorted(bases))} alone"
        )
