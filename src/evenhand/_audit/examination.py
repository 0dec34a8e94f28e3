"""Examine the evidence: a test of each criterion, its values by every measure, and its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.extremes import furthest_pair
from evenhand._audit.finding import Finding, GroupValues, Measured
from evenhand._audit.obstacles import with_obstacles
from evenhand._audit.questions import greatest_reading
from evenhand._columns import Label
from evenhand._data.evidence import Evidence
from evenhand._data.once import once
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._uncertainty.clusters import independent
from evenhand._uncertainty.curves import Estimates
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import holm, homogeneity
from evenhand._uncertainty.interval import ConfidenceInterval, interval_of
from evenhand._uncertainty.monte_carlo import Test
from evenhand.criteria import Criterion, Reading
from evenhand.criteria.criterion import class_of
from evenhand.criteria.questions import Question
from evenhand.measures import DEFAULT_MEASURE, MeasureLike
from evenhand.statistics import Statistic

Floats = NDArray[np.float64]
WORKERS = 2  # threads; more would gain little in one interpreter
MARGIN = 0.05  # of a rate: five percentage points


@dataclass(frozen=True, eq=False)
class Assessment:
    """The test, the gap, each measure's reading and interval, and the groups' estimates."""

    test: Test
    gap: ConfidenceInterval
    readings: list[Reading]
    intervals: list[ConfidenceInterval]
    estimates: Estimates


class Examined(NamedTuple):
    """The findings, and the groups' values by criterion."""

    findings: tuple[Finding, ...]
    group_values: tuple[GroupValues, ...]


class Precision(NamedTuple):
    """Confidence, margin, tolerances and number of views of an audit."""

    confidence: float
    margin: float | None
    tolerances: Mapping[str, float]
    choices: int


Progress = Callable[[int, int], None]  # called with the number of parts done and of all parts


def examine(
    evidence: Evidence,
    questions: Sequence[Question],
    precision: Precision,
    progress: Progress | None = None,
) -> Examined:
    """Examine every question, the slowest first."""
    pool = ThreadPoolExecutor(WORKERS)
    jobs = {
        pool.submit(_answers, evidence, [questions[i] for i in batch], precision): batch
        for batch in _batches(questions)
    }
    results: dict[int, tuple[Finding, GroupValues]] = {}
    try:
        for done, job in enumerate(as_completed(jobs), 1):
            results |= zip(jobs[job], job.result(), strict=True)
            if progress is not None:
                progress(done, len(jobs))
        answers = [results[i] for i in range(len(questions))]
    finally:
        pool.shutdown(cancel_futures=True)  # so that Ctrl-C does not wait for pending questions
    findings, tables = [finding for finding, _ in answers], tuple(table for _, table in answers)
    statistics = [question.criterion.statistic for question in questions]
    tested = _adjusted(statistics, findings)
    tests = len({statistic.hypothesis for statistic in statistics}) * precision.choices
    concluded = [
        finding.concluded(p, min(1.0, adjusted * precision.choices), tests)
        for finding, (p, adjusted) in zip(findings, tested, strict=True)
    ]
    return Examined(with_obstacles(evidence, questions, concluded, tables), tables)


def _batches(questions: Sequence[Question]) -> list[list[int]]:
    """Positions of questions by statistic, as these share a test; the slowest first."""
    batches: dict[tuple[str, bool], list[int]] = {}
    for i, question in enumerate(questions):
        key = (question.criterion.statistic.formula, question.criterion.one_class)
        batches.setdefault(key, []).append(i)
    return sorted(
        batches.values(), key=lambda batch: not questions[batch[0]].criterion.kind.is_swept
    )


def tested(evidence: Evidence, criterion: Criterion) -> tuple[Estimates, Test]:
    """Estimates of a criterion's statistic in every group, and the test of equality.

    Criteria that compare the same statistic share them.
    """
    source = evidence.sources[criterion.statistic.needs]
    favorable = options_of(evidence, criterion).get("favorable")

    def test() -> tuple[Estimates, Test]:
        estimates = estimates_of(source, criterion, favorable)
        return estimates, homogeneity(source, criterion, estimates)

    return once(source, ("test", criterion.statistic, criterion.one_class, favorable), test)


