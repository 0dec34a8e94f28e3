"""Reasons why a finding cannot pass a bound: nothing to compare, absent groups, too few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.finding import Finding, GroupValues, Measured, Obstacle
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand.criteria.questions import Question

Floats = NDArray[np.float64]
NAMED = 3  # groups without a value in a sentence
NO_WIDTH = 1e-12  # of an interval, relative to its value: only rounding


def with_obstacles(
    evidence: Evidence,
    questions: Sequence[Question],
    findings: Sequence[Finding],
    tables: Sequence[GroupValues],
) -> tuple[Finding, ...]:
    """The findings, each value with its obstacle to passing a bound."""
    kinds = {question.criterion.statistic.needs for question in questions}
    sameness = {needs: evidence.sameness(needs) for needs in kinds}
    return tuple(
        replace(
            finding,
            sameness=sameness[question.criterion.statistic.needs],
            values={
                name: replace(value, obstacle=_obstacle(question, value, table, sameness) or few)
                for name, value in finding.values.items()
            },
        )
        for question, finding, table in zip(questions, findings, tables, strict=True)
        for few in [_too_few(evidence, question, finding)]
    )


def _obstacle(
    question: Question,
    value: Measured,
    table: GroupValues,
    sameness_by_source: Mapping[str, str | None],
) -> Obstacle | None:
    """The obstacle to passing: nothing to compare, or groups without data."""
    sameness = sameness_by_source[question.criterion.statistic.needs]
    if sameness is not None:
        return Obstacle(sameness, is_error=True)
    if np.isnan(value.value):
        return Obstacle("fewer than two groups have a value to compare", is_error=True)
    absent = _absent(question, value, table)
    if not absent:
        return _never_varies(table)
    return Obstacle(without_value(absent), is_error=False)


def without_value(absent: Sequence[str]) -> str:
    """Reason: groups have no value."""
    remaining = f" and {len(absent) - NAMED} more" if len(absent) > NAMED else ""
    return (
        f"there is no value of {', '.join(absent[:NAMED])}{remaining}; more rows would settle it, "
        "or rare groups can be merged or dropped"
    )


def _never_varies(table: GroupValues) -> Obstacle | None:
    """Obstacle: a mean has the same value in all rows, so that its interval is meaningless."""
    width, size = table.high - table.low, np.abs(table.values)
    if not np.isfinite(width).any() or np.nanmax(width) > NO_WIDTH * max(np.nanmax(size), 1e-300):
        return None
    return Obstacle(
        "no two rows of a group differ here, so nothing shows how far other rows would",
        is_error=False,
    )


def _too_few(evidence: Evidence, question: Question, finding: Finding) -> Obstacle | None:
    """Obstacle: so few rows could not show even the largest difference, all hits against none.

    Of strata and bins, one with enough rows suffices.
    """
    estimates = finding.estimates
    sizes = (
        evidence.rows[None]
        if estimates is None
        else estimates.sizes * np.isfinite(estimates.values)
    )
    return too_few(sizes, finding.level, is_sparse=question.criterion.kind.is_sparse)


def too_few(sizes: Floats, level: float, *, is_sparse: bool = False) -> Obstacle | None:
    """Obstacle: so few rows (cells, groups) could show no difference, in one cell or in all.

    Exact bounds of all groups at once (Šidák) then overlap: tail^(1/n) + tail^(1/m) ≤ 1 for the two
    largest groups of n and m rows.
    """
    groups = (sizes > 0).sum(axis=1)
    sizes = np.sort(sizes[groups > 1], axis=1)[:, -2:]
    tail = -np.expm1(np.log1p(-level) / groups[groups > 1]) / 2
    blind = (tail[:, None] ** (1 / sizes)).sum(axis=1) <= 1
    if not len(blind) or not (blind.all() if is_sparse else blind.any()):
        return None
    at = int(np.argmax(blind))
    largest = " and ".join(f"{size:,.0f}" for size in sizes[at][::-1])
    enough = int(np.log2(1 / tail[at])) + 1
    return Obstacle(
        f"the largest groups have {largest} rows, and no fewer than {enough} each can show "
        "any difference",
        is_error=False,
    )


def _absent(question: Question, value: Measured, table: GroupValues) -> list[str]:
    """The groups without data, with the cells where.

    A group without rows is even more uncertain than one of a single row, whose interval spans
    nearly the full range; so leaving it out must not make a bound easier to pass. In strata and in
    bins of scores some groups are usually missing: there, data in one of them suffice.
    """
    if question.criterion.kind.is_sparse:
        return [show(table.groups[i]) for i in np.flatnonzero(np.isnan(table.values).all(axis=0))]
    return [f"{show(group)} at {show(cell)}" for cell, group in value.left_out]
