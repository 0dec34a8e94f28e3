"""Evidence from columns, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column, Label
from evenhand._columns.encoding import check_lengths, check_order, classes, finite, floats
from evenhand._data.areas import RankedScores, check_direction
from evenhand._data.counting import count, tally_columns
from evenhand._data.distributions import Distribution, distribution
from evenhand._data.evidence import (
    MOST_THRESHOLDS,
    Cut,
    Evidence,
    are_probabilities,
    check_any,
    check_scored,
    check_threshold,
    cut_of,
    direction_note,
    no_probability_note,
    threshold_behind,
)
from evenhand._data.groups import Groups, clusters, groups
from evenhand._data.places import discount_of
from evenhand._data.roles import Columns, grouped
from evenhand._data.summaries import Rows, Source, summarize, with_favorable
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tallies import Tally
from evenhand._data.tasks import (
    check_task,
    favorable_label,
    read_targets,
    scored_label,
    task_of_labels,
)
from evenhand._errors import InputError
from evenhand._kinds import check_distinct
from evenhand._words import plural

NOT_OF_LISTS = (
    *("threshold", "score_of", "strata", "rows", "rate", "replicate_weights", "replicate_method"),
    *("classes", "favorable"),
)


def evidence_from_rows(roles: Columns) -> Evidence:
    """Summarize columns of rows."""
    y_true, y_pred, y_score, favorable = roles.y_true, roles.y_pred, roles.y_score, roles.favorable
    at = check_threshold(roles.threshold, decided=y_pred is not None, scored=y_score is not None)
    columns = {
        "y_true": y_true,
        "y_pred": y_pred,
        "y_score": y_score,
        "sensitive_features": roles.sensitive_features,
    }
    common: dict[str, Any] = {"sample_weight": roles.sample_weight, "cluster": roles.cluster}
    check_distinct(**columns)
    check_order(**columns, **common, strata=roles.strata)
    group = grouped(roles)
    check_any(group.labels)
    common |= {"sensitive_features": group, "cluster": clusters(roles.cluster) or None}
    if y_pred is None and y_score is None:
        raise InputError("Pass y_pred, the predictions to audit, or y_score.")
    check_scored(roles.score_of, scored=y_score is not None)
    targets = read_targets(y_true, {} if y_pred is None else {"y_pred": y_pred}, roles.task)
    if targets.are_numbers:
        return _regression(y_true, y_pred, group, common)
    truth = None if y_true is None else classes(targets.y_true, "y_true")
    scores = None if y_score is None else _scores(y_score)
    scored = _Scores(scores, roles.score_of, favorable)
    decisions = _decisions(truth, targets.predictions.get("y_pred"), scored, at)
    counted = with_favorable(tally_columns(truth, decisions.column, **common), favorable)
    labels = counted.labels("yhat")
    good = favorable_label(labels, favorable, required=False)
    scored = scored.for_labels(labels)
    sources: dict[str, Source] = {"predictions": counted}
    if truth is not None:
        sources["labels"] = counted
    rows = Rows(
        truth,
        decisions.column,
        y_score=scored.scores,
        score_of=scored.score_of,
        strata=roles.strata,
        favorable=good,
        classes=None if scored.score_of is None else labels,
        **common,
    )
    if roles.strata is not None:
        sources["strata"] = with_favorable(summarize("strata", rows), favorable)
    evidence = Evidence(
        task_of_labels(labels, check_task(roles.task)),
        group.names,
        sources,
        labels,
        good,
        assumed=good is not None and favorable is None,
        decided_at=None if decisions.cut is None else decisions.cut.at,
        notes=(*decisions.notes(scored.score_of, good), *group.notes),
        score_of=scored.score_of,
    )
    if scores is None:
        return evidence
    return with_scores(evidence, rows, is_stated=roles.score_of is not None or scores.ndim == 2)


def evidence_of_lists(roles: Columns) -> Evidence:
    """Evidence of rankings, from the places of rows in lists."""
    if check_task(roles.task) not in (None, "ranking"):
        raise InputError(f"query= is of rankings, and task={roles.task!r}: drop one of them.")
    for name in NOT_OF_LISTS:
        if getattr(roles, name) is not None:
            raise InputError(f"{name}= is not used in a ranking (query=): drop it.")
    group = grouped(roles)
    check_any(group.labels)
    names = ("sample_weight", "cluster", "y_score", "query", "exposure", "discount", "top_k")
    columns = {name: getattr(roles, name) for name in names}
    check_distinct(
        y_true=roles.y_true, y_pred=roles.y_pred, y_score=roles.y_score, exposure=roles.exposure
    )
    lists = summarize("lists", Rows(roles.y_true, roles.y_pred, group, **columns))
    assert isinstance(lists, Tally)
    notes = (_how_counted(roles), *lists.notes)
    return Evidence("ranking", group.names, {"lists": lists}, notes=notes, top_k=roles.top_k)


def _how_counted(roles: Columns) -> str:
    """Note on the discount and on k, which the numbers of a ranking depend on."""
    note = "Exposure is what was measured (exposure=), not that of places."
    if roles.exposure is None:
        note = f"Exposure of a place: {discount_of(roles.discount).words}."
    if roles.top_k is not None:
        note += f" Top k: the first {plural(roles.top_k, 'place')}."
    return note


def with_scores(evidence: Evidence, rows: Rows, *, is_stated: bool) -> Evidence:
    """Add areas and losses of scores, and for two classes their distribution and calibration."""
    sources, notes = dict(evidence.sources), evidence.notes
    score = rows.y_score if rows.y_score.ndim == 1 else None
    if rows.y_true is not None and (evidence.score_of is not None or score is None):
        sources["ranks"] = ranks = summarize("ranks", rows)
        assert isinstance(ranks, RankedScores)
        if evidence.score_of is not None and not is_stated:
            check_direction(ranks.scores[0], evidence.score_of)
        notes = (*notes, *direction_note(ranks, evidence.score_of)) if is_stated else notes
    low, high = float(rows.y_score.min()), float(rows.y_score.max())
    if "ranks" in sources and not are_probabilities(low, high):
        notes = (*notes, no_probability_note(low, high, "The score"))
    elif "ranks" in sources:
        sources["losses"] = summarize("losses", rows)
        if len(evidence.classes) == 2:
            sources["bins"] = summarize("bins", rows)
    if score is None:
        return replace(evidence, sources=sources, notes=notes)
    names = ("sensitive_features", "sample_weight", "cluster")
    common = {name: getattr(rows, name) for name in names}
    sources["steps"] = ordered = distribution(score, **common)
    curve = None if rows.y_true is None else _thresholds(score, rows, ordered)
    at = evidence.decided_at
    if at is None and evidence.score_of is not None:
        at = _decided_at(score, rows.y_pred, evidence.score_of)
    return replace(evidence, sources=sources, thresholds=curve, decided_at=at, notes=notes)


def cut_scores(
    y_true: Any,
    y_score: Any,
    threshold: float | None,
    score_of: Label = None,
    favorable: Label = None,
) -> Decisions:
    """The decisions of a score at a threshold, by default at a half."""
    at = check_threshold(threshold, decided=False, scored=y_score is not None)
    truth = None if y_true is None else classes(y_true, "y_true")
    return _decisions(truth, None, _Scores(_scores(y_score), score_of, favorable), at)


def scores_of_label(
    y_score: Any, labels: Sequence[Label], score_of: Label = None, favorable: Label = None
) -> tuple[NDArray[np.float64], Label]:
    """Scores as an array, and the label that a single column of them is about."""
    scored = _Scores(_scores(y_score), score_of, favorable).for_labels(labels)
    assert scored.scores is not None
    return scored.scores, scored.score_of


class _Scores(NamedTuple):
    """Scores as given, with the label they are of and the favorable one, if named."""

    scores: NDArray[np.float64] | None
    score_of: Label
    favorable: Label

    def for_labels(self, labels: Sequence[Label]) -> _Scores:
        """A single column of scores of one of two labels; of two columns, the favorable one's."""
        if self.scores is None or len(labels) != 2:
            return self
        if self.scores.ndim == 1:
            return self._replace(score_of=scored_label(labels, self.score_of, self.favorable))
        if self.scores.shape[1] != 2:
            return self
        named = self.favorable if self.score_of is None else self.score_of
        label = labels[1] if named is None else scored_label(labels, named)
        return self._replace(scores=self.scores[:, labels.index(label)], score_of=label)


