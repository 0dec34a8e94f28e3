"""Every score of the runs on one split, from what they predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.store import Store, Truth
from evenhand.benchmark.store.manifest import Entry
from evenhand.benchmark.store.predictions import Predictions
from evenhand.columns.column import Column
from evenhand.counting import count, moments
from evenhand.distributions import Distribution, distribution
from evenhand.expected import expected_tally
from evenhand.groups import Groups
from evenhand.sources import Rows, summarise
from evenhand.statistics import Statistic, Table
from evenhand.tally import Axis, Tally

Floats = NDArray[np.float64]
Answered = tuple[str, Predictions]  # with the lot
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
    truth: Truth, runs: Sequence[Answered], questions: Sequence[Question]
) -> Floats:
    """All runs at once: their counts are one tally, with a batch axis before the cells."""
    together = _stacked([counts(truth, *run) for run in runs], truth)
    values = np.full((len(questions), len(runs)), np.nan)
    scored = [i for i, (_, one) in enumerate(runs) if one.scores is not None]
    tables = _Tables(truth, [runs[i][1].scores for i in scored])
    for place, question in enumerate(questions):
        if question.measure is None:
            values[place] = _accuracy(together)
        elif question.asked.statistic.needs in ("predictions", "labels"):
            asked = question.asked  # only a question about one class looks at the favourable one
            favourable = truth.about["favourable"] if asked.one_class else None
            values[place] = _answers(question, asked.table(together, favourable))
        elif scored:
            values[place, scored] = _answers(question, tables[question.asked.statistic])
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
            each = [statistic.read(summarise(statistic.needs, rows)) for rows in self.rows]
            found = Table(np.array([one.values for one in each]), each[0].cells, self.groups)
        except ValueError:
            found = Table(
                np.full((len(self.rows), 1, len(self.groups)), np.nan), ("",), self.groups
            )
        self[statistic] = found
        return found


def _answers(question: Question, table: Table) -> Any:
    """An answer for each run; none where the measure refuses the values, such as negative ones."""
    asked, how = question.asked, question.how
    try:
        return asked.reading(table, how).value
    except ValueError:
        if len(table.values) == 1:
            return np.full(1, np.nan)
    each = [
        Table(values, table.cells, table.groups)
        for values in np.split(table.values, len(table.values))
    ]
    return np.concatenate([_answers(question, one) for one in each])


def _regression(truth: Truth, runs: Sequence[Answered], questions: Sequence[Question]) -> Floats:
    """Sums of all runs at once; distributions one by one."""
    drawn = [_Drawn.of(truth, *run) for run in runs]
    groups = (Axis("group", truth.groups),)
    tallies = [moments(one.y, one.yhat, sensitive_features=one.whom) for one in drawn]
    sums = {
        name: np.array([one.table("group", of=name) for one in tallies]) for name in tallies[0].sums
    }
    together = Tally(groups, np.arange(len(truth.groups))[None], sums)
    values = np.full((len(questions), len(runs)), np.nan)
    for place, question in enumerate(questions):
        if question.measure is None:
            values[place] = [one.performance(question.criterion) for one in drawn]
        elif question.asked.statistic.needs == "moments":
            with np.errstate(divide="ignore", invalid="ignore"):  # errors may be 0, their log −∞
                values[place] = _answers(question, question.asked.table(together))
    sweeps = [i for i, one in enumerate(questions) if one.measure and _sweeps(one)]
    for run, one in enumerate(drawn):
        steps = distribution(one.yhat, sensitive_features=one.whom)
        values[sweeps, run] = [_swept(questions[i], steps) for i in sweeps]
    return values


def _sweeps(question: Question) -> bool:
    return question.asked.statistic.needs == "steps"


def _swept(question: Question, steps: Distribution) -> float:
    how = question.how
    asked: dict[str, Any] = {"measure": how.measure, "aggregate": how.aggregate, "tau": how.tau}
    return float(question.asked.read(steps, transform=how.transform, **asked).value)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Truth and predictions; all draws below each other stand for the expectation."""

    y: Floats
    yhat: Floats
    whom: Groups

    @classmethod
    def of(cls, truth: Truth, lot: str, predictions: Predictions) -> _Drawn:
        assert predictions.values is not None
        drawn = predictions.values if lot == EXPECTED else predictions.values[:, :1]
        times = drawn.shape[1]
        yhat = drawn.astype(np.float64).ravel(order="F")
        return cls(np.tile(truth.y, times), yhat, whom(truth, times))

    def performance(self, name: str) -> float:
        error = self.y - self.yhat
        squared, spread = np.mean(error**2), np.var(self.y)
        found = {"rmse": np.sqrt(squared), "mae": np.mean(abs(error)), "r2": 1 - squared / spread}
        return float(found[name])
