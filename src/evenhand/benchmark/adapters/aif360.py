"""Scikit-learn-style estimators of AIF360, which read the group from an index."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from evenhand._errors import require_package
from evenhand.benchmark.adapters.columns import features_and_group
from evenhand.mitigation.methods import Method

Floats = NDArray[np.float64]


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
        require_package("aif360", type(self).__name__)
        make = getattr(import_module("aif360.sklearn.postprocessing"), self.algorithm)
        self.groups_, self.classes_ = np.unique(features_and_group(X, self.group)[1]), np.unique(y)
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

        codes = np.searchsorted(self.groups_, features_and_group(X, self.group)[1])
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
        require_package("aif360", type(self).__name__)
        import pandas as pd
        from aif360.sklearn.preprocessing import Reweighing

        features, group = features_and_group(X, self.group)
        index = pd.Index(np.unique(group, return_inverse=True)[1], name="group")
        constant = pd.DataFrame({"one": 1.0}, index=index)
        _, weight = Reweighing("group").fit_transform(constant, pd.Series(y, index=index))
        self.model_ = clone(self.estimator).fit(features, y, sample_weight=np.asarray(weight))
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The model's probabilities."""
        return np.asarray(self.model_.predict_proba(features_and_group(X, self.group)[0]))

    def predict(self, X: Any) -> NDArray[Any]:
        """The model's classes."""
        return np.asarray(self.model_.predict(features_and_group(X, self.group)[0]))


_AFTER: dict[str, Any] = {
    "estimator": Aif360PostProcessor,
    "stage": "post",
    "task": "classification",
    "classes": "two",
    "groups": "two",
    "needs_group_at_predict": True,
    "randomized": False,
}
METHODS = (
    Method(
        name="aif360.CalibratedEqualizedOdds",
        citation="Pleiss, Raghavan, Wu, Kleinberg, Weinberger: On Fairness and Calibration, 2017; "
        "by AIF360",
        **_AFTER,
    ),
    Method(
        name="aif360.RejectOptionClassifierCV",
        settings={
            "algorithm": "RejectOptionClassifierCV",
            "options": {"scoring": "statistical_parity"},
        },
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
)
