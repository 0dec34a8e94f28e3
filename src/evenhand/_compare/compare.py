"""Many models on the same rows, by many criteria and measures, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.encoding import check_order
from evenhand._compare import tables
from evenhand._compare.comparison import Comparison
from evenhand._compare.evidence import Evidence, Sources, evidence
from evenhand._compare.gaps import GAPS, gap_rows
from evenhand._compare.labels import Labels
from evenhand._compare.lists import Lists
from evenhand._compare.models import fetched, named_models
from evenhand._compare.pairs import pairs_of
from evenhand._compare.performance import (
    PAIRS,
    PERFORMANCE,
    performance_pairs,
    performance_rows,
)
from evenhand._compare.question import asks_scores, assessed, by_criterion, questions, values_of
from evenhand._compare.tables import table
from evenhand._data.data import Data
from evenhand._data.dataframes import kind_of
from evenhand._data.doors import about_data
from evenhand._data.evidence import check_several
from evenhand._data.groups import groups, show
from evenhand._data.tasks import Task, check_task, task_of_labels
from evenhand._errors import InputError
from evenhand._kinds import check_distinct, check_kinds
from evenhand._seeds import RandomState, seed_of
from evenhand._words import listing
from evenhand.criteria import Criterion
from evenhand.criteria.questions import Question
from evenhand.measures import MeasureLike

MEASURES = ("mpd", "gini", "pq")
FEW_ROWS = 30  # of a group for which chance makes any model look very uneven
NAMED = 3  # groups in a note
NOT_COMPARED = (  # roles of columns that models are not compared by
    *("exposure", "y_pred", "y_score", "rate", "classes"),
)
RELATIVE = ("gini", "pq")  # undefined for values below 0


@about_data("predictions", without=NOT_COMPARED)
def compare(
    data: Data,
    predictions: Any = None,
    *,
    y_score: Any = None,
    criteria: str | Criterion | Sequence[str | Criterion] | None = None,
    measures: MeasureLike | Sequence[MeasureLike] = MEASURES,
    g: str | None = None,
    transform: str | None = None,
    confidence: float = 0.95,
    replicates: int | None = None,
    random_state: RandomState = 0,
    title: str | None = None,
) -> Comparison:
    """Rank models by inequality and by accuracy, and say which differences are significant.

    Parameters
    ----------
    {first}
    predictions : mapping, dataframe or names of columns, optional
        Predicted labels, or numbers, of every model for the same rows, by the model's name; with
        `query`, the places in their lists. With `data`, a column may be named. A fitted estimator
        predicts from `data`: rows that it has not seen. Without them the scores decide.
    {rest}
    y_score : mapping, dataframe or names of columns, optional
        Scores or probabilities of one label by every model, by its name: for AUROC, calibration,
        cross-entropy and distributions, or in rankings to order each list. A classifier gives its
        own.
    criteria : str, Criterion or sequence of these, optional
        Names in `CRITERIA`; by default the usual ones of labels, or of numbers.
    measures : str, callable or sequence of these, default ("mpd", "gini", "pq")
        Names in `MEASURES`, or functions of the last axis; the first is the one that is drawn.
    g : str, optional
        The statistic of "performance_parity"; for regression "mse" by default.
    transform : {"exp", "raw"}, optional
        As for `evaluate`.
    confidence : float, default 0.95
        Of the intervals; tests of differences between models, and between the groups of a model,
        are at the level 1 − confidence.
    replicates : int, optional
        How often rows are drawn again for the range of Kendall's τ: by default 400 times for
        labels and 100 for numbers and scores.
    random_state : int, Generator or None, default 0
        Of the rows drawn again for Kendall's τ; no interval or p-value depends on it. The default
        is a fixed seed; None draws a fresh one.
    title : str, optional
        Of the page and the figure.

    Returns
    -------
    Comparison
        Its `by_model`, `performance`, `values`, `differences`, `gaps`, `ranks` and `kendall` are
        dataframes of the kind passed in, else of pandas; printed, it ranks the models; `to_html` is
        a page and `plot` a figure of accuracy against every criterion.

    Raises
    ------
    InputError
        If the columns differ in length, mix labels and numbers, or cannot answer a criterion.
    InputTypeError
        If predictions have no names, or an estimator has no `X` to predict for.

    Examples
    --------
    >>> group = ["a"] * 120 + ["b"] * 120
    >>> models = {"even": [1, 0, 0] * 80, "uneven": [1, 0, 0] * 40 + [1, 1, 0] * 40}
    >>> y = [1, 0, 0] * 80
    >>> asked = {"criteria": "statistical_parity", "measures": "mpd"}
    >>> found = compare(y, models, sensitive_features=group, **asked)
    >>> for order in found.document()["orders"]:
    ...     print(order)
    Accuracy: even 100.0% (98.4% to 100.0%) > uneven 83.3% (78.0% to 87.9%)
    Statistical parity by largest difference: even 0 < uneven 0.333

    """
    check_kinds(confidence=confidence, task=data.task, g=g, transform=transform, title=title)
    check_kinds(replicates=replicates)
    if not 0 < 1 - confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    kind = kind_of(predictions, y_score, data.sensitive_features, data.data)
    data = fetched(data, predictions, y_score)
    by_name = named_models(predictions, y_score, data, scored=asks_scores(criteria, g))
    if by_name.score_of is not None:
        data = replace(data, score_of=by_name.score_of)
    columns = {f"predictions[{model!r}]": y for model, y in by_name.predictions.items()}
    scores = {f"y_score[{model!r}]": y for model, y in by_name.scores.items()}
    roles = data.columns(
        "y_true", "sensitive_features", "sample_weight", "rows", "cluster", "strata"
    )
    y_true, people = roles["y_true"], roles["sensitive_features"]
    for name, values in (columns | scores).items():
        check_distinct(y_true=y_true, sensitive_features=people, **{name: values})
    check_order(**roles, **columns, **scores)
    favorable = data.favorable
    lines: Evidence
    if data.query is not None:
        lines = _lists(data, columns, scores, roles)
    else:
        lines = evidence(data, roles, columns, scores, data.task or by_name.task)
    check_several(lines.groups.labels)
    requested = questions(
        None if criteria is None else _several(criteria),
        _several(measures),
        lines,
        g=g,
        transform=transform,
        favorable=favorable,
    )
    sources = lines.observed({question.needs for question in requested})
    unasked: list[str] = []
    if measures is MEASURES:
        requested, unasked = _measurable(requested, sources)
    tests = {
        criterion: assessed(question, sources)
        for criterion, question in by_criterion(requested).items()
    }
    samples = [tests[question.criterion].samples(question, sources) for question in requested]
    values = np.array([[float(sample.reading) for sample in each] for each in samples])
    seed, models = seed_of(random_state), by_name.models
    is_quick = isinstance(lines, Labels) and lines.scores is None
    times = replicates or (400 if is_quick else 100)
    rng = np.random.default_rng(seed)
    replicated = (
        tables.resampled(lines, requested, times, rng) if len(models) > 2 else np.empty((0, 0, 0))
    )
    valued = tables.value_rows(models, requested, samples, tests, confidence)
    paired = pairs_of(requested, samples, lines, confidence)
    correlations = {key: pair and pair.correlations for key, pair in paired.items()}
    gaps = {key: pair and pair.gap for key, pair in paired.items()}
    pairs = list(tables.difference_rows(models, requested, samples, correlations, confidence))
    agreed = (
        tables.kendall_rows(requested, values, replicated, confidence) if len(models) > 2 else ()
    )
    return Comparison(
        models=models,
        task=_task(lines, data.task),
        confidence=confidence,
        notes=(
            *lines.notes,
            *lines.groups.notes,
            *_notes_on_lists(models, lines, sources),
            *unasked,
            *_notes(models, replicated),
            *([] if all(pair["beyond_chance"] for pair in pairs) else _small_groups(lines)),
        ),
        tables={
            "values": table(valued, tables.VALUES),
            "differences": table(pairs, tables.DIFFERENCES),
            "gaps": table(gap_rows(models, requested, samples, gaps, confidence), GAPS),
            "ranks": table(
                tables.rank_rows(models, requested, values), ("criterion", "measure", *models)
            ),
            "kendall": table(agreed, tables.KENDALL),
            "performance": table(performance_rows(models, lines, confidence), PERFORMANCE),
            "performance_differences": table(performance_pairs(models, lines, confidence), PAIRS),
        },
        questions=tuple(requested),
        evidence=lines,
        seed=seed,
        kind=kind,
        title=title,
    )


def _lists(
    data: Data, columns: Mapping[str, Any], scores: Mapping[str, Any], roles: Mapping[str, Any]
) -> Lists:
    """Rankings of the same rows, with columns read as in an audit."""
    if check_task(data.task) not in (None, "ranking"):
        raise InputError(f"query= is of rankings, and task={data.task!r}: drop one of them.")
    for name in ("rows", "favorable", "strata", "threshold", "score_of"):
        if getattr(data, name) is not None:
            raise InputError(f"{name}= says nothing about a ranking (query=): drop it.")
    return Lists(
        roles["y_true"],
        columns,
        scores,
        groups(roles["sensitive_features"]),
        roles["sample_weight"],
        roles["cluster"],
        data.columns("query")["query"],
        data.discount,
        data.top_k,
    )


def _notes_on_lists(models: Sequence[str], lines: Evidence, sources: Sources) -> list[str]:
    """Notes on the models' places; notes shared by all models appear once."""
    if not isinstance(lines, Lists):
        return []
    noted = [
        {note: None for source in of_model for note in getattr(source, "notes", ())}
        for of_model in zip(*sources.values(), strict=True)
    ]
    common = [note for note in noted[0] if all(note in notes_of_model for notes_of_model in noted)]
    particular = [
        f"{model}: {note}"
        for model, notes_of_model in zip(models, noted, strict=True)
        for note in notes_of_model
        if note not in common
    ]
    group_notes = set(lines.groups.notes)
    return [note for note in [*common, *particular] if note not in group_notes]


