"""Values with their intervals: what was seen, and what may be true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from evenhand._words import number
from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, tick
from evenhand.report.charts.svg import NOTHING, Scale


class Seen(NamedTuple):
    """A finding as numbers; `kind` is its verdict as a style class."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    tolerance: float | None
    verdict: str
    kind: str


def values(ident: str, title: str, findings: Sequence[Seen]) -> Markup:
    """A row for each finding: interval, value, and tolerance if any.

    >>> seen = Seen("TPR", 0.3, 0.2, 0.4, None, "differs", "beyond")
    >>> "interval 0.200 to 0.400" in values("c", "Values", [seen])
    True
    """
    ends = [end for seen in findings for end in seen[1:5]]
    axis = Scale.around(ends, zero=True)
    rows = [_row(seen, axis) for seen in findings]
    beyond = sum(seen.kind == "beyond" for seen in findings)
    description = (
        f"{beyond} of {len(findings)} values lie beyond what chance or the tolerance allows."
    )
    return chart_of_rows(ident, title, description, rows, axis)


def _row(seen: Seen, axis: Scale) -> Row:
    if seen.value is None:
        tip = f"{seen.label}: undefined"
        return Row(seen.label, "–", tip, NOTHING, seen.kind)
    marks = (
        tick(axis, seen.tolerance, "tolerance")
        + span(axis, seen.low, seen.high, "whisker", 2)
        + dot(axis, seen.value)
    )
    tip = (
        f"{seen.label}: {number(seen.value)}, interval {number(seen.low)} to {number(seen.high)}; "
        f"{seen.verdict}"
    )
    return Row(seen.label, number(seen.value), tip, marks, seen.kind)
