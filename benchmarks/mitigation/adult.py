"""Adult as the benchmarks use it: one-hot categories, numbers scaled, sex as the group."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evenhand.datasets import load, split


class Adult(NamedTuple):
    """Features with the group in the last column, labels, and the group."""

    X: np.ndarray
    y: np.ndarray
    group: np.ndarray


def adult(seed: int = 0) -> tuple[Adult, Adult]:
    """Training and test part."""
    parts = split(load("adult"), seed=seed).normalized()
    both = pd.get_dummies(pd.concat([parts.X_train, parts.X_test]), dtype=float)
    male = both.pop("sex_Male").to_numpy()
    X = np.column_stack([both.to_numpy(), male])
    y = np.append(parts.y_train, parts.y_test)
    cut = len(parts.X_train)
    return Adult(X[:cut], y[:cut], male[:cut]), Adult(X[cut:], y[cut:], male[cut:])


class Spent(NamedTuple):
    """Seconds of the processor and of the clock, and what was computed."""

    cpu: float
    wall: float
    result: Any


def spent(run: Any) -> Spent:
    """Time one call; on a shared machine the processor's seconds are the fairer measure."""
    wall, cpu = perf_counter(), process_time()
    result = run()
    return Spent(process_time() - cpu, perf_counter() - wall, result)


def row(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def head(*cells: str) -> str:
    return "\n".join([row(*cells), row(*["---"] * len(cells))])
