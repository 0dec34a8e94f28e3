"""The tables of New York City's Local Law 144: sex, race/ethnicity, and their intersections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._words import listing, number, percent, plural
from evenhand.standards.profiles import Standard
from evenhand.standards.rates import Counts, Ratios, exact_interval, rates_of, ratios_of
from evenhand.standards.sample import Sample, Subject
from evenhand.standards.tables import (
    Filled,
    Table,
    TableColumn,
    beside_limit,
    four_fifths_sentence,
    head_of,
    if_known,
    in_words,
    interval_note,
    known_part,
    lowest_sentence,
    recorded,
)

DENOMINATOR = (
    "6 RCNY § 5-300 divides by the rate of the most selected category and excepts none; § 5-301 "
    "lets categories below 2% be left out of the impact ratios. Many auditors take the highest "
    "rate among those that are not left out (denominator='included'); by default "
    "this page takes it among all."
)


def bias_audit(standard: Standard, subject: Subject, stated: Mapping[str, Any]) -> Filled:
    """Three tables, or one where the audit has one column, for each counted outcome."""
    _check_leaving_out(standard, stated)
    columns = _columns(subject, stated)
    views = [(name,) for name in columns] + ([tuple(columns)] if len(columns) == 2 else [])
    samples = {view: subject.sample(*view) for view in views}
    outcomes = _outcomes(standard, samples[views[0]], stated)
    tables, shows, unknown, called = [], [], [], []
    for view in views:
        sample_of_known, hidden, names = known_part(samples[view], stated["unknown"])
        unknown.append(f"{hidden:,} by {_by(view)}")
        called += [name for name in names if len(columns) == 1 or " × " not in name]
        if len(sample_of_known.groups) < 2:
            raise InputError(f"By {' × '.join(view)} there are fewer than two known categories.")
        for outcome in outcomes:
            sample = replace(sample_of_known, hits=outcome.hits(sample_of_known))
            table, sentence = _table(standard, sample, subject.confidence, stated, outcome, hidden)
            if not stated["leave_out"]:  # else the ratios are not those of all groups
                everyone = replace(samples[view], hits=outcome.hits(samples[view]))
                sentence += if_known(everyone, stated["unknown"])
            tables.append(table)
            shows.append(sentence)
    facts = [
        ("Assessed", f"{plural(int(samples[views[0]].rows.sum()), 'person', 'people')}"),
        ("Unknown category", "; ".join(unknown) + recorded(called)),
        ("Rates", outcomes[0].sentence),
        ("Impact ratios", _denominator(stated)),
    ]
    notes = [interval_note(subject.confidence, rates=True)] if stated["intervals"] else []
    if stated["leave_out"]:
        notes.append(DENOMINATOR)
    if len(columns) < 2:
        notes.append(
            "The rule asks for tables by sex, by race/ethnicity and by their intersections; this "
            f"audit has one column, {in_words(columns[0])}."
        )
    return Filled(tables, shows, facts, notes)


class Outcome(NamedTuple):
    """An outcome to count: selected, of a class, or above the median, with its names."""

    head: str
    rate: str
    sentence: str
    median: float | None = None
    label: Label = None

    @property
    def named(self) -> str:
        """The class, for the end of a table's title."""
        return "" if self.label is None else f", classified as {show(self.label)}"

    def hits(self, sample: Sample) -> Counts:
        """Number of people with the outcome in each group."""
        if self.label is not None:
            return sample.classes[self.label]
        if self.median is not None and sample.scores is not None:
            return sample.scores.above(self.median)
        assert sample.hits is not None
        return sample.hits


def _outcomes(standard: Standard, sample: Sample, stated: Mapping[str, Any]) -> list[Outcome]:
    words = standard.wording
    ways = {
        "selection": sample.hits is not None,
        "class": bool(sample.classes),
        "score": sample.scores is not None,
    }
    available = [way for way, can in ways.items() if can]
    if not available:
        raise InputError(
            "The audit has no decisions and no scores: pass decisions with favorable=, or scores "
            "(y_score), to the audit."
        )
    by = stated["by"] or available[0]
    if by not in available:
        lacks = {
            "selection": "no decisions of which one is favorable (favorable=)",
            "class": "no classes without a favorable one",
            "score": "no scores (y_score)",
        }
        raise InputError(
            f"by={by!r}, but the audit has {lacks[by]}. "
            f"State by={' or by='.join(map(repr, available))}, or audit again with what is missing."
        )
    if by == "selection":
        return [Outcome(words["selected"], words["selection_rate"], "Share of those selected.")]
    if by == "class":
        sentence = "Share of those put into each class; a table for every class."
        rate = words["selection_rate"]
        return [Outcome(show(label), rate, sentence, label=label) for label in sample.classes]
    assert sample.scores is not None
    median = sample.scores.median
    ties = sample.scores.at(median)
    sentence = (
        f"Share of those who score strictly above {number(median, 4)}, the median of the full "
        f"sample, unknown categories included; {plural(ties, 'person scores', 'people score')} "
        "exactly that, and are not above it."
    )
    return [Outcome(words["scored"], words["scoring_rate"], sentence, median)]


