"""fairlearn's mitigation by its own names, on equivalent estimators of ours.

fairlearn takes the groups as a separate argument, our estimators as columns of X; this module adds
them to X.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from evenhand._errors import InputError
from evenhand.compat._constraints import KEEP, BoundedGroupLoss, UtilityParity
from evenhand.compat._features import read_features
from evenhand.mitigation import (
    BoundedGroupLossRegressor,
    RateConstrainedClassifier,
    ReductionClassifier,
)

Floats = NDArray[np.float64]
CRITERIA = {
    "demographic_parity": "statistical_parity",
    "selection_rate_parity": "statistical_parity",
    "true_positive_rate_parity": "equal_opportunity",
    "false_negative_rate_parity": "equal_opportunity",
    "false_positive_rate_parity": "predictive_equality",
    "true_negative_rate_parity": "predictive_equality",
    "equalized_odds": "equalized_odds",
}
OBJECTIVES = ("accuracy_score", "balanced_accuracy_score")


class _SeparateGroups(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that takes the groups separately from X."""

    def _read(self, X: Any, features: Any) -> tuple[Any, list[Any]]:
        """X with a column of codes for each feature, and the names of these columns."""
        read = read_features(features, "sensitive_feature_", len(X))
        self._levels = [feature.levels for feature in read]
        return _joined(X, np.column_stack([feature.codes for feature in read]))

    def _with_groups(self, X: Any, features: Any) -> Any:
        """X with the same columns as at fit."""
        read = read_features(features, "sensitive_feature_", len(X))
        if len(read) != len(self._levels):
            raise InputError(
                f"There are {len(read)} sensitive features, and there were {len(self._levels)} "
                "at fit."
            )
        columns = []
        for feature, levels in zip(read, self._levels, strict=True):
            places = levels.get_indexer(feature.levels)
            if (places < 0).any():
                unseen = list(feature.levels[places < 0])
                raise InputError(
                    f"{feature.name} takes values that were not seen at fit: {unseen}. Fit with "
                    "rows of these groups."
                )
            columns.append(places[feature.codes])
        return _joined(X, np.column_stack(columns))[0]

    def _without_groups(self, X: Any) -> Any:
        """X with empty columns in place of groups, for a model that does not read them."""
        return _joined(X, np.zeros((len(X), len(self._levels)), np.intp))[0]

    def _refuse_others(self, why: str, **expected: Any) -> None:
        """Refuse arguments that have no effect here, unless they are fairlearn's defaults."""
        for name, usual in expected.items():
            given = getattr(self, name)
            if given is not usual and given != usual:
                raise InputError(f"{name}={given!r} means nothing here: {why} {KEEP}")


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdOptimizer(_SeparateGroups):
    """Post-processes a classifier by a threshold, or a mixture of two, for each group.

    It is `RateConstrainedClassifier`: the optimum is exact, not on a grid. Constraints given the
    true label use the base model's probabilities, where fairlearn uses the labels of the fitting
    rows; a model that is miscalibrated in a group leaves a gap there.

    Parameters
    ----------
    estimator : classifier
        The base model, with predict_proba.
    constraints : str, default "demographic_parity"
        Which rates must be equal, by fairlearn's names.
    objective : {"accuracy_score", "balanced_accuracy_score"}, default "accuracy_score"
        What is maximized.
    grid_size : int, default 1000
        Not used: there is no grid.
    flip : bool, default False
        Whether rules may prefer lower scores.
    prefit : bool, default False
        Whether the estimator is fitted already.
    predict_method : {"auto", "predict_proba"}, default "auto"
        What is asked of the base model.
    tol : float, default None
        The largest difference of the rates; None makes them equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from evenhand.compat.fairlearn import ThresholdOptimizer
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = random.normal(group)[:, None]
    >>> y = (X[:, 0] + random.normal(size=500) > 0.5).astype(int)
    >>> model = ThresholdOptimizer(estimator=LogisticRegression())
    >>> model = model.fit(X, y, sensitive_features=group)
    >>> model.predict(X, sensitive_features=group, random_state=0).shape
    (500,)

    """

    estimator: Any = None
    constraints: str = "demographic_parity"
    objective: str = "accuracy_score"
    grid_size: int = 1000
    flip: bool = False
    prefit: bool = False
    predict_method: str = "auto"
    tol: float | None = None

    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Fit the base model, and a rule for each group.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            What the base model reads.
        y : array-like of shape (n_rows,)
            The true labels, 0 and 1.
        sensitive_features : array-like, dict or dataframe
            The groups, a column or several.

        Returns
        -------
        ThresholdOptimizer
            This estimator, fitted; ours is its `interpolated_thresholder_`.

        """
        if self.constraints not in CRITERIA:
            raise InputError(f"constraints is {self.constraints!r}; there are {list(CRITERIA)}.")
        if self.objective not in OBJECTIVES:
            raise InputError(
                f"objective is {self.objective!r}; evenhand maximizes one of {list(OBJECTIVES)}. "
                f"{KEEP}"
            )
        if self.predict_method not in ("auto", "predict_proba"):
            raise InputError(
                f"predict_method is {self.predict_method!r}; evenhand's rules are made from "
                f"predict_proba. Wrap the model in scikit-learn's CalibratedClassifierCV. {KEEP}"
            )
        truth = _labels(y)
        rows, group = self._read(X, sensitive_features)
        share = truth.mean()
        balanced = [[0.0, 0.5 / (1 - share)], [0.5 / share, 0.0]]
        self.interpolated_thresholder_ = RateConstrainedClassifier(
            self.estimator,
            group=group,
            sees_group=False,
            prefit=self.prefit,
            criterion=CRITERIA[self.constraints],
            epsilon=0.0 if self.tol is None else self.tol,
            cost=balanced if self.objective == "balanced_accuracy_score" else None,
            favorable=1,
            rising=not self.flip,
            random_state=0,
        ).fit(rows, truth)
        self.estimator_ = self.interpolated_thresholder_.estimator_
        return self

    def predict(self, X: Any, *, sensitive_features: Any, random_state: Any = None) -> Any:
        """The labels 0 and 1, at random where the rule mixes two thresholds.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            What the base model reads.
        sensitive_features : array-like, dict or dataframe
            The groups, as at fit.
        random_state : int, RandomState or None, default None
            From what is drawn.

        Returns
        -------
        ndarray of shape (n_rows,)
            0 or 1.

        """
        chance = self._pmf_predict(X, sensitive_features=sensitive_features)[:, 1]
        return _drawn(chance, random_state)

    def _pmf_predict(self, X: Any, *, sensitive_features: Any) -> Floats:
        check_is_fitted(self)
        rows = self._with_groups(X, sensitive_features)
        chances: Floats = self.interpolated_thresholder_.predict_proba(rows)
        return chances


@dataclass(eq=False, repr=False)
class ExponentiatedGradient(_SeparateGroups):
    """A lottery over classifiers, each fitted to labels and weights that trade error for parity.

    It is `ReductionClassifier`. The game is solved by a linear program in every round, so that
    fairlearn's settings of the learning rate have no effect.

    Parameters
    ----------
    estimator : classifier
        The base model, whose fit takes sample weights.
    constraints : DemographicParity, EqualizedOdds, TruePositiveRateParity or \
