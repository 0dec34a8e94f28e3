"""Evidence from columns: each is read once."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.audit.evidence import Evidence, favourable_of
from evenhand.audit.scores import with_scores
from evenhand.audit.tasks import TASKS, Task, task_of
from evenhand.columns import Column, Label
from evenhand.columns.column import union
from evenhand.columns.validation import classes, finite
from evenhand.counting import tally
from evenhand.groups import Groups, groups
from evenhand.sources import Rows, Source, summarise


def from_rows(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    y_score: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
    task: Task | None = None,
    favourable: Label = None,
) -> Evidence:
    """Summarise columns, each once."""
    whom = _several(groups(sensitive_features))
    common = {"sensitive_features": whom, "sample_weight": sample_weight}
    if y_pred is None and y_score is None:
        raise ValueError("Pass y_pred, the predictions to audit, or y_score.")
    task = _checked(task, y_true, y_pred)
    if task == "regression":
        return _regression(y_true, y_pred, whom, common)
    truth = None if y_true is None else classes(y_true, "y_true")
    predicted, labels, decided = _decisions(truth, y_pred, y_score, favourable)
    favourable = favourable_of(labels, favourable)
    counted = tally(truth, predicted, **common)
    sources: dict[str, Source] = {"predictions": counted}
    if truth is not None:
        sources["labels"] = counted
    rows = Rows(truth, predicted, y_score=y_score, strata=strata, favourable=favourable, **common)
    if strata is not None:
        sources["strata"] = summarise("strata", rows)
    found = Evidence(task, whom.names, sources, labels, favourable, None, decided, whom.notes)
    return found if y_score is None else with_scores(found, rows)


def _checked(task: Task | None, y_true: Any, y_pred: Any) -> Task:
    """The task, found from the labels if it is not said."""
    if task is not None:
        if task not in TASKS:
            raise ValueError(f"task is 'binary', 'multiclass' or 'regression', not {task!r}.")
        return task
    found = task_of(y_true, y_pred)
    if found == "regression" and y_true is not None and task_of(y_true, None) == "binary":
        raise ValueError(
            "y_true holds two labels, and y_pred numbers between them. If these are scores, "
            'pass them as y_score=; if the target is a number, pass task="regression".'
        )
    return found


def _several(whom: Groups) -> Groups:
    if len(whom.labels) < 2:
        raise ValueError(
            f"There is one group only, {whom.labels[0]!r}: nothing to compare it with. "
            "Check the sensitive column, or the filter before it."
        )
    return whom


def _regression(y_true: Any, y_pred: Any, whom: Groups, common: dict[str, Any]) -> Evidence:
    if y_pred is None:
        raise ValueError("Pass y_pred, the predicted values.")
    rows = Rows(y_true, y_pred, **common)
    sources = {need: summarise(need, rows) for need in ("moments", "steps")}
    return Evidence("regression", whom.names, sources, notes=whom.notes)


def _decisions(
    truth: Column | None, y_pred: Any, y_score: Any, favourable: Label
) -> tuple[Any, tuple[Label, ...], float | None]:
    """The decisions and all the labels; without decisions, the score decides at a half."""
    if y_pred is not None:
        predicted = classes(y_pred, "y_pred")
        labels = union(predicted.labels, () if truth is None else truth.labels)
        return predicted, labels, None
    if truth is None or len(truth.labels) != 2:
        raise ValueError("Pass y_pred: a score alone decides only between two known classes.")
    good = favourable_of(truth.labels, favourable)
    if good is None:
        raise ValueError(f"Which of {list(truth.labels)} does the score favour? Pass favourable=.")
    at = truth.labels.index(good)
    chosen = finite(y_score, "y_score") >= 0.5
    return Column(np.where(chosen, at, 1 - at).astype(np.uint8), truth.labels), truth.labels, 0.5
