"""From a table of quantities and categories to the matrix a base model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES = 255  # more than scikit-learn's boosting takes; such a column is read as a number


def indicators(X: pd.DataFrame, train: NDArray[np.intp]) -> sparse.csr_array:
    """Quantities as they are, and a 0/1 column for every category but the first.

    A missing category is one of its own, a missing quantity the mean, which is 0 after
    normalization. Columns that do not vary on the training rows are left out.
    """
    numeric = X.select_dtypes("number")
    blocks = [sparse.csr_array(np.nan_to_num(numeric.to_numpy(dtype=np.float64)))]
    blocks += [_one_hot(X[name]) for name in X.columns if name not in numeric]
    whole = sparse.hstack(blocks, format="csr")
    return sparse.csr_array(whole[:, _varies(whole[train])])


def _one_hot(column: pd.Series[Any]) -> sparse.csr_array:
    codes, levels = _codes(column)
    shown = np.flatnonzero(codes > 0)
    places = (shown, codes[shown] - 1)
    return sparse.csr_array(
        (np.ones(len(shown)), places), shape=(len(codes), max(len(levels) - 1, 0))
    )


def _varies(matrix: sparse.csr_array) -> NDArray[np.intp]:
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    square = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
    return np.flatnonzero(square - mean**2 > 1e-12 * np.maximum(square, 1e-300))


def codes(X: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One column for each of X, categories by number, and which columns are categories."""
    numeric = set(X.select_dtypes("number").columns)
    columns, is_category = [], []
    for name in X.columns:
        if name in numeric:
            columns.append(X[name].to_numpy(dtype=np.float64))
            is_category.append(False)
        else:
            numbers, levels = _codes(X[name])
            columns.append(numbers.astype(np.float64))
            is_category.append(len(levels) <= MOST_CATEGORIES)
    return np.column_stack(columns), np.array(is_category)


def _codes(column: pd.Series[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """The number of each value's category; a missing value comes after all others."""
    categories = column.astype("category").cat
    numbers = categories.codes.to_numpy().astype(np.intp)
    levels: list[Any] = list(categories.categories)
    if (numbers < 0).any():
        numbers = np.where(numbers < 0, len(levels), numbers)
        levels.append(None)
    return numbers, levels