FalsePositiveRateParity
        What must be how equal.
    objective : None
        The error is minimized; anything else is refused.
    eps : float, default 0.01
        How soft the constraint is: excess is penalized by at most 1/eps.
    max_iter : int, default 50
        The most rounds.
    nu, eta0, run_linprog_step, sample_weight_name : optional
        As in fairlearn by default; anything else is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from evenhand.compat.fairlearn import DemographicParity, ExponentiatedGradient
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = random.normal(group)[:, None]
    >>> y = (X[:, 0] + random.normal(size=500) > 0.5).astype(int)
    >>> model = ExponentiatedGradient(LogisticRegression(), DemographicParity())
    >>> model.fit(X, y, sensitive_features=group).predict(X, random_state=0).shape
    (500,)

    """

    estimator: Any
    constraints: Any
    _: KW_ONLY
    objective: Any = None
    eps: float = 0.01
    max_iter: int = 50
    nu: float | None = None
    eta0: float = 2.0
    run_linprog_step: bool = True
    sample_weight_name: str = "sample_weight"

    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Play the game.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            What the base model reads.
        y : array-like of shape (n_rows,)
            The true labels, 0 and 1.
        sensitive_features : array-like, dict or dataframe
            The groups, a column or several.

        Returns
        -------
        ExponentiatedGradient
            This estimator, fitted, with the models `predictors_` and their chances `weights_`.

        """
        if not isinstance(self.constraints, UtilityParity):
            raise InputError(
                f"constraints is {self.constraints!r}; evenhand's reduction takes "
                "DemographicParity, EqualizedOdds, TruePositiveRateParity or "
                f"FalsePositiveRateParity. {KEEP}"
            )
        why = "evenhand minimizes the error, by a linear program in every round."
        usual = {"objective": None, "nu": None, "eta0": 2.0, "run_linprog_step": True}
        self._refuse_others(why, **usual)
        why = "evenhand finds by which name the base model takes weights."
        self._refuse_others(why, sample_weight_name="sample_weight")
        rows, group = self._read(X, sensitive_features)
        self._ours = ReductionClassifier(
            self.estimator,
            group=group,
            sees_group=False,
            criterion=self.constraints.criterion,
            epsilon=self.constraints.difference_bound,
            softness=self.eps,
            max_iter=self.max_iter,
            favorable=1,
        ).fit(rows, _labels(y))
        self.predictors_, self.weights_ = self._ours.estimators_, self._ours.chances_
        self.best_gap_ = self._ours.gap_
        return self

    def predict(self, X: Any, random_state: Any = None) -> Any:
        """The labels 0 and 1, by a model that is drawn for each row.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            What the base model reads.
        random_state : int, RandomState or None, default None
            From what is drawn.

        Returns
        -------
        ndarray of shape (n_rows,)
            0 or 1.

        """
        return _drawn(self._pmf_predict(X)[:, 1], random_state)

    def _pmf_predict(self, X: Any) -> Floats:
        check_is_fitted(self)
        chances: Floats = self._ours.predict_proba(self._without_groups(X))
        return chances


