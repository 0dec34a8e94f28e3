"""What the transporting regressors share: a plan for every group, followed by rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evenhand.mitigation.reader import Rows
from evenhand.mitigation.regressor import GroupRegressor
from evenhand.mitigation.transport.plan import Plan, Supply
from evenhand.mitigation.transport.support import Codes, Floats, Support


class PlannedRegressor(GroupRegressor):
    """The abstract parent of methods that send each prediction where its rank goes.

    A value that many rows share may have to go to several: `predict` draws one of them, row by
    row, or, where `draw` is False, goes by how far into its bin the prediction lies, so that
    the answer is a function of X and the distributions are kept as well as bins can tell.
    """

    plan_: Plan

    def predict_quantile(self, X: Any, level: float = 0.5) -> Floats:
        """For each row, the value that this part of its draws does not exceed."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group, scores = self._groups(X), self._base(X)
        sent = self.plan_.send(scores, np.maximum(group, 0), np.full(len(scores), level))
        return np.where(group < 0, scores, sent)

    def _regress(self, X: Any, group: Codes) -> Floats:
        scores = self._base(X)
        lots = 1 - self._lots(len(scores)) if self.draw else self.plan_.support.place(scores)
        return self.plan_.send(scores, group, lots)

    def _supplied(self, support: Support, scores: Floats, rows: Rows) -> Supply:
        groups = len(self.sensitive_.labels)
        counted = support.histograms(scores, rows.group, rows.weight, groups)
        sums = counted.sum(axis=1)
        cdfs = np.minimum(np.cumsum(counted, axis=1) / sums[:, None], 1.0)
        cdfs[:, -1] = 1.0
        return Supply(support.points, cdfs, sums / sums.sum())
