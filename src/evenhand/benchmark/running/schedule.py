"""Do what is missing of a design, side by side; stop at any time, and go on later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.benchmark.design.studies import Design, Run
from evenhand.benchmark.extras import require
from evenhand.benchmark.running import memory
from evenhand.benchmark.running.jobs import Done, Job, jobs
from evenhand.benchmark.running.progress import shown
from evenhand.benchmark.store import Store


@dataclass(frozen=True)
class Status:
    """How far a design has come."""

    runs: int
    done: int
    failures: dict[str, dict[str, Any]]

    @property
    def missing(self) -> int:
        """Runs without a result."""
        return self.runs - self.done


def status(design: Design, folder: str | Path) -> Status:
    """How many runs there are, how many have a result, and which failed."""
    store, wanted = Store(Path(folder)), design.runs()
    failures = {key: one for key, one in store.failures().items() if key in wanted}
    return Status(len(wanted), len(wanted.keys() & store.keys()), failures)


def missing(design: Design, store: Store) -> list[Run]:
    """The runs that have no result yet; those that failed are tried again."""
    done = store.keys()
    return [run for key, run in design.runs().items() if key not in done]


def run(
    design: Design,
    folder: str | Path,
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Status:
    """Do every run that has no result yet, and say how far the design has come.

    Jobs run in `n_jobs` processes (by default one for each core), fewer where memory is short.
    Inside `joblib.parallel_config(backend="dask")` they run on that cluster instead, whose
    workers must see the folder under the same name.
    """
    require("pyarrow", "joblib")
    store = Store(Path(folder).absolute())
    store.folder.mkdir(parents=True, exist_ok=True)
    store.sweep()
    todo = jobs(missing(design, store))
    with shown(todo, store, progress):
        for _ in _finished(todo, store, n_jobs):
            pass
    store.entries()
    return status(design, folder)


def _finished(todo: list[Job], store: Store, n_jobs: int | None) -> Iterator[Done]:
    from joblib import Parallel, delayed, parallel_config

    asked = memory.cores() if n_jobs is None else n_jobs
    free = memory.available()
    for workers, batch in _batches(todo, asked, free):
        with parallel_config(**_backend(workers)):
            parallel = Parallel(return_as="generator_unordered", batch_size=1)
            yield from parallel(delayed(_done)(job, store) for job in batch)


def _batches(todo: list[Job], asked: int, free: int) -> Iterable[tuple[int, list[Job]]]:
    """A cluster has its own memory to look after."""
    return [(asked, todo)] if _elsewhere() else memory.batches(todo, asked, free)


def _elsewhere() -> bool:
    """Whether the caller has chosen where joblib runs."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ not in ("LokyBackend", "SequentialBackend")


def _backend(workers: int) -> dict[str, Any]:
    if _elsewhere():
        return {}
    if workers == 1:
        return {"backend": "sequential"}
    return {"backend": "loky", "n_jobs": workers, "inner_max_num_threads": 1}


def _done(job: Job, store: Store) -> Done:
    return job(store)
