"""Regressors that move each prediction by its rank."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evenhand.mitigation._fields import NonNegative
from evenhand.mitigation.amount_rule import AmountRule
from evenhand.mitigation.estimators import GroupRegressor
from evenhand.mitigation.group_reader import Codes, Floats, Rows
from evenhand.mitigation.transport.outcomes import plan_moves
from evenhand.mitigation.transport.plan import NEAR, Supply, Support


class PlannedRegressor(GroupRegressor):
    """The abstract parent of methods that send each prediction where its rank goes.

    A value that many rows share may have to go to several: `predict` draws one of them, row by
    row, or, where `draw` is False, goes by how far into its bin the prediction lies, so that
    the answer is a function of X and the distributions are kept as well as bins can tell.

    Parameters
    ----------
    draw : bool, default True
        Whether `predict` draws the new value, or uses the place of the old one in its bin.

    Attributes
    ----------
    estimator_ : estimator
        The base model.
    plan_ : Plan
        The groups' CDFs before and after; under weak parity there is none.
    cost_, gap_ : float
        The mean squared move on the fitting rows, and by how much it can exceed the least.
    rule_ : AmountRule
        The new value of a base prediction, for other languages: `to_sql`, `to_onnx`, `to_python`.

    """

    epsilon: NonNegative = 0.01

    def _is_unmoved(self) -> bool:
        """Whether the plan leaves every distribution unchanged."""
        return bool(np.allclose(self.plan_.after, self.plan_.supply.cdfs, rtol=0, atol=NEAR))

    @property
    def rule_(self) -> AmountRule:
        """The new value of a base prediction, as a rule that can be exported."""
        check_is_fitted(self)
        return AmountRule(plan_moves(self.plan_, self.draw, self._grouping()))

    def predict_quantile(self, X: Any, level: float = 0.5) -> Floats:
        """For each row, a quantile of its random predictions.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.
        level : float, default 0.5
            The part, from 0 to 1.

        Returns
        -------
        ndarray of shape (n_rows,)
            The values.

        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group, scores = self._groups(X), self._base(X)
        sent = self.plan_.send(scores, np.maximum(group, 0), np.full(len(scores), level))
        return np.where(group < 0, scores, sent)

    def _regress(self, X: Any, group: Codes) -> Floats:
        scores = self._base(X)
        lots = 1 - self._lots(X) if self.draw else self.plan_.support.place(scores)
        return np.asarray(self.plan_.send(scores, group, lots))

    def _bounded(self, rows: Rows, lots: Floats) -> tuple[float, float] | None:
        """The inequality of the groups' CDFs of predictions with these draws."""
        values = self.plan_.send(self._base(rows.X), rows.group, 1 - lots)
        support = Support(self.plan_.support.points)
        moved = PlannedRegressor._supplied(self, support, values, rows)  # as they are, noise or not
        return self._inequality(moved.cdfs), self.epsilon

    @abstractmethod
    def _inequality(self, cdfs: Floats) -> float:
        """The inequality of the groups' CDFs that the method bounds."""

    def _supplied(self, support: Support, scores: Floats, rows: Rows) -> Supply:
        groups = len(self.sensitive_.labels)
        counted = support.histograms(scores, rows.group, rows.weight, groups)
        sums = counted.sum(axis=1)
        cdfs = np.minimum(np.cumsum(counted, axis=1) / sums[:, None], 1.0)
        cdfs[:, -1] = 1.0
        return Supply(support.points, cdfs, sums / sums.sum())
