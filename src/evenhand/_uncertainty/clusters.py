"""Rows that come in clusters: the number of independent rows that would vary as much.

Decisions on one person, pupils of one school and prompts of one template are correlated, so a group
carries less information than its number of rows. The rows of a group that share a cluster are a
*unit*. In a group with a rate or mean m, weight n and units of weight n_c whose values add up to
h_c, the variance of m is the sandwich Σ (h_c − m n_c)² / n² (Liang and Zeger 1986), corrected for m
being fitted to the same units. A few units determine their own variance poorly, so it is combined
with that of all groups, through a common intraclass correlation ρ: with it a unit has the variance
σ² (u_c + ρ (n_c² − u_c)), where u_c is the sum of its squared weights. The effective number of rows
is that of independent ones with the same variance; its degrees of freedom (Satterthwaite) follow
from how unequal the units are.

Groups that share clusters are dependent: a cluster effect moves all of them. Effective rows are
those of differences, by quasi-variances (`influence.py`), so that where every template is asked of
every group, or everyone is rated by the same people, groups are compared within clusters. Where
every cluster has a fixed number to select, differences vary more than groups do: twice as much
where one of two people is selected, hardly more than independent rows where clusters are large. The
variances of crossing clusterings add up, less those of rows that share all of them (Cameron,
Gelbach and Miller 2011, Journal of Business & Economic Statistics 29, 238–249).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import prod
from threading import Lock
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Label, combine, renumber
from evenhand._data.areas import RankedScores
from evenhand._data.distributions import Distribution, steps
from evenhand._data.once import once
from evenhand._data.summaries import Source
from evenhand._data.tallies import Axis, Tally, gathered
from evenhand._uncertainty.influence import quasi_ratio
from evenhand.statistics import Statistic
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

PRIOR_UNITS = 8.0  # degrees of freedom given to the common correlation
ROUNDS = 12  # until the correlation and the variance that it is relative to agree
INFINITE_FREEDOM = 1e6  # degrees of freedom where nothing is estimated: a cluster counts as one row
LEAST_LEFT = 0.05  # of a variance, after what the fitted mean takes from it
ROUNDING = 1e-8  # standard deviations by which units differ where only their sums were rounded
MOST_PAIRED = 400  # groups whose covariances are computed pair by pair
MOST_KINDS = 64  # of rows, by their labels: with more, hardly two units have the same counts
MOST_EMPTY = 8  # cells of clusters by groups for each unit: more, and the matrix stays sparse
LEAST_RATIO = 1e-4  # of a quasi-variance to its variance: a correlation of 0.9999


class Amount(NamedTuple):
    """Effective numbers of rows of equal weight (cells, groups), and their degrees of freedom.

    `rows` are for differences between groups, `alone` for single groups.
    """

    rows: Floats
    free: Floats
    alone: Floats


class Varied(NamedTuple):
    """Variances of groups by one clustering (cells, groups).

    `variance` is relative to that of a single row; `own` and `covariance` are sums of squares and
    of products, `independent` is the variance of independent rows, and `floor` what one further
    unit would add.
    """

    variance: Floats
    free: Floats
    own: Floats
    covariance: Floats | None
    independent: Floats
    floor: Floats


@dataclass(frozen=True, eq=False)
class Units:
    """The rows of every group in every cluster, in the order of groups and of clusters.

    Units of one group with the same counts share a *pattern*, and every quantity is computed once
    per pattern: a million units of a few rows have some hundreds of patterns. `owner` is the group
    of each pattern, ascending; `cluster` and `pattern` have an entry for each unit. Without
    `pattern` every unit has its own.
    """

    owner: NDArray[np.intp]
    cluster: NDArray[np.intp]
    groups: int
    pattern: NDArray[np.intp] | None = None

    def by_unit(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of units, from those of patterns, along the last axis."""
        return values if self.pattern is None else values[..., self.pattern]

    def by_group(self, values: Floats) -> Floats:
        """Sums over the units of each group, of values of patterns, along the last axis."""
        if self._sizes is not None:
            values = values * self._sizes
        totals = np.zeros((*values.shape[:-1], self.groups))
        totals[..., self.owner[self._starts]] = np.add.reduceat(values, self._starts, axis=-1)
        return totals

    @cached_property
    def numbers(self) -> Floats:
        """The number of units in each group."""
        return np.bincount(self.owner, self._sizes, self.groups).astype(np.float64)

    @cached_property
    def _sizes(self) -> NDArray[np.intp] | None:
        """The number of units of each pattern; None where each has its own."""
        return None if self.pattern is None else np.bincount(self.pattern)

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.diff(self.owner, prepend=-1))

    def sandwich(self, residuals: Floats, weight: Floats) -> Floats:
        """The published variance of a mean, from h_c − m n_c and n_c (cells, units)."""
        square = ratio(self.numbers, self.numbers - 1) * self.by_group(residuals**2)
        return ratio(square, self.by_group(weight) ** 2)

    def varied(self, residuals: Floats, weight: Floats, squares: Floats, spread: Floats) -> Varied:
        """Variances of the groups' statistics.

        `residuals` h_c − m n_c, `weight` n_c and `squares` u_c are those of units, by pattern
        (cells, patterns); `spread` is the variance of single rows (cells, groups).
        """
        tolerance = ROUNDING * np.sqrt(spread)[:, self.owner] * weight
        residuals = np.where((np.abs(residuals) > tolerance) & (tolerance > 0), residuals, 0.0)
        pairwise = weight**2
        total, pairs = self.by_group(weight), self.by_group(pairwise)
        single, square = self.by_group(squares), self.by_group(residuals**2)
        size = np.where(total > 0, total, 1.0)
        remaining = 1 - 2 * weight / size[:, self.owner] + (pairs / size**2)[:, self.owner]
        extra = pairwise - squares  # 0 in units of one row
        base, shared = self.by_group(remaining * squares), self.by_group(remaining * extra)
        rho = np.zeros((len(total), 1))
        for _ in range(ROUNDS):
            fitted = 1 - (single + rho * (pairs - single)) / size**2
            scale = np.where(total > 0, spread / np.maximum(fitted, LEAST_LEFT), 0.0)
            excess = (square - scale * base).sum(axis=-1, keepdims=True)
            information = (scale * shared).sum(axis=-1, keepdims=True)
            rho = np.clip(np.nan_to_num(ratio(excess, information), nan=1.0), 0, 1)
        common = single + rho * (pairs - single)
        varied = squares + rho * extra
        taken = base + rho * shared
        taken = np.where(taken > 1e-9 * common, taken, 0.0)
        own = np.nan_to_num(ratio(ratio(square * common, taken), spread))
        free = np.where(own > 0, self._free(residuals, square, varied), 0.0)
        borrowed = np.minimum(PRIOR_UNITS, free.sum(axis=-1, keepdims=True) - free)
        covariance = self._covariance(residuals / size[:, self.owner])
        if covariance is not None:  # other groups of the same clusters are no further information
            borrowed = np.minimum(borrowed, np.maximum(self.clusters - 1.0 - free, 0.0))
        freedom = free + borrowed
        variance = np.where(freedom > 0, ratio(free * own + borrowed * common, freedom), common)
        variance = np.nan_to_num(ratio(np.maximum(variance, single), total**2))
        units = np.maximum(self.numbers, 1.0)
        free = np.where(freedom > 0, np.maximum(freedom, 1.0), INFINITE_FREEDOM)
        independent = spread * single / size**2
        floor = independent / units / 2
        return Varied(variance, free, square / size**2, covariance, independent, floor)

    @cached_property
    def clusters(self) -> int:
        """The number of clusters."""
        return int(self.cluster.max(initial=-1)) + 1

    def products(self, influences: Floats) -> Floats:
        """Sums Σ ψ(a) ψ(b) over clusters (cells, groups, groups), from those of patterns."""
        group, cluster, pattern = self._shared
        shape = (self.groups, int(cluster.max(initial=-1)) + 1)
        if prod(shape) <= MOST_EMPTY * len(cluster):
            padded = np.append(influences, np.zeros((len(influences), 1)), axis=1)
            matrices = (row.take(self._patterns, mode="clip") for row in padded)
            products = np.array([matrix @ matrix.T for matrix in matrices])
        else:
            from scipy.sparse import csr_array

            ends = np.searchsorted(group, np.arange(self.groups + 1))
            rows = influences[:, pattern]
            sparse = (csr_array((row, cluster, ends), shape=shape) for row in rows)
            products = np.array([(matrix @ matrix.T).toarray() for matrix in sparse])
        every = np.arange(self.groups)
        products[:, every, every] = self.by_group(influences**2)
        return products

    @cached_property
    def _shared(self) -> tuple[NDArray[np.intp], ...]:
        """Group, cluster and pattern of each unit that shares its cluster with other groups."""
        shared = np.bincount(self.cluster) > 1
        is_shared = shared[self.cluster]
        patterns = self.by_unit(np.arange(len(self.owner)))
        number = np.cumsum(shared) - 1
        return (
            self.by_unit(self.owner)[is_shared],
            number[self.cluster[is_shared]],
            patterns[is_shared],
        )

    @cached_property
    def _patterns(self) -> NDArray[np.intp]:
        """The pattern of each group in each shared cluster; one past the last if it has none."""
        group, cluster, pattern = self._shared
        patterns = np.full((self.groups, int(cluster.max(initial=-1)) + 1), len(self.owner))
        patterns[group, cluster] = pattern
        return patterns

    def _covariance(self, residuals: Floats) -> Floats | None:
        """Covariances of groups (cells, groups, groups); None where no two share a cluster.

        For very many groups each pair is given the average over all pairs.
        """
        if not len(self._shared[0]):
            return None
        if self.groups <= MOST_PAIRED:
            return self.products(residuals)
        square, averages = self.by_group(residuals**2), []
        scale = np.sqrt(np.where(square > 0, square, np.inf))
        positive = (square > 0).sum(axis=-1)
        rows = self.by_unit(residuals / scale[:, self.owner])
        for row, cell in zip(rows, range(len(square)), strict=True):
            shared = float((np.bincount(self.cluster, row) ** 2).sum())
            pairs = max(int(positive[cell] * (positive[cell] - 1)), 1)
            averages.append(1 - (shared - positive[cell]) / pairs)
        return np.array(averages)[:, None] * np.ones(square.shape)

    def _free(self, residuals: Floats, square: Floats, varied: Floats) -> Floats:
        """Degrees of freedom, from the units' sizes and from the influence of single units."""
        by_size = np.nan_to_num(ratio(self.by_group(varied) ** 2, self.by_group(varied**2)))
        fourth = np.nan_to_num(ratio(self.by_group(np.square(residuals**2)), square**2))
        units = np.maximum(self.numbers, 1.0)
        by_tail = 2 / np.maximum(fourth - 1 / units, 1e-9)
        return np.asarray(np.maximum(np.minimum(by_size - 1, by_tail), 0.0))


