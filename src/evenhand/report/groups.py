"""The groups × metrics of a summary as text, the same on a page, on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenhand._words import UNDEFINED, number, percent

Table = Mapping[str, Any]
MARKS = {1: "▲", -1: "▼", 0: ""}


class Line(NamedTuple):
    """A row of the table: its name, its rows, and a text for each metric with its side."""

    label: str
    rows: str
    cells: tuple[tuple[str, int], ...]

    @property
    def texts(self) -> list[str]:
        """The cells, with a mark where the group is apart from everybody else."""
        return [f"{text} {MARKS[side]}".rstrip() for text, side in self.cells]


def group_lines(table: Table, most: int) -> list[Line]:
    """The groups, at most so many: those apart from everybody else first, then the largest.

    >>> metric = {"key": "r", "name": "Rate", "is_rate": True, "meaning": ""}
    >>> groups = [{"label": n, "rows": 9, "values": [0.5], "apart": [0]} for n in "ab"]
    >>> [line.texts for line in group_lines({"metrics": [metric], "groups": groups}, 5)]
    [['50%'], ['50%']]
    """
    groups = table["groups"]
    order = sorted(range(len(groups)), key=lambda i: _weight(groups[i]), reverse=True)[:most]
    return [_line(groups[i], table["metrics"]) for i in sorted(order)]


def overall_lines(table: Table) -> list[Line]:
    """Everybody, the largest difference, and the smallest value over the largest."""
    metrics = table["metrics"]
    both = zip(table["difference"], metrics, strict=True)
    return [
        _line({"label": "Everyone", **table["overall"], "apart": [0] * len(metrics)}, metrics),
        Line("Largest difference", "", tuple((apart(v, m["is_rate"]), 0) for v, m in both)),
        Line("Lowest / highest", "", tuple((_ratio(value), 0) for value in table["ratio"])),
    ]


def amount(value: float | None, is_rate: bool) -> str:
    """A rate in percent, anything else as a number.

    >>> amount(0.256, True), amount(0.256, False)
    ('26%', '0.256')
    """
    return percent(value) if is_rate else number(value)


def apart(value: float | None, is_rate: bool) -> str:
    """A difference: of rates in percentage points.

    >>> apart(0.2594, True), apart(12.5, False)
    ('25.9 pts', '12.50')
    """
    if value is None:
        return UNDEFINED
    return f"{100 * value:.1f} pts" if is_rate else number(value)


def _line(group: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]) -> Line:
    cells = zip(group["values"], metrics, group["apart"], strict=True)
    return Line(
        group["label"],
        f"{group['rows']:,}",
        tuple((amount(value, metric["is_rate"]), side) for value, metric, side in cells),
    )


def _ratio(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


def _weight(group: Mapping[str, Any]) -> tuple[int, int]:
    return sum(map(abs, group["apart"])), group["rows"]
