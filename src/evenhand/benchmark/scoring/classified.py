"""Answers about classifiers: from counts, from probabilities, and from their distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._distributions import distribution
from evenhand._tally import Axis, Tally
from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.scoring.answers import answers, swept
from evenhand.benchmark.scoring.counted import EXPECTED, Answered, counts, whom
from evenhand.benchmark.store import Truth
from evenhand.statistics import Statistic, Table
from evenhand.statistics.kinds import Rows, summarize

Floats = NDArray[np.float64]


def classification(truth: Truth, runs: Sequence[Answered], questions: Sequence[Question]) -> Floats:
    """Answers (questions × runs); NaN where a run cannot be asked."""
    values = np.full((len(questions), len(runs)), np.nan)
    of_labels, of_probabilities, of_distributions = _kinds(questions)
    together = _stacked([counts(truth, *run) for run in runs], truth)
    for i in of_labels:
        values[i] = _counted(questions[i], together, truth)
    scored = [i for i, (_, one) in enumerate(runs) if one.scores is not None]
    tables = _Tables(truth, [runs[i][1].scores for i in scored])
    for i in of_probabilities if scored else ():
        values[i, scored] = answers(questions[i], tables[questions[i].asked.statistic])
    asked = [questions[i] for i in of_distributions]
    for place, run in enumerate(runs):
        values[of_distributions, place] = _spread(truth, run, asked)
    return values


def _kinds(questions: Sequence[Question]) -> tuple[list[int], list[int], list[int]]:
    """The places of questions about labels, about probabilities, and about all their values."""
    needs = [one.asked.statistic.needs if one.measure else "labels" for one in questions]
    labels = [i for i, one in enumerate(needs) if one in ("predictions", "labels")]
    steps = [i for i, one in enumerate(needs) if one == "steps"]
    return labels, sorted({*range(len(needs))} - {*labels, *steps}), steps


def _counted(question: Question, together: Tally, truth: Truth) -> Any:
    """All runs at once: their counts are one tally, with a batch axis before the cells."""
    if question.measure is None:
        return _accuracy(together)
    asked = question.asked  # only a question about one class looks at the favorable one
    favorable = truth.about["favorable"] if asked.one_class else None
    return answers(question, asked.table(together, favorable))


def _spread(truth: Truth, run: Answered, questions: Sequence[Question]) -> Any:
    """How a probability of two classes is distributed; NaN where a run gives labels only."""
    lot, predictions = run
    found = predictions.scores if predictions.chances is None else predictions.chances
    if found is None or lot != EXPECTED or len(truth.classes) != 2:
        return np.nan
    favorable = truth.about["favorable"]
    score = found[:, 1 if favorable is None else favorable]
    steps = distribution(score, sensitive_features=whom(truth))
    return [swept(question, steps) for question in questions]


def _stacked(tallies: Sequence[Tally], truth: Truth) -> Tally:
    classes, groups = tuple(range(len(truth.classes))), truth.groups
    tables = [tally.table("y", "yhat", "group").ravel() for tally in tallies]
    shape = (len(classes), len(classes), len(groups))
    axes = (Axis("y", classes), Axis("yhat", classes), Axis("group", groups))
    return Tally(axes, np.indices(shape).reshape(3, -1), {"rows": np.array(tables)})


def _accuracy(together: Tally) -> Floats:
    table = together.table("y", "yhat")
    return np.asarray(np.trace(table, axis1=-2, axis2=-1) / table.sum(axis=(-2, -1)))


class _Tables(dict[Statistic, Table]):
    """Tables of statistics that look at probabilities, made when they are first asked for."""

    def __init__(self, truth: Truth, matrices: Sequence[Any]) -> None:
        super().__init__()
        classes = tuple(range(len(truth.classes)))
        self.groups = truth.groups
        self.rows = [Rows(truth.y, None, whom(truth), y_score=m, classes=classes) for m in matrices]

    def __missing__(self, statistic: Statistic) -> Table:
        """Nothing but NaN where it is not defined, as for too many classes."""
        try:
            each = [statistic.read(summarize(statistic.needs, rows)) for rows in self.rows]
            found = Table(np.array([one.values for one in each]), each[0].cells, self.groups)
        except ValueError:
            found = Table(
                np.full((len(self.rows), 1, len(self.groups)), np.nan), ("",), self.groups
            )
        self[statistic] = found
        return found
