"""Metrics of labels that scikit-learn does not have under these names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.encoding import check_order
from evenhand._errors import InputError, InputTypeError, refusing
from evenhand._signatures import documented

LABELS = """\
y_true : array-like
    True labels.
y_pred : array-like
    Predicted labels."""

WEIGHT = """\
sample_weight : array-like, optional
    Weights of the rows; by default every row weighs 1."""

POSITIVE = """\
pos_label : label, optional
    The positive label; 1 is the default where the labels are 0 and 1, or −1 and 1."""

ONE_COLUMN = {"labels": LABELS, "weight": WEIGHT, "positive": POSITIVE}


Rate = Callable[..., float]


def _rate(name: str, place: int, condition: str, answer: str, rows: str) -> Rate:
    """One of the four rates, which differ in the rows that count and in the prediction."""

    @documented(**ONE_COLUMN)
    def rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
        """Share of the GIVEN rows that are predicted ANSWER.

        Parameters
        ----------
        {labels}
        {weight}
        {positive}

        Returns
        -------
        float
            The rate; 0 where no row is GIVEN, as in fairlearn.

        Examples
        --------
        >>> print(NAME(ROWS, [1, 0, 1]))
        0.5

        """
        return _rates(y_true, y_pred, sample_weight, pos_label)[place]

    words = {"GIVEN": condition, "ANSWER": answer, "NAME": name, "ROWS": rows}
    for word, meaning in words.items():
        rate.__doc__ = str(rate.__doc__).replace(word, meaning)
    rate.__name__ = rate.__qualname__ = name
    return rate


true_negative_rate = _rate("true_negative_rate", 0, "negative", "negative", "[1, 0, 0]")
false_positive_rate = _rate("false_positive_rate", 1, "negative", "positive", "[1, 0, 0]")
false_negative_rate = _rate("false_negative_rate", 2, "positive", "negative", "[1, 1, 0]")
true_positive_rate = _rate("true_positive_rate", 3, "positive", "positive", "[1, 1, 0]")


@documented(**ONE_COLUMN)
def selection_rate(
    y_true: Any,  # noqa: ARG001
    y_pred: Any,
    *,
    pos_label: Any = 1,
    sample_weight: Any = None,
) -> float:
    """Share of the rows that are given the positive label.

    Parameters
    ----------
    y_true : array-like
        Not used; metrics share one signature.
    y_pred : array-like
        Predicted labels.
    pos_label : label, default 1
        The label that selects.
    {weight}

    Returns
    -------
    float
        The rate.

    Raises
    ------
    InputError
        If there are no rows.

    Examples
    --------
    >>> print(selection_rate([0, 0, 1, 1], [1, 0, 1, 1]))
    0.75

    """
    check_order(y_pred=y_pred, sample_weight=sample_weight)
    with refusing("y_pred cannot be compared with pos_label"):
        selected = column(y_pred) == pos_label
    if not len(selected):
        raise InputError(
            "Empty y_pred passed to selection_rate function.", "There are no rows to count."
        )
    return _mean(selected, sample_weight)


@documented(**ONE_COLUMN)
def mean_prediction(
    y_true: Any,  # noqa: ARG001
    y_pred: Any,
    sample_weight: Any = None,
) -> float:
    """Mean of the predictions.

    Parameters
    ----------
    y_true : array-like
        Not used; metrics share one signature.
    y_pred : array-like
        Predicted values.
    {weight}

    Returns
    -------
    float
        The weighted mean.

    Examples
    --------
    >>> print(mean_prediction([0, 0], [1.0, 2.0], sample_weight=[3, 1]))
    1.25

    """
    check_order(y_pred=y_pred, sample_weight=sample_weight)
    return _mean(column(y_pred), sample_weight)


@documented(**ONE_COLUMN)
def count(y_true: Any, y_pred: Any) -> int:
    """Count the rows.

    Parameters
    ----------
    {labels}

    Returns
    -------
    int
        How many there are.

    Raises
    ------
    InputError
        If the columns differ in length.

    Examples
    --------
    >>> count([1, 0, 1], [1, 1, 1])
    3

    """
    with refusing("These are not columns to count"):
        if len(y_true) != len(y_pred):
            raise InputError(*unequal_lengths(y_true=len(y_true), y_pred=len(y_pred)).args[:1])
        return len(y_true)


def column(values: Any) -> NDArray[Any]:
    """An array without axes of length one, except the rows.

    >>> column([[1], [0]]), column([1])
    (array([1, 0]), array([1]))
    """
    array = np.asarray(values)
    return np.squeeze(array) if array.size > 1 else array.reshape(array.size)


def unequal_lengths(**rows: int) -> InputError:
    """The error for columns of different lengths, with the message of scikit-learn and ours."""
    lengths = ", ".join(f"{name} has {length} rows" for name, length in rows.items())
    return InputError(
        f"Found input variables with inconsistent numbers of samples: {[*rows.values()]}",
        f"{lengths}.",
    )


def positive_label(labels: list[Any], pos_label: Any) -> Any:
    """The positive label of at most two, or an error that says how to name it."""
    if np.ndim(pos_label):
        raise InputTypeError(f"pos_label is one label, not a {type(pos_label).__name__}.")
    if pos_label is None:
        if not (set(labels) <= {0, 1} or set(labels) <= {-1, 1}):
            raise InputError(
                "If pos_label is not specified, values must be from {0, 1} or {-1, 1}",
                f"The labels are {labels[:6]}. Pass pos_label=.",
            )
        return 1
    if len(labels) > 2:
        raise InputError(
            "Must have no more than two unique y values",
            f"There are {len(labels)}: {labels[:6]}.",
        )
    if len(labels) == 2 and pos_label not in labels:
        raise InputError(
            "Must have pos_label in y values",
            f"pos_label is {pos_label!r}, but the labels are {labels}.",
        )
    return pos_label


def _rates(
    y_true: Any, y_pred: Any, sample_weight: Any, pos_label: Any
) -> tuple[float, float, float, float]:
    """True negative, false positive, false negative and true positive rate."""
    from sklearn.metrics import confusion_matrix

    check_order(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight)
    with refusing("The rates of these columns cannot be counted"):
        labels = np.unique(np.vstack((y_true, y_pred))).tolist()
        positive = positive_label(labels, pos_label)
        absent = f"not {positive}" if isinstance(positive, str) else np.iinfo(np.int64).min
        negative = next((label for label in labels if label != positive), absent)
        rates = confusion_matrix(
            y_true,
            y_pred,
            sample_weight=sample_weight,
            labels=[negative, positive],
            normalize="true",
        )
    tnr, fpr, fnr, tpr = rates.ravel()
    return tnr, fpr, fnr, tpr


def _mean(values: NDArray[Any], sample_weight: Any) -> float:
    with refusing("These predictions have no mean"):
        weight = np.ones(len(values)) if sample_weight is None else column(sample_weight)
        mean: float = np.dot(values, weight) / weight.sum()
    if np.iscomplexobj(mean):
        raise InputTypeError(
            "Predictions and weights must be real numbers; there are complex ones."
        )
    return mean
