"""Reweight (Kamiran and Calders 2012): rows are weighted until group and label are independent."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from evenhand.mitigation._fields import Unseen
from evenhand.mitigation.base_models import fit_underlying
from evenhand.mitigation.estimators import GroupClassifier
from evenhand.mitigation.group_reader import Codes, Floats, Rows, Stage
from evenhand.mitigation.groups import cell_masses


class ReweightingClassifier(GroupClassifier):
    """The base model, fitted with weights under which group and label are independent.

    For any number of classes and groups. It takes away what the labels owe to the group, not
    what the other columns tell of it, so some disparity stays, and there is nothing to set: it is
    a single point. `predict_proba` is the model's.

    Parameters
    ----------
    draw : bool, default False
        Whether `predict` draws from the model's probabilities, or takes the most probable class.

    Attributes
    ----------
    estimator_ : estimator
        The base model, fitted with the weights.

    References
    ----------
    Kamiran and Calders (2012), "Data preprocessing techniques for classification without
    discrimination", Knowledge and Information Systems 33.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import ReweightingClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = ReweightingClassifier(group=0).fit(X, y)
    >>> [float(fair.predict(X)[group == a].mean().round(2)) for a in (0, 1)]
    [0.41, 0.53]

    """

    criteria: ClassVar[tuple[str, ...]] = ("statistical_parity",)
    stage: ClassVar[Stage] = "pre"
    hyperparameter: ClassVar[str | None] = None
    _weighs: ClassVar[bool] = True
    _reads_group: ClassVar[bool] = False
    draw: bool = False
    prefit: bool = field(default=False, init=False)
    unseen: Unseen = field(default="error", init=False)

    def _fit(self, rows: Rows) -> None:
        weight = independence_weights(rows.y, rows.group, rows.sample_weight)
        labels = self.classes_[rows.y]
        self.estimator_ = fit_underlying(
            self.estimator, self._features(rows.X), labels, sample_weight=weight
        )

    def _decide(self, X: Any, group: Codes) -> Floats:  # noqa: ARG002
        return self._base_probabilities(X)


def independence_weights(y: Codes, group: Codes, weight: Floats | None = None) -> Floats:
    """For each row P(y) P(a) / P(y, a), times its own weight; the total weight stays the same.

    >>> independence_weights(np.array([1, 1, 0, 1]), np.array([0, 0, 1, 1]))
    array([0.75, 0.75, 0.5 , 1.5 ])
    """
    mass = cell_masses(y, group, int(y.max()) + 1, int(group.max()) + 1, weight)
    independent = np.outer(mass.sum(axis=1), mass.sum(axis=0)) / mass.sum()
    factor = np.divide(independent, mass, out=np.zeros(mass.shape), where=mass > 0)
    return np.asarray(factor[y, group] if weight is None else factor[y, group] * weight)
