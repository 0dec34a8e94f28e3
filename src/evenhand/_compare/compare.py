"""Many models on the same rows, by many criteria and measures, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._compare import tables
from evenhand._compare.comparison import Comparison
from evenhand._compare.evidence import Evidence, Labels, evidence, named_predictions
from evenhand._compare.question import by_criterion, questions, tested
from evenhand._compare.tables import table
from evenhand._dataframes import kind_of
from evenhand._errors import InputError
from evenhand._seeds import RandomState, seed_of
from evenhand._signatures import suggests_names
from evenhand._tasks import Task, check_task, read_targets, task_of_labels
from evenhand.criteria import Criterion
from evenhand.measures import Measure


@suggests_names
def compare(
    y_true: Any,
    predictions: Any,
    *,
    sensitive_features: Any,
    criteria: Sequence[str | Criterion] | None = None,
    measures: Sequence[str | Measure] = ("mpd", "gini", "pq"),
    task: Task | None = None,
    g: str | None = None,
    transform: str | None = None,
    sample_weight: Any = None,
    favorable: Label = None,
    confidence: float = 0.95,
    replicates: int | None = None,
    random_state: RandomState = 0,
) -> Comparison:
    """Rank models by how even they are, and say where the difference is more than chance.

    Parameters
    ----------
    y_true : array-like or None
        True labels or values; None where no criterion asks for them.
    predictions : mapping or dataframe
        Predicted labels, or numbers, of every model for the same rows, by the model's name.
    sensitive_features : array-like or dataframe
        The column or columns that name the groups, or what `groups` made of them.
    criteria : sequence of str or Criterion, optional
        Names in `CRITERIA`; by default the usual ones of labels, or of numbers.
    measures : sequence of str or callable, default ("mpd", "gini", "pq")
        Names in `MEASURES`, or functions of the last axis.
    task : {"binary", "multiclass", "regression"}, optional
        Found from the columns if it is not said: text, truth values and up to 20 different whole
        numbers are labels, fractions are numbers, and more whole numbers must be explained.
    g : str, optional
        The statistic of "performance_parity"; for regression "mse" by default.
    transform : {"exp", "raw"}, optional
        As for `evaluate`.
    sample_weight : array-like, optional
        Weights of the rows.
    favorable : label, optional
        The favorable label, where a criterion asks about one label and it is not 1.
    confidence : float, default 0.95
        Of the intervals; two models are told apart, and a model's groups differ, at
        1 − confidence.
    replicates : int, optional
        How often rows are drawn again for the range of Kendall's τ: by default 400 times for
        labels and 100 for numbers.
    random_state : int, Generator or None, default 0
        Of the rows drawn again for Kendall's τ; no interval or p-value depends on it. The default
        is a fixed seed; None draws a fresh one.

    Returns
    -------
    Comparison
        Its `values`, `differences`, `ranks` and `kendall` are dataframes of the kind that was
        passed in, else of pandas; printed, it ranks the models.

    Raises
    ------
    InputError
        If the columns differ in length, mix labels and numbers, or cannot answer a criterion.

    Examples
    --------
    >>> group = ["a"] * 120 + ["b"] * 120
    >>> models = {"even": [1, 0, 0] * 80, "uneven": [1, 0, 0] * 40 + [1, 1, 0] * 40}
    >>> compare(None, models, sensitive_features=group, measures=["mpd"])
    statistical_parity by mpd: even 0 < uneven 0.333
    (1 = most even first; < told apart, ~ not told apart, at 95 %)

    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    predicted = named_predictions(predictions)
    named = {f"predictions[{model!r}]": values for model, values in predicted.items()}
    rows = evidence(read_targets(y_true, named, task), sensitive_features, sample_weight)
    asked = questions(criteria, measures, rows, g=g, transform=transform, favorable=favorable)
    sources = rows.observed({question.needs for question in asked})
    tests = {one: tested(question, sources) for one, question in by_criterion(asked).items()}
    samples = [tests[question.criterion].samples(question, sources) for question in asked]
    values = np.array([[float(sample.reading) for sample in each] for each in samples])
    seed, models = seed_of(random_state), tuple(predicted)
    times = replicates or (400 if isinstance(rows, Labels) else 100)
    rng = np.random.default_rng(seed)
    drawn = tables.resampled(rows, asked, times, rng) if len(models) > 2 else np.empty((0, 0, 0))
    scores = tables.value_rows(models, asked, samples, tests, confidence)
    pairs = tables.difference_rows(models, asked, samples, rows, confidence)
    agreed = tables.kendall_rows(asked, values, drawn, confidence) if len(models) > 2 else ()
    return Comparison(
        models=models,
        task=_task(rows, task),
        confidence=confidence,
        notes=(*rows.groups.notes, *_notes(models, drawn)),
        tables={
            "values": table(scores, tables.VALUES),
            "differences": table(pairs, tables.DIFFERENCES),
            "ranks": table(
                tables.rank_rows(models, asked, values), ("criterion", "measure", *models)
            ),
            "kendall": table(agreed, tables.KENDALL),
        },
        questions=tuple(asked),
        evidence=rows,
        seed=seed,
        kind=kind_of(predictions, sensitive_features),
    )


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
