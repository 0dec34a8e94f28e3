"""Each sensitive column alone, their combinations, and the subgroups that stand out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SUBGROUPS = 60


def intersections(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """A table of the views for each measure, and the first of the ranked subgroups."""
    views, subgroups = document["views"], document["subgroups"]
    if not views and not subgroups:
        return None
    measures = list(dict.fromkeys(f["measure"] for view in views for f in view["findings"]))
    return {
        "views": [(" × ".join(view["columns"]), view["groups"]) for view in views],
        "tables": [_table(views, measure) for measure in measures],
        "subgroups": subgroups[:SUBGROUPS],
        "more": max(0, len(subgroups) - SUBGROUPS),
        "flagged": sum(bool(subgroup["flagged"]) for subgroup in subgroups),
        "found": len(subgroups),
    }


def _table(views: list[Mapping[str, Any]], measure: str) -> dict[str, Any]:
    """A line for each criterion, a column for each view."""
    found = [
        {f["criterion"]: f for f in view["findings"] if f["measure"] == measure} for view in views
    ]
    criteria = dict.fromkeys(criterion for view in found for criterion in view)
    rows = [(criterion, [view.get(criterion) for view in found]) for criterion in criteria]
    return {"measure": measure, "rows": rows}
