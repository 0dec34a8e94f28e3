"""The rows as draws: in every group, outcomes given what the criterion conditions on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.statistics import Average, P, Ratio, Statistic
from evenhand.tally import Axis, Tally

Floats = NDArray[np.float64]

COUNTS_AT_A_TIME = 1 << 22
BY_TRUTH = ({"tp", "fn"}, {"fp", "tn"})
BY_PREDICTION = ({"tp", "fp"}, {"tn", "fn"})


@dataclass(frozen=True, eq=False)
class Model:
    """Observed counts (given, groups, outcomes), and the axes they came from."""

    counts: NDArray[np.int64]
    axes: tuple[Axis, ...]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How often each given occurs in each group; this stays as it is."""
        return np.asarray(self.counts.sum(axis=-1))

    @property
    def pooled(self) -> Floats:
        """Shares of the outcomes of each given, over all groups."""
        return shares(self.counts.sum(axis=1))

    def tally(self, counts: NDArray[Any]) -> Tally:
        """A tally of counts (…, given, groups, outcomes)."""
        shape = [axis.size for axis in self.axes]
        cells = np.array(np.unravel_index(np.arange(prod(shape)), shape), dtype=np.intp)
        return Tally(self.axes, cells, {"rows": counts.reshape(*counts.shape[:-3], -1)})

    def draw(self, chances: Floats, times: int, rng: np.random.Generator) -> Iterator[Tally]:
        """Tallies of worlds with these chances (given, groups, outcomes), some worlds at a time."""
        size = max(1, COUNTS_AT_A_TIME // self.counts.size)
        for start in range(0, times, size):
            shape = (min(size, times - start), *self.sizes.shape)
            yield self.tally(rng.multinomial(self.sizes, chances, size=shape))


def model(counts: Tally, asked: Criterion, g: Any = None) -> Model:
    """Read a tally as draws, with what the criterion conditions on kept as it is."""
    statistic = asked.with_statistic(g).statistic
    if statistic.needs not in ("predictions", "labels", "strata"):
        raise TypeError(f"This is for criteria of counts; {asked.name} reads scores or sums.")
    if "weight" in counts.sums:
        raise ValueError(
            "This needs plain counts: a tally of weights does not say how many rows vary. "
            "Count again without sample_weight."
        )
    fixed = given(statistic)
    used = {statistic.event, *fixed} if isinstance(statistic, P) else {"y", "yhat"}
    axes = [counts.axis(name) for name in (*fixed, "group", *sorted(used - {*fixed}))]
    table = counts.table(*(axis.name for axis in axes), of="rows").astype(np.int64)
    groups = len(counts.groups)
    return Model(
        table.reshape(-1, groups, prod(a.size for a in axes[len(fixed) + 1 :])), tuple(axes)
    )


def given(statistic: Statistic) -> tuple[str, ...]:
    """The axes a statistic conditions on: their counts by group stay as they are."""
    if isinstance(statistic, Average):
        return given(statistic.one)
    if isinstance(statistic, P):
        return (statistic.given,) if statistic.given else ()
    if isinstance(statistic, Ratio) and statistic.denominator.keys() in BY_TRUTH:
        return ("y",)
    if isinstance(statistic, Ratio) and statistic.denominator.keys() in BY_PREDICTION:
        return ("yhat",)
    return ()


def shares(counts: NDArray[Any]) -> Floats:
    """Shares along the last axis; equal ones where nothing was observed."""
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=even, where=total > 0))
