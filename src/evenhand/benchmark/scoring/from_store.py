"""The results of a store: its predictions, scored."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand._errors import require
from evenhand._words import plural
from evenhand.benchmark.design.questions import QUESTIONS, Questions
from evenhand.benchmark.design.studies import Design
from evenhand.benchmark.scoring.cache import scored
from evenhand.benchmark.scoring.results import Results
from evenhand.benchmark.scoring.scores import Lots
from evenhand.benchmark.store import Entry, Store


def results(
    store: Store | str | Path,
    design: Design | None = None,
    *,
    questions: Questions | None = None,
    lots: Lots = "all",
    n_jobs: int | None = 1,
    progress: bool | None = None,
) -> Results:
    """Score what a store holds, or the part of it that belongs to a design.

    Scores are stored with the predictions, so that only new runs are scored. Without a
    design, runs that were replaced since, by other code, settings or data of the same name, are
    left out, with a warning. Another warning says where a method has other settings on one problem
    than on another; those runs are kept.

    Parameters
    ----------
    store : Store, str or Path
        The folder that `run` filled.
    design : Design, optional
        Score its runs only; by default all that are there.
    questions : mapping of str to tuple of Question, optional
        The questions to answer; by default the design's, or `QUESTIONS`.
    lots : {"all", "expected"}, default "all"
        Whether random decisions are also drawn, or scored by what they come to on average alone,
        which is much faster.
    n_jobs : int, optional
        Processes side by side; None for one on each core.
    progress : bool, optional
        Whether to show a bar on stderr; by default where that is a terminal.

    Returns
    -------
    Results
        The tables.

    Examples
    --------
    >>> results("nowhere").runs.num_rows
    0

    """
    require("pyarrow", "joblib")
    store = store if isinstance(store, Store) else Store(Path(store))
    if questions is None:
        questions = QUESTIONS if design is None else design.questions
    current_names: dict[str, Entry] = {}  # as the design names them now
    if design is None:
        entries = _current(store)
    else:
        runs = design.runs()
        entries = {key: entry for key, entry in store.entries().items() if key in runs}
        current_names = {key: runs[key].value for key in entries}
    tables = Results.from_rows(
        runs=[_run(entry | current_names.get(key, {})) for key, entry in entries.items()],
        questions=[question for group in questions.values() for question in group],
        problems=_problems(store, entries, current_names),
        scores=(),
    )
    jobs = -1 if n_jobs is None else n_jobs
    return replace(tables, scores=scored(store, entries, questions, lots, jobs, progress))


def _current(store: Store) -> dict[str, Entry]:
    """The runs without those of earlier versions, with warnings about mixtures."""
    entries, old = store.current()
    if old:
        names = sorted({f"{entry['method']} on {entry['problem']}" for entry in old.values()})
        warnings.warn(
            f"{store.folder} holds {plural(len(old), 'run')} of an earlier version of the code, "
            f"settings or data ({_listed(names)}); they are left out. Pass design= to say which "
            "runs are meant.",
            stacklevel=3,
        )
    if mixed := _set_differently(entries):
        warnings.warn(
            f"{store.folder} holds runs with other settings on some problems than on others "
            f"({_listed(mixed)}); all are kept. Pass design= to say which runs are meant.",
            stacklevel=3,
        )
    return entries


def _set_differently(entries: Mapping[str, Entry]) -> list[str]:
    """Methods and base models whose settings are not the same on all problems."""
    settings: dict[tuple[Any, ...], set[Any]] = {}
    for entry in entries.values():
        name = (entry["method"], entry["base"], entry["constraint"], entry.get("fit_rows"))
        settings.setdefault(name, set()).add(entry.get("settings"))
    several = (name for name, variants in settings.items() if len(variants) > 1)
    return sorted({f"{method} with {base}" for method, base, *_ in several})


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _run(entry: Entry) -> Entry:
    """An entry as a row, its lists and tables as text."""
    versions = entry.get("versions", {}).items()
    return entry | {
        "notes": "\n".join(entry["notes"]),
        "versions": ", ".join(f"{name} {number}" for name, number in versions),
        "date": _day(entry.get("written")),
    }


def _day(seconds: float | None) -> str | None:
    """The day of a moment, in UTC.

    >>> _day(0.0)
    '1970-01-01'
    """
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _problems(
    store: Store, entries: Mapping[str, Entry], current_names: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A row for each problem, with the metadata that captions need."""
    first = {
        current_names.get(key, entry)["problem"]: entry
        for key, entry in reversed(list(entries.items()))
    }
    rows = []
    for problem, entry in sorted(first.items()):
        about = store.truth(entry).about
        sizes = {"n_classes": len(about["classes"]), "n_groups": len(about["groups"])}
        text = json.dumps(about, ensure_ascii=False)
        rows.append(about | sizes | {"problem": problem, "about": text})
    return rows
