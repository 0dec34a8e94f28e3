"""Examine the evidence: one test a criterion, its values by every measure, and its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.finding import Finding, GroupValues, Measured, Obstacle, Pair
from evenhand._audit.questions import greatest_reading
from evenhand._columns import Label
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand._data.once import once
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._uncertainty.clusters import independent
from evenhand._uncertainty.curves import Estimates, curve_at
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import holm, homogeneity
from evenhand._uncertainty.interval import ConfidenceInterval, interval_of
from evenhand.criteria import Criterion, Reading
from evenhand.criteria.criterion import class_of
from evenhand.criteria.questions import Question
from evenhand.measures import DEFAULT_MEASURE, MeasureLike
from evenhand.statistics import Statistic

Floats = NDArray[np.float64]

WORKERS = 2  # threads; they share one interpreter, so more bring little
CANDIDATES = 20  # groups at either end that are compared in pairs
MARGIN = 0.05  # of a rate: five percentage points
NAMED = 3  # groups without a value, in words
NO_WIDTH = 1e-12  # of an interval, beside its value: rounding and no more


@dataclass(frozen=True, eq=False)
class Assessment:
    """The test, the largest difference, each measure's interval, and what is known of groups."""

    p_value: float
    gap: ConfidenceInterval
    readings: list[Reading]
    intervals: list[ConfidenceInterval]
    estimates: Estimates


class Examined(NamedTuple):
    """The findings, and the groups' values by criterion."""

    findings: tuple[Finding, ...]
    group_values: tuple[GroupValues, ...]


class Precision(NamedTuple):
    """How sure the audit is, what counts as alike, what is tolerated, and of how many views."""

    confidence: float
    margin: float | None
    tolerances: Mapping[str, float]
    choices: int


Progress = Callable[[int, int], None]  # is told how many parts of how many are done


def examine(
    evidence: Evidence,
    questions: Sequence[Question],
    precision: Precision,
    progress: Progress | None = None,
) -> Examined:
    """Ask everything that the evidence can answer, what takes longest first."""
    pool = ThreadPoolExecutor(WORKERS)
    jobs = {
        pool.submit(_answers, evidence, [questions[i] for i in batch], precision): batch
        for batch in _batches(questions)
    }
    known: dict[int, tuple[Finding, GroupValues]] = {}
    try:
        for done, job in enumerate(as_completed(jobs), 1):
            known |= zip(jobs[job], job.result(), strict=True)
            if progress is not None:
                progress(done, len(jobs))
        answers = [known[i] for i in range(len(questions))]
    finally:
        pool.shutdown(cancel_futures=True)  # so that Ctrl-C waits for no question not yet begun
    findings, tables = [finding for finding, _ in answers], tuple(table for _, table in answers)
    statistics = [question.criterion.statistic for question in questions]
    tested = _adjusted(statistics, findings)
    tests = len({statistic.hypothesis for statistic in statistics}) * precision.choices
    concluded = [
        finding.concluded(p, min(1.0, adjusted * precision.choices), tests)
        for finding, (p, adjusted) in zip(findings, tested, strict=True)
    ]
    return Examined(_with_obstacles(evidence, questions, concluded, tables), tables)


def _batches(questions: Sequence[Question]) -> list[list[int]]:
    """Questions about the same statistic, which have one test; those that take longest first."""
    batches: dict[tuple[str, bool], list[int]] = {}
    for i, question in enumerate(questions):
        key = (question.criterion.statistic.formula, question.criterion.one_class)
        batches.setdefault(key, []).append(i)
    return sorted(
        batches.values(), key=lambda batch: not questions[batch[0]].criterion.kind.is_swept
    )