def units_of(source: Tally, *clusterings: str) -> tuple[Units, Tally]:
    """The units of a tally, and the tally in which each of their patterns is a group.

    With several clusterings, a unit is the rows that share all of them. The units of a tally are
    sorted once, and cached.
    """
    with _SORTING:
        cache = _UNITS.setdefault(source, {})
        if clusterings not in cache:
            cache[clusterings] = _sorted_units(source, clusterings)
        return cache[clusterings]


_SORTING = Lock()
_UNITS: WeakKeyDictionary[Tally, dict[tuple[str, ...], tuple[Units, Tally]]] = WeakKeyDictionary()


def _sorted_units(source: Tally, clusterings: tuple[str, ...]) -> tuple[Units, Tally]:
    names = [axis.name for axis in source.axes]
    group = source.axis("group")
    cluster, size = combined_codes([source.cells[names.index(axis)] for axis in clusterings])
    keys = source.cells[names.index("group")] * size + cluster
    unit, codes = renumber(keys, group.size * size)
    owner, cluster = np.divmod(codes, size)
    places = [i for i, name in enumerate(names) if name not in source.clusters]
    pattern, cells_kept = None, np.arange(len(unit))
    counts = _counts(source, [i for i in places if names[i] != "group"], unit, len(codes))
    if counts is not None:
        combined, first = combine([(owner, group.size), *counts])
        pattern, owner = combined.astype(np.intp), owner[first]
        positions = np.full(len(codes), -1, np.intp)
        positions[first] = np.arange(len(first))
        unit = positions[unit]
        cells_kept = np.flatnonzero(unit >= 0)  # the cells of one unit of each pattern
    cells = source.cells[places][:, cells_kept]
    cells[[names[i] for i in places].index("group")] = unit[cells_kept]
    labels = tuple(range(len(owner)))
    axes = tuple(Axis("group", labels) if names[i] == "group" else source.axes[i] for i in places)
    sums = {name: values[..., cells_kept] for name, values in source.sums.items()}
    return Units(owner, cluster, group.size, pattern), gathered(axes, cells, sums, ())


