"""FairReg in practice: bounded group loss, by a grid of weights of the groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_array, validate_data

from evenhand.mitigation._fields import Count, Range, Share, Unseen
from evenhand.mitigation.base_models import Refitting, fitted, weight_parameter
from evenhand.mitigation.estimators import GroupRegressor
from evenhand.mitigation.group_reader import Codes, Floats, PathFitter, Rows, Stage, shares

LOSSES: dict[str, Callable[[Floats], Floats]] = {"square": np.square, "absolute": np.abs}
SHELLS = (1 / 2, 1 / 4, 3 / 4, 1 / 8, 3 / 8, 5 / 8, 7 / 8)
UNIDENTIFIED = 1e-12


class BoundedGroupLossRegressor(PathFitter, GroupRegressor):
    """Weighs the groups so that both the mean loss and the worst group's loss are small.

    For every point of a grid of weights λ the base model is fitted with each row weighing
    λ_a / π_a, and the model with the least (1 − w) · mean loss + w · worst group's loss is kept.
    That bounds what the groups lose; it does not aim at parity of predictions, for which see
    `ParityReductionRegressor`, the other method of the same article.

    The grid has the unweighted model first, then the finest lattice of the simplex with at most
    `grid_size` points. Least squares is solved from one matrix of products for each group, and
    gives directions that the weighted rows do not determine no coefficient, where a group of
    weight 0 would else make the coefficient of its own column anything at all. Losses are not
    clipped unless `bounds` says so, so that a model that fails in a group cannot be chosen.

    The group is read at fit only: `predict` needs it only where the base model sees it. Values
    are the base model's own and have no stated range.

    Parameters
    ----------
    estimator : estimator, default None
        The base model, whose fit must take sample weights; None is least squares.
    constraint_weight : float, default 0.5
        w, from 0 (the mean loss alone) to 1 (the worst group alone). This is not a bound: a greater
        weight gives the worst group a smaller loss, but not one known beforehand.
    grid_size : int, default 10
        How many points at most; there is always one for each group.
    loss : {"square", "absolute"}, default "square"
        What is averaged for the choice; the base model minimizes its own loss.
    bounds : tuple (low, high), default None
        A range to which targets and predictions are clipped before losses are compared, as AIF360
        and fairlearn do; None compares them as they are. Answers are never clipped.

    Attributes
    ----------
    estimator_ : estimator
        The model fitted with the weights chosen.
    grid_ : WeightGrid
        The weights tried, and each group's loss for each.
    weights_ : ndarray of shape (n_groups,)
        The weights chosen.

    References
    ----------
    Agarwal, Dudík and Wu (2019), "Fair regression: quantitative definitions and reduction-based
    algorithms", ICML, for bounded group loss; the grid search is that of AIF360 and fairlearn.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import BoundedGroupLossRegressor
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = X[:, 1] + random.normal(size=500)
    >>> y[group == 0] *= 3  # who is harder to predict is better served with more weight
    >>> fair = BoundedGroupLossRegressor(group=0, constraint_weight=0.9).fit(X, y)
    >>> fair.weights_.round(2)
    array([0.89, 0.11])

    """

    criteria: ClassVar[tuple[str, ...]] = ("bounded_group_loss",)
    stage: ClassVar[Stage] = "in"
    hyperparameter: ClassVar[str | None] = "constraint_weight"
    _weighs: ClassVar[bool] = True
    _reads_group: ClassVar[bool] = False
    constraint_weight: Share = 0.5
    grid_size: Count = 10
    loss: Literal["square", "absolute"] = "square"
    bounds: Range | None = None
    prefit: bool = field(default=False, init=False)
    unseen: Unseen = field(default="error", init=False)
    draw: bool = field(default=True, init=False)
    row_id: Any = field(default=None, init=False)
    random_state: Any = field(default=None, init=False)

    def _path(self, rows: Rows, grid: Iterable[float]) -> Iterator[Self]:
        models, share = self._tried(rows), shares(rows.group, rows.weight)
        for weight in grid:
            yield copy(self).set_params(constraint_weight=weight)._choose(models, share)

    def _fit(self, rows: Rows) -> None:
        self._choose(self._tried(rows), shares(rows.group, rows.weight))

    def _tried(self, rows: Rows) -> list[Any]:
        """The models of all points of the grid, which is stored as `grid_`."""
        base = LinearRegression() if self.estimator is None else self.estimator
        prepared = Refitting.prepare(base, self._features(rows.X), rows.y)
        weights = spread(shares(rows.group, rows.weight), self.grid_size)
        if self.loss == "square" and is_least_squares(prepared):
            models, losses = fit_by_grams(prepared, rows, weights)
            if self.bounds is not None:
                losses = losses_of(models, prepared, rows, LOSSES[self.loss], self.bounds)
        else:
            models = fit_one_by_one(prepared, rows, weights)
            losses = losses_of(models, prepared, rows, LOSSES[self.loss], self.bounds)
        self.grid_ = WeightGrid(weights, losses)
        return [prepared.assembled(model) for model in models]

    def _choose(self, models: list[Any], share: Floats) -> Self:
        """Choose the best point of the grid for this weight of the constraint."""
        self._check_values()
        chosen = self.grid_.best(share, self.constraint_weight)
        self.weights_, self.estimator_ = self.grid_.weights[chosen], models[chosen]
        return self

    def _regress(self, X: Any, group: Codes) -> Floats:  # noqa: ARG002
        return self._base(X)


class WeightGrid(NamedTuple):
    """Weights of the groups (points × groups) and the loss of each group under each model."""

    weights: Floats
    losses: Floats

    def best(self, share: Floats, constraint_weight: float) -> int:
        """The point with the least mixture of mean loss and worst group's loss."""
        losses = np.where(np.isfinite(self.losses), self.losses, np.inf)
        mixed = (1 - constraint_weight) * losses @ share + constraint_weight * losses.max(axis=1)
        return int(np.argmin(mixed))


