"""CalEqOdds (Pleiss et al. 2017): one group's scores are withheld by lot until costs are equal."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._groups import show
from evenhand.mitigation.constraints import cell_masses, empty_cells, require_criterion
from evenhand.mitigation.estimators import Codes, GroupClassifier, Probabilities, Quantity, Rows
from evenhand.mitigation.groups import Bins

Floats = NDArray[np.float64]

COSTS = ("weighted", "fpr", "fnr")


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


class CalibratedOddsClassifier(GroupClassifier):
    """The base model's scores, replaced by the base rate for some of the better-served group.

    Scores stay calibrated and one cost becomes equal in both groups. The label is whether the
    score reaches ½, so everyone whose score was replaced gets the same label: the labels' odds
    and rates often differ more than before. It is a single point: there is nothing to trade.

    Parameters
    ----------
    criterion : "weighted", "fpr" or "fnr"
        The cost that is made equal: the mean score of negatives, 1 − the mean score of
        positives, or both weighted by how frequent they are.

    The other parameters are those of `GroupReader`.

    """

    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes", "groups")

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        criterion: str = "weighted",
        bins: Bins = None,
        sees_group: bool = True,
        prefit: bool = False,
        unseen: Literal["error", "base"] = "error",
        draw: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            prefit=prefit,
            unseen=unseen,
            draw=draw,
            random_state=random_state,
        )
        self.criterion = criterion

    def _fit(self, rows: Rows) -> None:
        require_criterion(self.criterion, COSTS, self)
        self._fit_base(rows)
        score = self._base_probabilities(rows.X)[:, 1]
        mass = cell_masses(rows.y, rows.group, 2, 2, rows.sample_weight)
        summed = cell_masses(rows.y, rows.group, 2, 2, rows.weight * score)
        self.base_rates_ = mass[1] / mass.sum(axis=0)
        self.withheld_ = withholding(mass, summed, self.criterion)
        self.notes_ = empty_cells(mass, self.classes_, self.sensitive_.labels)
        full = np.flatnonzero(self.withheld_ == 1)
        if len(full):
            name = show(self.sensitive_.labels[full[0]])
            self.notes_ += (f"Even withholding all scores of group {name} leaves its cost lower.",)

    def _decide(self, X: Any, group: Codes) -> Probabilities:
        own = self._base_probabilities(X)[:, 1] >= 0.5
        withheld = self.withheld_[group]
        chance = (1 - withheld) * own + withheld * (self.base_rates_ >= 0.5)[group]
        return np.column_stack([1 - chance, chance])
