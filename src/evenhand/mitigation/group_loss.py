"""FairReg as it is run in practice: bounded group loss, by a grid of weights for the groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_array, validate_data

from evenhand.mitigation.gram import grams
from evenhand.mitigation.reader import Codes, Rows
from evenhand.mitigation.refitting import Refitting
from evenhand.mitigation.regressor import Floats, GroupRegressor, shares
from evenhand.mitigation.sensitive import Bins
from evenhand.mitigation.simplex import spread
from evenhand.mitigation.underlying import weight_parameter

LOSSES: dict[str, Callable[[Floats], Floats]] = {"square": np.square, "absolute": np.abs}


class Grid(NamedTuple):
    """Weights of the groups (points × groups) and the loss of each group under each model."""

    weights: Floats
    losses: Floats

    def best(self, share: Floats, constraint_weight: float) -> int:
        """The point with the least mixture of mean loss and worst group's loss."""
        losses = np.where(np.isfinite(self.losses), self.losses, np.inf)
        mixed = (1 - constraint_weight) * losses @ share + constraint_weight * losses.max(axis=1)
        return int(np.argmin(mixed))


class BoundedGroupLossRegressor(GroupRegressor):
    """Weighs the groups so that both the mean loss and the worst group's loss are small.

    For every point of a grid of weights λ the base model is fitted with each row weighing
    λ_a / π_a, and the model with the least (1 − w) · mean loss + w · worst group's loss is kept.
    That bounds what the groups lose; it does not aim at parity of predictions, for which see
    `ParityReductionRegressor`, the other method of the same article.

    The grid has the unweighted model first, then the finest lattice of the simplex with at most
    `grid_size` points. Least squares is solved from one matrix of products for each group, and
    gives directions that the weighted rows do not determine no coefficient, where a group of
    weight 0 would else make the coefficient of its own column anything at all. Losses are not
    clipped, so that a model that fails in a group cannot be chosen.

    The group is read at fit only: `predict` needs it only where the base model sees it. Values
    are the base model's own and have no stated range.

    Parameters
    ----------
    constraint_weight : float
        w, from 0 (the mean loss alone) to 1 (the worst group alone).
    grid_size : int
        How many points at most; there is always one for each group.
    loss : "square" or "absolute"
        What is averaged for the choice; the base model minimises its own loss.
    estimator, group, bins, sees_group
        As for `GroupReader`; the estimator's fit must take sample weights.

    Attributes
    ----------
    grid_ : Grid
        The weights tried, and each group's loss for each.
    weights_ : ndarray
        The weights chosen.
    estimator_ : estimator
        The model fitted with them.

    References
    ----------
    Agarwal, Dudík and Wu (2019), "Fair regression: quantitative definitions and reduction-based
    algorithms", for bounded group loss; the grid search is that of AIF360 and fairlearn.

    """

    _reads_group: ClassVar[bool] = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        constraint_weight: float = 0.5,
        grid_size: int = 10,
        loss: Literal["square", "absolute"] = "square",
        bins: Bins = None,
        sees_group: bool = True,
    ) -> None:
        super().__init__(estimator, group=group, bins=bins, sees_group=sees_group)
        self.constraint_weight = constraint_weight
        self.grid_size = grid_size
        self.loss = loss

    def _fit(self, rows: Rows) -> None:
        if not 0 <= self.constraint_weight <= 1:
            raise ValueError(f"constraint_weight is {self.constraint_weight}; it is from 0 to 1.")
        if self.loss not in LOSSES:
            raise ValueError(f"loss is one of {list(LOSSES)}, not {self.loss!r}.")
        share = shares(rows.group, rows.weight)
        base = LinearRegression() if self.estimator is None else self.estimator
        prepared = Refitting.prepare(base, self._features(rows.X), rows.y)
        weights = spread(share, self.grid_size)
        if self.loss == "square" and is_least_squares(prepared):
            models, losses = fit_by_grams(prepared, rows, weights)
        else:
            models, losses = fit_one_by_one(prepared, rows, weights, LOSSES[self.loss])
        self.grid_ = Grid(weights, losses)
        chosen = self.grid_.best(share, self.constraint_weight)
        self.weights_ = weights[chosen]
        self.estimator_ = prepared.whole(models[chosen])

    def _regress(self, X: Any, group: Codes) -> Floats:  # noqa: ARG002
        return self._base(X)


def is_least_squares(prepared: Refitting) -> bool:
    """Whether the model is plain least squares on a matrix of numbers."""
    model = prepared.model
    plain = type(model) is LinearRegression and model.fit_intercept and not model.positive
    return plain and not sparse.issparse(prepared.X)


def fit_by_grams(prepared: Refitting, rows: Rows, weights: Floats) -> tuple[list[Any], Floats]:
    """Least squares for all weightings of the groups at once; models, and losses by group."""
    X = check_array(prepared.X, dtype=np.float64)
    sums = grams(X, rows.y, rows.group, rows.weight, weights.shape[1])
    lines = sums.solve(weights)
    models = []
    for intercept, slopes in zip(*lines, strict=True):
        model = clone(prepared.model)
        validate_data(model, prepared.X, skip_check_array=True)
        model.intercept_, model.coef_ = sums.original(intercept, slopes)
        models.append(model)
    return models, sums.losses(*lines) * sums.scale[-1] ** 2


def fit_one_by_one(
    prepared: Refitting, rows: Rows, weights: Floats, loss: Callable[[Floats], Floats]
) -> tuple[list[Any], Floats]:
    """Any model that takes sample weights, for one weighting of the groups after the other."""
    sums = np.bincount(rows.group, rows.weight)
    name = weight_parameter(prepared.model)
    models, losses = [], []
    for point in weights:
        weight = (point * rows.weight.sum() / sums)[rows.group] * rows.weight
        model = clone(prepared.model).fit(prepared.X, rows.y, **{name: weight})
        lost = loss(rows.y - np.ravel(model.predict(prepared.X)))
        models.append(model)
        losses.append(np.bincount(rows.group, rows.weight * lost) / sums)
    return models, np.array(losses)
