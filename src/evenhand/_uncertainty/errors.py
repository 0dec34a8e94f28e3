"""Standard errors as R's `survey` has them: the covariance of groups, with no allowance for few.

To first order a unit (a row or a cluster) moves a statistic by its influence ψ. The covariance of
groups a and b is c / (c − 1) Σ ψ(a) ψ(b) over all c units of the data, those without rows of a
group among them (Binder 1983, International Statistical Review 51). Of clusterings that cross,
covariances add up, less those of rows that share all of them (Cameron, Gelbach and Miller 2011). Of
replicate weights it is Σ cᵣ (θᵣ − θ)(θᵣ − θ)ᵀ around the statistic of all rows. Limits and tests
start from the same sums, but allow for units that are few or unequal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.distributions import RankedScores, auroc_influences
from evenhand._data.tallies import Tally
from evenhand._uncertainty.clusters import Units, crossings, plain, units_of, units_of_scores
from evenhand._uncertainty.means import central_sum
from evenhand._uncertainty.replicates import deviations, replicates_of
from evenhand.criteria import Criterion
from evenhand.statistics.forms import ratio

Floats = NDArray[np.float64]

STEP = 1e-5  # by which part sums are changed, up and down, to see how a statistic follows


def covariance(source: Any, asked: Criterion, favorable: Label = None) -> Floats:
    """Covariances (cells, groups, groups) of a statistic; NaN where the sums do not tell."""
    source = plain(source)
    if isinstance(source, RankedScores):
        return np.array([_of_area(source, c) for c in asked.table(source, favorable).cells])
    values = np.nan_to_num(asked.table(source, favorable).values)
    if source.scale:
        again = (np.nan_to_num(asked.table(each, favorable).values) for each in _each(source))
        moved = deviations(again, values, source.scale)
        return np.asarray(np.einsum("rca,rcb->cab", moved, moved))
    if not source.clusters:
        return _of_rows(source, asked, favorable)
    influences = _Influences(source.whole, asked, favorable)
    total = np.zeros((*values.shape, values.shape[-1]))
    for sign, axes in crossings(source.clusters):
        units, each = units_of(source, *axes)
        total += sign * _added(units, influences.of_units(units, each))
    return total


def _each(source: Tally) -> Iterator[Tally]:
    """The tally of each replicate, with its labels in the order of all of them."""
    for each in replicates_of(source):
        yield replace(each, sums={**each.sums, "weight": each.sums["rows"]})


def _added(units: Units, moved: Floats) -> Floats:
    """Sums c / (c − 1) Σ ψ(a) ψ(b) over clusters, from the influences (cells, units)."""
    from scipy.sparse import csr_array

    number = int(units.cluster.max(initial=-1)) + 1
    by = [
        csr_array((row, (units.cluster, units.owner)), shape=(number, units.groups))
        for row in moved
    ]
    return np.array([(each.T @ each).toarray() for each in by]) * number / max(number - 1, 1e-300)


def _of_rows(source: Tally, asked: Criterion, favorable: Label) -> Floats:
    """That of independent rows, whose groups do not vary together."""
    rows, statistic = float(source.sums["rows"].sum()), asked.statistic
    if statistic.mean_of is not None:
        mean, weight = asked.table(source, favorable).values[0], source.table("group")
        second = central_sum(source, statistic.mean_of, 2, np.nan_to_num(mean))
        square = np.full((1, len(weight)), np.nan)
        if second is not None and "fpc" not in source.sums:
            square[0] = ratio(second, weight**2)
    elif statistic.sums:
        table = asked.table(source, favorable)
        square = np.full(table.values.shape, np.nan)
    else:
        influences = _Influences(source, asked, favorable)
        heavy = next(name for name in ("fpc", "weight²", "rows") if name in source.sums)
        (slope,) = influences.slopes.values()
        square = np.array(
            [
                np.bincount(influences.group, each**2 * source.sums[heavy], len(source.groups))
                for each in slope[:, influences.cell, influences.group]
            ]
        )
    return np.asarray(square[..., None] * np.eye(square.shape[-1]) * rows / max(rows - 1, 1e-300))


class _Influences:
    """By how much the sums of a tally move a statistic of their groups: `slopes` by sum.

    Slopes (cells of the statistic, cells of the tally beside the group, groups) are central
    differences, so that a new statistic has them too.
    """

    def __init__(self, source: Tally, asked: Criterion, favorable: Label) -> None:
        self.axes = source.axes
        self.cell, self.group = self.places(source)
        weight = "weight" if "weight" in source.sums else "rows"
        shape = asked.table(source, favorable).values.shape
        number = int(self.cell.max(initial=-1)) + 1
        self.slopes = {
            name: np.zeros((shape[0], number, shape[1]))
            for name in (weight, *sorted(asked.statistic.sums))
        }
        for name, slope in self.slopes.items():
            for cell in np.unique(self.cell):
                here = self.cell == cell
                ends = []
                for sign in (1, -1):
                    sums = np.where(here, 1 + sign * STEP, 1.0) * source.sums[name]
                    changed = replace(source, sums={**source.sums, name: sums})
                    ends.append(np.nan_to_num(asked.table(changed, favorable).values))
                amount = np.zeros(shape[1])
                amount[self.group[here]] = source.sums[name][here]
                slope[:, cell] = np.nan_to_num(ratio(ends[0] - ends[1], 2 * STEP * amount))

    def places(self, source: Tally) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of every cell of a tally its group, and its place beside the group."""
        names = [axis.name for axis in source.axes]
        at = names.index("group")
        others = [i for i in range(len(names)) if i != at]
        sizes = [self.axes[i].size for i in others]
        cell = np.ravel_multi_index(tuple(source.cells[others]), sizes) if others else None
        group = source.cells[at]
        return np.zeros(len(group), np.intp) if cell is None else cell, group

    def of_units(self, units: Units, each: Tally) -> Floats:
        """Influences (cells, units), from a tally in which every unit is a group."""
        cell, unit = self.places(each)
        moved = sum(
            slope[:, cell, units.owner[unit]] * each.sums[name]
            for name, slope in self.slopes.items()
        )
        return np.array([np.bincount(unit, row, len(units.owner)) for row in np.asarray(moved)])


def _of_area(source: RankedScores, positive: Label) -> Floats:
    """That of the area under the ROC curve of a class, by placements (DeLong et al. 1988)."""
    scores = source.scores[source.classes.index(positive)]
    groups = len(scores.groups)

    def added(codes: NDArray[Any], parts: Floats, size: int) -> Floats:
        return np.asarray(np.bincount(codes, parts, size), np.float64)

    weight = np.ones(len(scores)) if scores.weights is None else scores.weights
    size = added(scores.codes, weight, groups)
    moved = auroc_influences(scores, positive) / np.where(size > 0, size, 1.0)[scores.codes]
    if scores.survey is not None:
        again = (added(scores.codes, each * moved, groups) for each in scores.survey.replicates)
        by = deviations(again, np.zeros(groups), scores.survey.scale)
        return np.asarray(by.T @ by)
    if not scores.clusters:
        square = added(scores.codes, scores.squared_weights * moved**2, groups)
        return np.asarray(np.diag(square) * len(scores) / max(len(scores) - 1, 1e-300))
    total = np.zeros((groups, groups))
    for sign, which in crossings(range(len(scores.clusters))):
        units, unit = units_of_scores(scores, *which)
        row = added(unit, weight * moved, len(units.owner))
        total += sign * _added(units, row[None])[0]
    return total
