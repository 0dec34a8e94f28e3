"""Counts by cell of the proxy: hits, misses and other rows.

The cells of a proxy are counted as groups are, by the same tally. A statistic is a share of hits
among hits and misses; other rows do not count, such as true negatives in a true positive rate. A
*part* is a cell of the proxy, in one cluster and one stratum. For a mean every row is a part with
its value, as sums do not bound the share that a group can have in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.groups import Groups, clusters, show, strata_of
from evenhand._data.probable import UNKNOWN, Assuming, Cells, Probable
from evenhand._data.summaries import Source, with_favorable
from evenhand._data.tallies import Tally, gathered
from evenhand._errors import InputError, InputTypeError
from evenhand._uncertainty.clusters import crossings, nearest_psd
from evenhand.criteria import Criterion

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

HIT, MISS = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
COUNTED = HIT + MISS  # rows that the statistic counts
SORTS = 5  # quantile ranges of values


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts for one cell of a criterion: a class, or a pair of labels.

    `weight`, `squares` and `rows` (kinds, parts) are sums over hits, misses and others of weights,
    their squares, and 1. `cell`, `stratum` and `clusters` are the codes of each part;
    there are no `clusters` if rows are independent. For a mean there is one kind of rows, each with
    a `value` (parts,). Values of the statistic lie between the `limits`.
    """

    weight: Floats
    squares: Floats
    rows: Floats
    cell: Codes
    stratum: Codes
    clusters: tuple[Codes, ...]
    proxy: Cells
    value: Floats | None = None
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def hit(self) -> Floats:
        """Numerator of a row (kinds, parts or 1): 1 if it is a hit, or its value."""
        return HIT[:, None] if self.value is None else self.value[None]

    @property
    def about(self) -> Floats:
        """Denominator of a row (kinds, 1): 1, or 0 if the statistic does not count it."""
        return COUNTED[:, None] if self.value is None else np.ones((1, 1))

    @property
    def counts_every_row(self) -> bool:
        """Whether the statistic counts every row."""
        return self.value is not None or not bool(self.weight[2].any())

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the clusters, the fewest over all clusterings."""
        return min((float(max(codes.max(), 1)) for codes in self.clusters), default=np.inf)

    @cached_property
    def sorts(self) -> Codes:
        """The sort of a row (kinds, parts or 1): its kind, or the quantile range of its value."""
        if self.value is None:
            return np.arange(3)[:, None]
        inner = np.quantile(self.value, np.arange(1, SORTS) / SORTS)
        return np.searchsorted(np.unique(inner), self.value, side="right")[None]

    def by_sort(self, sums: Floats) -> Floats:
        """Sum (kinds, parts) to every sort and cell (sorts, cells)."""
        if self.value is None:
            return self.by_cell(sums)
        cells, number = len(self.mixing), int(self.sorts.max()) + 1
        flat = np.bincount(self.sorts[0] * cells + self.cell, sums[0], number * cells)
        return np.asarray(flat, np.float64).reshape(number, cells)

    @property
    def number(self) -> int:
        """Number of groups."""
        return len(self.proxy.groups)

    @cached_property
    def known(self) -> Codes:
        """The known group of each part, or −1."""
        return self.proxy.known[self.cell]

    @cached_property
    def mixing(self) -> Floats:
        """The probabilities of groups (cells, groups): 1 for a known group."""
        known = self.proxy.known
        sure = np.eye(self.number)[np.maximum(known, 0)]
        return np.where((known >= 0)[:, None], sure, self.proxy.mixing)

    @cached_property
    def is_complete(self) -> bool:
        """Whether every row has probabilities or a known group."""
        return not bool(np.isnan(self.mixing).any())

    def by_cell(self, sums: Floats) -> Floats:
        """Sum (kinds, parts) to every cell (kinds, cells)."""
        return np.stack([np.bincount(self.cell, each, len(self.mixing)) for each in sums])

    def covariance(self, influence: Floats) -> Floats:
        """Covariance of statistics, from the influence of rows.

        `influence` (statistics, kinds, parts or cells) is that of a row of weight 1. Rows of a
        cluster are summed.
        """
        if influence.shape[-1] != len(self.cell):
            influence = influence[..., self.cell]
        if not self.clusters:
            flat = influence.reshape(len(influence), -1)
            rows = self.rows.sum()
            return np.asarray((flat * self.squares.ravel()) @ flat.T * rows / max(rows - 1, 1.0))
        sums = np.einsum("skp,kp->sp", influence, self.weight)
        parts = [
            (sign, _between(sums, clusterings)) for sign, clusterings in crossings(self.clusters)
        ]
        if len(parts) == 1:
            return parts[0][1]
        # Variances of crossed clusterings add up, minus those of their intersections (Cameron,
        # Gelbach and Miller 2011), and are not less than the variance of a single clustering.
        covariance = nearest_psd(np.sum([sign * part for sign, part in parts], axis=0))
        single = [np.diag(part) for part in (_between(sums, [codes]) for codes in self.clusters)]
        np.fill_diagonal(covariance, np.max([np.diag(covariance), *single], axis=0))
        return covariance


def _outer(ways: Sequence[Codes]) -> tuple[Codes, ...]:
    """Clusterings that are not nested in another one."""
    outer: list[Codes] = []
    for at, codes in enumerate(ways):
        rest = [*outer, *ways[at + 1 :]]
        number = len(np.unique(codes))
        if not any(len(np.unique(_combined([codes, item])[0])) == number for item in rest):
            outer.append(codes)
    return tuple(outer)


def _between(influence: Floats, clusterings: Sequence[Codes]) -> Floats:
    """Covariance (statistics, statistics) by the intersections of these clusterings."""
    codes = _combined(list(clusterings))[0]
    number = int(codes.max()) + 1
    units = np.stack([np.bincount(codes, row, number) for row in influence])
    return np.asarray(units @ units.T * number / max(number - 1, 1))


@dataclass(frozen=True, eq=False)
class Unknown:
    """Data whose groups are the cells of a proxy, or the values of a column with gaps.

    `data` has one group for each part or, before counting, for each value of the columns; `cell`,
    `clusters`, `stratum` and `proxy` are as in `Counted`. `origin` are the original data. Criteria
    are about the `favorable` class only, if there is one.
    """

    data: Data
    origin: Data
    favorable: Label = None
    assuming: Assuming | None = None
    proxy: Cells | None = None
    cell: Codes | None = None
    clusters: tuple[Codes, ...] = ()
    stratum: Codes | None = None

    @cached_property
    def by_row(self) -> Unknown:
        """The same data with a part for every row."""
        return unknown(self.origin, by_row=True)

    def counts(
        self, criterion: Criterion, source: Source | None = None
    ) -> tuple[list[Counted], tuple[Label, ...], Codes]:
        """Counts for every cell of a criterion, with these cells and their strata."""
        if criterion.statistic.mean_of is not None:
            return self._means(criterion)
        favorable = self.favorable
        if source is None:
            source = self.data.source(criterion.statistic.needs)
            source = with_favorable(source, self.data.favorable)
        criterion.check(source)
        if not isinstance(source, Tally):
            raise no_share(criterion)
        clusters, proxy, cell, stratum = self.clusters, self.proxy, self.cell, self.stratum
        if proxy is None:
            proxy = cells_of(source.groups)
            source, cell, clusters = _by_part(source)
        assert cell is not None
        statistic = criterion.statistic
        cells_of_all, table = statistic.read(source), criterion.table(source, favorable)
        positions = [cells_of_all.cells.index(cell) for cell in table.cells]
        sums = {name: _kinds(criterion, source, name) for name in ("weight", "weight²", "rows")}
        counts = [
            Counted(
                sums["weight"][:, at],
                sums["weight²"][:, at],
                sums["rows"][:, at],
                cell=cell,
                stratum=np.zeros(len(cell), np.intp) if stratum is None else stratum,
                clusters=clusters,
                proxy=proxy,
            )
            for at in positions
        ]
        return counts, table.cells, statistic.strata(table.cells)

    def _means(self, criterion: Criterion) -> tuple[list[Counted], tuple[Label, ...], Codes]:
        """The value of every row."""
        read, statistic = self.by_row, criterion.statistic
        source = read.data.source(statistic.needs)
        criterion.check(source)
        assert isinstance(source, Tally)
        assert read.proxy is not None
        assert read.cell is not None
        weight = source.table("group")
        total = source.table("group", of=str(statistic.mean_of))
        rows = source.table("group", of="rows")
        squares = source.table("group", of="weight²") if "weight²" in source.sums else rows
        counts = Counted(
            weight[None],
            squares[None],
            rows[None],
            cell=read.cell,
            stratum=np.zeros(len(weight), np.intp) if read.stratum is None else read.stratum,
            clusters=read.clusters,
            proxy=read.proxy,
            value=np.divide(total, weight, out=np.zeros(len(weight)), where=weight > 0),
            limits=statistic.bounds,
        )
        return [counts], ("all",), np.zeros(1, np.intp)


def unknown(data: Data, *, by_row: bool = False) -> Unknown:
    """Read probable or partly known groups; with `by_row` every row is a part.

    Rows, tables of any engine and counts of a column with gaps are counted as usual; probabilities
    are read row by row.
    """
    features = data.sensitive_features
    refused = ["replicate_weights", "replicate_method", "min_count"]
    if isinstance(features, Probable):
        refused += ["rows", "rate", "bins"]
    for name in refused:
        value = getattr(data, name)
        if data.has(name) and not (isinstance(value, Mapping) and not value):
            raise InputTypeError(f"{name}= does not work with groups that are not known for sure.")
    if not isinstance(features, Probable) and (data.is_counted or data.rows is not None):
        if by_row:
            raise InputError(
                "Counts hold the sum of the values of a group, and bounds of a mean need the value "
                "of each row: pass the rows."
            )
        counted = data if data.is_counted else replace(data, missing="group")
        return Unknown(counted, data, data.favorable)
    if not isinstance(features, Probable) and data.strata is None and not by_row:
        return Unknown(replace(data, missing="group"), data, data.favorable)
    data = data.in_memory()
    proxy = features.read(data.data).cells() if isinstance(features, Probable) else _gaps(data)
    columns = data.columns("cluster", "strata")
    parts = [proxy.codes.astype(np.intp)]
    ways = clusters(columns["cluster"])
    parts += [column.codes.astype(np.intp) for column in ways.values()]
    if columns["strata"] is not None:
        parts.append(strata_of(columns["strata"]).codes.astype(np.intp))
    if len({len(part) for part in parts}) > 1:
        raise InputError(f"Columns differ in length: {[len(part) for part in parts]}.")
    codes, places = (np.arange(len(parts[0])), parts) if by_row else _combined(parts)
    number = max(len(places[0]), 2)  # a single cell must not be refused like a single group
    grouping = Groups(codes.astype(np.uintp), tuple(range(number)), ("group",))
    return Unknown(
        replace(data, sensitive_features=grouping, cluster=None, missing="error"),
        data,
        data.favorable,
        features.assuming if isinstance(features, Probable) else None,
        proxy,
        _padded(places[0], number),
        _outer([_padded(places_of_one, number) for places_of_one in places[1 : 1 + len(ways)]]),
        _padded(places[-1], number) if columns["strata"] is not None else None,
    )


def _padded(places: Codes, number: int) -> Codes:
    return np.pad(places, (0, number - len(places)), mode="edge")


def _gaps(data: Data) -> Cells:
    """Cells of groups that are recorded with gaps."""
    data = replace(data, missing="group")
    groups = data.columns("sensitive_features")["sensitive_features"]
    return cells_of(groups.labels)._replace(codes=groups.codes.astype(np.intp))


def cells_of(labels: tuple[Label, ...]) -> Cells:
    """Each value of the sensitive columns as a cell: a known group, or several possible ones.

    Where a part is missing, possible groups have the probability NaN and impossible ones 0.

    >>> cells_of((("F", "b"), ("F", None), ("M", "b"), ("M", "w"))).mixing
    array([[nan, nan, nan],
           [nan,  0.,  0.],
           [nan, nan, nan],
           [nan, nan, nan]])
    """
    groups = tuple(label for label in labels if not is_missing(label))
    if len(groups) < 2:
        recorded = (
            f"The only group that is recorded is {show(groups[0])}" if groups else "No group is"
        )
        raise InputError(
            f"{recorded}{'' if groups else ' recorded'}, and two are needed to compare. Check the "
            "column, or pass probabilities of the groups: evenhand.probable(...)."
        )
    mixing, known = np.zeros((len(labels), len(groups))), np.full(len(labels), UNKNOWN)
    for at, label in enumerate(labels):
        possible = [place for place, group in enumerate(groups) if _may_be(label, group)]
        if not possible:
            raise InputError(
                f"{show(label)}: a part of the group is missing, and the rest of it is like that "
                "of no known group. Drop these rows, or one of the columns."
            )
        mixing[at, possible if is_missing(label) else slice(None)] = np.nan
        known[at] = UNKNOWN if is_missing(label) else possible[0]
    return Cells(np.empty(0, np.intp), mixing, known, groups)


def is_missing(label: Label) -> bool:
    """Whether a group, or a part of it, is missing."""
    return label is None or (isinstance(label, tuple) and None in label)


def _may_be(label: Label, group: Label) -> bool:
    if isinstance(label, tuple) and isinstance(group, tuple):
        return all(part in (None, required) for part, required in zip(label, group, strict=True))
    return label is None or label == group


def _by_part(source: Tally) -> tuple[Tally, Codes, tuple[Codes, ...]]:
    """Counts with a group for each group in each cluster, and the codes of both."""
    names = [axis.name for axis in source.axes]
    at = names.index("group")
    if not source.clusters:
        return source, np.arange(len(source.groups)), ()
    which = [names.index(name) for name in source.clusters]
    codes, (cell, *clustered) = _combined([source.cells[place] for place in (at, *which)])
    parts = replace(source.axes[at], labels=tuple(range(len(cell))))
    axes = [parts if item.name == "group" else item for item in source.axes]
    cells = source.cells.copy()
    cells[at] = codes
    kept = [place for place in range(len(axes)) if place not in which]
    by_part = gathered(
        tuple(axes[place] for place in kept),
        cells[kept],
        source.sums,
        source.notes,
        source.scale,
    )
    return by_part, cell, _outer(clustered)


def _combined(parts: list[Codes]) -> tuple[Codes, list[Codes]]:
    """Codes of the observed combinations, and the codes of their parts."""
    codes, places = parts[0], [np.arange(int(parts[0].max()) + 1)]
    for part in parts[1:]:
        width = int(part.max()) + 1
        distinct, codes = np.unique(codes * width + part, return_inverse=True)
        places = [place[distinct // width] for place in places] + [distinct % width]
    return codes.astype(np.intp), places


def _kinds(criterion: Criterion, source: Tally, name: str) -> Floats:
    """Hits, misses and other rows (kinds, cells, parts)."""
    if name not in source.sums:  # rows that were not weighted weigh 1
        name = "rows"
    shares = criterion.statistic.shares(source, of=name) if is_share(criterion, source) else None
    if shares is None:
        raise no_share(criterion)
    everyone = source.table("group", of=name)
    others = np.maximum(everyone - shares.hits - shares.misses, 0.0)
    return np.stack([shares.hits, shares.misses, np.broadcast_to(others, shares.hits.shape)])


def has_bounds(criterion: Criterion, source: Source) -> bool:
    """Whether a criterion has bounds: shares of rows or means of values, in the worst cell."""
    if criterion.statistic.mean_of is not None:
        return isinstance(source, Tally)
    return is_share(criterion, source)


def is_share(criterion: Criterion, source: Source) -> bool:
    """Whether the criterion is about shares of rows."""
    statistic = criterion.statistic
    return isinstance(source, Tally) and statistic.is_share and statistic.hit_sum is None


def no_share(criterion: Criterion) -> InputError:
    return InputError(
        f"{criterion.name} has no bounds where groups are not known, as it is neither a share of "
        "rows nor a mean. These have: selection, true and false positive rates, precision, "
        "accuracy; mean predictions, errors and losses."
    )
