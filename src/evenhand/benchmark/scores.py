"""Every score of the runs on one split, from what they predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.benchmark.predictions import Predictions
from evenhand.benchmark.questions import Question
from evenhand.benchmark.store import Store, Truth
from evenhand.benchmark.store.manifest import Entry
from evenhand.columns.column import Column
from evenhand.counting import count, moments
from evenhand.criteria import Criterion
from evenhand.distributions import distribution
from evenhand.expected import expected_tally
from evenhand.groups import Groups
from evenhand.sources import Rows, summarise
from evenhand.statistics import Table
from evenhand.tally import Axis, Tally

Floats = NDArray[np.float64]
EXPECTED, DRAWN = "expected", "drawn"


@dataclass(frozen=True, eq=False)
class Scores:
    """Answers (questions × answers), and the run and lot that each answer is about.

    The lot is "expected" for what a decision by lot comes to on average, "drawn" for one draw.
    A run that decides nothing by lot has the first only.
    """

    keys: tuple[str, ...]
    lots: tuple[str, ...]
    questions: tuple[Question, ...]
    values: Floats


def scores(store: Store, entries: Sequence[Entry], questions: Sequence[Question]) -> Scores:
    """Answer all questions about runs on the same split; NaN where there is no answer."""
    truth = store.truth(entries[0])
    found = [(entry["key"], store.predictions(entry)) for entry in entries]
    named = [(key, lot, one) for key, one in found for lot in _lots(one)]
    answer = _classification if truth.classes else _regression
    values = answer(truth, [(lot, one) for _, lot, one in named], questions)
    keys, lots = tuple(key for key, _, _ in named), tuple(lot for _, lot, _ in named)
    return Scores(keys, lots, tuple(questions), values)


def _lots(predictions: Predictions) -> tuple[str, ...]:
    return (EXPECTED, DRAWN) if predictions.by_lot else (EXPECTED,)


def whom(truth: Truth, times: int = 1) -> Groups:
    """The groups of the test rows, all of them so many times over."""
    return Groups(np.tile(truth.group, times).astype(np.uint32), truth.groups, ("group",))


def counts(truth: Truth, lot: str, predictions: Predictions) -> Tally:
    """Rows by true class, predicted class and group; expected rows where classes are drawn."""
    classes = tuple(range(len(truth.classes)))
    if predictions.chances is not None and lot == EXPECTED:
        return expected_tally(
            truth.y, predictions.chances, classes=classes, sensitive_features=whom(truth)
        )
    assert predictions.labels is not None
    columns = {"y": Column(truth.y, classes), "yhat": Column(predictions.labels, classes)}
    return count(columns, whom(truth))


def _classification(
    truth: Truth, runs: Sequence[tuple[str, Predictions]], questions: Sequence[Question]
) -> Floats:
    """All runs at once: their counts are one tally, with a batch axis before the cells."""
    together = _stacked([counts(truth, *run) for run in runs], truth)
    values = np.full((len(questions), len(runs)), np.nan)
    scored = [i for i, (_, one) in enumerate(runs) if one.scores is not None]
    matrices = [runs[i][1].scores for i in scored]
    for place, question in enumerate(questions):
        if question.measure is None:
            values[place] = _accuracy(together)
        elif question.asked.statistic.needs in ("predictions", "labels"):
            table = question.asked.table(together, truth.about["favourable"])
            values[place] = _value(question, table)
    for place, question, tables in _of_scores(truth, matrices, questions):
        values[place, scored] = [_value(question, table) for table in tables]
    return values


def _stacked(tallies: Sequence[Tally], truth: Truth) -> Tally:
    classes, groups = tuple(range(len(truth.classes))), truth.groups
    tables = [tally.table("y", "yhat", "group").ravel() for tally in tallies]
    shape = (len(classes), len(classes), len(groups))
    axes = (Axis("y", classes), Axis("yhat", classes), Axis("group", groups))
    return Tally(axes, np.indices(shape).reshape(3, -1), {"rows": np.array(tables)})


def _accuracy(together: Tally) -> Floats:
    table = together.table("y", "yhat")
    return np.asarray(np.trace(table, axis1=-2, axis2=-1) / table.sum(axis=(-2, -1)))


def _of_scores(
    truth: Truth, matrices: Sequence[Any], questions: Sequence[Question]
) -> Iterator[tuple[int, Question, list[Table]]]:
    """The questions that look at probabilities; those of one statistic read the same tables."""
    known: dict[Any, list[Table]] = {}
    for place, question in enumerate(questions):
        if question.measure is None:
            continue
        asked = question.asked
        if asked.statistic.needs in ("ranks", "losses", "bins"):
            if asked.statistic not in known:
                known[asked.statistic] = [_table(truth, one, asked) for one in matrices]
            yield place, question, known[asked.statistic]


def _table(truth: Truth, matrix: Any, asked: Criterion) -> Table:
    classes = tuple(range(len(truth.classes)))
    rows = Rows(truth.y, None, whom(truth), y_score=matrix, classes=classes)
    return asked.table(summarise(asked.statistic.needs, rows))


def _value(question: Question, table: Table) -> Any:
    """The answer; none where the measure refuses the values, such as negative ones."""
    try:
        return question.asked.reading(table, question.how).value
    except ValueError:
        return np.nan


def _regression(
    truth: Truth, runs: Sequence[tuple[str, Predictions]], questions: Sequence[Question]
) -> Floats:
    return np.array([_values(truth, lot, one, questions) for lot, one in runs]).T


def _values(
    truth: Truth, lot: str, predictions: Predictions, questions: Sequence[Question]
) -> list[float]:
    """All draws together stand for the expectation, the first for one draw."""
    assert predictions.values is not None
    drawn = predictions.values if lot == EXPECTED else predictions.values[:, :1]
    times = drawn.shape[1]
    groups, yhat, y = whom(truth, times), drawn.ravel(order="F"), np.tile(truth.y, times)
    sums = moments(y, yhat, sensitive_features=groups)
    sources = {"moments": sums, "steps": distribution(yhat, sensitive_features=groups)}
    error = y - yhat
    performance = {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "mae": float(np.mean(abs(error))),
        "r2": float(1 - np.mean(error**2) / np.var(y)),
    }
    return [
        performance[one.criterion] if one.measure is None else _read(one, sources)
        for one in questions
    ]


def _read(question: Question, sources: dict[str, Any]) -> float:
    asked, how = question.asked, question.how
    source = sources[asked.statistic.needs]
    try:
        with np.errstate(divide="ignore", invalid="ignore"):  # errors may be 0, and logs of them −∞
            return float(
                asked.read(
                    source,
                    measure=how.measure,
                    aggregate=how.aggregate,
                    transform=how.transform,
                    tau=how.tau,
                ).value
            )
    except ValueError:
        return float("nan")
