"""What a decision made by lot comes to on average: the expected tally."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns import validation
from evenhand.columns.column import Column, union
from evenhand.counting import count
from evenhand.groups import groups
from evenhand.tally import Axis, Tally, gathered

ROUNDING = 1e-6  # rows of float32 probabilities still add up to 1 within this


def expected_tally(
    y_true: Any,
    probabilities: Any,
    *,
    classes: Sequence[Any],
    sensitive_features: Any,
    sample_weight: Any = None,
) -> Tally:
    """Expected counts by true label, predicted label and group of decisions made by lot.

    Column k of `probabilities` is the chance that a row is given the label `classes[k]`. The
    tally holds expected rows, not whole ones, and every criterion of labels reads it.

    >>> chances = [[0.25, 0.75], [1.0, 0.0]]
    >>> counts = expected_tally([1, 0], chances, classes=[0, 1], sensitive_features=["a", "b"])
    >>> counts.table("yhat", "group")
    array([[0.25, 1.  ],
           [0.75, 0.  ]])
    """
    names = np.asarray(classes, dtype=object).tolist()
    chances = _chances(probabilities, names)
    truth, labels = _truth(y_true, names)
    weight = validation.weights(sample_weight)
    validation.check_lengths(y_true=truth, probabilities=chances, sample_weight=weight)
    factors: dict[str, Any] = {"rows": 1.0}
    if weight is not None:
        factors |= {"weight": weight, "weight²": weight * weight}
    sums = {
        f"{name} {k}": column * factor
        for name, factor in factors.items()
        for k, column in enumerate(chances.T)
    }
    counted = count({"y": truth}, groups(sensitive_features), sums=sums)
    return _spread(counted, list(factors), labels, [labels.index(label) for label in names])


def _spread(counted: Tally, names: list[str], labels: tuple[Any, ...], places: list[int]) -> Tally:
    """Turn a sum for each predicted class into an axis of its own, between truth and group."""
    truth, group = counted.cells
    yhat = np.repeat(places, len(truth))
    cells = np.array([np.tile(truth, len(places)), yhat, np.tile(group, len(places))])
    sums = {
        name: np.concatenate([counted.sums[f"{name} {k}"] for k in range(len(places))])
        for name in names
    }
    axes = (Axis("y", labels), Axis("yhat", labels), counted.axis("group"))
    seen = sums["rows"] > 0
    kept = {name: values[seen] for name, values in sums.items()}
    return gathered(axes, cells[:, seen], kept, counted.notes)


def _truth(y_true: Any, names: list[Any]) -> tuple[Column, tuple[Any, ...]]:
    """The true labels, coded in the union with the labels that may be predicted."""
    column = validation.classes(y_true, "y_true")
    labels = union(column.labels, names)
    place = np.array([labels.index(label) for label in column.labels], dtype=np.intp)
    return Column(place[column.codes].astype(np.uint32), labels), labels


def _chances(probabilities: Any, names: list[Any]) -> NDArray[np.float64]:
    chances = np.asarray(probabilities, dtype=np.float64)
    if chances.ndim != 2 or chances.shape[1] != len(names):
        raise ValueError(
            f"probabilities has the shape {chances.shape}; it needs a column for each of the "
            f"{len(names)} classes {names}."
        )
    whole = abs(chances.sum(axis=1) - 1) <= ROUNDING
    wrong = ~((chances >= -ROUNDING).all(axis=1) & whole)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"Row {first} of probabilities is {chances[first].tolist()}; the entries of a row "
            "must not be negative and must add up to 1."
        )
    return np.maximum(chances, 0.0)
