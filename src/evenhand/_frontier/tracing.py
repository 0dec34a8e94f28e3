"""The curve: the least cost at each bound, and the least bound at each cost, with proofs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand._frontier.question import Question
from evenhand._frontier.rows import Codes, Floats, Rows, stream
from evenhand.mitigation.optimal import (
    Curves,
    Population,
    Problem,
    Scores,
    Solution,
    Steady,
    Thresholds,
    lot_share,
    solve,
    stated,
)

FOLDS = 5
ERRORS = (0.05, 0.03, 0.02)  # standard errors that a group's rate may have
TRIED = (1.0, 0.5, 0.25, 0.1, 0.05, 0.0)  # bounds, in parts of the disparity without one
LOSS = 0.02  # of the largest cost: what the strength is chosen for
BISECTIONS = 14
ROUGH = 1e-4


@dataclass(frozen=True, eq=False)
class Tracer:
    """A population and a question, solved for one bound after another."""

    population: Population
    question: Question
    favorable: int | None

    def problem(self, epsilon: float) -> Problem:
        """With this bound on the disparity."""
        mass = self.population.mass
        wanted = self.question.requirements(mass, self.favorable, epsilon)
        return stated(self.population, wanted, self.question.cost)

    def free(self) -> Solution:
        """Without a bound on the disparity."""
        return solve(self.problem(np.inf))

    def along(self, bounds: Sequence[float], tolerance: float = 1e-6) -> Iterator[Solution]:
        """For each of these bounds; each search begins with the rules of the one before."""
        columns = None
        for epsilon in bounds:
            solution = solve(self.problem(float(epsilon)), tolerance, columns)
            columns = solution.columns if len(solution.columns.pool) else None
            yield solution

    def cost_at(self, bound: float) -> float:
        """The least cost at a bound."""
        return next(iter(self.along([bound]))).cost

    def least_value(self, cost: float, most: float) -> float:
        """A disparity that no rule of at most this cost is below, to 1 in 16,000, proved."""
        low, high, columns = 0.0, most, None
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            solution = solve(self.problem(middle), start=columns)
            columns = solution.columns
            if solution.cost - solution.gap > cost:
                low = middle
            else:
                high = middle
        return low


def population_of(rows: Rows, truth: str) -> Population:
    """Rows that answer prices, judged by their labels or by their own probabilities."""
    if rows.group_proba is not None:
        return Scores.blind(rows.features, rows.weight, len(rows.groups))
    if truth == "labels" and rows.is_binary:
        positive = rows.onehot[:, 1]
        return Curves.of(rows.scores[:, 1], positive, rows.group, rows.weight, len(rows.groups))
    kind = Thresholds if rows.is_binary else Scores
    return kind.of(rows.scores, rows.group, rows.weight, len(rows.groups))


def steadied(rows: Rows, population: Population, question: Question, error: float) -> Population:
    """The population with as many lots as make every group's rates known to this error."""
    share = lot_shares(rows, population, question, error)
    return Steady(population, share) if share.any() else population


def lot_shares(rows: Rows, population: Population, question: Question, error: float) -> Floats:
    """By group, for the cell whose rate is least known; rates are those of all groups together."""
    if not np.isfinite(error) or rows.group_proba is not None:
        return np.zeros(len(rows.groups))
    free = Tracer(population, question, rows.favorable).free()
    forms = question.forms(population.mass, rows.favorable)
    size = forms.sizes * _rows_by_weight(rows)
    cells = free.rates[: len(forms.cells)]
    overall = np.nansum(cells * size, axis=1) / np.maximum(size.sum(axis=1), 1)
    by_cell = [lot_share(size[c], float(overall[c]), error) for c in range(len(size))]
    return np.asarray(np.where(forms.observed, by_cell, 0.0).max(axis=0))


def cross_fitted_error(rows: Rows, question: Question, truth: str, random_state: int) -> float:
    """The standard error with which rules do best on rows that they were not fitted to.

    Best: the least disparity, on average over losses up to 0.02 of the largest cost.
    """
    if rows.truth is None or rows.group_proba is not None:
        return np.inf
    population = population_of(rows, truth)
    tried = [error for error in ERRORS if lot_shares(rows, population, question, error).any()]
    if not tried:
        return np.inf
    fold = stream(random_state, 2).permutation(len(rows.group)) % FOLDS
    curves = {error: _held_out(rows, question, truth, fold, error) for error in (np.inf, *tried)}
    least = curves[np.inf][1][0]
    losses = least + np.linspace(0, LOSS * float(np.abs(question.cost).max()), 21)
    return min(curves, key=lambda error: _area(*curves[error], losses))


def _held_out(
    rows: Rows, question: Question, truth: str, fold: Codes, error: float
) -> tuple[Floats, Floats]:
    """Disparity and cost at every bound that is tried, of rules fitted to the other folds.

    Each fold is judged by itself: what a group has too much in one fold it lacks in the others,
    so that rates of all folds together would look more equal than those of new rows.
    """
    found = np.zeros((FOLDS, len(TRIED), 2))
    for left_out in range(FOLDS):
        inside, outside = rows.take(fold != left_out), rows.take(fold == left_out)
        population = steadied(inside, population_of(inside, truth), question, error)
        tracer = Tracer(population, question, rows.favorable)
        most = tracer.free().value
        bounds = [most * share for share in TRIED]
        for at, solution in enumerate(tracer.along(bounds, ROUGH)):
            table = outside.confusion(solution.rule.probabilities(outside.features, outside.known))
            found[left_out, at] = question.value(table, rows.favorable), question.price(table)
    values, costs = found.mean(axis=0).T
    return values, costs


def _area(values: Floats, costs: Floats, losses: Floats) -> float:
    """The mean over losses of the least disparity within each; the largest where none is."""
    within = costs <= losses[:, None] + 1e-12
    return float(np.where(within, values, values.max()).min(axis=1).mean())


def _rows_by_weight(rows: Rows) -> float:
    """How many rows of equal weight would say as much (Kish)."""
    return float(rows.weight.sum() ** 2 / (rows.weight**2).sum())
