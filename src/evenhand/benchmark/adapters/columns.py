"""Features and group in the one table that a method gets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def features_and_group(X: Any, group: Any) -> tuple[Any, NDArray[Any]]:
    """The features without the group, and the group; a sparse matrix becomes an array.

    >>> features, group = features_and_group(np.array([[0.5, 1.0], [0.25, 0.0]]), 1)
    >>> features.tolist(), group.tolist()
    ([[0.5], [0.25]], [1.0, 0.0])
    """
    if hasattr(X, "drop"):
        return X.drop(columns=[group]), X[group].astype(str).to_numpy()
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return np.delete(X, group, axis=1), X[:, group]
