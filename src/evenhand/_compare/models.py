"""Models by name, from predictions or fitted estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenhand._data.data import Data
from evenhand._data.dataframes import column_of
from evenhand._data.groups import columns_of
from evenhand._data.models import features_for
from evenhand._data.tasks import Task
from evenhand._errors import InputError, InputTypeError


class Models(NamedTuple):
    """Predictions by name of the model, and the task of the estimators."""

    predictions: dict[str, Any]
    task: Task | None


def named_models(predictions: Any, data: Any = None, target: Any = None) -> Models:
    """Predictions by name, from a mapping or a dataframe; an estimator predicts from the data."""
    listed = isinstance(predictions, list | tuple)
    if data is not None and listed and all(isinstance(name, str) for name in predictions):
        predictions = {name: name for name in predictions}
    if not isinstance(predictions, Mapping) and not hasattr(predictions, "columns"):
        raise InputTypeError(
            f"predictions is a {type(predictions).__name__}; it must name the models: pass "
            '{"model": y_pred, …} or a dataframe with a column for each model.'
        )
    columns = {str(name): column for name, column in columns_of(predictions, "predictions").items()}
    if not columns:
        raise InputError("There are no models to compare: predictions is empty.")
    estimators = {name: model for name, model in columns.items() if hasattr(model, "predict")}
    if estimators and data is None:
        name = next(iter(estimators))
        raise InputTypeError(
            f"predictions[{name!r}] is an estimator, {type(estimators[name]).__name__}: "
            "pass data= with the rows that it should predict, or its predictions."
        )
    predicted = {
        name: model.predict(features_for(model, data, target)) for name, model in estimators.items()
    }
    named = {
        name: column_of(data, column)
        for name, column in columns.items()
        if data is not None and isinstance(column, str)
    }
    return Models({**columns, **named, **predicted}, _task(list(estimators.values())))


def fetched(data: Data, predictions: Any) -> Data:
    """The data in memory, with the columns of models; estimators predict from all columns."""
    models = list(predictions.values()) if isinstance(predictions, Mapping) else predictions
    several = models if isinstance(models, list | tuple) else []
    names = [name for name in several if isinstance(name, str)]
    return data.in_memory(*names, whole=any(hasattr(model, "predict") for model in several))


def _task(estimators: Sequence[Any]) -> Task | None:
    """The task of estimators, by whether they have `classes_`; None if they disagree."""
    tasks: set[Task] = set()
    for model in estimators:
        labels = getattr(model, "classes_", None)
        if labels is None:
            tasks.add("regression")
        else:
            tasks.add("binary" if len(labels) <= 2 else "multiclass")
    return tasks.pop() if len(tasks) == 1 else None
