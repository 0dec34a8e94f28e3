"""Saved choices as the answers of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._errors import InputError
from evenhand.app.questions import NONE, about
from evenhand.app.tables import Column, Opened


def query_of(opened: Opened, options: Mapping[str, Any], sha256: str) -> dict[str, list[str]]:
    """The answers that saved choices stand for, as a form would send them.

    What could turn an answer around is kept only for the very file that it was said of.
    """
    known = {column.name: column for column in opened.columns}

    def listed(key: str) -> list[str]:
        value = options.get(key, [])
        return [str(one) for one in (value if isinstance(value, list) else [value])]

    def columns(key: str) -> list[Column]:
        unknown = [name for name in listed(key) if name not in known]
        if unknown:
            raise InputError(
                f"The saved choices name the column {unknown[0]!r}; this file has none."
            )
        return [known[name] for name in listed(key)]

    found = {key: columns(key)[:1] for key in ("target", "prediction", "score", "rows", "cluster")}
    judged, groups = [*found["target"], *found["prediction"]], columns("group")
    query = {key: [about("", one)] if one else [] for key, one in found.items()}
    query |= {key: query[key] or [NONE] for key in ("target", "prediction", "score")}
    query |= {"group": [about("", [column]) for column in groups]}
    query |= {key: listed(key)[:1] for key in ("margin", "depth", "confidence")}
    query[about("task", judged)] = listed("task")[:1]
    query[about("threshold", found["score"])] = listed("threshold")[:1]
    for text in listed("bins"):
        name, _, bins = text.rpartition("=")
        query[about("bins", [column for column in groups if column.name == name])] = [bins]
    if sha256 == opened.fingerprint:
        lines = "counts" if found["rows"] else "repeated" if found["cluster"] else "people"
        query["lines"] = [lines]
        missing = [column for column in groups if column.missing]
        query[about("missing", missing)] = listed("missing")[:1]
        good, high = listed("favorable")[:1], listed("score-of")[:1]
        names = [column.name for column in judged]
        labels = [str(label) for label in opened.labels(*names)] if names else []
        query[about("favorable", judged)] = _places(good, labels) if good else [NONE]
        query[about("score_of", [*judged, *found["score"]])] = _places(high, labels)
    return {key: values for key, values in query.items() if values}


def _places(said: Sequence[str], labels: Sequence[str]) -> list[str]:
    return [str(labels.index(one)) for one in said if one in labels]
