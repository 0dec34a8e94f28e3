"""The tables of a comparison: values, differences of pairs, ranks, agreement of rankings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.comparing.evidence import Evidence, Sources
from evenhand.comparing.noise import noise
from evenhand.comparing.paired import Estimate, difference, single
from evenhand.comparing.question import Question
from evenhand.comparing.ranking import kendall, ranks
from evenhand.uncertainty import interval
from evenhand.uncertainty.multiplicity import holm, verdict

Floats = NDArray[np.float64]
Rows = list[dict[str, Any]]

ASKED = ("criterion", "measure", "model")
KNOWN = ("estimate", "low", "high")
VALUES = (*ASKED, "value", "rank", *KNOWN, "floor", "p_value", "p_adjusted", "verdict")
DIFFERENCES = (*ASKED, "other", "difference", *KNOWN, "p_value", "p_adjusted", "told_apart")
KENDALL = ("criterion", "measure", "other_criterion", "other_measure", "tau", "low", "high")


RandomState = int | np.random.Generator | None
Intervals = Literal["inverted", "resampled"]


def resampled(
    evidence: Evidence, asked: Sequence[Question], times: int, rng: np.random.Generator
) -> Floats:
    """Values (times, questions, models) in rows drawn again; all models see the same rows."""
    worlds = evidence.worlds({one.needs for one in asked}, times, rng)
    batches = [
        np.stack([np.atleast_2d(one.values_if_any(world)) for one in asked], axis=1)
        for world in worlds
    ]
    return np.concatenate(batches)


def value_rows(
    models: Sequence[str],
    asked: Sequence[Question],
    sources: Sources,
    drawn: Floats,
    held: tuple[float, Intervals],
    random_state: RandomState,
) -> Rows:
    """A row for every criterion, measure and model; p-values adjusted over the models."""
    rows: Rows = []
    for k, one in enumerate(asked):
        found = noise(one, sources, max(len(drawn), 40 * len(models)), random_state)
        adjusted = holm([each.p_value for each in found]).tolist()
        places = ranks([each.value for each in found]).tolist()
        for m, each in enumerate(found):
            source = sources[one.needs][m]
            known = _known(one, source, each.value, drawn[:, k, m], held, random_state)
            row = _named(one, models[m]) | {"value": each.value, "rank": places[m]} | known
            row |= {"floor": each.floor, "p_value": each.p_value, "p_adjusted": adjusted[m]}
            rows.append(row | {"verdict": verdict(each.value, adjusted[m])})
    return rows


def difference_rows(
    models: Sequence[str],
    asked: Sequence[Question],
    values: Floats,
    drawn: Floats,
    confidence: float,
) -> Rows:
    """A row for every two models, by every question; p-values adjusted over the pairs."""
    rows: Rows = []
    pairs = list(combinations(range(len(models)), 2))
    for k, one in enumerate(asked):
        found = [_paired(one, values[k], drawn[:, k], a, b, confidence) for a, b in pairs]
        adjusted = holm([each.p_value for each in found]).tolist()
        for (a, b), each, p in zip(pairs, found, adjusted, strict=True):
            row = _named(one, models[a]) | {"other": models[b]} | _shown(each)
            row |= {"difference": float(values[k, a] - values[k, b]), "p_value": each.p_value}
            rows.append(row | {"p_adjusted": p, "told_apart": bool(p <= 1 - confidence)})
    return rows


def rank_rows(models: Sequence[str], asked: Sequence[Question], values: Floats) -> Rows:
    """A row for every question, with the rank of each model."""
    return [
        {"criterion": one.criterion.name, "measure": one.measure_name}
        | dict(zip(models, ranks(values[k]).tolist(), strict=True))
        for k, one in enumerate(asked)
    ]


def kendall_rows(
    asked: Sequence[Question], values: Floats, drawn: Floats, confidence: float
) -> Iterator[dict[str, Any]]:
    """Kendall's τ-b of every two rankings, with its range over rows drawn again."""
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    for a, b in combinations(range(len(asked)), 2):
        again = kendall(drawn[:, a], drawn[:, b])
        again = again[~np.isnan(again)]
        low, high = np.quantile(again, ends) if len(again) else (np.nan, np.nan)
        yield {
            "criterion": asked[a].criterion.name,
            "measure": asked[a].measure_name,
            "other_criterion": asked[b].criterion.name,
            "other_measure": asked[b].measure_name,
            "tau": float(kendall(values[a], values[b])),
            "low": float(low),
            "high": float(high),
        }


def _named(one: Question, model: str) -> dict[str, Any]:
    return {"criterion": one.criterion.name, "measure": one.measure_name, "model": model}


def _shown(found: Estimate) -> dict[str, Any]:
    return {"estimate": found.value, "low": found.low, "high": found.high}


def _known(
    one: Question,
    source: Any,
    value: float,
    drawn: Floats,
    held: tuple[float, Intervals],
    random_state: RandomState,
) -> dict[str, Any]:
    """The interval of counts and means; that of whole distributions would cost too much."""
    if one.needs == "steps" or held[1] == "resampled":
        return _shown(single(value, drawn, one.order, held[0]))
    options: dict[str, Any] = {"confidence": held[0], "random_state": random_state}
    found = interval(source, one.criterion, **options, **one.asked)
    return {"estimate": found.estimate, "low": found.low, "high": found.high}


def _paired(
    one: Question, values: Floats, drawn: Floats, a: int, b: int, confidence: float
) -> Estimate:
    pair = (float(values[a]), float(values[b]))
    return difference(pair, (drawn[:, a], drawn[:, b]), one.order, confidence)
