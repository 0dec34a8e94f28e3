"""Rows that come in clusters: how many independent rows they amount to.

Decisions on one person, pupils of one school and prompts of one template go together, so a group
says less than its number of rows. The rows of a group that share a cluster are a *unit*. In a group
with a rate or mean m, weight n and units of weight n_c whose values add up to h_c, the variance of
m is the sandwich Σ (h_c − m n_c)² / n² (Liang and Zeger 1986), corrected for m being fitted to the
same units. A few units say little about their own variance, so all groups lend theirs: by the
correlation ρ within clusters that they have in common, with which a unit varies as
σ² (u_c + ρ (n_c² − u_c)), where u_c is the sum of its squared weights. Effective rows are those
that would vary as much; degrees of freedom say how well that is known (Satterthwaite), from how
unequal the units are.

Groups that share clusters do not vary independently. Where their units go against each other, as
where every cluster has a fixed number to select, differences vary more than the groups do, and
rows count for less by as much, on average over all pairs of groups. Where they go together,
differences vary less; nothing is taken off for that, since the level of all groups varies, and the
limits err on the side of caution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._data.distributions import Distribution, RankedScores
from evenhand._data.summaries import Source
from evenhand._data.tallies import Axis, Tally, gathered
from evenhand.statistics.forms import ratio

Floats = NDArray[np.float64]

LENT_UNITS = 8.0  # degrees of freedom that the common correlation counts for
ROUNDS = 12  # until the correlation and the variance that it is relative to agree
KNOWN = 1e6  # degrees of freedom where nothing is estimated: a cluster counts as one row
LEAST_LEFT = 0.05  # of a variance, after what the fitted mean takes from it
ROUNDING = 1e-8  # standard deviations by which units differ where only their sums were rounded


class Amount(NamedTuple):
    """Rows of equal weight that say as much, and the degrees of freedom of their variance."""

    rows: Floats
    free: Floats


@dataclass(frozen=True, eq=False)
class Units:
    """The rows of every group in every cluster: `owner` is the group of each unit, ascending."""

    owner: NDArray[np.intp]
    cluster: NDArray[np.intp]
    groups: int

    def by_group(self, values: Floats) -> Floats:
        """Sums over the units of each group, along the last axis."""
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        totals = np.zeros((*values.shape[:-1], self.groups))
        totals[..., self.owner[starts]] = np.add.reduceat(values, starts, axis=-1)
        return totals

    def sandwich(self, residuals: Floats, weight: Floats) -> Floats:
        """The variance of a mean, from h_c − m n_c and n_c (cells, units), as it is published."""
        units = self.by_group(np.ones_like(weight))
        square = ratio(units, units - 1) * self.by_group(residuals**2)
        return ratio(square, self.by_group(weight) ** 2)

    def amount(self, residuals: Floats, weight: Floats, squares: Floats, spread: Floats) -> Amount:
        """What the rows of each group amount to.

        `residuals` h_c − m n_c, `weight` n_c and `squares` u_c are those of units (cells, units);
        `spread` is the variance of single rows (cells, groups).
        """
        least = ROUNDING * np.sqrt(spread[:, self.owner]) * weight
        residuals = np.where((np.abs(residuals) > least) & (least > 0), residuals, 0.0)
        total, pairs = self.by_group(weight), self.by_group(weight**2)
        alone, square = self.by_group(squares), self.by_group(residuals**2)
        size = np.where(total > 0, total, 1.0)
        left = 1 - 2 * weight / size[:, self.owner] + (pairs / size**2)[:, self.owner]
        base, shared = self.by_group(left * squares), self.by_group(left * (weight**2 - squares))
        rho = np.zeros((len(total), 1))
        for _ in range(ROUNDS):
            fitted = 1 - (alone + rho * (pairs - alone)) / size**2
            scale = np.where(total > 0, spread / np.maximum(fitted, LEAST_LEFT), 0.0)
            excess = (square - scale * base).sum(axis=-1, keepdims=True)
            known = (scale * shared).sum(axis=-1, keepdims=True)
            rho = np.clip(np.nan_to_num(ratio(excess, known), nan=1.0), 0, 1)
        common = alone + rho * (pairs - alone)
        varied = squares + rho * (weight**2 - squares)
        taken = self.by_group(left * varied)
        taken = np.where(taken > 1e-9 * common, taken, 0.0)
        own = np.nan_to_num(ratio(ratio(square * common, taken), spread))
        free = np.where(own > 0, self._free(residuals, square, varied), 0.0)
        lent = np.minimum(LENT_UNITS, free.sum(axis=-1, keepdims=True) - free)
        both = free + lent
        variance = np.where(both > 0, ratio(free * own + lent * common, both), common)
        variance = np.maximum(variance, alone) * self._opposed(residuals, square)
        rows = np.nan_to_num(ratio(total**2, variance))
        return Amount(rows, np.where(both > 0, np.maximum(both, 1.0), KNOWN))

    def _opposed(self, residuals: Floats, square: Floats) -> Floats:
        """How much more differences of groups vary than independent ones would; at least 1."""
        scale = np.sqrt(np.where(square > 0, square, np.inf))
        seen = (square > 0).sum(axis=-1, keepdims=True)
        sums = np.array(
            [np.bincount(self.cluster, row) for row in residuals / scale[:, self.owner]]
        )
        together = (sums**2).sum(axis=-1, keepdims=True)
        pairs = np.maximum(seen * (seen - 1), 1)
        return np.asarray(np.maximum((seen**2 - together) / pairs, 1.0))

    def _free(self, residuals: Floats, square: Floats, varied: Floats) -> Floats:
        """Degrees of freedom: by the sizes of the units, and by how much single ones weigh."""
        by_size = np.nan_to_num(ratio(self.by_group(varied) ** 2, self.by_group(varied**2)))
        fourth = np.nan_to_num(ratio(self.by_group(residuals**4), square**2))
        units = np.maximum(self.by_group(np.ones_like(varied)), 1.0)
        by_tail = 2 / np.maximum(fourth - 1 / units, 1e-9)
        return np.asarray(np.maximum(np.minimum(by_size - 1, by_tail), 0.0))


def units_of(source: Tally, axis: str) -> tuple[Units, Tally]:
    """The units of a tally, and the tally in which each of them is a group."""
    names = [each.name for each in source.axes]
    group, cluster = source.axis("group"), source.axis(axis)
    places = source.cells[names.index("group")], source.cells[names.index(axis)]
    pair = np.ravel_multi_index(places, (group.size, cluster.size))
    known, unit = np.unique(pair, return_inverse=True)
    units = Units(*np.divmod(known, cluster.size), group.size)
    kept = [i for i, name in enumerate(names) if name not in source.clusters]
    cells = source.cells[kept].copy()
    cells[[names[i] for i in kept].index("group")] = unit
    labels = tuple(range(len(known)))
    axes = tuple(Axis("group", labels) if names[i] == "group" else source.axes[i] for i in kept)
    return units, gathered(axes, cells, source.sums, ())


def units_of_scores(scores: Distribution, which: int) -> tuple[Units, NDArray[np.intp]]:
    """The units of ordered scores, and that of each score."""
    cluster = scores.clusters[which]
    size = len(cluster.labels)
    known, unit = np.unique(
        scores.codes.astype(np.int64) * size + cluster.codes, return_inverse=True
    )
    return Units(*np.divmod(known, size), len(scores.groups)), unit


def are_dependent(source: Source) -> bool:
    """Whether it is known that rows go together, by clusters or by the replicates of a survey."""
    if isinstance(source, Tally):
        return bool(source.clusters or source.scale)
    first = source.scores[0] if isinstance(source, RankedScores) else source
    return bool(first.clusters or first.survey)


def independent(source: Source) -> Source:
    """The same rows, as if each were for itself."""
    if isinstance(source, RankedScores):
        alone = tuple(replace(scores, clusters=(), survey=None) for scores in source.scores)
        return RankedScores(source.classes, alone)
    if isinstance(source, Tally):
        return replace(source.whole, scale=())
    return replace(source, clusters=(), survey=None)


Reader = Callable[[Tally], tuple[Floats, Floats]]


def rates_amount(source: Tally, read: Reader) -> Amount | None:
    """What clustered rows amount to for rates (cells, groups); None where rows are not clustered.

    `read` gives hits and rows (sums, cells, groups) of a tally: by rows, or by weights and their
    squares last.
    """
    if not source.clusters:
        return None
    hits, total = (part[-2:] for part in read(source.whole))
    share = np.nan_to_num(ratio(hits[0], total[0]))
    amounts = []
    for axis in source.clusters:
        units, each = units_of(source, axis)
        struck, counted = (part[-2:] for part in read(each))
        residuals = struck[0] - share[:, units.owner] * counted[0]
        amounts.append(units.amount(residuals, counted[0], counted[-1], share * (1 - share)))
    return smallest(amounts)


def means_amount(source: Tally, of: str, mean: Floats, variance: Floats) -> Amount | None:
    """What clustered rows amount to for the means of a sum, by group."""
    if not source.clusters:
        return None
    amounts = []
    for axis in source.clusters:
        units, each = units_of(source, axis)
        weight = each.table("group")
        squares = each.table("group", of="weight²") if "weight²" in each.sums else weight
        residuals = each.table("group", of=of) - mean[units.owner] * weight
        parts = (part[None] for part in (residuals, weight, squares, variance))
        amounts.append(units.amount(*parts))
    return Amount(*(part[0] for part in smallest(amounts)))


def as_known(rows: Floats, free: Floats, error: float) -> Floats:
    """Fewer rows, by as much as Student's limits are wider (Korn and Graubard 1998)."""
    from scipy.special import ndtri, stdtrit

    return np.asarray(rows * (ndtri(error / 2) / stdtrit(free, error / 2)) ** 2)


def smallest(amounts: list[Amount]) -> Amount:
    """Of crossed clusters those that leave the fewest rows, group by group."""
    rows = np.array([amount.rows for amount in amounts])
    free = np.array([amount.free for amount in amounts])
    least = rows.argmin(axis=0)[None]
    return Amount(*(np.take_along_axis(each, least, axis=0)[0] for each in (rows, free)))
