"""What a run leaves behind: its answers for the test rows, from which every score is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labels, chances and scores of a classifier; values of a regressor, maybe several draws.

    Parameters
    ----------
    labels : array of int, optional
        The predicted classes by number; one draw where they are drawn by lot.
    chances : array (rows × classes), optional
        The chance of each class, where labels are drawn by lot.
    scores : array (rows × classes), optional
        Probabilities that are not those of the decision.
    values : array (rows × draws), optional
        Predicted quantities; a regressor that does not draw has one column.

    Examples
    --------
    >>> Predictions(labels=np.array([0, 1], dtype=np.uint8)).by_lot
    False

    """

    labels: NDArray[np.unsignedinteger[Any]] | None = None
    chances: Floats | None = None
    scores: Floats | None = None
    values: Floats | None = None

    @property
    def by_lot(self) -> bool:
        """Whether another draw could give other answers."""
        return self.chances is not None or (self.values is not None and self.values.shape[1] > 1)

    def columns(self) -> dict[str, NDArray[Any]]:
        """As named columns; the first class's probability is what the others leave."""
        found: dict[str, NDArray[Any]] = {}
        if self.labels is not None:
            found["label"] = self.labels
        for name, matrix in (("chance", self.chances), ("score", self.scores)):
            if matrix is not None:
                parts = matrix.astype(np.float32)
                found |= {f"{name}_{k}": parts[:, k] for k in range(1, matrix.shape[1])}
        if self.values is not None:
            found |= {f"value_{k}": column for k, column in enumerate(self.values.T)}
        return found

    @classmethod
    def from_columns(cls, columns: dict[str, NDArray[Any]]) -> Predictions:
        """The inverse of `columns`."""
        values = [column for name, column in columns.items() if name.startswith("value_")]
        return cls(
            labels=columns.get("label"),
            chances=_matrix(columns, "chance"),
            scores=_matrix(columns, "score"),
            values=np.column_stack(values) if values else None,
        )


def _matrix(columns: dict[str, NDArray[Any]], name: str) -> Floats | None:
    parts = [column for key, column in columns.items() if key.startswith(f"{name}_")]
    if not parts:
        return None
    rest = np.column_stack(parts).astype(np.float64)
    first = np.maximum(1 - rest.sum(axis=1), 0)
    whole = np.column_stack([first, rest])
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))
