"""Evidence from columns: each is read once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.evidence import Evidence, favorable_of
from evenhand._audit.tasks import TASKS, Task, task_of
from evenhand._columns import Column, Label
from evenhand._columns.codes import union
from evenhand._columns.encoding import check_lengths, classes, finite
from evenhand._counting import count, tally
from evenhand._distributions import Distribution, distribution
from evenhand._errors import InputError
from evenhand._groups import Groups, groups
from evenhand._tally import Tally
from evenhand.statistics.kinds import Rows, Source, summarize

MOST_THRESHOLDS = 200


def with_scores(found: Evidence, rows: Rows) -> Evidence:
    """Add what scores tell: areas and losses, and for two classes distribution and calibration."""
    sources = dict(found.sources)
    one_column = np.ndim(rows.y_score) == 1 or np.shape(rows.y_score)[1] == 1
    score = finite(np.reshape(rows.y_score, -1), "y_score") if one_column else None
    if rows.y_true is not None and (found.favorable is not None or not one_column):
        sources["ranks"] = summarize("ranks", rows)
    if score is None and len(found.classes) == 2 and found.favorable is not None:
        score = np.asarray(rows.y_score)[:, found.classes.index(found.favorable)]
    probability = np.min(rows.y_score) >= 0 and np.max(rows.y_score) <= 1
    if "ranks" in sources and probability:
        sources["losses"] = summarize("losses", rows)
        if len(found.classes) == 2:
            sources["bins"] = summarize("bins", rows)
    if score is None:
        return replace(found, sources=sources)
    whom = {"sensitive_features": rows.sensitive_features, "sample_weight": rows.sample_weight}
    sources["steps"] = ordered = distribution(score, **whom)
    curve = None if rows.y_true is None else _thresholds(score, rows, ordered)
    decided = found.decided_at if found.favorable is None else _decided_at(score, found, rows)
    return replace(found, sources=sources, thresholds=curve, decided_at=decided)


def _decided_at(score: NDArray[np.float64], found: Evidence, rows: Rows) -> float | None:
    """The threshold that explains the decisions, if one does: a half, or the least selected."""
    at = rows.y_pred.labels.index(found.favorable) if found.favorable in rows.y_pred.labels else -1
    selected = rows.y_pred.codes == at
    if selected.all() or not selected.any():
        return found.decided_at
    least, most = float(score[selected].min()), float(score[~selected].max())
    if most >= least:
        return None
    return 0.5 if most < 0.5 <= least else least


def _thresholds(score: NDArray[np.float64], rows: Rows, ordered: Distribution) -> Tally:
    """Counts by score bin, truth and group; the edges are pooled quantiles."""
    at = np.linspace(0, len(ordered) - 1, MOST_THRESHOLDS).astype(np.intp)
    edges = np.unique(ordered.values[at])
    check_lengths(y_score=score, y_true=rows.y_true)
    codes = np.searchsorted(edges, score, side="right")
    bins = (-np.inf, *edges.tolist(), np.inf)
    column = Column(codes.astype(np.uint32), bins[:-1])
    whom = groups(rows.sensitive_features)
    return count(
        {"bin": column, "y": rows.y_true},
        whom,
        sample_weight=rows.sample_weight,
        edges={"bin": bins},
    )


def from_rows(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    y_score: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
    task: Task | None = None,
    favorable: Label = None,
) -> Evidence:
    """Summarize columns, each once."""
    whom = _several(groups(sensitive_features))
    common = {"sensitive_features": whom, "sample_weight": sample_weight}
    if y_pred is None and y_score is None:
        raise InputError("Pass y_pred, the predictions to audit, or y_score.")
    task = _checked(task, y_true, y_pred)
    if task == "regression":
        return _regression(y_true, y_pred, whom, common)
    truth = None if y_true is None else classes(y_true, "y_true")
    predicted, labels, decided = _decisions(truth, y_pred, y_score, favorable)
    favorable = favorable_of(labels, favorable)
    counted = tally(truth, predicted, **common)
    sources: dict[str, Source] = {"predictions": counted}
    if truth is not None:
        sources["labels"] = counted
    rows = Rows(truth, predicted, y_score=y_score, strata=strata, favorable=favorable, **common)
    if strata is not None:
        sources["strata"] = summarize("strata", rows)
    found = Evidence(task, whom.names, sources, labels, favorable, None, decided, whom.notes)
    return found if y_score is None else with_scores(found, rows)


def _checked(task: Task | None, y_true: Any, y_pred: Any) -> Task:
    """The task, found from the labels if it is not said."""
    if task is not None:
        if task not in TASKS:
            raise InputError(f"task is 'binary', 'multiclass' or 'regression', not {task!r}.")
        return task
    found = task_of(y_true, y_pred)
    if found == "regression" and y_true is not None and task_of(y_true, None) == "binary":
        raise InputError(
            "y_true holds two labels, and y_pred numbers between them. If these are scores, "
            'pass them as y_score=; if the target is a number, pass task="regression".'
        )
    return found


def _several(whom: Groups) -> Groups:
    if len(whom.labels) < 2:
        raise InputError(
            f"There is one group only, {whom.labels[0]!r}: nothing to compare it with. "
            "Check the sensitive column, or the filter before it."
        )
    return whom


def _regression(y_true: Any, y_pred: Any, whom: Groups, common: dict[str, Any]) -> Evidence:
    if y_pred is None:
        raise InputError("Pass y_pred, the predicted values.")
    rows = Rows(y_true, y_pred, **common)
    sources = {need: summarize(need, rows) for need in ("moments", "steps")}
    return Evidence("regression", whom.names, sources, notes=whom.notes)


def _decisions(
    truth: Column | None, y_pred: Any, y_score: Any, favorable: Label
) -> tuple[Any, tuple[Label, ...], float | None]:
    """The decisions and all the labels; without decisions, the score decides at a half."""
    if y_pred is not None:
        predicted = classes(y_pred, "y_pred")
        labels = union(predicted.labels, () if truth is None else truth.labels)
        return predicted, labels, None
    if truth is None or len(truth.labels) != 2:
        raise InputError("Pass y_pred: a score alone decides only between two known classes.")
    good = favorable_of(truth.labels, favorable)
    if good is None:
        raise InputError(f"Which of {list(truth.labels)} does the score favor? Pass favorable=.")
    at = truth.labels.index(good)
    chosen = finite(y_score, "y_score") >= 0.5
    return Column(np.where(chosen, at, 1 - at).astype(np.uint8), truth.labels), truth.labels, 0.5
