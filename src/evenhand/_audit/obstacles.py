"""Why a bound cannot be passed, however short the interval: there was nothing to judge by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand._audit.evidence import Evidence
from evenhand._audit.finding import Finding, GroupValues, Measured, Obstacle
from evenhand._audit.questions import Question
from evenhand._groups import show

SPARSE = ("strata", "bins")  # cells in which it is usual that some groups have no rows
NAMED = 3


def with_obstacles(
    evidence: Evidence,
    questions: Sequence[Question],
    findings: Sequence[Finding],
    tables: Sequence[GroupValues],
) -> tuple[Finding, ...]:
    """The findings, each value with what keeps it from passing a bound."""
    kinds = {question.criterion.statistic.needs for question in questions}
    same = {needs: evidence.sameness(needs) for needs in kinds}
    return tuple(
        replace(
            finding,
            values={
                name: replace(value, obstacle=_obstacle(question, value, table, same))
                for name, value in finding.values.items()
            },
        )
        for question, finding, table in zip(questions, findings, tables, strict=True)
    )


def sameness_notes(evidence: Evidence) -> list[str]:
    """What all rows have in common that an audit compares, in words."""
    kinds = ("moments",) if evidence.task == "regression" else ("predictions", "ranks")
    known = (evidence.sameness(needs) for needs in kinds)
    return [f"{words[0].upper()}{words[1:]}." for words in known if words]


def _obstacle(
    question: Question, value: Measured, table: GroupValues, same: Mapping[str, str | None]
) -> Obstacle | None:
    """What is in the way of passing: nothing to compare, or groups that nothing is known of."""
    needs = question.criterion.statistic.needs
    sameness = same[needs]
    if sameness is not None:
        return Obstacle(sameness, is_error=True)
    if np.isnan(value.value):
        return Obstacle("fewer than two groups have a value to compare", is_error=True)
    absent = _absent(needs, value, table)
    if not absent:
        return None
    more = f" and {len(absent) - NAMED} more" if len(absent) > NAMED else ""
    return Obstacle(
        f"there is no value of {', '.join(absent[:NAMED])}{more}; more rows would tell, "
        "or rare groups can be merged or dropped",
        is_error=False,
    )


def _absent(needs: str, value: Measured, table: GroupValues) -> list[str]:
    """The groups that nothing is known of, and the cells where.

    A group without rows is less well known than one of a single row, whose interval is nearly all
    there is; so leaving it out must not make a bound easier to pass. In strata and in bins of
    scores some groups are usually missing: there it is enough to be seen in one of them.
    """
    if needs in SPARSE:
        return [show(table.groups[i]) for i in np.flatnonzero(np.isnan(table.values).all(axis=0))]
    return [f"{show(group)} at {show(cell)}" for cell, group in value.left_out]
