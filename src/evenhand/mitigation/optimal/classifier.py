"""What the classifiers with an optimal rule share: scores in, a decision rule out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from evenhand._errors import InputError
from evenhand._groups import show
from evenhand.mitigation.estimators import (
    Codes,
    GroupClassifier,
    Probabilities,
    Rows,
    class_probabilities,
    fit_underlying,
)
from evenhand.mitigation.optimal.generation import MOST_ROUNDS, Solution, solve
from evenhand.mitigation.optimal.problem import Columns, Problem, problem
from evenhand.mitigation.optimal.scores import Population, Scores, known_groups


class Bound(NamedTuple):
    """What must be how equal."""

    criterion: str
    measure: str
    epsilon: float
    p: float = 1
    q: float = 2


class RuleClassifier(GroupClassifier):
    """The abstract parent of the post-processors that solve for a `DecisionRule`.

    With a `group_estimator`, any classifier, decisions do not need to know the group: the rule
    goes by P(group, class | x), and the group columns are read at fit only. Give sees_group=False
    then, so that the base model does not need them either.

    Attributes
    ----------
    rule_ : DecisionRule
        What is decided, with which chances; it can be applied without this library.
    objective_, gap_ : float
        Expected cost on the fitting rows, and how much less the optimum can be at most.
    value_ : float
        The criterion on the fitting rows, under the base model's probabilities.
    rates_, multipliers_ : arrays (cells, groups)
        The rates that were made more equal, and the price of moving each.
    notes_ : tuple of str
        What could not be required, or not be reached.

    """

    _hyperparameter: ClassVar[str]
    group_estimator: Any
    cost: Any
    favorable: Any
    tolerance: float

    @abstractmethod
    def _bound(self) -> Bound:
        """What must be how equal, by the parameters."""

    def fit_path(
        self, X: Any, y: Any, grid: Iterable[float], sample_weight: Any = None
    ) -> Iterable[Self]:
        """Fitted copies for a grid of bounds; the base model is fitted and the rows sorted once."""
        first = clone(self)
        population = first._population(first._read(X, y, sample_weight))
        columns: Columns | None = None
        for bound in grid:
            one = copy(first).set_params(**{self._hyperparameter: bound})
            columns = one._solve(population, columns).columns
            yield one

    def _fit(self, rows: Rows) -> None:
        self._solve(self._population(rows))

    def _decide(self, X: Any, group: Codes) -> Probabilities:
        if self._asks_group():
            return self.rule_.probabilities(self._base_probabilities(X), group)
        return self.rule_.probabilities(self._joint(X))

    def _asks_group(self) -> bool:
        return self.group_estimator is None

    def _population(self, rows: Rows) -> Population:
        """Fit the models underneath, and sort the rows for the solver."""
        self._fit_base(rows)
        groups = len(self.sensitive_.labels)
        if self._asks_group():
            return known_groups(self._base_probabilities(rows.X), rows.group, rows.weight, groups)
        self._fit_group_models(rows)
        return Scores.blind(self._joint(rows.X), rows.weight, groups)

    def _solve(self, population: Population, start: Columns | None = None) -> Solution:
        stated = self._problem(population)
        solution = solve(stated, self.tolerance, start)
        self.rule_ = solution.rule
        self.objective_, self.gap_, self.value_ = solution.cost, solution.gap, solution.value
        self.rates_, self.multipliers_ = solution.rates, solution.multipliers
        self.notes_ = (*self._unobserved(stated), *self._unfinished(solution))
        return solution

    def _problem(self, population: Population) -> Problem:
        criterion, measure, epsilon, p, q = self._bound()
        favorable = None if self.favorable is None else self._place(self.favorable)
        return problem(
            population, criterion, measure, epsilon, cost=self.cost, favorable=favorable, p=p, q=q
        )

    def _place(self, label: Any) -> int:
        classes = self.classes_.tolist()
        if label not in classes:
            raise InputError(f"The favorable label {label!r} is not among the labels {classes}.")
        return int(classes.index(label))

    def _fit_group_models(self, rows: Rows) -> None:
        """P(group | x) for parity; for criteria given the truth P(group | x, class), by class."""
        features = self.sensitive_.features(rows.X, sees_group=False)
        pooled = self._bound().criterion == "statistical_parity"
        kinds = np.zeros_like(rows.y) if pooled else rows.y
        self.group_estimators_ = [
            fit_underlying(
                self.group_estimator,
                _safe_indexing(features, np.flatnonzero(kinds == kind)),
                rows.group[kinds == kind],
                None if rows.sample_weight is None else rows.sample_weight[kinds == kind],
            )
            for kind in range(kinds.max() + 1)
        ]

    def _joint(self, X: Any) -> Probabilities:
        """P(group, class | x), the classes of one group side by side."""
        features = self.sensitive_.features(X, sees_group=False)
        groups = np.arange(len(self.sensitive_.labels))
        given = [class_probabilities(model, features, groups) for model in self.group_estimators_]
        classes = self._base_probabilities(X)
        joint = np.stack(np.broadcast_arrays(*given), axis=2) * classes[:, None, :]
        return np.asarray(joint.reshape(len(classes), -1))

    def _unobserved(self, stated: Problem) -> list[str]:
        return [
            f"Group {show(self.sensitive_.labels[a])} has no rows where the rate "
            f"{self._named(stated.forms.cells[c])} looks, so nothing is required of it there."
            for c, a in np.argwhere(~stated.forms.observed)
        ]

    def _named(self, cell: int | tuple[int, int]) -> str:
        if isinstance(cell, tuple):
            return f"of {self.classes_[cell[1]]} given {self.classes_[cell[0]]}"
        return f"of {self.classes_[cell]}"

    def _unfinished(self, solution: Solution) -> list[str]:
        if solution.rounds < MOST_ROUNDS:
            return []
        return [f"The search stopped at a gap of {solution.gap:.1e}, after {MOST_ROUNDS} rounds."]
