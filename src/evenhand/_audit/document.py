"""The audit as a plain document of JSON values: the one source of every page and file."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from importlib.metadata import version
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
from evenhand._words import listing, name, plural

SCHEMA = "evenhand.audit/4"
MOST_SUBGROUPS = 200
MOST_NAMED = 8
PACKAGES = ("evenhand", "numpy", "scipy")


def document(audit: AuditParts) -> dict[str, Any]:
    """The whole audit; labels are text as people read it, undefined numbers are None."""
    evidence, names = audit.evidence, names_of(audit)
    summarized, too_few = summary(audit), _too_few(audit, names)
    labels = [names(evidence.columns, label) for label in evidence.groups]
    rows, weight = evidence.rows, evidence.counted.table("group")
    return {
        "schema": SCHEMA,
        "evenhand": _installed("evenhand"),
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
        "criteria": [_criterion(one) for one in audit.group_values],
        "findings": [_finding(row, audit, names) for row in rows_of(audit.findings)],
        "views": [_view(one) for one in audit.views],
        "scan": _scan(audit),
        "subgroups": [_subgroup(one, names) for one in audit.subgroups[:MOST_SUBGROUPS]],
        "too_few": too_few,
        "thresholds": _thresholds(audit.thresholds),
        "distributions": _levels(audit.levels, audit, names),
        "frontier": alternatives_document(audit.alternatives),
        "why": _why(audit, names),
    }


def _why(audit: AuditParts, names: Names) -> dict[str, Any] | None:
    """What the first gap that can be accounted for is made of."""
    differing = [finding for finding in by_rank(audit) if finding.verdict == "differs"]
    if not differing:
        return None
    from evenhand._audit.why import first_account

    found = first_account(audit.evidence, differing, names, audit.confidence)
    return None if found is None else found.document()


def _provenance(audit: AuditParts) -> dict[str, Any]:
    """What to write under a report, so that it can be traced."""
    return {
        "date": audit.date,
        "model": audit.model,
        "data": audit.evidence.fingerprint,
        "python": platform.python_version(),
        "versions": {name: _installed(name) for name in PACKAGES},
    }


_installed = cache(version)  # the metadata of a package is a file, parsed as mail is


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


def _finding(row: Row, audit: AuditParts, names: Names) -> dict[str, Any]:
    columns = audit.evidence.columns
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
            "high": {"group": names(columns, pair.high), "value": pair.high_value},
            "low": {"group": names(columns, pair.low), "value": pair.low_value},
            "cell": None if pair.cell is None else show(pair.cell),
        },
        "cell_values": [
            {"cell": show(cell), "value": _number(value)}
            for cell, value in zip(row["cells"], row["cell_values"], strict=True)
        ],
        "contributions": _numbers(row["contributions"]),
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
        "familywise": f"Significant at {100 - 100 * error:g}%, corrected",
        "false_discovery": f"An expected {100 * error:g}% at most of these are flagged wrongly",
    }[audit.control]
    return {
        "control": audit.control,
        "error": error,
        "comparisons": comparisons,
        "flagged": sum(one.flagged for one in audit.subgroups),
        "sentence": f"{meaning}, over {plural(comparisons, 'comparison')}.",
    }


def _too_few(audit: AuditParts, names: Names) -> dict[str, Any]:
    """The groups too small to judge, and in words how many rows they would need."""
    groups = [
        {
            "label": names(one.columns, one.label),
            "rows": one.rows,
            "rows_needed": _number(one.rows_needed),
        }
        for one in audit.too_few
    ]
    return {"groups": groups, "sentence": lacking(audit, names) if groups else ""}


def lacking(audit: AuditParts, names: Names) -> str:
    groups = audit.too_few
    called = [name(names(one.columns, one.label)) for one in groups[:MOST_NAMED]]
    named = [f"{one} ({group.rows:,})" for one, group in zip(called, groups, strict=False)]
    more = len(groups) - len(named)
    named += [f"{more} more"] if more else []
    needed = max((one.rows_needed for one in groups if np.isfinite(one.rows_needed)), default=0.0)
    rows = f"{float(f'{needed:.2g}'):,.0f}"
    alone = len(groups) == 1
    enough = f" {'It' if alone else 'Each'} would need about {rows} rows." if needed else ""
    who = f"{_how_many(len(groups), len(audit.evidence.groups))} {'has' if alone else 'have'}"
    return (
        f"{who} too few rows to show a difference of {shown_margin(audit)} from the others: "
        f"{listing(named)}.{enough}"
    )


def _how_many(some: int, all_of: int) -> str:
    """Some of the groups, or all of them.

    >>> _how_many(1, 3), _how_many(2, 2), _how_many(3, 3)
    ('1 of 3 groups', 'Both groups', 'All 3 groups')
    """
    if some < all_of:
        return f"{some} of {plural(all_of, 'group')}"
    return "Both groups" if some == 2 else f"All {plural(some, 'group')}"


def _subgroup(subgroup: Subgroup, names: Names) -> dict[str, Any]:
    numbers = ("value", "rest", "difference", "at_least", "people", "rows_needed")
    return {
        "columns": list(subgroup.columns),
        "label": names(subgroup.columns, subgroup.label),
        "rows": subgroup.rows,
        "counted": subgroup.counted,
        "statistic": subgroup.statistic,
        **{name: _number(getattr(subgroup, name)) for name in numbers},
        "flagged": subgroup.flagged,
        "too_few": subgroup.too_few,
    }


def _thresholds(thresholds: Thresholds | None) -> dict[str, Any] | None:
    if thresholds is None:
        return None
    series = [
        {"criterion": one.criterion, "measure": one.measure, "values": _numbers(one.values)}
        for one in thresholds.curves
    ]
    return {"at": _numbers(thresholds.at), "series": series, "used": thresholds.used}


def _levels(levels: Levels | None, audit: AuditParts, names: Names) -> dict[str, Any] | None:
    if levels is None:
        return None
    return {
        "of": levels.of,
        "at": _numbers(levels.at),
        "groups": [names(audit.evidence.columns, group) for group in levels.groups],
        "levels": [_numbers(row) for row in levels.levels],
        "pooled": _numbers(levels.pooled),
    }


def _level(confidence: float) -> float:
    """What confidence leaves, without the rounding of 1 − 0.95."""
    return round(1 - confidence, 12)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_number(value) for value in values]
