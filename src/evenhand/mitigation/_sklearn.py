"""Uses of scikit-learn's unstable interfaces, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, _check_y

from evenhand._columns.encoding import check_weights
from evenhand._errors import refusing


def rows_of(X: Any, which: NDArray[np.intp]) -> Any:
    """Some rows of an array, sparse matrix or dataframe."""
    return _safe_indexing(X, which)


def checked_target(y: Any, estimator: Any, numeric: bool = False) -> NDArray[Any]:
    """One target for each row, without missing values."""
    with refusing("y cannot be predicted"):
        return np.asarray(_check_y(y, y_numeric=numeric, estimator=estimator))


def checked_weight(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """One weight for each row of X, none below 0."""
    with refusing("sample_weight cannot be used"):
        weight = np.asarray(
            _check_sample_weight(sample_weight, X, ensure_non_negative=True), dtype=np.float64
        )
    check_weights("sample_weight", weight.min(where=weight > 0, initial=np.inf), weight.max())
    return weight
