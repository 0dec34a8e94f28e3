"""The unit of work: all missing runs of one split and base model, which share one base fit."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand.benchmark.design.problems import FILE
from evenhand.benchmark.design.studies import Run
from evenhand.benchmark.running.fitting import Outcome, outcomes
from evenhand.benchmark.running.preparation import Prepared, prepare
from evenhand.benchmark.store import Entry, Store, Truth
from evenhand.datasets import Dataset

COST = {"base": 8.0, "pre": 15.0, "in": 30.0, "post": 1.0}  # CPU time on Adult, post-processor: 1


class Done(NamedTuple):
    """How many runs of a job have a result, and how many failed."""

    finished: int
    failed: int


@dataclass(frozen=True)
class Job:
    """Runs that share problem, seed and base model."""

    runs: tuple[Run, ...]

    def __call__(self, store: Store) -> Done:
        """Do the runs one after another; each is on disk before the next begins."""
        with threadpool_limits(1):
            try:
                prepared = self._prepared(store)
            except Exception as failure:
                return self._all_failed(store, failure)
            failed = 0
            for runs in by_treatment(self.runs):
                for outcome in outcomes(prepared, runs):
                    _keep(store, outcome)
                    failed += outcome.error is not None
        return Done(len(self.runs) - failed, failed)

    @cached_property
    def rows(self) -> int:
        """How many rows the problem has, at most; 0 if it cannot be loaded, as the job will say."""
        try:
            return self.runs[0].problem.size
        except Exception:
            return 0

    @cached_property
    def costs(self) -> dict[str, float]:
        """A guess of how long each run takes, by key: for the order of jobs, and the time left."""
        unit = (2000 + self.rows) * max(self.runs[0].problem.extent.classes, 2)
        methods = [(run.key, run.treatment.method) for run in self.runs]
        return {key: unit * COST[one.stage if one else "base"] for key, one in methods}

    @cached_property
    def cost(self) -> float:
        """The same for all runs together."""
        return sum(self.costs.values())

    def _prepared(self, store: Store) -> Prepared:
        run, problem = self.runs[0], self.runs[0].problem
        prepared = prepare(problem.load(), run.base, run.seed, problem.favored)
        store.add_truth(problem.name, run.split_key, _truth(prepared))
        return prepared

    def _all_failed(self, store: Store, failure: Exception) -> Done:
        error = f"{type(failure).__name__}: {failure}"
        for run in self.runs:
            _keep(store, Outcome(run=run, predictions=None, error=f"before the method: {error}"))
        return Done(0, len(self.runs))


def jobs(runs: Iterable[Run]) -> list[Job]:
    """The runs in jobs, the longest first."""
    shared: dict[Any, list[Run]] = {}
    for run in runs:
        shared.setdefault((run.split_key, run.problem.name, run.base.name), []).append(run)
    return sorted((Job(tuple(some)) for some in shared.values()), key=lambda job: -job.cost)


def by_treatment(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Runs that differ in the hyperparameter alone, together; the base model first."""
    ordered = sorted(runs, key=_place)
    for _, together in groupby(ordered, key=_place):
        yield list(together)


def _place(run: Run) -> tuple[bool, str, str, str, str]:
    treatment = run.treatment
    return (
        treatment.method is not None,
        treatment.name,
        treatment.constraint or "",
        treatment.fingerprint,
        str(treatment.fit_rows),
    )


def _keep(store: Store, outcome: Outcome) -> None:
    entry = _entry(outcome)
    if outcome.predictions is not None:
        store.add(outcome.predictions, entry)
    else:
        store.add_failure(entry | {"error": outcome.error, "trace": outcome.trace})


def _entry(outcome: Outcome) -> Entry:
    """What is said of a run beside its predictions."""
    predictions = outcome.predictions
    return {
        "key": outcome.run.key,
        **outcome.run.value,
        "split_key": outcome.run.split_key,
        "by_lot": predictions is not None and predictions.by_lot,
        "has_scores": predictions is not None and predictions.scores is not None,
        "cpu_seconds": round(outcome.cpu_seconds, 4),
        "seconds": round(outcome.seconds, 4),
        "notes": list(outcome.notes),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    packages = ("evenhand", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def _provenance(dataset: Dataset) -> str:
    """Where the rows come from; rows of a file of one's own are not the official ones."""
    return Path(dataset.task.source).name if dataset.origin.name == FILE else dataset.provenance


def _truth(prepared: Prepared) -> Truth:
    test = slice(prepared.fitted, None)
    dataset = prepared.dataset
    y = prepared.y[test]
    about = dataset.metadata | {
        "title": dataset.title,
        "provenance": _provenance(dataset),
        "groups": prepared.group_labels,
        "favorable": prepared.favorable,
        "seed": prepared.seed,
        "train": prepared.fitted,
        "test": len(y),
    }
    y = y.astype(np.min_scalar_type(len(dataset.classes))) if dataset.classes else y
    return Truth(prepared.rows[test], y, prepared.whom.codes[test].astype(np.intp), about)
