"""Value against noise: what was seen, what may be true, and what chance alone would show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from evenhand._words import number
from evenhand.report.charts.rows import Row, chart_of_rows, dot, span, tick
from evenhand.report.charts.scale import Scale
from evenhand.report.charts.svg import NOTHING


class Seen(NamedTuple):
    """A finding as numbers; `kind` is its verdict as a style class."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    floor: float | None
    chance_high: float | None
    tolerance: float | None
    verdict: str
    kind: str


def noise(ident: str, title: str, findings: Sequence[Seen]) -> Markup:
    """A row for each finding: chance band, noise floor, interval, value, and tolerance if any.

    >>> one = Seen("TPR", 0.3, 0.2, 0.4, 0.1, 0.15, None, "differs", "beyond")
    >>> "noise floor 0.100" in noise("c", "Noise", [one])
    True
    """
    ends = [end for seen in findings for end in seen[1:7]]
    axis = Scale.around(ends, zero=True)
    rows = [_row(seen, axis) for seen in findings]
    beyond = sum(seen.kind == "beyond" for seen in findings)
    told = f"{beyond} of {len(findings)} values lie beyond what chance or the tolerance allows."
    return chart_of_rows(ident, title, told, rows, axis)


def _row(seen: Seen, axis: Scale) -> Row:
    if seen.value is None:
        tip = f"{seen.label}: undefined"
        return Row(seen.label, "–", tip, NOTHING, seen.kind)
    marks = (
        span(axis, 0.0, seen.chance_high, "band", 16)
        + tick(axis, seen.floor, "floor")
        + tick(axis, seen.tolerance, "tolerance")
        + span(axis, seen.low, seen.high, "whisker", 2)
        + dot(axis, seen.value)
    )
    tip = (
        f"{seen.label}: {number(seen.value)}, interval {number(seen.low)} to {number(seen.high)}; "
        f"noise floor {number(seen.floor)}, chance up to {number(seen.chance_high)}; {seen.verdict}"
    )
    return Row(seen.label, number(seen.value), tip, marks, seen.kind)
