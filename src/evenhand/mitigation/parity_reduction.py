"""Fair regression by reduction (Agarwal, Dudík and Wu 2019), under statistical parity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from evenhand.mitigation._fields import Count, NonNegative, Positive, Range, Unseen, integer
from evenhand.mitigation.base_models import Refitting, fitted, weight_parameter
from evenhand.mitigation.estimators import GroupRegressor
from evenhand.mitigation.group_reader import Codes, Floats, Rows, Stage, shares

RATES = (2.0, 8.0)  # of the prices' growth, slow and fast; they fall with the root of the round
DEARLY = 100.0  # what the mixture pays for parity that is missed: no loss is worth that


class ParityReductionRegressor(GroupRegressor):
    """A mixture of regressors that puts every group above any threshold about equally often.

    For every threshold z and group a it asks ``|P(f ≥ z | a) − P(f ≥ z)|`` ≤ ε on the fitting
    rows, so that no two groups' CDFs differ by more than 2ε. The target is cut into levels. Prices
    on the groups' excess above each threshold grow where parity is missed; the regressor answers
    by fitting the base model to the levels that would serve each row best at these prices, which
    is the article's least-squares oracle and a heuristic. The models found, and a constant, are
    mixed by a linear program. This is not the "FairReg" of AIF360: for that, see
    `BoundedGroupLossRegressor`.

    Predictions are levels, within `bounds`. `predict` draws one of the models for each row; with
    draw=False it takes their mean, for which parity is not promised. The group is read at fit
    only, so that groups that are unseen are no matter; a tiny group's constraint is kept like
    any other, and may push towards the constant.

    Parameters
    ----------
    epsilon : float, default 0.05
        The greatest excess of a group above a threshold, over everyone.
    levels : int, default 41
        Into how many levels the target is cut.
    bounds : tuple (low, high), default None
        The range of the levels; None is that of the fitting targets.
    max_iter : int, default 100
        How many models are fitted.
    price_bound : float, default 1.0
        The sum of all prices at most, in units of the squared range.
    draw : bool, default True
        Whether `predict` draws one of the models for each row, or takes their mean.

    Attributes
    ----------
    models_, weights_ : list, ndarray
        The models of the mixture, and how often each is used.
    levels_ : OutcomeLevels
        The values that predictions take.
    loss_, excess_ : float
        The mixture's mean squared error and greatest excess on the fitting rows.
    n_iter_ : int
        How many models were fitted.

    References
    ----------
    Agarwal, Dudík and Wu (2019), "Fair regression: quantitative definitions and reduction-based
    algorithms", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import ParityReductionRegressor
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = X[:, 1] + random.normal(size=500)
    >>> fair = ParityReductionRegressor(group=0, epsilon=0.1, max_iter=20).fit(X, y)
    >>> round(fair.excess_, 2)
    0.1

    """

    criteria: ClassVar[tuple[str, ...]] = ("strong_parity",)
    stage: ClassVar[Stage] = "in"
    _weighs: ClassVar[bool] = True
    _reads_group: ClassVar[bool] = False
    epsilon: NonNegative = 0.05
    levels: Annotated[int, integer(2)] = 41
    bounds: Range | None = None
    max_iter: Count = 100
    price_bound: Positive = 1.0
    prefit: bool = field(default=False, init=False)
    unseen: Unseen = field(default="error", init=False)

    def predict_each(self, X: Any) -> Floats:
        """The predictions of all models of the mixture, to be weighted by `weights_`.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_models)
            A column for each of `models_`.

        """
        check_is_fitted(self)
        features = self._features(self._checked(X, reset=False))
        levels = [self.levels_.nearest(np.ravel(model.predict(features))) for model in self.models_]
        return self.levels_.values[np.column_stack(levels)]

    def _fit(self, rows: Rows) -> None:
        low, high = (rows.y.min(), rows.y.max()) if self.bounds is None else self.bounds
        self.levels_ = OutcomeLevels.between(float(low), float(high), self.levels)
        base = LinearRegression() if self.estimator is None else self.estimator
        prepared = Refitting.prepare(base, self._features(rows.X), rows.y)
        game = ParityGame(rows, prepared, self.levels_, shares(rows.group, rows.weight))
        responses = game.play(
            self.epsilon, self.price_bound * float(high - low) ** 2, self.max_iter
        )
        mixture = mixed(responses, self.epsilon)
        used = np.flatnonzero(mixture.weights)
        self.models_ = [prepared.assembled(responses[place].model) for place in used]
        self.weights_ = mixture.weights[used]
        self.loss_, self.excess_, self.n_iter_ = mixture.loss, mixture.excess, self.max_iter
        excess = float(np.abs(responses[0].excess).max())  # of the model without a price
        if excess <= self.epsilon:
            self._note_unbound("the largest excess of a group over everyone", excess)

    def _regress(self, X: Any, group: Codes) -> Floats:  # noqa: ARG002
        predictions = self.predict_each(X)
        if not self.draw:
            return np.asarray(predictions @ self.weights_)
        chances = np.cumsum(self.weights_)[:-1]
        chosen = np.searchsorted(chances, self._lots(X), side="right")
        return np.asarray(predictions[np.arange(len(predictions)), chosen])


class ModelResponse(NamedTuple):
    """A fitted model, its mean squared error, and the groups' excess at each threshold."""

    model: Any
    loss: float
    excess: Floats


