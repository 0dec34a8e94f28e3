"""Wall times of contestants that take turns, so that noise hits all of them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

Contestants = Mapping[str, Callable[[], Any]]


class Timed(NamedTuple):
    """The best time of a contestant, in seconds, and what it gave."""

    seconds: float
    result: Any


def take_turns(
    contestants: Contestants,
    rounds: int = 9,
    patience: float = 10.0,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, Any]:
    """Time every contestant once a round; one that has used up the patience sits out."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    results: dict[str, Any] = {}
    for _ in range(rounds):
        for name, run in contestants.items():
            if sum(times[name]) < patience:
                gc.collect()
                start = clock()
                results[name] = run()
                times[name].append(clock() - start)
    return {name: Timed(min(spent), results[name]) for name, spent in times.items()}


def readable(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"
