"""Fair regression by reduction (Agarwal, Dudík and Wu 2019), under statistical parity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from evenhand.mitigation.parity_reduction.game import Game, mixed
from evenhand.mitigation.parity_reduction.levels import Codes, Floats, Levels
from evenhand.mitigation.reader import Rows
from evenhand.mitigation.refitting import Refitting
from evenhand.mitigation.regressor import GroupRegressor, shares
from evenhand.mitigation.sensitive import Bins


class ParityReductionRegressor(GroupRegressor):
    """A mixture of regressors that puts every group above any threshold about equally often.

    For every threshold z and group a it asks ``|P(f ≥ z | a) − P(f ≥ z)|`` ≤ ε on the fitting
    rows, so that no two groups' CDFs are more than 2ε apart. The target is cut into levels. Prices
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
    epsilon : float
        The greatest excess of a group above a threshold.
    levels : int
        Into how many levels the target is cut.
    bounds : (low, high)
        The range of the levels; by default that of the fitting targets.
    max_iter : int
        How many models are fitted.
    price_bound : float
        The sum of all prices at most, in units of the squared range.
    estimator, group, bins, sees_group, draw, random_state
        As for `GroupReader`.

    Attributes
    ----------
    models_, weights_ : list, ndarray
        The models of the mixture, and how often each is used.
    levels_ : Levels
        The values that predictions take.
    loss_, excess_ : float
        The mixture's mean squared error and greatest excess on the fitting rows.

    References
    ----------
    Agarwal, Dudík and Wu (2019), "Fair regression: quantitative definitions and reduction-based
    algorithms".

    """

    _reads_group: ClassVar[bool] = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        epsilon: float = 0.05,
        levels: int = 41,
        bounds: tuple[float, float] | None = None,
        max_iter: int = 100,
        price_bound: float = 1.0,
        bins: Bins = None,
        sees_group: bool = True,
        draw: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            group=group,
            bins=bins,
            sees_group=sees_group,
            draw=draw,
            random_state=random_state,
        )
        self.epsilon = epsilon
        self.levels = levels
        self.bounds = bounds
        self.max_iter = max_iter
        self.price_bound = price_bound

    def predict_each(self, X: Any) -> Floats:
        """The predictions of all models of the mixture (rows × models), to be used by weight."""
        check_is_fitted(self)
        features = self._features(self._checked(X, reset=False))
        levels = [self.levels_.nearest(np.ravel(one.predict(features))) for one in self.models_]
        return self.levels_.values[np.column_stack(levels)]

    def _fit(self, rows: Rows) -> None:
        if self.epsilon < 0 or self.levels < 2 or self.max_iter < 1:
            raise ValueError(
                f"epsilon must be at least 0, levels 2 and max_iter 1; they are {self.epsilon}, "
                f"{self.levels} and {self.max_iter}."
            )
        low, high = (rows.y.min(), rows.y.max()) if self.bounds is None else self.bounds
        self.levels_ = Levels.between(float(low), float(high), self.levels)
        base = LinearRegression() if self.estimator is None else self.estimator
        prepared = Refitting.prepare(base, self._features(rows.X), rows.y)
        game = Game(rows, prepared, self.levels_, shares(rows.group, rows.weight))
        found = game.play(self.epsilon, self.price_bound * float(high - low) ** 2, self.max_iter)
        mixture = mixed(found, self.epsilon)
        used = np.flatnonzero(mixture.weights)
        self.models_ = [prepared.whole(found[place].model) for place in used]
        self.weights_ = mixture.weights[used]
        self.loss_, self.excess_, self.n_iter_ = mixture.loss, mixture.excess, self.max_iter

    def _regress(self, X: Any, group: Codes) -> Floats:  # noqa: ARG002
        each = self.predict_each(X)
        if not self.draw:
            return np.asarray(each @ self.weights_)
        chances = np.cumsum(self.weights_)[:-1]
        chosen = np.searchsorted(chances, self._lots(len(each)), side="right")
        return np.asarray(each[np.arange(len(each)), chosen])
