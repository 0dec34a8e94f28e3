"""The audit in a few plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._words import listing, number, plural, points
from evenhand.report.formats import (
    count,
    words,
)

Finding = Mapping[str, Any]
NAMED = 3


def headline(document: Mapping[str, Any]) -> dict[str, Any]:
    """What was audited, by which criteria groups differ, and which subgroups."""
    findings = document["findings"]
    beyond = [finding for finding in findings if finding["verdict"] == "differs"]
    verdicts = {finding["criterion"]: finding["verdict"] for finding in findings}
    return {
        "title": document["title"] or "Audit of a model",
        "subject": _subject(document),
        "verdict": _verdict(Counter(verdicts.values()), len(verdicts)),
        "tolerances": _tolerances(findings),
        "first": _first(beyond),
        "subgroups": _subgroups(document),
        "too_few": document.get("too_few", {}).get("sentence", ""),
        "tiles": _tiles(document, Counter(verdicts.values())),
    }


def _subject(document: Mapping[str, Any]) -> str:
    task = {"binary": "two classes", "multiclass": "several classes", "regression": "numbers"}
    by = " × ".join(document["group_columns"])
    weights = ", weighted" if document["weighted"] else ""
    told = f"Predictions of {task.get(document['task'], document['task'])}"
    told += f" for {plural(document['rows'], 'row')}{weights} in "
    told += plural(len(document["groups"]), "group") + (f" by {by}." if by else ".")
    if document["favorable"] is not None:
        told += f" The favorable outcome is “{document['favorable']}”."
    return told


def _verdict(verdicts: Mapping[str, int], asked: int) -> str:
    differ, alike = verdicts.get("differs", 0), verdicts.get("alike", 0)
    unknown = verdicts.get("cannot tell", 0)
    if asked == 1:
        return {
            (1, 0): "The groups differ.",
            (0, 1): "The groups are alike.",
        }.get((differ, alike), "These rows cannot tell whether the groups differ.")
    parts = [f"The groups differ on {count(differ)} of {count(asked)} criteria"]
    parts += [f"are alike on {count(alike)}"] if alike else []
    parts += [f"and these rows cannot tell for {count(unknown)}"] if unknown else []
    return ", ".join(parts) + "."


def _tolerances(findings: Sequence[Finding]) -> str:
    held = Counter(f["judged"] for f in findings if f["tolerance"] is not None)
    told = {
        "exceeds": "beyond it with the whole interval",
        "within tolerance": "within it",
        "inconclusive": "undecided",
    }
    parts = [f"{held[verdict]} {words}" for verdict, words in told.items() if held[verdict]]
    return f"Of those with a tolerance: {listing(parts)}." if parts else ""


def _first(beyond: Sequence[Finding]) -> dict[str, Any] | None:
    """The first criterion by which groups differ, and the two groups most surely apart."""
    if not beyond:
        return None
    most = beyond[0]
    return {
        "name": words(most["criterion"]),
        "sentence": most["conclusion"],
        "pair": most["pair"],
        "at_least": _at_least(most) if most["gap"]["low"] else None,
    }


def _at_least(finding: Finding) -> str:
    low: float = finding["gap"]["low"]
    return points(low) if finding.get("is_rate") else number(low)


def _subgroups(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The first subgroups that surely differ from everybody else, each once.

    Not the other one of two groups, of which the same is true, nor what is part of those before.
    """
    pairs = {tuple(view["columns"]) for view in document["views"] if view["groups"] == 2}
    named: dict[str, dict[str, Any]] = {}
    for subgroup in document["subgroups"]:
        columns, parts = tuple(subgroup["columns"]), subgroup["label"].split(" × ")
        known = subgroup["label"] in named or (len(parts) > 1 and any(p in named for p in parts))
        other = columns in pairs and any(tuple(s["columns"]) == columns for s in named.values())
        if subgroup["flagged"] and not known and not other:
            named[subgroup["label"]] = subgroup
    return list(named.values())[:NAMED]


def _tiles(document: Mapping[str, Any], verdicts: Mapping[str, int]) -> list[tuple[str, str]]:
    tiles = [
        (count(document["rows"]), "rows"),
        (count(len(document["groups"])), "groups"),
        (count(len(document["criteria"])), "criteria"),
        (count(verdicts.get("differs", 0)), "differ"),
        (count(verdicts.get("alike", 0)), "alike"),
        (count(verdicts.get("cannot tell", 0)), "cannot tell"),
    ]
    none = verdicts.get("undefined", 0)
    return [*tiles, (count(none), "undefined")] if none else tiles
