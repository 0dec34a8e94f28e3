"""The audit on one screen, as data: a sentence, groups × metrics, and a line per criterion.

Every form (page, terminal, notebook, Markdown, Python) starts with this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Any

import numpy as np

from evenhand._audit.comparisons import MARGIN
from evenhand._audit.finding import Finding, GroupValues
from evenhand._audit.metrics import (
    MetricTable,
    class_key,
    has_column_for_each_class,
    metric_table,
)
from evenhand._audit.naming import Names
from evenhand._audit.parts import AuditParts
from evenhand._audit.subgroups import Subgroup
from evenhand._audit.wording import Wording
from evenhand._columns import Label
from evenhand._columns.bins import Bin
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand._result import json_number, json_numbers
from evenhand._words import name, number, percent, plural, points_up
from evenhand.criteria.criterion import class_of

FOUR_FIFTHS = 0.8
MOST_SUBGROUPS = 5
COLUMNS = {
    "statistical_parity": "selection_rate",
    "selection_rate_ratio": "selection_rate",
    "equal_opportunity": "true_positive_rate",
    "predictive_equality": "false_positive_rate",
    "accuracy_parity": "accuracy",
    "performance_parity(mean_error)": "mean_error",
    "weak_parity": "mean_prediction",
    "top_k_parity": "top_k_share",
    "exposure_parity": "exposure",
}
FIRST = (
    "top_k_parity",
    "statistical_parity",
    "selection_rate_ratio",
    "performance_parity(mean_error)",
    "weak_parity",
    "equal_opportunity",
    "predictive_equality",
    "equalized_odds",
    "predictive_parity",
    "accuracy_parity",
    "error_parity",
    "performance_parity(mae)",
    "performance_parity(mse)",
)


def names_of(audit: AuditParts) -> Names:
    """Names of the groups and subgroups of an audit."""
    groups = [(audit.evidence.columns, label) for label in audit.evidence.groups]
    return Names.of(
        [*groups, *((subgroup.columns, subgroup.label) for subgroup in audit.subgroups)]
    )


def table_of(audit: AuditParts) -> MetricTable:
    """The groups × metrics of an audit."""
    focus = None if has_column_for_each_class(audit.evidence) else _focus(audit)
    return metric_table(audit.evidence, focus, audit.subgroups)


def summary(audit: AuditParts) -> dict[str, Any]:
    """The summary of an audit as JSON values.

    Parameters
    ----------
    audit : AuditParts
        All that was found.

    Returns
    -------
    dict
        "sentence", "about" and "claim" in words; "headline" (the first rate by group, with
        intervals), "table" (groups × metrics), "impact_ratio", "criteria" and "subgroups".

    """
    names, table = names_of(audit), table_of(audit)
    wording = Wording(audit.evidence, names)
    first = first_finding(audit)
    spoken = first_told(audit)
    return {
        "sentence": _sentence(audit, wording, first, spoken),
        "about": _about(audit),
        "claim": _claim(audit),
        "counts": dict(Counter(finding.verdict for finding in audit.findings)),
        "headline": _headline(audit, wording, spoken, table)
        or _headline(audit, wording, first, table),
        "table": _table(table, audit.evidence, names),
        "impact_ratio": _impact_ratio(audit, table, names),
        "criteria": [_line(finding, wording) for finding in audit.findings],
        "subgroups": [_subgroup(subgroup, names, audit.evidence) for subgroup in _chosen(audit)],
    }


def first_finding(audit: AuditParts) -> Finding:
    """The finding that the summary starts with."""
    return min(audit.findings, key=_rank)


def by_rank(audit: AuditParts) -> list[Finding]:
    """The findings in the order of the summary."""
    return sorted(audit.findings, key=_rank)


def _rank(finding: Finding) -> int:
    return FIRST.index(finding.criterion) if finding.criterion in FIRST else len(FIRST)


def first_told(audit: AuditParts) -> Finding:
    """The headline finding: the first criterion that differs, else the first one."""
    first = first_finding(audit)
    # If all decisions are equal, precision and accuracy only restate the base rates.
    compared = (f for f in audit.findings if first.sameness is None or f.sameness is None)
    return min((f for f in compared if f.verdict == "differs"), key=_rank, default=first)


def _sentence(audit: AuditParts, wording: Wording, first: Finding, spoken: Finding) -> str:
    """Sentences on the headline finding and, if that is another, on the first criterion."""
    findings = (spoken,) if spoken is first else (spoken, first)
    return " ".join(wording.sentence(finding, _values(audit, finding)) for finding in findings)


def _about(audit: AuditParts) -> str:
    evidence, few = audit.evidence, len(audit.too_few)
    if min(audit.findings, key=_rank).sameness is not None:
        few = 0  # more rows of the same decision would not help
    column_names = " × ".join(evidence.columns)
    text = f"{plural(evidence.rows.sum(), 'row')}"
    if "weight" in evidence.counted.sums:
        text += ", weighted,"
    text += f" in {plural(len(evidence.groups), 'group')} by {column_names}"
    if few:
        text += f"; {missed(audit)}"
    return f"{text}.{assumed_label(evidence)}"


def missed(audit: AuditParts) -> str:
    """Sentence on differences that small groups have too few rows to show."""
    few = len(audit.too_few)
    all_of_them = "both" if few == 2 else "all"
    where = all_of_them if few == len(audit.evidence.groups) else plural(few, "group")
    return f"in {where} a difference of {shown_margin(audit)} could be missed"


def shown_margin(audit: AuditParts) -> str:
    """The difference that a group should have enough rows to show."""
    if not audit.evidence.is_of_labels:
        return number(audit.margin) if audit.margin else "a tenth of a standard deviation"
    return points_up(audit.margin or MARGIN)


def _claim(audit: AuditParts) -> str:
    """Sentence on the conclusions that the audit supports, and those that it does not."""
    verdicts = {f.verdict for f in audit.findings if f.sameness is None}
    level, number = percent(audit.confidence), len(audit.findings)
    basis = f"{level} confidence" + (f", corrected for {number} criteria" if number > 1 else "")
    if "differs" in verdicts:
        conclusion, missing = (
            f"that the groups differ ({basis})",
            "why, or whether it is lawful",
        )
    elif "cannot tell" in verdicts and "alike" in verdicts:
        alike = sum(f.verdict == "alike" for f in audit.findings if f.sameness is None)
        conclusion = f"that the groups are alike in {alike} of {number} criteria ({basis})"
        missing = "whether they differ in the others"
    elif "cannot tell" in verdicts and _chosen(audit):
        return (
            f"No criterion shows that the groups differ ({basis}), but some stand out: they differ "
            "from everyone else. It does not show why."
        )
    elif "cannot tell" in verdicts:
        return f"This shows neither that the groups differ nor that they are alike ({basis})."
    elif "alike" in verdicts:
        conclusion = f"that the groups are alike within the margin ({basis})"
        missing = "that the model is fair in other respects"
    else:
        return "This is not evidence that the groups are treated alike."
    return f"This shows {conclusion}. It does not show {missing}."


def assumed_label(evidence: Evidence) -> str:
    """Note on the label that was assumed to be favorable, and how to name another."""
    if not evidence.assumed:
        return ""
    good = show(evidence.favorable)
    others = " or ".join(show(label) for label in evidence.classes if label != evidence.favorable)
    advice = f", name {others} as favorable" if others else ", say so"
    return f" Favorable label: {good} (assumed; if {good} is the unwanted outcome{advice})."


def _values(audit: AuditParts, finding: Finding) -> GroupValues:
    return next(values for values in audit.group_values if values.criterion == finding.criterion)


def _focus(audit: AuditParts) -> Label:
    """The class that rates are about: the favorable one, else the one with the clearest gap."""
    evidence = audit.evidence
    if not evidence.is_of_labels or evidence.favorable is not None:
        return evidence.favorable
    for finding in audit.findings:
        if finding.criterion == "statistical_parity" and finding.pair is not None:
            return class_of(finding.pair.cell)
    counts = evidence.counted
    predicted = counts.table("yhat", "group")
    expected = np.outer(predicted.sum(axis=1), predicted.sum(axis=0)) / max(predicted.sum(), 1e-300)
    deviation = ((predicted - expected) ** 2 / np.maximum(expected, 1e-300)).sum(axis=1)
    return counts.labels("yhat")[int(np.argmax(deviation))]


def _cell_of(values: GroupValues, finding: Finding, favorable: Label) -> int | None:
    """The cell of the first chart: that of the pair, or of the favorable class."""
    cells = list(values.cells)
    if not cells:
        return None
    label = finding.pair.cell if finding.pair is not None else favorable
    return cells.index(label) if label in cells else 0


def _metric_of(finding: Finding, cell: Label, table: MetricTable) -> str | None:
    """The column of the table that a criterion compares, if the scan covers it."""
    column, of_class = COLUMNS.get(finding.criterion), table.of_class
    if column != "accuracy" and of_class is not None and cell != of_class:
        return None
    keys = {metric.key for metric in table.metrics}
    of_cell = class_key(cell)
    return of_cell if column == "selection_rate" and of_cell in keys else column


def _headline(
    audit: AuditParts, wording: Wording, finding: Finding, table: MetricTable
) -> dict[str, Any] | None:
    """The groups' values of the first criterion, with intervals and rows."""
    values = _values(audit, finding)
    at = _cell_of(values, finding, audit.evidence.favorable)
    if at is None:
        return None
    rows = audit.evidence.rows if values.rows is None else values.rows[at]
    columns = audit.evidence.columns
    return {
        "criterion": finding.criterion,
        "name": wording.metric(finding, values.cells[at]),
        "metric": _metric_of(finding, values.cells[at], table),
        "is_rate": finding.is_share,
        "overall": json_number(values.overall[at]),
        "named": [wording.names(columns, end) for end in _ends(finding)],
        "groups": [
            {
                "label": wording.names(columns, label),
                "rows": json_number(rows[i]),
                **{
                    key: json_number(getattr(values, name)[at, i])
                    for key, name in (("value", "values"), ("low", "low"), ("high", "high"))
                },
            }
            for i, label in enumerate(values.groups)
        ],
    }


