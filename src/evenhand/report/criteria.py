"""A section for each criterion: what it asks, what it is not, and where the inequality sits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from evenhand._words import percent
from evenhand.measures import measure_named
from evenhand.report.charts import bars, lorenz
from evenhand.report.charts.bars import Bar
from evenhand.report.charts.rates import Rate, most_deviant, side
from evenhand.report.charts.svg import Scale
from evenhand.report.formats import cell_name, measure_name, name, within, words

TABLE = 60  # rows of a table of groups
CELLS = 12  # of a criterion that are listed
Criterion = Mapping[str, Any]
Group = Mapping[str, Any]
Finding = Mapping[str, Any]


def sections(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sections in the order of the document."""
    groups, lines = document["groups"], document["summary"]["criteria"]
    by_name = {line["name"]: line for line in lines}
    parts: list[dict[str, Any]] = []
    for number, criterion in enumerate(document["criteria"], start=1):
        findings = _findings_of(document["findings"], criterion)
        section = _section(f"criterion-{number}", criterion, findings, groups)
        twin = next((earlier for earlier in parts if _same_values(earlier, section)), None)
        parts.append(section | {"line": by_name[criterion["name"]], "same": twin})
    return parts


def _same_values(earlier: Mapping[str, Any], section: Mapping[str, Any]) -> bool:
    """Whether an earlier section's table of groups shows these values, as a ratio's rates are."""
    return bool(section["main"]) and earlier["same"] is None and earlier["main"] == section["main"]