def _scores(y_score: Any) -> NDArray[np.float64]:
    """A column of finite numbers, or a matrix with a column for each of several labels."""
    if getattr(y_score, "ndim", 1) != 2:
        return finite(y_score, "y_score")
    scores = floats(y_score, "y_score")
    finite(scores.ravel(), "y_score")
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _decided_at(score: NDArray[np.float64], decision: Column, label: Label) -> float | None:
    """The threshold that explains the decisions for the score's label, if one does."""
    selected = decision.codes == (decision.labels.index(label) if label in decision.labels else -1)
    if selected.all() or not selected.any():
        return None
    return threshold_behind(float(score[selected].min()), float(score[~selected].max()))


def _thresholds(score: NDArray[np.float64], rows: Rows, ordered: Distribution) -> Tally:
    """Counts by score bin, truth and group; the edges are pooled quantiles."""
    at = np.linspace(0, len(ordered) - 1, MOST_THRESHOLDS).astype(np.intp)
    edges = np.unique(ordered.values[at])
    check_lengths(y_score=score, y_true=rows.y_true)
    codes = np.searchsorted(edges, score, side="right")
    bins = (-np.inf, *edges.tolist(), np.inf)
    survey = rows.sample_weight
    return count(
        {"bin": Column(codes.astype(np.uint32), bins[:-1]), "y": rows.y_true},
        groups(rows.sensitive_features),
        sample_weight=survey.weight if isinstance(survey, SurveyWeights) else survey,
        edges={"bin": bins},
    )


