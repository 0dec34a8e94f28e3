"""OxonFair: a threshold for each group, by a search over all of them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from evenhand._errors import require_package
from evenhand.benchmark.adapters.columns import features_and_group
from evenhand.mitigation.methods import Method

EPSILONS = (0.005, 0.01, 0.02, 0.05, 0.1)


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
        require_package("oxonfair", type(self).__name__)
        from oxonfair import FairPredictor
        from oxonfair.utils import group_metrics

        self.groups_, self.classes_ = np.unique(features_and_group(X, self.group)[1]), np.unique(y)
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
        codes = np.searchsorted(self.groups_, features_and_group(X, self.group)[1])
        return {"data": np.asarray(self.estimator.predict_proba(X)), "groups": codes}


METHODS = (
    Method(
        name="oxonfair.FairPredictor",
        estimator=OxonFairClassifier,
        stage="post",
        task="classification",
        criteria=tuple(OxonFairClassifier.measures),
        classes="two",
        groups=4,  # its grid has 30 ** groups points
        needs_group_at_predict=True,
        randomized=False,
        hyperparameter="epsilon",
        grid=dict.fromkeys(OxonFairClassifier.measures, EPSILONS),
        citation="Delaney, Fu, Wachter, Mittelstadt, Russell: OxonFair, A Flexible Toolkit for "
        "Algorithmic Fairness, 2024",
    ),
)
