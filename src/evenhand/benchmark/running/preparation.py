"""What all methods on one split share: rows, groups, features, and the base model's scores."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import get_tags

from evenhand._data.groups import Groups, groups, show
from evenhand._errors import InputError
from evenhand.benchmark.predictions import BaseScores, Truth
from evenhand.datasets import split

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark.design.bases import Base
    from evenhand.datasets import Dataset, Split

Floats = NDArray[np.float64]
GROUP = "group"
MOST_CATEGORIES = 255  # more than scikit-learn's boosting takes; such a column is read as a number
FOLDS = 5  # of the calibration of a model that has no probabilities
OTHER_SEED = 1_000_003  # so that held-out rows are drawn independently of test rows


@dataclass(frozen=True, eq=False)
class Prepared:
    """A split of a data set for a base model: training rows first, then test rows.

    Parameters
    ----------
    dataset : Dataset
        The rows.
    base : Base
        The model underneath.
    seed : int
        Of the split, and of the model.
    favorable : int, optional
        The class that methods about one class favor.
    held_out : float, default 0.0
        The share of the training rows that is kept from the base model for post-processors.

    """

    dataset: Dataset
    base: Base
    seed: int
    favorable: int | None = None
    held_out: float = 0.0

    @property
    def n_classes(self) -> int:
        """How many classes; 0 for a regression."""
        return len(self.dataset.classes)

    @cached_property
    def halves(self) -> Split:
        """The numbers of training and test rows."""
        return split(self.dataset, seed=self.seed)

    @property
    def fitted(self) -> int:
        """How many training rows there are."""
        return len(self.halves.train)

    @cached_property
    def _parts(self) -> tuple[pd.DataFrame, NDArray[Any]]:
        return _joined(self.halves)

    @property
    def y(self) -> NDArray[Any]:
        """The target, normalized."""
        return self._parts[1]

    @cached_property
    def groups(self) -> Groups:
        """The groups."""
        return groups(self._parts[0][list(self.dataset.sensitive)])

    @cached_property
    def _encoded(self) -> tuple[Any, Any]:
        """The features, and the model that reads them."""
        model = self.base.estimator(self.dataset.kind, self.seed)
        hidden = self.dataset.sensitive if self.base.is_blind else ()
        X = self._parts[0][
            [column for column in self.dataset.model_columns if column not in hidden]
        ]
        return encoded(X, model, self.base, self.fitted)

    @property
    def matrix(self) -> Any:
        """The base model's features."""
        return self._encoded[0]

    @cached_property
    def model(self) -> Any:
        """The base model, not fitted: tuned, and with probabilities if it is a classifier."""
        model = self._encoded[1]
        if self.n_classes:
            model = calibrated(model, self.y[: self.fitted])
        if not self.base.tune:
            return model
        rows = self._learned
        return tuned(model, self.base.tune, _rows(self.matrix, rows), self.y[rows])

    @cached_property
    def featured(self) -> tuple[Any, Any]:
        """The base model's features with a column of group numbers, and that column's name."""
        group = self.groups.codes.astype(np.float64)
        if hasattr(self.matrix, "columns"):
            name = GROUP
            while name in self.matrix.columns:
                name += "_"
            return self.matrix.assign(**{name: group}), name
        if sparse.issparse(self.matrix):
            blocks = [self.matrix, sparse.csr_array(group[:, None])]
            matrix = sparse.csr_array(sparse.hstack(blocks, "csr"))
        else:
            matrix = np.column_stack([self.matrix, group])
        return matrix, matrix.shape[1] - 1

    def scores(self) -> BaseScores:
        """Fit the base model, and score every row."""
        started = time.thread_time()
        fits = self._held_out
        scores = self._scored(self._learned)
        about = self.about() | {"cpu_seconds": time.thread_time() - started, "notes": []}
        rows = np.concatenate([self.halves.train, self.halves.test])
        group = self.groups.codes.astype(np.intp)
        return BaseScores(rows, self._small_y, group, fits, scores, about)

    def truth(self, about: dict[str, Any]) -> Truth:
        """The truth of the test rows."""
        group = self.groups.codes[self.fitted :].astype(np.intp)
        return Truth(self.halves.test, self._small_y[self.fitted :], group, about)

    @property
    def _small_y(self) -> NDArray[Any]:
        return self.y.astype(np.min_scalar_type(self.n_classes)) if self.n_classes else self.y

    def about(self) -> dict[str, Any]:
        """Metadata of the data set and its split."""
        return self.dataset.metadata | {
            "title": self.dataset.title,
            "groups": [show(label) for label in self.groups.labels],
            "favorable": self.favorable,
            "seed": self.seed,
            "train": self.fitted,
            "test": len(self.halves.test),
        }

    def _scored(self, rows: NDArray[np.intp]) -> Floats:
        if self.base.is_truth:
            return self.y[:, None].astype(np.float64)
        model = self.model.fit(_rows(self.matrix, rows), self.y[rows])
        if not self.n_classes:
            return np.ravel(model.predict(self.matrix))[:, None].astype(np.float64)
        if hasattr(model, "predict_proba"):
            return aligned(model.predict_proba(self.matrix), model.classes_, self.n_classes)
        labels = np.asarray(model.predict(self.matrix), dtype=np.intp)
        return np.eye(self.n_classes)[labels]

    @cached_property
    def _learned(self) -> NDArray[np.intp]:
        """The training rows that the base model is fitted to."""
        return np.flatnonzero(~self._held_out[: self.fitted] | (not self.held_out))

    @cached_property
    def _held_out(self) -> NDArray[np.bool_]:
        """Which rows post-processors are fitted to: all training rows, or those held out."""
        fits = np.arange(len(self.y)) < self.fitted
        if self.held_out:
            train = self.halves.train
            X, y = self.dataset.X.iloc[train], self.dataset.y.iloc[train]
            inner = replace(self.dataset, X=X.reset_index(drop=True), y=y.reset_index(drop=True))
            seed = self.seed + OTHER_SEED
            fits[split(inner, seed=seed, test_size=self.held_out).train] = False
        return fits


