"""Tables of a page as data, with typed columns and rows of JSON values, and as CSV."""

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
from evenhand._unknown.bounds import bounds
from evenhand._words import listing, number, plural
from evenhand.standards.profiles import UNKNOWN
from evenhand.standards.rates import Ratios
from evenhand.standards.sample import Sample

Kind = Literal[
    "text", "name", "verdict", "count", "rate", "rates", "ratio", "ratios", "number", "p", "flag"
]
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")  # which spreadsheets take for formulas
NAMED = 6  # groups in a sentence
SIDES = {
    "below": "Below four-fifths (whole interval)",
    "above": "At or above four-fifths (whole interval)",
    "inconclusive": "Inconclusive",
}


class TableColumn(NamedTuple):
    """A column: its key in the rows, its heading and its kind; "…s" are intervals."""

    key: str
    head: str
    kind: Kind


@dataclass(frozen=True)
class Table:
    """A table with a title and notes."""

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
    """The part of a standard's page about the data: sentences, facts, tables and notes."""

    tables: Sequence[Table]
    shows: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = field(default=())


def plain(value: Any) -> Any:
    """A value converted to JSON types."""
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
    r"""All tables of a document under one header; an interval is two columns.

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


def in_words(column: str) -> str:
    """The name of a column in plain words.

    >>> in_words("race_ethnicity"), in_words("AgeBand")
    ('race ethnicity', 'AgeBand')
    """
    return " ".join(column.replace("_", " ").split()) or column


def head_of(column: str) -> str:
    """The name of a column as the heading of a table's column."""
    words = in_words(column)
    return words[:1].upper() + words[1:]


def some(names: Sequence[str]) -> str:
    """The first few names, and the number of others."""
    remaining = [plural(len(names) - NAMED, "more", "more")] if len(names) > NAMED else []
    return listing([*names[:NAMED], *remaining])


def known_part(sample: Sample, unknown: Iterable[Any] | None) -> tuple[Sample, int, list[str]]:
    """The people of known groups, the number of others, and the labels of these."""
    words = {_spelt(label) for label in (UNKNOWN if unknown is None else unknown)}
    hidden = np.array([_is_unknown(label, words) for label in sample.groups], dtype=bool)
    labels = [
        show(label) for label, is_hidden in zip(sample.groups, hidden, strict=True) if is_hidden
    ]
    return sample.without(hidden), int(sample.rows[hidden].sum()), labels


def unknown_fact(column: str, hidden: int, known: Sample, called: Sequence[str]) -> tuple[str, str]:
    """Fact on the number of people of unknown group, and how that was recorded."""
    text = f"{hidden:,} of {hidden + int(known.rows.sum()):,}"
    return f"Unknown {in_words(column)}", text + recorded(called)


def if_known(sample: Sample, unknown: Iterable[Any] | None, reference: Label | None = None) -> str:
    """Sentence on what the lowest ratio could be, for any groups of the unknown people.

    `sample` includes people of unknown group; known parts of a group are kept. Empty if nobody is
    unknown. With a `reference` it is a lower limit, at which the reference has all unknown people
    who were selected, and other groups all who were not.
    """
    words = {_spelt(label) for label in (UNKNOWN if unknown is None else unknown)}
    hidden = np.array([_is_unknown(label, words) for label in sample.groups], dtype=bool)
    people = int(sample.rows[hidden].sum())
    known = [label for label, is_hidden in zip(sample.groups, hidden, strict=True) if not is_hidden]
    if sample.hits is None or not people or len(known) < 2:
        return ""
    who = "person" if people == 1 else f"{people:,} people"
    start = f" If the {who} of unknown group were in these groups, the lowest ratio could be"
    if reference is not None:
        selected = int(sample.hits[hidden].sum())
        at = sample.groups.index(reference)
        rates = sample.hits / np.maximum(sample.rows + people - selected, 1)
        highest = (sample.hits[at] + selected) / max(sample.rows[at] + selected, 1)
        rates = rates[~hidden & (np.arange(len(hidden)) != at)]
        if not highest:
            return ""
        return f"{start} as low as {number(float(rates.min() / highest), toward=-1)}."
    labels = [_part_known(label, words, known) for label in sample.groups]
    names = range(len(labels[0]))
    counts = np.concatenate([sample.hits, sample.rows - sample.hits])
    occupied = np.flatnonzero(counts)
    columns = {str(at): [(labels * 2)[row][at] for row in occupied] for at in names}
    answer = bounds(
        "selection_rate_ratio",
        None,
        np.repeat([1, 0], len(labels))[occupied],
        sensitive_features=columns,
        sample_weight=counts[occupied],
        measure="ratio",
        favorable=1,
    ).answers["bounds"]
    ends = f"{number(answer.least, toward=-1)} to {number(answer.greatest, toward=1)}"
    return f"{start} anything from {ends}."


def _part_known(label: Any, words: set[str], known: Sequence[Any]) -> tuple[Label, ...]:
    """The parts of a group, None if unknown; all None if no known group agrees in the others."""
    if not isinstance(label, tuple) or isinstance(label, Bin):
        label, known = (label,), [(choice,) for choice in known]
    parts = tuple(None if _spelt(part) in words else part for part in label)
    fits = any(
        all(part in (None, own_part) for part, own_part in zip(parts, choice, strict=True))
        for choice in known
    )
    return parts if fits else (None,) * len(parts)


def recorded(called: Sequence[str]) -> str:
    """Phrase on how unknown groups were recorded."""
    names = list(dict.fromkeys(called))
    return f" (recorded as {listing(names)})" if names else ""


def lowest_sentence(by: str, groups: Sequence[Label], ratios: Ratios) -> str:
    """Sentence on the lowest ratio and its group."""
    if np.isnan(ratios.values).all():
        return f"By {by}: the rate to compare with is 0, so there are no ratios."
    lowest = int(np.nanargmin(ratios.values))
    value = number(float(ratios.values[lowest]))
    return f"By {by}, the lowest ratio is {value} ({show(groups[lowest])})."


def four_fifths_sentence(groups: Sequence[Label], ratios: Ratios) -> str:
    """Sentences on the ratios below four-fifths, above it, or inconclusive."""
    compared = [at for at in range(len(groups)) if at != ratios.reference]
    certainty = ratios.certainty()
    parts = []
    for word, phrase in SIDES.items():
        groups_named = [show(groups[at]) for at in compared if certainty[at] == word]
        if groups_named:
            parts.append(f" {phrase}: {some(groups_named)}.")
    return "".join(parts)


def beside_limit(ratios: Ratios, reference: str) -> list[str | None]:
    """Column of verdicts on four-fifths from the intervals; the reference is named as such."""
    return [
        reference if at == ratios.reference else word for at, word in enumerate(ratios.certainty())
    ]


def interval_note(confidence: float, *, rates: bool) -> str:
    """Sentence on the meaning of the intervals."""
    exact = "Intervals of rates are exact, each by itself (Clopper and Pearson); those of ratios"
    return (
        f"{exact if rates else 'Intervals of ratios'} hold for all groups of a table at once. "
        f"Confidence: {100 * confidence:g}%."
    )


def _is_unknown(label: Label, words: set[str]) -> bool:
    parts = label if isinstance(label, tuple) and not isinstance(label, Bin) else (label,)
    return any(_spelt(part) in words for part in parts)


def _spelt(label: Label) -> str:
    return " ".join(show(label).replace("’", "'").split()).casefold()


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
    """Text escaped so that no spreadsheet takes it for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_SIGNS) else value
