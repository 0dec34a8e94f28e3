"""The audit as a plain document of JSON values: the one source of every page and file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from evenhand._audit.curves import Levels, Thresholds
from evenhand._audit.evidence import Evidence
from evenhand._audit.finding import Finding, GroupValues
from evenhand._audit.subgroups import Subgroup
from evenhand._audit.views import View
from evenhand._groups import show
from evenhand._words import markdown_table, number, p_value

SCHEMA = "evenhand.audit/2"
MOST_SUBGROUPS = 200


@dataclass(frozen=True, eq=False)
class AuditParts:
    """All that an audit found; `Audit` says what each part is, and gives it the forms it takes."""

    evidence: Evidence
    findings: tuple[Finding, ...]
    by_group: tuple[GroupValues, ...]
    views: tuple[View, ...]
    subgroups: tuple[Subgroup, ...]
    thresholds: Thresholds | None
    levels: Levels | None
    notes: tuple[str, ...]
    title: str | None
    confidence: float
    random_state: int | None
    choices: int
    kind: str | None = None


def document(audit: AuditParts) -> dict[str, Any]:
    """The whole audit; labels are text as people read it, undefined numbers are None."""
    from importlib.metadata import version

    evidence = audit.evidence
    rows, weight = evidence.rows, evidence.counted.table("group")
    return {
        "schema": SCHEMA,
        "evenhand": version("evenhand"),
        "title": audit.title,
        "task": evidence.task,
        "rows": int(rows.sum()),
        "weighted": "weight" in evidence.counted.sums,
        "group_columns": list(evidence.columns),
        "groups": [
            {"label": show(label), "rows": int(n), "weight": float(w)}
            for label, n, w in zip(evidence.groups, rows, weight, strict=True)
        ],
        "classes": [show(label) for label in evidence.classes],
        "favorable": None if evidence.favorable is None else show(evidence.favorable),
        "decided_at": evidence.decided_at,
        "confidence": audit.confidence,
        "random_state": audit.random_state,
        "multiplicity": {
            "method": "Holm",
            "findings": len(audit.findings),
            "choices": audit.choices,
            "level": 1 - audit.confidence,
        },
        "notes": list(audit.notes),
        "criteria": [_criterion(one) for one in audit.by_group],
        "findings": [_finding(row, audit.by_group) for row in rows_of(audit.findings)],
        "views": [_view(one) for one in audit.views],
        "subgroups": [_subgroup(one) for one in audit.subgroups[:MOST_SUBGROUPS]],
        "thresholds": _thresholds(audit.thresholds),
        "distributions": _levels(audit.levels),
    }


def _criterion(one: GroupValues) -> dict[str, Any]:
    return {
        "name": one.criterion,
        "formula": one.formula,
        "statistic": one.statistic,
        "asks": one.asks,
        "is_not": one.is_not,
        "range": one.range,
        "bounds": _numbers(one.bounds),
        "cells": [
            {
                "label": show(cell),
                "values": _numbers(one.values[i]),
                "low": _numbers(one.low[i]),
                "high": _numbers(one.high[i]),
                "overall": _number(one.overall[i]),
                "rows": None if one.rows is None else _numbers(one.rows[i]),
            }
            for i, cell in enumerate(one.cells)
        ],
    }


Row = dict[str, Any]


def rows_of(findings: Iterable[Finding]) -> Iterator[Row]:
    """A row for each criterion and measure, with what the finding says of the criterion."""
    for finding in findings:
        for measured in finding.values.values():
            own = {field.name: getattr(measured, field.name) for field in fields(measured)}
            yield own | {
                "p_value": finding.p_value,
                "p_adjusted": finding.p_adjusted,
                "verdict": finding.verdict,
                "judged": measured.judged,
                "pair": finding.pair,
                "gap": finding.gap,
                "margin": finding.margin,
                "conclusion": finding.sentence,
                "sentence": measured.sentence,
            }


def _finding(row: Row, tables: Sequence[GroupValues]) -> dict[str, Any]:
    groups = next(table.groups for table in tables if table.criterion == row["criterion"])
    numbers = ("value", "low", "high", "p_value", "p_adjusted")
    same = ("criterion", "measure", "aggregate", "transform", "verdict", "tolerance", "judged")
    pair, gap = row["pair"], row["gap"]
    return {
        **{name: row[name] for name in same},
        **{name: _number(row[name]) for name in numbers},
        "gap": {name: _number(getattr(gap, name)) for name in ("value", "low", "high")},
        "margin": row["margin"],
        "worst_cell": None if row["worst_cell"] is None else show(row["worst_cell"]),
        "pair": pair
        and {
            "high": {"group": show(pair.high), "value": pair.high_value},
            "low": {"group": show(pair.low), "value": pair.low_value},
            "cell": None if pair.cell is None else show(pair.cell),
        },
        "cell_values": [
            {"cell": show(cell), "value": _number(value)}
            for cell, value in zip(row["cells"], row["cell_values"], strict=True)
        ],
        "contributions": [
            {"group": show(group), "share": _number(share)}
            for group, share in zip(groups, row["contributions"], strict=True)
        ],
        "left_out": [{"cell": show(cell), "group": show(group)} for cell, group in row["left_out"]],
        "conclusion": row["conclusion"],
        "sentence": row["sentence"],
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "columns": list(view.columns),
        "groups": len(view.evidence.groups),
        "findings": [
            {
                "criterion": finding.criterion,
                "measure": measure,
                "value": _number(value),
                "p_value": _number(finding.p_value),
                "p_adjusted": _number(finding.p_adjusted),
                "verdict": finding.verdict,
            }
            for finding in view.findings
            for measure, value in finding.values.items()
        ],
    }


def _subgroup(subgroup: Subgroup) -> dict[str, Any]:
    numbers = ("value", "rest", "difference", "at_least", "people", "rows_needed")
    return {
        "columns": list(subgroup.columns),
        "label": show(subgroup.label),
        "rows": subgroup.rows,
        "counted": subgroup.counted,
        "statistic": subgroup.statistic,
        **{name: _number(getattr(subgroup, name)) for name in numbers},
        "flagged": subgroup.flagged,
        "too_few": subgroup.too_few,
    }


def _thresholds(found: Thresholds | None) -> dict[str, Any] | None:
    if found is None:
        return None
    series = [
        {"criterion": one.criterion, "measure": one.measure, "values": _numbers(one.values)}
        for one in found.curves
    ]
    return {"at": _numbers(found.at), "series": series, "used": found.used}


def _levels(found: Levels | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "of": found.of,
        "at": _numbers(found.at),
        "groups": [show(group) for group in found.groups],
        "levels": [_numbers(row) for row in found.levels],
        "pooled": _numbers(found.pooled),
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_number(value) for value in values]


MOST_ROWS = 60


def markdown(document: dict[str, Any]) -> str:
    """Headline, findings, subgroups and notes of an audit's document."""
    findings = document["findings"]
    by_criterion = {row["criterion"]: row["verdict"] for row in findings}
    differ = sum(verdict == "differs" for verdict in by_criterion.values())
    by = " × ".join(document["group_columns"])
    parts = [
        f"# {document['title'] or 'Audit'}",
        f"{document['rows']:,} rows in {len(document['groups'])} groups by {by}. "
        f"The groups differ by {differ} of {len(by_criterion)} criteria.",
        _table(
            ("criterion", "measure", "value", "interval", "p adjusted", "verdict"),
            [_finding_row(one) for one in findings],
        ),
    ]
    flagged = [one for one in document["subgroups"] if one["flagged"]]
    if flagged:
        heads = ("subgroup", "rows", "statistic", "value", "all others", "differs at least by")
        parts += ["## Subgroups that surely differ", _table(heads, map(_subgroup_row, flagged))]
    if document["notes"]:
        parts += ["## Notes", "\n".join(f"- {note}" for note in document["notes"])]
    return "\n\n".join(parts) + "\n"


def _finding_row(one: dict[str, Any]) -> tuple[str, ...]:
    between = f"{number(one['low'])} to {number(one['high'])}"
    return (
        one["criterion"],
        one["measure"],
        number(one["value"]),
        between,
        p_value(one["p_adjusted"]),
        one["verdict"],
    )


def _subgroup_row(one: dict[str, Any]) -> tuple[str, ...]:
    numbers = (number(one[name]) for name in ("value", "rest", "at_least"))
    return (one["label"], f"{one['rows']:,}", one["statistic"], *numbers)


def _table(heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    kept = list(rows)
    text, hidden = markdown_table(heads, kept[:MOST_ROWS]), len(kept) - MOST_ROWS
    return f"{text}\n\n({hidden} more not shown)" if hidden > 0 else text
