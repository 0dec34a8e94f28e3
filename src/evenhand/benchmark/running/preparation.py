"""What all methods on one split share: rows, groups, and the base model's scores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_selection import VarianceThreshold
from sklearn.preprocessing import OneHotEncoder

from evenhand._groups import Groups, groups, show
from evenhand.datasets import split

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark.design.studies import Base
    from evenhand.datasets import Dataset, Split

Floats = NDArray[np.float64]
GROUP = "group"
MOST_CATEGORIES = 255  # more than scikit-learn's boosting takes; such a column is read as a number


def score_names(number: int) -> list[str]:
    """The columns that hold the scores.

    >>> score_names(2)
    ['score 0', 'score 1']
    """
    return [f"score {k}" for k in range(number)]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A split that is ready: training rows first, then test rows, `fitted` of them for training.

    `scores` are the base model's probabilities (rows × classes) or predictions (rows × 1).
    """

    dataset: Dataset
    base: Base
    seed: int
    fitted: int
    rows: NDArray[np.intp]
    y: NDArray[Any]
    whom: Groups
    matrix: Any
    model: Any
    scores: Floats
    favorable: int | None = None
    cpu_seconds: float = 0.0

    @property
    def n_classes(self) -> int:
        """How many classes; 0 for a regression."""
        return len(self.dataset.classes)

    @property
    def group_labels(self) -> list[str]:
        """The groups in words, by number."""
        return [show(label) for label in self.whom.labels]

    @cached_property
    def scored(self) -> pd.DataFrame:
        """Group and scores: all that a post-processor reads."""
        import pandas as pd

        group = pd.Categorical.from_codes(
            self.whom.codes.astype(np.intp), categories=pd.Index(self.group_labels)
        )
        scores = dict(zip(score_names(self.scores.shape[1]), self.scores.T, strict=True))
        return pd.DataFrame({GROUP: group, **scores})

    @cached_property
    def featured(self) -> Any:
        """The base model's features with the group's number after them, for other methods."""
        group = self.whom.codes.astype(np.float64)[:, None]
        if sparse.issparse(self.matrix):
            return sparse.csr_array(sparse.hstack([self.matrix, sparse.csr_array(group)], "csr"))
        return np.column_stack([self.matrix, group])


def prepare(dataset: Dataset, base: Base, seed: int, favorable: int | None = None) -> Prepared:
    """Split, normalize and encode the rows, and fit the base model."""
    started = time.process_time()
    halves = split(dataset, seed=seed)
    X, y = _joined(halves)
    fitted = len(halves.train)
    matrix, is_category = _encoded(X[list(dataset.model_columns)], base, fitted, dataset.kind)
    model, scores = _scored(base, dataset, matrix, y, fitted, is_category)
    return Prepared(
        dataset=dataset,
        base=base,
        seed=seed,
        fitted=fitted,
        rows=np.concatenate([halves.train, halves.test]),
        y=y,
        whom=groups(X[list(dataset.sensitive)]),
        matrix=matrix,
        model=model,
        scores=scores,
        favorable=favorable,
        cpu_seconds=time.process_time() - started,
    )


def _joined(halves: Split) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Features and target, normalized, training rows first."""
    import pandas as pd

    parts = halves.normalized()
    X = pd.concat([parts.X_train, parts.X_test], ignore_index=True)
    return X, np.concatenate([parts.y_train.to_numpy(), parts.y_test.to_numpy()])


def _encoded(X: pd.DataFrame, base: Base, fitted: int, kind: str) -> tuple[Any, Any]:
    if base.encoding == "codes":
        return codes(X)
    matrix = indicators(X, np.arange(fitted))
    return (matrix.toarray() if kind == "regression" else matrix), None


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
    whole = sparse.csr_array(sparse.hstack(blocks, format="csr"))
    return sparse.csr_array(VarianceThreshold().fit(whole[train]).transform(whole))


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


def _scored(
    base: Base, dataset: Dataset, matrix: Any, y: Any, fitted: int, is_category: Any
) -> tuple[Any, Floats]:
    if base.is_truth:
        return None, y[:, None].astype(np.float64)
    model = base.estimator(dataset.kind, is_category).fit(matrix[:fitted], y[:fitted])
    if dataset.kind == "regression":
        return model, np.ravel(model.predict(matrix))[:, None]
    return model, aligned(model.predict_proba(matrix), model.classes_, len(dataset.classes))


def aligned(probabilities: Any, classes: Sequence[int], number: int) -> Floats:
    """Probabilities with a column for every class, also for those that were not there at fit.

    >>> aligned(np.array([[0.25, 0.75]]), [0, 2], 3)
    array([[0.25, 0.  , 0.75]])
    """
    whole = np.zeros((len(probabilities), number))
    whole[:, np.asarray(classes, dtype=np.intp)] = probabilities
    return whole