def lattice(corners: int, steps: int) -> Floats:
    """All points whose coordinates are multiples of 1/steps.

    >>> lattice(2, 2)
    array([[0. , 1. ],
           [0.5, 0.5],
           [1. , 0. ]])
    """
    bars = np.array(list(combinations(range(steps + corners - 1), corners - 1)), dtype=np.intp)
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, steps + corners - 1)))
    return np.asarray((np.diff(ends, axis=1) - 1) / steps)


def spread(center: Floats, size: int) -> Floats:
    """The center and about `size` points around it: the finest lattice that fits, then shells.

    A shell has one point for each corner, part of the way from the center. Where not even the
    corners fit, it is one shell, half-way, so that every corner is approached.

    >>> spread(np.array([0.25, 0.75]), 3)
    array([[0.25, 0.75],
           [0.  , 1.  ],
           [0.5 , 0.5 ],
           [1.  , 0.  ]])
    """
    corners, steps = len(center), 0
    while steps < size and comb(steps + corners, corners - 1) <= size:
        steps += 1
    points = lattice(corners, steps) if steps else np.empty((0, corners))
    fitting = max((size - len(points)) // corners, 0 if steps else 1)
    shells = [center + part * (np.eye(corners) - center) for part in SHELLS[:fitting]]
    return np.vstack([center, points, *shells])


@dataclass(frozen=True, eq=False)
class Grams:
    """For each group, the mean products of (1, features, target), features in standard units.

    `mean` and `scale` are what the columns were standardized by; `products` has a square matrix
    for each group, weighted within the group to sum to 1.
    """

    products: Floats
    mean: Floats
    scale: Floats

    def solve(self, weights: Floats) -> tuple[Floats, Floats]:
        """Intercepts and coefficients for many weightings of the groups (weightings × groups).

        Directions of features that the weighted rows do not determine get no coefficient: a
        group of weight 0 leaves the column that marks it alone.
        """
        total = np.tensordot(weights, self.products, axes=1)
        total /= total[:, :1, :1]
        centered = total[:, 1:, 1:] - total[:, 1:, :1] * total[:, :1, 1:]
        size, directions = np.linalg.eigh(centered[:, :-1, :-1])
        identified = size > UNIDENTIFIED * np.maximum(size[:, -1:], np.finfo(float).tiny)
        along = np.einsum("wij,wi->wj", directions, centered[:, :-1, -1])
        along = np.where(identified, along, 0.0) / np.where(identified, size, 1.0)
        slopes = np.einsum("wij,wj->wi", directions, along)
        intercepts = total[:, 0, -1] - np.einsum("wi,wi->w", slopes, total[:, 0, 1:-1])
        return intercepts, slopes

    def losses(self, intercepts: Floats, slopes: Floats) -> Floats:
        """The mean squared error in each group, for many models (models × groups)."""
        ones = np.ones(len(intercepts))
        residual = np.column_stack([-intercepts, -slopes, ones])
        squares = np.einsum("mi,gij,mj->mg", residual, self.products, residual, optimize=True)
        return np.asarray(np.maximum(squares, 0.0))

    def original(self, intercept: float, slopes: Floats) -> tuple[float, Floats]:
        """An intercept and coefficients for the original features and target."""
        in_units = slopes * self.scale[-1] / self.scale[:-1]
        level = self.mean[-1] + intercept * self.scale[-1] - in_units @ self.mean[:-1]
        return float(level), in_units


def grams(X: Floats, y: Floats, group: Codes, weight: Floats, groups: int) -> Grams:
    """Sum the products of all columns, once, group by group."""
    table = np.column_stack([X, y])
    mean = np.average(table, axis=0, weights=weight)
    table -= mean
    scale = np.sqrt(np.average(table**2, axis=0, weights=weight))
    scale[scale <= 1e-12 * np.abs(mean)] = 1.0  # a constant column, up to rounding
    scale[scale == 0] = 1.0
    table = np.column_stack([np.ones(len(table)), table / scale])
    order = np.argsort(group, kind="stable")
    sums = np.bincount(group, weight, minlength=groups)
    roots = np.sqrt(weight / sums[group])
    blocks = np.split((table * roots[:, None])[order], np.cumsum(np.bincount(group))[:-1])
    return Grams(np.stack([block.T @ block for block in blocks]), mean, scale)


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


def fit_one_by_one(prepared: Refitting, rows: Rows, weights: Floats) -> list[Any]:
    """Any model that takes sample weights, for one weighting of the groups at a time."""
    sums = np.bincount(rows.group, rows.weight)
    name = weight_parameter(prepared.model)
    models = []
    for point in weights:
        weight = (point * rows.weight.sum() / sums)[rows.group] * rows.weight
        models.append(fitted(clone(prepared.model), prepared.X, rows.y, **{name: weight}))
    return models


def losses_of(
    models: list[Any],
    prepared: Refitting,
    rows: Rows,
    loss: Callable[[Floats], Floats],
    bounds: tuple[float, float] | None,
) -> Floats:
    """The mean loss of every model in each group (models × groups), of clipped values if asked."""
    sums = np.bincount(rows.group, rows.weight)
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    y = np.clip(rows.y, low, high)
    errors = (loss(y - np.clip(np.ravel(model.predict(prepared.X)), low, high)) for model in models)
    return np.array([np.bincount(rows.group, rows.weight * error) / sums for error in errors])
