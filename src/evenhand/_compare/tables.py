"""The tables of a comparison: values, differences of pairs, ranks, agreement of rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._compare.evidence import Evidence, Sources
from evenhand._compare.paired import Estimate, difference, kendall, ranks, single
from evenhand._compare.question import Question, noise
from evenhand._uncertainty import interval
from evenhand._uncertainty.multiplicity import holm, verdict

Floats = NDArray[np.float64]
Row = dict[str, Any]
Columns = dict[str, list[Any]]
Intervals = Literal["inverted", "resampled"]

QUESTION = ("criterion", "measure", "model")
ESTIMATE = ("estimate", "low", "high")
VALUES = (*QUESTION, "value", "rank", *ESTIMATE, "floor", "p_value", "p_adjusted", "verdict")
DIFFERENCES = (*QUESTION, "other", "difference", *ESTIMATE, "p_value", "p_adjusted", "told_apart")
KENDALL = ("criterion", "measure", "other_criterion", "other_measure", "tau", "low", "high")


def table(rows: Iterable[Mapping[str, Any]], names: Iterable[str]) -> Columns:
    """The columns of rows, by name, even where there are no rows."""
    rows = list(rows)
    return {name: [row[name] for row in rows] for name in names}


def resampled(
    evidence: Evidence, questions: Sequence[Question], replicates: int, rng: np.random.Generator
) -> Floats:
    """Values (replicates, questions, models) in rows drawn again, the same rows for all models."""
    needs = {question.needs for question in questions}
    return np.concatenate(
        [
            np.stack([np.atleast_2d(q.values_if_any(sources)) for q in questions], axis=1)
            for sources in evidence.resampled(needs, replicates, rng)
        ]
    )


def value_rows(
    models: Sequence[str],
    questions: Sequence[Question],
    sources: Sources,
    drawn: Floats,
    *,
    confidence: float,
    intervals: Intervals,
    seed: int,
) -> Iterator[Row]:
    """A row for every criterion, measure and model; p-values adjusted over the models."""
    for k, question in enumerate(questions):
        chances = noise(question, sources, max(len(drawn), 40 * len(models)), seed)
        adjusted = holm([chance.p_value for chance in chances]).tolist()
        places = ranks([chance.value for chance in chances]).tolist()
        for m, chance in enumerate(chances):
            known = single(chance.value, drawn[:, k, m], question.order, confidence)
            if intervals == "inverted":
                known = _inverted(question, sources[question.needs][m], confidence, known)
            yield {
                **_named(question, models[m]),
                "value": chance.value,
                "rank": places[m],
                **_shown(known),
                "floor": chance.floor,
                "p_value": chance.p_value,
                "p_adjusted": adjusted[m],
                "verdict": verdict(chance.value, adjusted[m]),
            }


def difference_rows(
    models: Sequence[str],
    questions: Sequence[Question],
    values: Floats,
    drawn: Floats,
    confidence: float,
) -> Iterator[Row]:
    """A row for every two models, by every question; p-values adjusted over the pairs."""
    pairs = list(combinations(range(len(models)), 2))
    for k, question in enumerate(questions):
        estimates = [
            difference(
                (float(values[k, a]), float(values[k, b])),
                (drawn[:, k, a], drawn[:, k, b]),
                question.order,
                confidence,
            )
            for a, b in pairs
        ]
        adjusted = holm([estimate.p_value for estimate in estimates]).tolist()
        for (a, b), estimate, p in zip(pairs, estimates, adjusted, strict=True):
            yield {
                **_named(question, models[a]),
                "other": models[b],
                "difference": float(values[k, a] - values[k, b]),
                **_shown(estimate),
                "p_value": estimate.p_value,
                "p_adjusted": p,
                "told_apart": bool(p <= 1 - confidence),
            }


def rank_rows(
    models: Sequence[str], questions: Sequence[Question], values: Floats
) -> Iterator[Row]:
    """A row for every question, with the rank of each model."""
    for k, question in enumerate(questions):
        places = dict(zip(models, ranks(values[k]).tolist(), strict=True))
        yield {
            "criterion": question.criterion.name,
            "measure": question.measure_name,
        } | places


def kendall_rows(
    questions: Sequence[Question], values: Floats, drawn: Floats, confidence: float
) -> Iterator[Row]:
    """Kendall's τ-b of every two rankings, with its range over rows drawn again."""
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    for a, b in combinations(range(len(questions)), 2):
        again = kendall(drawn[:, a], drawn[:, b])
        again = again[~np.isnan(again)]
        low, high = np.quantile(again, ends) if len(again) else (np.nan, np.nan)
        yield {
            "criterion": questions[a].criterion.name,
            "measure": questions[a].measure_name,
            "other_criterion": questions[b].criterion.name,
            "other_measure": questions[b].measure_name,
            "tau": float(kendall(values[a], values[b])),
            "low": float(low),
            "high": float(high),
        }


def _named(question: Question, model: str) -> Row:
    return {"criterion": question.criterion.name, "measure": question.measure_name, "model": model}


def _shown(estimate: Estimate) -> Row:
    return {"estimate": estimate.value, "low": estimate.low, "high": estimate.high}


def _inverted(question: Question, source: Any, confidence: float, resampled: Estimate) -> Estimate:
    """The interval of counts and means; the value cleared of noise is that of resampled rows."""
    found = interval(question.criterion, source, confidence=confidence, **question.options)
    return Estimate(resampled.value, found.low, found.high)
