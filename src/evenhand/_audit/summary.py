"""The audit on one screen, as data: a sentence, the groups × metrics, and a line a criterion.

Every form (page, terminal, notebook, Markdown, Python) shows this and nothing else first.
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
    """What the groups and subgroups of an audit are called."""
    known = [(audit.evidence.columns, label) for label in audit.evidence.groups]
    return Names.of([*known, *((one.columns, one.label) for one in audit.subgroups)])


def table_of(audit: AuditParts) -> MetricTable:
    """The groups × metrics of an audit."""
    one = None if has_column_for_each_class(audit.evidence) else _focus(audit)
    return metric_table(audit.evidence, one, audit.subgroups)


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
        "subgroups": [_subgroup(one, names, audit.evidence) for one in _chosen(audit)],
    }


def first_finding(audit: AuditParts) -> Finding:
    """The finding that a summary begins with."""
    return min(audit.findings, key=_rank)


def by_rank(audit: AuditParts) -> list[Finding]:
    """The findings in the order in which a summary tells them."""
    return sorted(audit.findings, key=_rank)


def _rank(finding: Finding) -> int:
    return FIRST.index(finding.criterion) if finding.criterion in FIRST else len(FIRST)


def first_told(audit: AuditParts) -> Finding:
    """The finding that is spoken of and drawn first: what differs, else the first criterion."""
    first = first_finding(audit)
    # Where all decisions are equal, precision and accuracy only restate the base rates.
    compared = (f for f in audit.findings if first.sameness is None or f.sameness is None)
    return min((f for f in compared if f.verdict == "differs"), key=_rank, default=first)


def _sentence(audit: AuditParts, wording: Wording, first: Finding, spoken: Finding) -> str:
    """What differs first, and then what is found of the first criterion, where that is not it."""
    said = (spoken,) if spoken is first else (spoken, first)
    return " ".join(wording.sentence(finding, _values(audit, finding)) for finding in said)


def _about(audit: AuditParts) -> str:
    evidence, few = audit.evidence, len(audit.too_few)
    if min(audit.findings, key=_rank).sameness is not None:
        few = 0  # more rows of the same decision would not help
    by = " × ".join(evidence.columns)
    text = f"{plural(evidence.rows.sum(), 'row')}"
    if "weight" in evidence.counted.sums:
        text += ", weighted,"
    text += f" in {plural(len(evidence.groups), 'group')} by {by}"
    if few:
        text += f"; {missed(audit)}"
    return f"{text}.{assumed_label(evidence)}"


def missed(audit: AuditParts) -> str:
    """What the rows of small groups could not have shown."""
    few = len(audit.too_few)
    whole = "both" if few == 2 else "all"
    where = whole if few == len(audit.evidence.groups) else plural(few, "group")
    return f"in {where} a difference of {shown_margin(audit)} could be missed"


def shown_margin(audit: AuditParts) -> str:
    """The difference that a group's rows should have been able to show."""
    if not audit.evidence.is_of_labels:
        return number(audit.margin) if audit.margin else "a tenth of a standard deviation"
    return points_up(audit.margin or MARGIN)


def _claim(audit: AuditParts) -> str:
    """What may be said on the strength of the audit, and what may not."""
    found = {f.verdict for f in audit.findings if f.sameness is None}
    level, many = percent(audit.confidence), len(audit.findings)
    sure = f"{level} confidence" + (f", corrected for {many} criteria" if many > 1 else "")
    if "differs" in found:
        shown, missing = f"that the groups differ ({sure})", "why, or whether it is lawful"
    elif "cannot tell" in found and "alike" in found:
        alike = sum(f.verdict == "alike" for f in audit.findings if f.sameness is None)
        shown = f"that the groups are alike in {alike} of {many} criteria ({sure})"
        missing = "whether they differ in the others"
    elif "cannot tell" in found and _chosen(audit):
        return (
            f"No criterion shows that the groups differ ({sure}), but some stand out: they differ "
            "from everyone else. It does not show why."
        )
    elif "cannot tell" in found:
        return f"This shows neither that the groups differ nor that they are alike ({sure})."
    elif "alike" in found:
        shown = f"that the groups are alike within the margin ({sure})"
        missing = "that the model is fair in other respects"
    else:
        return "This is not evidence that the groups are treated alike."
    return f"This shows {shown}. It does not show {missing}."


def assumed_label(evidence: Evidence) -> str:
    """Which label was taken as favorable where none was named, and the way out."""
    if not evidence.assumed:
        return ""
    good = show(evidence.favorable)
    other = " or ".join(show(one) for one in evidence.classes if one != evidence.favorable)
    named = f", name {other} as favorable" if other else ", say so"
    return f" Favorable label: {good} (assumed; if {good} is the unwanted outcome{named})."


def _values(audit: AuditParts, finding: Finding) -> GroupValues:
    return next(one for one in audit.group_values if one.criterion == finding.criterion)


