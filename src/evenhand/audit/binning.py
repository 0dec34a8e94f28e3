"""Numbers of more rows than fit, counted in bins: exact at the bins' ends, bounded within."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.audit.cells import Cells, Whom, columns_as_keys, counted
from evenhand.columns import Column
from evenhand.distributions import Distribution, distribution
from evenhand.groups import Groups

Floats = NDArray[np.float64]

MOST_BINS, LEAST_BINS, MOST_CELLS = 1 << 14, 1 << 8, 1 << 21


@dataclass(frozen=True)
class Facts:
    """Where the numbers of a column lie."""

    low: float
    high: float
    mean: float
    deviation: float

    def bin_of(self, column: Any, number: int) -> Any:
        """An expression that puts numbers into bins in their order, narrow around the mean.

        Each step is rounded monotonically, so larger numbers never come into an earlier bin.
        """
        import narwhals as nw

        place = (column - self.mean) / (self.deviation or 1.0)
        squeezed = nw.when(place >= 0).then(1 - 1 / (1 + place)).otherwise(1 / (1 - place) - 1)
        return ((squeezed * (number / 2)) // 1).cast(nw.Int32)


@dataclass(frozen=True, eq=False)
class Binned:
    """Cells by bin and group (and more): the bin of each, and of each bin its extreme values."""

    cells: Cells
    whom: Groups
    bins: NDArray[np.intp]
    least: Floats
    most: Floats

    @property
    def loose(self) -> NDArray[np.bool_]:
        """Which bins hold more than one value."""
        return self.least < self.most

    @property
    def group(self) -> Column:
        """The group of every cell."""
        return Column(self.whom.codes, self.whom.labels)

    def shares(self, weight: Floats) -> Floats:
        """The share of its group's weight in each bin (groups, bins)."""
        shape = (len(self.whom.labels), len(self.least))
        key = np.ravel_multi_index((self.whom.codes.astype(np.intp), self.bins), shape)
        table = np.bincount(key, weight, minlength=shape[0] * shape[1]).reshape(shape)
        total = table.sum(axis=1, keepdims=True)
        shares = np.zeros(shape)
        np.divide(table, total, out=shares, where=total > 0)
        return shares

    def distribution(self, truth: Column | None = None) -> Distribution:
        """Each bin as its greatest value, where every group's F is exact."""
        return distribution(
            self.most[self.bins],
            sensitive_features=self.whom,
            y_true=truth,
            sample_weight=self.cells.weight,
            squared_weight=self.cells.totals.get("weight²", self.cells.rows),
        )

    def note(self, name: str) -> str:
        """How far off the bins can be."""
        if not self.loose.any():
            return f"All {len(self.least):,} distinct values of {name!r} were counted."
        widest = self.shares(self.cells.weight)[:, self.loose].max(axis=0)
        span = (self.most - self.least)[self.loose]
        return (
            f"{name!r} was counted in {len(self.least):,} bins: the groups' distributions are "
            f"exact at the bins' ends, and within a bin off by at most {widest.max():.2g} "
            f"(Kolmogorov distance); an integral by MPD is off by at most {span @ widest:.2g}."
        )

    def area_error(self, positive: NDArray[np.bool_]) -> float:
        """The most that an area under a group's ROC curve is off: half of the pairs in one bin."""
        hits, misses = (
            self.shares(self.cells.weight * chosen)[:, self.loose]
            for chosen in (positive, ~positive)
        )
        return float((hits * misses).sum(axis=1).max(initial=0.0) / 2)


def binned(
    table: Any,
    column: Any,
    facts: Facts,
    whom: Whom,
    *,
    keys: Mapping[str, Any],
    sums: Mapping[str, Any],
    weight: str | None,
    groups: int,
) -> Binned:
    """Count a column in bins, by its group and the given keys."""
    number = int(np.clip(MOST_CELLS // groups, LEAST_BINS, MOST_BINS))
    asked = columns_as_keys(whom.columns) | dict(keys)
    asked["fine"] = facts.bin_of(column, number)
    found = counted(table, asked, {**sums, "least": column, "most": column}, weight)
    cells, who = whom.find(found.where(found.weight > 0))
    bins = np.unique(cells.keys["fine"], return_inverse=True)[1]
    least = np.full(bins.max() + 1, np.inf)
    most = -least
    np.minimum.at(least, bins, cells.totals["least"])
    np.maximum.at(most, bins, cells.totals["most"])
    return Binned(cells, who, bins, least, most)
