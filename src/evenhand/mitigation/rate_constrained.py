"""The cheapest decisions whose group rates are equal to within ε, by the measure itself.

The rates of any randomized rule are linear in its decisions, and MPD, Gini and PQ(p, q) with
p ≤ 1 ≤ q are bounded by convex cones; so the best rule is found, with a proof of how good it is.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from evenhand.mitigation.constraints import require_criterion
from evenhand.mitigation.groups import Bins
from evenhand.mitigation.optimal.classifier import Bound, RuleClassifier


class RateConstrainedClassifier(RuleClassifier):
    """Post-processes a classifier so that a criterion is at most ε, at the least expected cost.

    For any number of classes and groups. Decisions are made by lot between a few rules for each
    group, which is what makes the bound exact.

    Parameters
    ----------
    estimator, group, bins, sees_group, prefit, unseen, draw, random_state
        As for every method: see `GroupReader`.
    criterion : str
        "statistical_parity", "equal_opportunity", "predictive_equality", "equalized_odds" or
        "average_odds"; those that ask for the truth ask the base model's probabilities.
    measure : "pq", "gini" or "mpd"
        How unequal the rates of a cell are; the criterion is its largest value over the cells.
    epsilon : float
        The bound. 0 makes the rates equal.
    cost : array (classes, classes) or None
        What it costs to decide a class (column) when another is true (row); None: 1 if wrong.
    favorable : label or None
        Of criteria about one class; None is the last of two classes, and each of more.
    p, q : float
        The orders of PQ.
    group_estimator : classifier or None
        Predicts the group from the other columns, where it is not known when deciding.
    tolerance : float
        How much more than the optimum the rule may cost, relative to the largest cost.

    """

    _hyperparameter: ClassVar[str] = "epsilon"

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        criterion: str = "statistical_parity",
        measure: Literal["pq", "gini", "mpd"] = "pq",
        epsilon: float = 0.01,
        cost: Any = None,
        favorable: Any = None,
        p: float = 1,
        q: float = 2,
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
        self.criterion = criterion
        self.measure = measure
        self.epsilon = epsilon
        self.cost = cost
        self.favorable = favorable
        self.p = p
        self.q = q
        self.group_estimator = group_estimator
        self.tolerance = tolerance

    def _bound(self) -> Bound:
        return Bound(self.criterion, self.measure, self.epsilon, self.p, self.q)


CONSTRAINTS = ("statistical_parity", "equal_opportunity", "equalized_odds")


class LinearPostClassifier(RuleClassifier):
    """Post-processes a classifier so that no two groups' rates are more than ε apart.

    For any number of classes and groups; it is `RateConstrainedClassifier` with the measure MPD
    and the cost of an error. Where the published method breaks ties by noise, this one mixes rules
    by lot, so that ε is met exactly on the fitting rows.

    Parameters
    ----------
    estimator, group, bins, sees_group, prefit, unseen, draw, random_state
        As for every method: see `GroupReader`.
    criterion : "statistical_parity", "equal_opportunity" or "equalized_odds"
        Which rates; given the truth, which is taken from the base model's probabilities.
    epsilon : float
        The largest difference between groups.
    favorable : label or None
        For equal opportunity; None is the last of two classes, and each of more.
    group_estimator : classifier or None
        Predicts the group from the other columns, where it is not known when deciding.
    tolerance : float
        How much larger than the least the expected error may be.

    """

    _hyperparameter: ClassVar[str] = "epsilon"
    cost = None

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        criterion: str = "statistical_parity",
        epsilon: float = 0.01,
        favorable: Any = None,
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
        self.criterion = criterion
        self.epsilon = epsilon
        self.favorable = favorable
        self.group_estimator = group_estimator
        self.tolerance = tolerance

    def _bound(self) -> Bound:
        return Bound(require_criterion(self.criterion, CONSTRAINTS, self), "mpd", self.epsilon)
