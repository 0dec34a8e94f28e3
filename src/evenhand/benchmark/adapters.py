"""Methods of other libraries, as a benchmark calls them: a base model, and the group's column.

A design names them as `[methods."fairlearn.ThresholdOptimizer"]`; a library is imported when its
method is fitted. They show how little a method of one's own needs: `fit`, `predict` and, where it
decides at random, the chances in `predict_proba`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from evenhand._errors import require
from evenhand.mitigation.methods import Method

Floats = NDArray[np.float64]


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
        require("fairlearn")
        from fairlearn import reductions

        features, group = _apart(X, self.group)
        moment = getattr(reductions, self.moments[self.criterion])(difference_bound=self.epsilon)
        make = getattr(reductions, self.algorithm)
        self.reduction_ = make(clone(self.estimator), moment, **(self.options or {}))
        self.reduction_.fit(features, y, sensitive_features=group)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class in the decision."""
        features, _ = _apart(X, self.group)
        if self.algorithm == "ExponentiatedGradient":
            return np.asarray(self.reduction_._pmf_predict(features))
        return np.asarray(self.reduction_.predict_proba(features))

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row, drawn where the algorithm draws."""
        features, _ = _apart(X, self.group)
        draws = self.algorithm == "ExponentiatedGradient"
        drawn = {"random_state": self.random_state} if draws else {}
        return np.asarray(self.reduction_.predict(features, **drawn)).astype(self.classes_.dtype)


class FairlearnThresholds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """`fairlearn.postprocessing.ThresholdOptimizer`: a threshold, or two by lot, for each group.

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
        require("fairlearn")
        from fairlearn.postprocessing import ThresholdOptimizer

        options = {"constraints": self.constraints[self.criterion], **(self.options or {})}
        options |= {"prefit": True, "predict_method": "predict_proba"}
        self.optimizer_ = ThresholdOptimizer(estimator=self.estimator, **options)
        self.optimizer_.fit(X, y, sensitive_features=_apart(X, self.group)[1])
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class in the decision."""
        group = _apart(X, self.group)[1]
        return np.asarray(self.optimizer_._pmf_predict(X, sensitive_features=group))

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row, drawn."""
        group = _apart(X, self.group)[1]
        drawn = {"sensitive_features": group, "random_state": self.random_state}
        return np.asarray(self.optimizer_.predict(X, **drawn)).astype(self.classes_.dtype)


