"""The summary as the page shows it: the sentence, the groups × metrics and the first chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from evenhand._words import listing
from evenhand.report.charts import rates
from evenhand.report.charts.rates import Rate
from evenhand.report.groups import group_lines, overall_lines

MOST_GROUPS = 20  # lines of the table, and rows of the chart, that are not folded
FOLDED = 500  # lines of the table that is folded
SIDES = {1: "above", -1: "below", 0: "around"}


def headline(document: Mapping[str, Any]) -> dict[str, Any]:
    """What stands on the first screens of the page."""
    summary = document["summary"]
    table = summary["table"]
    return {
        "title": document["title"] or "Audit of a model",
        "sentence": summary["sentence"],
        "about": summary["about"],
        "selected": _selected(document),
        "table": table,
        "lines": group_lines(table, MOST_GROUPS),
        "all_lines": group_lines(table, FOLDED) if len(table["groups"]) > MOST_GROUPS else [],
        "overall": overall_lines(table),
        "flagged": any(any(group["apart"]) for group in table["groups"]),
        "chart": _chart(summary),
        "tolerances": _tolerances(document["findings"]),
    }


def _selected(document: Mapping[str, Any]) -> str:
    """Which class the rates are about, in words."""
    of_class = document["summary"]["table"]["of_class"]
    if document["task"] == "regression":
        return ""
    if of_class is None:
        return "No outcome was named as favorable, so the table shows how often each is predicted."
    if document.get("favorable_assumed"):
        return f"Selected means predicted “{of_class}”, which is assumed to be favorable."
    if document["favorable"] is not None:
        return f"Selected means predicted “{of_class}”, the favorable outcome."
    return f"No outcome was named as favorable: the rates are those of “{of_class}”."


def _chart(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The groups' first rate with intervals and sizes, beside four fifths of the highest."""
    rate = summary["headline"]
    if rate is None:
        return None
    sides = _sides(summary["table"], rate["metric"])
    known = [
        Rate(**_renamed(group), kind=sides.get(group["label"]))
        for group in rate["groups"]
        if group["value"] is not None
    ]
    impact = summary["impact_ratio"] if rate["metric"] == "selection_rate" else None
    line_at = None if impact is None else impact["line"] * impact["highest_rate"]
    name = rate["name"][:1].upper() + rate["name"][1:]
    return {
        "name": name,
        "overall": rate["overall"],
        "is_rate": rate["is_rate"],
        "shown": min(len(known), MOST_GROUPS),
        "known": len(known),
        "fifths": impact["highest"] if impact else None,
        "chart": rates(
            "headline-rates",
            f"{name} by group",
            known,
            rate["overall"],
            most=MOST_GROUPS,
            greatest=1.0 if rate["is_rate"] else None,
            is_rate=rate["is_rate"],
            line_at=line_at,
        )
        if known
        else Markup(""),
    }


def _renamed(group: Mapping[str, Any]) -> dict[str, Any]:
    return {"group" if key == "label" else key: value for key, value in group.items()}


def _sides(table: Mapping[str, Any], metric: str | None) -> dict[str, str]:
    """On which side of everybody else the groups are in a metric of the table, if it is there."""
    keys = [one["key"] for one in table["metrics"]]
    if metric not in keys:
        return {}
    at = keys.index(metric)
    return {group["label"]: SIDES[group["apart"][at]] for group in table["groups"]}


def _tolerances(findings: Sequence[Mapping[str, Any]]) -> str:
    held = Counter(f["judged"] for f in findings if f["tolerance"] is not None)
    words_of = {
        "exceeds": "beyond it with the whole interval",
        "falls short": "short of it with the whole interval",
        "within tolerance": "within it",
        "inconclusive": "undecided",
    }
    parts = [f"{held[verdict]} {words}" for verdict, words in words_of.items() if held[verdict]]
    return f"Of those with a tolerance: {listing(parts)}." if parts else ""
