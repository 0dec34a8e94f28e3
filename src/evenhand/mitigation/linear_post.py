"""LinearPost (Xian, Yin and Zhao 2023; Xian and Zhao 2024): group rates at most α apart.

Their linear program has an unknown for every row and class. Its dual has one for every rate, and is
solved by column generation: see `evenhand.mitigation.optimal`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from evenhand.mitigation.constraints import require_constraint
from evenhand.mitigation.optimal.classifier import Bound, RuleClassifier
from evenhand.mitigation.sensitive import Bins

CONSTRAINTS = ("statistical_parity", "equal_opportunity", "equalized_odds")


class LinearPostClassifier(RuleClassifier):
    """Post-processes a classifier so that no two groups' rates are more than α apart.

    For any number of classes and groups; it is `RateConstrainedClassifier` with the measure MPD
    and the cost of an error. Where the published method breaks ties by noise, this one mixes rules
    by lot, so that α is met exactly on the fitting rows.

    Parameters
    ----------
    estimator, group, bins, sees_group, prefit, unseen, draw, random_state
        As for every method: see `GroupReader`.
    constraint : "statistical_parity", "equal_opportunity" or "equalized_odds"
        Which rates; given the truth, which is taken from the base model's probabilities.
    alpha : float
        The largest difference between groups.
    favourable : label or None
        For equal opportunity; None is the last of two classes, and each of more.
    group_estimator : classifier or None
        Predicts the group from the other columns, where it is not known when deciding.
    tolerance : float
        How much larger than the least the expected error may be.

    """

    _hyperparameter: ClassVar[str] = "alpha"
    cost = None

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        constraint: str = "statistical_parity",
        alpha: float = 0.01,
        favourable: Any = None,
        group_estimator: Any = None,
        tolerance: float = 1e-6,
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
        self.constraint = constraint
        self.alpha = alpha
        self.favourable = favourable
        self.group_estimator = group_estimator
        self.tolerance = tolerance

    def _bound(self) -> Bound:
        return Bound(require_constraint(self.constraint, CONSTRAINTS, self), "mpd", self.alpha)