def _ends(finding: Finding) -> Sequence[Label]:
    """The groups that a sentence about the finding names."""
    pair = finding.pair if finding.verdict == "differs" else None
    return () if pair is None else (pair.low, pair.high)


def _table(table: MetricTable, evidence: Evidence, names: Names) -> dict[str, Any]:
    return {
        "of_class": None if table.of_class is None else show(table.of_class),
        "metrics": [metric._asdict() for metric in table.metrics],
        "groups": [
            {
                "label": names(evidence.columns, label),
                "rows": int(table.rows[i]),
                "values": json_numbers(table.values[:, i]),
                "apart": table.side[:, i].tolist(),
            }
            for i, label in enumerate(table.groups)
        ],
        "overall": {"rows": int(table.rows.sum()), "values": json_numbers(table.overall)},
        "difference": json_numbers(table.difference),
        "ratio": json_numbers(table.ratio),
    }


def _impact_ratio(audit: AuditParts, table: MetricTable, names: Names) -> dict[str, Any] | None:
    """Each group's selection rate over the highest one, compared with four fifths."""
    keys = [metric.key for metric in table.metrics]
    if audit.evidence.favorable is None or "selection_rate" not in keys:
        return None
    if audit.evidence.sameness("predictions") is not None:
        return None
    rates = table.values[keys.index("selection_rate")]
    if not np.nanmax(rates, initial=0.0) > 0:
        return None
    top = len(rates) - 1 - int(np.nanargmax(rates[::-1]))  # in ties, not the lowest one again
    lowest = int(np.nanargmin(rates))
    lowest, top = _named_ends(audit, table) or (lowest, top)
    ratios = rates / rates[top]
    low, high = _ratio_interval(audit.findings)
    side = "cannot tell"
    if high is not None and high < FOUR_FIFTHS:
        side = "below"
    elif low is not None and low >= FOUR_FIFTHS:
        side = "at or above"
    columns = audit.evidence.columns
    ends = [names(columns, table.groups[i]) for i in (lowest, top)]
    return {
        "value": float(ratios[lowest]),
        "low": low,
        "high": high,
        "lowest": ends[0],
        "highest": ends[1],
        "highest_rate": float(rates[top]),
        "line": FOUR_FIFTHS,
        "side": side,
        "groups": [
            {"label": names(columns, label), "ratio": json_number(ratios[i])}
            for i, label in enumerate(table.groups)
        ],
        "sentence": _ratio_sentence(float(ratios[lowest]), low, high, side, ends, audit.confidence),
    }


