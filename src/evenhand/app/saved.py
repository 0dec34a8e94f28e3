"""Saved choices as the answers of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._errors import InputError
from evenhand.app.questions import NONE, about
from evenhand.app.tables import Column, Opened


def query_of(opened: Opened, options: Mapping[str, Any], sha256: str) -> dict[str, list[str]]:
    """The answers of saved choices, as a form would send them.

    Answers that could reverse a result are restored only for the same file.
    """
    by_name = {column.name: column for column in opened.columns}

    def listed(key: str) -> list[str]:
        value = options.get(key, [])
        return [str(item) for item in (value if isinstance(value, list) else [value])]

    def columns(key: str) -> list[Column]:
        unknown = [name for name in listed(key) if name not in by_name]
        if unknown:
            raise InputError(
                f"The saved choices name the column {unknown[0]!r}; this file has none."
            )
        return [by_name[name] for name in listed(key)]

    by_key = {key: columns(key)[:1] for key in ("target", "prediction", "score", "rows", "cluster")}
    judged, groups = [*by_key["target"], *by_key["prediction"]], columns("group")
    query = {key: [about("", item)] if item else [] for key, item in by_key.items()}
    query |= {key: query[key] or [NONE] for key in ("target", "prediction", "score")}
    query |= {"group": [about("", [column]) for column in groups]}
    query |= {key: listed(key)[:1] for key in ("margin", "depth", "confidence")}
    query[about("task", judged)] = listed("task")[:1]
    query[about("threshold", by_key["score"])] = listed("threshold")[:1]
    for text in listed("bins"):
        name, _, bins = text.rpartition("=")
        query[about("bins", [column for column in groups if column.name == name])] = [bins]
    if sha256 == opened.fingerprint:
        lines = "counts" if by_key["rows"] else "repeated" if by_key["cluster"] else "people"
        query["lines"] = [lines]
        missing = [column for column in groups if column.missing]
        query[about("missing", missing)] = listed("missing")[:1]
        favorable, high = listed("favorable")[:1], listed("score-of")[:1]
        names = [column.name for column in judged]
        labels = [str(label) for label in opened.labels(*names)] if names else []
        query[about("favorable", judged)] = _places(favorable, labels) if favorable else [NONE]
        query[about("score_of", [*judged, *by_key["score"]])] = _places(high, labels)
    return {key: values for key, values in query.items() if values}


def _places(names: Sequence[str], labels: Sequence[str]) -> list[str]:
    return [str(labels.index(name)) for name in names if name in labels]