def _joined(halves: Split) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Features and target, normalized, training rows first."""
    import pandas as pd

    parts = halves.normalized()
    X = pd.concat([parts.X_train, parts.X_test], ignore_index=True)
    return X, np.concatenate([parts.y_train.to_numpy(), parts.y_test.to_numpy()])


def _rows(X: Any, which: NDArray[np.intp]) -> Any:
    return X.iloc[which] if hasattr(X, "iloc") else X[which]


def encoded(X: pd.DataFrame, model: Any, base: Base, fitted: int) -> tuple[Any, Any]:
    """The features as the base model reads them, and the model, told which are categories."""
    parameters = model.get_params()
    tags = _tags(model)
    encoding: str = base.encoding
    if encoding == "auto":
        numbers = "onehot" if tags is not None and tags.sparse else "dense"
        encoding = "ordinal" if "categorical_features" in parameters else numbers
    if encoding == "none":
        return _named_columns(X), model
    if encoding == "ordinal":
        matrix, is_category = codes(X)
        if tags is None or not tags.allow_nan:
            matrix = np.nan_to_num(matrix)
        if "categorical_features" in parameters and "categorical_features" not in base.settings:
            model = model.set_params(categorical_features=is_category)
        return matrix, model
    matrix = indicators(X, np.arange(fitted))
    return (matrix.toarray() if encoding == "dense" else matrix), model


def _named_columns(X: pd.DataFrame) -> pd.DataFrame:
    """Columns that are not quantities as categories whose names are texts."""
    categorical = X.columns.difference(X.select_dtypes("number").columns)
    columns = {name: X[name].astype("category").cat.rename_categories(str) for name in categorical}
    return X.assign(**columns)


def _tags(model: Any) -> Any:
    """The input tags of an estimator; None if it has none."""
    try:
        return get_tags(model).input_tags
    except (AttributeError, TypeError):
        return None


def calibrated(model: Any, y: NDArray[Any]) -> Any:
    """A classifier with probabilities: itself, or by the sigmoid of its decision function.

    The sigmoid is fitted to cross-validated decisions, and the model to all rows. One that has
    nothing but labels is unchanged; they count as probabilities of 0 and 1.
    """
    if hasattr(model, "predict_proba") or not hasattr(model, "decision_function"):
        return model
    folds = int(min(FOLDS, np.unique(y, return_counts=True)[1].min()))
    return CalibratedClassifierCV(model, cv=max(folds, 2), ensemble=False)


def tuned(model: Any, tune: Mapping[str, Sequence[Any]], X: Any, y: NDArray[Any]) -> Any:
    """The model, not fitted, with the values that predict best in folds."""
    parameters = model.get_params()
    grid = {name if name in parameters else f"estimator__{name}": v for name, v in tune.items()}
    if lacking := [name for name in tune if not {name, f"estimator__{name}"} & set(parameters)]:
        raise InputError(
            f"{type(model).__name__} has no parameter {lacking[0]!r} to tune; it has "
            f"{', '.join(sorted(parameters))}."
        )
    metric = "neg_log_loss" if is_classifier(model) else "neg_mean_squared_error"
    search = GridSearchCV(model, {k: list(v) for k, v in grid.items()}, scoring=metric, refit=False)
    return clone(model).set_params(**search.fit(X, y).best_params_)


def indicators(X: pd.DataFrame, train: NDArray[np.intp]) -> sparse.csr_array:
    """Quantities as they are, and a 0/1 column for every category but the first.

    A missing category is one of its own, a missing quantity the mean, which is 0 after
    normalization. Columns that do not vary on the training rows are left out.
    """
    numeric = X.select_dtypes("number")
    blocks = [sparse.csr_array(np.nan_to_num(numeric.to_numpy(dtype=np.float64)))]
    categories = [_codes(X[name]) for name in X.columns if name not in numeric]
    if categories:
        blocks.append(OneHotEncoder(drop="first").fit_transform(np.column_stack(categories)))
    matrix = sparse.csr_array(sparse.hstack(blocks, format="csr"))
    return sparse.csr_array(VarianceThreshold().fit(matrix[train]).transform(matrix))


def codes(X: pd.DataFrame) -> tuple[Floats, NDArray[np.bool_]]:
    """One column for each of X, categories by number, and which columns are categories."""
    numeric = set(X.select_dtypes("number").columns)
    columns, is_category = [], []
    for name in X.columns:
        if name in numeric:
            columns.append(X[name].to_numpy(dtype=np.float64))
            is_category.append(False)
        else:
            columns.append(_codes(X[name]))
            is_category.append(columns[-1].max() < MOST_CATEGORIES)
    return np.column_stack(columns), np.array(is_category)


def _codes(column: pd.Series[Any]) -> Floats:
    """The number of each value's category; a missing value comes after all others."""
    categories = column.astype("category").cat
    numbers = categories.codes.to_numpy().astype(np.float64)
    return np.where(numbers < 0, len(categories.categories), numbers)


def aligned(probabilities: Any, classes: Sequence[int], number: int) -> Floats:
    """Probabilities with a column for every class, also for those absent when it was fitted.

    >>> aligned(np.array([[0.25, 0.75]]), [0, 2], 3)
    array([[0.25, 0.  , 0.75]])
    """
    matrix = np.zeros((len(probabilities), number))
    matrix[:, np.asarray(classes, dtype=np.intp)] = probabilities
    return matrix
