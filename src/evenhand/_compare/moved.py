"""How far rows move the statistics of two models, and so how far they move the difference.

Row i moves a statistic of its group by its influence ψᵢ, and so the difference D of two models'
statistics by that of the one less that of the other. With W the weight of the group's rows, the
pseudo-values D + W (ψᵢ − ψᵢ′) have the mean D and vary as it does: of two rates they are 1, 0 and
−1, what the one model predicts less what the other does. So all that is known of means is known of
such differences: whether all groups have the same, and between which values they lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.codes import Column
from evenhand._data.counting import moment_products
from evenhand._data.tallies import Axis, Tally, gathered, weighed
from evenhand._uncertainty.paired import correlated

Floats = NDArray[np.float64]

ROUNDING = 1e-9
MOST_CROSSED = 12  # cells of which each is compared with each


class Moved(NamedTuple):
    """Lines of alike rows, and by how much a row of weight 1 moves each model's statistic.

    `influences` are (cells, lines) of two models; `concerned` (cells, lines) says which rows a cell
    is about. `powers` are sums over a line's rows of powers of their weights, from the 0th on.
    `floors` (cells, groups) are what a further row may move each statistic by, where it is known
    beforehand; else it is what a typical row moves it by.
    """

    owner: NDArray[np.intp]
    influences: tuple[Floats, Floats]
    concerned: NDArray[np.bool_]
    powers: tuple[Floats, ...]
    clusters: Mapping[str, Column]
    floors: tuple[Floats, Floats] | None = None

    @property
    def swapped(self) -> Moved:
        """The same with the models in the other order."""
        return self._replace(influences=self.influences[::-1])

    def correlations(self, groups: int) -> Floats:
        """Those (cells, cells, groups) of the two models' statistics.

        A covariance is the sum over all rows, or clusters, of the products of both influences. Of
        several ways of clustering the least counts.
        """
        weight, square = self.powers[1:3] if len(self.powers) > 1 else self.powers * 2
        alone = [np.sqrt(square) * influence for influence in self.influences]
        floors: Sequence[Floats] | None = self.floors
        if floors is None:
            rows = np.maximum(np.bincount(self.owner, self.powers[0], groups), 1)
            floors = [np.sqrt(_added(each**2, self.owner, groups) / rows) for each in alone]
        if not self.clusters:
            return _correlations(alone, floors, self.owner, groups)
        found = []
        for column in self.clusters.values():
            unit = column.codes.astype(np.int64) * groups + self.owner
            known, unit = np.unique(unit, return_inverse=True)
            owner, sizes = known % groups, np.bincount(unit, self.powers[0])
            number = np.maximum(np.bincount(owner, minlength=groups), 1)
            typical = np.sqrt(np.bincount(owner, sizes**2, groups) / number)
            sums = [_added(weight * each, unit, len(known)) for each in self.influences]
            found.append(_correlations(sums, [each * typical for each in floors], owner, groups))
        return np.asarray(np.min(found, axis=0))

    def changes(self, cell: int, difference: Floats, groups: tuple[Label, ...]) -> Tally:
        """Sums of pseudo-values by group, as those of a predicted number; `difference` is theirs.

        Groups without one are left out.
        """
        kept = np.flatnonzero(self.concerned[cell] & np.isfinite(difference)[self.owner])
        owner, powers = self.owner[kept], [power[kept] for power in self.powers]
        weight = powers[1] if len(powers) > 1 else powers[0]
        total = np.bincount(owner, weight, minlength=len(groups))
        one, two = (influence[cell][kept] for influence in self.influences)
        values = difference[owner] + total[owner] * (one - two)
        whole = np.rint(values)
        if whole.any() and np.allclose(values, whole, rtol=0, atol=ROUNDING):
            values = whole  # of labels, whose sums are then the same in any order
        products = moment_products(values)
        sums = {"rows": powers[0]}
        if len(powers) == 1:
            sums |= {name: powers[0] * each for name, each in products.items()}
        else:
            for name, (power, of) in weighed(products).items():
                sums[name] = powers[power] * (1.0 if of is None else products[of])
        axes = [Axis(name, each.labels) for name, each in self.clusters.items()]
        cells = [each.codes[kept].astype(np.intp) for each in self.clusters.values()]
        axes, cells = [*axes, Axis("group", groups)], [*cells, owner]
        return gathered(tuple(axes), np.array(cells), sums, ())


def _correlations(
    moved: Sequence[Floats], floors: Sequence[Floats], owner: NDArray[np.intp], groups: int
) -> Floats:
    """Correlations from what each independent part (cells, parts) moves of two models."""
    one, two = moved
    variances = [_added(each**2, owner, groups) for each in moved]
    cells = np.arange(len(one))
    if len(cells) > MOST_CROSSED:
        found = np.full((len(cells), len(cells), groups), np.nan)
        found[cells, cells] = correlated(_added(one * two, owner, groups), *variances, *floors)
        return found
    return np.array(
        [
            correlated(
                _added(one[c] * two, owner, groups),
                *(variances[0][c], variances[1], floors[0][c], floors[1]),
            )
            for c in cells
        ]
    )


def _added(products: Floats, owner: NDArray[np.intp], number: int) -> Floats:
    return np.array([np.bincount(owner, row, minlength=number) for row in products])
