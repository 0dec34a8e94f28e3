"""Every score of the runs on one split, from their predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._data.counting import moments
from evenhand._data.distributions import Distribution, distribution
from evenhand._data.groups import Groups
from evenhand._data.summaries import KINDS, Rows, summarize
from evenhand._data.tallies import Axis, Tally
from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.predictions import Predictions, Truth
from evenhand.benchmark.sealed import DamagedFileError, read_about, read_columns, save_columns
from evenhand.benchmark.store import Entry, Store, counts, groups_of, plain
from evenhand.statistics import Statistic, Table

Floats = NDArray[np.float64]
Answered = tuple[str, Predictions]  # with the lot
EXPECTED, DRAWN, DRAWS = "expected", "drawn", "draws"
EMPTY_AS_ZERO = "empty as 0"
Lots = Literal["all", "expected"]
REPEATS = 20  # draws whose criteria are averaged


@dataclass(frozen=True, eq=False)
class SplitScores:
    """Answers (questions × answers), and the run and lot that each answer is about.

    Where a run decides at random, the lot is "expected" for the criterion of the table to be
    expected, "drawn" for that of one draw, and "draws" for its mean over many draws: a gap is
    convex, so the chance of single decisions adds to it. Other runs have the first only.
    "empty as 0" is what the score would be if a rate of no rows (0/0) counted as 0, as in other
    libraries: it is there only where such a rate exists, and only to be counted.
    """

    keys: tuple[str, ...]
    lots: tuple[str, ...]
    questions: tuple[Question, ...]
    values: NDArray[np.float64]


def scores(
    store: Store, entries: Sequence[Entry], questions: Sequence[Question], lots: Lots = "all"
) -> SplitScores:
    """Answer all questions about runs on the same split; NaN where there is no answer."""
    truth = store.truth(entries[0])
    if truth.classes and lots == "expected":
        return _from_counts(store, entries, questions, truth)
    stored = [(entry["key"], store.predictions(entry)) for entry in entries]
    rows = [(key, lot, predicted) for key, predicted in stored for lot in _lots(predicted, lots)]
    answered = [(lot, predicted) for _, lot, predicted in rows]
    keys, lots_of_answers = [key for key, _, _ in rows], [lot for _, lot, _ in rows]
    if not truth.classes:
        values = regression(truth, answered, questions)
        return SplitScores(tuple(keys), tuple(lots_of_answers), tuple(questions), values)
    values = classification(truth, answered, questions)
    tables = np.concatenate([_tables(truth, EXPECTED, predicted) for _, predicted in stored])
    zeroed = _empty_as_zero(_stacked(tables, truth), questions, truth)
    return _joined([key for key, _ in stored], zeroed, keys, lots_of_answers, questions, values)


def _from_counts(
    store: Store, entries: Sequence[Entry], questions: Sequence[Question], truth: Truth
) -> SplitScores:
    """Expected answers, those about labels from counts that were kept: files are not read again."""
    keys = [entry["key"] for entry in entries]
    tally = _stacked(stored_counts(store, entries, truth), truth)
    values = np.full((len(questions), len(keys)), np.nan)
    of_labels = _kinds(questions)[0]
    for place in of_labels:
        values[place] = _counted(questions[place], tally, truth)
    remaining = [place for place in range(len(questions)) if place not in of_labels]
    if remaining:
        runs = [(EXPECTED, store.predictions(entry)) for entry in entries]
        values[remaining] = classification(truth, runs, [questions[place] for place in remaining])
    zeroed = _empty_as_zero(tally, questions, truth)
    return _joined(keys, zeroed, keys, [EXPECTED] * len(keys), questions, values)


def _joined(
    runs: Sequence[str],
    zeroed: Floats,
    keys: Sequence[str],
    lots: Sequence[str],
    questions: Sequence[Question],
    values: Floats,
) -> SplitScores:
    """Answers, and those of runs with an empty cell if its rate were 0."""
    affected = np.flatnonzero(~np.isnan(zeroed).all(axis=0)).tolist()
    return SplitScores(
        (*keys, *(runs[run] for run in affected)),
        (*lots, *(EMPTY_AS_ZERO for _ in affected)),
        tuple(questions),
        np.hstack([values, zeroed[:, affected]]),
    )


def stored_counts(store: Store, entries: Sequence[Entry], truth: Truth) -> Floats:
    """Expected counts of runs on one split (runs × cells), stored next to the scores.

    They are a thousand times smaller than predictions, and all that a question about labels asks
    for: a new measure of old criteria reads these. Runs never change under their key.
    """
    name = f"{plain(entries[0]['problem'])}-{entries[0]['split_key']}.parquet"
    path = store.folder / "scores" / "counts" / name
    cells = len(truth.classes) ** 2 * len(truth.groups)
    counted: dict[str, Floats] = {}
    try:
        listed = read_about(path)["keys"]
        rows = read_columns(path)["count"].reshape(len(listed), cells)
        counted = dict(zip(listed, rows, strict=True))
    except (FileNotFoundError, DamagedFileError, ValueError):
        pass  # they are counted again
    new = {
        entry["key"]: _tables(truth, EXPECTED, store.predictions(entry))[0]
        for entry in entries
        if entry["key"] not in counted
    }
    if new:
        counted |= new
        flat = np.array(list(counted.values()), dtype=np.float64).ravel()
        save_columns(path, {"count": flat}, {"keys": list(counted)})
    return np.array([counted[entry["key"]] for entry in entries])


def _lots(predictions: Predictions, lots: Lots) -> tuple[str, ...]:
    return (EXPECTED, DRAWN, DRAWS) if predictions.by_lot and lots == "all" else (EXPECTED,)


def redrawn(truth: Truth, predictions: Predictions) -> Iterator[Predictions]:
    """Predictions of a run, draw by draw; a row has the same random number in all runs."""
    if predictions.chances is None:
        assert predictions.values is not None
        yield from (Predictions(values=draw[:, None]) for draw in predictions.values.T)
        return
    steps = np.cumsum(predictions.chances, axis=1)[:, :-1]
    for repeat in range(REPEATS):
        chance = np.random.default_rng([truth.about["seed"], repeat]).random(len(steps))
        labels = (chance[:, None] >= steps).sum(axis=1)
        yield Predictions(labels=labels.astype(np.min_scalar_type(steps.shape[1])))


def classification(truth: Truth, runs: Sequence[Answered], questions: Sequence[Question]) -> Floats:
    """Answers (questions × runs); NaN where a run has no answer."""
    values = np.full((len(questions), len(runs)), np.nan)
    of_labels, of_probabilities, of_distributions = _kinds(questions)
    if of_labels:
        tables = [_tables(truth, lot, predictions) for lot, predictions in runs]
        repeats = [len(table) for table in tables]
        tally = _stacked(np.concatenate(tables), truth)
        for i in of_labels:
            values[i] = _means(_counted(questions[i], tally, truth), repeats)
    scored = [i for i, (_, item) in enumerate(runs) if item.scores is not None]
    of_scores = _Tables(truth, [runs[i][1].scores for i in scored] if of_probabilities else [])
    for i in of_probabilities if scored else ():
        values[i, scored] = answers(questions[i], of_scores[questions[i].asked.statistic])
    swept_questions = [questions[i] for i in of_distributions]
    for place, run in enumerate(runs):
        values[of_distributions, place] = _spread(truth, run, swept_questions)
    return values


def _kinds(questions: Sequence[Question]) -> tuple[list[int], list[int], list[int]]:
    """The places of questions about labels, about probabilities, and about all their values."""
    performance = KINDS["labels"]
    kinds = [question.asked.kind if question.measure else performance for question in questions]
    labels = [i for i, kind in enumerate(kinds) if kind.about == "labels"]
    steps = [i for i, kind in enumerate(kinds) if kind.is_swept]
    return labels, sorted({*range(len(kinds))} - {*labels, *steps}), steps


def _counted(question: Question, together: Tally, truth: Truth) -> Any:
    """All runs at once: their counts are one tally, with a batch axis before the cells."""
    if question.measure is None:
        return _accuracy(together)
    return answers(question, _rates(question, together, truth))


def _rates(question: Question, tally: Tally, truth: Truth) -> Table:
    criterion = question.asked  # only a question about one class looks at the favorable one
    favorable = truth.about["favorable"] if criterion.one_class else None
    return criterion.table(tally, favorable)


def _empty_as_zero(together: Tally, questions: Sequence[Question], truth: Truth) -> Floats:
    """Expected answers where a group has no rows to count, if their rate were 0; else NaN."""
    runs = len(together.sums["rows"])
    values = np.full((len(questions), runs), np.nan)
    for place in _kinds(questions)[0]:
        question = questions[place]
        if question.measure is None:
            continue
        table = _rates(question, together, truth)
        empty = np.isnan(table.values).reshape(runs, -1).any(axis=1)
        if empty.any():
            filled = Table(np.nan_to_num(table.values[empty]), table.cells, table.groups)
            values[place, empty] = answers(question, filled)
    return values


def _spread(truth: Truth, run: Answered, questions: Sequence[Question]) -> Any:
    """How a probability of two classes is distributed; NaN where a run gives labels only."""
    lot, predictions = run
    chances = predictions.scores if predictions.chances is None else predictions.chances
    if chances is None or lot != EXPECTED or len(truth.classes) != 2:
        return np.nan
    favorable = truth.about["favorable"]
    score = chances[:, 1 if favorable is None else favorable]
    steps = distribution(score, sensitive_features=groups_of(truth))
    return [swept(question, steps) for question in questions]


def _tables(truth: Truth, lot: str, predictions: Predictions) -> Floats:
    """Counts (tables × cells) of a run: one table, or that of every draw."""
    several = redrawn(truth, predictions) if lot == DRAWS else (predictions,)
    tallies = (counts(truth, draw, drawn=lot != EXPECTED) for draw in several)
    return np.array([tally.table("y", "yhat", "group").ravel() for tally in tallies])


def _means(values: Any, repeats: Sequence[int]) -> Floats:
    """Answers about every table, averaged over those of the same run.

    >>> _means(np.array([1.0, 0.0, 4.0]), [1, 2])
    array([1., 2.])
    """
    starts = np.cumsum([0, *repeats[:-1]], dtype=np.intp)
    return np.asarray(np.add.reduceat(values, starts) / repeats)


def _stacked(tables: Floats, truth: Truth) -> Tally:
    classes, groups = tuple(range(len(truth.classes))), truth.groups
    shape = (len(classes), len(classes), len(groups))
    axes = (Axis("y", classes), Axis("yhat", classes), Axis("group", groups))
    return Tally(axes, np.indices(shape).reshape(3, -1), {"rows": tables})


def _accuracy(together: Tally) -> Floats:
    table = together.table("y", "yhat")
    return np.asarray(np.trace(table, axis1=-2, axis2=-1) / table.sum(axis=(-2, -1)))


class _Tables(dict[Statistic, Table]):
    """Tables of statistics of probabilities, computed when first needed."""

    def __init__(self, truth: Truth, matrices: Sequence[Any]) -> None:
        super().__init__()
        classes = tuple(range(len(truth.classes)))
        self.groups = truth.groups
        self.rows = [
            Rows(truth.y, None, groups_of(truth), y_score=m, classes=classes) for m in matrices
        ]

    def __missing__(self, statistic: Statistic) -> Table:
        """The table of a statistic; NaN where it is not defined, as for too many classes."""
        try:
            readings = [statistic.read(summarize(statistic.needs, rows)) for rows in self.rows]
            values = np.array([reading.values for reading in readings])
            table = Table(values, readings[0].cells, self.groups)
        except ValueError:
            table = Table(
                np.full((len(self.rows), 1, len(self.groups)), np.nan), ("",), self.groups
            )
        self[statistic] = table
        return table


def regression(truth: Truth, runs: Sequence[Answered], questions: Sequence[Question]) -> Floats:
    """Sums of all runs at once; distributions one by one."""
    by_run = [_draws(truth, *run) for run in runs]
    draws = [draw for run in by_run for draw in run]
    repeats = [len(run) for run in by_run]
    groups = (Axis("group", truth.groups),)
    tallies = [moments(draw.y, draw.yhat, sensitive_features=draw.groups) for draw in draws]
    sums = {
        name: np.array([tally.table("group", of=name) for tally in tallies])
        for name in tallies[0].sums
    }
    stacked = Tally(groups, np.arange(len(truth.groups))[None], sums)
    values = np.full((len(questions), len(runs)), np.nan)
    for place, question in enumerate(questions):
        if question.measure is None:
            performance = [draw.performance(question.criterion) for draw in draws]
            values[place] = _means(performance, repeats)
        elif question.asked.kind.about == "numbers" and not sweeps(question):
            with np.errstate(divide="ignore", invalid="ignore"):  # errors may be 0, their log −∞
                values[place] = _means(answers(question, question.asked.table(stacked)), repeats)
    about_all = [i for i, item in enumerate(questions) if item.measure and sweeps(item)]
    spreads = (distribution(draw.yhat, sensitive_features=draw.groups) for draw in draws)
    swept_each = np.array([[swept(questions[i], steps) for i in about_all] for steps in spreads])
    for column, place in enumerate(about_all):
        values[place] = _means(swept_each[:, column], repeats)
    return values


def _draws(truth: Truth, lot: str, predictions: Predictions) -> list[_Draw]:
    several = redrawn(truth, predictions) if lot == DRAWS else (predictions,)
    return [_Draw.of(truth, lot, draw) for draw in several]


@dataclass(frozen=True, eq=False)
class _Draw:
    """Truth and predictions; for the expectation, all draws one below another."""

    y: Floats
    yhat: Floats
    groups: Groups

    @classmethod
    def of(cls, truth: Truth, lot: str, predictions: Predictions) -> _Draw:
        assert predictions.values is not None
        values = predictions.values if lot == EXPECTED else predictions.values[:, :1]
        times = values.shape[1]
        yhat = values.astype(np.float64).ravel(order="F")
        return cls(np.tile(truth.y, times), yhat, groups_of(truth, times))

    def performance(self, name: str) -> float:
        error = self.y - self.yhat
        squared, spread = np.mean(error**2), np.var(self.y)
        performance = {
            "rmse": np.sqrt(squared),
            "mae": np.mean(abs(error)),
            "r2": 1 - squared / spread,
        }
        return float(performance[name])


def answers(question: Question, table: Table) -> Any:
    """An answer for each run; none where the measure refuses the values, such as negative ones."""
    criterion, how = question.asked, question.how
    try:
        return criterion.reading(table, how).value
    except ValueError:
        if len(table.values) == 1:
            return np.full(1, np.nan)
    tables = [
        Table(values, table.cells, table.groups)
        for values in np.split(table.values, len(table.values))
    ]
    return np.concatenate([answers(question, table_of_run) for table_of_run in tables])


def sweeps(question: Question) -> bool:
    """Whether a question is about distributions."""
    return question.asked.kind.is_swept


def swept(question: Question, steps: Distribution) -> float:
    """The answer to a question about distributions, by group."""
    how = question.how
    options: dict[str, Any] = {"measure": how.measure, "aggregate": how.aggregate, "tau": how.tau}
    return float(question.asked.read(steps, transform=how.transform, **options).value)
