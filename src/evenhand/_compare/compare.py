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
from evenhand._compare.evidence import Task, evidence, named_predictions, task_of
from evenhand._compare.question import questions
from evenhand._compare.tables import Intervals, table
from evenhand._dataframes import kind_of
from evenhand.criteria import Criterion
from evenhand.measures import Measure


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
    intervals: Intervals = "inverted",
    replicates: int | None = None,
    random_state: int | np.random.Generator | None = 0,
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
    criteria : sequence of str or Criterion
        By default the usual ones of the task, which is read off the columns.
    measures : sequence of str or callable
        Such as "pq" (see `evaluate`).
    task : "classification" or "regression"
        Where whole numbers are not labels.
    g : str
        The statistic of "performance_parity"; for regression "mse" by default.
    transform, sample_weight, favorable
        As for `evaluate`.
    confidence : float
        Of the intervals; two models are told apart at 1 − confidence, by Holm over the pairs.
    intervals : "inverted" or "resampled"
        Of single values: by `interval`, or from the rows drawn again, which is quicker and less
        sure. Those of whole distributions ("strong_parity", "wasserstein_parity") are resampled.
    replicates : int
        How often rows are drawn again, and fair models for each p-value: by default 1000 for
        labels and 200 for numbers.
    random_state : int or Generator
        Of all draws.

    Examples
    --------
    >>> group = ["a"] * 120 + ["b"] * 120
    >>> models = {"even": [1, 0, 0] * 80, "uneven": [1, 0, 0] * 40 + [1, 1, 0] * 40}
    >>> found = compare(None, models, sensitive_features=group, measures=["mpd"])
    >>> print(found)
    statistical_parity by mpd: even 0 < uneven 0.3333
    (1 = most even first; < told apart, ~ not told apart, at 95 %)

    """
    predicted = named_predictions(predictions)
    task = task or task_of(y_true, predicted)
    rows = evidence(y_true, predicted, sensitive_features, sample_weight, task)
    options: dict[str, Any] = {"g": g, "transform": transform, "favorable": favorable}
    asked = questions(criteria, measures, rows, task, **options)
    sources = rows.observed({one.needs for one in asked})
    values = np.array([one.values(sources) for one in asked])
    times = replicates or (1000 if task == "classification" else 200)
    drawn = tables.resampled(rows, asked, times, np.random.default_rng(random_state))
    models, kind = tuple(predicted), kind_of(predictions, sensitive_features) or "pandas"
    scores = tables.value_rows(models, asked, sources, drawn, (confidence, intervals), random_state)
    pairs = tables.difference_rows(models, asked, values, drawn, confidence)
    agreed = tables.kendall_rows(asked, values, drawn, confidence) if len(models) > 2 else ()
    ranked = ("criterion", "measure", *models)
    return Comparison(
        models=models,
        task=task,
        confidence=confidence,
        values=table(scores, tables.VALUES, kind),
        differences=table(pairs, tables.DIFFERENCES, kind),
        ranks=table(tables.rank_rows(models, asked, values), ranked, kind),
        kendall=table(agreed, tables.KENDALL, kind),
        notes=(*rows.whom.notes, *_notes(models, drawn)),
        asked=tuple(asked),
        evidence=rows,
        random_state=random_state,
    )


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
