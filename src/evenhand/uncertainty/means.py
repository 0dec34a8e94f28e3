"""Means and areas by group, with their standard errors: normal, as rows are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.criteria import Criterion
from evenhand.distributions import RankedScores
from evenhand.distributions.ranks import auroc_errors
from evenhand.statistics import Derived, E, Table
from evenhand.statistics.forms import ratio
from evenhand.tally import Tally
from evenhand.uncertainty.model import Floats

PRIOR_ROWS = 2.0


@dataclass(frozen=True, eq=False)
class Means:
    """Observed means (cells, groups, 1), the error of each, and how means are read as a table."""

    seen: Floats
    sizes: Floats
    errors: Floats
    least: float
    read: Callable[[Floats], Table]

    @property
    def lent(self) -> Floats:
        """The means as they are: their errors are lent variance already."""
        return self.seen

    @cached_property
    def pooled(self) -> Floats:
        """The mean over all rows."""
        weight = self.sizes[..., None]
        return np.asarray(
            ratio((self.seen * weight).sum(1, keepdims=True), weight.sum(1, keepdims=True))
        )

    @property
    def noise(self) -> Floats:
        """The standard errors, and rounding where there is no other."""
        return self.errors + 1e-9 * (np.abs(self.seen).max() or 1.0)

    def settled(self, wished: Floats) -> Floats:
        """Not below the least possible value."""
        return np.maximum(wished, self.least)

    def expected(self, truth: Floats) -> Table:
        """The table of the means."""
        return self.read(truth)

    def draw(self, truth: Floats, times: int, rng: np.random.Generator) -> Iterator[Table]:
        """Tables of normal means."""
        noise = rng.standard_normal((times, *truth.shape))
        yield self.read(self.settled(truth + self.errors * noise))


def means_of(sums: Tally, asked: Criterion, favourable: Any = None) -> Means:
    """Means by group; of several sums the first varies, and the others stay as they are."""
    statistic = asked.statistic
    assert isinstance(statistic, E | Derived)
    names = (statistic.of,) if isinstance(statistic, E) else statistic.of
    weight = sums.table("group")
    mean = np.nan_to_num(ratio(sums.table("group", of=names[0]), weight))
    square = np.nan_to_num(ratio(sums.table("group", of=f"{names[0]}²"), weight))
    squares = sums.table("group", of="weight²") if "weight²" in sums.sums else weight
    sizes = np.nan_to_num(ratio(weight**2, squares))
    fixed = {name: sums.table("group", of=name) for name in names[1:]}
    cells = np.arange(len(weight), dtype=np.intp)[None]

    def read(means: Floats) -> Table:
        drawn = means[..., 0, :, 0]
        totals = {"rows": weight, names[0]: drawn * weight, **fixed}
        world = Tally(
            (sums.axis("group"),),
            cells,
            {name: np.broadcast_to(one, drawn.shape) for name, one in totals.items()},
        )
        return asked.table(world, favourable)

    least = 0.0 if names[0] != "yhat" else -np.inf
    return Means(mean[None, :, None], sizes[None], _errors(mean, square, sizes), least, read)


def _errors(mean: Floats, square: Floats, sizes: Floats) -> Floats:
    """Errors of the means, with the pooled variance lent to small groups as two more rows."""
    variance = np.maximum(square - mean**2, 0.0)
    pooled = (variance * sizes).sum() / sizes.sum()
    lent = (variance * sizes + PRIOR_ROWS * pooled) / np.maximum(sizes - 1 + PRIOR_ROWS, 1.0)
    return np.asarray(np.sqrt(lent / np.maximum(sizes, 1.0)))[None, :, None]


def areas_of(scores: RankedScores, asked: Criterion, favourable: Any = None) -> Means:
    """Areas under the ROC curve with DeLong's standard errors; undefined groups are left out."""
    table = asked.table(scores, favourable)
    kept = [i for i, c in enumerate(scores.classes) if c in table.cells]
    errors = np.array([auroc_errors(scores.scores[i], scores.classes[i]) for i in kept])
    undefined = np.isnan(table.values)
    seen = np.where(undefined, 0.0, table.values)[..., None]
    rows = np.where(undefined, 0.0, 1 / np.maximum(errors, 1e-12) ** 2)

    def read(means: Floats) -> Table:
        values: Any = np.where(undefined, np.nan, np.clip(means[..., 0], 0.0, 1.0))
        return Table(values, table.cells, table.groups)

    return Means(seen, rows, np.nan_to_num(errors)[..., None], 0.0, read)