@dataclass(eq=False, repr=False)
class GridSearch(_SeparateGroups):
    """Weighs the groups so that both the mean loss and the worst group's loss are small.

    It is `BoundedGroupLossRegressor`, and takes `BoundedGroupLoss` alone; for the parity of
    classifiers use `ExponentiatedGradient`.

    Parameters
    ----------
    estimator : regressor
        The base model, whose fit takes sample weights.
    constraints : BoundedGroupLoss
        Which loss of the worst group matters.
    selection_rule : str, default "tradeoff_optimization"
        The only rule there is; anything else is refused.
    constraint_weight : float, default 0.5
        From 0 (the mean loss alone) to 1 (the worst group alone).
    grid_size : int, default 10
        How many weightings are tried at most.
    grid_limit, grid_offset, grid, sample_weight_name : optional
        As in fairlearn by default; anything else is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from evenhand.compat.fairlearn import BoundedGroupLoss, GridSearch, SquareLoss
    >>> X, group = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> model = GridSearch(LinearRegression(), BoundedGroupLoss(SquareLoss(0, 10)))
    >>> model.fit(X, X[:, 0], sensitive_features=group).predict(X).round(3)
    array([0., 1., 2., 3., 4., 5., 6., 7.])

    """

    estimator: Any
    constraints: Any
    selection_rule: str = "tradeoff_optimization"
    constraint_weight: float = 0.5
    grid_size: int = 10
    grid_limit: float = 2.0
    grid_offset: Any = None
    grid: Any = None
    sample_weight_name: str = "sample_weight"

    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Try the weightings, and keep the best model.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            What the base model reads.
        y : array-like of shape (n_rows,)
            The targets.
        sensitive_features : array-like, dict or dataframe
            The groups, a column or several.

        Returns
        -------
        GridSearch
            This estimator, fitted; `estimator_` is the best model.

        """
        if not isinstance(self.constraints, BoundedGroupLoss):
            raise InputError(
                f"constraints is {self.constraints!r}; evenhand's grid takes BoundedGroupLoss. For "
                f"parity of classifiers use ExponentiatedGradient. {KEEP}"
            )
        why = "evenhand spreads its own grid over the weights of the groups."
        rule = {"selection_rule": "tradeoff_optimization", "grid_limit": 2.0}
        self._refuse_others(why, **rule, grid_offset=None, grid=None)
        why = "evenhand finds by which name the base model takes weights."
        self._refuse_others(why, sample_weight_name="sample_weight")
        rows, group = self._read(X, sensitive_features)
        loss = self.constraints.loss
        self._ours = BoundedGroupLossRegressor(
            self.estimator,
            group=group,
            sees_group=False,
            constraint_weight=self.constraint_weight,
            grid_size=self.grid_size,
            loss=loss.name,
            bounds=(loss.min_val, loss.max_val),
        ).fit(rows, np.asarray(y))
        self.estimator_ = self._ours.estimator_
        return self

    def predict(self, X: Any) -> Any:
        """The predictions of the best model.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_columns)
            What the base model reads.

        Returns
        -------
        ndarray of shape (n_rows,)
            The predictions.

        """
        check_is_fitted(self)
        return self._ours.predict(self._without_groups(X))


def _joined(X: Any, codes: NDArray[Any]) -> tuple[Any, list[Any]]:
    """X with the codes appended to its columns, and the names of these."""
    if not hasattr(X, "assign"):
        features = np.asarray(X)
        places = range(features.shape[1], features.shape[1] + codes.shape[1])
        return np.column_stack([features, codes]), list(places)
    names: list[Any] = []
    for place in range(codes.shape[1]):
        name = f"sensitive_feature_{place}"
        while name in X.columns:
            name += "_"
        names.append(name)
    return X.assign(**dict(zip(names, codes.T, strict=True))), names


def _labels(y: Any) -> NDArray[Any]:
    """The labels, checked to be 0 and 1."""
    labels = np.asarray(y).reshape(-1)
    if set(np.unique(labels).tolist()) != {0, 1}:
        raise InputError(
            "Labels other than 0/1 were provided.",
            f"y takes the values {np.unique(labels).tolist()[:5]}; it must take 0 and 1, both.",
        )
    return labels.astype(np.intp)


def _drawn(chance: Floats, random_state: Any) -> NDArray[np.intp]:
    draws: Floats = check_random_state(random_state).rand(len(chance))
    return (chance >= draws).astype(np.intp)
