"""The design of the rows that models are compared on: groups, weights and clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column
from evenhand._data.groups import Groups
from evenhand._data.surveys import SurveyWeights

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Design:
    """The groups of the rows, their weights, and which rows go together.

    `times` is the number of rows of each line, where that is not 1.
    """

    groups: Groups
    weight: Floats | None = None
    survey: SurveyWeights | None = None
    clusters: Mapping[str, Column] = field(default_factory=dict)
    times: NDArray[np.int64] | None = None

    @property
    def lines(self) -> int:
        """Number of lines."""
        return len(self.groups)

    @property
    def number(self) -> int:
        """Number of rows."""
        return self.lines if self.times is None else int(self.times.sum())

    @property
    def columns(self) -> dict[str, Any]:
        """The arguments of functions that count rows."""
        return {
            "sensitive_features": self.groups,
            "sample_weight": self.weight if self.survey is None else self.survey,
            "cluster": dict(self.clusters) or None,
        }

    @property
    def is_counted_by_row(self) -> bool:
        """Whether equal rows are not all alike."""
        return self.weight is not None or bool(self.clusters)

    def taken(self, rows: NDArray[Any]) -> Design:
        """The design of these lines."""
        group = self.groups
        return Design(
            Groups(group.codes[rows], group.labels, group.names, group.notes),
            None if self.weight is None else self.weight[rows],
            None if self.survey is None else self.survey[rows],
            {
                name: Column(column.codes[rows], column.labels)
                for name, column in self.clusters.items()
            },
            None if self.times is None else self.times[rows],
        )

    def powers(self, line: NDArray[Any], lines: int) -> tuple[Floats, ...]:
        """Sums over the rows of each line of powers of their weights, from the 0th on."""
        counts = np.ones(len(line)) if self.times is None else self.times.astype(np.float64)
        of = [counts]
        if self.weight is not None:
            of = [counts * self.weight**power for power in range(5)]
        return tuple(np.bincount(line, values, lines).astype(np.float64) for values in of)

    def drawn(self, replicates: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """How often each row is drawn again: rows, or clusters of the coarsest clustering."""
        for _ in range(replicates):
            if not self.clusters:
                yield np.bincount(rng.integers(0, self.lines, self.lines), minlength=self.lines)
                continue
            column = min(self.clusters.values(), key=lambda clustering: len(clustering.labels))
            number = len(column.labels)
            times = np.bincount(rng.integers(0, number, number), minlength=number)
            yield np.asarray(times[column.codes], dtype=np.int64)
