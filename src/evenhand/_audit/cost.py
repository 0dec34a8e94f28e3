"""What an audit will cost, told before it starts, and a limit that the caller may raise."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, isnan, prod

from evenhand._audit.evidence import Evidence
from evenhand._audit.questions import Question
from evenhand._errors import InputError

MAX_MINUTES = 10.0
START_S = 0.3
VIEW_S = 0.015  # one question in one combination of columns
CELL_S, VALUE_S = 1.5e-3, 1.5e-4  # test and interval by a measure: of a cell, of a group in it
COUNT_S = 1e-7  # a count that is added up for one rate of the scan of subgroups
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
    seconds = expected_seconds(evidence, questions, headlines, depth)
    if seconds <= 60 * max_minutes:
        return
    size = (
        f"{len(evidence.groups):,} groups, {len(evidence.columns):,} columns in "
        f"{_views(evidence, depth):,} combinations, {len(evidence.classes):,} classes, "
        f"{len(questions)} criteria"
    )
    raise InputError(
        f"This audit ({size}) would take about {_in_words(seconds)}. Ask less of it "
        '(criteria=, measures=, depth=1, fewer columns, min_count=30, rare="merge"), or allow it: '
        f"max_minutes={ceil(seconds / 60 * 2)}."
    )


def expected_seconds(
    evidence: Evidence, questions: Sequence[Question], headlines: Sequence[Question], depth: int
) -> float:
    """About how long it takes, once the rows are counted."""
    groups, classes = len(evidence.groups), len(evidence.classes)
    views, detailed = _views(evidence, depth), _detailed(evidence, depth)
    seconds = START_S + (views * len(headlines) * VIEW_S if views > 1 else 0.0)
    seconds += sum(
        len(question.measures) * _cells(question, classes) * (CELL_S + VALUE_S * detailed)
        for question in questions
    )
    scanned = 4 if classes <= 2 or evidence.favorable is not None else 2 * classes
    return seconds + views * scanned * classes**2 * groups * COUNT_S


def _detailed(evidence: Evidence, depth: int) -> int:
    """The most groups of the one combination of columns that is looked at in detail."""
    if len(evidence.columns) <= depth:
        return len(evidence.groups)
    labels = [label for label in evidence.groups if isinstance(label, tuple)]
    levels = sorted(len(set(column)) for column in zip(*labels, strict=True))
    return min(len(evidence.groups), prod(levels[-depth:]))


def _views(evidence: Evidence, depth: int) -> int:
    """How many combinations of columns are looked at."""
    columns = len(evidence.columns)
    return sum(comb(columns, size) for size in range(1, min(depth, columns) + 1))


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
