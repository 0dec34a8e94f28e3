"""Rejection (Kamiran, Karim and Zhang 2012): near the threshold, the group decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand.mitigation._fields import NonNegative
from evenhand.mitigation.estimators import GroupClassifier, Quantity
from evenhand.mitigation.group_reader import Codes, Floats, PathFitter, Rows
from evenhand.mitigation.groups import cell_masses, empty_cells
from evenhand.mitigation.optimal.rule import DecisionRule


class RejectOptionClassifier(PathFitter, GroupClassifier):
    """A threshold with a margin around it, within which the group decides.

    Threshold and margin are those of the best balanced accuracy on the fitting rows for which
    the signed disparity is at most `epsilon`; average odds, being signed, may cancel. Within the
    margin everyone in the privileged group is turned down, and everyone else accepted. For two
    classes and two groups.

    Parameters
    ----------
    criterion : str, default "statistical_parity"
        Whose difference between the groups is bounded: "statistical_parity", "average_odds" or
        "equal_opportunity".
    epsilon : float, default 0.05
        The largest difference between the two groups' rates.
    privileged : label, default None
        The group that has the advantage; None is the one where the favorable label is more
        frequent in the fitting rows.

    Attributes
    ----------
    estimator_ : estimator
        The base model.
    grid_ : ThresholdGrid
        Every threshold and margin that was tried, with balanced accuracy and disparity.
    choice_ : Choice
        The threshold and margin chosen, with theirs.
    rule_ : DecisionRule
        The same as a rule that can be explained and exported.
    favorable_, privileged_ : int
        The places of the favorable label in `classes_`, and of the privileged group among the
        groups.

    References
    ----------
    Kamiran, Karim and Zhang (2012), "Decision theory for discrimination-aware classification",
    ICDM.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import RejectOptionClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = RejectOptionClassifier(group=0, epsilon=0.05).fit(X, y)
    >>> round(fair.choice_.threshold, 2), round(fair.choice_.margin, 2)
    (0.42, 0.15)
    >>> bool(abs(fair.choice_.disparity) <= 0.05)
    True

    """

    criteria: ClassVar[tuple[str, ...]] = (
        "statistical_parity",
        "average_odds",
        "equal_opportunity",
    )
    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes", "groups")
    criterion: str = "statistical_parity"
    epsilon: NonNegative = 0.05
    favorable: Any = None
    privileged: Any = None
    draw: bool = field(default=False, init=False)
    row_id: Any = field(default=None, init=False)
    random_state: Any = field(default=None, init=False)

    def _path(self, rows: Rows, grid: Iterable[float]) -> Iterator[Self]:
        self._fit(rows)
        for epsilon in grid:
            yield copy(self).set_params(epsilon=epsilon)._choose()

    def _fit(self, rows: Rows) -> None:
        self._require_criterion()
        self._fit_base(rows)
        matters = self._asked == "equal_opportunity" or self.privileged is not None
        self.favorable_ = self._favorable_place(matters)
        mass = cell_masses(rows.y, rows.group, 2, 2, rows.sample_weight)
        self.privileged_ = self._privileged_place(mass)
        labels = self.sensitive_.labels
        self._unobserved = empty_cells(mass, self.classes_, labels, self._asked)
        self.grid_ = search_grid(
            self._base_probabilities(rows.X)[:, self.favorable_],
            (rows.y == self.favorable_).astype(np.intp),
            rows.group == self.privileged_,
            rows.sample_weight,
            criterion=self._asked,
        )
        self._choose()
        free = self.grid_.best(np.inf)
        if abs(free.disparity) <= self.epsilon:
            self._note_unbound(f"the difference in {self._asked}", abs(free.disparity))

    def _choose(self) -> Self:
        """Choose the best point of the grid for this `epsilon`."""
        self._check_values()
        self.choice_ = self.grid_.best(self.epsilon)
        disparity = abs(self.choice_.disparity)
        self.notes_ = self._unobserved
        if disparity > self.epsilon:
            self.notes_ += (
                f"No threshold keeps {self._asked} within {self.epsilon:g}; this one has the "
                f"least, {disparity:.4g}.",
            )
        return self

    @property
    def rule_(self) -> DecisionRule:
        """The thresholds as a rule that can be explained and exported."""
        margin = np.where(np.arange(2) == self.privileged_, 1, -1) * self.choice_.margin
        cut = self.choice_.threshold + margin  # of the favorable label's probability
        at = cut if self.favorable_ else np.nextafter(1 - cut, 0)
        prices = np.zeros((2, 2, 2))
        prices[:, :, 1] = np.column_stack([at, at - 1])
        return DecisionRule(prices, np.arange(2), np.ones(2)).named(**self._rule_names())

    def _decide(self, X: Any, group: Codes) -> Floats:
        score = self._base_probabilities(X)[:, self.favorable_]
        threshold, margin = self.choice_.threshold, self.choice_.margin
        bound = np.where(group == self.privileged_, threshold + margin, threshold - margin)
        decided = np.where(score > bound, self.favorable_, 1 - self.favorable_)
        return np.asarray(np.eye(2)[decided])

    def _privileged_place(self, mass: Floats) -> int:
        """The place of the privileged group among the two, by name or by frequency."""
        labels = list(self.sensitive_.labels)
        if self.privileged is None:
            odds = mass[self.favorable_] * mass[1 - self.favorable_, ::-1]
            return int(np.argmax(odds))
        if self.privileged not in labels:
            raise InputError(
                f"privileged={self.privileged!r} is none of {', '.join(map(show, labels))}."
            )
        return labels.index(self.privileged)


class Choice(NamedTuple):
    """A threshold, the margin around it, their balanced accuracy and signed disparity."""

    threshold: float
    margin: float
    balanced_accuracy: float
    disparity: float


@dataclass(frozen=True, eq=False)
class ThresholdGrid:
    """Every (threshold, margin) tried, with its balanced accuracy and disparity."""

    threshold: Floats
    margin: Floats
    balanced_accuracy: Floats
    disparity: Floats

    def best(self, epsilon: float) -> Choice:
        """The best balanced accuracy with |disparity| ≤ ε; otherwise the least |disparity|.

        Of equals it is the one with the smallest threshold, then margin.
        """
        allowed = abs(self.disparity) <= epsilon
        if allowed.any():
            at = int(np.argmax(np.where(allowed, self.balanced_accuracy, -np.inf)))
        else:
            at = int(np.nanargmin(abs(self.disparity)))
        columns = self.threshold, self.margin, self.balanced_accuracy, self.disparity
        return Choice(*(float(column.ravel()[at]) for column in columns))


def search_grid(
    score: Floats,
    y: Codes,
    privileged: NDArray[np.bool_],
    weight: Floats | None = None,
    *,
    criterion: str = "statistical_parity",
    thresholds: int = 100,
    margins: int = 50,
) -> ThresholdGrid:
    """Balanced accuracy and disparity (others − privileged) of all thresholds and margins.

    The privileged are given the favorable label (1) above threshold + margin, the others above
    threshold − margin; all sums above any bound are read off one sorted list for each side.
    """
    tau = np.linspace(0.01, 0.99, thresholds)[:, None]
    margin = np.linspace(0, np.minimum(tau, 1 - tau)[:, 0], margins, axis=1)
    weight = np.ones(len(y)) if weight is None else weight
    sides = (~privileged, tau - margin), (privileged, tau + margin)
    masses = [mass_above(score[side], y[side], weight[side], bound) for side, bound in sides]
    chosen, everyone = (np.array(part) for part in zip(*masses, strict=True))
    selected, total = chosen.sum(axis=0), everyone.sum(axis=0)
    right = _rates(selected[1], total[1]) + _rates(total[0] - selected[0], total[0])
    disparity = DISPARITIES[criterion](chosen, everyone)
    return ThresholdGrid(
        np.broadcast_to(tau, margin.shape), margin, 0.5 * np.nan_to_num(right), disparity
    )


def mass_above(score: Floats, y: Codes, weight: Floats, bound: Floats) -> Any:
    """Weight of label 0 and of label 1 above each bound, and in total.

    >>> mass_above(np.array([0.2, 0.7]), np.array([0, 1]), np.ones(2), np.array([0.1, 0.2]))[0]
    array([[1., 0.],
           [1., 1.]])
    """
    order = np.argsort(score)
    ordered = np.where(y[order] == np.array([[0], [1]]), weight[order], 0.0)
    above = np.zeros((2, len(score) + 1))
    above[:, :-1] = ordered[:, ::-1].cumsum(axis=1)[:, ::-1]
    return above[:, np.searchsorted(score[order], bound, side="right")], above[:, 0][:, None, None]


def _parity_gap(chosen: Floats, everyone: Floats) -> Floats:
    return _gap(chosen.sum(axis=1), everyone.sum(axis=1))


def _odds_gap(chosen: Floats, everyone: Floats) -> Floats:
    return np.asarray(0.5 * _gap(chosen, everyone).sum(axis=0))


def _opportunity_gap(chosen: Floats, everyone: Floats) -> Floats:
    return np.asarray(_gap(chosen, everyone)[1])


def _gap(chosen: Floats, everyone: Floats) -> Floats:
    """The rate of the others minus that of the privileged; 0 where one has nobody to count."""
    rates = _rates(chosen, everyone)
    return np.asarray(np.nan_to_num(rates[0] - rates[1]))


def _rates(chosen: Floats, everyone: Floats) -> Floats:
    rates = np.full(chosen.shape, np.nan)
    np.divide(chosen, everyone, out=rates, where=everyone > 0)
    return rates


DISPARITIES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "statistical_parity": _parity_gap,
    "average_odds": _odds_gap,
    "equal_opportunity": _opportunity_gap,
}
