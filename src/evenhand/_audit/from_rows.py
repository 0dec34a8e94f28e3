"""Evidence from columns: each is read once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.evidence import MOST_THRESHOLDS, Evidence, check_several, threshold_behind
from evenhand._columns import Column, Label
from evenhand._columns.codes import union
from evenhand._columns.encoding import check_lengths, classes, finite
from evenhand._counting import count, tally
from evenhand._distributions import Distribution, distribution
from evenhand._errors import InputError
from evenhand._groups import Groups, groups
from evenhand._tally import Tally
from evenhand._tasks import check_task, favorable_label, read_targets, task_of_labels
from evenhand.statistics.kinds import Rows, Source, summarize


def from_rows(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    y_score: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
    task: str | None = None,
    favorable: Label = None,
) -> Evidence:
    """Summarize columns, each once."""
    group = groups(sensitive_features)
    check_several(group.labels)
    common = {"sensitive_features": group, "sample_weight": sample_weight}
    if y_pred is None and y_score is None:
        raise InputError("Pass y_pred, the predictions to audit, or y_score.")
    targets = read_targets(y_true, {} if y_pred is None else {"y_pred": y_pred}, task)
    if targets.are_numbers:
        return _regression(y_true, y_pred, group, common)
    truth = None if y_true is None else classes(targets.y_true, "y_true")
    decisions = _decisions(truth, targets.predictions.get("y_pred"), y_score, favorable)
    labels = union(decisions.column.labels, () if truth is None else truth.labels)
    good = favorable_label(labels, favorable, required=False)
    counted = tally(truth, decisions.column, **common)
    sources: dict[str, Source] = {"predictions": counted}
    if truth is not None:
        sources["labels"] = counted
    rows = Rows(truth, decisions.column, y_score=y_score, strata=strata, favorable=good, **common)
    if strata is not None:
        sources["strata"] = summarize("strata", rows)
    evidence = Evidence(
        task_of_labels(labels, check_task(task)),
        group.names,
        sources,
        labels,
        good,
        decided_at=decisions.at,
        notes=group.notes,
    )
    return evidence if y_score is None else with_scores(evidence, rows)


def with_scores(evidence: Evidence, rows: Rows) -> Evidence:
    """Add what scores tell: areas and losses, and for two classes distribution and calibration."""
    sources = dict(evidence.sources)
    is_column = np.ndim(rows.y_score) == 1 or np.shape(rows.y_score)[1] == 1
    score = finite(np.reshape(rows.y_score, -1), "y_score") if is_column else None
    if rows.y_true is not None and (evidence.favorable is not None or not is_column):
        sources["ranks"] = summarize("ranks", rows)
    if score is None and len(evidence.classes) == 2 and evidence.favorable is not None:
        score = np.asarray(rows.y_score)[:, evidence.classes.index(evidence.favorable)]
    probability = np.min(rows.y_score) >= 0 and np.max(rows.y_score) <= 1
    if "ranks" in sources and probability:
        sources["losses"] = summarize("losses", rows)
        if len(evidence.classes) == 2:
            sources["bins"] = summarize("bins", rows)
    if score is None:
        return replace(evidence, sources=sources)
    common = {"sensitive_features": rows.sensitive_features, "sample_weight": rows.sample_weight}
    sources["steps"] = ordered = distribution(score, **common)
    curve = None if rows.y_true is None else _thresholds(score, rows, ordered)
    at = evidence.decided_at
    if evidence.favorable is not None:
        at = _decided_at(score, rows.y_pred, evidence.favorable, otherwise=at)
    return replace(evidence, sources=sources, thresholds=curve, decided_at=at)


def _decided_at(
    score: NDArray[np.float64], decision: Column, good: Label, otherwise: float | None
) -> float | None:
    """The threshold that explains the decisions, if one does."""
    selected = decision.codes == (decision.labels.index(good) if good in decision.labels else -1)
    if selected.all() or not selected.any():
        return otherwise
    return threshold_behind(float(score[selected].min()), float(score[~selected].max()))


def _thresholds(score: NDArray[np.float64], rows: Rows, ordered: Distribution) -> Tally:
    """Counts by score bin, truth and group; the edges are pooled quantiles."""
    at = np.linspace(0, len(ordered) - 1, MOST_THRESHOLDS).astype(np.intp)
    edges = np.unique(ordered.values[at])
    check_lengths(y_score=score, y_true=rows.y_true)
    codes = np.searchsorted(edges, score, side="right")
    bins = (-np.inf, *edges.tolist(), np.inf)
    return count(
        {"bin": Column(codes.astype(np.uint32), bins[:-1]), "y": rows.y_true},
        groups(rows.sensitive_features),
        sample_weight=rows.sample_weight,
        edges={"bin": bins},
    )


def _regression(y_true: Any, y_pred: Any, group: Groups, common: dict[str, Any]) -> Evidence:
    if y_pred is None:
        raise InputError("Pass y_pred, the predicted values.")
    rows = Rows(y_true, y_pred, **common)
    sources = {need: summarize(need, rows) for need in ("moments", "steps")}
    return Evidence("regression", group.names, sources, notes=group.notes)


class _Decisions(NamedTuple):
    """What was decided, and the score from which it was favorable, where a score decided."""

    column: Column
    at: float | None = None


def _decisions(truth: Column | None, y_pred: Any, y_score: Any, favorable: Label) -> _Decisions:
    """The decisions; where there are none, the score decides at a half."""
    if y_pred is not None:
        return _Decisions(classes(y_pred, "y_pred"))
    if truth is None or len(truth.labels) != 2:
        raise InputError("Pass y_pred: a score alone decides only between two known classes.")
    at = truth.labels.index(favorable_label(truth.labels, favorable))
    chosen = finite(y_score, "y_score") >= 0.5
    return _Decisions(Column(np.where(chosen, at, 1 - at).astype(np.uint8), truth.labels), 0.5)
