"""One model on the same rows, again and again, with other labels and weights each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from evenhand.mitigation.estimators import weight_parameter

SPARSE_ENOUGH = 0.5  # with fewer entries than this that are not zero, a sparse product is faster


@dataclass(frozen=True, eq=False)
class Refitting:
    """A model and the features it is fitted to, prepared once.

    A pipeline's transformers are fitted once, with the true labels, and not again for the labels
    and weights that follow. Logistic regression starts where an earlier fit ended, and reads an
    array that is mostly zeros as a sparse one; its optimum is the same.
    """

    model: Any
    X: Any
    transformers: Pipeline | None = None

    @classmethod
    def prepare(cls, estimator: Any, X: Any, y: Any) -> Refitting:
        """Fit the transformers, if there are any, and transform the features."""
        estimator = LogisticRegression(max_iter=1000) if estimator is None else estimator
        transformers = None
        if isinstance(estimator, Pipeline):
            if len(estimator) > 1:
                transformers = clone(estimator[:-1])
                X = transformers.fit_transform(X, y)
            estimator = estimator[-1]
        if isinstance(estimator, LogisticRegression) and _mostly_zero(X):
            X = sparse.csr_array(X)
        return cls(estimator, X, transformers)

    def rows(self, which: NDArray[np.intp]) -> Refitting:
        """The same model with these rows, which may repeat."""
        return Refitting(self.model, _safe_indexing(self.X, which), self.transformers)

    def alike(self, kind: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """One row for each set of rows alike in features and kind, and each row's set.

        Logistic regression sees no difference between rows alike and one of their weight; other
        models may, and keep all rows. Rows are told apart by a random sum, and then compared.
        """
        everyone = np.arange(len(kind))
        if not isinstance(self.model, LogisticRegression) or not _is_numeric(self.X):
            return everyone, everyone
        random = np.random.default_rng(0).random(self.X.shape[1])
        keys = self.X @ random + 1j * kind
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        unlike = self.X[first[inverse]] != self.X
        return (everyone, everyone) if unlike.sum() else (first, inverse)

    def fit(self, labels: NDArray[Any], weight: NDArray[np.float64], start: Any = None) -> Any:
        """The model fitted to labels and weights; one label only makes it a constant.

        `start` is an earlier fit to begin from.
        """
        if (labels == labels[0]).all():
            return DummyClassifier(strategy="constant", constant=labels[0]).fit(self.X, labels)
        name, model = weight_parameter(self.model), clone(self.model)
        if not isinstance(model, LogisticRegression) or not isinstance(start, LogisticRegression):
            return model.fit(self.X, labels, **{name: weight})
        model.coef_, model.intercept_ = start.coef_, start.intercept_
        model.set_params(warm_start=True).fit(self.X, labels, sample_weight=weight)
        return model.set_params(warm_start=self.model.warm_start)

    def whole(self, model: Any) -> Any:
        """A fitted model that reads the features as they were before they were prepared."""
        if self.transformers is None:
            return model
        return Pipeline([*self.transformers.steps, ("model", model)])


def _mostly_zero(X: Any) -> bool:
    if not isinstance(X, np.ndarray) or not _is_numeric(X):
        return False
    return bool(np.count_nonzero(X) < SPARSE_ENOUGH * X.size)


def _is_numeric(X: Any) -> bool:
    return bool(X.dtype.kind in "iuf") if hasattr(X, "dtype") else False
