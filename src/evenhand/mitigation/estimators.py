"""What all classification methods share: they decide, maybe by lot, for rows of known groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from evenhand._columns.encoding import finite
from evenhand._errors import InputError, InputTypeError
from evenhand._groups import show
from evenhand.mitigation._parameters import NamedParameters
from evenhand.mitigation.groups import Bins, Sensitive, column_of, is_frame


def fit_underlying(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    prefit: bool = False,
    default: Any = None,
) -> Any:
    """A fitted clone of the estimator, or the estimator itself where it is already fitted.

    None stands for `default`, and that for logistic regression.
    """
    if prefit:
        if estimator is None:
            raise InputError("prefit=True needs an estimator that was fitted before; it got None.")
        check_is_fitted(estimator)
        return estimator
    if estimator is None:
        estimator = default if default is not None else LogisticRegression(max_iter=1000)
    weights = {} if sample_weight is None else {weight_parameter(estimator): sample_weight}
    return clone(estimator).fit(X, y, **weights)


def weight_parameter(estimator: Any) -> str:
    """By which name an estimator's fit takes sample weights; a pipeline hands them to its end."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    kinds = [one.kind for one in signature(estimator.fit).parameters.values()]
    if has_fit_parameter(estimator, "sample_weight") or Parameter.VAR_KEYWORD in kinds:
        return "sample_weight"
    raise InputError(
        f"{type(estimator).__name__} takes no sample weights; use an estimator whose fit does."
    )


def class_probabilities(model: Any, X: Any, classes: Any = None) -> NDArray[np.float64]:
    """The model's P(class | x), a column for each of `classes` (by default its own)."""
    if not hasattr(model, "predict_proba"):
        raise InputTypeError(
            f"{type(model).__name__} has no predict_proba; wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use another estimator."
        )
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    if classes is None or np.array_equal(classes, model.classes_):
        return probabilities
    place = {label: column for column, label in enumerate(classes)}
    absent = [label for label in model.classes_ if label not in place]
    if absent:
        raise InputError(f"The model knows the class {absent[0]!r}, which is not in y.")
    aligned = np.zeros((len(probabilities), len(place)))
    aligned[:, [place[label] for label in model.classes_]] = probabilities
    return aligned


Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """The fitting rows: X as given, y (classes by number), and the number of each row's group.

    `sample_weight` is None where none was given; `weight` is then 1 in every row.
    """

    X: Any
    y: NDArray[Any]
    group: Codes
    sample_weight: NDArray[np.float64] | None

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each row."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight


class GroupReader(MetaEstimatorMixin, NamedParameters):  # type: ignore[misc]
    """An estimator whose X holds the group columns, of which the base model may see none.

    Parameters
    ----------
    estimator : estimator or None
        The base model; None is logistic regression, or least squares for a regression.
    group : str, int, or list of these
        The column or columns of X that name the group (positions where X is an array).
    bins : int or dict
        Into how many quantile bins numeric group columns are cut; None cuts nothing.
    sees_group : bool
        Whether the base model sees the group columns too.
    prefit : bool
        The estimator is already fitted (on the columns it is meant to see), and used as it is.
    unseen : "error" or "base"
        What becomes of a row whose group was not seen at fit: an error, or the base prediction.
    draw : bool
        Where a method decides by lot: whether `predict` draws, or takes the most probable answer.
    random_state : int, RandomState or None
        For the draws; an int gives the same answer for the same rows.

    """

    _reads_group: ClassVar[bool] = True
    sensitive_: Sensitive

    def __init__(
        self,
        estimator: Any = None,
        *,
        group: Any = None,
        bins: Bins = None,
        sees_group: bool = True,
        prefit: bool = False,
        unseen: Literal["error", "base"] = "error",
        draw: bool = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.group = group
        self.bins = bins
        self.sees_group = sees_group
        self.prefit = prefit
        self.unseen = unseen
        self.draw = draw
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _asks_group(self) -> bool:
        """Whether `predict` needs the group, with these parameters."""
        return self._reads_group

    def _checked(self, X: Any, reset: bool) -> Any:
        """X as scikit-learn wants it; a dataframe stays one.

        A method that does not read the group takes dataframes without it, where the base model
        does not see it either.
        """
        if not is_frame(X):
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=["csr", "csc"],
                dtype=None,
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
            )
        if reset or self._asks_group() or self.sees_group:
            validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _features(self, X: Any) -> Any:
        """What the base model reads of X."""
        return self.sensitive_.features(X, self.sees_group)

    def _groups(self, X: Any) -> Codes:
        """The number of each row's group; −1 if unseen at fit, or if the method never asks."""
        if not self._asks_group():
            return np.full(X.shape[0], -1, np.intp)
        codes = self.sensitive_.codes(X)
        if self.unseen == "error" and (codes < 0).any():
            strangers = ", ".join(map(show, self.sensitive_.unseen(X)))
            seen = ", ".join(map(show, self.sensitive_.labels))
            raise InputError(
                f"X has groups that were not seen at fit: {strangers} (seen: {seen}). "
                'Fit with them, or pass unseen="base" to give them the base model\'s prediction.'
            )
        return codes