def _counts(
    source: Tally, axes: Sequence[int], unit: NDArray[Any], units: int
) -> list[tuple[NDArray[Any], int]] | None:
    """Rows of each kind in every unit, with one more than their maximum, for `combine`.

    A kind is a position along the axes. None where rows are weighted, or of too many kinds.
    """
    rows, shape = source.sums["rows"], [source.axes[i].size for i in axes]
    is_plain = len(source.sums) == 1 and rows.ndim == 1 and rows.dtype.kind == "i"
    if not axes or not is_plain or prod(shape) > MOST_KINDS:
        return None
    kinds = np.ravel_multi_index(tuple(source.cells[list(axes)]), shape)
    counts = []
    for kind in range(prod(shape)):
        chosen = kinds == kind
        counted = np.bincount(unit[chosen], rows[chosen], units).astype(np.intp)
        counts.append((counted, int(counted.max(initial=0)) + 1))
    return counts


def row_influences(source: Tally, statistic: Statistic) -> Floats:
    """First-order influence of a row of weight 1 on a statistic (kinds, cells, groups).

    A kind of row is a position along the axes other than the group, in their order.
    """
    places = [axis.size for axis in source.axes if axis.name != "group"]
    group_axis = [axis.name for axis in source.axes].index("group")
    everyone = np.arange(source.axes[group_axis].size)
    influences = []
    for place in np.ndindex(*places):
        cells = np.array([np.full(len(everyone), code) for code in place], dtype=np.intp)
        cells = np.insert(cells.reshape(-1, len(everyone)), group_axis, everyone, axis=0)
        single = Tally(source.axes, cells, {"rows": np.ones(len(everyone))})
        influences.append(statistic.influence(single, everyone, source))
    return np.array(influences)


