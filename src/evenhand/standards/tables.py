"""Tables of a page as data: columns of a kind, rows of JSON values; and the same as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from evenhand._columns import Bin, Label
from evenhand._data.groups import show
from evenhand._words import listing, number, plural
from evenhand.standards.rates import Ratios
from evenhand.standards.sample import Sample

Kind = Literal[
    "text", "verdict", "count", "rate", "rates", "ratio", "ratios", "number", "p", "flag"
]
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run
NAMED = 6  # groups in a sentence
SIDES = {
    "below": "Below four-fifths (whole interval)",
    "above": "At or above four-fifths",
    "inconclusive": "Inconclusive",
}


class TableColumn(NamedTuple):
    """A column: its key in the rows, its head, and of what kind it is; "…s" are intervals."""

    key: str
    head: str
    kind: Kind


@dataclass(frozen=True)
class Table:
    """A table with a title, and notes below it."""

    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = ()

    def document(self) -> dict[str, Any]:
        """Plain JSON values; undefined numbers are None."""
        return {
            "title": self.title,
            "columns": [column._asdict() for column in self.columns],
            "rows": [
                {column.key: plain(row[column.key]) for column in self.columns} for row in self.rows
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Filled:
    """What a standard's page says of the data: sentences, facts, tables and notes."""

    tables: Sequence[Table]
    shows: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = field(default=())


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else None
    return value


def as_csv(tables: Iterable[Mapping[str, Any]]) -> str:
    r"""All tables of a document under one head; an interval is two columns.

    >>> table = Table("By sex", [TableColumn("group", "Group", "text")], [{"group": "=F"}])
    >>> as_csv([table.document()])
    "table,group\r\nBy sex,'=F\r\n"
    """
    tables = list(tables)
    heads: dict[str, None] = {}
    for table in tables:
        for column in table["columns"]:
            heads |= dict.fromkeys(_keys(column))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["table", *heads])
    for table in tables:
        for row in table["rows"]:
            cells = dict(
                pair
                for column in table["columns"]
                for pair in zip(_keys(column), _cells(column, row[column["key"]]), strict=True)
            )
            writer.writerow([_inert(table["title"]), *(cells.get(head, "") for head in heads)])
    return text.getvalue()


def known_part(sample: Sample, unknown: Iterable[Any]) -> tuple[Sample, int, list[str]]:
    """The people whose groups are known, how many are not, and what those were called."""
    words = {show(label).strip().casefold() for label in unknown}
    hidden = np.array([_is_unknown(label, words) for label in sample.groups], dtype=bool)
    called = [show(label) for label, left in zip(sample.groups, hidden, strict=True) if left]
    return sample.without(hidden), int(sample.rows[hidden].sum()), called


def four_fifths_sentence(by: str, groups: Sequence[Label], ratios: Ratios) -> str:
    """Which ratios are below four-fifths, above it, or inconclusive, in a sentence."""
    if np.isnan(ratios.values).all():
        return f"By {by}: the rate to compare with is 0, so there are no ratios."
    lowest = int(np.nanargmin(ratios.values))
    others = [at for at in range(len(groups)) if at != ratios.reference]
    certainty = ratios.certainty()
    parts = []
    for word, said in SIDES.items():
        named = [show(groups[at]) for at in others if certainty[at] == word]
        if named:
            more = [plural(len(named) - NAMED, "more", "more")] if len(named) > NAMED else []
            parts.append(f"{said}: {listing([*named[:NAMED], *more])}")
    return (
        f"By {by}, the lowest ratio is {number(float(ratios.values[lowest]))} "
        f"({show(groups[lowest])}). {'. '.join(parts)}."
    )


def beside_limit(ratios: Ratios, reference: str) -> list[str | None]:
    """What the intervals say of four-fifths, for a column; the reference is called what it is."""
    return [
        reference if at == ratios.reference else word for at, word in enumerate(ratios.certainty())
    ]


def interval_note(confidence: float, *, rates: bool) -> str:
    """What the intervals are, in a sentence."""
    exact = "Intervals of rates are exact, each by itself (Clopper and Pearson); those of ratios"
    return (
        f"{exact if rates else 'Intervals of ratios'} hold for all groups of a table at once. "
        f"Confidence: {100 * confidence:g}%."
    )


def _is_unknown(label: Label, words: set[str]) -> bool:
    parts = label if isinstance(label, tuple) and not isinstance(label, Bin) else (label,)
    return any(show(part).strip().casefold() in words for part in parts)


def _keys(column: Mapping[str, Any]) -> list[str]:
    key = str(column["key"])
    return [f"{key}_low", f"{key}_high"] if column["kind"] in ("rates", "ratios") else [key]


def _cells(column: Mapping[str, Any], value: Any) -> list[Any]:
    if column["kind"] in ("rates", "ratios"):
        return ["", ""] if value is None else ["" if end is None else end for end in value]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return ["" if value is None else _inert(value)]


def _inert(value: Any) -> Any:
    """Text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_SIGNS) else value
