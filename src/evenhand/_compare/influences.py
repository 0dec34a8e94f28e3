"""Influences of rows on the statistics of two models, and on their difference.

Row i changes a statistic of its group by its influence ψᵢ, and so the difference D of two models'
statistics by ψᵢ − ψᵢ′. With W the weight of the group's rows, the pseudo-values D + W (ψᵢ − ψᵢ′)
have the mean D, and their mean has its variance: for two rates they are 1, 0 and −1, one model's
prediction minus the other's. So methods for means apply to such differences: the test that they are
equal in all groups, and their intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.codes import Column
from evenhand._compare.design import Design
from evenhand._data.counting import moment_products, moments
from evenhand._data.groups import Groups
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tallies import Axis, Tally, gathered, weighed
from evenhand._uncertainty.paired import correlated

Floats = NDArray[np.float64]

ROUNDING = 1e-9
MOST_CROSSED = 12  # with more cells, not every two are correlated


class Influences(NamedTuple):
    """Lines of equal rows, with the influence of a row of weight 1 on each model's statistic.

    `influences` are (cells, lines) of two models; `concerned` (cells, lines) says which rows a cell
    is about. `powers` are sums over a line's rows of powers of their weights, from the 0th on.
    `floors` (cells, groups) are the influences that one more row may have, if they are known;
    else that of a typical row. With the replicates of a survey, every line is a row.
    """

    owner: NDArray[np.intp]
    influences: tuple[Floats, Floats]
    concerned: NDArray[np.bool_]
    powers: tuple[Floats, ...]
    clusters: Mapping[str, Column]
    floors: tuple[Floats, Floats] | None = None
    survey: SurveyWeights | None = None

    @classmethod
    def of_rows(cls, design: Design, first: Floats, second: Floats) -> Influences:
        """The influences of all rows, one by one; NaN where a statistic has none."""
        owner, rows = design.groups.codes.astype(np.intp), np.arange(design.lines)
        concerned = np.isfinite(first) & np.isfinite(second)
        powers = design.powers(rows, len(rows))
        return cls(owner, (first, second), concerned, powers, design.clusters, survey=design.survey)

    @property
    def swapped(self) -> Influences:
        """The same with the models exchanged."""
        return self._replace(influences=self.influences[::-1])

    def correlations(self, groups: int) -> Floats:
        """Correlations (cells, cells, groups) of the two models' statistics.

        A covariance is the sum over all rows, or clusters, of the products of both influences. Of
        several clusterings the smallest correlation counts.
        """
        weight, square = self.powers[1:3] if len(self.powers) > 1 else self.powers * 2
        alone = [np.sqrt(square) * influence for influence in self.influences]
        floors: Sequence[Floats] | None = self.floors
        if floors is None:
            rows = np.maximum(np.bincount(self.owner, self.powers[0], groups), 1)
            floors = [np.sqrt(_added(moves**2, self.owner, groups) / rows) for moves in alone]
        if self.survey is not None and self.survey.scale:
            parts = [self._replicated(self.survey, moves, groups) for moves in self.influences]
            owner = np.tile(np.arange(groups), len(self.survey.scale))
            return _correlations(parts, floors, owner, groups)
        if not self.clusters:
            return _correlations(alone, floors, self.owner, groups)
        by_clustering = []
        for column in self.clusters.values():
            unit = column.codes.astype(np.int64) * groups + self.owner
            units, unit = np.unique(unit, return_inverse=True)
            owner, sizes = units % groups, np.bincount(unit, self.powers[0])
            number = np.maximum(np.bincount(owner, minlength=groups), 1)
            typical = np.sqrt(np.bincount(owner, sizes**2, groups) / number)
            sums = [_added(weight * moves, unit, len(units)) for moves in self.influences]
            by_clustering.append(
                _correlations(sums, [moves * typical for moves in floors], owner, groups)
            )
        return np.asarray(np.min(by_clustering, axis=0))

    def _replicated(self, survey: SurveyWeights, moves: Floats, groups: int) -> Floats:
        """How far each replicate moves the statistic of each group (cells, parts)."""
        return np.hstack(
            [
                scale**0.5 * _added(np.nan_to_num(moves) * weight, self.owner, groups)
                for scale, weight in zip(survey.scale, survey.replicates, strict=True)
            ]
        )

    def changes(self, cell: int, difference: Floats, groups: tuple[Label, ...]) -> Tally:
        """Sums of pseudo-values by group, like those of a predicted number.

        `difference` is the groups' one; groups without it are left out.
        """
        rows = np.flatnonzero(self.concerned[cell] & np.isfinite(difference)[self.owner])
        owner, powers = self.owner[rows], [power[rows] for power in self.powers]
        weight = powers[1] if len(powers) > 1 else powers[0]
        total = np.bincount(owner, weight, minlength=len(groups))
        first, second = (influence[cell][rows] for influence in self.influences)
        values = difference[owner] + total[owner] * (first - second)
        rounded = np.rint(values)
        if rounded.any() and np.allclose(values, rounded, rtol=0, atol=ROUNDING):
            values = rounded  # for labels, so that sums do not depend on the order
        if self.survey is not None:
            of = Groups(owner.astype(np.uint32), groups, ("group",))
            weights = self.survey[rows]
            return moments(None, values, sensitive_features=of, sample_weight=weights)
        products = moment_products(values)
        sums = {"rows": powers[0]}
        if len(powers) == 1:
            sums |= {name: powers[0] * values_ for name, values_ in products.items()}
        else:
            for name, (power, column) in weighed(products).items():
                sums[name] = powers[power] * (1.0 if column is None else products[column])
        axes = [Axis(name, values_.labels) for name, values_ in self.clusters.items()]
        cells = [values_.codes[rows].astype(np.intp) for values_ in self.clusters.values()]
        axes, cells = [*axes, Axis("group", groups)], [*cells, owner]
        return gathered(tuple(axes), np.array(cells), sums, ())


def _correlations(
    influences: Sequence[Floats], floors: Sequence[Floats], owner: NDArray[np.intp], groups: int
) -> Floats:
    """Correlations from influences of independent parts (cells, parts) on two models."""
    first, second = influences
    variances = [_added(each**2, owner, groups) for each in influences]
    cells = np.arange(len(first))
    if len(cells) > MOST_CROSSED:
        result = np.full((len(cells), len(cells), groups), np.nan)
        result[cells, cells] = correlated(
            _added(first * second, owner, groups), *variances, *floors
        )
        return result
    return np.array(
        [
            correlated(
                _added(first[c] * second, owner, groups),
                *(variances[0][c], variances[1], floors[0][c], floors[1]),
            )
            for c in cells
        ]
    )


def _added(products: Floats, owner: NDArray[np.intp], number: int) -> Floats:
    return np.array([np.bincount(owner, row, minlength=number) for row in products])