def row_squares(source: Tally, statistic: Statistic) -> Floats:
    """Sums Σ ψ² over independent rows (cells, groups), where rows of a kind are identical."""
    influences = row_influences(source, statistic)
    labels = [axis.name for axis in source.axes if axis.name != "group"]
    weights = next(name for name in ("fpc", "weight²", "rows") if name in source.sums)
    squares = source.table(*labels, "group", of=weights).reshape(len(influences), 1, -1)
    return np.asarray((influences**2 * squares).sum(axis=0))


def units_of_scores(scores: Distribution, *axes: int) -> tuple[Units, NDArray[np.intp]]:
    """The units of ordered scores, and the unit of each score."""
    cluster, size = combined_codes([scores.clusters[i].codes for i in axes])
    codes, unit = np.unique(scores.codes.astype(np.int64) * size + cluster, return_inverse=True)
    return Units(*np.divmod(codes, size), len(scores.groups)), unit


def combined_codes(codes: Sequence[NDArray[Any]]) -> tuple[NDArray[np.int64], int]:
    """A number from 0 for each combination of clusters, and the number of combinations."""
    combined = codes[0].astype(np.int64)
    if not np.bincount(combined).all():  # numbers are missing
        combined = np.unique(combined, return_inverse=True)[1]
    for further in codes[1:]:
        combined = combined * (int(further.max(initial=0)) + 1) + further.astype(np.int64)
        combined = np.unique(combined, return_inverse=True)[1]
    return combined, int(combined.max(initial=-1)) + 1


def are_dependent(source: Source) -> bool:
    """Whether rows are declared dependent, by clusters or by a survey's replicate weights."""
    if isinstance(source, Tally):
        return bool(source.clusters or source.scale)
    first = source.scores[0] if isinstance(source, RankedScores) else source
    return bool(first.clusters or first.survey)


