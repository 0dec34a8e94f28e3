"""The groups' cumulative distributions as steps: in pooled order, one group's F moves at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.words import chunks

Floats = NDArray[np.float64]

LEVELS_AT_A_TIME = 1 << 18


@dataclass(frozen=True, eq=False)
class Steps:
    """At each step F of one group goes from `before` to `after`.

    `cuts` are the last steps at each distinct value, where all the CDFs are complete.
    """

    codes: NDArray[Any]
    before: Floats
    after: Floats
    cuts: NDArray[np.intp]
    observed: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def groups(self) -> int:
        """How many groups have rows."""
        return len(self.observed)

    def levels(self, places: NDArray[np.intp]) -> Iterator[tuple[slice, Floats]]:
        """F of every group before each of the given steps (ascending), some places at a time."""
        now, done = np.zeros(self.groups), 0
        for some in chunks(len(places), max(1, LEVELS_AT_A_TIME // self.groups)):
            spans = np.diff(places[some], prepend=done)
            moved = slice(done, places[some][-1])
            cells = np.repeat(np.arange(len(spans)) * self.groups, spans) + self.codes[moved]
            moves = self.after[moved] - self.before[moved]
            grown = np.bincount(cells, moves, minlength=len(spans) * self.groups)
            levels = now + np.cumsum(grown.reshape(len(spans), self.groups), axis=0)
            yield some, levels
            now, done = levels[-1], moved.stop

    def power_sums(self, powers: Sequence[float], transform: str | None) -> list[Floats]:
        """Σ over groups of F^power, or of exp(F)^power, after each step."""
        low, high, least = self.before, self.after, 0
        if transform == "exp":
            low, high, least = np.exp(low), np.exp(high), self.groups
        sums = [np.cumsum(high**power - low**power) for power in powers]
        return [least + one for one in sums] if least else sums


def steps(values: Floats, codes: NDArray[Any], groups: int, weights: Floats | None = None) -> Steps:
    """Read ascending values, with their groups and weights, as steps of the groups' CDFs."""
    counts = np.bincount(codes, minlength=groups)
    places = np.argsort(codes, kind="stable")
    if weights is None:
        low, high = _counted(counts)
    else:
        low, high = _weighted(weights[places], counts)
    before, after = np.empty_like(low), np.empty_like(high)
    before[places], after[places] = low, high
    cuts = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    observed = np.flatnonzero(counts)
    if len(observed) < groups:
        codes = (np.cumsum(counts > 0) - 1)[codes]
    return Steps(codes, before, after, cuts, observed)


def _counted(counts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """F before and after each row, group by group."""
    size = np.repeat(counts.astype(np.float64), counts)
    rank = np.arange(len(size), dtype=np.float64)
    rank -= np.repeat((np.cumsum(counts) - counts).astype(np.float64), counts)
    return rank / size, (rank + 1) / size


def _weighted(weights: Floats, counts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """F before and after each row of weights, group by group."""
    grown = np.append(0.0, np.cumsum(weights))
    ends = np.cumsum(counts)
    base = np.repeat(grown[ends - counts], counts)
    after = (grown[1:] - base) / (np.repeat(grown[ends], counts) - base)
    before = np.append(0.0, after[:-1])
    before[(ends - counts)[counts > 0]] = 0.0
    return before, after