def _focus(audit: AuditParts) -> Label:
    """The class that rates are about: the favorable one, else the one that differs most clearly."""
    evidence = audit.evidence
    if not evidence.is_of_labels or evidence.favorable is not None:
        return evidence.favorable
    for finding in audit.findings:
        if finding.criterion == "statistical_parity" and finding.pair is not None:
            return class_of(finding.pair.cell)
    counts = evidence.counted
    predicted = counts.table("yhat", "group")
    expected = np.outer(predicted.sum(axis=1), predicted.sum(axis=0)) / max(predicted.sum(), 1e-300)
    far = ((predicted - expected) ** 2 / np.maximum(expected, 1e-300)).sum(axis=1)
    return counts.labels("yhat")[int(np.argmax(far))]


def _cell_of(values: GroupValues, finding: Finding, favorable: Label) -> int | None:
    """The cell of the first chart: where the pair was found, or that of the favorable class."""
    cells = list(values.cells)
    if not cells:
        return None
    wanted = finding.pair.cell if finding.pair is not None else favorable
    return cells.index(wanted) if wanted in cells else 0


def _metric_of(finding: Finding, cell: Label, table: MetricTable) -> str | None:
    """The column of the table that a criterion compares, where the scan flags groups in it."""
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
        "overall": _number(values.overall[at]),
        "named": [wording.names(columns, end) for end in _ends(finding)],
        "groups": [
            {
                "label": wording.names(columns, label),
                "rows": _number(rows[i]),
                **{
                    key: _number(getattr(values, name)[at, i])
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
                "values": _numbers(table.values[:, i]),
                "apart": table.apart[:, i].tolist(),
            }
            for i, label in enumerate(table.groups)
        ],
        "overall": {"rows": int(table.rows.sum()), "values": _numbers(table.overall)},
        "difference": _numbers(table.difference),
        "ratio": _numbers(table.ratio),
    }


def _impact_ratio(audit: AuditParts, table: MetricTable, names: Names) -> dict[str, Any] | None:
    """Each group's selection rate over that of the most selected group, beside four fifths."""
    keys = [metric.key for metric in table.metrics]
    if audit.evidence.favorable is None or "selection_rate" not in keys:
        return None
    if audit.evidence.sameness("predictions") is not None:
        return None
    rates = table.values[keys.index("selection_rate")]
    if not np.nanmax(rates, initial=0.0) > 0:
        return None
    top = len(rates) - 1 - int(np.nanargmax(rates[::-1]))  # of equal rates, not the first twice
    least = int(np.nanargmin(rates))
    least, top = _named_ends(audit, table) or (least, top)
    ratios = rates / rates[top]
    low, high = _ratio_interval(audit.findings)
    side = "cannot tell"
    if high is not None and high < FOUR_FIFTHS:
        side = "below"
    elif low is not None and low >= FOUR_FIFTHS:
        side = "at or above"
    columns = audit.evidence.columns
    ends = [names(columns, table.groups[i]) for i in (least, top)]
    return {
        "value": float(ratios[least]),
        "low": low,
        "high": high,
        "lowest": ends[0],
        "highest": ends[1],
        "highest_rate": float(rates[top]),
        "line": FOUR_FIFTHS,
        "side": side,
        "groups": [
            {"label": names(columns, label), "ratio": _number(ratios[i])}
            for i, label in enumerate(table.groups)
        ],
        "sentence": _ratio_sentence(float(ratios[least]), low, high, side, ends, audit.confidence),
    }


def _named_ends(audit: AuditParts, table: MetricTable) -> tuple[int, int] | None:
    """The groups that the sentence names, so that the impact ratio is about the same two."""
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
    """The interval of the lowest selection rate over the highest, where it was asked."""
    for finding in findings:
        if finding.criterion == "selection_rate_ratio" and "ratio" in finding.values:
            ratio = finding["ratio"]
            return _number(ratio.low), _number(ratio.high)
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
    """The first subgroups that differ from everybody else, each once.

    Not the other one of two groups, of which the same is true, nor what is part of those before.
    """
    pairs = {view.columns for view in audit.views if len(view.evidence.groups) == 2}
    if len(audit.evidence.groups) == 2:
        pairs.add(audit.evidence.columns)
    chosen: dict[tuple[tuple[str, ...], Label], Subgroup] = {}
    # Of numbers, who is over- and under-predicted comes before who has higher predictions.
    for one in sorted(audit.subgroups, key=lambda s: s.statistic != "mean error"):
        parts = _parts(one)
        known = (one.columns, one.label) in chosen or (
            len(parts) > 1 and any(part in chosen for part in parts)
        )
        other = one.columns in pairs and any(columns == one.columns for columns, _ in chosen)
        if one.flagged and not known and not other:
            chosen[one.columns, one.label] = one
    return list(chosen.values())[:MOST_SUBGROUPS]


def _parts(subgroup: Subgroup) -> list[tuple[tuple[str, ...], Label]]:
    """The groups by one column that a subgroup is part of."""
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
        **{name: _number(getattr(subgroup, name)) for name in ("value", "rest", "at_least")},
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_number(value) for value in values]
