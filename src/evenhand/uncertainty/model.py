"""What varies, and how: the one thing that intervals, noise floors and tests need to know.

A model holds what was observed as an array (given, groups, outcomes), supposes other truths of that
shape, and draws the tables of statistics that such a truth would show.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.statistics import Table

Floats = NDArray[np.float64]


class Model(Protocol):
    """Rows of fixed group sizes whose outcomes are drawn anew."""

    @property
    def seen(self) -> Floats:
        """The observed shares or means (given, groups, outcomes)."""

    @property
    def lent(self) -> Floats:
        """The same with a few pooled rows lent to each group, so that none is without error."""

    @property
    def pooled(self) -> Floats:
        """The truth if all groups are equal (given, 1, outcomes)."""

    @property
    def noise(self) -> Floats:
        """Standard errors of what was observed, if all groups are equal."""

    def settled(self, wished: Floats) -> Floats:
        """The nearest truth that is possible."""

    def expected(self, truth: Floats) -> Table:
        """The table of statistics of a truth itself."""

    def draw(self, truth: Floats, times: int, rng: np.random.Generator) -> Iterator[Table]:
        """Tables (worlds, cells, groups) that a truth shows, some worlds at a time."""


def drawn(model: Model, truth: Floats, times: int, rng: np.random.Generator) -> Table:
    """All the worlds in one table."""
    tables = list(model.draw(truth, times, rng))
    values = np.concatenate([table.values for table in tables])
    return Table(values, tables[0].cells, tables[0].groups)


def shares(counts: NDArray[Any]) -> Floats:
    """Shares along the last axis; equal ones where nothing was observed."""
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=even, where=total > 0))