def tested(evidence: Evidence, asked: Criterion) -> tuple[Estimates, float]:
    """What is known of a criterion's statistic in every group, and the p-value of all being alike.

    Criteria that compare the same statistic have it in common.
    """
    source = evidence.sources[asked.statistic.needs]
    favorable = options_of(evidence, asked).get("favorable")

    def test() -> tuple[Estimates, float]:
        estimates = estimates_of(source, asked, favorable)
        return estimates, homogeneity(source, asked, estimates)

    return once(source, ("test", asked.statistic, asked.one_class, favorable), test)


def read(
    evidence: Evidence, asked: Criterion, measure: MeasureLike, transform: str | None = None
) -> Reading:
    """The exact value of a criterion by a measure."""
    options = options_of(evidence, asked)
    options |= {} if transform is None else {"transform": transform}
    source = evidence.sources[asked.statistic.needs]
    key = "reading", asked, measure, *options.items()
    return once(source, key, lambda: asked.read(source, measure=measure, **options))


def _assess(
    evidence: Evidence,
    criterion: Criterion,
    measures: Sequence[MeasureLike],
    confidence: float,
    transform: str | None,
) -> Assessment:
    """Ask a criterion by all its measures."""
    source = evidence.sources[criterion.statistic.needs]
    estimates, p_value = tested(evidence, criterion)
    favorable = options_of(evidence, criterion).get("favorable")

    def asked(measure: MeasureLike, how: str | None) -> tuple[Reading, ConfidenceInterval]:
        reading = read(evidence, criterion, measure, how)
        known = estimates, reading.settings, reading, source
        key = "interval", criterion, reading.settings, favorable, confidence
        return reading, once(source, key, lambda: interval_of(*known, confidence, p_value))

    readings, intervals = zip(*(asked(measure, transform) for measure in measures), strict=True)
    gap = next(
        (
            known
            for known, reading in zip(intervals, readings, strict=True)
            if reading.settings.resolved.is_width
        ),
        None,
    )
    if gap is None:
        gap = asked(DEFAULT_MEASURE, "raw")[1]
    return Assessment(p_value, gap, [*readings], [*intervals], estimates)


def options_of(evidence: Evidence, asked: Criterion) -> dict[str, Any]:
    """The favorable class where it was stated or is asked about, and exp where means are negative.

    So a criterion has the value that `evaluate` gives it: of a class that was named alone, else of
    the worst one.
    """
    options: dict[str, Any] = {}
    favorable = evidence.favorable_in(one_class=asked.one_class)
    if favorable is not None and not asked.kind.is_swept:
        options["favorable"] = favorable
    statistic = asked.statistic
    if statistic.bounds[0] < 0:
        values = statistic.read(evidence.sources[statistic.needs]).values
        options |= {"transform": "exp"} if np.nanmin(values) < 0 else {}
    return options


def _with_obstacles(
    evidence: Evidence,
    questions: Sequence[Question],
    findings: Sequence[Finding],
    tables: Sequence[GroupValues],
) -> tuple[Finding, ...]:
    """The findings, each value with what keeps it from passing a bound."""
    kinds = {question.criterion.statistic.needs for question in questions}
    same = {needs: evidence.sameness(needs) for needs in kinds}
    return tuple(
        replace(
            finding,
            sameness=same[question.criterion.statistic.needs],
            values={
                name: replace(value, obstacle=_obstacle(question, value, table, same) or few)
                for name, value in finding.values.items()
            },
        )
        for question, finding, table in zip(questions, findings, tables, strict=True)
        for few in [_too_few(evidence, question, finding)]
    )


def support(statistic: Statistic, source: Any, reading: Reading) -> Floats | None:
    """Rows that each value (cells, groups) was computed from, where it is a share of them."""
    shares = statistic.shares(source, of="rows") if isinstance(source, Tally) else None
    if shares is None:
        return None
    asked = set(reading.cells)
    kept = [i for i, cell in enumerate(statistic.read(source).cells) if cell in asked]
    return shares.rows[kept]


