"""The audit as a document of JSON values, the source of every page and file."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from evenhand._audit.alternatives import alternatives_document
from evenhand._audit.curves import Levels, Thresholds
from evenhand._audit.finding import Finding, GroupValues
from evenhand._audit.naming import Names
from evenhand._audit.parts import AuditParts
from evenhand._audit.steps import gate, steps
from evenhand._audit.subgroups import Subgroup
from evenhand._audit.summary import by_rank, names_of, shown_margin, summary
from evenhand._audit.views import View
from evenhand._data.groups import show
from evenhand._result import json_number, json_numbers, version
from evenhand._words import listing, name, plural

SCHEMA = "evenhand.audit/4"
MOST_SUBGROUPS = 200
MOST_NAMED = 8
PACKAGES = ("evenhand", "numpy", "scipy")


def document(audit: AuditParts) -> dict[str, Any]:
    """The audit as JSON values; labels are text as displayed, undefined numbers None."""
    evidence, names = audit.evidence, names_of(audit)
    summarized, too_few = summary(audit), _too_few(audit, names)
    labels = [names(evidence.columns, label) for label in evidence.groups]
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
            {"label": label, "rows": int(n), "weight": float(w)}
            for label, n, w in zip(labels, rows, weight, strict=True)
        ],
        "classes": [show(label) for label in evidence.classes],
        "favorable": None if evidence.favorable is None else show(evidence.favorable),
        "favorable_assumed": evidence.assumed,
        "decided_at": evidence.decided_at,
        "confidence": audit.confidence,
        "multiplicity": {
            "method": "Holm",
            "findings": len(audit.findings),
            "hypotheses": max((finding.tests for finding in audit.findings), default=0),
            "choices": audit.choices,
            "level": _level(audit.confidence),
        },
        "provenance": _provenance(audit),
        "notes": list(audit.notes),
        "summary": summarized,
        "next": steps(audit, summarized, too_few),
        "gate": gate(audit),
        "criteria": [_criterion(item) for item in audit.group_values],
        "findings": [_finding(row, audit, names) for row in rows_of(audit.findings)],
        "views": [_view(item) for item in audit.views],
        "scan": _scan(audit),
        "subgroups": [_subgroup(item, names) for item in audit.subgroups[:MOST_SUBGROUPS]],
        "too_few": too_few,
        "thresholds": _thresholds(audit.thresholds),
        "distributions": _levels(audit.levels, audit, names),
        "frontier": alternatives_document(audit.alternatives),
        "why": _why(audit, names),
    }


def _why(audit: AuditParts, names: Names) -> dict[str, Any] | None:
    """The account of the first gap that has one."""
    differing = [finding for finding in by_rank(audit) if finding.verdict == "differs"]
    if not differing:
        return None
    from evenhand._audit.why import first_account

    account = first_account(audit.evidence, differing, names, audit.confidence)
    return None if account is None else account.document()


def _provenance(audit: AuditParts) -> dict[str, Any]:
    """Provenance for the foot of a report: versions and hashes."""
    return {
        "date": audit.date,
        "model": audit.model,
        "data": audit.evidence.fingerprint,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
    }


def _criterion(values: GroupValues) -> dict[str, Any]:
    return {
        "name": values.criterion,
        "formula": values.formula,
        "statistic": values.statistic,
        "asks": values.asks,
        "is_not": values.is_not,
        "range": values.range,
        "bounds": json_numbers(values.bounds),
        "cells": [
            {
                "label": show(cell),
                "values": json_numbers(values.values[i]),
                "low": json_numbers(values.low[i]),
                "high": json_numbers(values.high[i]),
                "pooled": json_numbers(values.pooled[i]),
                "overall": json_number(values.overall[i]),
                "rows": None if values.rows is None else json_numbers(values.rows[i]),
            }
            for i, cell in enumerate(values.cells)
        ],
    }


Row = dict[str, Any]


def rows_of(findings: Iterable[Finding]) -> Iterator[Row]:
    """A row for each criterion and measure, with the results of the criterion."""
    for finding in findings:
        for measured in finding.values.values():
            results = {field.name: getattr(measured, field.name) for field in fields(measured)}
            yield results | {
                "p_value": finding.p_value,
                "p_error": finding.p_error,
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


def _finding(row: Row, audit: AuditParts, names: Names) -> dict[str, Any]:
    columns = audit.evidence.columns
    numbers = ("value", "low", "high", "p_value", "p_error", "p_adjusted")
    shared = ("criterion", "measure", "aggregate", "transform", "verdict", "tolerance", "judged")
    pair, gap = row["pair"], row["gap"]
    return {
        **{name: row[name] for name in shared},
        **{name: json_number(row[name]) for name in numbers},
        "gap": {name: json_number(getattr(gap, name)) for name in ("value", "low", "high")},
        "margin": row["margin"],
        "is_rate": row["is_rate"],
        "worst_cell": None if row["worst_cell"] is None else show(row["worst_cell"]),
        "pair": pair
        and {
            "high": {"group": names(columns, pair.high), "value": pair.high_value},
            "low": {"group": names(columns, pair.low), "value": pair.low_value},
            "cell": None if pair.cell is None else show(pair.cell),
        },
        "cell_values": [
            {"cell": show(cell), "value": json_number(value)}
            for cell, value in zip(row["cells"], row["cell_values"], strict=True)
        ],
        "contributions": json_numbers(row["contributions"]),
        "left_out": [
            {"cell": show(cell), "group": names(columns, group)} for cell, group in row["left_out"]
        ],
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
                "value": json_number(value),
                "p_value": json_number(finding.p_value),
                "p_adjusted": json_number(finding.p_adjusted),
                "verdict": finding.verdict,
            }
            for finding in view.findings
            for measure, value in finding.values.items()
        ],
    }


def _scan(audit: AuditParts) -> dict[str, Any]:
    """The scan of subgroups: its number of comparisons and its error rate."""
    error = _level(audit.confidence)
    comparisons = max((subgroup.comparisons for subgroup in audit.subgroups), default=0)
    meaning = {
        "familywise": f"Significant at {100 - 100 * error:g}%, corrected",
        "false_discovery": f"An expected {100 * error:g}% at most of these are flagged wrongly",
    }[audit.control]
    return {
        "control": audit.control,
        "error": error,
        "comparisons": comparisons,
        "flagged": sum(subgroup.flagged for subgroup in audit.subgroups),
        "sentence": f"{meaning}, over {plural(comparisons, 'comparison')}.",
    }


def _too_few(audit: AuditParts, names: Names) -> dict[str, Any]:
    """The groups too small to judge, with the rows that they would need."""
    groups = [
        {
            "label": names(group.columns, group.label),
            "rows": group.rows,
            "rows_needed": json_number(group.rows_needed),
        }
        for group in audit.too_few
    ]
    return {"groups": groups, "sentence": lacking(audit, names) if groups else ""}


def lacking(audit: AuditParts, names: Names) -> str:
    groups = audit.too_few
    shown_names = [name(names(group.columns, group.label)) for group in groups[:MOST_NAMED]]
    listed = [
        f"{group_name} ({group.rows:,})"
        for group_name, group in zip(shown_names, groups, strict=False)
    ]
    remaining = len(groups) - len(listed)
    listed += [f"{remaining} more"] if remaining else []
    needed = max(
        (group.rows_needed for group in groups if np.isfinite(group.rows_needed)), default=0.0
    )
    rows = f"{float(f'{needed:.2g}'):,.0f}"
    alone = len(groups) == 1
    enough = f" {'It' if alone else 'Each'} would need about {rows} rows." if needed else ""
    who = f"{_how_many(len(groups), len(audit.evidence.groups))} {'has' if alone else 'have'}"
    return (
        f"{who} too few rows to show a difference of {shown_margin(audit)} from the others: "
        f"{listing(listed)}.{enough}"
    )


def _how_many(number: int, all_of: int) -> str:
    """Number of groups in words, "All" if it is all of them.

    >>> _how_many(1, 3), _how_many(2, 2), _how_many(3, 3)
    ('1 of 3 groups', 'Both groups', 'All 3 groups')
    """
    if number < all_of:
        return f"{number} of {plural(all_of, 'group')}"
    return "Both groups" if number == 2 else f"All {plural(number, 'group')}"


def _subgroup(subgroup: Subgroup, names: Names) -> dict[str, Any]:
    numbers = ("value", "rest", "difference", "at_least", "people", "rows_needed")
    return {
        "columns": list(subgroup.columns),
        "label": names(subgroup.columns, subgroup.label),
        "rows": subgroup.rows,
        "counted": subgroup.counted,
        "statistic": subgroup.statistic,
        **{name: json_number(getattr(subgroup, name)) for name in numbers},
        "flagged": subgroup.flagged,
        "too_few": subgroup.too_few,
    }


def _thresholds(thresholds: Thresholds | None) -> dict[str, Any] | None:
    if thresholds is None:
        return None
    series = [
        {
            "criterion": curve.criterion,
            "measure": curve.measure,
            "values": json_numbers(curve.values),
        }
        for curve in thresholds.curves
    ]
    return {"at": json_numbers(thresholds.at), "series": series, "used": thresholds.used}


def _levels(levels: Levels | None, audit: AuditParts, names: Names) -> dict[str, Any] | None:
    if levels is None:
        return None
    return {
        "of": levels.of,
        "at": json_numbers(levels.at),
        "groups": [names(audit.evidence.columns, group) for group in levels.groups],
        "levels": [json_numbers(row) for row in levels.levels],
        "pooled": json_numbers(levels.pooled),
    }


def _level(confidence: float) -> float:
    """One minus the confidence, without the rounding error of 1 − 0.95."""
    return round(1 - confidence, 12)
