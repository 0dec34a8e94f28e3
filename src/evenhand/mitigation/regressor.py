"""What all regression methods share: they predict values for rows of known groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_consistent_length,
    check_is_fitted,
)

from evenhand.columns.validation import finite
from evenhand.mitigation.reader import Codes, GroupReader, Rows
from evenhand.mitigation.sensitive import Sensitive
from evenhand.mitigation.underlying import fit_underlying

Floats = NDArray[np.float64]


class GroupRegressor(RegressorMixin, GroupReader, ABC):  # type: ignore[misc]
    """The abstract parent of the regression methods; a method adds `_fit` and `_regress`.

    Its parameters are those of `GroupReader`. Rows of weight 0 are not there: a group that has no
    others was not seen.
    """

    notes_: tuple[str, ...]

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn from the rows; `sensitive_` and `notes_` are there already."""

    @abstractmethod
    def _regress(self, X: Any, group: Codes) -> Floats:
        """A value for each row, whose groups were all seen at fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the groups, the base model, and the method's own rule."""
        X = self._checked(X, reset=True)
        y = np.asarray(_check_y(y, y_numeric=True, estimator=self), dtype=np.float64)
        check_consistent_length(X, y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            there = np.flatnonzero(sample_weight)
            X, y, sample_weight = _safe_indexing(X, there), y[there], sample_weight[there]
        self.sensitive_ = Sensitive.learn(X, self.group, self.bins)
        self.notes_ = ()
        self._fit(Rows(X, y, self.sensitive_.codes(X), sample_weight))
        return self

    def predict(self, X: Any) -> Floats:
        """A value for each row."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group = self._groups(X)
        strangers = (group < 0) & self._reads_group
        values = self._regress(X, np.where(strangers, 0, group))
        return np.where(strangers, self._base(X), values) if strangers.any() else values

    def _fit_base(self, rows: Rows) -> Floats:
        """Fit the base model, kept as `estimator_`, and predict the fitting rows with it."""
        features = self._features(rows.X)
        self.estimator_ = fit_underlying(
            self.estimator, features, rows.y, rows.sample_weight, self.prefit, LinearRegression()
        )
        return self._base(rows.X)

    def _base(self, X: Any) -> Floats:
        """The base model's predictions."""
        return finite(np.ravel(self.estimator_.predict(self._features(X))), "the base prediction")

    def _lots(self, rows: int) -> Floats:
        """A number from 0 to 1 for each row, drawn with `random_state`."""
        return np.asarray(check_random_state(self.random_state).random_sample(rows))


def shares(group: Codes, weight: Floats) -> Floats:
    """The part of all weight that each group has."""
    sums = np.bincount(group, weight)
    return np.asarray(sums / sums.sum())