def _adjusted(
    statistics: Sequence[Statistic], findings: Sequence[Finding]
) -> list[tuple[float, float]]:
    """P-values, and those that allow for all the hypotheses.

    Criteria that state the same one have one p-value, which may be drawn, and count once: accuracy
    and error rates are equal together, and so are selection rates and their ratio.
    """
    keys = [statistic.hypothesis for statistic in statistics]
    first = {key: keys.index(key) for key in keys}
    known = {key: findings[i].p_value for key, i in first.items()}
    adjusted = dict(zip(known, holm([*known.values()]).tolist(), strict=True))
    return [(known[key], adjusted[key]) for key in keys]


def _answers(
    evidence: Evidence, questions: Sequence[Question], precision: Precision
) -> list[tuple[Finding, GroupValues]]:
    """What is found of criteria that compare the same statistic."""
    answers = []
    for question in questions:
        criterion = question.criterion
        asked = criterion, question.measures, precision.confidence
        try:
            known = _assess(evidence, *asked, None)
        except InputError:  # an interval of means near 0 ends below it, where Gini and PQ do not go
            if criterion.statistic.bounds[0] >= 0 or "transform" in options_of(evidence, criterion):
                raise
            known = _assess(evidence, *asked, "exp")
        finding = _finding(question, known, evidence.favorable, precision)
        answers.append((finding, _group_values(evidence, question, known, precision.confidence)))
    return answers


def _finding(
    question: Question, known: Assessment, favorable: Label, precision: Precision
) -> Finding:
    values = {}
    for reading, interval in zip(known.readings, known.intervals, strict=True):
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
    if is_rate and (margin is None or margin >= 1):  # a margin of amounts says nothing of shares
        margin = MARGIN
    return Finding(
        criterion=question.name,
        p_value=known.p_value,
        values=values,
        gap=known.gap,
        margin=margin,
        pair=_pair(known, favorable, 1 - precision.confidence),
        level=1 - precision.confidence,
        is_rate=is_rate and not question.criterion.kind.is_swept,
        estimates=None if question.criterion.kind.is_swept else known.estimates,
    )


def _worst(reading: Reading, favorable: Label) -> tuple[Label, np.ndarray[Any, Any]]:
    """The cell with the largest inequality, and the groups' values there.

    By MPD two classes are equally uneven; then it is the favorable one.
    """
    if not len(reading.cells) or np.isnan(reading.cell_values).all():
        return None, np.full(len(reading.groups), np.nan)
    uneven = reading.unevenness
    highest = np.nanmax(uneven)
    tied = [i for i, value in enumerate(uneven) if np.isclose(value, highest, rtol=1e-9)]
    at = next((i for i in tied if class_of(reading.cells[i]) == favorable), tied[0])
    return reading.cells[at], reading.table[at]


def _pair(known: Assessment, favorable: Label, level: float) -> Pair | None:
    """The two groups furthest apart of those with disjoint bounds, which hold for all at once.

    So a group of a few rows does not lead because chance threw it far, and the groups that a
    sentence names are those with the largest observed difference wherever that is significant.
    """
    estimates = known.estimates
    if np.isfinite(estimates.values).sum() < 2:
        return None
    low, high = _steady_bounds(estimates, level)
    best: tuple[float, Pair] | None = None
    for cell, values, lower, upper in zip(
        estimates.cells, estimates.values, low, high, strict=True
    ):
        seen = np.flatnonzero(np.isfinite(values))
        if len(seen) < 2:
            continue
        a, b = _furthest(values[seen], lower[seen], upper[seen])
        if not lower[seen][a] > upper[seen][b]:
            continue
        sure = float(values[seen][a] - values[seen][b]) + (
            1e-9 if class_of(cell) == favorable else 0.0
        )
        if best is None or sure > best[0]:
            ends = (estimates.groups[seen[a]], float(values[seen[a]]))
            others = (estimates.groups[seen[b]], float(values[seen[b]]))
            best = sure, Pair(*(ends + others if ends[1] >= others[1] else others + ends), cell)
    return _furthest_in_errors(estimates, favorable) if best is None else best[1]


