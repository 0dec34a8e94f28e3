"""The unit of work: runs that share a split and base model, or some of them.

A base model is fitted once, and its scores are stored; post-processors need nothing else. So the
runs of one split can be divided among as many workers as there are.
"""

from __future__ import annotations

import json
import math
import platform
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from evenhand._errors import InputError
from evenhand.benchmark.design.fingerprints import (
    described,
    fingerprint,
    package_versions,
    version_of,
)
from evenhand.benchmark.design.problems import FILE
from evenhand.benchmark.design.studies import Run
from evenhand.benchmark.predictions import BaseScores
from evenhand.benchmark.running.fitting import Outcome, Work, base_outcomes, outcomes
from evenhand.benchmark.running.hearing import collected_warnings
from evenhand.benchmark.running.preparation import Prepared
from evenhand.benchmark.store import Entry, Store

COST = {"base": 8.0, "pre": 15.0, "in": 30.0, "post": 1.0}  # CPU time on Adult, post-processor: 1
SHARES = 4  # jobs for each worker, so that none waits long for the last


class JobResult(NamedTuple):
    """How many runs of a job have a result, and how many failed."""

    finished: int
    failed: int


@dataclass(frozen=True)
class Job:
    """Runs that share problem, seed, base model and the rows that post-processors see."""

    runs: tuple[Run, ...]
    only_base: bool = False  # fit and store the base model, for others

    def __call__(self, store: Store) -> JobResult:
        """Do the runs one after another; each is stored before the next begins."""
        with threadpool_limits(1):
            split = _Split(self.runs[0], store)
            if self.only_base:
                split.scores  # noqa: B018
                return JobResult(0, 0)
            failed = 0
            for runs in by_treatment(self.runs):
                for outcome in _outcomes(split, runs):
                    _keep(store, outcome)
                    failed += outcome.error is not None
        return JobResult(len(self.runs) - failed, failed)

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
        return {run.key: unit * _relative_cost(run) for run in self.runs}

    @cached_property
    def cost(self) -> float:
        """The same for all runs together."""
        return sum(self.costs.values())


def jobs(runs: Iterable[Run], workers: int = 1, store: Store | None = None) -> list[list[Job]]:
    """The runs in jobs, the longest first, in waves: a wave needs what the one before has stored.

    Where there are fewer splits than workers, the runs of a split are divided, and their base model
    is fitted before.
    """
    shared: dict[Any, list[Run]] = {}
    for run in runs:
        name = (run.split_key, run.problem.name, run.base.name, run.held_out)
        shared.setdefault(name, []).append(run)
    pieces = math.ceil(SHARES * workers / len(shared)) if shared and workers > 1 else 1
    first, later = [], []
    for group in shared.values():
        parts = _divided(group, pieces)
        scored = [run for run in group if _needs_scores(run)]
        if len(parts) > 1 and scored and not _has_scores(store, scored[0]):
            first.append(Job(tuple(scored), only_base=True))
        later += parts
    waves = (sorted(wave, key=lambda job: -job.cost) for wave in (first, later))
    return [wave for wave in waves if wave]


def _divided(runs: Sequence[Run], pieces: int) -> list[Job]:
    """At most this many jobs of about equal cost; runs that are fitted at once stay together."""
    job = Job(tuple(runs))
    if pieces == 1:
        return [job]
    units = [unit for alike in by_treatment(runs) for unit in _units(alike)]
    bins: list[list[Run]] = [[] for _ in range(min(pieces, len(units)))]
    loads = [0.0] * len(bins)
    for unit in sorted(units, key=lambda unit: -sum(job.costs[run.key] for run in unit)):
        lightest = loads.index(min(loads))
        bins[lightest] += unit
        loads[lightest] += sum(job.costs[run.key] for run in unit)
    return [Job(tuple(part)) for part in bins]