def _regression(y_true: Any, y_pred: Any, group: Groups, common: dict[str, Any]) -> Evidence:
    if y_pred is None:
        raise InputError("Pass y_pred, the predicted values.")
    rows = Rows(y_true, y_pred, **common)
    sources = {need: summarize(need, rows) for need in ("moments", "steps")}
    return Evidence("regression", group.names, sources, notes=group.notes)


class Decisions(NamedTuple):
    """Decisions, and the cut of the score if it decided."""

    column: Column
    cut: Cut | None = None

    def notes(self, label: Label, favorable: Label) -> tuple[str, ...]:
        return () if self.cut is None else (self.cut.note(label, favorable),)


def _decisions(
    truth: Column | None, y_pred: Any, scores: _Scores, threshold: float | None
) -> Decisions:
    """The predictions; without them, the score cut at the threshold or at a half."""
    if y_pred is not None:
        return Decisions(classes(y_pred, "y_pred"))
    assert scores.scores is not None
    several = scores.scores.ndim == 2 and scores.scores.shape[1] != 2
    if truth is None or len(truth.labels) != 2 or several:
        raise InputError("Pass y_pred: a score alone decides only between two known classes.")
    score, label, _ = scores.for_labels(truth.labels)
    assert score is not None
    at = truth.labels.index(label)
    check_lengths(y_true=truth, y_score=score)
    cut = cut_of(float(score.min()), float(score.max()), threshold, "y_score")
    codes = np.where(score >= cut.at, at, 1 - at).astype(np.uint8)
    return Decisions(Column(codes, truth.labels), cut)
