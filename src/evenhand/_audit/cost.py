"""What an audit will cost, told before it starts, and a limit that the caller may raise."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, isnan

from evenhand._audit.evidence import Evidence
from evenhand._audit.questions import Question
from evenhand._errors import InputError

MAX_MINUTES = 10.0
VIEW_S = 0.02  # one question in one combination of columns
CELL_S, VALUE_S = 6e-3, 3e-4  # test and interval by a measure: of a cell, and of a group in it
COUNT_S = 1.5e-8  # a count that is added up for one rate of the scan of subgroups
SWEPT_CELLS = 24  # cut points that stand for a distribution


def check_cost(
    evidence: Evidence,
    questions: Sequence[Question],
    headlines: Sequence[Question],
    depth: int,
    max_minutes: float,
) -> None:
    """Refuse an audit that would take longer than it may, and say what makes it so long."""
    if isnan(max_minutes) or max_minutes <= 0:
        raise InputError(f"max_minutes is a number above 0; it is {max_minutes}.")
    columns, groups, classes = len(evidence.columns), len(evidence.groups), len(evidence.classes)
    views = sum(comb(columns, size) for size in range(1, min(depth, columns) + 1))
    cells = {question.name: _cells(question, classes) for question in questions}
    seconds = views * len(headlines) * VIEW_S if views > 1 else 0.0
    seconds += sum(
        len(question.measures) * cells[question.name] * (CELL_S + VALUE_S * groups)
        for question in questions
    )
    scanned = 4 if classes <= 2 or evidence.favorable is not None else 2 * classes
    seconds += views * scanned * classes**2 * groups * COUNT_S
    if seconds <= 60 * max_minutes:
        return
    size = (
        f"{groups:,} groups, {columns:,} columns in {views:,} combinations, {classes:,} classes, "
        f"{len(questions)} criteria"
    )
    raise InputError(
        f"This audit ({size}) would take about {_in_words(seconds)}. Ask less of it "
        '(criteria=, measures=, depth=1, fewer columns, min_count=30, rare="merge"), or allow it: '
        f"max_minutes={ceil(seconds / 60 * 2)}."
    )


def _cells(question: Question, classes: int) -> int:
    criterion = question.criterion
    if criterion.kind.is_swept:
        return SWEPT_CELLS
    if criterion.one_class and classes <= 2:
        return 1
    of_classes = [symbol for symbol in criterion.statistic.over.split(", ") if symbol in ("c", "k")]
    return int(max(classes, 1) ** len(of_classes))


def _in_words(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 90:
        return f"{minutes:.0f} minutes" if minutes > 1 else f"{seconds:.2g} seconds"
    return f"{minutes / 60:.0f} hours" if minutes < 48 * 60 else f"{minutes / 1440:,.0f} days"