def _units(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs of one treatment that are fitted separately anyway, each alone."""
    method = runs[0].treatment.method
    if method is None or method.stage == "post" or hasattr(method.estimator, "fit_path"):
        return [list(runs)]
    return [[run] for run in runs]


def by_treatment(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Runs that differ in the hyperparameter alone, together; the base model first."""
    ordered = sorted(runs, key=_place)
    for _, together in groupby(ordered, key=_place):
        yield list(together)


def described_entry(run: Run) -> Entry:
    """The entry of a run before it is done."""
    return {
        "key": run.key,
        **run.value,
        "split_key": run.split_key,
        "version": run.version,
        "code": run.code,
        "data": run.problem.fingerprint,
        "group_known": run.group_known,
        "settings": _as_text([dict(run.base.settings), dict(run.treatment.settings)]),
    }


class _Split:
    """A split for a base model: scores from the store or fitted, features when they are needed."""

    def __init__(self, run: Run, store: Store) -> None:
        self.run = run
        self.store = store

    @cached_property
    def prepared(self) -> Prepared:
        problem = self.run.problem
        _refuse_changed(problem, f"The data of {problem.name!r}")
        _refuse_changed(self.run.base, f"The base model {self.run.base.name!r}")
        favored, held_out = problem.favored, self.run.held_out
        return Prepared(problem.load(), self.run.base, self.run.seed, favored, held_out)

    @cached_property
    def scores(self) -> BaseScores:
        run, store = self.run, self.store
        stored = store.base(run.problem.name, run.base_key)
        if stored is None:
            with collected_warnings() as notes:
                fitted = self.prepared.scores()
            about = {"provenance": _provenance(self.prepared), "notes": notes}
            stored = replace(fitted, about=fitted.about | about)
            store.add_base(run.problem.name, run.base_key, stored)
        store.add_truth(run.problem.name, run.split_key, stored.truth())
        return stored

    def keep_truth(self) -> None:
        """Truth and groups of the test rows, where no base model was fitted."""
        about = self.prepared.about() | {"provenance": _provenance(self.prepared)}
        self.store.add_truth(self.run.problem.name, self.run.split_key, self.prepared.truth(about))


def restore_truths(runs: Iterable[Run], store: Store) -> None:
    """Restore the truth of stored runs that lack it."""
    done = store.keys()
    for run in runs:
        path = store.truth_path({"problem": run.problem.name, "split_key": run.split_key})
        if run.key in done and not path.exists():
            _Split(run, store).keep_truth()


def _outcomes(split: _Split, runs: Sequence[Run]) -> Iterator[Outcome]:
    """The runs of one treatment; what fails before the method fails for all of them."""
    treatment = runs[0].treatment
    try:
        with collected_warnings():
            _refuse_changed(treatment, f"The method {treatment.name!r}")
            if treatment.method is None:
                done = base_outcomes(split.scores, runs)
            elif treatment.is_post:
                done = outcomes(Work.of_scores(split.scores, treatment), runs)
            else:
                split.keep_truth()
                done = outcomes(Work.of_features(split.prepared, treatment), runs)
    except Exception as failure:
        error = f"before the method: {type(failure).__name__}: {failure}"
        trace = traceback.format_exc()
        yield from (Outcome(run, None, error=error, trace=trace) for run in runs)
    else:
        yield from done


def _refuse_changed(thing: Any, name: str) -> None:
    """Refuse code that has changed since the design was read and its keys were made.

    A worker imports modules and reads files itself, and may find others than were there before.
    """
    method = getattr(thing, "method", None)
    if method is not None and method.estimator.__module__ == "__main__":
        return  # the code itself came along
    if replace(thing).fingerprint != thing.fingerprint:
        raise InputError(
            f"{name} is not what it was when the design was read: a file was changed since. "
            "Start Python again, and run the design once more."
        )


def _needs_scores(run: Run) -> bool:
    return run.treatment.method is None or run.treatment.is_post


def _has_scores(store: Store | None, run: Run) -> bool:
    return store is not None and store.base_path(run.problem.name, run.base_key).exists()


def _relative_cost(run: Run) -> float:
    method = run.treatment.method
    return COST[method.stage if method else "base"]


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
    """The entry of a run: its metadata, without predictions."""
    predictions = outcome.predictions
    return described_entry(outcome.run) | {
        "by_lot": predictions is not None and predictions.by_lot,
        "has_scores": predictions is not None and predictions.scores is not None,
        "cpu_seconds": round(outcome.cpu_seconds, 4),
        "seconds": round(outcome.seconds, 4),
        "notes": list(outcome.notes),
        "versions": _versions(outcome.run),
        "written": round(time.time(), 3),
    }


def _as_text(settings: Any) -> str:
    """Settings as text; a fingerprint of those that cannot be serialized."""
    try:
        return json.dumps(settings, sort_keys=True)
    except (TypeError, ValueError):
        return fingerprint(described(settings))


def _versions(run: Run) -> dict[str, str]:
    """Versions of Python, of the common packages, and of those of the model and the method."""
    packages = ("evenhand", "numpy", "scipy", "scikit-learn")
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    method = run.treatment.method
    modules = [] if run.base.is_truth else [run.base.module(run.problem.extent.kind)]
    packages_used = [version_of(module) for module in modules]
    packages_used += () if method is None else package_versions(method.estimator.__module__)
    return versions | dict(package.split(" ", 1) for package in packages_used if " " in package)


def _provenance(prepared: Prepared) -> str:
    """Where the rows come from; rows of a file of one's own are not the official ones."""
    dataset = prepared.dataset
    return Path(dataset.task.source).name if dataset.origin.name == FILE else dataset.provenance
