"""Small made-up people: a group in column 0, scores in the others, and a model that reads them."""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class ReadsScores(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probabilities are the columns of X after the first."""

    def __init__(self, classes=(0, 1)):
        self.classes = classes

    @property
    def classes_(self):
        return np.array(self.classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(X)[:, 1:].astype(float)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_is_fitted__(self):
        return True


class People(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    group: np.ndarray
    p: np.ndarray


def people(rows=200, classes=2, groups=2, seed=0, gap=0.8):
    """Rows whose probabilities differ by group, with labels drawn from them."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(rows) % groups)
    logits = rng.normal(size=(rows, classes)) * 1.5
    logits += gap * np.linspace(-1, 1, groups)[group, None] * np.linspace(-1, 1, classes)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (rng.random((rows, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return People(np.column_stack([group, p]), y, group, p)


def featured(rows=600, seed=0):
    """Rows with features, of which one tells the group: X, y, group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    features = rng.normal(size=(rows, 3)) + 0.7 * group[:, None] * [1, 0, 0]
    logit = features @ [1.0, 1.0, -0.5] + 0.8 * group - 0.8
    y = (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype(int)
    return np.column_stack([group, features]), y, group
