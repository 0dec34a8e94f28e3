"""Made-up people with a group, a true and a predicted label, as strings of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

GROUPS = np.array([f"group {number:02d}" for number in range(50)])
LABELS = np.array(["no", "yes"])


class People(NamedTuple):
    """Codes of the true label, the predicted label and the group of each row."""

    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]
    group: NDArray[np.int64]

    def written(self, kind: str) -> tuple[Any, Any, Any]:
        """The same columns as strings of a kind."""
        write = KINDS[kind]
        return write(LABELS, self.truth), write(LABELS, self.predicted), write(GROUPS, self.group)


def draw(rows: int, classes: int = 2, groups: int = len(GROUPS)) -> People:
    """Random people; the prediction is right more often than not."""
    random = np.random.default_rng(0)
    truth, guess = random.integers(classes, size=(2, rows))
    predicted = np.where(random.random(rows) < 0.6, truth, guess)
    return People(truth, predicted, random.integers(groups, size=rows))


def _pandas(names: NDArray[np.str_], codes: NDArray[np.int64]) -> pd.Series[str]:
    return pd.Series(names[codes], dtype=pd.StringDtype("pyarrow", na_value=np.nan))


def _arrow(names: NDArray[np.str_], codes: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return pa.chunked_array([pa.array(names[codes])])


KINDS: dict[str, Callable[[NDArray[np.str_], NDArray[np.int64]], Any]] = {
    "shared objects": lambda names, codes: names.astype(object)[codes],
    "an object for each row": lambda names, codes: names[codes].astype(object),
    "pandas str": _pandas,
    "Arrow": _arrow,
    "NumPy fixed width": lambda names, codes: names[codes],
}