def _table(
    standard: Standard,
    sample: Sample,
    confidence: float,
    stated: Mapping[str, Any],
    outcome: Outcome,
    hidden: int,
) -> tuple[Table, str]:
    assert sample.hits is not None
    view = _by(sample.columns)
    hits, rows = sample.hits, sample.rows
    left_out = rows < stated["leave_out"] * (rows.sum() + hidden)
    if (~left_out).sum() < 2:
        raise InputError(f"leave_out={stated['leave_out']} leaves fewer than two groups by {view}.")
    ratios = _ratios(hits, rows, left_out, stated["denominator"], confidence)
    low, high = exact_interval(hits, rows, confidence)
    rates, certainty = rates_of(hits, rows), beside_limit(ratios, "highest")
    lines = [
        {
            "category": show(group),
            "people": rows[at],
            "hits": hits[at],
            "rate": rates[at],
            "rate_interval": (low[at], high[at]),
            "impact_ratio": ratios.values[at],
            "ratio_interval": None if left_out[at] else (ratios.low[at], ratios.high[at]),
            "four_fifths": "left out" if left_out[at] else certainty[at],
        }
        for at, group in enumerate(sample.groups)
    ]
    between = stated["intervals"]
    columns = [
        TableColumn("category", head_of(view), "text"),
        TableColumn("people", standard.wording["people"], "count"),
        TableColumn("hits", outcome.head, "count"),
        TableColumn("rate", outcome.rate, "rate"),
        *([TableColumn("rate_interval", "Interval of the rate", "rates")] if between else []),
        TableColumn("impact_ratio", "Impact ratio", "ratio"),
        *([TableColumn("ratio_interval", "Interval of the ratio", "ratios")] if between else []),
        *([TableColumn("four_fifths", "Against 0.8", "verdict")] if between else []),
    ]
    notes = []
    if left_out.any():
        names = [
            f"{show(sample.groups[at])} ({rows[at]:,}, {percent(float(rates[at]))})"
            for at in np.flatnonzero(left_out)
        ]
        notes.append(
            f"Left out of the impact ratios, each below {percent(stated['leave_out'])} of the data "
            f"(number, rate): {listing(names)}. The auditor's reason: {stated['reason']}"
        )
    included = np.flatnonzero(~left_out)
    included_ratios = Ratios(
        ratios.values[included],
        ratios.low[included],
        ratios.high[included],
        int(np.searchsorted(included, ratios.reference)) if ratios.reference in included else -1,
    )
    groups = [sample.groups[at] for at in included]
    title = view + outcome.named
    sentence = lowest_sentence(title, groups, included_ratios)
    if between and not np.isnan(included_ratios.values).all():
        sentence += four_fifths_sentence(groups, included_ratios)
    return Table(f"By {title}", columns, lines, notes), sentence


def _ratios(
    hits: Counts, rows: Counts, left_out: Any, denominator: str, confidence: float
) -> Ratios:
    """Ratios to the highest rate of all or of included groups; NaN for groups left out."""
    included = np.flatnonzero(~left_out) if denominator == "included" else np.arange(len(rows))
    ratios = ratios_of(hits[included], rows[included], "best", confidence)
    values, low, high = np.full((3, len(rows)), np.nan)
    values[included], low[included], high[included] = ratios.values, ratios.low, ratios.high
    for ends in (values, low, high):
        ends[left_out] = np.nan
    return Ratios(values, low, high, int(included[ratios.reference]))


def _columns(subject: Subject, stated: Mapping[str, Any]) -> list[str]:
    columns = stated["columns"] or list(subject.columns)
    if len(columns) > 2:
        raise InputError(
            f"The audit has the columns {columns}. State which are sex and race/ethnicity: "
            f"stated={{'columns': {columns[:2]}}}."
        )
    return columns


def _check_leaving_out(standard: Standard, stated: Mapping[str, Any]) -> None:
    largest = standard.policy["rare_share"]
    if stated["leave_out"] > largest:
        raise InputError(
            f"leave_out={stated['leave_out']:g}, but the rule lets an auditor leave out categories "
            f"below {largest:g} of the data, no larger ones."
        )
    if stated["leave_out"] and not stated["reason"]:
        raise InputError(
            "Categories may be left out with a reason of the auditor's: state reason='…' with "
            f"leave_out={stated['leave_out']:g}."
        )


def _denominator(stated: Mapping[str, Any]) -> str:
    if not stated["leave_out"]:
        return "To the highest rate of all categories of a table; none was left out for its size."
    phrases = {"all": "of all categories, those left out too", "included": "of those not left out"}
    return f"To the highest rate {phrases[stated['denominator']]}."


def _by(columns: Sequence[str]) -> str:
    return " × ".join(map(in_words, columns))
