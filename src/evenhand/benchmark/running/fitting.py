"""Fit a treatment over its grid on a prepared split, and predict the test rows."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from evenhand.benchmark.running.preparation import (
    GROUP,
    Prepared,
    aligned,
    score_names,
)
from evenhand.benchmark.store import Predictions
from evenhand.datasets.draws import some
from evenhand.mitigation import GivenProbabilities, GivenScores

if TYPE_CHECKING:
    from evenhand.benchmark.design.studies import Run, Treatment

DRAWS = 20  # of a regressor that draws: their mean stands for its expectation
MOST_SCORES = 200_000  # test rows up to which probabilities are kept beside labels

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
    """A treatment's estimator, the rows it is fitted to, and those it is asked about."""

    treatment: Treatment
    estimator: Any
    X: Any
    y: Any
    X_test: Any

    @classmethod
    def of(cls, prepared: Prepared, treatment: Treatment) -> Work:
        """Post-processors read scores, and other methods the features."""
        assert treatment.method is not None
        after = treatment.method.stage == "post"
        whole: Any = prepared.scored if after else prepared.featured
        kept = _kept(prepared, treatment)
        rows: Any = whole.iloc if after else whole
        test = slice(prepared.fitted, None)
        estimator = _estimator(prepared, treatment, width=whole.shape[1])
        return cls(treatment, estimator, rows[kept], prepared.y[kept], rows[test])

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
                one = clone(self.estimator).set_params(**{method.hyperparameter: value})
                yield one.fit(self.X, self.y)


def outcomes(prepared: Prepared, runs: Sequence[Run]) -> Iterator[Outcome]:
    """The runs of one treatment, each as soon as it is over; one that fails stops no other."""
    treatment = runs[0].treatment
    if treatment.method is None:
        spent = prepared.cpu_seconds
        yield from (Outcome(run, _of_base(prepared), cpu_seconds=spent) for run in runs)
        return
    work = Work.of(prepared, treatment)
    waiting = list(runs)
    while waiting:
        path = work.fitted([run.hyperparameter for run in waiting])
        for run in tuple(waiting):
            outcome = _timed(run, partial(_next_answer, path, work, prepared))
            waiting.remove(run)
            yield outcome
            if outcome.error is not None:  # a path that failed has ended: begin another
                break


def _timed(run: Run, work: Callable[[], Answer]) -> Outcome:
    cpu, wall = time.process_time(), time.perf_counter()
    result: dict[str, Any] = {"predictions": None}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            result["predictions"], result["notes"] = work()
        except Exception as failure:
            result["error"] = f"{type(failure).__name__}: {failure}"
            result["trace"] = traceback.format_exc()
    warned = dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in heard)
    result["notes"] = (*result.get("notes", ()), *warned)
    result["cpu_seconds"] = time.process_time() - cpu
    result["seconds"] = time.perf_counter() - wall
    return Outcome(run=run, **result)


def _kept(prepared: Prepared, treatment: Treatment) -> Any:
    """The training rows a method is fitted to: all, or a sample of those it can do with."""
    if treatment.fit_rows is None or treatment.fit_rows >= prepared.fitted:
        return slice(0, prepared.fitted)
    return some(prepared.fitted, treatment.fit_rows, prepared.seed)


def _estimator(prepared: Prepared, treatment: Treatment, width: int) -> Any:
    """The method's estimator with what it takes of all there is to say."""
    method = treatment.method
    assert method is not None
    after = method.stage == "post"
    known = set(method.estimator._get_param_names())
    options: dict[str, Any] = {
        "group": GROUP if after else width - 1,
        "sees_group": after,
        "prefit": after,
        "unseen": "base",
        "random_state": prepared.seed,
        "favorable": prepared.favorable,
    }
    options = {name: value for name, value in options.items() if name in known}
    if "criterion" in known and treatment.constraint is not None:
        options["criterion"] = treatment.constraint
    underlying = _given(prepared) if after else clone(prepared.model)
    return method(underlying, **{**options, **treatment.settings})


def _given(prepared: Prepared) -> Any:
    if prepared.n_classes:
        return GivenProbabilities(score_names(prepared.n_classes))
    return GivenScores(score_names(1)[0])


def _of_base(prepared: Prepared) -> Predictions:
    scores = prepared.scores[prepared.fitted :]
    if not prepared.n_classes:
        return Predictions(values=scores)
    small = np.min_scalar_type(prepared.n_classes)
    return Predictions(labels=scores.argmax(axis=1).astype(small), scores=scores)


def _next_answer(path: Iterator[Any], work: Work, prepared: Prepared) -> Answer:
    fitted, method = next(path), work.treatment.method
    assert method is not None
    answer = _classified if prepared.n_classes else _regressed
    notes = tuple(getattr(fitted, "notes_", ()))
    return answer(fitted, work.X_test, prepared, method.randomized), notes


def _classified(fitted: Any, X: Any, prepared: Prepared, by_lot: bool) -> Predictions:
    labels = np.asarray(fitted.predict(X)).astype(np.min_scalar_type(prepared.n_classes))
    if not by_lot and (len(labels) > MOST_SCORES or not hasattr(fitted, "predict_proba")):
        return Predictions(labels=labels)
    chances = aligned(fitted.predict_proba(X), fitted.classes_, prepared.n_classes)
    if by_lot:
        return Predictions(labels=labels, chances=chances)
    certain = bool(np.isin(chances, (0.0, 1.0)).all())
    return Predictions(labels=labels, scores=None if certain else chances)


def _regressed(fitted: Any, X: Any, prepared: Prepared, by_lot: bool) -> Predictions:
    first = np.ravel(fitted.predict(X))
    if not by_lot or "random_state" not in fitted.get_params():
        return Predictions(values=first[:, None])
    seeds = prepared.seed + 1000 * np.arange(1, DRAWS)
    more = [np.ravel(fitted.set_params(random_state=int(one)).predict(X)) for one in seeds]
    values = np.column_stack([first, *more])
    alike = bool((values == values[:, :1]).all())
    return Predictions(values=values[:, :1] if alike else values)
