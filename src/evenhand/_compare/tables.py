"""The tables of a comparison: values, differences of pairs, ranks, agreement of rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._compare.evidence import Evidence
from evenhand._compare.question import Assessed, unevenness, values_if_any
from evenhand._compare.ranking import kendall, ranks
from evenhand._uncertainty.homogeneity import holm, verdict
from evenhand._uncertainty.paired import Sample, difference
from evenhand.criteria import Criterion
from evenhand.criteria.questions import Question

Floats = NDArray[np.float64]
Row = dict[str, Any]
Columns = dict[str, list[Any]]

QUESTION = ("criterion", "measure", "model")
TESTED = ("low", "high", "p_value", "p_adjusted")
VALUES = (*QUESTION, "value", "rank", *TESTED, "verdict")
DIFFERENCES = (*QUESTION, "other", "difference", *TESTED, "beyond_chance")
KENDALL = ("criterion", "measure", "other_criterion", "other_measure", "tau", "low", "high")


def table(rows: Iterable[Mapping[str, Any]], names: Iterable[str]) -> Columns:
    """The columns of rows by name, also if there are no rows."""
    rows = list(rows)
    return {name: [row[name] for row in rows] for name in names}


def resampled(
    evidence: Evidence, questions: Sequence[Question], replicates: int, rng: np.random.Generator
) -> Floats:
    """Bootstrap values (replicates, questions, models), on the same rows for all models."""
    needs = {question.needs for question in questions}
    return np.concatenate(
        [
            np.stack([np.atleast_2d(values_if_any(q, sources)) for q in questions], axis=1)
            for sources in evidence.resampled(needs, replicates, rng)
        ]
    )


def value_rows(
    models: Sequence[str],
    questions: Sequence[Question],
    samples: Sequence[Sequence[Sample]],
    tests: Mapping[Criterion, Assessed],
    confidence: float,
) -> Iterator[Row]:
    """A row for every criterion, measure and model; p-values adjusted over models and criteria."""
    hypotheses = {question.criterion.statistic.hypothesis: question for question in questions}
    p_values = np.array([tests[question_.criterion].p_values for question_ in hypotheses.values()])
    adjusted = dict(zip(hypotheses, _holm(p_values), strict=True))
    for question, of_models in zip(questions, samples, strict=True):
        values = [float(sample.reading) for sample in of_models]
        places = ranks(unevenness(question, values)).tolist()
        p_adjusted = adjusted[question.criterion.statistic.hypothesis]
        for m, sample in enumerate(of_models):
            interval = sample.interval(confidence)
            yield {
                **_named(question, models[m]),
                "value": interval.value,
                "rank": places[m],
                "low": interval.low,
                "high": interval.high,
                "p_value": tests[question.criterion].p_values[m],
                "p_adjusted": float(p_adjusted[m]),
                "verdict": verdict(interval.value, float(p_adjusted[m]), 1 - confidence),
            }


def difference_rows(
    models: Sequence[str],
    questions: Sequence[Question],
    samples: Sequence[Sequence[Sample]],
    correlations: Mapping[tuple[Criterion, int, int], Floats | None],
    confidence: float,
) -> Iterator[Row]:
    """A row for every two models, by every question; p-values adjusted over pairs and criteria."""
    pairs = list(combinations(range(len(models)), 2))
    rows = [
        [
            difference(
                of_models[a], of_models[b], correlations[question.criterion, a, b], confidence
            )
            for a, b in pairs
        ]
        for question, of_models in zip(questions, samples, strict=True)
    ]
    adjusted = _by_measure(questions, [[result.p_value for result in row] for row in rows])
    for question, row, p_values in zip(questions, rows, adjusted, strict=True):
        for (a, b), result, p in zip(pairs, row, p_values, strict=True):
            yield {
                **_named(question, models[a]),
                "other": models[b],
                "difference": result.value,
                "low": result.low,
                "high": result.high,
                "p_value": result.p_value,
                "p_adjusted": p,
                "beyond_chance": bool(p <= 1 - confidence),
            }


def _by_measure(
    questions: Sequence[Question], p_values: Sequence[Sequence[float]]
) -> list[list[float]]:
    """P-values adjusted (Holm) over all pairs and criteria, separately for each measure."""
    adjusted = np.array(p_values, dtype=np.float64).reshape(len(questions), -1)
    names = np.array([question.measure_name for question in questions])
    for name in np.unique(names):
        rows = names == name
        adjusted[rows] = _holm(adjusted[rows])
    lists: list[list[float]] = adjusted.tolist()
    return lists


def _holm(p_values: Floats) -> Floats:
    """P-values adjusted over the full table."""
    return holm(p_values.ravel()).reshape(p_values.shape)


def rank_rows(
    models: Sequence[str], questions: Sequence[Question], values: Floats
) -> Iterator[Row]:
    """A row for every question, with the rank of each model."""
    for k, question in enumerate(questions):
        places = dict(zip(models, ranks(unevenness(question, values[k])).tolist(), strict=True))
        yield {
            "criterion": question.criterion.name,
            "measure": question.measure_name,
        } | places


def kendall_rows(
    questions: Sequence[Question], values: Floats, values_drawn: Floats, confidence: float
) -> Iterator[Row]:
    """Kendall's τ-b of every two rankings, with its bootstrap range."""
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    for a, b in combinations(range(len(questions)), 2):
        first, second = (partial(unevenness, questions[at]) for at in (a, b))
        replicated = kendall(first(values_drawn[:, a]), second(values_drawn[:, b]))
        replicated = replicated[~np.isnan(replicated)]
        low, high = np.quantile(replicated, ends) if len(replicated) else (np.nan, np.nan)
        yield {
            "criterion": questions[a].criterion.name,
            "measure": questions[a].measure_name,
            "other_criterion": questions[b].criterion.name,
            "other_measure": questions[b].measure_name,
            "tau": float(kendall(first(values[a]), second(values[b]))),
            "low": float(low),
            "high": float(high),
        }


def _named(question: Question, model: str) -> Row:
    return {"criterion": question.criterion.name, "measure": question.measure_name, "model": model}
