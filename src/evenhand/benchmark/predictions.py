"""Predictions of models for the rows of a split, and the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labels, chances and scores of a classifier; values of a regressor, maybe several draws.

    Parameters
    ----------
    labels : array of int, optional
        The predicted classes by number; one draw where they are drawn at random.
    chances : array (rows × classes), optional
        The chance of each class, where labels are drawn at random.
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
        """Whether predictions are random."""
        return self.chances is not None or (self.values is not None and self.values.shape[1] > 1)

    def columns(self) -> dict[str, NDArray[Any]]:
        """As named columns; the first class's probability follows from the others."""
        columns: dict[str, NDArray[Any]] = {}
        if self.labels is not None:
            columns["label"] = self.labels
        for name, matrix in (("chance", self.chances), ("score", self.scores)):
            if matrix is not None:
                parts = matrix.astype(np.float32)
                columns |= {f"{name}_{k}": parts[:, k] for k in range(1, matrix.shape[1])}
        if self.values is not None:
            columns |= {f"value_{k}": column for k, column in enumerate(self.values.T)}
        return columns

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


@dataclass(frozen=True, eq=False)
class Truth:
    """The test rows of a split: number in the data set, true value, and group.

    Parameters
    ----------
    rows : array of int
        Their numbers in the data set.
    y : array
        Their true classes by number, or their true values.
    group : array of int
        Their groups by number.
    about : dict
        Metadata of the data set, with the names of groups and classes.

    Examples
    --------
    >>> none = np.array([], dtype=int)
    >>> Truth(none, none, none, {"groups": ["f", "m"], "classes": []}).groups
    ('f', 'm')

    """

    rows: NDArray[np.int64]
    y: NDArray[Any]
    group: NDArray[np.intp]
    about: dict[str, Any]

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups in words, by number."""
        return tuple(self.about["groups"])

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in words, by number; none for a regression."""
        return tuple(self.about["classes"])


@dataclass(frozen=True, eq=False)
class BaseScores:
    """A base model's scores of all rows of a split: the input of post-processors.

    Training rows come first, `about["train"]` of them.

    Parameters
    ----------
    rows : array of int
        Their numbers in the data set.
    y : array
        Their true classes by number, or their true values.
    group : array of int
        Their groups by number.
    fits : array of bool
        Which of them a post-processor is fitted to.
    scores : array (rows × classes, or rows × 1)
        Probabilities, or predicted values.
    about : dict
        Metadata of the data set, as in `Truth`, and of the fit.

    Examples
    --------
    >>> none = np.array([], dtype=int)
    >>> about = {"train": 0, "classes": [], "groups": [], "seed": 0, "favorable": None}
    >>> BaseScores(none, none, none, none > 0, np.empty((0, 1)), about).n_classes
    0

    """

    rows: NDArray[np.int64]
    y: NDArray[Any]
    group: NDArray[np.intp]
    fits: NDArray[np.bool_]
    scores: NDArray[np.float64]
    about: dict[str, Any]

    @property
    def n_classes(self) -> int:
        """How many classes; 0 for a regression."""
        return len(self.about["classes"])

    @property
    def test(self) -> slice:
        """Mask of the test rows."""
        return slice(self.about["train"], None)

    def truth(self) -> Truth:
        """The truth of the test rows."""
        about = {key: value for key, value in self.about.items() if key not in OF_FIT}
        return Truth(self.rows[self.test], self.y[self.test], self.group[self.test], about)

    def columns(self) -> dict[str, NDArray[Any]]:
        """As named columns, bit by bit: a fit to stored scores is the fit to those of the model."""
        scores = {f"score_{k}": column for k, column in enumerate(self.scores.T)}
        rows, group = self.rows.astype(np.int32), self.group.astype(np.uint16)
        return {"row": rows, "y": self.y, "group": group, "fits": self.fits, **scores}

    @classmethod
    def from_columns(cls, columns: dict[str, NDArray[Any]], about: dict[str, Any]) -> Self:
        """The inverse of `columns`."""
        scores = [column for name, column in columns.items() if name.startswith("score_")]
        return cls(
            columns["row"].astype(np.int64),
            columns["y"],
            columns["group"].astype(np.intp),
            columns["fits"],
            np.column_stack(scores),
            about,
        )


OF_FIT = ("cpu_seconds", "notes")


def _matrix(columns: dict[str, NDArray[Any]], name: str) -> Floats | None:
    parts = [column for key, column in columns.items() if key.startswith(f"{name}_")]
    if not parts:
        return None
    others = np.column_stack(parts).astype(np.float64)
    first = np.maximum(1 - others.sum(axis=1), 0)
    matrix = np.column_stack([first, others])
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))
