"""Reweight (Kamiran and Calders 2012): rows are weighted until group and label are independent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation.constraints import cell_masses
from evenhand.mitigation.estimators import (
    Codes,
    GroupClassifier,
    Probabilities,
    Rows,
    fit_underlying,
)
from evenhand.mitigation.groups import Bins


def independence_weights(
    y: Codes, group: Codes, weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """For each row P(y) P(a) / P(y, a), times its own weight; the total weight stays the same.

    >>> independence_weights(np.array([1, 1, 0, 1]), np.array([0, 0, 1, 1]))
    array([0.75, 0.75, 0.5 , 1.5 ])
    """
    mass = cell_masses(y, group, int(y.max()) + 1, int(group.max()) + 1, weight)
    independent = np.outer(mass.sum(axis=1), mass.sum(axis=0)) / mass.sum()
    factor = np.divide(independent, mass, out=np.zeros(mass.shape), where=mass > 0)
    return np.asarray(factor[y, group] if weight is None else factor[y, group] * weight)


class ReweightingClassifier(GroupClassifier):
    """The base model, fitted with weights under which group and label are independent.

    For any number of classes and groups. It takes away what the labels owe to the group, not
    what the other columns tell of it, so some disparity stays. `predict_proba` is the model's.
    """

    _reads_group: ClassVar[bool] = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        bins: Bins = None,
        sees_group: bool = True,
        draw: bool = False,
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

    def _fit(self, rows: Rows) -> None:
        weight = independence_weights(rows.y, rows.group, rows.sample_weight)
        labels = self.classes_[rows.y]
        self.estimator_ = fit_underlying(
            self.estimator, self._features(rows.X), labels, sample_weight=weight
        )

    def _decide(self, X: Any, group: Codes) -> Probabilities:  # noqa: ARG002
        return self._base_probabilities(X)
