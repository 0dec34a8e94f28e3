"""CalEqOdds (Pleiss et al. 2017): one group's scores are withheld at random."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from evenhand._data.groups import show
from evenhand.mitigation.estimators import GroupClassifier, Quantity
from evenhand.mitigation.group_reader import Codes, Floats, Rows
from evenhand.mitigation.groups import cell_masses, empty_cells
from evenhand.mitigation.optimal.rule import DecisionRule

COSTS = ("weighted", "fpr", "fnr")


class CalibratedOddsClassifier(GroupClassifier):
    """The base model's scores, replaced by the base rate for some of the better-served group.

    Scores stay calibrated and one cost becomes equal in both groups. The label is whether the
    score reaches ½, so everyone whose score was replaced gets the same label: the labels' odds
    and rates often differ more than before. It is a single point: there is nothing to trade.

    Parameters
    ----------
    criterion : {"weighted", "fpr", "fnr"}, default "weighted"
        The cost that is made equal: the mean score of negatives ("fpr"), 1 − the mean score of
        positives ("fnr"), or both weighted by how frequent they are.

    Attributes
    ----------
    estimator_ : estimator
        The base model.
    base_rates_ : ndarray of shape (2,)
        How frequent the favorable label is in each group.
    favorable_ : int
        The place of the favorable label in `classes_`.
    rule_ : DecisionRule
        The same as a rule that can be explained and exported.
    withheld_ : ndarray of shape (2,)
        The chance, in each group, that a score is replaced by the base rate.

    References
    ----------
    Pleiss, Raghavan, Wu, Kleinberg and Weinberger (2017), "On fairness and calibration", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import CalibratedOddsClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = CalibratedOddsClassifier(group=0).fit(X, y)
    >>> fair.withheld_.round(2)
    array([0.  , 0.16])

    """

    criteria: ClassVar[tuple[str, ...]] = COSTS
    hyperparameter: ClassVar[str | None] = None
    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes", "groups")
    criterion: str = "weighted"
    favorable: Any = None

    def _fit(self, rows: Rows) -> None:
        self._require_criterion()
        self._fit_base(rows)
        self.favorable_ = self._favorable_place(matters=self.criterion != "weighted")
        y = (rows.y == self.favorable_).astype(np.intp)
        score = self._base_probabilities(rows.X)[:, self.favorable_]
        mass = cell_masses(y, rows.group, 2, 2, rows.sample_weight)
        summed = cell_masses(y, rows.group, 2, 2, rows.weight * score)
        self.base_rates_ = mass[1] / mass.sum(axis=0)
        self.withheld_ = withholding(mass, summed, self.criterion)
        labels = self.classes_[[1 - self.favorable_, self.favorable_]]
        self.notes_ = empty_cells(mass, labels, self.sensitive_.labels)
        self.rule_ = self._as_rule().named(**self._rule_names())
        full = np.flatnonzero(self.withheld_ == 1)
        if len(full):
            name = show(self.sensitive_.labels[full[0]])
            self.notes_ += (f"Even withholding all scores of group {name} leaves its cost lower.",)

    def _as_rule(self) -> DecisionRule:
        """The model's own labels in each group, or one label for all where scores are withheld."""
        sign = 1.0 if self.favorable_ else -1.0
        at = np.nextafter(0.5, 0) if self.favorable_ else 0.5  # a score of ½ is favorable
        own = np.array([[0.0, at], [0.0, at - 1]])
        constant = np.where(self.base_rates_ >= 0.5, -1.0, 1.0)[:, None, None] * sign
        prices = np.concatenate([[own, own], constant * np.array([[0.0, 1.0], [0.0, 1.0]])])
        share = np.concatenate([1 - self.withheld_, self.withheld_])
        used = share > 0
        return DecisionRule(prices[used], np.tile([0, 1], 2)[used], share[used])

    def _decide(self, X: Any, group: Codes) -> Floats:
        own = self._base_probabilities(X)[:, self.favorable_] >= 0.5
        withheld = self.withheld_[group]
        chance = (1 - withheld) * own + withheld * (self.base_rates_ >= 0.5)[group]
        return np.column_stack([1 - chance, chance][:: 1 if self.favorable_ else -1])


def withholding(mass: Floats, score: Floats, criterion: str = "weighted") -> Floats:
    """The chance, for each of two groups, that a score is replaced by the group's base rate.

    `mass` is the weight of each (label, group) and `score` the sum of weight × score there. The
    group with the lower cost is mixed with its trivial predictor, as far as that is costlier.

    >>> withholding(np.array([[6, 5], [4, 5]]), np.array([[1.2, 2.0], [3.2, 3.0]]), "fnr")
    array([0.5, 0. ])
    """
    rates = mass / mass.sum(axis=0)
    counted = np.where(mass > 0, mass, 1)
    generalized = np.array([score[0], mass[1] - score[1]]) / counted
    trivial = rates[[1, 0]]
    costs, ceiling = (_cost(errors, rates, criterion) for errors in (generalized, trivial))
    low = int(np.argmin(costs))
    room, needed = ceiling[low] - costs[low], costs[1 - low] - costs[low]
    observed = criterion == "weighted" or (mass[COSTS.index(criterion) - 1] > 0).all()
    chances = np.zeros(2)
    chances[low] = min(needed / room, 1.0) if room > 0 and observed else 0.0
    return chances


def _cost(errors: Floats, rates: Floats, criterion: str) -> Floats:
    """Each group's cost from its mean error on negatives and on positives."""
    if criterion == "weighted":
        return np.asarray(0.5 * (errors * rates).sum(axis=0))
    return np.asarray(errors[COSTS.index(criterion) - 1])
