"""A model's position relative to the frontier, from the counts of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand._frontier.amounts import Amounts
from evenhand._frontier.regression import regression_frontier
from evenhand._frontier.wording import Place, sentences, without_small
from evenhand._words import people_changed
from evenhand.mitigation.crossfit.objective import Objective, convex
from evenhand.mitigation.crossfit.rows import Floats
from evenhand.mitigation.crossfit.tracing import Tracer
from evenhand.mitigation.optimal import Curves

POINTS = 13
SAME_NUMBER = ", with the same number selected,"
WRONG = "Share of wrong decisions"
MOVED = "How far predictions move (root mean square)"


@dataclass(frozen=True)
class Standing:
    """The frontier of the audited rows, and the model's position.

    Attributes
    ----------
    criterion, measure : str
        The definition of the disparity.
    bound, cost : tuple of float
        The curve: the least cost of any rule on these scores whose disparity is at most the bound,
        proved to within `gap`.
    value, model_cost : float
        The model's disparity and cost.
    least : float
        The least disparity of any rule that costs at most as much as the model.
    gap : float
        The proved bound of the excess of a cost over the least.
    unit : str
        The unit of a cost: the share of wrong decisions, or how far predictions move.
    summary : tuple of str
        The same in sentences.
    people : str
        How many more or fewer people of each group a rule without disparity selects, in words.

    """

    criterion: str
    measure: str
    bound: tuple[float, ...]
    cost: tuple[float, ...]
    value: float
    model_cost: float
    least: float
    gap: float
    unit: str
    summary: tuple[str, ...]
    people: str = ""


def standing(
    population: Curves,
    confusion: Floats,
    names: Sequence[str],
    *,
    criterion: str,
    measure: str,
    stated: bool = False,
) -> Standing:
    """Trace the frontier of two classes, the favorable one second, and compare the model with it.

    `population` are the groups' ROC curves, and `confusion` holds the model's decisions (groups,
    truth, decision). Every rule is evaluated by the labels of the same rows and, if that class was
    `stated`, only by its rates; it selects as many as the model, and within a group never prefers a
    lower score. No decisions of rows are computed, which are most of the work of `frontier`: the
    computation depends only on the corners of the groups' ROC curves.
    """
    table = confusion / confusion.sum()
    # Fix the number selected to the model's: otherwise selecting nearly everyone closes any gap.
    selected = float(table[:, :, 1].sum())
    question = Objective(
        criterion, convex(measure), 1 - np.eye(2), stated=stated, capacity=selected
    )
    tracer = Tracer(population, question, 1)
    value, cost = question.value(table, 1), question.price(table)
    largest = max(value, tracer.free().value)
    bounds = np.linspace(0, largest, POINTS).tolist()
    solutions = list(tracer.along(bounds))
    lowest = tracer.least_value(cost, largest)
    gap = max(solution.gap for solution in solutions)
    sizes = confusion.sum(axis=(1, 2))
    aside = without_small(table, sizes, names, lambda part: question.value(part, 1))
    model = Place(value, cost, 1 - cost, aside)
    selected_now = confusion[:, :, 1].sum(axis=1)

    def people_at(bound: float) -> str:
        rates = next(iter(tracer.along([bound]))).rates[-1]  # capacity is the last requirement
        return people_changed(names, (np.nan_to_num(rates) * sizes - selected_now).tolist())

    summary = sentences(
        criterion, measure, "accuracy", model, lowest, tracer.cost_at, SAME_NUMBER, people_at
    )
    return Standing(
        criterion,
        measure,
        tuple(bounds),
        tuple(solution.cost for solution in solutions),
        value,
        cost,
        lowest,
        gap,
        WRONG,
        tuple(summary),
        people_at(0.0).removeprefix(": "),
    )


def standing_of_amounts(rows: Amounts, *, criterion: str, measure: str) -> Standing:
    """Trace the frontier of predicted amounts, where the model is the point without any move."""
    curve = regression_frontier(rows, criterion, measure, POINTS, None, None)
    value = curve.model[0]
    return Standing(
        criterion,
        measure,
        tuple(curve.columns["bound"]),
        tuple(np.sqrt(curve.columns["cost"]).tolist()),
        value,
        0.0,
        value,
        max(curve.columns["gap"]),
        MOVED,
        tuple(curve.sentences),
    )
