"""Fit a treatment over its grid on a prepared split, and predict the test rows."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from evenhand.benchmark.predictions import BaseScores, Predictions
from evenhand.benchmark.running.hearing import collected_warnings
from evenhand.benchmark.running.preparation import GROUP, Prepared, aligned
from evenhand.datasets.draws import some
from evenhand.mitigation import GivenProbabilities, GivenScores

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark.design.studies import Run
    from evenhand.benchmark.design.treatments import Treatment

DRAWS = 20  # of a regressor that draws: their mean estimates its expectation
ROW = "row"
MOST_SCORES = 200_000  # test rows up to which probabilities are stored with labels

Answer = tuple[Predictions, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A run that is over: its predictions, or why there are none."""

    run: Run
    predictions: Predictions | None
    notes: tuple[str, ...] = ()
    error: str | None = None
    trace: str | None = None
    cpu_seconds: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Work:
    """A treatment's estimator, the rows it is fitted to, and those it predicts."""

    treatment: Treatment
    estimator: Any
    X: Any
    y: Any
    X_test: Any
    n_classes: int
    seed: int

    @classmethod
    def of_scores(cls, scores: BaseScores, treatment: Treatment) -> Work:
        """For a post-processor, which reads scores and group."""
        X, seed = scored(scores), scores.about["seed"]
        rows = _fitted_rows(np.flatnonzero(scores.fits), treatment, seed)
        y = scores.y[rows]
        base = _score_reader(scores.n_classes)
        options = {"group": GROUP, "sees_group": True, "prefit": True, "unseen": "base"}
        options |= {"random_state": seed, "favorable": scores.about["favorable"]}
        if "row_id" in _parameters(
            treatment
        ):  # rows of equal scores each draw their own random number
            X, options = X.assign(**{ROW: np.arange(len(X))}), {**options, "row_id": ROW}
        return cls(
            treatment,
            _estimator(treatment, base, options),
            X.iloc[rows],
            y.astype(np.int64) if scores.n_classes else y,
            X.iloc[scores.test],
            scores.n_classes,
            seed,
        )

    @classmethod
    def of_features(cls, prepared: Prepared, treatment: Treatment) -> Work:
        """For another method, which reads the base model's features and the group's number."""
        X, group = prepared.featured
        rows: Any = X.iloc if hasattr(X, "iloc") else X
        chosen = _fitted_rows(np.arange(prepared.fitted), treatment, prepared.seed)
        options = {"group": group, "sees_group": False, "prefit": False, "unseen": "base"}
        options |= {"random_state": prepared.seed, "favorable": prepared.favorable}
        return cls(
            treatment,
            _estimator(treatment, _base(treatment, prepared), options),
            rows[chosen],
            prepared.y[chosen],
            rows[prepared.fitted :],
            prepared.n_classes,
            prepared.seed,
        )

    def fitted(self, values: Sequence[float | None]) -> Iterator[Any]:
        """Fitted estimators for the values of the grid, in one go where the method can."""
        method = self.treatment.method
        assert method is not None
        if method.hyperparameter is None:
            yield from (clone(self.estimator).fit(self.X, self.y) for _ in values)
        elif hasattr(self.estimator, "fit_path"):
            yield from self.estimator.fit_path(self.X, self.y, values)
        else:
            for value in values:
                estimator = clone(self.estimator).set_params(**{method.hyperparameter: value})
                yield estimator.fit(self.X, self.y)


def scored(scores: BaseScores) -> pd.DataFrame:
    """Group and scores: the input of a post-processor."""
    import pandas as pd

    labels = pd.Index(scores.about["groups"])
    group = pd.Categorical.from_codes(scores.group, categories=labels)
    names = score_names(scores.scores.shape[1])
    return pd.DataFrame({GROUP: group, **dict(zip(names, scores.scores.T, strict=True))})


def score_names(number: int) -> list[str]:
    """The columns that hold the scores.

    >>> score_names(2)
    ['score 0', 'score 1']
    """
    return [f"score {k}" for k in range(number)]


def base_outcomes(scores: BaseScores, runs: Sequence[Run]) -> Iterator[Outcome]:
    """The base model as it is."""
    notes, spent = tuple(scores.about["notes"]), scores.about["cpu_seconds"]
    for run in runs:
        yield Outcome(run, _base_predictions(scores), notes=notes, cpu_seconds=spent)


