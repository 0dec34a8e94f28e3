"""WassBC (Chzhen et al. 2020): the predictions of every group go to their common barycentre."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from evenhand.groups import show
from evenhand.mitigation.ordered import Codes, Floats, Ordered, ordered
from evenhand.mitigation.reader import Rows
from evenhand.mitigation.regressor import GroupRegressor, shares
from evenhand.mitigation.sensitive import Bins

NEAR = 1e-12  # levels that differ by rounding alone are the same level


def barycentric_quantiles(known: Ordered, share: Floats, levels: Floats) -> Floats:
    """Quantiles of the W2 barycentre: those of the groups, averaged by share.

    A group's quantile jumps by the gap to its next value, so the average is one running sum of
    all gaps in the order of their levels; on a jump it is the middle.

    >>> two = ordered(np.array([0.0, 4.0, 10.0]), np.array([0, 0, 1]), np.ones(3), groups=2)
    >>> barycentric_quantiles(two, np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    array([5., 7.])
    """
    gaps = np.diff(known.values, append=0.0) * np.repeat(share, known.ends - known.starts)
    gaps[known.ends - 1] = 0.0
    order = np.argsort(known.upto)
    grown = np.append(0.0, np.cumsum(gaps[order]))
    below, upto = (np.searchsorted(known.upto[order], levels + near) for near in (-NEAR, NEAR))
    return np.asarray(share @ known.values[known.starts] + (grown[below] + grown[upto]) / 2)


class BarycenterRegressor(GroupRegressor):
    """Sends each prediction to the quantile of equal rank of the groups' W2 barycentre.

    f(x, a) = Σ_b π_b F_b⁻¹(F_a(base(x))): the predictor nearest to the base one, in mean square,
    whose predictions have the same distribution in all groups. It needs no labels beyond those
    of the base model. Between the fitted values of a group the map is linear, beyond them level,
    so that full predictions stay within the range of the fitted ones. Equal predictions of a
    group stay equal (they take their middle rank), which keeps it from parity where the base
    model has few distinct values.

    Parameters
    ----------
    fraction : float
        How far along the geodesic: 0 is the base model, 1 its full barycentre.
    halves : bool
        Learn the ranks from one random half of the rows and the quantiles from the other, as the
        original does for its proofs; by default all rows serve both.
    estimator, group, bins, sees_group, prefit, unseen, random_state
        As for `GroupReader`.

    Attributes
    ----------
    known_ : Ordered
        The fitted predictions of each group, in order.
    images_ : ndarray
        Where each of them goes when `fraction` is 1.

    References
    ----------
    Chzhen, Denis, Hebiri, Oneto and Pontil (2020), "Fair regression with Wasserstein barycenters".

    >>> X = np.array([[0, 1.0], [0, 2.0], [1, 5.0], [1, 8.0]])
    >>> from evenhand.mitigation import GivenScores
    >>> BarycenterRegressor(GivenScores(1), group=0).fit(X, X[:, 1]).predict(X)
    array([3., 5., 3., 5.])

    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        fraction: float = 1.0,
        halves: bool = False,
        bins: Bins = None,
        sees_group: bool = True,
        prefit: bool = False,
        unseen: Literal["error", "base"] = "error",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            prefit=prefit,
            unseen=unseen,
            random_state=random_state,
        )
        self.fraction = fraction
        self.halves = halves

    def _fit(self, rows: Rows) -> None:
        if not 0 <= self.fraction <= 1:
            raise ValueError(f"fraction is {self.fraction}; it must lie between 0 and 1.")
        scores, share = self._fit_base(rows), shares(rows.group, rows.weight)
        parts = self._halved(rows.group) if self.halves else (np.arange(len(scores)),)
        known = [
            ordered(scores[part], rows.group[part], rows.weight[part], len(share)) for part in parts
        ]
        self.known_ = known[0]
        middle = (self.known_.below + self.known_.upto) / 2
        self.images_ = barycentric_quantiles(known[-1], share, middle)

    def _regress(self, X: Any, group: Codes) -> Floats:
        scores = self._base(X)
        moved = self.known_.interpolated(self.images_, scores, group)
        return np.asarray(scores + self.fraction * (moved - scores))

    def _halved(self, group: Codes) -> tuple[Codes, Codes]:
        """A random half of the rows of each group, and the other; one that is alone is in both."""
        draw = check_random_state(self.random_state).permutation(len(group))
        order = draw[np.argsort(group[draw], kind="stable")]
        sizes = np.bincount(group)
        place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = np.empty(len(group), dtype=bool)
        first[order] = place % 2 == 0
        alone = sizes == 1
        if alone.any():
            names = ", ".join(show(self.sensitive_.labels[i]) for i in np.flatnonzero(alone))
            self.notes_ += (f"one row only, used for ranks and quantiles alike: {names}",)
        return np.flatnonzero(first), np.flatnonzero(~first | alone[group])
