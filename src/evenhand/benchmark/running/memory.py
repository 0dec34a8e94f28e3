"""How many jobs fit into memory side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from evenhand.benchmark.running.jobs import Job

BYTES_PER_ROW = 1500  # 800 were measured at the peak, on over a million rows in 550 columns
WORKER = 300 * 2**20
RESERVE = 0.8


def need(job: Job) -> int:
    """About how many bytes a job takes at its peak, the worker's own included."""
    return WORKER + BYTES_PER_ROW * job.rows


def available() -> int:
    """Bytes that are free now, within the limits of a container; plenty where nobody tells."""
    found = [
        _free(),
        *(_limit(Path(name)) for name in ("memory.max", "memory/memory.limit_in_bytes")),
    ]
    known = [one for one in found if one is not None]
    return min(known, default=1 << 40)


def _free() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kilobytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kilobytes[0]) * 1024 if kilobytes else None


def _limit(file: Path) -> int | None:
    try:
        return int((Path("/sys/fs/cgroup") / file).read_text())
    except (OSError, ValueError):
        return None


def workers(jobs: Sequence[Job], asked: int, free: int) -> int:
    """As many workers as asked for, or as have room for the largest of the jobs."""
    largest = max(map(need, jobs))
    return max(1, min(asked, len(jobs), int(RESERVE * free / largest)))


def batches(jobs: Iterable[Job], asked: int, free: int) -> list[tuple[int, list[Job]]]:
    """Jobs in batches, each with its number of workers; the largest jobs first."""
    found: dict[int, list[Job]] = {}
    for job in jobs:
        found.setdefault(workers([job] * asked, asked, free), []).append(job)
    return [(min(number, len(some)), some) for number, some in sorted(found.items())]


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