def _furthest(values: Floats, lower: Floats, upper: Floats) -> tuple[int, int]:
    """The groups (high, low) with the largest difference of values among disjoint bounds.

    >>> _furthest(np.array([0.9, 0.6, 0.1]), np.array([0.0, 0.5, 0.0]), np.array([1.0, 0.7, 0.2]))
    (1, 2)
    """
    order = np.argsort(upper)
    lowest = np.minimum.accumulate(values[order])
    ends = np.searchsorted(upper[order], lower)  # how many groups end below each one's bound
    ends[np.isnan(lower)] = 0
    gaps = np.where(ends > 0, values - lowest[np.maximum(ends - 1, 0)], -np.inf)
    high = int(np.argmax(gaps))
    if not ends[high]:
        return int(np.argmax(lower)), int(np.argmin(upper))
    below = order[: ends[high]]
    return high, int(below[np.argmin(values[below])])


def _furthest_in_errors(estimates: Estimates, favorable: Label) -> Pair | None:
    """Where no two groups are clearly apart: those the furthest, in their standard errors."""
    down = estimates.values - curve_at(estimates.curves, -1.0)
    up = curve_at(estimates.curves, 1.0) - estimates.values
    best: tuple[float, Pair] | None = None
    for cell, values, below, above in zip(estimates.cells, estimates.values, down, up, strict=True):
        seen = np.flatnonzero(np.isfinite(values) & np.isfinite(below) & np.isfinite(above))
        if len(seen) < 2:
            continue
        middle = np.median(values[seen])
        tops = seen[np.argsort((values[seen] - middle) / (below[seen] + 1e-12))[-CANDIDATES:]]
        bottoms = seen[np.argsort((values[seen] - middle) / (above[seen] + 1e-12))[:CANDIDATES]]
        error = np.hypot(below[tops][:, None], above[bottoms]) + 1e-12
        far = (values[tops][:, None] - values[bottoms]) / error
        far[tops[:, None] == bottoms] = -np.inf
        a, b = np.unravel_index(int(np.argmax(far)), far.shape)
        distance = float(far[a, b]) + (1e-9 if class_of(cell) == favorable else 0.0)
        if best is None or distance > best[0]:
            i, j = int(tops[a]), int(bottoms[b])
            ends = (estimates.groups[i], float(values[i]), estimates.groups[j], float(values[j]))
            best = distance, Pair(*ends, cell)
    return None if best is None else best[1]


def _steady_bounds(estimates: Estimates, level: float) -> tuple[Floats, Floats]:
    """Bounds of all values at once; those of means no narrower than the spread of most rows makes.

    A few rows of a skewed loss that miss its tail show a small mean and a small spread together.
    """
    low, high = estimates.all_at_once(level)
    if estimates.proved:
        return low, high
    root = np.sqrt(np.maximum(estimates.sizes, 1.0))
    own = (curve_at(estimates.curves, 1.0) - curve_at(estimates.curves, -1.0)) * root
    weight = np.where(np.isfinite(own), estimates.sizes, 0.0)
    typical = (np.nan_to_num(own) * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300)
    least = np.maximum(1e-12 * typical, 1e-300)[:, None]  # of values that do not vary at all
    wider = np.fmax(typical[:, None] / np.maximum(own, least), 1.0)
    return (
        estimates.values - (estimates.values - low) * wider,
        estimates.values + (high - estimates.values) * wider,
    )


def _group_values(
    evidence: Evidence,
    question: Question,
    known: Assessment,
    confidence: float,
) -> GroupValues:
    reading = known.readings[0]
    source = evidence.sources[question.criterion.statistic.needs]
    low = high = np.full(reading.table.shape, np.nan)
    overall = np.full(len(reading.cells), np.nan)
    if not question.criterion.kind.is_swept:
        low, high = known.estimates.single(confidence)
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
        estimates=None if question.criterion.kind.is_swept else known.estimates,
    )


