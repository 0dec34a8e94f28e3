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
from evenhand._unknown.bounds import bounds
from evenhand._words import listing, number, plural
from evenhand.standards.profiles import UNKNOWN
from evenhand.standards.rates import Ratios
from evenhand.standards.sample import Sample

Kind = Literal[
    "text", "name", "verdict", "count", "rate", "rates", "ratio", "ratios", "number", "p", "flag"
]
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run
NAMED = 6  # groups in a sentence
SIDES = {
    "below": "Below four-fifths (whole interval)",
    "above": "At or above four-fifths (whole interval)",
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


def in_words(column: str) -> str:
    """The name of a column as people write it.

    >>> in_words("race_ethnicity"), in_words("AgeBand")
    ('race ethnicity', 'AgeBand')
    """
    return " ".join(column.replace("_", " ").split()) or column


def head_of(column: str) -> str:
    """The same, as the head of a column of a table."""
    words = in_words(column)
    return words[:1].upper() + words[1:]


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = [plural(len(names) - NAMED, "more", "more")] if len(names) > NAMED else []
    return listing([*names[:NAMED], *more])


def known_part(sample: Sample, unknown: Iterable[Any] | None) -> tuple[Sample, int, list[str]]:
    """The people whose groups are known, how many are not, and what those were called."""
    words = {_spelt(label) for label in (UNKNOWN if unknown is None else unknown)}
    hidden = np.array([_is_unknown(label, words) for label in sample.groups], dtype=bool)
    called = [show(label) for label, left in zip(sample.groups, hidden, strict=True) if left]
    return sample.without(hidden), int(sample.rows[hidden].sum()), called


def unknown_fact(column: str, hidden: int, known: Sample, called: Sequence[str]) -> tuple[str, str]:
    """How many people are of no known group, and how that was recorded."""
    text = f"{hidden:,} of {hidden + int(known.rows.sum()):,}"
    return f"Unknown {in_words(column)}", text + recorded(called)


def if_known(sample: Sample, unknown: Iterable[Any] | None, reference: Label | None = None) -> str:
    """What the lowest ratio could be, whichever groups the people of unknown group are in.

    `sample` has the unknown too, with how many of them were selected; a part of a group that is
    known stays. Empty where nobody is unknown. Beside a `reference` it says how low: then no other
    has its people who were not selected, and it has all who were.
    """
    words = {_spelt(label) for label in (UNKNOWN if unknown is None else unknown)}
    hidden = np.array([_is_unknown(label, words) for label in sample.groups], dtype=bool)
    people = int(sample.rows[hidden].sum())
    known = [label for label, left in zip(sample.groups, hidden, strict=True) if not left]
    if sample.hits is None or not people or len(known) < 2:
        return ""
    who = "person" if people == 1 else f"{people:,} people"
    start = f" If the {who} of unknown group were in these groups, the lowest ratio could be"
    if reference is not None:
        selected = int(sample.hits[hidden].sum())
        at = sample.groups.index(reference)
        rates = sample.hits / np.maximum(sample.rows + people - selected, 1)
        most = (sample.hits[at] + selected) / max(sample.rows[at] + selected, 1)
        rates = rates[~hidden & (np.arange(len(hidden)) != at)]
        if not most:
            return ""
        return f"{start} as low as {number(float(rates.min() / most), toward=-1)}."
    labels = [_part_known(label, words, known) for label in sample.groups]
    names = range(len(labels[0]))
    counts = np.concatenate([sample.hits, sample.rows - sample.hits])
    there = np.flatnonzero(counts)
    columns = {str(at): [(labels * 2)[row][at] for row in there] for at in names}
    answer = bounds(
        "selection_rate_ratio",
        None,
        np.repeat([1, 0], len(labels))[there],
        sensitive_features=columns,
        sample_weight=counts[there],
        measure="ratio",
        favorable=1,
    ).answers["bounds"]
    ends = f"{number(answer.least, toward=-1)} to {number(answer.greatest, toward=1)}"
    return f"{start} anything from {ends}."


def _part_known(label: Any, words: set[str], known: Sequence[Any]) -> tuple[Label, ...]:
    """The parts of a group, None if unknown; all are, where no known group is like the rest."""
    if not isinstance(label, tuple) or isinstance(label, Bin):
        label, known = (label,), [(other,) for other in known]
    parts = tuple(None if _spelt(part) in words else part for part in label)
    fits = any(
        all(part in (None, own) for part, own in zip(parts, other, strict=True)) for other in known
    )
    return parts if fits else (None,) * len(parts)


def recorded(called: Sequence[str]) -> str:
    """How an unknown group was recorded."""
    names = list(dict.fromkeys(called))
    return f" (recorded as {listing(names)})" if names else ""


def lowest_sentence(by: str, groups: Sequence[Label], ratios: Ratios) -> str:
    """The lowest ratio and whose it is, in a sentence."""
    if np.isnan(ratios.values).all():
        return f"By {by}: the rate to compare with is 0, so there are no ratios."
    lowest = int(np.nanargmin(ratios.values))
    value = number(float(ratios.values[lowest]))
    return f"By {by}, the lowest ratio is {value} ({show(groups[lowest])})."


def four_fifths_sentence(groups: Sequence[Label], ratios: Ratios) -> str:
    """Which ratios are below four-fifths, above it, or inconclusive; to follow another sentence."""
    others = [at for at in range(len(groups)) if at != ratios.reference]
    certainty = ratios.certainty()
    parts = []
    for word, said in SIDES.items():
        named = [show(groups[at]) for at in others if certainty[at] == word]
        if named:
            parts.append(f" {said}: {some(named)}.")
    return "".join(parts)


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
    """Text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_SIGNS) else value
