"""The audit as a plain document of JSON values: the one source of every page and file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from evenhand._audit.curves import Levels, Thresholds
from evenhand._audit.evidence import Evidence
from evenhand._audit.finding import Finding, GroupValues
from evenhand._audit.subgroups import MARGIN, Control, Subgroup
from evenhand._audit.views import View
from evenhand._groups import show
from evenhand._words import escaped, markdown_table, number, p_value, plural

SCHEMA = "evenhand.audit/2"
MOST_SUBGROUPS = 200
MOST_NAMED = 8


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
    margin: float | None
    control: Control
    random_state: int | None
    choices: int
    kind: str | None = None

    @property
    def too_few(self) -> tuple[Subgroup, ...]:
        """The groups of too few rows to say, with the `rows_needed` that would do; smallest first.

        Nothing is sure of such a group in the scan of subgroups, and its rows could not have shown
        a difference of the margin (0.05 of a rate) from everybody else in the selection or error
        rate; of a regression, in the mean prediction or squared error.
        """
        ours = [s for s in self.subgroups if s.columns == self.evidence.columns]
        flagged = {subgroup.label for subgroup in ours if subgroup.flagged}
        lacking = [s for s in ours if s.too_few and s.counted == s.rows and s.label not in flagged]
        ordered = sorted(lacking, key=lambda s: s.rows_needed)
        return tuple(sorted({s.label: s for s in ordered}.values(), key=lambda s: s.rows))


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
            "hypotheses": max((finding.tests for finding in audit.findings), default=0),
            "choices": audit.choices,
            "level": _level(audit.confidence),
        },
        "notes": list(audit.notes),
        "criteria": [_criterion(one) for one in audit.by_group],
        "findings": [_finding(row, audit.by_group) for row in rows_of(audit.findings)],
        "views": [_view(one) for one in audit.views],
        "scan": _scan(audit),
        "subgroups": [_subgroup(one) for one in audit.subgroups[:MOST_SUBGROUPS]],
        "too_few": _too_few(audit),
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
                "pooled": _numbers(one.pooled[i]),
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
                "is_rate": finding.is_rate,
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
        "is_rate": row["is_rate"],
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


def _scan(audit: AuditParts) -> dict[str, Any]:
    """Of the scan of subgroups: how many comparisons, and how often it errs."""
    error = _level(audit.confidence)
    comparisons = max((one.comparisons for one in audit.subgroups), default=0)
    meaning = {
        "familywise": f"All these bounds hold at once with {100 - 100 * error:g}% confidence",
        "false_discovery": f"Of the flagged ones, an expected {100 * error:g}% at most are flagged "
        "wrongly",
    }[audit.control]
    return {
        "control": audit.control,
        "error": error,
        "comparisons": comparisons,
        "flagged": sum(one.flagged for one in audit.subgroups),
        "sentence": f"{meaning}, over all {plural(comparisons, 'comparison')}.",
    }


def _too_few(audit: AuditParts) -> dict[str, Any]:
    """The groups of too few rows to say, and in words how many would do."""
    groups = [
        {"label": show(one.label), "rows": one.rows, "rows_needed": _number(one.rows_needed)}
        for one in audit.too_few
    ]
    return {"groups": groups, "sentence": _lacking(audit) if groups else ""}


def _lacking(audit: AuditParts) -> str:
    groups, margin = audit.too_few, audit.margin
    by = number(margin or MARGIN)
    if audit.evidence.task == "regression" and not margin:
        by = "a tenth of a standard deviation"
    named = [f"{show(one.label)} ({one.rows:,})" for one in groups[:MOST_NAMED]]
    more = len(groups) - len(named)
    named += [f"{more} more"] if more else []
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    needed = max((one.rows_needed for one in groups if np.isfinite(one.rows_needed)), default=0.0)
    enough = f"; about {float(f'{needed:.2g}'):,.0f} each would do" if needed else ""
    has = "has" if len(groups) == 1 else "have"
    return (
        f"{len(groups)} of {plural(len(audit.evidence.groups), 'group')} {has} too few rows to "
        f"show a difference of {by} from the others: {listed}{enough}."
    )


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


def _level(confidence: float) -> float:
    """What confidence leaves, without the rounding of 1 − 0.95."""
    return round(1 - confidence, 12)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_number(value) for value in values]


MOST_ROWS = 60
FINDING = ("criterion", "measure", "value", "interval", "p adjusted", "verdict")
SUBGROUP = ("subgroup", "rows", "statistic", "value", "all others", "differs at least by")


def markdown(document: dict[str, Any]) -> str:
    """Headline, findings, subgroups and notes of an audit's document."""
    findings = document["findings"]
    by_criterion = {row["criterion"]: row["verdict"] for row in findings}
    differ = sum(verdict == "differs" for verdict in by_criterion.values())
    by = " × ".join(document["group_columns"])
    gated = any(row["judged"] for row in findings)
    parts = [
        f"# {document['title'] or 'Audit'}",
        f"{document['rows']:,} rows in {len(document['groups'])} groups by {by}. "
        f"The groups differ on {differ} of {len(by_criterion)} criteria.",
        _table(
            (*FINDING, "tolerance", "judged") if gated else FINDING,
            [_finding_row(one, gated) for one in findings],
        ),
        "## In words",
        "\n".join(f"- {name}: {text}" for name, text in _conclusions(findings).items()),
    ]
    flagged = [one for one in document["subgroups"] if one["flagged"]]
    if flagged:
        parts += ["## Subgroups that differ from all others", document["scan"]["sentence"]]
        parts += [_table(SUBGROUP, map(_subgroup_row, flagged))]
    if document["too_few"]["groups"]:
        parts += ["## Too few rows to say", escaped(document["too_few"]["sentence"])]
    if document["notes"]:
        parts += ["## Notes", "\n".join(f"- {note}" for note in document["notes"])]
    return "\n\n".join(parts) + "\n"


def _conclusions(findings: Iterable[dict[str, Any]]) -> dict[str, str]:
    """What is found of each criterion, as text that is no markup."""
    return {row["criterion"]: escaped(row["conclusion"]) for row in findings}


def _finding_row(one: dict[str, Any], gated: bool) -> tuple[str, ...]:
    between = f"{number(one['low'])} to {number(one['high'])}"
    told = number(one["tolerance"]) if one["judged"] else "", one["judged"] or ""
    return (
        one["criterion"],
        one["measure"],
        number(one["value"]),
        between,
        p_value(one["p_adjusted"]),
        one["verdict"],
        *(told if gated else ()),
    )


def _subgroup_row(one: dict[str, Any]) -> tuple[str, ...]:
    numbers = (number(one[name]) for name in ("value", "rest", "at_least"))
    return (one["label"], f"{one['rows']:,}", one["statistic"], *numbers)


def _table(heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    kept = list(rows)
    text, hidden = markdown_table(heads, kept[:MOST_ROWS]), len(kept) - MOST_ROWS
    return f"{text}\n\n({hidden} more not shown)" if hidden > 0 else text
