"""The audit in a few plain sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._words import number, plural
from evenhand.report.formats import (
    count,
    listing,
    measure_name,
    name,
    percent,
    words,
)

Finding = Mapping[str, Any]
NAMED = 3


def headline(document: Mapping[str, Any]) -> dict[str, Any]:
    """What was audited, by which criteria groups differ, the strongest, and which groups."""
    findings = document["findings"]
    beyond = [finding for finding in findings if finding["verdict"] == "differs"]
    verdicts = {finding["criterion"]: finding["verdict"] for finding in findings}
    return {
        "title": document["title"] or "Audit of a model",
        "subject": _subject(document),
        "verdict": _verdict(Counter(verdicts.values()), len(verdicts)),
        "tolerances": _tolerances(findings),
        "strongest": _strongest(beyond),
        "groups": _groups(beyond),
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
    parts = [f"The groups differ by {count(differ)} of {count(asked)} criteria"]
    parts += [f"are alike by {count(alike)}"] if alike else []
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


def _strongest(beyond: Sequence[Finding]) -> dict[str, Any] | None:
    known = [f for f in beyond if f["value"] is not None and f["chance_high"] is not None]
    if not known:
        return None
    most = max(known, key=lambda f: f["value"] / max(f["chance_high"], 1e-12))
    times = most["value"] / most["chance_high"] if most["chance_high"] else None
    return {
        "name": f"{words(most['criterion'])} by {measure_name(most['measure'])}",
        "value": number(most["value"]),
        "times": number(times, 2) if times is not None and times < 1000 else None,
        "sentence": most["conclusion"],
        "pair": most["pair"],
    }


def _groups(beyond: Sequence[Finding]) -> list[tuple[str, str]]:
    """Who contributes most, averaged over the findings that are more than chance."""
    shares: dict[str, float] = defaultdict(float)
    told = [finding["contributions"] for finding in beyond if finding["contributions"]]
    for contributions in told:
        for part in contributions:
            shares[part["group"]] += (part["share"] or 0.0) / len(told)
    most = sorted(shares.items(), key=lambda item: item[1], reverse=True)[:NAMED]
    return [(name(group), percent(share)) for group, share in most]


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