def _named_ends(audit: AuditParts, table: MetricTable) -> tuple[int, int] | None:
    """The two groups that the sentence names, for the impact ratio to be about the same ones."""
    for finding in sorted(audit.findings, key=_rank):
        pair = finding.pair
        if COLUMNS.get(finding.criterion) != "selection_rate" or pair is None:
            continue
        if finding.verdict != "differs" or class_of(pair.cell) != audit.evidence.favorable:
            return None
        groups = list(table.groups)
        return (groups.index(pair.low), groups.index(pair.high)) if pair.high_value else None
    return None


def _ratio_interval(findings: Iterable[Finding]) -> tuple[float | None, float | None]:
    """The interval of the ratio of the lowest to the highest selection rate, if there is one."""
    for finding in findings:
        if finding.criterion == "selection_rate_ratio" and "ratio" in finding.values:
            ratio = finding["ratio"]
            return json_number(ratio.low), json_number(ratio.high)
    return None, None


def _ratio_sentence(
    value: float,
    low: float | None,
    high: float | None,
    side: str,
    ends: Sequence[str],
    confidence: float,
) -> str:
    text = f"Impact ratio: {value:.2f} ({name(ends[0])} against {name(ends[1])})"
    if low is None or high is None:
        return f"{text}; the four-fifths line is 0.80."
    line = "the four-fifths line of 0.80"
    low, high = floor(100 * low + 1e-9) / 100, ceil(100 * high - 1e-9) / 100
    interval = f"{confidence:.0%} interval {low:.2f} to {high:.2f}"
    which = f"is {side} {line}"
    if side == "cannot tell":
        which = f"may be on either side of {line}"
    return f"{text}. The lowest rate divided by the highest ({interval}) {which}."


