"""How far rows move the statistics of two models, and so how far they move the difference.

Row i moves a statistic of its group by its influence ψᵢ, and so the difference D of two models'
statistics by that of the one less that of the other. With W the weight of the group's rows, the
pseudo-values D + W (ψᵢ − ψᵢ′) have the mean D and vary as it does: of two rates they are 1, 0 and
−1, what the one model predicts less what the other does. So all that is known of means is known of
such differences: whether all groups have the same, and between which values they lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.codes import Column
from evenhand._data.counting import moment_products
from evenhand._data.tallies import Axis, Tally, gathered, weighed

Floats = NDArray[np.float64]

ROUNDING = 1e-9


class Moved(NamedTuple):
    """Lines of alike rows, and by how much a row of weight 1 moves each model's statistic.

    `influences` are (cells, lines) of two models; `concerned` (cells, lines) says which rows a cell
    is about. `powers` are sums over a line's rows of powers of their weights, from the 0th on.
    """

    owner: NDArray[np.intp]
    influences: tuple[Floats, Floats]
    concerned: NDArray[np.bool_]
    powers: tuple[Floats, ...]
    clusters: Mapping[str, Column]

    @property
    def swapped(self) -> Moved:
        """The same with the models in the other order."""
        return self._replace(influences=self.influences[::-1])

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
