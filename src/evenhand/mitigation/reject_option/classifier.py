"""Rejection (Kamiran, Karim and Zhang 2012): near the threshold, the group decides."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evenhand.groups import show
from evenhand.mitigation.classifier import GroupClassifier, Probabilities, Quantity
from evenhand.mitigation.constraints import cell_masses, empty_cells, require_constraint
from evenhand.mitigation.reader import Codes, Rows
from evenhand.mitigation.reject_option.grid import DISPARITIES, search_grid
from evenhand.mitigation.sensitive import Bins


class RejectOptionClassifier(GroupClassifier):
    """A threshold with a margin around it, within which the group decides.

    Threshold and margin are those of the best balanced accuracy on the fitting rows for which
    the signed disparity is at most `eps`; average odds, being signed, may cancel. Within the
    margin everyone in the privileged group is turned down, and everyone else accepted.

    Parameters
    ----------
    constraint : "statistical_parity", "average_odds" or "equal_opportunity"
        Whose difference between the groups is bounded.
    eps : float
        The bound.
    favourable : label
        The label people would like to get; None is the last of the sorted classes.
    privileged : label
        The group that has the advantage; None is the one where the favourable label is more
        frequent in the fitting rows.

    The other parameters are those of `GroupReader`.

    """

    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes", "groups")

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        constraint: str = "statistical_parity",
        eps: float = 0.05,
        favourable: Any = None,
        privileged: Any = None,
        bins: Bins = None,
        sees_group: bool = True,
        prefit: bool = False,
        unseen: Literal["error", "base"] = "error",
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            prefit=prefit,
            unseen=unseen,
            draw=False,
        )
        self.constraint = constraint
        self.eps = eps
        self.favourable = favourable
        self.privileged = privileged

    def path(self, bounds: Iterable[float]) -> list[Self]:
        """Fitted copies for other values of `eps`, all read from the one grid of this fit."""
        check_is_fitted(self)
        return [copy(self).set_params(eps=eps)._choose() for eps in bounds]

    def _fit(self, rows: Rows) -> None:
        require_constraint(self.constraint, DISPARITIES, self)
        self._fit_base(rows)
        self.favourable_ = self._place("favourable", list(self.classes_), default=1)
        mass = cell_masses(rows.y, rows.group, 2, 2, rows.sample_weight)
        odds = mass[self.favourable_] * mass[1 - self.favourable_, ::-1]
        self.privileged_ = self._place(
            "privileged", list(self.sensitive_.labels), default=int(np.argmax(odds))
        )
        labels = self.sensitive_.labels
        self._unobserved = empty_cells(mass, self.classes_, labels, self.constraint)
        self.grid_ = search_grid(
            self._base_probabilities(rows.X)[:, self.favourable_],
            (rows.y == self.favourable_).astype(np.intp),
            rows.group == self.privileged_,
            rows.sample_weight,
            constraint=self.constraint,
        )
        self._choose()

    def _choose(self) -> Self:
        """Take the best point of the grid for this `eps`."""
        self.choice_ = self.grid_.best(self.eps)
        least = abs(self.choice_.disparity)
        self.notes_ = self._unobserved
        if least > self.eps:
            self.notes_ += (
                f"No threshold keeps {self.constraint} within {self.eps:g}; this one has the "
                f"least, {least:.4g}.",
            )
        return self

    def _decide(self, X: Any, group: Codes) -> Probabilities:
        score = self._base_probabilities(X)[:, self.favourable_]
        threshold, margin = self.choice_.threshold, self.choice_.margin
        bound = np.where(group == self.privileged_, threshold + margin, threshold - margin)
        given = np.where(score > bound, self.favourable_, 1 - self.favourable_)
        return np.asarray(np.eye(2)[given])

    def _place(self, name: str, labels: list[Any], default: int) -> int:
        """The place of the favourable label or privileged group among the two there are."""
        wanted = getattr(self, name)
        if wanted is None:
            return default
        if wanted not in labels:
            raise ValueError(f"{name}={wanted!r} is none of {', '.join(map(show, labels))}.")
        return labels.index(wanted)