def _measurable(
    requested: Sequence[Question], sources: Sources
) -> tuple[list[Question], list[str]]:
    """The questions that have a value, and notes on the others, unless their measure was named."""
    measurable, omitted = [], []
    for question in requested:
        try:
            values_of(question, sources)
            measurable.append(question)
        except InputError as refused:
            if question.measure not in RELATIVE:
                raise
            name = f"{question.criterion.name} by {question.measure_name}"
            omitted.append(f"{name} is left out: {refused}")
    return measurable, omitted


def _several(value: Any) -> Sequence[Any]:
    """One name or function in a list, or several as they are."""
    return [value] if isinstance(value, str | Criterion) or callable(value) else value


def _task(rows: Evidence, task: Task | None) -> Task:
    if isinstance(rows, Labels):
        return task_of_labels(rows.predicted[0].labels, check_task(task))
    return "ranking" if isinstance(rows, Lists) else "regression"


def _notes(models: Sequence[str], replicated: NDArray[np.float64]) -> list[str]:
    """Notes on the limits of the tables."""
    notes = []
    if len(models) == 1:
        notes.append("One model alone has no rank to speak of, and no other to differ from.")
    if len(models) == 2:
        notes.append(
            "Two models are ranked alike or not: Kendall's τ says nothing, and is left out."
        )
    if 3 <= len(models) <= 4:
        times = factorial(len(models))
        notes.append(
            f"Two random rankings of {len(models)} models agree completely once in {times} times: "
            "a Kendall's τ of 1 is weak evidence."
        )
    if np.isnan(replicated).any():
        notes.append("Some resampled rows left a value undefined; those draws were left out.")
    return notes


def _small_groups(lines: Evidence) -> list[str]:
    """Note on groups too small to show differences between models, and what to do about them."""
    times = None if isinstance(lines, Lists) else lines.design.times
    labels = lines.groups.labels
    rows = np.bincount(lines.groups.codes, times, minlength=len(labels))
    small = [show(label) for label, size in zip(labels, rows, strict=True) if 0 < size < FEW_ROWS]
    if not small or np.count_nonzero(rows >= FEW_ROWS) < 2:
        return []
    listed = small if len(small) <= NAMED else [*small[:NAMED], f"{len(small) - NAMED} more"]
    subject = f"Group {small[0]} has" if len(small) == 1 else f"Groups {listing(listed)} have"
    return [
        f"{subject} fewer than {FEW_ROWS} rows. Any model may treat so few people very unevenly, "
        "which widens the intervals of differences over all groups, but not of gaps between two "
        f'others. To leave such groups out, pass min_count={FEW_ROWS}, rare="drop".'
    ]
