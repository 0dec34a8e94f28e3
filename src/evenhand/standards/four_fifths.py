"""The tables of the Uniform Guidelines: four-fifths, tests, shortfalls, and one decision more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._words import listing, percent
from evenhand.standards.adverse import below, fisher, flips, shortfall, standard_deviations
from evenhand.standards.profiles import Standard
from evenhand.standards.rates import Counts, rates_of, ratios_of
from evenhand.standards.sample import Sample, Subject
from evenhand.standards.tables import (
    Filled,
    Table,
    TableColumn,
    beside_limit,
    four_fifths_sentence,
    interval_note,
    known_part,
)

MEANINGS = (
    "Tests compare a group with the one of the highest rate, and with the largest group where that "
    "is another: Fisher’s exact test, two-sided; and standard deviations between the rates (z of "
    "pooled proportions; beyond 2 is marked ●), each without allowance for the number of groups.",
    "Short of 4/5, of equal: how many more of the group would have to be selected, all else as it "
    "is, to reach four-fifths of the highest rate, and that rate. One decision: whether the "
    "verdict on four-fifths turns if a single person, of any group, is decided the other way.",
)


def four_fifths(standard: Standard, subject: Subject, stated: Mapping[str, Any]) -> Filled:
    """A table for each column."""
    tables: list[Table] = []
    shows, facts = [], []
    for column in compared_columns(subject, stated):
        sample, hidden = decided(standard, subject.sample(column), stated)
        more, sentences = _tables(standard, sample, subject.confidence, stated)
        tables += more
        shows += sentences
        facts.append((f"Unknown {column}", f"{hidden:,} of {hidden + int(sample.rows.sum()):,}"))
    notes = list(MEANINGS)
    if stated["intervals"]:
        notes.append(interval_note(subject.confidence, rates=False))
    return Filled(tables, shows, facts, notes)


def compared_columns(subject: Subject, stated: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that were stated, or all of the audit."""
    return tuple(stated["columns"] or subject.columns)


def decided(standard: Standard, sample: Sample, stated: Mapping[str, Any]) -> tuple[Sample, int]:
    """The people of known groups, and how many are of none; refused where nothing was decided."""
    if sample.hits is None:
        raise InputError(
            f"The standard {standard.name!r} compares decisions: audit labels, of which favorable= "
            "is the better one."
        )
    known, hidden, _ = known_part(sample, stated["unknown"] or standard.policy["unknown"])
    if len(known.groups) < 2:
        raise InputError(f"By {sample.columns[0]} there are fewer than two known groups.")
    return known, hidden


def _tables(
    standard: Standard, sample: Sample, confidence: float, stated: Mapping[str, Any]
) -> tuple[list[Table], list[str]]:
    hits, rows, column = sample.hits, sample.rows, sample.columns[0]
    assert hits is not None
    among = _may_be_highest(rows, stated["least_share"])
    ratios = ratios_of(hits, rows, "best", confidence, among)
    turns = flips(hits, rows, among=among)
    parts: dict[str, Any] = {
        "group": [show(group) for group in sample.groups],
        "people": rows,
        "hits": hits,
        "rate": rates_of(hits, rows),
        "ratio": ratios.values,
        "ratio_interval": list(zip(ratios.low, ratios.high, strict=True)),
        "below": below(hits, rows, among=among),
        "four_fifths": beside_limit(ratios, "highest"),
        **_tested(standard, hits, rows, ratios.reference),
        "short_of_four_fifths": shortfall(hits, rows, among=among),
        "short_of_equal": shortfall(hits, rows, Fraction(1), among),
        "turns": turns,
    }
    lines = _lines(parts)
    intervals = [
        TableColumn("ratio_interval", "Interval", "ratios"),
        TableColumn("four_fifths", "Beside 0.8", "verdict"),
    ]
    columns = [
        TableColumn("group", column.capitalize(), "text"),
        TableColumn("people", standard.wording["people"], "count"),
        TableColumn("hits", standard.wording["selected"], "count"),
        TableColumn("rate", "Rate", "rate"),
        TableColumn("ratio", "Ratio", "ratio"),
        TableColumn("below", "Below 4/5", "flag"),
        *(intervals if stated["intervals"] else []),
    ]
    tested = [
        TableColumn("fisher_p", "Fisher p", "p"),
        TableColumn("deviations", "SDs", "number"),
        TableColumn("beyond", "Beyond 2", "flag"),
    ]
    tests = [
        columns[0],
        *tested,
        TableColumn("short_of_four_fifths", "Short of 4/5", "count"),
        TableColumn("short_of_equal", "Short of equal", "count"),
        TableColumn("turns", "One decision turns it", "flag"),
    ]
    notes = _small(sample, among, stated["least_share"], ratios.reference)
    sentences = [four_fifths_sentence(column, sample.groups, ratios)]
    turning = [show(sample.groups[at]) for at in np.flatnonzero(turns)]
    if turning:
        sentences.append(
            f"One person decided the other way would turn the verdict on {listing(turning)}."
        )
    tables = [
        Table(f"By {column}", columns, lines, notes),
        Table(f"By {column}, tests and people", tests, lines),
    ]
    largest = int(rows.argmax())
    if largest != ratios.reference and hits[largest]:
        beside = ratios_of(hits, rows, largest, confidence)
        parts |= {
            "ratio": beside.values,
            "ratio_interval": list(zip(beside.low, beside.high, strict=True)),
            "four_fifths": beside_limit(beside, "largest"),
            **_tested(standard, hits, rows, largest),
        }
        about = [columns[0], columns[4], *(intervals if stated["intervals"] else []), *tested]
        name = show(sample.groups[largest])
        tables.append(
            Table(f"By {column}, beside the largest group ({name})", about, _lines(parts))
        )
    return tables, sentences


def _lines(parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A table's rows, from its columns."""
    return [dict(zip(parts, values, strict=True)) for values in zip(*parts.values(), strict=True)]


def _tested(standard: Standard, hits: Counts, rows: Counts, reference: int) -> dict[str, Any]:
    """Tests of every group beside a reference."""
    z = standard_deviations(hits, rows, reference)
    return {
        "fisher_p": fisher(hits, rows, reference),
        "deviations": z,
        "beyond": [bool(abs(one) > standard.policy["deviations"]) for one in z],
    }


def _may_be_highest(rows: Counts, least_share: float) -> NDArray[np.bool_]:
    """The groups that are large enough to be compared with; refused where there is none."""
    large = np.asarray(rows >= least_share * rows.sum())
    if not large.any():
        raise InputError(
            f"None of the {len(rows)} groups has {percent(least_share)} of the people, so there is "
            'no rate to compare with. Merge small groups with min_count=30, rare="merge", or state '
            "a smaller least_share."
        )
    return large


def _small(
    sample: Sample, among: NDArray[np.bool_], least_share: float, reference: int
) -> Sequence[str]:
    """Which groups are too small to be compared with, in a note."""
    small = [show(sample.groups[at]) for at in np.flatnonzero(~among)]
    if not small:
        return ()
    highest = show(sample.groups[reference])
    return (
        f"Below {percent(least_share)} of those counted here: {listing(small)}. They are compared "
        f"with {highest}, and a rate of theirs never counts as the highest.",
    )
