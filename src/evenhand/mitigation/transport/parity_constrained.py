"""The least changes of predictions that bound their inequality by ε, by any measure."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evenhand._errors import InputError
from evenhand.measures import MeasureLike, resolve
from evenhand.mitigation._fields import NonNegative, Positive, Range, Share
from evenhand.mitigation.amount_rule import AmountRule, shifts
from evenhand.mitigation.group_reader import Codes, Floats, Rows, shares
from evenhand.mitigation.transport.parity import Bound, strong_parity, weak_parity
from evenhand.mitigation.transport.plan import (
    Choice,
    Plan,
    Support,
)
from evenhand.mitigation.transport.planned import PlannedRegressor
from evenhand.mitigation.transport.wasserstein import integral_of_range, wasserstein_parity


class ParityConstrainedRegressor(PlannedRegressor):
    """Moves predictions as little as possible so that a parity criterion is at most ε.

    With "strong_parity" the measure of the groups' CDFs is at most ε at every cut point (where
    the pooled CDF of the base predictions is at least `tau`, for measures of ratios, which are
    degenerate in the lower tail); with "wasserstein_parity" the largest difference of the CDFs,
    integrated over all cut points (of two groups their W1 distance); with "weak_parity" the
    measure of their mean predictions. All hold
    on the fitting rows and are convex programs, solved to a gap that is certified: cones for
    PQ, linear programs for Gini, a search in one variable for MPD. The least
    squared move is the least squared error where the base model predicts the mean of y.

    Except under weak parity, predictions are values of the support, as for `TransportRegressor`;
    under weak parity each group is shifted by a constant, and no range holds.

    Parameters
    ----------
    measure : {"mpd", "gini", "pq"}, default "mpd"
        How the inequality of the groups is measured.
    epsilon : float, default 0.01
        The most that it may be, in the unit of the measure.
    p, q : float or None, default None
        The orders of PQ, 0 < p ≤ 1 ≤ q; None is 1 and 2, or those in "pq(p=0.5, q=3)".
    criterion : {"strong_parity", "weak_parity", "wasserstein_parity"}, default "strong_parity"
        What is compared between groups: distributions where they differ most, means, or
        distributions over all cut points, which is by "mpd" and has the unit of the predictions.
    tau : float, default 0.05
        For strong parity by a measure of ratios: the least pooled CDF of a cut point.
    support : int or "exact", default 100
        The number of bins of equal width, or all fitted predictions as they are.
    bounds : tuple (low, high), default None
        The range of the bins; None is that of the fitted predictions.

    Attributes
    ----------
    shifts_ : ndarray of shape (n_groups,)
        What is added to each group's predictions, under weak parity.
    rule_ : AmountRule
        The new value of a base prediction, for other languages: `to_sql`, `to_onnx`, `to_python`.

    See Also
    --------
    TransportRegressor : The published special case, by distances of CDFs.

    Notes
    -----
    The explanation "theory" in the documentation shows that the measures bound convex cones.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import ParityConstrainedRegressor
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = X[:, 1] + random.normal(size=500)
    >>> fair = ParityConstrainedRegressor(
    ...     group=0, criterion="weak_parity", measure="mpd", epsilon=0.2
    ... ).fit(X, y)
    >>> means = [fair.predict(X)[group == a].mean() for a in (0, 1)]
    >>> round(float(np.ptp(means)), 2)
    0.2

    """

    criteria: ClassVar[tuple[str, ...]] = ("strong_parity", "weak_parity", "wasserstein_parity")
    measure: MeasureLike = "mpd"
    epsilon: NonNegative = 0.01
    p: Positive | None = None
    q: Positive | None = None
    criterion: str = "strong_parity"
    tau: Share = 0.05
    support: Choice = 100
    bounds: Range | None = None

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
            The values; under weak parity nothing is drawn, and they are those of `predict`.

        """
        weak = self._asked == "weak_parity"
        return self.predict(X) if weak else super().predict_quantile(X, level)

    @property
    def rule_(self) -> AmountRule:
        """The new value of a base prediction, as a rule that can be exported."""
        if self._asked != "weak_parity":
            return super().rule_
        check_is_fitted(self)
        return AmountRule(shifts(self.shifts_, self._grouping()))

    def _fit(self, rows: Rows) -> None:
        weak = self._require_criterion() == "weak_parity"
        bound = self._bound
        if self._asked == "wasserstein_parity" and not bound.measure.is_width:
            raise InputError(
                f"wasserstein_parity is the integral of the largest difference: measure is 'mpd', "
                f"not {bound.measure.name!r}."
            )
        equalize = self._equalize_means if weak else self._equalize_distributions
        equalize(self._fit_base(rows), rows, bound)

    @property
    def _bound(self) -> Bound:
        return Bound(resolve(self._measure, self.p, self.q), self.epsilon)

    def _bounded(self, rows: Rows, lots: Floats) -> tuple[float, float] | None:
        return None if self._asked == "weak_parity" else super()._bounded(rows, lots)

    def _inequality(self, cdfs: Floats) -> float:
        if self._asked == "wasserstein_parity":
            return integral_of_range(self.plan_.support.points, cdfs)
        supply, bound = self.plan_.supply, self._bound
        is_bounded = bound.is_width or supply.share @ supply.cdfs[:, :-1] >= self.tau
        levels = cdfs[:, :-1].T[np.broadcast_to(is_bounded, cdfs.shape[1] - 1)]
        return float(np.max(bound.measure(levels), initial=0.0))

    def _equalize_distributions(self, scores: Floats, rows: Rows, bound: Bound) -> None:
        support = Support.of(scores, self.support, self.bounds)
        supply = self._supplied(support, scores, rows)
        if self._asked == "wasserstein_parity":
            cdfs, self.gap_ = wasserstein_parity(supply, bound.epsilon)
        else:
            cdfs, self.gap_ = strong_parity(supply, bound, self.tau)
        self.plan_ = Plan(support, supply, cdfs)
        self.cost_ = self.plan_.cost
        if self._is_unmoved():
            quantity = f"{self._asked}.{bound.measure.name}"
            self._note_unbound(quantity, self._inequality(supply.cdfs), bound.measure)

    def _equalize_means(self, scores: Floats, rows: Rows, bound: Bound) -> None:
        share = shares(rows.group, rows.weight)
        sums = np.bincount(rows.group, rows.weight * scores)
        means = sums / np.bincount(rows.group, rows.weight)
        shifted, self.gap_ = weak_parity(means, share, bound)
        self.shifts_ = shifted - means
        self.cost_ = float(share @ self.shifts_**2)
        if not self.shifts_.any():
            quantity = f"{self._asked}.{bound.measure.name}"
            self._note_unbound(quantity, float(bound.measure(means)), bound.measure)

    def _regress(self, X: Any, group: Codes) -> Floats:
        if self._asked == "weak_parity":
            return self._base(X) + self.shifts_[group]
        return super()._regress(X, group)
