"""Base classes of classification and regression methods: a base model, and a rule on top."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from evenhand._columns.encoding import finite
from evenhand._data.groups import show
from evenhand._data.tasks import favorable_label
from evenhand._errors import InputError, refusing
from evenhand.mitigation._lots import drawn
from evenhand.mitigation._sklearn import checked_target
from evenhand.mitigation.base_models import class_probabilities, fit_underlying
from evenhand.mitigation.deploy import Grouping
from evenhand.mitigation.group_reader import Codes, Floats, GroupReader, Rows, able

Quantity = Literal["classes", "groups"]


class GroupClassifier(ClassifierMixin, GroupReader, ABC):  # type: ignore[misc]
    """The abstract parent of the classification methods; a method adds `_fit` and `_decide`.

    A method that takes two classes or two groups only says so in `_needs_two`; one that never
    looks at the group in `predict`, by `_reads_group`.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen at fit, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import GroupClassifier
    >>> class Impartial(GroupClassifier):
    ...     "Draws every class with its share of the fitting rows."
    ...
    ...     def _fit(self, rows):
    ...         self.shares_ = np.bincount(rows.y) / len(rows.y)
    ...
    ...     def _decide(self, X, group):
    ...         return np.tile(self.shares_, (len(X), 1))
    >>> X, y = np.array([[0, 2.0], [1, 3.0], [0, 5.0], [1, 8.0]]), ["no", "no", "no", "yes"]
    >>> Impartial(group=0).fit(X, y).predict_proba(X[:1])
    array([[0.75, 0.25]])

    """

    _needs_two: ClassVar[tuple[Quantity, ...]] = ()
    favorable: Any = field(default=None, init=False)
    classes_: NDArray[Any] = field(init=False)

    @abstractmethod
    def _decide(self, X: Any, group: Codes) -> Floats:
        """Probabilities of each class, for rows whose groups were all seen at fit."""

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class in the decision, which may be made at random.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            A column for each of `classes_`.

        """
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
        """A class for each row: drawn from `predict_proba`, or its most probable one.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The classes.

        """
        probabilities = self.predict_proba(X)
        chosen = probabilities.argmax(axis=1)
        by_lot = np.flatnonzero(probabilities.max(axis=1) < 1)
        if self.draw and len(by_lot):
            lots_of = self._lots(self._checked(X, reset=False), only=by_lot)
            chosen[by_lot] = drawn(probabilities[by_lot], lots_of)
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = "classes" not in self._needs_two
        tags.classifier_tags.poor_score = True  # where groups differ, equal treatment has a price
        return tags

    def _note_shared_draws(self, rows: Rows) -> None:
        chances = self._decide(rows.X, rows.group)
        at_random = np.flatnonzero(chances.max(axis=1) < 1)

        def bounded(lots: Floats) -> tuple[float, float] | None:
            decided = chances.copy()
            decided[at_random] = np.eye(len(self.classes_))[drawn(chances[at_random], lots)]
            return self._bounded(rows, decided)

        self._note_ties(rows, at_random, bounded)

    def _bounded(self, rows: Rows, decided: Floats) -> tuple[float, float] | None:  # noqa: ARG002
        """The bounded quantity of decisions on the fitting rows, and the bound."""
        return None

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        X = self._checked(X, reset=True)
        labels = checked_target(y, self)
        with refusing("y cannot be classified"):
            check_classification_targets(labels)
        rows = self._rows(X, labels, sample_weight)
        self.classes_, codes = np.unique(rows.y, return_inverse=True)
        self._refuse_unless_binary()
        return Rows(rows.X, codes, rows.group, rows.sample_weight)

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

    def _base_probabilities(self, X: Any) -> Floats:
        """The base model's probabilities, in the order of `classes_`."""
        return class_probabilities(self.estimator_, self._features(X), self.classes_)

    def _rule_names(self) -> dict[str, Any]:
        """The names of a rule's classes, and of its groups if it uses them."""
        names = {"classes": self.classes_.tolist()}
        if self._asks_group():
            sensitive = self.sensitive_
            names |= {
                "columns": sensitive.columns,
                "groups": sensitive.labels,
                "cuts": sensitive.cuts,
            }
        return names

    def _favorable_place(self, matters: bool) -> int:
        """The place of the favorable label among two; required where it matters and is not given.

        Where it neither matters nor is given, it is the last.
        """
        labels = self.classes_.tolist()
        label = favorable_label(labels, self.favorable, required=matters)
        return len(labels) - 1 if label is None else int(labels.index(label))

    def _refuse_unless_binary(self) -> None:
        """Refuse data that `_needs_two` excludes, and name the methods that take them."""
        if len(self.classes_) < 2:
            raise InputError(f"y holds one class only ({self.classes_[0]}); two are needed.")
        present = {"classes": tuple(self.classes_), "groups": self.sensitive_.labels}
        scope = {"classes": "Only binary classification is", "groups": "Only two groups are"}
        for quantity in self._needs_two:
            if len(present[quantity]) > 2:
                listed = ", ".join(map(show, present[quantity][:6]))
                alternatives = able(GroupClassifier, partial(_takes_any, quantity))
                raise InputError(
                    f"{scope[quantity]} supported by {type(self).__name__}, and there are "
                    f"{len(present[quantity])} {quantity} ({listed}): use one of "
                    f"{', '.join(alternatives)}, which take any number."
                )


