"""From what the caller gave to coded columns, or one clear refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.column import Column
from evenhand.columns.encoding import numbers
from evenhand.columns.validation import classes, finite, weights
from evenhand.comparing.evidence import Evidence, Labels, Numbers
from evenhand.counting import share_classes
from evenhand.groups import Groups, columns_of, groups

Task = Literal["classification", "regression"]
Kind = Literal["text", "whole numbers", "numbers"]


def named_predictions(predictions: Any) -> dict[str, Any]:
    """Predictions by the name of the model, from a mapping or a dataframe."""
    if not isinstance(predictions, Mapping) and not hasattr(predictions, "columns"):
        raise TypeError(
            f"predictions is a {type(predictions).__name__}; it must name the models: pass "
            '{"model": y_pred, …} or a dataframe with a column for each model.'
        )
    found = {str(name): column for name, column in columns_of(predictions).items()}
    if not found:
        raise ValueError("There are no models to compare: predictions is empty.")
    return found


def evidence(
    y_true: Any, predicted: Mapping[str, Any], whom: Any, sample_weight: Any, task: Task
) -> Evidence:
    """Code every column once; rows left out of all groups are gone from here on."""
    who, weight = groups(whom), weights(sample_weight)
    _check_lengths(y_true, predicted, len(who), weight)
    kept = None if (who.codes < len(who.labels)).all() else who.codes < len(who.labels)
    who = Groups(_taken(who.codes, kept), who.labels, who.names, who.notes)
    weight = None if weight is None else _taken(weight, kept)
    if task == "regression":
        truth = None if y_true is None else _taken(finite(y_true, "y_true"), kept)
        values = [_taken(finite(one, _called(name)), kept) for name, one in predicted.items()]
        return Numbers(truth, tuple(values), who, weight)
    coded = {_called(name): classes(one, _called(name)) for name, one in predicted.items()}
    if y_true is not None:
        coded = {"y_true": classes(y_true, "y_true"), **coded}
    shared = [Column(_taken(one.codes, kept), one.labels) for one in share_classes(coded).values()]
    truth_column = shared.pop(0) if y_true is not None else None
    return Labels(truth_column, tuple(shared), who, weight)


def task_of(y_true: Any, predicted: Mapping[str, Any]) -> Task:
    """Labels or numbers? Where the columns contradict each other, say which do."""
    kinds = {name: _kind(column) for name, column in predicted.items()}
    real = [name for name, kind in kinds.items() if kind == "numbers"]
    truth = None if y_true is None else _kind(y_true)
    if truth == "numbers" and "text" not in kinds.values():
        return "regression"
    if not real and truth != "numbers":
        return "classification"
    other = next((name for name in kinds if name not in real), None)
    if other is None and truth != "text" and (y_true is None or len(np.unique(y_true)) > 2):
        return "regression"
    whom = f"those of {other!r}" if other is not None else "y_true"
    odd = f"The predictions of {real[0]!r}" if real else "The values of y_true"
    raise ValueError(
        f"{odd} are numbers such as {_fraction(predicted[real[0]] if real else y_true):g}, and "
        f"{whom} {'are' if other is not None else 'holds'} labels. Compare labels with labels "
        'and numbers with numbers; if all are numbers, pass task="regression".'
    )


def _called(name: str) -> str:
    return f"predictions[{name!r}]"


def _kind(column: Any) -> Kind:
    try:
        values = numbers(column)
    except TypeError:
        return "text"
    return "numbers" if _fractions(values).any() else "whole numbers"


def _fractions(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(values) & (values != np.rint(values)))


def _fraction(column: Any) -> float:
    values = numbers(column)
    return float(values[np.argmax(_fractions(values))])


def _check_lengths(y_true: Any, predicted: Mapping[str, Any], rows: int, weight: Any) -> None:
    if not rows:
        raise ValueError("There are no rows to compare on.")
    given = {"y_true": y_true, "sample_weight": weight}
    given |= {f"the predictions of {name!r}": column for name, column in predicted.items()}
    for name, column in given.items():
        if column is not None and len(column) != rows:
            raise ValueError(
                f"Models are compared on the same rows: there are {rows} rows of "
                f"sensitive_features, but {len(column)} of {name}."
            )


def _taken(values: NDArray[Any], kept: NDArray[np.bool_] | None) -> NDArray[Any]:
    return values if kept is None else values[kept]
