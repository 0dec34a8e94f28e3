"""Predictions that were made elsewhere, as a model of their own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from evenhand.columns.validation import finite
from evenhand.mitigation.sensitive import column_of


class GivenScores(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that reads its predictions from a column of X, and learns nothing.

    Give it to a method as `estimator` to adjust scores that another model made: the column is
    named, so that no feature is ever taken for a score by accident.

    Parameters
    ----------
    column : str or int
        The column that holds the scores (a position where X is an array).

    >>> GivenScores(column=1).fit([[7, 0.5], [8, 0.25]]).predict(np.array([[9, 0.75]]))
    array([0.75])

    """

    def __init__(self, column: Any) -> None:
        self.column = column

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Nothing to learn."""
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The scores."""
        return finite(column_of(X, self.column), f"the column of scores {self.column!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return True