class GroupRegressor(RegressorMixin, GroupReader, ABC):  # type: ignore[misc]
    """The abstract parent of the regression methods; a method adds `_fit` and `_regress`.

    Rows of weight 0 are not there: a group that has no others was not seen.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import GroupRegressor
    >>> class Level(GroupRegressor):
    ...     "Predicts the mean of the fitting rows for everyone."
    ...
    ...     def _fit(self, rows):
    ...         self.mean_ = np.average(rows.y, weights=rows.sample_weight)
    ...
    ...     def _regress(self, X, group):
    ...         return np.full(len(X), self.mean_)
    >>> X = np.array([[0, 2.0], [1, 3.0], [0, 5.0], [1, 8.0]])
    >>> Level(group=0).fit(X, [1.0, 2.0, 3.0, 4.0]).predict(X[:2])
    array([2.5, 2.5])

    """

    @abstractmethod
    def _regress(self, X: Any, group: Codes) -> Floats:
        """A value for each row, whose groups were all seen at fit."""

    def predict(self, X: Any) -> Floats:
        """A value for each row.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The values.

        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group = self._groups(X)
        strangers = (group < 0) & self._reads_group
        values = self._regress(X, np.where(strangers, 0, group))
        return np.where(strangers, self._base(X), values) if strangers.any() else values

    def _note_shared_draws(self, rows: Rows) -> None:
        everyone = np.arange(len(rows.y))
        self._note_ties(rows, everyone, lambda lots: self._bounded(rows, lots))

    def _bounded(self, rows: Rows, lots: Floats) -> tuple[float, float] | None:  # noqa: ARG002
        """The bounded quantity where the fitting rows have these draws, and the bound."""
        return None

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        X = self._checked(X, reset=True)
        values = checked_target(y, self, numeric=True).astype(np.float64)
        return self._rows(X, values, sample_weight)

    def _fit_base(self, rows: Rows) -> Floats:
        """Fit the base model, kept as `estimator_`, and predict the fitting rows with it."""
        features = self._features(rows.X)
        self.estimator_ = fit_underlying(
            self.estimator, features, rows.y, rows.sample_weight, self.prefit, LinearRegression()
        )
        return self._base(rows.X)

    def _grouping(self) -> Grouping:
        """How a rule reads the group from columns."""
        sensitive = self.sensitive_
        return Grouping.of(sensitive.columns, sensitive.labels, sensitive.cuts)

    def _base(self, X: Any) -> Floats:
        """The base model's predictions."""
        return finite(np.ravel(self.estimator_.predict(self._features(X))), "the base prediction")


def _takes_any(quantity: Quantity, cls: type[GroupClassifier]) -> bool:
    """Whether a classifier takes any number of classes, or of groups."""
    return quantity not in cls._needs_two
