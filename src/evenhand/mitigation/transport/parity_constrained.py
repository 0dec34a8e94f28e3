"""The least moves of predictions after which they are at most ε unequal, by any measure."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from evenhand._errors import InputError
from evenhand.mitigation.estimators import Rows, shares
from evenhand.mitigation.groups import Bins
from evenhand.mitigation.transport.plan import (
    Choice,
    Codes,
    Floats,
    Plan,
    PlannedRegressor,
    Support,
)
from evenhand.mitigation.transport.strong import Bound, Name, strong_parity, weak_parity


class ParityConstrainedRegressor(PlannedRegressor):
    """Moves predictions as little as possible so that a parity criterion is at most ε.

    With "strong_parity" the measure of the groups' CDFs is at most ε at every cut point (where
    the pooled CDF of the base predictions is at least `tau`, for measures of ratios, which are
    degenerate in the lower tail); with "weak_parity" that of their mean predictions. Both hold
    on the fitting rows and are convex programs, solved to a gap that is certified: cones for
    PQ, linear programs for Gini, a search in one variable for MPD. The least
    squared move is the least squared error where the base model predicts the mean of y.

    Under strong parity, predictions are values of the support, as for `TransportRegressor`;
    under weak parity each group is shifted by a constant, and no range holds.

    Parameters
    ----------
    measure : "pq", "gini" or "mpd"
        How the inequality of the groups is measured.
    epsilon : float
        The most that it may be.
    p, q : float
        The orders of PQ, p ≤ 1 ≤ q.
    criterion : "strong_parity" or "weak_parity"
        What is compared between groups: distributions or means.
    tau : float
        For strong parity by a measure of ratios: the least pooled CDF of a cut point.
    support, bounds
        As for `TransportRegressor`.
    estimator, group, bins, sees_group, prefit, unseen, draw, random_state
        As for `GroupReader`.

    Attributes
    ----------
    plan_ : Plan
        The groups' CDFs before and after, under strong parity.
    shifts_ : ndarray
        What is added to each group's predictions, under weak parity.
    cost_, gap_ : float
        The mean squared move on the fitting rows, and by how much it can exceed the least.

    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        measure: Name = "pq",
        epsilon: float = 0.01,
        p: float = 1,
        q: float = 2,
        criterion: Literal["strong_parity", "weak_parity"] = "strong_parity",
        tau: float = 0.05,
        support: Choice = 100,
        bounds: tuple[float, float] | None = None,
        bins: Bins = None,
        sees_group: bool = True,
        prefit: bool = False,
        unseen: Literal["error", "base"] = "error",
        draw: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            prefit=prefit,
            unseen=unseen,
            draw=draw,
            random_state=random_state,
        )
        self.measure = measure
        self.epsilon = epsilon
        self.p = p
        self.q = q
        self.criterion = criterion
        self.tau = tau
        self.support = support
        self.bounds = bounds

    def predict_quantile(self, X: Any, level: float = 0.5) -> Floats:
        """For each row, the value that this part of its draws does not exceed."""
        weak = self.criterion == "weak_parity"
        return self.predict(X) if weak else super().predict_quantile(X, level)

    def _fit(self, rows: Rows) -> None:
        if self.criterion not in ("strong_parity", "weak_parity"):
            raise InputError(
                f"criterion is 'strong_parity' or 'weak_parity', not {self.criterion!r}."
            )
        bound = Bound(self.measure, self.epsilon, self.p, self.q)
        weak = self.criterion == "weak_parity"
        equalize = self._equalise_means if weak else self._equalise_distributions
        equalize(self._fit_base(rows), rows, bound)

    def _equalise_distributions(self, scores: Floats, rows: Rows, bound: Bound) -> None:
        support = Support.of(scores, self.support, self.bounds)
        supply = self._supplied(support, scores, rows)
        cdfs, self.gap_ = strong_parity(supply, bound, self.tau)
        self.plan_ = Plan(support, supply, cdfs)
        self.cost_ = self.plan_.cost

    def _equalise_means(self, scores: Floats, rows: Rows, bound: Bound) -> None:
        share = shares(rows.group, rows.weight)
        sums = np.bincount(rows.group, rows.weight * scores)
        means = sums / np.bincount(rows.group, rows.weight)
        shifted, self.gap_ = weak_parity(means, share, bound)
        self.shifts_ = shifted - means
        self.cost_ = float(share @ self.shifts_**2)

    def _regress(self, X: Any, group: Codes) -> Floats:
        if self.criterion == "weak_parity":
            return self._base(X) + self.shifts_[group]
        return super()._regress(X, group)