def read(
    evidence: Evidence, criterion: Criterion, measure: MeasureLike, transform: str | None = None
) -> Reading:
    """The exact value of a criterion by a measure."""
    options = options_of(evidence, criterion)
    options |= {} if transform is None else {"transform": transform}
    source = evidence.sources[criterion.statistic.needs]
    key = "reading", criterion, measure, *options.items()
    return once(source, key, lambda: criterion.read(source, measure=measure, **options))


def _assess(
    evidence: Evidence,
    criterion: Criterion,
    measures: Sequence[MeasureLike],
    confidence: float,
    transform: str | None,
) -> Assessment:
    """Test a criterion and read it by all its measures."""
    source = evidence.sources[criterion.statistic.needs]
    estimates, test = tested(evidence, criterion)
    favorable = options_of(evidence, criterion).get("favorable")

    def measured(measure: MeasureLike, how: str | None) -> tuple[Reading, ConfidenceInterval]:
        reading = read(evidence, criterion, measure, how)
        arguments = estimates, reading.settings, reading, source
        key = "interval", criterion, reading.settings, favorable, confidence
        return reading, once(source, key, lambda: interval_of(*arguments, confidence, test.p_value))

    readings, intervals = zip(*(measured(measure, transform) for measure in measures), strict=True)
    gap = next(
        (
            interval
            for interval, reading in zip(intervals, readings, strict=True)
            if reading.settings.resolved.is_width
        ),
        None,
    )
    if gap is None:
        gap = measured(DEFAULT_MEASURE, "raw")[1]
    return Assessment(test, gap, [*readings], [*intervals], estimates)


def options_of(evidence: Evidence, criterion: Criterion) -> dict[str, Any]:
    """Options of a criterion: the favorable class, and the transform exp if means are negative.

    With these a criterion has the value that `evaluate` gives it: for the named class, or else for
    the worst one.
    """
    options: dict[str, Any] = {}
    favorable = evidence.favorable_in(one_class=criterion.one_class)
    if favorable is not None and not criterion.kind.is_swept:
        options["favorable"] = favorable
    statistic = criterion.statistic
    if statistic.bounds[0] < 0:
        values = statistic.read(evidence.sources[statistic.needs]).values
        options |= {"transform": "exp"} if np.nanmin(values) < 0 else {}
    return options


def support(statistic: Statistic, source: Any, reading: Reading) -> Floats | None:
    """Rows behind each value (cells, groups), if the values are shares of rows."""
    shares = statistic.shares(source, of="rows") if isinstance(source, Tally) else None
    if shares is None:
        return None
    cells = set(reading.cells)
    places = [i for i, cell in enumerate(statistic.read(source).cells) if cell in cells]
    return shares.rows[places]


def _adjusted(
    statistics: Sequence[Statistic], findings: Sequence[Finding]
) -> list[tuple[float, float]]:
    """P-values, and p-values adjusted for all hypotheses.

    Criteria that state the same hypothesis share a p-value, which may be randomized, and count
    once: equal accuracy is equal error rates, and equal selection rates have a ratio of 1.
    """
    keys = [statistic.hypothesis for statistic in statistics]
    first = {key: keys.index(key) for key in keys}
    p_values = {key: findings[i].p_value for key, i in first.items()}
    adjusted = dict(zip(p_values, holm([*p_values.values()]).tolist(), strict=True))
    return [(p_values[key], adjusted[key]) for key in keys]


def _answers(
    evidence: Evidence, questions: Sequence[Question], precision: Precision
) -> list[tuple[Finding, GroupValues]]:
    """The findings on criteria that compare the same statistic."""
    answers = []
    for question in questions:
        criterion = question.criterion
        arguments = criterion, question.measures, precision.confidence
        try:
            assessment = _assess(evidence, *arguments, None)
        except (
            InputError
        ):  # an interval of means near 0 ends below 0, where Gini and PQ are undefined
            if criterion.statistic.bounds[0] >= 0 or "transform" in options_of(evidence, criterion):
                raise
            assessment = _assess(evidence, *arguments, "exp")
        finding = _finding(question, assessment, evidence.favorable, precision)
        answers.append(
            (finding, _group_values(evidence, question, assessment, precision.confidence))
        )
    return answers


