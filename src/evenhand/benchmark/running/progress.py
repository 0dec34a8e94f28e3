"""Where someone looks on: how much of the work is done, and how long the rest will take."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from evenhand.benchmark.extras import require
from evenhand.benchmark.running.jobs import Job
from evenhand.benchmark.store import Store

LAYOUT = "{percentage:3.0f}% |{bar}| {desc} [{elapsed}, left {remaining}]"
SECONDS = 2.0


@contextmanager
def shown(jobs: Sequence[Job], store: Store, progress: bool | None = None) -> Iterator[None]:
    """Show a bar on stderr while the jobs run; nothing where that is no terminal.

    What is done is read from the store, so it does not matter where the jobs run.
    """
    wanted = sys.stderr.isatty() if progress is None else progress
    if not wanted or not jobs:
        yield
        return
    require("tqdm")
    from tqdm import tqdm

    costs = {key: cost for job in jobs for key, cost in job.costs.items()}
    over = Event()
    with tqdm(total=sum(costs.values()), bar_format=LAYOUT, file=sys.stderr) as bar:
        watch = Thread(target=_watch, args=(bar, costs, store, over), daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
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
