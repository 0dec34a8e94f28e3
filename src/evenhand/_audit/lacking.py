"""Steps for missing data: groups with too few rows, or none with some label."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenhand._audit.changes import MOST_NAMED
from evenhand._audit.parts import AuditParts
from evenhand._audit.step import Step, Summary, step
from evenhand._audit.summary import missed, names_of
from evenhand._columns import Label
from evenhand._columns.bins import MOST_CLASSES
from evenhand._words import capitalized, listing, name, plural

ENOUGH = 30  # rows of a group that is not merged with others
ERRORS = ("equalized_odds", "equal_opportunity", "predictive_equality")
PREDICTIVE = {"predictive_parity": "Precision", "false_omission_rate_parity": "False omission"}
OF_ROWS = (*ERRORS, *PREDICTIVE)  # undefined without rows


def lacking(audit: AuditParts, too_few: Summary) -> list[Step]:
    """Steps for groups with too few rows, or none with some label."""
    small = [_small(audit, too_few)] if too_few["groups"] else []
    if _numeric(audit)[1] > MOST_CLASSES:
        return [*small, *_without_data(audit)]  # ranges have rows
    return [*_without_data(audit), *small]


def _without_data(audit: AuditParts) -> Iterator[Step]:
    """Steps for groups with a rate of 0/0, to which a criterion does not apply."""
    gaps: dict[Label, None] = {}
    for finding in audit.findings:
        if finding.criterion not in OF_ROWS:
            continue
        for value in finding.values.values():
            lacking = dict.fromkeys(group for _, group in value.left_out)
            if len(lacking) < len(audit.evidence.groups):  # else no row of all has the label
                gaps |= lacking
    if gaps:
        names, columns = names_of(audit), audit.evidence.columns
        rows = dict(zip(audit.evidence.groups, audit.evidence.rows, strict=True))
        group_names = [name(names(columns, label)) for label in gaps]
        remaining = (
            [f"{len(group_names) - MOST_NAMED} more"] if len(group_names) > MOST_NAMED else []
        )
        listed = listing([*group_names[:MOST_NAMED], *remaining])
        largest = max(rows[label] for label in gaps)
        has = "It has" if len(gaps) == 1 else "They have up to"
        yield step(
            f"Some criteria say nothing about {listed}.",
            "No row there has the label or prediction that a rate is about (0/0). Collect labeled "
            "rows, or merge small groups that belong together.",
            _merged(audit),
            f"{has} {plural(largest, 'row')}; a first estimate takes about {ENOUGH} of each label.",
            action="collect labeled rows for groups that have none",
        )


def _merged(audit: AuditParts) -> str:
    """The call that merges small groups, if two or more groups would remain."""
    small = audit.evidence.rows < ENOUGH
    if (~small).sum() + small.any() < 2:
        return ""
    merged = f'eh.groups(groups, min_count={ENOUGH}, rare="merge")'
    return f"eh.audit(y_true, y_pred, sensitive_features={merged})"


def _small(audit: AuditParts, too_few: Summary) -> Step:
    number = len(too_few["groups"])
    needed = [group["rows_needed"] for group in too_few["groups"] if group["rows_needed"]]
    cost = ""
    if needed:
        rows = f"{float(f'{max(needed):.2g}'):,.0f}"
        cost = f"{'It' if number == 1 else 'Each'} would need about {rows} rows."
    it = "it" if number == 1 else "them"
    problem = f"{capitalized(missed(audit))}."
    column, distinct = _numeric(audit)
    if audit.evidence.task == "ranking" and len(audit.evidence.groups) > MOST_CLASSES:
        return step(
            problem,
            f"There may never be enough rows for each of {len(audit.evidence.groups):,} groups. "
            "Compare kinds, such as genres or countries; the Gini index says how unequally "
            "exposure is spread over all groups.",
            action="compare kinds of groups",
        )
    if distinct > MOST_CLASSES:
        return step(
            problem,
            f"“{column}” has {distinct:,} different numbers, and each is a group of its own. Cut "
            "them into ranges: four of equal size, or at edges of your choice.",
            f"eh.audit(y_true, y_pred, sensitive_features=groups, bins={{{column!r}: 4}})",
            action=f"cut “{column}” into ranges",
        )
    return step(
        problem,
        f"Collect more rows for {it}, or say so in the report.",
        planned(audit),
        cost,
        action="collect more rows for "
        + ("a small group" if number == 1 else f"{number:,} small groups"),
    )


def _numeric(audit: AuditParts) -> tuple[str, int]:
    """The column with the most distinct numbers, and the number of these."""
    columns, groups = audit.evidence.columns, audit.evidence.groups
    parts = [
        label if len(columns) > 1 and isinstance(label, tuple) else (label,) for label in groups
    ]
    if any(len(part) != len(columns) for part in parts):
        return "", 0
    numbers = {
        column: {value for value in values if isinstance(value, int | float | np.number)}
        for column, values in zip(columns, zip(*parts, strict=True), strict=True)
    }
    widest = max(numbers, key=lambda column: len(numbers[column]))
    return widest, len(numbers[widest])


def planned(audit: AuditParts) -> str:
    """The call that computes the rows needed to show a margin; for rates only."""
    if not audit.evidence.is_of_labels:
        return ""
    good = audit.evidence.favorable
    option = "" if good is None else f", favorable={good!r}"
    counts = "eh.tally(y_true, y_pred, sensitive_features=groups)"
    return f'eh.power({counts}, margin=0.05, criterion="statistical_parity"{option})'
