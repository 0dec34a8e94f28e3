"""Evaluation of a rule on some rows, with intervals."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from evenhand._data.groups import show
from evenhand._data.probable import probable
from evenhand._errors import EvenhandError
from evenhand._frontier.wording import without_small
from evenhand._uncertainty.interval import interval
from evenhand.mitigation._lots import drawn
from evenhand.mitigation.crossfit.objective import Objective
from evenhand.mitigation.crossfit.rows import Floats, Rows, stream


@dataclass(frozen=True)
class Judgement:
    """Disparity and cost of decisions on some rows.

    `low` and `high` are the disparity's interval, from decisions drawn once; NaN if there is none.
    `error` is the standard error of the cost, and `aside` the disparity without groups of a few
    rows, with their names.
    """

    value: float
    cost: float
    accuracy: float
    error: float = np.nan
    low: float = np.nan
    high: float = np.nan
    aside: tuple[float, str] | None = None


def judged(rows: Rows, chances: Floats, question: Objective) -> Judgement:
    """The disparity and cost of decisions with these probabilities."""
    table = rows.confusion(chances)
    spent = np.einsum("ik,ky,iy->i", rows.onehot, question.cost, chances)
    cost = question.price(table)
    share = rows.weight / rows.weight.sum()
    error = float(np.sqrt((share**2 * (spent - cost) ** 2).sum()))
    accuracy = float(np.trace(table.sum(axis=0)))
    aside = None
    if rows.proxy is not None:
        value = question.allowed(rows, rows.onehot).gap(chances[:, 1])
        return Judgement(value, cost, accuracy, error)
    if question.reference is None:
        sizes = rows.sizes
        names = [show(group) for group in rows.groups]
        value_of = partial(question.value, favorable=rows.favorable)
        aside = without_small(table, sizes, names, value_of)
    value = question.value(table, rows.favorable)
    return Judgement(value, cost, accuracy, error, aside=aside)


def with_interval(
    rows: Rows, chances: Floats, question: Objective, confidence: float, random_state: int
) -> Judgement:
    """The same with an interval of the disparity.

    There is none for a shortfall from one group, which counts only groups below it, whereas
    `interval` takes the farthest on either side.
    """
    plain = judged(rows, chances, question)
    if question.reference is not None and question.measure.is_relative:
        return plain
    draws = stream(random_state, 3).random(len(chances))
    decided = drawn(chances, draws)
    labels = np.arange(len(rows.classes))
    favorable = rows.favorable if question.is_about_one(question.criterion) else None
    weighted = None if (rows.weight == rows.weight[0]).all() else rows.weight
    low, high = ends(
        question.criterion,
        None if rows.truth is None else labels[rows.truth],
        labels[decided],
        sensitive_features=_whom(rows),
        sample_weight=weighted,
        measure=question.measure,
        favorable=favorable,
        to=question.reference,
        confidence=confidence,
    )
    return replace(plain, low=low, high=high)


def _whom(rows: Rows) -> Any:
    """The groups of the rows, or their probabilities."""
    if not rows.unknown:
        return rows.group
    return probable(
        rows.group_proba,
        range(len(rows.groups)),
        assuming="weighted" if rows.proxy is None else None,
    )


def ends(criterion: str, y_true: Any, y_pred: Any, **options: Any) -> tuple[float, float]:
    """The ends of an interval; NaN if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = interval(criterion, y_true, y_pred, **options)
    except EvenhandError:
        return float("nan"), float("nan")
    return float(answer.low), float(answer.high)
