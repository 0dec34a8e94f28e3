"""Predictions of several models for the same rows, coded and counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label
from evenhand._columns.encoding import classes, finite, weights
from evenhand._compare.design import Design
from evenhand._compare.labels import Labels
from evenhand._compare.lists import Lists
from evenhand._compare.numbers import Numbers
from evenhand._compare.scores import Scores, about
from evenhand._data.counting import share_classes
from evenhand._data.counts import line_counts
from evenhand._data.data import Data
from evenhand._data.evidence import check_scored, check_threshold
from evenhand._data.groups import clusters, groups, strata_of
from evenhand._data.rows import cut_scores, scores_of_label
from evenhand._data.summaries import Source
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tasks import Targets, Task, favorable_label, read_targets
from evenhand._errors import InputError

Floats = NDArray[np.float64]
Sources = Mapping[str, tuple[Source, ...]]  # for each need, a source for each model
Evidence = Labels | Numbers | Lists

MOST_REPEATED = 10_000_000


def evidence(
    data: Data,
    roles: Mapping[str, Any],
    predictions: Mapping[str, Any],
    scores: Mapping[str, Any],
    task: Task | None = None,
) -> Evidence:
    """Code every column once, without rows that are left out of all groups.

    Without predictions the scores decide. Where there are numbers of rows of each line, labels are
    counted with them, and lines of numbers, scores, clusters and surveys are repeated.
    """
    notes: tuple[str, ...] = ()
    check_threshold(data.threshold, decided=bool(predictions), scored=bool(scores))
    check_scored(data.score_of, scored=bool(scores))
    if not predictions:
        predictions, notes = _decided(data, roles["y_true"], scores)
    targets = read_targets(roles["y_true"], predictions, task)
    design = _design(roles)
    strata = None if roles["strata"] is None else strata_of(roles["strata"])
    _check_lengths(targets, design, {**scores, "strata": strata})
    inside, times = design.groups.codes < len(design.groups.labels), design.times
    if times is not None:
        inside &= times > 0
    kept: NDArray[Any] | None = None if inside.all() else inside
    by_row = targets.are_numbers or scores or design.clusters or design.survey is not None
    if times is not None and by_row:
        kept, design = _repeated(inside, times), replace(design, times=None)
    design = design if kept is None else design.taken(kept)
    truth, predicted = targets.y_true, targets.predictions
    if targets.are_numbers:
        for name, given in {"y_score": scores, "strata": strata}.items():
            if given:
                raise InputError(
                    f"{name}= is about models that predict labels, and these predict numbers."
                )
        values = tuple(_taken(finite(values, name), kept) for name, values in predicted.items())
        return Numbers(
            None if truth is None else _taken(finite(truth, "y_true"), kept), values, design
        )
    coded = {name: classes(values, name) for name, values in predicted.items()}
    if truth is not None:
        coded = {"y_true": classes(truth, "y_true"), **coded}
    shared = [
        Column(_taken(column.codes, kept), column.labels)
        for column in share_classes(coded, data.favorable).values()
    ]
    true_labels = shared.pop(0) if truth is not None else None
    if strata is not None:
        strata = Column(_taken(strata.codes, kept), strata.labels)
    scored = None
    if scores:
        arrays = {name: _taken(np.asarray(y), kept) for name, y in scores.items()}
        scored = _scored(data, true_labels, arrays, design, shared[0].labels)
        notes += tuple(scored.notes(data.score_of))
    return Labels(true_labels, tuple(shared), design, strata, scored, notes)


def _design(roles: Mapping[str, Any]) -> Design:
    """The groups, weights and clusters as given."""
    given = roles["sample_weight"]
    survey = given if isinstance(given, SurveyWeights) else None
    return Design(
        groups(roles["sensitive_features"]),
        weights(given) if survey is None else survey.weight,
        survey,
        clusters(roles["cluster"]),
        line_counts(roles["rows"]),
    )


def _decided(
    data: Data, y_true: Any, scores: Mapping[str, Any]
) -> tuple[dict[str, Column], tuple[str, ...]]:
    """The decisions of scores, and how they were made."""
    decisions = {}
    for name, y_score in scores.items():
        with about(name):
            decisions[name] = cut_scores(
                y_true, y_score, data.threshold, data.score_of, data.favorable
            )
    labels = next(iter(decisions.values())).column.labels
    good = favorable_label(labels, data.favorable, required=False)
    notes = dict[str, None]()
    for name, decision in decisions.items():
        _, label = scores_of_label(scores[name], labels, data.score_of, data.favorable)
        notes |= dict.fromkeys(decision.notes(label, good))
    return {name: decision.column for name, decision in decisions.items()}, tuple(notes)


def _scored(
    data: Data,
    truth: Column | None,
    scores: Mapping[str, Any],
    design: Design,
    labels: tuple[Label, ...],
) -> Scores:
    """The scores of every model, and the label that they are of."""
    arrays, label = [], None
    for name, y_score in scores.items():
        with about(name):
            array, label = scores_of_label(y_score, labels, data.score_of, data.favorable)
        arrays.append(array)
    favorable = favorable_label(labels, data.favorable, required=False)
    return Scores(tuple(scores), truth, tuple(arrays), design, labels, label, favorable)


def _repeated(inside: NDArray[np.bool_], times: NDArray[np.int64]) -> NDArray[np.intp]:
    """The positions of lines, each repeated by its number of rows."""
    used = np.flatnonzero(inside)
    if times[used].sum() > MOST_REPEATED:
        raise InputError(
            "Models that predict numbers or scores, and rows in clusters, are compared row by row; "
            f"{times.sum():,} rows are more "
            f"than the {MOST_REPEATED:,} that lines can be repeated to."
        )
    return np.repeat(used, times[used])


def _check_lengths(targets: Targets, design: Design, more: Mapping[str, Any]) -> None:
    rows = design.lines
    if not rows:
        raise InputError("There are no rows to compare on.")
    columns = {"y_true": targets.y_true, **targets.predictions, **more, **design.clusters}
    columns |= {"sample_weight": design.weight, "rows": design.times}
    for name, column in columns.items():
        if column is not None and len(column) != rows:
            raise InputError(
                f"Models are compared on the same rows: there are {rows} rows of "
                f"sensitive_features, but {len(column)} of {name}."
            )


def _taken(values: NDArray[Any], rows: NDArray[Any] | None) -> NDArray[Any]:
    return values if rows is None else values[rows]
