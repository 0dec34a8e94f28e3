"""Where data are lacking: groups with too few rows, or none of some label."""

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
    """Groups of which there are too few rows, or none with some label."""
    small = [_small(audit, too_few)] if too_few["groups"] else []
    if _numeric(audit)[1] > MOST_CLASSES:
        return [*small, *_without_data(audit)]  # ranges have rows
    return [*_without_data(audit), *small]


def _without_data(audit: AuditParts) -> Iterator[Step]:
    """Groups for which a rate is 0/0, so that a criterion says nothing about them."""
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
        named = [name(names(columns, label)) for label in gaps]
        more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
        who = listing([*named[:MOST_NAMED], *more])
        most = max(rows[label] for label in gaps)
        has = "It has" if len(gaps) == 1 else "They have up to"
        yield step(
            f"Some criteria say nothing about {who}.",
            "No row there has the label or prediction that a rate is about (0/0). Collect labeled "
            "rows, or merge small groups that belong together.",
            _merged(audit),
            f"{has} {plural(most, 'row')}; a first estimate takes about {ENOUGH} of each label.",
            action="collect labeled rows for groups that have none",
        )


def _merged(audit: AuditParts) -> str:
    """The call that merges small groups, where two or more would be left."""
    small = audit.evidence.rows < ENOUGH
    if (~small).sum() + small.any() < 2:
        return ""
    merged = f'eh.groups(groups, min_count={ENOUGH}, rare="merge")'
    return f"eh.audit(y_true, y_pred, sensitive_features={merged})"


def _small(audit: AuditParts, too_few: Summary) -> Step:
    many = len(too_few["groups"])
    needed = [group["rows_needed"] for group in too_few["groups"] if group["rows_needed"]]
    cost = ""
    if needed:
        each = f"{float(f'{max(needed):.2g}'):,.0f}"
        cost = f"{'It' if many == 1 else 'Each'} would need about {each} rows."
    it = "it" if many == 1 else "them"
    found = f"{capitalized(missed(audit))}."
    column, distinct = _numeric(audit)
    if audit.evidence.task == "ranking" and len(audit.evidence.groups) > MOST_CLASSES:
        return step(
            found,
            f"There may never be enough rows for each of {len(audit.evidence.groups):,} groups. "
            "Compare kinds, such as genres or countries; the Gini index says how unequally "
            "exposure is spread over all groups.",
            action="compare kinds of groups",
        )
    if distinct > MOST_CLASSES:
        return step(
            found,
            f"“{column}” has {distinct:,} different numbers, and each is a group of its own. Cut "
            "them into ranges: four of equal size, or at edges of your choice.",
            f"eh.audit(y_true, y_pred, sensitive_features=groups, bins={{{column!r}: 4}})",
            action=f"cut “{column}” into ranges",
        )
    return step(
        found,
        f"Collect more rows for {it}, or say so in the report.",
        planned(audit),
        cost,
        action="collect more rows for "
        + ("a small group" if many == 1 else f"{many:,} small groups"),
    )


def _numeric(audit: AuditParts) -> tuple[str, int]:
    """The column of groups that takes the most different numbers, and how many it takes."""
    columns, groups = audit.evidence.columns, audit.evidence.groups
    parts = [
        label if len(columns) > 1 and isinstance(label, tuple) else (label,) for label in groups
    ]
    if any(len(part) != len(columns) for part in parts):
        return "", 0
    numbers = {
        column: {one for one in values if isinstance(one, int | float | np.number)}
        for column, values in zip(columns, zip(*parts, strict=True), strict=True)
    }
    most = max(numbers, key=lambda column: len(numbers[column]))
    return most, len(numbers[most])


def planned(audit: AuditParts) -> str:
    """The call that says how many rows would show a margin; of rates alone."""
    if not audit.evidence.is_of_labels:
        return ""
    good = audit.evidence.favorable
    named = "" if good is None else f", favorable={good!r}"
    counts = "eh.tally(y_true, y_pred, sensitive_features=groups)"
    return f'eh.power({counts}, margin=0.05, criterion="statistical_parity"{named})'