def shared_clusters(source: Source) -> int:
    """The smallest number of clusters of a clustering that groups share; 0 if they share none.

    The replicates of a survey are of all groups.
    """
    return once(source, "shared clusters", partial(_shared_clusters, source))


def _shared_clusters(source: Source) -> int:
    replicates = _scored(source).survey if not isinstance(source, Tally) else source
    if replicates is not None and replicates.scale:
        return len(replicates.scale)
    group, clusterings = _clusterings(source)
    numbers = []
    for codes in clusterings:
        owner = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
        owner[codes] = group  # of each cluster, the group of one of its rows
        if (owner[codes] != group).any():
            numbers.append(int(np.count_nonzero(owner >= 0)))
    return min(numbers, default=0)


def has_replicates(source: Any) -> bool:
    """Whether rows are dependent as a survey's replicate weights say."""
    if isinstance(source, Tally):
        return bool(source.scale)
    is_scored = isinstance(source, RankedScores | Distribution)
    return is_scored and _scored(source).survey is not None


def clusters_by_group(source: Source) -> Floats:
    """The number of clusters of each group, by the clustering that has the fewest of them."""
    group, clusterings = _clusterings(source)
    number = np.full(len(groups_of(source)), np.inf)
    for codes in clusterings:
        pairs = np.unique(np.stack([group.astype(np.int64), codes]), axis=1)
        number = np.minimum(number, np.bincount(pairs[0], minlength=len(number)))
    return number


def rows_by_group(source: Source) -> Floats:
    """The number of rows of each group."""
    if isinstance(source, Tally):
        return source.whole.table("group", of="rows")
    scores = _scored(source)
    return np.bincount(scores.codes, minlength=len(scores.groups)).astype(np.float64)


def groups_of(source: Source) -> tuple[Label, ...]:
    """The groups of any summary."""
    return source.groups if isinstance(source, Tally) else _scored(source).groups


def _scored(source: RankedScores | Distribution) -> Distribution:
    return source.scores[0] if isinstance(source, RankedScores) else source


def _clusterings(source: Source) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """The groups of rows or cells, and the clusters by each clustering."""
    if not isinstance(source, Tally):
        scores = _scored(source)
        return scores.codes, [clusters.codes for clusters in scores.clusters]
    names = [axis.name for axis in source.axes]
    clusterings = [source.cells[names.index(name)] for name in source.clusters]
    return source.cells[names.index("group")], clusterings


def independent(source: Source) -> Source:
    """The same rows, as if they were independent."""
    if isinstance(source, RankedScores):
        single = tuple(replace(scores, clusters=(), survey=None) for scores in source.scores)
        return RankedScores(source.classes, single)
    if isinstance(source, Tally):
        return replace(source.whole, scale=())
    return replace(source, clusters=(), survey=None)


def plain(source: Source) -> Source:
    """The same rows, without weights that are all 1 and without clusters of single rows."""
    if isinstance(source, RankedScores):
        return replace(source, scores=tuple(plain_scores(each) for each in source.scores))
    if isinstance(source, Distribution):
        return plain_scores(source)
    sums, names = source.sums, [axis.name for axis in source.axes]
    single = once(source, "clusters of one row", partial(_clusters_of_one_row, source))
    if single:
        places = [i for i, name in enumerate(names) if name not in single]
        axes = tuple(source.axes[i] for i in places)
        source = gathered(axes, source.cells[places], sums, source.notes, source.scale)
        sums = source.sums
    if "weight²" not in sums or "fpc" in sums or source.scale:
        return source
    if not all(np.array_equal(sums[name], sums["rows"]) for name in ("weight", "weight²")):
        return source
    return replace(
        source, sums={name: each for name, each in sums.items() if not name.startswith("weight")}
    )


def _clusters_of_one_row(source: Tally) -> list[str]:
    """The clusterings whose clusters all have a single row."""
    names, rows = [axis.name for axis in source.axes], source.sums["rows"]
    sizes = {name: np.bincount(source.cells[names.index(name)], rows) for name in source.clusters}
    return [name for name, each in sizes.items() if each.max(initial=0) <= 1]