def inequality(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Who makes up the inequality of the first criterion: shares by measure, and a Lorenz curve."""
    first = document["summary"]["headline"] or {"criterion": None}
    criterion = next((c for c in document["criteria"] if c["name"] == first["criterion"]), None)
    if criterion is None:
        return None
    findings = _findings_of(document["findings"], criterion)
    return {
        "title": words(criterion["name"]),
        "shares": _contributions("headline", findings, criterion, document["groups"]),
        "lorenz": _lorenz("headline", criterion, findings),
    }


def _findings_of(findings: Sequence[Finding], criterion: Criterion) -> list[Finding]:
    return [finding for finding in findings if finding["criterion"] == criterion["name"]]


def _section(
    ident: str, criterion: Criterion, findings: Sequence[Finding], groups: Sequence[Group]
) -> dict[str, Any]:
    cells = _ranked(criterion["cells"], findings)
    is_rate = bool(findings and findings[0].get("is_rate"))
    return {
        "ident": ident,
        "name": criterion["name"],
        "title": words(criterion["name"]),
        "question": criterion.get("asks")
        or f"Is {criterion['statistic']} the same in every group?",
        "criterion": criterion,
        "is_rate": is_rate,
        "findings": findings,
        "main": _figure(criterion, cells[0], groups) if cells else None,
        "shares": _shares(findings, groups),
        "cells": _cells(cells, findings, criterion["formula"], groups),
        "cells_not_shown": max(0, len(cells) - CELLS),
        "left_out": _groups_left_out(findings),
        "apart": _extreme_pairs(findings),
    }


def _ranked(cells: Sequence[Mapping[str, Any]], findings: Sequence[Finding]) -> list[Any]:
    """The cell that is the worst for most measures first, then by their largest value."""
    votes = Counter(finding["worst_cell"] for finding in findings)
    size = {
        part["cell"]: _unevenness(part["value"], finding["measure"])
        for finding in reversed(findings)
        for part in finding["cell_values"]
    }

    def rank(cell: Mapping[str, Any]) -> tuple[float, float]:
        return -votes[cell["label"]], -size.get(cell["label"], 0.0)

    return sorted(cells, key=rank)


def _unevenness(value: float | None, measure: str) -> float:
    """Larger is worse, by any measure: a ratio is best at 1."""
    if value is None:
        return 0.0
    registered = measure_named(measure)
    return float(registered.written(value)) if registered else value


def _figure(
    criterion: Criterion, cell: Mapping[str, Any], groups: Sequence[Group]
) -> dict[str, Any]:
    """The groups' values as a table that is a chart too: marks lie next to the intervals."""
    rates = _rates(cell, groups)
    overall = cell["overall"]
    ordered = most_deviant(rates, overall, TABLE)
    numbers = [end for rate in ordered for end in (rate.value, rate.low, rate.high)]
    axis = Scale.around([*numbers, overall], ceiling=criterion["bounds"][1])
    return {
        "cell": cell_name(cell["label"], criterion["formula"]),
        "within": within(cell["label"], criterion["formula"]),
        "own_rows": cell["rows"] is not None,
        "overall": overall,
        "at_overall": None if overall is None else _place(axis, overall),
        "ends": (axis.low, axis.high),
        "known": len(rates),
        "missing": len(groups) - len(rates),
        "pooled": _pooled(cell, groups),
        "table": [
            (rate, side(rate, overall), _marks(axis, rate))
            for rate in sorted(ordered, key=_by_value)
        ],
    }


def _marks(axis: Scale, rate: Rate) -> str:
    """Where a group's interval begins, how long it is, and where its value lies, in percent."""
    low = rate.value if rate.low is None else rate.low
    high = rate.value if rate.high is None else rate.high
    return f"--a:{_place(axis, low)};--b:{_place(axis, high, low)};--v:{_place(axis, rate.value)}"


def _place(axis: Scale, value: float, since: float | None = None) -> str:
    share = axis(value) - (0.0 if since is None else axis(since))
    return f"{100 * share:.0f}"


def _pooled(cell: Mapping[str, Any], groups: Sequence[Group]) -> dict[str, float | None]:
    """The groups' partially pooled values, where there are any."""
    values = cell.get("pooled") or []
    if all(value is None for value in values):
        return {}
    return {group["label"]: value for group, value in zip(groups, values, strict=True)}


def _by_value(rate: Rate) -> float:
    return -rate.value


def _rates(cell: Mapping[str, Any], groups: Sequence[Group]) -> list[Rate]:
    labels = [group["label"] for group in groups]
    rows = cell["rows"] or [group["rows"] for group in groups]
    columns = (labels, cell["values"], cell["low"], cell["high"], rows)
    return [Rate(*row) for row in zip(*columns, strict=True) if row[1] is not None]


def _contributions(
    ident: str, findings: Sequence[Finding], criterion: Criterion, groups: Sequence[Group]
) -> list[dict[str, Any]]:
    charts = []
    for finding in findings:
        sides = _sides(criterion, finding["worst_cell"], groups)
        labels = [group["label"] for group in groups]
        shares = [
            Bar(label, share, sides.get(label, ""), label)
            for label, share in zip(labels, finding["contributions"], strict=False)
            if share is not None
        ]
        if any(bar.value > 0 for bar in shares):
            measure, place = finding["measure"], finding["worst_cell"]
            title = f"Share of each group in {words(criterion['name'])} by {measure_name(measure)}"
            chart = bars(
                f"{ident}-{measure}-shares", title, shares, format_value=percent, noun="group"
            )
            part = {"measure": measure, "sided": bool(sides), "chart": chart}
            charts.append(part | {"within": within(place, criterion["formula"])})
    return charts


def _sides(criterion: Criterion, label: str, groups: Sequence[Group]) -> dict[str, str]:
    """On which side of the overall value each group's value lies in a cell."""
    cell = next((cell for cell in criterion["cells"] if cell["label"] == label), None)
    if cell is None or cell["overall"] is None:
        return {}
    overall = cell["overall"]
    return {
        group["label"]: "above" if value > overall else "below"
        for group, value in zip(groups, cell["values"], strict=True)
        if value is not None
    }


def _shares(
    findings: Sequence[Finding], groups: Sequence[Group]
) -> dict[str, dict[str, float | None]]:
    """Each group's share in the inequality, by measure; nothing where no group has any.

    Measures of the two ends alone have none either: their order in the table shows these.
    """
    labels = [group["label"] for group in groups]
    return {
        finding["measure"]: dict(zip(labels, finding["contributions"], strict=False))
        for finding in findings
        if any(finding["contributions"]) and not _reads(finding["measure"], "extremes")
    }


def _cells(
    cells: Sequence[Mapping[str, Any]],
    findings: Sequence[Finding],
    formula: str,
    groups: Sequence[Group],
) -> list[dict[str, Any]]:
    """The cells, the most unequal first: who is lowest and highest, and the value by measure."""
    if len(cells) < 2:
        return []
    by_measure = [{p["cell"]: p["value"] for p in f["cell_values"]} for f in findings]
    lines = []
    for cell in cells[:CELLS]:
        rates = sorted(_rates(cell, groups), key=_by_value)
        ends = (rates[-1], rates[0]) if rates else (None, None)
        values = [values.get(cell["label"]) for values in by_measure]
        lines.append({"cell": cell_name(cell["label"], formula), "ends": ends, "values": values})
    return lines


def _reads(measure: str, feature: str) -> bool:
    """Whether a measure reads the extremes, or the ranks, which are the Lorenz curve."""
    registered = measure_named(measure)
    return registered is not None and registered.reads == feature


def _lorenz(ident: str, criterion: Criterion, findings: Sequence[Finding]) -> dict[str, Any] | None:
    """The curve of the worst cell, by Gini if it was requested; negative values have none."""
    ordered = sorted(findings, key=lambda finding: not _reads(finding["measure"], "ranks"))
    for finding in ordered[:1]:
        cells = [c for c in criterion["cells"] if c["label"] == finding["worst_cell"]]
        values = [value for cell in cells for value in cell["values"] if value is not None]
        if finding["transform"] == "exp" and values:
            values = [exp(value - max(values)) for value in values]
        if len(values) > 1 and min(values) >= 0:
            place = within(finding["worst_cell"], criterion["formula"])
            title = f"Lorenz curve of {words(criterion['name'])}"
            chart = lorenz(f"{ident}-lorenz", title, values)
            return {"chart": chart, "within": place, "finding": finding}
    return None


def _groups_left_out(findings: Sequence[Finding]) -> dict[str, Any] | None:
    """The groups that had no value somewhere, each named once."""
    groups = dict.fromkeys(name(gap["group"]) for f in findings for gap in f["left_out"])
    if not groups:
        return None
    names = list(groups)
    return {"named": names[:10], "more": max(0, len(names) - 10)}


def _extreme_pairs(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The groups that differ most clearly, with the measures that agree on them."""
    ends: dict[tuple[Any, ...], list[str]] = {}
    for finding in findings:
        if finding["pair"]:
            high, low = finding["pair"]["high"], finding["pair"]["low"]
            key = (
                high["group"],
                high["value"],
                low["group"],
                low["value"],
                finding["pair"]["cell"],
            )
            ends.setdefault(key, []).append(measure_name(finding["measure"]))
    return [{"measures": measures, "pair": key} for key, measures in ends.items()]