def _line(finding: Finding, wording: Wording) -> dict[str, Any]:
    tolerated = {value.judged for value in finding.values.values()} - {None}
    order = ("exceeds", "falls short", "inconclusive", "within tolerance")
    return {
        "name": finding.criterion,
        "verdict": finding.verdict,
        "words": wording.line(finding),
        "short": wording.short(finding),
        "judged": next((judged for judged in order if judged in tolerated), None),
    }


def _chosen(audit: AuditParts) -> list[Subgroup]:
    """The first subgroups that differ from everybody else, without repetition.

    Without the second of two complementary groups, and parts of earlier ones.
    """
    pairs = {view.columns for view in audit.views if len(view.evidence.groups) == 2}
    if len(audit.evidence.groups) == 2:
        pairs.add(audit.evidence.columns)
    chosen: dict[tuple[tuple[str, ...], Label], Subgroup] = {}
    # For numbers, over- and under-prediction comes before higher predictions.
    for subgroup in sorted(audit.subgroups, key=lambda s: s.statistic != "mean error"):
        parts = _parts(subgroup)
        is_shown = (subgroup.columns, subgroup.label) in chosen or (
            len(parts) > 1 and any(part in chosen for part in parts)
        )
        is_complement = subgroup.columns in pairs and any(
            columns == subgroup.columns for columns, _ in chosen
        )
        if subgroup.flagged and not is_shown and not is_complement:
            chosen[subgroup.columns, subgroup.label] = subgroup
    return list(chosen.values())[:MOST_SUBGROUPS]


def _parts(subgroup: Subgroup) -> list[tuple[tuple[str, ...], Label]]:
    """The groups by single columns that contain a subgroup."""
    label = subgroup.label
    if not isinstance(label, tuple) or isinstance(label, Bin):
        return [(subgroup.columns, label)]
    return [((name,), part) for name, part in zip(subgroup.columns, label, strict=True)]


def _subgroup(subgroup: Subgroup, names: Names, evidence: Evidence) -> dict[str, Any]:
    selected = evidence.favorable is not None and subgroup.statistic.startswith("selection rate")
    return {
        "label": names(subgroup.columns, subgroup.label),
        "rows": subgroup.rows,
        "statistic": "selection rate" if selected else subgroup.statistic,
        "is_rate": evidence.is_of_labels or subgroup.statistic.startswith("share"),
        **{name: json_number(getattr(subgroup, name)) for name in ("value", "rest", "at_least")},
    }
