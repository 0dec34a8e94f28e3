"""Reduction (Agarwal et al. 2018): a lottery over classifiers fitted to changed labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from evenhand.mitigation.classifier import GroupClassifier, Probabilities, Quantity
from evenhand.mitigation.constraints import cell_masses, empty_cells, require_constraint
from evenhand.mitigation.reader import Codes, Rows
from evenhand.mitigation.reduction.game import Game
from evenhand.mitigation.reduction.learner import Learner
from evenhand.mitigation.reduction.problem import EVENTS, Problem
from evenhand.mitigation.sensitive import Bins


class ReductionClassifier(GroupClassifier):
    """A lottery over base models, each fitted to labels and weights that trade error for parity.

    For two classes, any number of groups, and any base model that takes sample weights; the
    group is not needed to predict. `predict_proba` is the chance of each class in the lottery,
    `estimators_` are the models and `chances_` their chances.

    Parameters
    ----------
    constraint : "statistical_parity", "equalized_odds", "equal_opportunity", …
        What is bounded: how far acceptance in a group may differ from that of everyone.
    eps : float
        Only how hard the bound is: excess is penalised by at most 1/eps. Below about 1 it
        changes nothing; above about 50 there is no constraint left. This is what the paper
        varies, and what fairlearn calls eps.
    difference_bound : float
        The bound itself.
    max_iter : int
        The most rounds of the game; each is some three to eight fits of the base model.

    The other parameters are those of `GroupReader`.

    """

    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes",)
    _reads_group: ClassVar[bool] = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        constraint: str = "statistical_parity",
        eps: float = 0.01,
        difference_bound: float = 0.01,
        max_iter: int = 50,
        bins: Bins = None,
        sees_group: bool = True,
        draw: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            draw=draw,
            random_state=random_state,
        )
        self.constraint = constraint
        self.eps = eps
        self.difference_bound = difference_bound
        self.max_iter = max_iter

    def _fit(self, rows: Rows) -> None:
        events = EVENTS[require_constraint(self.constraint, EVENTS, self)]
        groups = len(self.sensitive_.labels)
        mass = cell_masses(rows.y, rows.group, 2, groups, rows.sample_weight)
        learner = Learner.prepare(self.estimator, self._features(rows.X), rows, mass)
        problem = Problem(mass / mass.sum(), events, self.difference_bound)
        game = Game(problem, learner.answer, budget=1 / self.eps)
        lottery = game.play(self.max_iter, mass.sum())
        drawn = np.flatnonzero(lottery.chances > 0)
        self.chances_ = lottery.chances[drawn] / lottery.chances[drawn].sum()
        self.estimators_ = [learner.refitting.whole(game.models[number]) for number in drawn]
        self.gap_, self.n_iter_, self.n_fits_ = lottery.gap, game.rounds, game.fits
        self.notes_ = empty_cells(mass, self.classes_, self.sensitive_.labels, self.constraint)

    def _decide(self, X: Any, group: Codes) -> Probabilities:  # noqa: ARG002
        features = self._features(X)
        votes = np.array([model.predict(features) for model in self.estimators_])
        chance = np.clip(self.chances_ @ votes, 0, 1)
        return np.column_stack([1 - chance, chance])
