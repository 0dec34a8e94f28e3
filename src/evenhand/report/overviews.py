"""What looks over all criteria: intervals, thresholds, distributions, and intersections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.charts import curves, ecdf, frontier, values
from evenhand.report.charts.curves import COLORS
from evenhand.report.charts.ecdf import extremes
from evenhand.report.charts.values import Seen
from evenhand.report.formats import measure_name, name, verdict, words

PANELS = 1  # measures that are shown of; the document has the others
STEPS = 101  # points of a curve that is drawn
SUBGROUPS = 15


def with_intervals(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A chart for the first measures; values that carry a unit have one of their own."""
    bounds = {criterion["name"]: criterion["bounds"] for criterion in document["criteria"]}
    panels: dict[tuple[str, str | None], list[Seen]] = {}
    for finding in document["findings"]:
        alone = finding["criterion"] if _has_unit(finding, bounds) else None
        panels.setdefault((finding["measure"], alone), []).append(_seen(finding))
    order = sorted(panels.items(), key=lambda panel: panel[0][1] is not None)[:PANELS]
    return [
        _panel(f"values-{number}", measure, alone, seen)
        for number, ((measure, alone), seen) in enumerate(order)
    ]


def thresholds(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A chart by the first measure, with a line for each criterion."""
    curves_of = document["thresholds"]
    if curves_of is None:
        return []
    panels: dict[str, list[tuple[str, Sequence[float | None]]]] = {}
    first = curves_of["series"][0]["measure"] if curves_of["series"] else None
    for series in curves_of["series"]:
        if series["measure"] != first:
            continue
        line = (words(series["criterion"]), series["values"])
        panels.setdefault(series["measure"], []).append(line)
    return [
        {
            "measure": measure,
            "chart": curves(
                f"threshold-{measure}",
                f"Criteria by {measure_name(measure)} against the decision threshold",
                curves_of["at"],
                lines,
                curves_of["used"],
            ),
            "legend": [(f"s{i % COLORS}", label) for i, (label, _) in enumerate(lines)],
        }
        for measure, lines in panels.items()
    ]


def distributions(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The chart of the groups' distributions, with the names of those that stand out."""
    levels_of = document["distributions"]
    if levels_of is None:
        return None
    of = {"prediction": "predictions", "score": "scores"}.get(levels_of["of"], levels_of["of"])
    kept = slice(None, None, -(-len(levels_of["at"]) // STEPS))
    levels = [level[kept] for level in levels_of["levels"]]
    parts = (levels_of["groups"], levels, levels_of["pooled"][kept])
    marked = extremes(*parts)
    return {
        "of": of,
        "chart": ecdf(
            "distribution", f"Distribution of the {of} by group", levels_of["at"][kept], *parts
        ),
        "legend": [(f"s{i}", name(levels_of["groups"][g])) for i, g in enumerate(marked)],
        "groups": len(levels_of["groups"]),
        "all": len(document["groups"]),
        "others": len(levels_of["groups"]) - len(marked),
    }


def alternatives(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The frontier with the model on it; documents of earlier versions have none."""
    known = document.get("frontier")
    if known is None:
        return None
    curve = known["curve"]
    if curve is None:
        return {"chart": None, "notes": known["notes"]}
    across = f"{words(curve['criterion']).lower()} ({measure_name(curve['measure']).lower()})"
    model = curve["model"]["value"], curve["model"]["cost"]
    title = f"{curve['unit']} against {across}"
    return {
        "chart": frontier("frontier-curve", title, curve["bound"], curve["cost"], model),
        "across": across,
        "upward": curve["unit"],
        "sentences": known["sentences"],
        "notes": known["notes"],
    }


def intersections(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """A table of the views by the first measure, and the first of the ranked subgroups."""
    views, subgroups = document["views"], document["subgroups"]
    if not views and not subgroups:
        return None
    measures = list(dict.fromkeys(f["measure"] for view in views for f in view["findings"]))
    return {
        "views": [(" × ".join(view["columns"]), view["groups"]) for view in views],
        "tables": [_table(views, measure) for measure in measures[:PANELS]],
        "subgroups": subgroups[:SUBGROUPS],
        "more": max(0, len(subgroups) - SUBGROUPS),
        "flagged": sum(bool(subgroup["flagged"]) for subgroup in subgroups),
        "found": len(subgroups),
    }


def _panel(ident: str, measure: str, alone: str | None, seen: list[Seen]) -> dict[str, Any]:
    title = measure_name(measure) + (", in its own unit" if alone else "")
    chart = values(ident, f"Values and intervals by {title}: {words(alone or 'all')}", seen)
    return {"measure": measure, "title": title, "chart": chart}


def _has_unit(finding: Mapping[str, Any], bounds: Mapping[str, Sequence[float | None]]) -> bool:
    free = finding["measure"] == "mpd" and None in bounds.get(finding["criterion"], (0, 1))
    return bool(free) or finding["aggregate"] == "integral"


def _seen(finding: Mapping[str, Any]) -> Seen:
    keys = ("value", "low", "high", "tolerance")
    numbers = {key: finding[key] for key in keys}
    kind = verdict(finding["verdict"]).kind
    both = ", ".join(filter(None, (finding["verdict"], finding["judged"])))
    return Seen(label=words(finding["criterion"]), kind=kind, verdict=both, **numbers)


def _table(views: list[Mapping[str, Any]], measure: str) -> dict[str, Any]:
    """A line for each criterion, a column for each view."""
    lines = [
        {f["criterion"]: f for f in view["findings"] if f["measure"] == measure} for view in views
    ]
    criteria = dict.fromkeys(criterion for view in lines for criterion in view)
    rows = [(criterion, [view.get(criterion) for view in lines]) for criterion in criteria]
    return {"measure": measure, "rows": rows}
