"""The base class of classifiers with an optimal rule: scores in, a decision rule out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from evenhand._data.groups import show
from evenhand._data.probable import probable
from evenhand._words import number
from evenhand.measures import Measure
from evenhand.mitigation._fields import Positive
from evenhand.mitigation._sklearn import rows_of
from evenhand.mitigation.base_models import class_probabilities, fit_underlying
from evenhand.mitigation.estimators import GroupClassifier
from evenhand.mitigation.group_reader import Codes, Floats, PathFitter, Rows
from evenhand.mitigation.optimal.generation import Solution, cost_of_rising, solve
from evenhand.mitigation.optimal.problem import Columns, Problem, compared, costs_of, stated
from evenhand.mitigation.optimal.rates import ONE_CLASS
from evenhand.mitigation.optimal.requirements import Requirement, evenly
from evenhand.mitigation.optimal.scores import Population, Scores, known_groups
from evenhand.mitigation.optimal.worst import (
    MOST_CELLS,
    Allowed,
    Proxy,
    Worst,
    check_assuming,
    check_worst,
)

Populations = Callable[[float], Population]  # whose rules are sought, by the bound


class CriterionBound(NamedTuple):
    """A criterion, its measure, and the bound."""

    criterion: str
    measure: Measure
    epsilon: float


class RuleClassifier(PathFitter, GroupClassifier):
    """The abstract parent of the post-processors that solve for a `DecisionRule`.

    Where nobody's group is known, `group=evenhand.probable(["p_F", "p_M"], groups=["F", "M"])`
    names the columns of X that have the probabilities of groups. Of two classes and by "mpd", the
    bound holds in the worst case that these allow; with assuming="weighted", for people who count
    in each group with its probability.

    With a `group_estimator`, any classifier, decisions do not need to know the group: the rule
    goes by P(group, class | x), and the group columns are read at fit only. Give sees_group=False
    then, so that the base model does not need them either.

    Parameters
    ----------
    group_estimator : classifier, default None
        Predicts the group from the other columns, where it is not known when deciding; None asks
        for the group in `predict`.
    rising : bool, default True
        Of two classes, where the group is known: whether a higher score may never be worse within
        a group. False asks for the optimum of all rules, some of which prefer lower scores.
    tolerance : float, default 1e-6
        How much more than the optimum the rule may cost, relative to the largest cost.

    Attributes
    ----------
    estimator_ : estimator
        The base model.
    group_estimators_ : list of estimators
        Where there is a `group_estimator`: the fitted ones, by class if the criterion asks for it.
    rule_ : DecisionRule
        What is decided, with which chances; it can be applied without this library.
    objective_, gap_ : float
        Expected cost on the fitting rows, and how much less the optimum can be at most.
    rising_cost_ : float
        How much of that is due to `rising`: what the optimum of all rules costs less.
    value_ : float
        The criterion on the fitting rows, under the base model's probabilities.
    proxy_ : ndarray of shape (n_cells, n_groups) or None
        Where groups are probable and nothing is assumed: the probabilities in the cells that the
        rule goes by.
    nearest_ : Nearest
        The nearest rule without chance, by which `predict` decides if `draw` is False: its `rule`,
        and on the fitting rows its exact `objective`, `value` and `rates`.
    rates_, multipliers_ : ndarray of shape (n_cells, n_groups)
        The rates that were made more equal, and the price of moving each.

    """

    cost: Any = field(default=None, init=False)
    favorable: Any = None
    group_estimator: Any = None
    rising: bool = True
    tolerance: Positive = 1e-6

    @abstractmethod
    def _bound(self) -> CriterionBound:
        """The bound on the criterion, by the parameters."""

    def _path(self, rows: Rows, grid: Iterable[float]) -> Iterator[Self]:
        populations = self._populations(rows)
        last: tuple[Population | None, Columns | None] = None, None
        for epsilon in grid:
            fitted = copy(self).set_params(epsilon=epsilon)
            population = populations(epsilon)
            start = last[1] if population is last[0] else None
            last = population, fitted._solve(population, start).columns
            fitted._note_shared_draws(rows)
            yield fitted

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row: drawn from `predict_proba`, or by the nearest rule without chance.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The classes.

        """
        check_is_fitted(self)
        sure = self if self.draw else copy(self)
        if not self.draw:
            sure.rule_ = self.nearest_.rule
        return super(RuleClassifier, sure).predict(X)

    def _fit(self, rows: Rows) -> None:
        solution = self._solve(self._populations(rows)(self.epsilon))
        if not solution.multipliers.any():  # a bound that moves no rate has no price
            bound = self._bound()
            quantity = f"{bound.criterion}.{bound.measure.name}"
            self._note_unbound(quantity, solution.value, bound.measure)

    def _decide(self, X: Any, group: Codes) -> Floats:
        if self.proxy_ is not None:
            cells = Proxy.of(self.sensitive_.chances(X), self.proxy_).codes
            return self.rule_.probabilities(self._base_probabilities(X), cells)
        if self.sensitive_.probable is None and self._asks_group():
            return self.rule_.probabilities(self._base_probabilities(X), group)
        return self.rule_.probabilities(self._joint(X))

    def _asks_group(self) -> bool:
        return self.group_estimator is None

    def _populations(self, rows: Rows) -> Populations:
        """Fit the models underneath, and sort the rows for the solver."""
        self._fit_base(rows)
        groups = len(self.sensitive_.labels)
        population: Population
        self.proxy_: Floats | None = None
        self._worst: Worst | None = None
        if self.sensitive_.probable is not None:
            population = Scores.blind(self._joint(rows.X), rows.weight, groups)
            self._worst = self._worst_case(rows)
        elif self._asks_group():
            scores = self._base_probabilities(rows.X)
            population = known_groups(scores, rows.group, rows.weight, groups, self.rising)
        else:
            self._fit_group_models(rows)
            population = Scores.blind(self._joint(rows.X), rows.weight, groups)
        return lambda _: population

    def _solve(self, population: Population, start: Columns | None = None) -> Solution:
        stated = self._problem(population)
        if self._worst is None:
            solution = solve(stated, self.tolerance, start)
        else:
            solution = self._worst.solve(self.epsilon)
        names = self._rule_names()
        self.rule_ = solution.rule.named(**names)
        self.nearest_ = solution.nearest._replace(rule=solution.nearest.rule.named(**names))
        self.objective_, self.gap_, self.value_ = solution.cost, solution.gap, solution.value
        self.rates_, self.multipliers_ = solution.rates, solution.multipliers
        is_known = self.sensitive_.probable is None
        self.rising_cost_ = cost_of_rising(stated, solution, self.tolerance) if is_known else 0.0
        self.notes_ = (
            *self._unobserved(stated),
            *self._unfinished(solution, stated.scale),
            *self._rising_notes(),
        )
        return solution

    def _rule_names(self) -> dict[str, Any]:
        """The names of a rule's classes and groups, or of the cells of a proxy."""
        if self.sensitive_.probable is None:
            return super()._rule_names()
        classes = {"classes": self.classes_.tolist()}
        if self.proxy_ is None:
            return classes
        labels = Proxy(np.empty(0, np.intp), self.proxy_).named(self.sensitive_.labels)
        return classes | {"columns": ("cell",), "groups": labels}

    def _rising_notes(self) -> list[str]:
        if not self.rising_cost_:
            return []
        return [
            "Within each group a higher score is never worse, which costs "
            f"{number(self.rising_cost_, 4)} more than the optimum of all rules (rising=False)."
        ]

    def _problem(self, population: Population) -> Problem:
        return stated(population, [self._requirement(population.mass)], self.cost)

    def _requirement(self, mass: Floats) -> Requirement:
        """The requirement of rates, where groups and classes have these shares of the rows."""
        criterion, measure, epsilon = self._bound()
        forms = compared(criterion, mass, measure, self._about())
        return evenly(forms, measure, epsilon)

    def _about(self) -> int | None:
        """The place of the class that the criterion is about, if it is about one."""
        ask = self._bound().criterion in ONE_CLASS and len(self.classes_) == 2
        return self._favorable_place(ask) if ask or self.favorable is not None else None

    def _truth(self, rows: Rows) -> Floats:
        """The truth that decisions are judged by: the base model's probabilities."""
        return self._base_probabilities(rows.X)

    def _bounded(self, rows: Rows, decided: Floats) -> tuple[float, float]:
        groups = len(self.sensitive_.labels)
        if self.proxy_ is not None:
            favorable = self._favorable_of_two()
            value = self._allowed(rows, self._truth(rows)).gap(decided[:, favorable])
            return value, self.epsilon
        if self.sensitive_.probable is None and self._asks_group():
            whose = np.eye(groups)[rows.group]
            joint = whose[:, :, None] * self._truth(rows)[:, None, :]
        else:
            joint = self._joint(rows.X).reshape(len(decided), groups, -1)
        share = rows.weight / rows.weight.sum()
        confusion = np.einsum("i,iak,iy->aky", share, joint, decided, optimize=True)
        required = self._requirement(confusion.sum(axis=2))
        return required.worst(required.forms(confusion)), required.epsilon

    def _worst_case(self, rows: Rows) -> Worst | None:
        """The worst case over the groups that the probabilities allow."""
        groups = self.sensitive_.probable
        assert groups is not None
        check_assuming(groups.assuming)
        if groups.assuming is not None:
            return None
        check_worst(self._bound().measure, len(self.classes_))
        chances = self.sensitive_.chances(rows.X)
        cells = probable(chances, self.sensitive_.labels).cells(MOST_CELLS).mixing
        self.proxy_ = np.unique(cells, axis=0)
        scores = self._base_probabilities(rows.X)
        favorable, costs = self._favorable_of_two(), costs_of(self.cost, 2)
        return Worst.of(scores, self._allowed(rows, scores), costs, favorable)

    def _allowed(self, rows: Rows, truth: Floats) -> Allowed:
        assert self.proxy_ is not None
        chances, favorable = self.sensitive_.chances(rows.X), self._favorable_of_two()
        mass = truth[:, [1 - favorable, favorable]] * rows.weight[:, None]
        proxy = Proxy.of(chances, self.proxy_)
        return Allowed.of(mass, proxy, chances, self._bound().criterion)

    def _favorable_of_two(self) -> int:
        about = self._about()
        return 1 if about is None else about

    def _fit_group_models(self, rows: Rows) -> None:
        """P(group | x) for parity; for criteria given the truth P(group | x, class), by class."""
        features = self.sensitive_.features(rows.X, sees_group=False)
        pooled = self._bound().criterion == "statistical_parity"
        kinds = np.zeros_like(rows.y) if pooled else rows.y
        self.group_estimators_ = [
            fit_underlying(
                self.group_estimator,
                rows_of(features, np.flatnonzero(kinds == kind)),
                rows.group[kinds == kind],
                None if rows.sample_weight is None else rows.sample_weight[kinds == kind],
            )
            for kind in range(kinds.max() + 1)
        ]

    def _joint(self, X: Any) -> Floats:
        """P(group, class | x), the classes of one group side by side."""
        features = self.sensitive_.features(X, sees_group=False)
        if self.sensitive_.probable is not None:
            chances, scores = self.sensitive_.chances(X), self._base_probabilities(X)
            return np.asarray((chances[:, :, None] * scores[:, None, :]).reshape(len(scores), -1))
        groups = np.arange(len(self.sensitive_.labels))
        conditionals = [
            class_probabilities(model, features, groups) for model in self.group_estimators_
        ]
        classes = self._base_probabilities(X)
        joint = np.stack(np.broadcast_arrays(*conditionals), axis=2) * classes[:, None, :]
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

    def _unfinished(self, solution: Solution, scale: float) -> list[str]:
        if solution.gap <= 2 * self.tolerance * scale:  # meeting the bound exactly costs a hair
            return []
        return [
            f"The search stopped at a gap of {solution.gap:.1e}, after {solution.rounds} rounds."
        ]