Probabilities = NDArray[np.float64]
Quantity = Literal["classes", "groups"]


class GroupClassifier(ClassifierMixin, GroupReader, ABC):  # type: ignore[misc]
    """The abstract parent of the classification methods; a method adds `_fit` and `_decide`.

    Its parameters are those of `GroupReader`. A method that takes two classes or two groups only
    says so in `_needs_two`; one that never looks at the group in `predict`, by `_reads_group`.
    """

    _needs_two: ClassVar[tuple[Quantity, ...]] = ()
    classes_: NDArray[Any]
    notes_: tuple[str, ...]

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn from the rows; `classes_`, `sensitive_` and `notes_` are there already."""

    @abstractmethod
    def _decide(self, X: Any, group: Codes) -> Probabilities:
        """Probabilities of each class, for rows whose groups were all seen at fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the groups, the base model, and the method's own rule."""
        self._fit(self._read(X, y, sample_weight))
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """The fitting rows, checked, without those of weight 0; learns classes and groups."""
        X = self._checked(X, reset=True)
        labels = _check_y(y, estimator=self)
        check_classification_targets(labels)
        check_consistent_length(X, labels)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            there = np.flatnonzero(sample_weight)
            X, labels, sample_weight = _safe_indexing(X, there), labels[there], sample_weight[there]
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.sensitive_ = Sensitive.learn(X, self.group, self.bins)
        self.notes_ = ()
        self._refuse_unless_binary()
        return Rows(X, codes, self.sensitive_.codes(X), sample_weight)

    def predict_proba(self, X: Any) -> Probabilities:
        """The probability of each class in the decision, which may be made by lot."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group = self._groups(X)
        strangers = (group < 0) & self._asks_group()
        decided = self._decide(X, np.where(strangers, 0, group))
        if strangers.any():
            chosen = self._base_probabilities(X)[strangers].argmax(axis=1)
            decided = decided.copy()
            decided[strangers] = np.eye(len(self.classes_))[chosen]
        return decided

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row: drawn from `predict_proba`, or its most probable one."""
        probabilities = self.predict_proba(X)
        if self.draw:
            chosen = drawn(probabilities, check_random_state(self.random_state))
        else:
            chosen = probabilities.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = "classes" not in self._needs_two
        tags.classifier_tags.poor_score = True  # where groups differ, equal treatment has a price
        return tags

    def _fit_base(self, rows: Rows) -> Any:
        """The fitted base model, kept as `estimator_`."""
        self.estimator_ = fit_underlying(
            self.estimator,
            self._features(rows.X),
            self.classes_[rows.y],
            rows.sample_weight,
            self.prefit,
        )
        return self.estimator_

    def _base_probabilities(self, X: Any) -> Probabilities:
        """The base model's probabilities, in the order of `classes_`."""
        return class_probabilities(self.estimator_, self._features(X), self.classes_)

    def _refuse_unless_binary(self) -> None:
        """Refuse what `_needs_two` excludes, and name the methods that take it."""
        if len(self.classes_) < 2:
            raise InputError(f"y holds one class only ({self.classes_[0]}); two are needed.")
        found = {"classes": tuple(self.classes_), "groups": self.sensitive_.labels}
        scope = {"classes": "Only binary classification is", "groups": "Only two groups are"}
        for quantity in self._needs_two:
            if len(found[quantity]) > 2:
                listed = ", ".join(map(show, found[quantity][:6]))
                raise InputError(
                    f"{scope[quantity]} supported by {type(self).__name__}, and there are "
                    f"{len(found[quantity])} {quantity} ({listed}): use one of "
                    f"{', '.join(able(quantity))}, which take any number."
                )