class ModelMixture(NamedTuple):
    """The weight of each model, the loss, and the greatest excess of a group."""

    weights: Floats
    loss: float
    excess: float


@dataclass(frozen=True, eq=False)
class ParityGame:
    """The rows, a model for them, and the levels and shares by which parity is judged."""

    rows: Rows
    prepared: Refitting
    levels: OutcomeLevels
    share: Floats

    def play(self, epsilon: float, budget: float, rounds: int) -> list[ModelResponse]:
        """Responses to prices that grow where parity is missed by more than ε.

        Prices, upward and downward, sum to `most` at most. The constant, which has parity, is the
        last response.
        """
        growth = np.zeros((len(RATES), 2, len(self.share), len(self.levels.values) - 1))
        responses = []
        for played in range(rounds):
            pace = played % len(RATES)
            top = max(growth[pace].max(), 0.0)  # so that no power overflows
            raised = np.exp(growth[pace] - top)
            up, down = budget * raised / (np.exp(-top) + raised.sum())
            response = self.respond(up - down)
            responses.append(response)
            excess = np.stack([response.excess, -response.excess]) - epsilon
            growth[pace] += excess * RATES[pace] / np.sqrt(played // len(RATES) + 1)
        constant = DummyRegressor().fit(self.prepared.X, self.rows.y, self.rows.sample_weight)
        return [*responses, self.judged(constant)]

    def respond(self, prices: Floats) -> ModelResponse:
        """The base model, fitted to the levels that serve each row best at these prices."""
        best = self.levels.best(prices, self.share)
        aims = self.levels.values[best[self.rows.group, self.levels.nearest(self.rows.y)]]
        weights = {}
        if self.rows.sample_weight is not None:
            weights[weight_parameter(self.prepared.model)] = self.rows.sample_weight
        return self.judged(fitted(clone(self.prepared.model), self.prepared.X, aims, **weights))

    def judged(self, model: Any) -> ModelResponse:
        """A model with its loss and the groups' excess, its predictions rounded to the levels."""
        group, weight = self.rows.group, self.rows.weight
        level = self.levels.nearest(np.ravel(model.predict(self.prepared.X)))
        loss = np.average((self.levels.values[level] - self.rows.y) ** 2, weights=weight)
        tails = self.levels.tails(level, group, weight, len(self.share))
        return ModelResponse(model, float(loss), tails - self.share @ tails)


def mixed(responses: list[ModelResponse], epsilon: float) -> ModelMixture:
    """The mixture with the least loss of those that miss parity least."""
    losses = np.array([response.loss for response in responses])
    gaps = np.stack([response.excess.ravel() for response in responses], axis=1)
    rows = np.column_stack([np.vstack([gaps, -gaps]), np.full(2 * len(gaps), -1.0)])
    solution = linprog(
        np.append(losses, DEARLY * losses.max()),
        A_ub=rows,
        b_ub=np.full(len(rows), epsilon),
        A_eq=np.append(np.ones_like(losses), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    weights = np.maximum(solution.x[:-1], 0.0)
    weights /= weights.sum()
    return ModelMixture(weights, float(losses @ weights), float(np.abs(gaps @ weights).max()))


@dataclass(frozen=True, eq=False)
class OutcomeLevels:
    """Equally spaced values, to which numbers are rounded.

    >>> OutcomeLevels.between(0.0, 1.0, 5).nearest(np.array([-1.0, 0.3]))
    array([0, 1])
    """

    values: Floats

    @classmethod
    def between(cls, low: float, high: float, count: int) -> OutcomeLevels:
        """Levels at even steps, the outermost at the ends of the range."""
        return cls(np.linspace(low, high, count))

    def nearest(self, numbers: Floats) -> Codes:
        """The level of each number; those out of range have the outermost."""
        return np.searchsorted((self.values[1:] + self.values[:-1]) / 2, numbers, side="right")

    def tails(self, level: Codes, group: Codes, weight: Floats, groups: int) -> Floats:
        """P(level ≥ each but the lowest | group), as groups × thresholds."""
        size = len(self.values)
        cells = np.bincount(group * size + level, weight, minlength=groups * size)
        parts = cells.reshape(groups, size)
        upward = np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(upward[:, 1:] / upward[:, :1])

    def best(self, prices: Floats, share: Floats) -> Codes:
        """The best level for each group (row) and true level (column), at these prices.

        A price (groups × thresholds) is on how much more often a group is above a threshold than
        all rows are. So being above costs a row of the group its price over the group's share,
        less the sum of all groups' prices.
        """
        squares = np.square(self.values[:, None] - self.values)
        toll = prices / share[:, None] - prices.sum(axis=0)
        tolls = np.pad(np.cumsum(toll, axis=1), ((0, 0), (1, 0)))
        return np.asarray((squares + tolls[:, None, :]).argmin(axis=-1))
