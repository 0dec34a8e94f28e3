"""What all classification methods share: they decide, maybe by lot, for rows of known groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_consistent_length,
    check_is_fitted,
)

from evenhand.groups import show
from evenhand.mitigation.reader import Codes, GroupReader, Rows
from evenhand.mitigation.sensitive import Sensitive
from evenhand.mitigation.underlying import class_probabilities, fit_underlying

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
            raise ValueError(f"y holds one class only ({self.classes_[0]}); two are needed.")
        found = {"classes": tuple(self.classes_), "groups": self.sensitive_.labels}
        scope = {"classes": "Only binary classification is", "groups": "Only two groups are"}
        for quantity in self._needs_two:
            if len(found[quantity]) > 2:
                listed = ", ".join(map(show, found[quantity][:6]))
                raise ValueError(
                    f"{scope[quantity]} supported by {type(self).__name__}, and there are "
                    f"{len(found[quantity])} {quantity} ({listed}): use one of "
                    f"{', '.join(able(quantity))}, which take any number."
                )


def able(quantity: Quantity) -> list[str]:
    """The classifiers that take any number of classes, or of groups."""
    from evenhand.mitigation.catalogue import METHODS

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
