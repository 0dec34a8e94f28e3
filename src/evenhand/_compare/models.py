"""Models by name: predictions as they are, and those of fitted estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenhand._data.dataframes import is_frame
from evenhand._data.groups import columns_of
from evenhand._data.tasks import Task
from evenhand._errors import InputError, InputTypeError
from evenhand._scoring import columns_from


class Models(NamedTuple):
    """Predictions by the name of the model, and the task that estimators say they are made for."""

    predictions: dict[str, Any]
    task: Task | None


def named_models(predictions: Any, X: Any = None) -> Models:
    """Predictions by name, from a mapping or a dataframe; an estimator predicts for X."""
    if not isinstance(predictions, Mapping) and not hasattr(predictions, "columns"):
        raise InputTypeError(
            f"predictions is a {type(predictions).__name__}; it must name the models: pass "
            '{"model": y_pred, …} or a dataframe with a column for each model.'
        )
    given = {str(name): column for name, column in columns_of(predictions, "predictions").items()}
    if not given:
        raise InputError("There are no models to compare: predictions is empty.")
    estimators = {name: model for name, model in given.items() if hasattr(model, "predict")}
    if estimators and X is None:
        name = next(iter(estimators))
        raise InputTypeError(
            f"predictions[{name!r}] is an estimator, {type(estimators[name]).__name__}: "
            "pass X= with the rows that it shall predict for, or its predictions."
        )
    made = {name: model.predict(X) for name, model in estimators.items()}
    return Models({**given, **made}, _task(list(estimators.values())))


def sensitive_columns(sensitive_features: Any, X: Any) -> Any:
    """The sensitive columns: where X is there and has columns of these names, those of X."""
    if X is None or not is_frame(X):
        return sensitive_features
    if isinstance(sensitive_features, str):
        return columns_from(X, sensitive_features)
    names = sensitive_features if isinstance(sensitive_features, Sequence) else ()
    if names and all(isinstance(name, str) and name in X.columns for name in names):
        return columns_from(X, names)
    return sensitive_features


def _task(estimators: Sequence[Any]) -> Task | None:
    """What estimators with `classes_`, or without, are made for; None where they disagree."""
    tasks: set[Task] = set()
    for model in estimators:
        labels = getattr(model, "classes_", None)
        if labels is None:
            tasks.add("regression")
        else:
            tasks.add("binary" if len(labels) <= 2 else "multiclass")
    return tasks.pop() if len(tasks) == 1 else None
