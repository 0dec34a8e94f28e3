"""Methods of fairlearn: its reductions, and its thresholds."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from evenhand._errors import require_package
from evenhand.benchmark.adapters.columns import features_and_group
from evenhand.mitigation.methods import Method

Floats = NDArray[np.float64]
EPSILONS = (0.005, 0.01, 0.02, 0.05, 0.1)


class FairlearnReduction(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A reduction of fairlearn: the base model, fitted again and again with other weights.

    Parameters
    ----------
    estimator : estimator
        The base model, which must take weights.
    group : int or str
        The column of X that holds the group; the base model does not see it.
    criterion : {"statistical_parity", "equalized_odds", "equal_opportunity"}
        Which moment is bounded; by default "statistical_parity".
    epsilon : float, default 0.01
        The bound of the difference between a group and everyone.
    algorithm : {"ExponentiatedGradient", "GridSearch"}
        The class of `fairlearn.reductions`; by default the first, whose decisions are drawn.
    options : dict, default None
        Further parameters of that class.
    random_state : int, default None
        Of the draws.

    Examples
    --------
    >>> FairlearnReduction(group="sex", epsilon=0.05)
    FairlearnReduction(epsilon=0.05, group='sex')

    """

    moments: ClassVar[dict[str, str]] = {
        "statistical_parity": "DemographicParity",
        "equalized_odds": "EqualizedOdds",
        "equal_opportunity": "TruePositiveRateParity",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        criterion: str = "statistical_parity",
        epsilon: float = 0.01,
        algorithm: str = "ExponentiatedGradient",
        options: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator, self.group, self.criterion = estimator, group, criterion
        self.epsilon, self.algorithm, self.options = epsilon, algorithm, options
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the reduction to features and group."""
        require_package("fairlearn", type(self).__name__)
        from fairlearn import reductions

        features, group = features_and_group(X, self.group)
        moment = getattr(reductions, self.moments[self.criterion])(difference_bound=self.epsilon)
        make = getattr(reductions, self.algorithm)
        self.reduction_ = make(clone(self.estimator), moment, **(self.options or {}))
        self.reduction_.fit(features, y, sensitive_features=group)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class in the decision."""
        features, _ = features_and_group(X, self.group)
        if self.algorithm == "ExponentiatedGradient":
            return np.asarray(self.reduction_._pmf_predict(features))
        return np.asarray(self.reduction_.predict_proba(features))

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row, drawn where the algorithm draws."""
        features, _ = features_and_group(X, self.group)
        draws = self.algorithm == "ExponentiatedGradient"
        options = {"random_state": self.random_state} if draws else {}
        return np.asarray(self.reduction_.predict(features, **options)).astype(self.classes_.dtype)


class FairlearnThresholds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """`fairlearn.postprocessing.ThresholdOptimizer`: a threshold, or two at random, for each group.

    Parameters
    ----------
    estimator : estimator
        The base model, fitted.
    group : int or str
        The column of X that holds the group.
    criterion : {"statistical_parity", "equalized_odds", "equal_opportunity"}
        What is made equal; by default "statistical_parity".
    options : dict, default None
        Further parameters of `ThresholdOptimizer`, such as its objective.
    random_state : int, default None
        Of the draws.

    Examples
    --------
    >>> FairlearnThresholds(group="sex", criterion="equalized_odds")
    FairlearnThresholds(criterion='equalized_odds', group='sex')

    """

    constraints: ClassVar[dict[str, str]] = {
        "statistical_parity": "demographic_parity",
        "equalized_odds": "equalized_odds",
        "equal_opportunity": "true_positive_rate_parity",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        criterion: str = "statistical_parity",
        options: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator, self.group, self.criterion = estimator, group, criterion
        self.options, self.random_state = options, random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the thresholds for the base model's scores."""
        require_package("fairlearn", type(self).__name__)
        from fairlearn.postprocessing import ThresholdOptimizer

        options = {"constraints": self.constraints[self.criterion], **(self.options or {})}
        options |= {"prefit": True, "predict_method": "predict_proba"}
        self.optimizer_ = ThresholdOptimizer(estimator=self.estimator, **options)
        self.optimizer_.fit(X, y, sensitive_features=features_and_group(X, self.group)[1])
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class in the decision."""
        group = features_and_group(X, self.group)[1]
        return np.asarray(self.optimizer_._pmf_predict(X, sensitive_features=group))

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row, drawn."""
        group = features_and_group(X, self.group)[1]
        options = {"sensitive_features": group, "random_state": self.random_state}
        return np.asarray(self.optimizer_.predict(X, **options)).astype(self.classes_.dtype)


_REDUCTION: dict[str, Any] = {
    "estimator": FairlearnReduction,
    "stage": "in",
    "task": "classification",
    "criteria": tuple(FairlearnReduction.moments),
    "classes": "two",
    "needs_group_at_predict": False,
    "needs_sample_weight": True,
    "hyperparameter": "epsilon",
    "grid": dict.fromkeys(FairlearnReduction.moments, EPSILONS),
    "citation": "Agarwal, Beygelzimer, Dudík, Langford, Wallach: A Reductions Approach to Fair "
    "Classification, 2018; by fairlearn",
}
METHODS = (
    Method(name="fairlearn.ExponentiatedGradient", randomized=True, **_REDUCTION),
    Method(
        name="fairlearn.GridSearch",
        randomized=False,
        groups="two",
        settings={"algorithm": "GridSearch"},
        **_REDUCTION,
    ),
    Method(
        name="fairlearn.ThresholdOptimizer",
        estimator=FairlearnThresholds,
        stage="post",
        task="classification",
        criteria=tuple(FairlearnThresholds.constraints),
        classes="two",
        needs_group_at_predict=True,
        randomized=True,
        citation="Hardt, Price, Srebro: Equality of Opportunity in Supervised Learning, 2016; by "
        "fairlearn",
    ),
)
