"""Models by name, from predictions or fitted estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.dataframes import column_of
from evenhand._data.groups import columns_of
from evenhand._data.models import features_for, scored_by
from evenhand._data.tasks import Task
from evenhand._errors import InputError, InputTypeError

SHAPE = 'pass {"model": y_pred, …} or a dataframe with a column for each model.'


class Models(NamedTuple):
    """Predictions and scores by name of the model, and the task of the estimators."""

    predictions: dict[str, Any]
    scores: dict[str, Any]
    task: Task | None
    score_of: Label = None

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.predictions or self.scores)


def named_models(predictions: Any, y_score: Any, data: Data, *, scored: bool) -> Models:
    """Predictions and scores by name, from mappings or dataframes; either may be left out.

    An estimator predicts from the data, and if all are classifiers they can be `scored`.
    """
    if predictions is None and y_score is None:
        raise InputTypeError(f"compare needs predictions, or y_score: {SHAPE}")
    predicted = {} if predictions is None else _columns(predictions, "predictions", data.data)
    scores = {} if y_score is None else _columns(y_score, "y_score", data.data)
    if predicted and scores and predicted.keys() != scores.keys():
        raise InputError(
            f"predictions are of {list(predicted)}, and y_score is of {list(scores)}: pass both of "
            "every model, by the same names."
        )
    estimators = {name: model for name, model in predicted.items() if hasattr(model, "predict")}
    if estimators and data.data is None:
        name = next(iter(estimators))
        raise InputTypeError(
            f"predictions[{name!r}] is an estimator, {type(estimators[name]).__name__}: "
            "pass data= with the rows that it should predict, or its predictions."
        )
    predicted_by, score_of = list(predicted.values()), None
    for name, model in estimators.items():
        X = features_for(model, data.data, data.y_true)
        predicted[name] = model.predict(X)
        if scored and y_score is None and all(map(_can_score, predicted_by)):
            found = scored_by(model, X, data.favorable if data.score_of is None else data.score_of)
            scores[name], score_of = found["y_score"], found.get("score_of")
    return Models(predicted, scores, _task(list(estimators.values())), score_of)


def _can_score(model: Any) -> bool:
    return hasattr(model, "predict") and hasattr(model, "classes_")


def _columns(given: Any, role: str, table: Any) -> dict[str, Any]:
    """The columns of a mapping, a dataframe or a list of names, by the model's name."""
    listed = isinstance(given, list | tuple)
    if table is not None and listed and all(isinstance(name, str) for name in given):
        given = {name: name for name in given}
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        raise InputTypeError(
            f"{role} is a {type(given).__name__}; it must name the models: {SHAPE}"
        )
    columns = {str(name): column for name, column in columns_of(given, role).items()}
    if not columns:
        raise InputError(f"There are no models to compare: {role} is empty.")
    return {
        name: column_of(table, column) if table is not None and isinstance(column, str) else column
        for name, column in columns.items()
    }


def fetched(data: Data, *given: Any) -> Data:
    """The data in memory, with the columns of models; estimators predict from all columns."""
    several: list[Any] = []
    for models in given:
        values = list(models.values()) if isinstance(models, Mapping) else models
        several += values if isinstance(values, list | tuple) else []
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
