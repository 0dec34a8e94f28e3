"""EqOdds (Hardt, Price and Srebro 2016): labels are changed at random until the odds are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import linprog

from evenhand._words import number
from evenhand.mitigation.estimators import GroupClassifier, Quantity
from evenhand.mitigation.group_reader import Codes, Floats, Rows
from evenhand.mitigation.groups import cell_masses, empty_cells
from evenhand.mitigation.optimal.rule import DecisionRule

Objective = Literal["balanced_accuracy", "accuracy"]

SLACK = 1e-9


class EqualizedOddsClassifier(GroupClassifier):
    """The base model's labels, changed at random so that all groups have the same odds.

    Exact in expectation on the fitting rows, for two classes and any number of groups. It uses
    the labels alone, and is a single point: there is nothing to trade.

    Parameters
    ----------
    objective : {"balanced_accuracy", "accuracy"}, default "balanced_accuracy"
        What is kept as high as equal odds allow; the first is the common reading.
    rising : bool, default True
        Whether those the base model selects may never fare worse than others of their group.
        False asks for the optimum, which reverses labels in a group that they mislead in.

    Attributes
    ----------
    estimator_ : estimator
        The base model.
    rule_ : DecisionRule
        The same as a rule that can be explained and exported; it reads the base model's label, as
        1 for the second class and 0 for the first.
    rising_cost_ : float
        What `rising` costs of the objective on the fitting rows.
    chances_ : ndarray of shape (n_groups, 2)
        P(second class | base label, group): a row for each group, a column for each base label.

    References
    ----------
    Hardt, Price and Srebro (2016), "Equality of opportunity in supervised learning", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import EqualizedOddsClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = EqualizedOddsClassifier(group=0).fit(X, y)
    >>> chance = fair.predict_proba(X)[:, 1]
    >>> [float(chance[(y == 1) & (group == a)].mean().round(3)) for a in (0, 1)]
    [0.51, 0.51]

    """

    criteria: ClassVar[tuple[str, ...]] = ("equalized_odds",)
    hyperparameter: ClassVar[str | None] = None
    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes",)
    objective: Objective = "balanced_accuracy"
    rising: bool = True

    def _fit(self, rows: Rows) -> None:
        self._fit_base(rows)
        groups = len(self.sensitive_.labels)
        pair = 2 * rows.y + self._base_labels(rows.X)
        mass = cell_masses(pair, rows.group, 4, groups, rows.sample_weight).reshape(2, 2, groups)
        self.notes_ = empty_cells(mass.sum(axis=1), self.classes_, self.sensitive_.labels)
        self.chances_, loss = equalizing_chances(mass, self.objective, rising=self.rising)
        self.rising_cost_ = max(loss - equalizing_chances(mass, self.objective)[1], 0.0)
        if self.rising_cost_ > SLACK:
            self.notes_ += (
                "Those the base model selects never fare worse than others of their group, "
                f"which costs {number(self.rising_cost_, 4)} of {self.objective.replace('_', ' ')} "
                "(rising=False).",
            )
        self.rule_ = relabeling(self.chances_).named(**self._rule_names())

    def _decide(self, X: Any, group: Codes) -> Floats:
        chance = self.chances_[group, self._base_labels(X)]
        return np.column_stack([1 - chance, chance])

    def _bounded(self, rows: Rows, decided: Floats) -> tuple[float, float]:
        """The largest difference of the odds, and its bound."""
        groups = len(self.sensitive_.labels)
        total = cell_masses(rows.y, rows.group, 2, groups, rows.sample_weight)
        chosen = cell_masses(rows.y, rows.group, 2, groups, rows.weight * decided[:, 1])
        rates = np.divide(chosen, total, out=np.full_like(chosen, np.nan), where=total > 0)
        return float(np.max(np.nanmax(rates, axis=1) - np.nanmin(rates, axis=1))), 0.0

    def _base_labels(self, X: Any) -> Codes:
        labels = self.estimator_.predict(self._features(X))
        return np.asarray(np.searchsorted(self.classes_, labels))


def relabeling(chances: Floats) -> DecisionRule:
    """P(second class | base label, group) as a mixture of keeping, reversing and ignoring labels.

    >>> print(relabeling(np.array([[0.2, 0.9]])).explain())
    Everyone: of those the model selects, select 9 in 10; of the others, 2 in 10.
    To select is to decide 1.
    """
    groups = np.arange(len(chances))
    low, high = chances.min(axis=1), chances.max(axis=1)
    keeps = np.where(chances[:, 1] >= chances[:, 0], 1.0, -1.0)
    keep = keeps[:, None, None] * np.array([[0.0, 0.5], [0.0, -0.5]])
    always, never = (np.tile([[0.0, cost], [0.0, cost]], (len(chances), 1, 1)) for cost in (-1, 1))
    share = np.concatenate([low, high - low, 1 - high])
    used = share > 0
    return DecisionRule(
        np.concatenate([always, keep, never])[used],
        np.tile(groups, 3)[used],
        share[used],
        reads="labels",
    )


def equalizing_chances(
    mass: Floats, objective: Objective = "balanced_accuracy", *, rising: bool = False
) -> tuple[Floats, float]:
    """P(new label 1 | label, group), from the weight of each (truth, label, group).

    All groups get one false positive and one true positive rate: the best point that lies in
    every group's polygon of rates it can reach. Of equals, it changes the fewest labels. Where it
    is `rising`, label 1 never has a lesser chance of 1 than label 0 has. Also, up to a constant,
    how far the objective falls short.

    >>> mass = np.array([[[8, 6], [2, 4]], [[1, 4], [9, 6]]])
    >>> equalizing_chances(mass)[0].round(3)
    array([[0.343, 0.629],
           [0.   , 1.   ]])
    """
    groups = mass.shape[-1]
    equations = _equations(mass)
    half = objective == "balanced_accuracy"
    weights = np.full(2, 0.5) if half else mass.sum(axis=(1, 2)) / mass.sum()
    loss = np.concatenate([np.zeros(2 * groups), weights * [1, -1]])
    falls = np.hstack([np.kron(np.eye(groups), [1.0, -1.0]), np.zeros((groups, 2))])
    limits = [(row, 0.0) for row in falls] if rising else []
    best = _solve(loss, equations, limits)
    labels = mass.sum(axis=0) * [[1], [-1]]
    changes = np.concatenate([labels.T.ravel() / mass.sum(), np.zeros(2)])
    minimum = float(loss @ best)
    fewest = _solve(changes, equations, [*limits, (loss, minimum + SLACK)])
    return np.clip(fewest[: 2 * groups].reshape(groups, 2), 0, 1), minimum


def _equations(mass: Floats) -> Floats:
    """Rate of each observed (truth, group) in terms of the chances, minus the common rate."""
    groups = np.arange(mass.shape[-1])
    total = mass.sum(axis=1)
    rates = mass / np.where(total > 0, total, 1)[:, None]
    terms = np.zeros((2, len(groups), len(groups), 2))
    terms[:, groups, groups] = rates.transpose(0, 2, 1)
    common = np.repeat(-np.eye(2), len(groups), axis=0)
    equations = np.hstack([terms.reshape(2 * len(groups), -1), common])
    return np.asarray(equations[total.ravel() > 0])


def _solve(loss: Floats, equations: Floats, limits: Sequence[tuple[Floats, float]]) -> Floats:
    """The unknowns of least loss that satisfy the equations and the limits."""
    bound = {}
    if limits:
        bound = {"A_ub": [row for row, _ in limits], "b_ub": [limit for _, limit in limits]}
    zeros = np.zeros(len(equations))
    solved = linprog(loss, A_eq=equations, b_eq=zeros, bounds=(0, 1), method="highs", **bound)
    if not solved.success:
        raise RuntimeError(f"The linear program of the odds was not solved: {solved.message}")
    return np.asarray(solved.x)