def able(quantity: Quantity) -> list[str]:
    """The classifiers that take any number of classes, or of groups."""
    from evenhand.mitigation.methods import METHODS

    able_ones = [
        method.estimator.__name__
        for method in METHODS.values()
        if method.task == "classification" and getattr(method, quantity) == "any"
    ]
    return sorted(set(able_ones))


def drawn(probabilities: Probabilities, random: np.random.RandomState) -> NDArray[np.intp]:
    """One column for each row, drawn with the row's probabilities."""
    thresholds = np.cumsum(probabilities, axis=1)
    lots = random.random_sample(len(probabilities)) * thresholds[:, -1]
    return np.asarray((lots[:, None] >= thresholds[:, :-1]).sum(axis=1), dtype=np.intp)


Floats = NDArray[np.float64]


class GroupRegressor(RegressorMixin, GroupReader, ABC):  # type: ignore[misc]
    """The abstract parent of the regression methods; a method adds `_fit` and `_regress`.

    Its parameters are those of `GroupReader`. Rows of weight 0 are not there: a group that has no
    others was not seen.
    """

    notes_: tuple[str, ...]

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn from the rows; `sensitive_` and `notes_` are there already."""

    @abstractmethod
    def _regress(self, X: Any, group: Codes) -> Floats:
        """A value for each row, whose groups were all seen at fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the groups, the base model, and the method's own rule."""
        X = self._checked(X, reset=True)
        y = np.asarray(_check_y(y, y_numeric=True, estimator=self), dtype=np.float64)
        check_consistent_length(X, y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            there = np.flatnonzero(sample_weight)
            X, y, sample_weight = _safe_indexing(X, there), y[there], sample_weight[there]
        self.sensitive_ = Sensitive.learn(X, self.group, self.bins)
        self.notes_ = ()
        self._fit(Rows(X, y, self.sensitive_.codes(X), sample_weight))
        return self

    def predict(self, X: Any) -> Floats:
        """A value for each row."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group = self._groups(X)
        strangers = (group < 0) & self._reads_group
        values = self._regress(X, np.where(strangers, 0, group))
        return np.where(strangers, self._base(X), values) if strangers.any() else values

    def _fit_base(self, rows: Rows) -> Floats:
        """Fit the base model, kept as `estimator_`, and predict the fitting rows with it."""
        features = self._features(rows.X)
        self.estimator_ = fit_underlying(
            self.estimator, features, rows.y, rows.sample_weight, self.prefit, LinearRegression()
        )
        return self._base(rows.X)

    def _base(self, X: Any) -> Floats:
        """The base model's predictions."""
        return finite(np.ravel(self.estimator_.predict(self._features(X))), "the base prediction")

    def _lots(self, rows: int) -> Floats:
        """A number from 0 to 1 for each row, drawn with `random_state`."""
        return np.asarray(check_random_state(self.random_state).random_sample(rows))


def shares(group: Codes, weight: Floats) -> Floats:
    """The part of all weight that each group has."""
    sums = np.bincount(group, weight)
    return np.asarray(sums / sums.sum())


class GivenScores(RegressorMixin, NamedParameters):  # type: ignore[misc]
    """A regressor that reads its predictions from a column of X, and learns nothing.

    Give it to a method as `estimator` to adjust scores that another model made: the column is
    named, so that no feature is ever taken for a score by accident.

    Parameters
    ----------
    column : str or int
        The column that holds the scores (a position where X is an array).

    >>> GivenScores(column=1).fit([[7, 0.5], [8, 0.25]]).predict(np.array([[9, 0.75]]))
    array([0.75])

    """

    def __init__(self, column: Any) -> None:
        self.column = column

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Nothing to learn."""
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The scores."""
        return finite(column_of(X, self.column), f"the column of scores {self.column!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return True
