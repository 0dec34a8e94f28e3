"""From one value for each class (or cut point) to one score. Undefined cells are left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Aggregate = Callable[[NDArray[np.float64]], Any]


def worst(cells: NDArray[np.float64]) -> Any:
    """The largest defined value along the last axis: the paper's choice over classes."""
    return np.fmax.reduce(cells, axis=-1)


def total(cells: NDArray[np.float64]) -> Any:
    """The sum of the defined values along the last axis."""
    defined = ~np.isnan(cells)
    return np.where(defined.any(axis=-1), np.where(defined, cells, 0).sum(axis=-1), np.nan)[()]


def mean(cells: NDArray[np.float64]) -> Any:
    """The mean of the defined values along the last axis."""
    return total(cells) / np.maximum((~np.isnan(cells)).sum(axis=-1), 1)


def resolve(aggregate: str | Aggregate) -> Aggregate:
    """Find an aggregate by name, or take a function as it is."""
    if callable(aggregate):
        return aggregate
    if aggregate not in AGGREGATES:
        raise ValueError(f"There is no aggregate {aggregate!r}; there are {list(AGGREGATES)}.")
    return AGGREGATES[aggregate]


AGGREGATES: dict[str, Aggregate] = {"worst": worst, "mean": mean, "total": total}
