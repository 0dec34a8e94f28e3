"""Tables of adverse impact: ratios, tests, shortfalls, single decisions and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._words import listing, percent
from evenhand.standards.adverse import (
    below,
    fisher,
    flips,
    pooled_shortfall,
    shortfall,
    standard_deviations,
    swaps,
)
from evenhand.standards.profiles import Standard
from evenhand.standards.rates import Counts, Ratios, rates_of, ratios_of
from evenhand.standards.sample import Sample, Segments, Subject
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
    some,
    unknown_fact,
)

ONE_BY_ONE = "each without allowance for the number of groups"
TESTS = (
    "Tests compare a group with the one of the highest rate, and with the largest group where that "
    "is another: {test}; and standard deviations between the rates (z of pooled proportions; "
    f"beyond 2 is marked ●), {ONE_BY_ONE}."
)
NAMED_TESTS = {
    "fisher": "Fisher’s exact test, two-sided",
    "mid-p": "Fisher’s exact test, two-sided, with half the weight on the table itself (mid-p)",
}
SHORT = (
    "Short of the pooled rate: how many more of the group would have been selected at the rate of "
    "everybody together (below 0: fewer). Short of equal: how many more would have to be "
    "selected, all else as it is, to reach the highest rate"
)
FOUR_FIFTHS = (
    "; of 4/5, to reach four-fifths of it. One decision: whether the verdict on four-fifths turns "
    "if a single person, of any group, is decided the other way. One swap: whether it turns if one "
    "more of the group and one fewer of the highest are selected, or the reverse."
)
SIGNIFICANT = 0.05


def adverse_impact(standard: Standard, subject: Subject, stated: Mapping[str, Any]) -> Filled:
    """Tables for each column; with stated steps, for the bottom line and for each step."""
    tables: list[Table] = []
    shows, facts = [], []
    for column in compared_columns(subject, stated):
        sample, hidden, called = decided(standard, subject.sample(column), stated)
        everyone = sample
        if stated["steps"]:
            sample = bottom_line(everyone, stated["steps"])
            facts.append((f"Steps by {in_words(column)}", " → ".join(map(str, stated["steps"]))))
        new_tables, sentences = _tables(standard, sample, subject.confidence, stated)
        tables += new_tables
        is_whole = not stated["steps"] and _may_be_highest(sample.rows, stated["least_share"]).all()
        if is_whole:  # else the ratios are not those of all groups
            sentences[0] += if_known(subject.sample(column), stated["unknown"])
        if stated["steps"]:
            tables.append(_by_step(standard, everyone, stated["steps"]))
        shows += sentences
        facts.append(unknown_fact(column, hidden, everyone, called))
    ends = FOUR_FIFTHS if standard.policy["four_fifths"] else "."
    notes = [TESTS.format(test=NAMED_TESTS[stated["test"]]), SHORT + ends]
    if stated["steps"]:
        notes.append(
            "The bottom line is those selected at the last step over those who came to the first."
        )
    if stated["intervals"]:
        notes.append(interval_note(subject.confidence, rates=False))
    return Filled(tables, shows, facts, notes)


def bottom_line(sample: Sample, steps: Sequence[Any]) -> Sample:
    """The sample from the people of the first step to the selected of the last one."""
    segments = sample.segments
    if segments is None:
        raise InputError(
            "To follow steps, each person has a row for every step that they came to: pass the "
            "column that names the step as strata."
        )
    places = [_place(segments, step) for step in steps]
    for before, at in pairwise(places):
        excess = np.flatnonzero(segments.rows[at] > segments.hits[before])
        if len(excess):
            who = int(excess[0])
            raise InputError(
                f"{segments.rows[at, who]:,} of {show(sample.groups[who])} came to the step "
                f"{show(segments.labels[at])!r}, and {segments.hits[before, who]:,} were selected "
                f"at {show(segments.labels[before])!r} before it. State the steps from the first "
                "to the last."
            )
    first, last = segments.rows[places[0]], segments.hits[places[-1]]
    return replace(sample, rows=first, hits=last, segments=None, scores=None)


def _place(segments: Segments, step: Any) -> int:
    labels = [show(label) for label in segments.labels]
    if str(step) not in labels:
        raise InputError(f"There is no step {step!r}; the strata are {', '.join(labels)}.")
    return labels.index(str(step))


def _by_step(standard: Standard, sample: Sample, steps: Sequence[Any]) -> Table:
    """Rates and ratios at each step."""
    assert sample.segments is not None
    lines = []
    for step in steps:
        at = _place(sample.segments, step)
        hits, rows = sample.segments.hits[at], sample.segments.rows[at]
        rates = rates_of(hits, rows)
        highest = np.nanmax(rates, initial=0.0)
        lines += [
            {
                "step": str(step),
                "group": show(group),
                "people": rows[i],
                "hits": hits[i],
                "rate": rates[i],
                "ratio": rates[i] / highest if highest else np.nan,
            }
            for i, group in enumerate(sample.groups)
        ]
    column = sample.columns[0]
    columns = [
        TableColumn("step", "Step", "text"),
        TableColumn("group", head_of(column), "text"),
        TableColumn("people", standard.wording["people"], "count"),
        TableColumn("hits", standard.wording["selected"], "count"),
        TableColumn("rate", "Rate", "rate"),
        TableColumn("ratio", "Ratio", "ratio"),
    ]
    return Table(f"By {in_words(column)}, at each step", columns, lines)


def compared_columns(subject: Subject, stated: Mapping[str, Any]) -> tuple[str, ...]:
    """The stated columns, or all columns of the audit."""
    return tuple(stated["columns"] or subject.columns)


def decided(
    standard: Standard, sample: Sample, stated: Mapping[str, Any]
) -> tuple[Sample, int, list[str]]:
    """The people of known groups, the number of others, and the labels of these."""
    if sample.hits is None:
        raise InputError(
            f"The standard {standard.name!r} compares decisions: audit labels, of which favorable= "
            "is the better one."
        )
    sample_of_known, hidden, called = known_part(sample, stated["unknown"])
    if len(sample_of_known.groups) < 2:
        raise InputError(f"By {sample.columns[0]} there are fewer than two known groups.")
    return sample_of_known, hidden, called


def _tables(
    standard: Standard, sample: Sample, confidence: float, stated: Mapping[str, Any]
) -> tuple[list[Table], list[str]]:
    hits, rows, column = sample.hits, sample.rows, sample.columns[0]
    assert hits is not None
    judged, between = standard.policy["four_fifths"], stated["intervals"]
    among = _may_be_highest(rows, stated["least_share"])
    ratios = ratios_of(hits, rows, "best", confidence, among)
    parts: dict[str, Any] = {
        "group": [show(group) for group in sample.groups],
        "people": rows,
        "hits": hits,
        "rate": rates_of(hits, rows),
        "ratio": ratios.values,
        "ratio_interval": list(zip(ratios.low, ratios.high, strict=True)),
        "below": below(hits, rows, among=among),
        "four_fifths": beside_limit(ratios, "highest"),
        **_tested(standard, hits, rows, ratios.reference, stated["test"]),
        "short_of_pooled": pooled_shortfall(hits, rows),
        "short_of_four_fifths": shortfall(hits, rows, among=among),
        "short_of_equal": shortfall(hits, rows, Fraction(1), among),
        "turns": flips(hits, rows, among=among),
        "swaps": swaps(hits, rows, among=among),
    }
    interval, verdict = (
        TableColumn("ratio_interval", "Interval", "ratios"),
        TableColumn("four_fifths", "Against 0.8", "verdict"),
    )
    group = TableColumn("group", head_of(column), "text")
    ratio = TableColumn("ratio", "Ratio", "ratio")
    intervals = [interval, *([verdict] if judged else [])] if between else []
    columns = [
        group,
        TableColumn("people", standard.wording["people"], "count"),
        TableColumn("hits", standard.wording["selected"], "count"),
        TableColumn("rate", "Rate", "rate"),
        ratio,
        *([TableColumn("below", "Below 4/5", "flag")] if judged else []),
        *intervals,
    ]
    tested = [
        TableColumn("fisher_p", "Mid-p" if stated["test"] == "mid-p" else "Fisher p", "p"),
        TableColumn("deviations", "SDs", "number"),
        TableColumn("beyond", "Beyond 2", "flag"),
    ]
    limit = [
        TableColumn("short_of_four_fifths", "Short of 4/5", "count"),
        TableColumn("turns", "One decision turns it", "flag"),
        TableColumn("swaps", "One swap turns it", "flag"),
    ]
    people = [
        TableColumn("short_of_pooled", "Short of the pooled rate", "number"),
        TableColumn("short_of_equal", "Short of equal", "count"),
    ]
    column_name = in_words(column)
    notes = _small(sample, among, stated["least_share"], ratios.reference)
    lines = _lines(parts)
    tables = [
        Table(f"By {column_name}", columns, lines, notes),
        Table(
            f"By {column_name}, tests and people",
            [group, *tested, *people, *(limit if judged else [])],
            lines,
        ),
    ]
    largest = int(rows.argmax())
    if largest != ratios.reference and hits[largest]:
        ratios_to_largest = ratios_of(hits, rows, largest, confidence)
        to_largest = {
            "ratio": ratios_to_largest.values,
            "ratio_interval": list(zip(ratios_to_largest.low, ratios_to_largest.high, strict=True)),
            "four_fifths": beside_limit(ratios_to_largest, "largest"),
            **_tested(standard, hits, rows, largest, stated["test"]),
        }
        name = show(sample.groups[largest])
        tables.append(
            Table(
                f"By {column_name}, compared with the largest group ({name})",
                [group, ratio, *intervals, *tested],
                _lines(parts | to_largest),
            )
        )
    return tables, _sentences(standard, sample, ratios, parts, stated)


def _sentences(
    standard: Standard, sample: Sample, ratios: Ratios, parts: Any, stated: Mapping[str, Any]
) -> list[str]:
    """Sentences on low ratios, on significance, and on verdicts that one person changes."""
    judged = standard.policy["four_fifths"]
    sentence = lowest_sentence(in_words(sample.columns[0]), sample.groups, ratios)
    if np.isnan(ratios.values).all():
        return [sentence]
    if judged:
        low = [show(sample.groups[at]) for at in np.flatnonzero(parts["below"])]
        sentence += f" Below four-fifths: {some(low)}." if low else " None is below four-fifths."
    p = parts["fisher_p"]
    tested = [at for at in range(len(p)) if not np.isnan(p[at])]
    significant = [show(sample.groups[at]) for at in tested if p[at] < SIGNIFICANT]
    test = "mid-p" if stated["test"] == "mid-p" else "Fisher’s exact test"
    sentence += (
        f" Different from {show(sample.groups[ratios.reference])} at the level 0.05 by {test}, "
        f"{ONE_BY_ONE}: {some(significant) if significant else 'none'}."
    )
    sentences = [sentence]
    if judged and stated["intervals"]:
        sentences.append(f"By the intervals:{four_fifths_sentence(sample.groups, ratios)}")
    turning = [show(sample.groups[at]) for at in np.flatnonzero(parts["turns"])]
    if judged and turning:
        sentences.append(
            f"One person decided the other way would turn the verdict on {some(turning)}."
        )
    return sentences


def _lines(parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table, from its columns."""
    return [dict(zip(parts, values, strict=True)) for values in zip(*parts.values(), strict=True)]


def _tested(
    standard: Standard, hits: Counts, rows: Counts, reference: int, test: str
) -> dict[str, Any]:
    """Tests of every group against a reference."""
    z = standard_deviations(hits, rows, reference)
    return {
        "fisher_p": fisher(hits, rows, reference, mid=test == "mid-p"),
        "deviations": z,
        "beyond": [bool(abs(deviation) > standard.policy["deviations"]) for deviation in z],
    }


def _may_be_highest(rows: Counts, least_share: float) -> NDArray[np.bool_]:
    """Mask of the groups that are large enough to be compared with; refuse if there is none."""
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
    """Note on groups that are too small to be compared with."""
    small = [show(sample.groups[at]) for at in np.flatnonzero(~among)]
    if not small:
        return ()
    highest = show(sample.groups[reference])
    return (
        f"Below {percent(least_share)} of those counted here: {listing(small)}. They are compared "
        f"with {highest}, and a rate of theirs never counts as the highest.",
    )
