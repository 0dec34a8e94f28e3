"""Do the missing runs of a design in parallel; stop at any time, and resume later."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

from threadpoolctl import threadpool_limits

from evenhand._errors import require
from evenhand.benchmark.design.studies import Design, Run, Skipped
from evenhand.benchmark.progress import LAYOUT, is_watched
from evenhand.benchmark.running.jobs import Job, JobResult, described_entry, jobs, restore_truths
from evenhand.benchmark.store import Store

BYTES_PER_ROW = 1500  # 800 were measured at the peak, on over a million rows in 550 columns
WORKER = 300 * 2**20
RESERVE = 0.8  # of the memory that is free
LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of a container
SECONDS = 2.0  # between two looks at what is done


@dataclass(frozen=True)
class Status:
    """The progress of a design.

    Parameters
    ----------
    runs : int
        How many runs the design has.
    done : int
        How many of them have a result.
    failures : dict of str to dict
        The entries of failed runs by key, with their errors.
    skipped : tuple of Skipped, default ()
        What the design names, and cannot be done.

    Examples
    --------
    >>> Status(runs=12, done=9, failures={}).missing
    3

    """

    runs: int
    done: int
    failures: dict[str, dict[str, Any]]
    skipped: tuple[Skipped, ...] = field(default=(), repr=False)

    @property
    def missing(self) -> int:
        """Runs without a result."""
        return self.runs - self.done


def status(design: Design, folder: str | Path) -> Status:
    """How many runs there are, how many have a result, and which failed.

    Parameters
    ----------
    design : Design
        What is to be run.
    folder : str or Path
        Where `run` keeps its predictions; it need not be there yet.

    Returns
    -------
    Status
        The counts, and what failed.

    Examples
    --------
    >>> from evenhand.benchmark import BASES, Problem, Study, Treatment
    >>> study = Study(
    ...     name="base model",
    ...     problems=(Problem("people", "simulated"),),
    ...     bases=(BASES["logistic"],),
    ...     treatments=(Treatment(),),
    ...     seeds=(0, 1, 2),
    ... )
    >>> status(Design("mine", (study,)), "nowhere").missing
    3

    """
    store, runs = Store(Path(folder)), design.runs()
    failures = {key: entry for key, entry in store.failures().items() if key in runs}
    done = len(runs.keys() & store.keys())
    return Status(len(runs), done, failures, tuple(design.skipped()))


def run(
    design: Design,
    folder: str | Path,
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Status:
    """Do every run that has no result yet, and return the design's status.

    Inside `joblib.parallel_config(backend="dask")` runs are done on that cluster, whose workers
    must see the folder under the same name; with backend="threading" in threads of this process.
    Wherever they are done, the results are the same.

    Parameters
    ----------
    design : Design
        What is to be run; `read_design` reads one from a file.
    folder : str or Path
        Where predictions are kept, one file for each run. A run whose file is there and sound is
        not done again, one that failed is; damaged files are renamed, and their runs done again.
    n_jobs : int, optional
        Processes side by side; by default one for each core, fewer where memory is short.
    progress : bool, optional
        Whether to show a bar on stderr; by default where that is a terminal.

    Returns
    -------
    Status
        How many runs have a result, and what failed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from evenhand.benchmark import BASES, Problem, Study, Treatment
    >>> study = Study(
    ...     name="base model",
    ...     problems=(Problem("people", "simulated", rows=200),),
    ...     bases=(BASES["logistic"],),
    ...     treatments=(Treatment(),),
    ...     seeds=(0,),
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     run(Design("mine", (study,)), folder, n_jobs=1)
    Status(runs=1, done=1, failures={})

    """
    require("pyarrow", "joblib", "psutil")
    store = Store(Path(folder).absolute())
    store.folder.mkdir(parents=True, exist_ok=True)
    store.sweep()
    store.set_aside_damaged(design.runs())
    todo = missing(design, store)
    if design.stored is not None and todo:
        store.adopt(Store(Path(design.stored)), map(described_entry, todo))
        todo = missing(design, store)
    restore_truths(design.runs().values(), store)
    waves = jobs(todo, _workers(n_jobs), store)
    with progress_bar([job for wave in waves for job in wave], store, progress):
        for wave in waves:
            for _ in _finished(wave, store, n_jobs):
                pass
    store.entries()
    return status(design, folder)


def missing(design: Design, store: Store) -> list[Run]:
    """The runs that have no result yet; those that failed are tried again."""
    done = store.keys()
    return [run for key, run in design.runs().items() if key not in done]


def _workers(n_jobs: int | None) -> int:
    """How many jobs can run in parallel."""
    from joblib import cpu_count, effective_n_jobs

    if _elsewhere() is not None:
        return int(effective_n_jobs(-1 if n_jobs is None else n_jobs))
    return cpu_count() if n_jobs is None else n_jobs


def _finished(todo: list[Job], store: Store, n_jobs: int | None) -> Iterator[JobResult]:
    from joblib import Parallel, delayed, parallel_config

    for workers, batch in _batches(todo, _workers(n_jobs)):
        with parallel_config(**_backend(workers)), threadpool_limits(1):
            parallel = Parallel(return_as="generator_unordered", batch_size=1)
            if _is_local():
                yield from parallel(delayed(_do)(job, store) for job in batch)
            else:
                _forget_workers(batch)
                sent = ((_pickler().dumps(job), sys.path, store) for job in batch)
                yield from parallel(delayed(_do_elsewhere)(*message) for message in sent)


def _batches(todo: list[Job], limit: int) -> Iterable[tuple[int, list[Job]]]:
    """Jobs in batches that fit in memory; a cluster looks after its own."""
    elsewhere = _elsewhere() is not None
    return [(limit, todo)] if elsewhere else batches(todo, limit, free_memory())


def _elsewhere() -> str | None:
    """The back end that the caller has chosen for joblib, if any."""
    from joblib.parallel import get_active_backend

    name = type(get_active_backend()[0]).__name__
    return None if name in ("LokyBackend", "SequentialBackend") else name


def _backend(workers: int) -> dict[str, Any]:
    if _elsewhere() is not None:
        return {}
    if workers == 1:
        return {"backend": "sequential"}
    return {"backend": "loky", "n_jobs": workers, "inner_max_num_threads": 1}


def _is_local() -> bool:
    """Whether jobs run in this process, on the code that is loaded here."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ in ("SequentialBackend", "ThreadingBackend")


def _forget_workers(batch: Iterable[Job]) -> None:
    """Let new processes import modules of one's own, which may have changed since."""
    if _elsewhere() is None and any(run.has_own_code for job in batch for run in job.runs):
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)


