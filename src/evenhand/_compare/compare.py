"""Many models on the same rows, by many criteria and measures, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.encoding import check_order
from evenhand._compare import tables
from evenhand._compare.comparison import Comparison
from evenhand._compare.evidence import Evidence, Labels, Sources, evidence
from evenhand._compare.models import named_models, sensitive_columns
from evenhand._compare.performance import (
    PAIRS,
    PERFORMANCE,
    performance_pairs,
    performance_rows,
)
from evenhand._compare.question import Question, by_criterion, questions, tested
from evenhand._compare.tables import table
from evenhand._data.dataframes import kind_of
from evenhand._data.tasks import Task, check_task, named_label, read_targets, task_of_labels
from evenhand._errors import InputError
from evenhand._kinds import check_distinct, check_kinds
from evenhand._seeds import RandomState, seed_of
from evenhand._signatures import CLUSTER, documented, suggests_names
from evenhand.criteria import Criterion
from evenhand.measures import MeasureLike

MEASURES = ("mpd", "gini", "pq")
RELATIVE = ("gini", "pq")  # which values below 0 do not have


@suggests_names
@documented(cluster=CLUSTER)
def compare(
    y_true: Any,
    predictions: Any,
    *,
    sensitive_features: Any,
    X: Any = None,
    criteria: str | Criterion | Sequence[str | Criterion] | None = None,
    measures: MeasureLike | Sequence[MeasureLike] = MEASURES,
    task: Task | None = None,
    g: str | None = None,
    transform: str | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
    rows: Any = None,
    favorable: Label = None,
    pos_label: Label = None,
    confidence: float = 0.95,
    replicates: int | None = None,
    random_state: RandomState = 0,
    title: str | None = None,
) -> Comparison:
    """Rank models by how even they are, beside how accurate, and say what is more than chance.

    Parameters
    ----------
    y_true : array-like or None
        True labels or values; None where no criterion asks for them.
    predictions : mapping or dataframe
        Predicted labels, or numbers, of every model for the same rows, by the model's name. A
        fitted estimator may stand in their place; it predicts for `X`.
    sensitive_features : array-like, dataframe, str or list of str
        The column or columns that name the groups, or what `groups` made of them; with a dataframe
        `X`, the names of columns of it.
    X : array-like or dataframe, optional
        The rows for which estimators predict: rows that they have not seen.
    criteria : str, Criterion or sequence of these, optional
        Names in `CRITERIA`; by default the usual ones of labels, or of numbers.
    measures : str, callable or sequence of these, default ("mpd", "gini", "pq")
        Names in `MEASURES`, or functions of the last axis; the first is the one that is drawn.
    task : {"binary", "multiclass", "regression"}, optional
        Found from the columns if it is not said: text, truth values and up to 20 different whole
        numbers are labels, fractions are numbers, and more whole numbers must be explained.
    g : str, optional
        The statistic of "performance_parity"; for regression "mse" by default.
    transform : {"exp", "raw"}, optional
        As for `evaluate`.
    sample_weight : array-like, optional
        Weights of the rows.
    {cluster}
    rows : array-like, optional
        How many rows each line stands for, where the columns are those of a table of counts, with
        the predictions of all models side by side.
    favorable : label, optional
        The favorable label, where a criterion asks about one label and it is not 1.
    pos_label : label, optional
        Another name for `favorable`, as in scikit-learn.
    confidence : float, default 0.95
        Of the intervals; tests of differences between models, and between the groups of a model,
        are at the level 1 − confidence.
    replicates : int, optional
        How often rows are drawn again for the range of Kendall's τ: by default 400 times for
        labels and 100 for numbers.
    random_state : int, Generator or None, default 0
        Of the rows drawn again for Kendall's τ; no interval or p-value depends on it. The default
        is a fixed seed; None draws a fresh one.
    title : str, optional
        Of the page and the figure.

    Returns
    -------
    Comparison
        Its `by_model`, `performance`, `values`, `differences`, `ranks` and `kendall` are dataframes
        of the kind that was passed in, else of pandas; printed, it ranks the models; `to_html` is a
        page and `plot` a figure of accuracy against every criterion.

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
    >>> compare(y, models, sensitive_features=group, criteria="statistical_parity", measures="mpd")
    accuracy: even 100.0% (98.5% to 100.0%) > uneven 83.3% (78.0% to 87.8%)
    statistical_parity by mpd: even 0 < uneven 0.333
    (best first; < and > are beyond chance, ~ is not, at 95%)

    """
    check_kinds(confidence=confidence, task=task, g=g, transform=transform, title=title)
    check_kinds(replicates=replicates)
    if not 0 < 1 - confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    named = named_models(predictions, X)
    predicted = named.predictions
    columns = {f"predictions[{model!r}]": values for model, values in predicted.items()}
    for name, values in columns.items():
        check_distinct(y_true=y_true, sensitive_features=sensitive_features, **{name: values})
    targets = read_targets(y_true, columns, task or named.task)
    people = sensitive_columns(sensitive_features, X)
    check_order(
        y_true=y_true,
        **columns,
        sensitive_features=people,
        sample_weight=sample_weight,
        rows=rows,
        cluster=cluster,
    )
    favorable = named_label(favorable, pos_label)
    lines = evidence(targets, people, sample_weight, rows, cluster, favorable)
    asked = questions(
        None if criteria is None else _several(criteria),
        _several(measures),
        lines,
        g=g,
        transform=transform,
        favorable=favorable,
    )
    sources = lines.observed({question.needs for question in asked})
    unasked: list[str] = []
    if measures is MEASURES:
        asked, unasked = _measurable(asked, sources)
    tests = {one: tested(question, sources) for one, question in by_criterion(asked).items()}
    samples = [tests[question.criterion].samples(question, sources) for question in asked]
    values = np.array([[float(sample.reading) for sample in each] for each in samples])
    seed, models = seed_of(random_state), tuple(predicted)
    times = replicates or (400 if isinstance(lines, Labels) else 100)
    rng = np.random.default_rng(seed)
    drawn = tables.resampled(lines, asked, times, rng) if len(models) > 2 else np.empty((0, 0, 0))
    scores = tables.value_rows(models, asked, samples, tests, confidence)
    pairs = tables.difference_rows(models, asked, samples, lines, confidence)
    agreed = tables.kendall_rows(asked, values, drawn, confidence) if len(models) > 2 else ()
    return Comparison(
        models=models,
        task=_task(lines, task),
        confidence=confidence,
        notes=(*lines.groups.notes, *unasked, *_notes(models, drawn)),
        tables={
            "values": table(scores, tables.VALUES),
            "differences": table(pairs, tables.DIFFERENCES),
            "ranks": table(
                tables.rank_rows(models, asked, values), ("criterion", "measure", *models)
            ),
            "kendall": table(agreed, tables.KENDALL),
            "performance": table(performance_rows(models, lines, confidence), PERFORMANCE),
            "performance_differences": table(performance_pairs(models, lines, confidence), PAIRS),
        },
        questions=tuple(asked),
        evidence=lines,
        seed=seed,
        kind=kind_of(predictions, sensitive_features, X),
        title=title,
    )


def _measurable(asked: Sequence[Question], sources: Sources) -> tuple[list[Question], list[str]]:
    """The questions that have a value, and a note on those by measures that nobody named."""
    kept, left = [], []
    for question in asked:
        try:
            question.values(sources)
            kept.append(question)
        except InputError as refused:
            if question.measure not in RELATIVE:
                raise
            name = f"{question.criterion.name} by {question.measure_name}"
            left.append(f"{name} is left out: {refused}")
    return kept, left


def _several(given: Any) -> Sequence[Any]:
    """One name or function by itself, or many."""
    return [given] if isinstance(given, str | Criterion) or callable(given) else given


def _task(rows: Evidence, task: Task | None) -> Task:
    if isinstance(rows, Labels):
        return task_of_labels(rows.predicted[0].labels, check_task(task))
    return "regression"


def _notes(models: Sequence[str], drawn: NDArray[np.float64]) -> list[str]:
    """What the reader must know before believing the tables."""
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
            f"Two random rankings of {len(models)} models agree wholly once in {times} times: "
            "a Kendall's τ of 1 is weak evidence."
        )
    if np.isnan(drawn).any():
        notes.append("Some resampled rows left a value undefined; those draws were left out.")
    return notes
