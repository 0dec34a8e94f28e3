"""The tables of the Uniform Guidelines: four-fifths, tests, shortfalls, and one decision more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from evenhand._errors import InputError
from evenhand._groups import show
from evenhand._words import listing
from evenhand.standards.adverse import below, fisher, flips, shortfall, standard_deviations
from evenhand.standards.profiles import Standard
from evenhand.standards.rates import rates_of, ratios_of
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
    "Tests compare a group with the one of the highest rate: Fisher’s exact test, two-sided; and "
    "standard deviations between the rates (z of pooled proportions; beyond 2 is marked ●), each "
    "without allowance for the number of groups.",
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
    ratios = ratios_of(hits, rows, "best", confidence)
    z = standard_deviations(hits, rows, ratios.reference)
    turns = flips(hits, rows)
    parts: dict[str, Any] = {
        "group": [show(group) for group in sample.groups],
        "people": rows,
        "hits": hits,
        "rate": rates_of(hits, rows),
        "ratio": ratios.values,
        "ratio_interval": list(zip(ratios.low, ratios.high, strict=True)),
        "below": below(hits, rows),
        "four_fifths": beside_limit(ratios, "highest"),
        "fisher_p": fisher(hits, rows, ratios.reference),
        "deviations": z,
        "beyond": [bool(abs(one) > standard.policy["deviations"]) for one in z],
        "short_of_four_fifths": shortfall(hits, rows),
        "short_of_equal": shortfall(hits, rows, Fraction(1)),
        "turns": turns,
    }
    lines = [{key: values[at] for key, values in parts.items()} for at in range(len(sample.groups))]
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
    tests = [
        columns[0],
        TableColumn("fisher_p", "Fisher p", "p"),
        TableColumn("deviations", "SDs", "number"),
        TableColumn("beyond", "Beyond 2", "flag"),
        TableColumn("short_of_four_fifths", "Short of 4/5", "count"),
        TableColumn("short_of_equal", "Short of equal", "count"),
        TableColumn("turns", "One decision turns it", "flag"),
    ]
    notes = _rare(standard, sample)
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
    return tables, sentences


def _rare(standard: Standard, sample: Sample) -> Sequence[str]:
    share = standard.policy["rare_share"]
    small = [
        show(group)
        for group, rows in zip(sample.groups, sample.rows, strict=True)
        if rows < share * sample.rows.sum()
    ]
    if not small:
        return ()
    return (f"Below {share:.0%} of those counted here: {listing(small)}. They are kept.",)
