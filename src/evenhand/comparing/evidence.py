"""What is compared: predictions of many models for the same rows, coded and counted once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.column import Column
from evenhand.columns.words import combine
from evenhand.counting import moments, tally
from evenhand.distributions import Distribution
from evenhand.distributions.ordering import ascending
from evenhand.distributions.steps import steps
from evenhand.groups import Groups
from evenhand.sources import Source
from evenhand.tally import Axis, Tally, gathered

Floats = NDArray[np.float64]
Sources = Mapping[str, tuple[Source, ...]]  # for each need, a source for each model

COUNTS_AT_A_TIME = 1 << 22


@dataclass(frozen=True, eq=False)
class Labels:
    """Predicted labels of each model, with the truth where it is known, and the groups."""

    truth: Column | None
    predicted: tuple[Column, ...]
    whom: Groups
    weight: Floats | None
    needs = ("predictions", "labels")

    def observed(self, needs: set[str]) -> Sources:
        """A tally for each model."""
        options: dict[str, Any] = {"sensitive_features": self.whom, "sample_weight": self.weight}
        found = tuple(tally(self.truth, one, **options) for one in self.predicted)
        return dict.fromkeys(needs, found)

    def worlds(self, needs: set[str], times: int, rng: np.random.Generator) -> Iterator[Sources]:
        """Tallies of rows drawn again from all rows, many worlds in a batch.

        A world is drawn from the joint table of truth, groups and all the predictions; rows that
        are weighted are drawn one by one.
        """
        cells, counts = self._joint()
        batch = max(1, COUNTS_AT_A_TIME // len(counts))
        for start in range(0, times, batch):
            shape = min(batch, times - start)
            drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=shape)
            yield dict.fromkeys(needs, tuple(self._marginals(cells, drawn)))

    def _joint(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Codes (columns, cells) of truth, each prediction and group, and rows in each cell."""
        columns = [column for column in (self.truth, *self.predicted) if column is not None]
        columns.append(Column(self.whom.codes, self.whom.labels))
        if self.weight is not None:
            whole = np.array([column.codes for column in columns], dtype=np.intp)
            return whole, np.ones(whole.shape[1], np.int64)
        codes, rows = combine([(column.codes, len(column.labels)) for column in columns])
        cells = np.array([column.codes[rows] for column in columns], dtype=np.intp)
        return cells, np.bincount(codes, minlength=len(rows))

    def _marginals(self, cells: NDArray[np.intp], drawn: NDArray[np.int64]) -> Iterator[Tally]:
        sums: dict[str, NDArray[Any]] = {"rows": drawn}
        if self.weight is not None:
            sums["weight"] = drawn * self.weight
        known = self.truth is not None
        names = ("y", "yhat", "group") if known else ("yhat", "group")
        for model, column in enumerate(self.predicted):
            axes = tuple(
                Axis(name, self.whom.labels if name == "group" else column.labels) for name in names
            )
            places = [0, model + 1, -1] if known else [model, -1]
            yield gathered(axes, cells[places], sums, ())


@dataclass(frozen=True, eq=False)
class Numbers:
    """Predicted numbers of each model, with the truth where it is known, and the groups."""

    truth: Floats | None
    predicted: tuple[Floats, ...]
    whom: Groups
    weight: Floats | None
    needs = ("moments", "steps")

    def observed(self, needs: set[str]) -> Sources:
        """The sums by group and the distributions of each model."""
        return self._sources(needs, self._sorted(needs), self.weight)

    def worlds(self, needs: set[str], times: int, rng: np.random.Generator) -> Iterator[Sources]:
        """Sums and distributions of rows drawn again from all rows, a world at a time."""
        ordered, rows = self._sorted(needs), len(self.whom)
        weight = np.ones(rows) if self.weight is None else self.weight
        for _ in range(times):
            drawn = np.bincount(rng.integers(0, rows, rows), minlength=rows)
            yield self._sources(needs, ordered, drawn * weight)

    def _sorted(self, needs: set[str]) -> list[tuple[NDArray[np.int64], Floats]]:
        return [ascending(one) for one in self.predicted] if "steps" in needs else []

    def _sources(
        self,
        needs: set[str],
        ordered: list[tuple[NDArray[np.int64], Floats]],
        weight: Floats | None,
    ) -> Sources:
        found: dict[str, tuple[Source, ...]] = {}
        if "steps" in needs:
            found["steps"] = tuple(_distribution(*one, self.whom, weight) for one in ordered)
        if "moments" in needs:
            options: dict[str, Any] = {"sensitive_features": self.whom, "sample_weight": weight}
            found["moments"] = tuple(moments(self.truth, one, **options) for one in self.predicted)
        return found


Evidence = Labels | Numbers


def _distribution(
    order: NDArray[np.int64], values: Floats, whom: Groups, weight: Floats | None
) -> Distribution:
    """The distribution of rows already in order; rows of no weight are not there."""
    codes, groups = whom.codes[order], len(whom.labels)
    if weight is None:
        return Distribution(values, codes, whom.labels, None, None, steps(values, codes, groups))
    weight = weight[order]
    kept = weight > 0
    values, codes, weight = values[kept], codes[kept], weight[kept]
    path = steps(values, codes, groups, weight)
    return Distribution(values, codes, whom.labels, weight, None, path)