def _pickler() -> Any:
    """The pickler that sends classes of a notebook by value; joblib installs or bundles it."""
    try:
        return import_module("cloudpickle")
    except ImportError:
        return import_module("joblib.externals.cloudpickle")


def _do(job: Job, store: Store) -> JobResult:
    return job(store)


def _do_elsewhere(job: bytes, paths: list[str], store: Store) -> JobResult:
    """Do a job in another process, which finds modules where this one does."""
    sys.path += [path for path in paths if path not in sys.path]
    done: JobResult = _pickler().loads(job)(store)
    return done


def memory_of(job: Job) -> int:
    """About how many bytes a job takes at its peak, the worker's own included."""
    return WORKER + BYTES_PER_ROW * job.rows


def free_memory() -> int:
    """Bytes that are free now, within the limits of a container, which psutil does not know."""
    import psutil

    limits = [_limit(Path("/sys/fs/cgroup") / name) for name in LIMITS]
    limits_set = [limit for limit in limits if limit is not None]
    return min([int(psutil.virtual_memory().available), *limits_set])


def _limit(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def workers(jobs: Sequence[Job], limit: int, free: int) -> int:
    """As many workers as wanted, or as have room for the largest of the jobs."""
    largest = max(map(memory_of, jobs))
    return max(1, min(limit, len(jobs), int(RESERVE * free / largest)))


def batches(jobs: Iterable[Job], limit: int, free: int) -> list[tuple[int, list[Job]]]:
    """Jobs in batches, each with its number of workers; the largest jobs first."""
    by_workers: dict[int, list[Job]] = {}
    for job in jobs:
        by_workers.setdefault(workers([job] * limit, limit, free), []).append(job)
    return [(min(number, len(group)), group) for number, group in sorted(by_workers.items())]


@contextmanager
def progress_bar(jobs: Sequence[Job], store: Store, progress: bool | None = None) -> Iterator[None]:
    """Show a bar on stderr while the jobs run; nothing where that is not a terminal.

    What is done is read from the store, so it does not matter where the jobs run.
    """
    if not is_watched(progress) or not jobs:
        yield
        return
    require("tqdm")
    from tqdm import tqdm

    fitting = [job for job in jobs if not job.only_base]
    costs = {key: cost for job in fitting for key, cost in job.costs.items()}
    finished = Event()
    with tqdm(total=sum(costs.values()), bar_format=LAYOUT, file=sys.stderr) as bar:
        watch = Thread(target=_watch, args=(bar, costs, store, finished), daemon=True)
        watch.start()
        try:
            yield
        finally:
            finished.set()
            watch.join()


def _watch(bar: Any, costs: dict[str, float], store: Store, over: Event) -> None:
    while True:
        last = over.wait(SECONDS)
        done = costs.keys() & store.keys()
        failed = costs.keys() & {path.stem for path in store.folder.glob("failures/*.json")}
        bar.set_description_str(f"{len(done)} of {len(costs)} runs, {len(failed)} failed")
        bar.update(sum(costs[key] for key in done | failed) - bar.n)
        if last:
            return