def _finding(
    question: Question, assessment: Assessment, favorable: Label, precision: Precision
) -> Finding:
    values = {}
    for reading, interval in zip(assessment.readings, assessment.intervals, strict=True):
        cell, vector = _worst(reading, favorable)
        values[reading.measure] = Measured(
            criterion=question.name,
            measure=reading.measure,
            aggregate=reading.aggregate,
            transform=reading.transform,
            value=interval.value,
            low=interval.low,
            high=interval.high,
            worst_cell=cell,
            cells=reading.cells if len(reading.cell_values) else (),
            cell_values=reading.cell_values,
            contributions=reading.settings.resolved.shares(vector),
            left_out=reading.left_out,
            tolerance=precision.tolerances.get(f"{question.name}.{reading.measure}"),
            greatest=greatest_reading(reading, question.criterion.statistic.bounds),
        )
    is_rate = question.criterion.statistic.bounds == (0.0, 1.0)
    margin = precision.margin
    if is_rate and (margin is None or margin >= 1):  # a margin of amounts does not apply to shares
        margin = MARGIN
    return Finding(
        criterion=question.name,
        p_value=assessment.test.p_value,
        p_error=assessment.test.error,
        values=values,
        gap=assessment.gap,
        margin=margin,
        pair=furthest_pair(assessment.estimates, favorable, 1 - precision.confidence),
        level=1 - precision.confidence,
        is_rate=is_rate and not question.criterion.kind.is_swept,
        estimates=None if question.criterion.kind.is_swept else assessment.estimates,
    )


def _worst(reading: Reading, favorable: Label) -> tuple[Label, np.ndarray[Any, Any]]:
    """The cell with the largest inequality, and the groups' values there.

    By MPD two classes tie; then it is the cell of the favorable one.
    """
    if not len(reading.cells) or np.isnan(reading.cell_values).all():
        return None, np.full(len(reading.groups), np.nan)
    uneven = reading.unevenness
    highest = np.nanmax(uneven)
    tied = [i for i, value in enumerate(uneven) if np.isclose(value, highest, rtol=1e-9)]
    at = next((i for i in tied if class_of(reading.cells[i]) == favorable), tied[0])
    return reading.cells[at], reading.table[at]


def _group_values(
    evidence: Evidence,
    question: Question,
    assessment: Assessment,
    confidence: float,
) -> GroupValues:
    reading = assessment.readings[0]
    source = evidence.sources[question.criterion.statistic.needs]
    low = high = np.full(reading.table.shape, np.nan)
    overall = np.full(len(reading.cells), np.nan)
    if not question.criterion.kind.is_swept:
        low, high = assessment.estimates.single(confidence)
        low, high = (np.where(np.isnan(reading.table), np.nan, end) for end in (low, high))
        overall = _overall(evidence, question)
    return GroupValues(
        criterion=question.name,
        formula=question.criterion.formula,
        statistic=question.criterion.statistic.formula,
        asks=question.criterion.asks,
        is_not=question.criterion.is_not,
        range=question.criterion.range,
        bounds=question.criterion.statistic.bounds,
        cells=reading.cells,
        groups=reading.groups,
        values=reading.table,
        low=low,
        high=high,
        overall=overall,
        rows=support(question.criterion.statistic, source, reading),
        columns=len(evidence.columns),
        estimates=None if question.criterion.kind.is_swept else assessment.estimates,
    )


def _overall(evidence: Evidence, question: Question) -> Floats:
    """The values over all groups pooled."""
    source = evidence.sources[question.needs]
    favorable = options_of(evidence, question.criterion).get("favorable")

    def overall() -> Floats:
        together = np.zeros(len(evidence.groups), dtype=np.intp)
        everyone = independent(source).regrouped(together, ("everyone",))
        return question.criterion.table(everyone, favorable).values[:, 0]

    return once(source, ("overall", question.criterion, favorable), overall)