def _overall(evidence: Evidence, question: Question) -> Floats:
    """The values of all groups together."""
    source = evidence.sources[question.needs]
    favorable = options_of(evidence, question.criterion).get("favorable")

    def overall() -> Floats:
        together = np.zeros(len(evidence.groups), dtype=np.intp)
        everyone = independent(source).regrouped(together, ("everyone",))
        return question.criterion.table(everyone, favorable).values[:, 0]

    return once(source, ("overall", question.criterion, favorable), overall)


def _obstacle(
    question: Question, value: Measured, table: GroupValues, same: Mapping[str, str | None]
) -> Obstacle | None:
    """What is in the way of passing: nothing to compare, or groups that nothing is known of."""
    sameness = same[question.criterion.statistic.needs]
    if sameness is not None:
        return Obstacle(sameness, is_error=True)
    if np.isnan(value.value):
        return Obstacle("fewer than two groups have a value to compare", is_error=True)
    absent = _absent(question, value, table)
    if not absent:
        return _never_varies(table)
    return Obstacle(without_value(absent), is_error=False)


def without_value(absent: Sequence[str]) -> str:
    """That groups have no value, in words."""
    more = f" and {len(absent) - NAMED} more" if len(absent) > NAMED else ""
    return (
        f"there is no value of {', '.join(absent[:NAMED])}{more}; more rows would settle it, "
        "or rare groups can be merged or dropped"
    )


def _never_varies(table: GroupValues) -> Obstacle | None:
    """That a mean has the same value in all rows, so that its interval says nothing."""
    width, size = table.high - table.low, np.abs(table.values)
    if not np.isfinite(width).any() or np.nanmax(width) > NO_WIDTH * max(np.nanmax(size), 1e-300):
        return None
    return Obstacle(
        "no two rows of a group differ here, so nothing shows how far other rows would",
        is_error=False,
    )


def _too_few(evidence: Evidence, question: Question, finding: Finding) -> Obstacle | None:
    """That no rows of these numbers could show a difference, even if all are hits here, none there.

    In strata and bins it is enough if one of them has enough.
    """
    known = finding.estimates
    sizes = evidence.rows[None] if known is None else known.sizes * np.isfinite(known.values)
    return too_few(sizes, finding.level, is_sparse=question.criterion.kind.is_sparse)


def too_few(sizes: Floats, level: float, *, is_sparse: bool = False) -> Obstacle | None:
    """That these numbers of rows (cells, groups) could show no difference, in one cell or in all.

    Exact bounds of all groups at once (Šidák) then overlap: tail^(1/n) + tail^(1/m) ≤ 1 for the two
    largest groups of n and m rows.
    """
    groups = (sizes > 0).sum(axis=1)
    sizes = np.sort(sizes[groups > 1], axis=1)[:, -2:]
    tail = -np.expm1(np.log1p(-level) / groups[groups > 1]) / 2
    blind = (tail[:, None] ** (1 / sizes)).sum(axis=1) <= 1
    if not len(blind) or not (blind.all() if is_sparse else blind.any()):
        return None
    at = int(np.argmax(blind))
    most = " and ".join(f"{size:,.0f}" for size in sizes[at][::-1])
    enough = int(np.log2(1 / tail[at])) + 1
    return Obstacle(
        f"the largest groups have {most} rows, and no fewer than {enough} each can show "
        "any difference",
        is_error=False,
    )


def _absent(question: Question, value: Measured, table: GroupValues) -> list[str]:
    """The groups that nothing is known of, and the cells where.

    A group without rows is less well known than one of a single row, whose interval is nearly all
    there is; so leaving it out must not make a bound easier to pass. In strata and in bins of
    scores some groups are usually missing: there it is enough to be seen in one of them.
    """
    if question.criterion.kind.is_sparse:
        return [show(table.groups[i]) for i in np.flatnonzero(np.isnan(table.values).all(axis=0))]
    return [f"{show(group)} at {show(cell)}" for cell, group in value.left_out]