def outcomes(work: Work, runs: Sequence[Run]) -> Iterator[Outcome]:
    """The runs of one treatment, each as soon as it is over; one that fails stops no other."""
    waiting = list(runs)
    while waiting:
        path = work.fitted([run.hyperparameter for run in waiting])
        for run in tuple(waiting):
            outcome = _timed(run, partial(_next_answer, path, work))
            waiting.remove(run)
            yield outcome
            if outcome.error is not None:  # a path that failed has ended: begin another
                break


def _timed(run: Run, work: Callable[[], Answer]) -> Outcome:
    cpu, wall = time.thread_time(), time.perf_counter()
    result: dict[str, Any] = {"predictions": None}
    with collected_warnings() as warned:
        try:
            result["predictions"], result["notes"] = work()
        except Exception as failure:
            result["error"] = f"{type(failure).__name__}: {failure}"
            result["trace"] = traceback.format_exc()
    result["notes"] = (*result.get("notes", ()), *warned)
    result["cpu_seconds"] = time.thread_time() - cpu
    result["seconds"] = time.perf_counter() - wall
    return Outcome(run=run, **result)


def _fitted_rows(rows: NDArray[np.intp], treatment: Treatment, seed: int) -> NDArray[np.intp]:
    """The rows a method is fitted to: all of them, or a sample of at most `fit_rows`."""
    if treatment.fit_rows is None or treatment.fit_rows >= len(rows):
        return rows
    return np.asarray(rows[some(len(rows), treatment.fit_rows, seed)])


def _estimator(treatment: Treatment, underlying: Any, options: dict[str, Any]) -> Any:
    """The method's estimator with those of the options that it takes."""
    method, parameters = treatment.method, _parameters(treatment)
    assert method is not None
    options = {name: value for name, value in options.items() if name in parameters}
    if "criterion" in parameters and treatment.constraint is not None:
        options["criterion"] = treatment.constraint
    return method(underlying, **{**options, **treatment.settings})


def _parameters(treatment: Treatment) -> set[str]:
    assert treatment.method is not None
    return set(treatment.method.estimator._get_param_names())


def _base(treatment: Treatment, prepared: Prepared) -> Any:
    """A new base model; None for a method that fits a model of its own."""
    assert treatment.method is not None
    return clone(prepared.model) if treatment.method.needs_base else None


def _score_reader(n_classes: int) -> Any:
    if n_classes:
        return GivenProbabilities(score_names(n_classes))
    return GivenScores(score_names(1)[0])


def _base_predictions(scores: BaseScores) -> Predictions:
    tested = scores.scores[scores.test]
    if not scores.n_classes:
        return Predictions(values=tested)
    small = np.min_scalar_type(scores.n_classes)
    return Predictions(labels=tested.argmax(axis=1).astype(small), scores=tested)


def _next_answer(path: Iterator[Any], work: Work) -> Answer:
    fitted, method = next(path), work.treatment.method
    assert method is not None
    answer = _classified if work.n_classes else _regressed
    notes = tuple(getattr(fitted, "notes_", ()))
    return answer(fitted, work, method.randomized), notes


def _classified(fitted: Any, work: Work, by_lot: bool) -> Predictions:
    labels = np.asarray(fitted.predict(work.X_test)).astype(np.min_scalar_type(work.n_classes))
    if not by_lot and (len(labels) > MOST_SCORES or not hasattr(fitted, "predict_proba")):
        return Predictions(labels=labels)
    chances = aligned(fitted.predict_proba(work.X_test), fitted.classes_, work.n_classes)
    if by_lot:
        return Predictions(labels=labels, chances=chances)
    certain = bool(np.isin(chances, (0.0, 1.0)).all())
    return Predictions(labels=labels, scores=None if certain else chances)


def _regressed(fitted: Any, work: Work, by_lot: bool) -> Predictions:
    first = np.ravel(fitted.predict(work.X_test))
    if not by_lot or "random_state" not in fitted.get_params():
        return Predictions(values=first[:, None])
    seeds = work.seed + 1000 * np.arange(1, DRAWS)
    further = [np.ravel(fitted.set_params(random_state=int(s)).predict(work.X_test)) for s in seeds]
    values = np.column_stack([first, *further])
    is_constant = bool((values == values[:, :1]).all())
    return Predictions(values=values[:, :1] if is_constant else values)
