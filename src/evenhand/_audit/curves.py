"""Curves to draw: criteria along all decision thresholds, and the groups' distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.codes import positions
from evenhand._data.distributions import Distribution
from evenhand._data.evidence import Evidence
from evenhand._data.tallies import Axis, Tally
from evenhand.criteria.questions import Question

Floats = NDArray[np.float64]

POINTS, MOST_GROUPS = 200, 40


@dataclass(frozen=True, eq=False)
class Curve:
    """The value of a criterion by a measure at every threshold."""

    criterion: str
    measure: str
    values: Floats


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Curves over thresholds: rows at or above one are predicted to have the score's label."""

    at: Floats
    curves: tuple[Curve, ...]
    used: float | None


@dataclass(frozen=True, eq=False)
class Levels:
    """The cumulative distribution of each group (groups, points) and of all rows."""

    of: str
    at: Floats
    groups: tuple[Label, ...]
    levels: Floats
    pooled: Floats


def threshold_curves(evidence: Evidence, questions: Sequence[Question]) -> Thresholds | None:
    """Criteria of labels, as the threshold moves over the scores."""
    counts = evidence.thresholds
    if counts is None or evidence.favorable is None or "steps" not in evidence.sources:
        return None
    decided = decisions(counts, evidence.classes, evidence.score_of)
    curves = [
        Curve(
            question.name,
            measure,
            np.asarray(question.criterion(decided, measure=measure, favorable=favorable)),
        )
        for question in questions
        if question.criterion.kind.about == "labels"
        for favorable in [evidence.favorable_in(one_class=question.criterion.one_class)]
        for measure in question.measures
    ]
    edges = np.array(counts.labels("bin")[1:-1], dtype=np.float64)
    return Thresholds(edges, tuple(curves), evidence.decided_at)


def decisions(counts: Tally, classes: tuple[Label, ...], score_of: Label) -> Tally:
    """A tally (thresholds; y, ŷ, group) from counts by score bin, y and group."""
    table = counts.table("bin", "y", "group")
    selected = np.cumsum(table[::-1], axis=0)[::-1][1:]
    by_decision = {True: selected, False: np.cumsum(table, axis=0)[:-1]}
    rows = np.zeros((len(selected), len(classes), len(classes), len(counts.groups)))
    truth = positions(counts.labels("y"), classes)
    for k, label in enumerate(classes):
        rows[:, truth, k] = by_decision[label == score_of]
    axes = (Axis("y", classes), Axis("yhat", classes), Axis("group", counts.groups))
    cells = np.indices(rows.shape[1:], dtype=np.intp).reshape(3, -1)
    return Tally(axes, cells, {"rows": rows.reshape(len(rows), -1)})


def levels_of(evidence: Evidence) -> Levels | None:
    """The groups' distributions at pooled quantiles; of the largest groups if there are many."""
    scores = evidence.sources.get("steps")
    if not isinstance(scores, Distribution):
        return None
    at = np.unique(scores.values[np.linspace(0, len(scores) - 1, POINTS).astype(np.intp)])
    groups = len(scores.groups)
    bins = np.searchsorted(at, scores.values, side="left")
    key = scores.codes.astype(np.intp) * len(at) + bins
    table = np.bincount(key, scores.weights, minlength=groups * len(at)).reshape(groups, len(at))
    size = table.sum(axis=1)
    largest = np.sort(np.argsort(-size, kind="stable")[:MOST_GROUPS])
    groups_drawn = largest[size[largest] > 0]
    below = np.cumsum(table, axis=1)
    pooled = below.sum(axis=0) / size.sum()
    variable = "prediction" if evidence.task == "regression" else "score"
    names = tuple(scores.groups[i] for i in groups_drawn)
    return Levels(variable, at, names, below[groups_drawn] / size[groups_drawn, None], pooled)