def plain_scores(scores: Distribution) -> Distribution:
    """The same for ordered scores."""
    clusters = tuple(each for each in scores.clusters if np.bincount(each.codes).max(initial=0) > 1)
    scores = scores if len(clusters) == len(scores.clusters) else replace(scores, clusters=clusters)
    weight = scores.weights
    if weight is None or scores.survey is not None or (scores.squared_weights != 1).any():
        return scores
    if (weight != 1).any():
        return scores
    path = steps(scores.values, scores.codes, len(scores.groups))
    return replace(scores, weights=None, squares=None, steps=path)


Name = TypeVar("Name")


def crossings(clusterings: Sequence[Name]) -> Iterator[tuple[int, tuple[Name, ...]]]:
    """Every clustering and every intersection of several, with its inclusion–exclusion sign."""
    for number in range(1, len(clusterings) + 1):
        for chosen in combinations(clusterings, number):
            yield (-1) ** (number + 1), chosen


def amount_of(parts: Sequence[tuple[int, Varied]]) -> Amount:
    """Effective numbers of rows, from the variances by every clustering and intersection."""
    crossed = [varied.own for sign, varied in parts if sign < 0]
    single = [
        varied
        for sign, varied in parts  # a clustering nested in another adds nothing to it
        if sign > 0 and not any(np.array_equal(varied.own, own) for own in crossed)
    ]
    single = single or [parts[0][1]]  # a clustering that was named twice counts once
    variance = np.sum([sign * varied.variance for sign, varied in parts], axis=0)
    variance = np.maximum(variance, np.max([varied.variance for varied in single], axis=0))
    free = np.min([varied.free for varied in single], axis=0)
    alone = np.nan_to_num(ratio(np.ones_like(variance), variance))
    shared = [varied.covariance for _, varied in parts if varied.covariance is not None]
    if not shared:
        return Amount(alone, free, alone)
    if shared[0].ndim == 2:  # the average over pairs of very many groups
        return Amount(alone / np.maximum(shared[0], LEAST_RATIO), free, alone)
    identity = np.eye(variance.shape[-1])
    covariances = [
        varied.own[..., None] * identity if varied.covariance is None else varied.covariance
        for _, varied in parts
    ]
    signs = [sign for sign, _ in parts]
    total = nearest_psd(
        np.sum([sign * matrix for sign, matrix in zip(signs, covariances, strict=True)], axis=0)
    )
    # A sum over crossing clusterings is uncertain: half of what it takes off a single one counts.
    candidates = [
        total,
        *(
            matrix
            for matrix, (_, varied) in zip(covariances, parts, strict=True)
            if any(varied is other for other in single)
        ),
    ]
    floor = single[0].floor
    own = np.array(
        [np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), floor) for matrix in candidates]
    )
    quasi = np.array([quasi_ratio(matrix, floor) for matrix in candidates]) * own
    quasi = (quasi[0] + quasi.max(axis=0)) / 2
    less = np.nan_to_num(ratio(quasi, own.max(axis=0)), nan=1.0)
    # Where a cluster has a fixed number to select, its rows vary less than independent ones and
    # groups are negatively correlated. No group is taken to vary less than independent rows do, so
    # only the excess of differences over those of independent groups is added.
    observed = np.nan_to_num(ratio(own.max(axis=0), single[0].independent + floor), nan=1.0)
    less = np.where(less > 1, np.maximum(less * np.minimum(observed, 1.0), 1.0), less)
    return Amount(alone / np.maximum(less, LEAST_RATIO), free, alone)


def nearest_psd(covariance: Floats) -> Floats:
    """The nearest positive semidefinite covariance."""
    if (np.linalg.eigvalsh(covariance) >= 0).all():
        return covariance
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None]) @ np.swapaxes(vectors, -1, -2))


def student_rows(rows: Floats, free: Floats, error: float) -> Floats:
    """Rows reduced by as much as Student's limits are wider (Korn and Graubard 1998)."""
    from scipy.special import ndtri, stdtrit

    return np.asarray(rows * (ndtri(error / 2) / stdtrit(free, error / 2)) ** 2)
