"""The tables of lending: at the cut-off, along the score, and within segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand._data.groups import show
from evenhand.standards.adverse import fisher
from evenhand.standards.adverse_impact import compared_columns, decided
from evenhand.standards.credit import (
    decile_cut_offs,
    mantel_haenszel,
    odds_ratios,
    standardized_mean_differences,
)
from evenhand.standards.profiles import Standard, reference_places
from evenhand.standards.rates import rates_of, ratios_of
from evenhand.standards.sample import Sample, Scores, Segments, Subject
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
    unknown_fact,
)

AT_CUT_OFF = (
    "AIR is the approval rate over that of the reference; the odds ratio is of approval. Fisher’s "
    "exact test is two-sided, without allowance for the number of groups."
)
OF_SCORES = {
    "pooled": "SMD is the mean score less that of the reference, over the standard deviation "
    "within both groups (pooled, n − 1).",
    "population": "SMD is the mean score less that of the reference, over the standard deviation "
    "of the scores of all known groups together (population, n).",
}
ALONG = "Each column approves the best tenths of everybody by score, ties included."
WITHIN = (
    "Within segments: the odds ratio common to them (Mantel and Haenszel), and the test of "
    "Cochran, Mantel and Haenszel that it is 1, without a correction for continuity."
)


def lending(standard: Standard, subject: Subject, stated: Mapping[str, Any]) -> Filled:
    """Three kinds of tables for each column, if there are scores and segments."""
    columns = compared_columns(subject, stated)
    words = stated["unknown"]
    groups_by_column = {
        column: known_part(subject.sample(column), words)[0].groups for column in columns
    }
    places = reference_places(stated["reference"], columns, groups_by_column)
    tables: list[Table] = []
    shows, facts, notes = [], [], [AT_CUT_OFF]
    for column in columns:
        sample, hidden, called = decided(standard, subject.sample(column), stated)
        at = places[column]
        facts += [
            (f"Reference of {in_words(column)}", show(sample.groups[at])),
            unknown_fact(column, hidden, sample, called),
        ]
        table, sentence = _at_cut_off(standard, sample, at, subject.confidence, stated)
        tables.append(table)
        shows.append(sentence + if_known(subject.sample(column), words, sample.groups[at]))
        if sample.scores is not None:
            tables.append(_along_scores(sample, sample.scores, at))
            notes += [OF_SCORES[stated["smd"]], ALONG]
        if sample.segments is not None:
            tables += _within_segments(sample, sample.segments, at)
            notes.append(WITHIN)
    if stated["intervals"]:
        notes.append(interval_note(subject.confidence, rates=False))
    return Filled(tables, shows, facts, list(dict.fromkeys(notes)))


def _at_cut_off(
    standard: Standard, sample: Sample, at: int, confidence: float, stated: Mapping[str, Any]
) -> tuple[Table, str]:
    hits, rows, column = sample.hits, sample.rows, sample.columns[0]
    assert hits is not None
    ratios = ratios_of(hits, rows, at, confidence)
    parts: dict[str, Any] = {
        "group": [show(group) for group in sample.groups],
        "people": rows,
        "hits": hits,
        "rate": rates_of(hits, rows),
        "air": ratios.values,
        "air_interval": list(zip(ratios.low, ratios.high, strict=True)),
        "four_fifths": beside_limit(ratios, "reference"),
        "odds_ratio": odds_ratios(hits, rows, at),
        "fisher_p": fisher(hits, rows, at),
    }
    intervals = [
        TableColumn("air_interval", "Interval", "ratios"),
        TableColumn("four_fifths", "Against 0.8", "verdict"),
    ]
    columns = [
        TableColumn("group", head_of(column), "text"),
        TableColumn("people", standard.wording["people"], "count"),
        TableColumn("hits", standard.wording["selected"], "count"),
        TableColumn("rate", standard.wording["selection_rate"], "rate"),
        TableColumn("air", "AIR", "ratio"),
        *(intervals if stated["intervals"] else []),
        TableColumn("odds_ratio", "Odds ratio", "ratio"),
        TableColumn("fisher_p", "Fisher p", "p"),
    ]
    if sample.scores is not None:
        parts["smd"] = standardized_mean_differences(sample.scores, at, stated["smd"])
        columns.append(TableColumn("smd", f"SMD, {stated['smd']}", "number"))
    table = Table(f"By {in_words(column)}, at the cut-off", columns, _lines(parts))
    sentence = lowest_sentence(in_words(column), sample.groups, ratios)
    if stated["intervals"] and not np.isnan(ratios.values).all():
        sentence += four_fifths_sentence(sample.groups, ratios)
    return table, sentence


def _along_scores(sample: Sample, scores: Scores, at: int) -> Table:
    """The ratio of each group at the cut-offs of the deciles."""
    parts: dict[str, Any] = {"group": [show(group) for group in sample.groups]}
    columns = [TableColumn("group", head_of(sample.columns[0]), "text")]
    for tenth, cut in enumerate(decile_cut_offs(scores), 1):
        rates = rates_of(cut.hits, sample.rows)
        key = f"air_best_{tenth}0"
        parts[key] = rates / rates[at] if rates[at] else np.full(len(rates), np.nan)
        columns.append(TableColumn(key, f"{tenth}0%", "ratio"))
    return Table(f"By {in_words(sample.columns[0])}, AIR by share approved", columns, _lines(parts))


def _within_segments(sample: Sample, segments: Segments, at: int) -> list[Table]:
    """The test for each group, and the ratios in every segment."""
    column = sample.columns[0]
    compared = [i for i in range(len(sample.groups)) if i != at]
    tests = [mantel_haenszel(segments.hits, segments.rows, i, at) for i in compared]
    pooled = {
        "group": [show(sample.groups[i]) for i in compared],
        "common_odds_ratio": [test.odds_ratio for test in tests],
        "cmh_statistic": [test.statistic for test in tests],
        "cmh_p": [test.p_value for test in tests],
    }
    heads = [
        TableColumn("group", head_of(column), "text"),
        TableColumn("common_odds_ratio", "Common odds ratio", "ratio"),
        TableColumn("cmh_statistic", "CMH χ²", "number"),
        TableColumn("cmh_p", "CMH p", "p"),
    ]
    tested = Table(f"By {in_words(column)}, within segments", heads, _lines(pooled))
    return [tested, _by_segment(sample, segments, at)]


def _by_segment(sample: Sample, segments: Segments, at: int) -> Table:
    rates = rates_of(segments.hits, segments.rows)
    lines = [
        {
            "segment": show(label),
            "group": show(group),
            "people": segments.rows[i, j],
            "hits": segments.hits[i, j],
            "rate": rates[i, j],
            "air": rates[i, j] / rates[i, at] if rates[i, at] > 0 else np.nan,
        }
        for i, label in enumerate(segments.labels)
        for j, group in enumerate(sample.groups)
    ]
    columns = [
        TableColumn("segment", "Segment", "text"),
        TableColumn("group", head_of(sample.columns[0]), "text"),
        TableColumn("people", "Applications", "count"),
        TableColumn("hits", "Approved", "count"),
        TableColumn("rate", "Approval rate", "rate"),
        TableColumn("air", "AIR", "ratio"),
    ]
    return Table(f"By {in_words(sample.columns[0])}, in each segment", columns, lines)


def _lines(parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{key: values[at] for key, values in parts.items()} for at in range(len(parts["group"]))]
