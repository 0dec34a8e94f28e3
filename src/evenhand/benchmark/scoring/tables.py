"""Runs, questions and problems as Arrow tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from evenhand.benchmark.design.questions import Question, Questions
from evenhand.benchmark.store import Store
from evenhand.benchmark.store.manifest import Entry

TEXT, NUMBER, WHOLE, FLAG = "string", "float64", "int64", "bool"
RUNS = {
    "key": TEXT,
    "problem": TEXT,
    "base": TEXT,
    "method": TEXT,
    "constraint": TEXT,
    "parameter": TEXT,
    "hyperparameter": NUMBER,
    "seed": WHOLE,
    "fit_rows": WHOLE,
    "by_lot": FLAG,
    "has_scores": FLAG,
    "cpu_seconds": NUMBER,
    "notes": TEXT,
    "versions": TEXT,
}
PROBLEMS = {
    "problem": TEXT,
    "title": TEXT,
    "kind": TEXT,
    "n_classes": WHOLE,
    "n_groups": WHOLE,
    "train": WHOLE,
    "test": WHOLE,
    "is_stand_in": FLAG,
    "provenance": TEXT,
    "about": TEXT,
}
ORDERS = ("p", "q", "tau")


def table(rows: list[dict[str, Any]], types: Mapping[str, str]) -> Any:
    """An Arrow table of rows, with these columns."""
    import pyarrow as pa

    return pa.table(
        {
            name: pa.array([row.get(name) for row in rows], type=pa.type_for_alias(kind))
            for name, kind in types.items()
        }
    )


def run_table(entries: Mapping[str, Entry]) -> Any:
    """A row for each run."""
    return table([one | _told(one) for one in entries.values()], RUNS)


def _told(entry: Entry) -> dict[str, str]:
    """Lists and tables of an entry as text."""
    versions = entry.get("versions", {}).items()
    return {
        "notes": "\n".join(entry["notes"]),
        "versions": ", ".join(f"{name} {number}" for name, number in versions),
    }


def asked_table(questions: Questions) -> Any:
    """A row for each question; one that both kinds of task are asked is there once."""
    named = {one.name: one for some in questions.values() for one in some}
    columns = {one.name: NUMBER if one.name in ORDERS else TEXT for one in fields(Question)}
    rows = [{"name": name} | asdict(one) for name, one in named.items()]
    return table(rows, {"name": TEXT} | columns)


def problem_table(store: Store, entries: Mapping[str, Entry]) -> Any:
    """A row for each problem, with what must be said of its rows in any caption."""
    first = {entry["problem"]: entry for entry in reversed(list(entries.values()))}
    rows = []
    for problem, entry in sorted(first.items()):
        about = store.truth(entry).about
        more = {"n_classes": len(about["classes"]), "n_groups": len(about["groups"])}
        text = json.dumps(about, ensure_ascii=False)
        rows.append(about | more | {"problem": problem, "about": text})
    return table(rows, PROBLEMS)