class Aif360PostProcessor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A post-processor of `aif360.sklearn`, which reads the group from a dataframe's index.

    Parameters
    ----------
    estimator : estimator
        The base model, fitted.
    group : int or str
        The column of X that holds the group, one of two.
    algorithm : {"CalibratedEqualizedOdds", "RejectOptionClassifierCV"}
        Which one; by default the first, which draws inside `predict_proba`, so that its answers
        are those of one draw.
    options : dict, default None
        Further parameters of that class.
    random_state : int, default None
        Of the draws.

    Examples
    --------
    >>> Aif360PostProcessor(group="sex", options={"cost_constraint": "fnr"})
    Aif360PostProcessor(group='sex', options={'cost_constraint': 'fnr'})

    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        algorithm: str = "CalibratedEqualizedOdds",
        options: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator, self.group, self.algorithm = estimator, group, algorithm
        self.options, self.random_state = options, random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the rule for the base model's scores."""
        require("aif360")
        make = getattr(import_module("aif360.sklearn.postprocessing"), self.algorithm)
        self.groups_, self.classes_ = np.unique(_apart(X, self.group)[1]), np.unique(y)
        scores = self._scores(X)
        self.rule_ = make("group", **(self.options or {}))
        if "random_state" in self.rule_.get_params():
            self.rule_.set_params(random_state=self.random_state)
        self.rule_.fit(scores, scores.index.to_series().set_axis(scores.index) * 0 + y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row."""
        return np.asarray(self.rule_.predict(self._scores(X))).astype(self.classes_.dtype)

    def _scores(self, X: Any) -> Any:
        import pandas as pd

        codes = np.searchsorted(self.groups_, _apart(X, self.group)[1])
        index = pd.Index(codes, name="group")
        return pd.DataFrame(np.asarray(self.estimator.predict_proba(X)), index=index)


class Aif360Reweighing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The base model under the weights of `aif360.sklearn.preprocessing.Reweighing`.

    Parameters
    ----------
    estimator : estimator
        The base model, which must take weights.
    group : int or str
        The column of X that holds the group; the base model does not see it.

    Examples
    --------
    >>> Aif360Reweighing(group="sex")
    Aif360Reweighing(group='sex')

    """

    def __init__(self, estimator: Any = None, *, group: Any = None) -> None:
        self.estimator, self.group = estimator, group

    def fit(self, X: Any, y: Any) -> Self:
        """Weigh the rows, and fit the base model."""
        require("aif360")
        import pandas as pd
        from aif360.sklearn.preprocessing import Reweighing

        features, group = _apart(X, self.group)
        index = pd.Index(np.unique(group, return_inverse=True)[1], name="group")
        one = pd.DataFrame({"one": 1.0}, index=index)
        _, weight = Reweighing("group").fit_transform(one, pd.Series(y, index=index))
        self.model_ = clone(self.estimator).fit(features, y, sample_weight=np.asarray(weight))
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The model's probabilities."""
        return np.asarray(self.model_.predict_proba(_apart(X, self.group)[0]))

    def predict(self, X: Any) -> NDArray[Any]:
        """The model's classes."""
        return np.asarray(self.model_.predict(_apart(X, self.group)[0]))


class OxonFairClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """OxonFair: a threshold for each group, the most accurate ones within a bound of a criterion.

    Parameters
    ----------
    estimator : estimator
        The base model, fitted.
    group : int or str
        The column of X that holds the group.
    criterion : {"statistical_parity", "equalized_odds", "equal_opportunity"}
        Which of OxonFair's measures is bounded; by default "statistical_parity".
    epsilon : float, default 0.02
        The bound.
    options : dict, default None
        Further parameters of `FairPredictor.fit`, such as `grid_width`.

    Examples
    --------
    >>> OxonFairClassifier(group="sex", epsilon=0.1)
    OxonFairClassifier(epsilon=0.1, group='sex')

    """

    measures: ClassVar[dict[str, str]] = {
        "statistical_parity": "demographic_parity",
        "equalized_odds": "equalized_odds",
        "equal_opportunity": "equal_opportunity",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        criterion: str = "statistical_parity",
        epsilon: float = 0.02,
        options: Any = None,
    ) -> None:
        self.estimator, self.group, self.criterion = estimator, group, criterion
        self.epsilon, self.options = epsilon, options

    def fit(self, X: Any, y: Any) -> Self:
        """Find the thresholds for the base model's scores."""
        require("oxonfair")
        from oxonfair import FairPredictor
        from oxonfair.utils import group_metrics

        self.groups_, self.classes_ = np.unique(_apart(X, self.group)[1]), np.unique(y)
        self.predictor_ = FairPredictor(None, self._data(X) | {"target": np.asarray(y)})
        measure = getattr(group_metrics, self.measures[self.criterion])
        self.predictor_.fit(group_metrics.accuracy, measure, self.epsilon, **(self.options or {}))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row."""
        unknown = {"target": np.zeros(len(X), int)}
        chosen = np.asarray(self.predictor_.predict(self._data(X) | unknown))
        return np.asarray(self.classes_[chosen])

    def _data(self, X: Any) -> dict[str, Any]:
        codes = np.searchsorted(self.groups_, _apart(X, self.group)[1])
        return {"data": np.asarray(self.estimator.predict_proba(X)), "groups": codes}


def _apart(X: Any, group: Any) -> tuple[Any, NDArray[Any]]:
    """The features without the group, and the group; a sparse matrix becomes an array."""
    if hasattr(X, "drop"):
        return X.drop(columns=[group]), X[group].astype(str).to_numpy()
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return np.delete(X, group, axis=1), X[:, group]


_EPSILONS = (0.005, 0.01, 0.02, 0.05, 0.1)
_COMMON: dict[str, Any] = {"task": "classification", "classes": "two", "randomized": False}
_REDUCTION: dict[str, Any] = _COMMON | {
    "stage": "in",
    "criteria": tuple(FairlearnReduction.moments),
    "needs_group_at_predict": False,
    "needs_sample_weight": True,
    "citation": "Agarwal, Beygelzimer, Dudík, Langford, Wallach: A Reductions Approach to Fair "
    "Classification, 2018; by fairlearn",
}
_AFTER: dict[str, Any] = _COMMON | {"stage": "post", "needs_group_at_predict": True}

_LIST = [
    Method(
        name="fairlearn.ExponentiatedGradient",
        estimator=FairlearnReduction,
        hyperparameter="epsilon",
        grid=dict.fromkeys(FairlearnReduction.moments, _EPSILONS),
        **_REDUCTION | {"randomized": True},
    ),
    Method(
        name="fairlearn.GridSearch",
        estimator=FairlearnReduction,
        settings={"algorithm": "GridSearch"},
        hyperparameter="epsilon",
        grid=dict.fromkeys(FairlearnReduction.moments, _EPSILONS),
        **_REDUCTION | {"groups": "two"},
    ),
    Method(
        name="fairlearn.ThresholdOptimizer",
        estimator=FairlearnThresholds,
        criteria=tuple(FairlearnThresholds.constraints),
        citation="Hardt, Price, Srebro: Equality of Opportunity in Supervised Learning, 2016; by "
        "fairlearn",
        **_AFTER | {"randomized": True},
    ),
    Method(
        name="aif360.CalibratedEqualizedOdds",
        estimator=Aif360PostProcessor,
        groups="two",
        citation="Pleiss, Raghavan, Wu, Kleinberg, Weinberger: On Fairness and Calibration, 2017; "
        "by AIF360",
        **_AFTER,
    ),
    Method(
        name="aif360.RejectOptionClassifierCV",
        estimator=Aif360PostProcessor,
        settings={
            "algorithm": "RejectOptionClassifierCV",
            "options": {"scoring": "statistical_parity"},
        },
        groups="two",
        citation="Kamiran, Karim, Zhang: Decision Theory for Discrimination-Aware Classification, "
        "2012; by AIF360",
        **_AFTER,
    ),
    Method(
        name="aif360.Reweighing",
        estimator=Aif360Reweighing,
        stage="pre",
        task="classification",
        criteria=("statistical_parity",),
        needs_group_at_predict=False,
        randomized=False,
        needs_sample_weight=True,
        citation="Kamiran, Calders: Data Preprocessing Techniques for Classification without "
        "Discrimination, 2012; by AIF360",
    ),
    Method(
        name="oxonfair.FairPredictor",
        estimator=OxonFairClassifier,
        groups=4,  # its grid has 30 ** groups points
        criteria=tuple(OxonFairClassifier.measures),
        hyperparameter="epsilon",
        grid=dict.fromkeys(OxonFairClassifier.measures, _EPSILONS),
        citation="Delaney, Fu, Wachter, Mittelstadt, Russell: OxonFair, A Flexible Toolkit for "
        "Algorithmic Fairness, 2024",
        **_AFTER,
    ),
]
ADAPTERS: dict[str, Method] = {method.name: method for method in _LIST}
