"""Counts by what is known of the group: hits, misses and other rows of each cell of the proxy.

The cells of a proxy are counted as groups are, by the same tally. A statistic is a share of hits
among hits and misses; the other rows have no part in it, such as those that are truly negative in
a true positive rate. A *part* is a cell of the proxy, in one cluster and one stratum. Of a mean
every row is a part, with its value: sums do not say how large a part of them a group can have.
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
COUNTED = HIT + MISS  # rows that the statistic is about
SORTS = 5  # parts of all values that are looked at one by one


@dataclass(frozen=True, eq=False)
class Counted:
    """What was counted of one cell of a criterion: a class, or a pair of labels.

    `weight`, `squares` and `rows` (kinds, parts) are sums over hits, misses and others of weights,
    their squares, and 1. `cell`, `stratum` and `clusters` say of each part where it belongs;
    there are no `clusters` where rows are independent. Of a mean there is one kind of rows, each
    with a `value` (parts,). Values of the statistic lie between the `limits`.
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
        """What a row adds above the line (kinds, parts or 1): 1 if it is a hit, or its value."""
        return HIT[:, None] if self.value is None else self.value[None]

    @property
    def about(self) -> Floats:
        """What a row adds below the line (kinds, 1): 1, unless it has no part in the statistic."""
        return COUNTED[:, None] if self.value is None else np.ones((1, 1))

    @property
    def is_whole(self) -> bool:
        """Whether every row has a part in the statistic."""
        return self.value is not None or not bool(self.weight[2].any())

    @property
    def free(self) -> float:
        """Degrees of freedom of the clusters, the fewest of all clusterings."""
        return min((float(max(codes.max(), 1)) for codes in self.clusters), default=np.inf)

    @cached_property
    def sorts(self) -> Codes:
        """Which kind a row is of (kinds, parts or 1); by its value, which part of all values."""
        if self.value is None:
            return np.arange(3)[:, None]
        inner = np.quantile(self.value, np.arange(1, SORTS) / SORTS)
        return np.searchsorted(np.unique(inner), self.value, side="right")[None]

    def by_sort(self, sums: Floats) -> Floats:
        """Sums (kinds, parts) over the rows of every sort and cell (sorts, cells)."""
        if self.value is None:
            return self.by_cell(sums)
        cells, number = len(self.mixing), int(self.sorts.max()) + 1
        flat = np.bincount(self.sorts[0] * cells + self.cell, sums[0], number * cells)
        return np.asarray(flat, np.float64).reshape(number, cells)

    @property
    def number(self) -> int:
        """How many groups there are."""
        return len(self.proxy.groups)

    @cached_property
    def known(self) -> Codes:
        """The known group of each part, or −1."""
        return self.proxy.known[self.cell]

    @cached_property
    def mixing(self) -> Floats:
        """The probabilities of groups (cells, groups); of a known group, 1."""
        known = self.proxy.known
        sure = np.eye(self.number)[np.maximum(known, 0)]
        return np.where((known >= 0)[:, None], sure, self.proxy.mixing)

    @cached_property
    def is_complete(self) -> bool:
        """Whether something is known of the group of every row."""
        return not bool(np.isnan(self.mixing).any())

    def by_cell(self, sums: Floats) -> Floats:
        """Sums (kinds, parts) over the parts of every cell (kinds, cells)."""
        return np.stack([np.bincount(self.cell, each, len(self.mixing)) for each in sums])

    def covariance(self, influence: Floats) -> Floats:
        """The covariance of statistics, from how far a row of each kind moves them.

        `influence` (statistics, kinds, parts or cells) is that of a row of weight 1. Rows of a
        cluster go together.
        """
        if influence.shape[-1] != len(self.cell):
            influence = influence[..., self.cell]
        if not self.clusters:
            flat = influence.reshape(len(influence), -1)
            rows = self.rows.sum()
            return np.asarray((flat * self.squares.ravel()) @ flat.T * rows / max(rows - 1, 1.0))
        moved = np.einsum("skp,kp->sp", influence, self.weight)
        parts = [(sign, _between(moved, which)) for sign, which in crossings(self.clusters)]
        if len(parts) == 1:
            return parts[0][1]
        # Of clusterings that cross, variances add up, less those of rows that share all of them
        # (Cameron, Gelbach and Miller 2011); they take nothing off what one alone says.
        found = nearest_psd(np.sum([sign * part for sign, part in parts], axis=0))
        single = [np.diag(part) for part in (_between(moved, [one]) for one in self.clusters)]
        np.fill_diagonal(found, np.max([np.diag(found), *single], axis=0))
        return found


def _outer(ways: Sequence[Codes]) -> tuple[Codes, ...]:
    """Clusterings that do not lie within another one, to which they would add nothing."""
    kept: list[Codes] = []
    for at, codes in enumerate(ways):
        rest = [*kept, *ways[at + 1 :]]
        number = len(np.unique(codes))
        if not any(len(np.unique(_combined([codes, other])[0])) == number for other in rest):
            kept.append(codes)
    return tuple(kept)


def _between(moved: Floats, which: Sequence[Codes]) -> Floats:
    """The covariance (statistics, statistics) where rows that share these clusters go together."""
    codes = _combined(list(which))[0]
    number = int(codes.max()) + 1
    units = np.stack([np.bincount(codes, each, number) for each in moved])
    return np.asarray(units @ units.T * number / max(number - 1, 1))


@dataclass(frozen=True, eq=False)
class Unknown:
    """Data whose groups are the cells of a proxy, or the values of a column with gaps.

    `data` has one group for each part, or where they were not counted yet one for each value of the
    columns; `cell`, `clusters`, `stratum` and `proxy` are as in `Counted`. `origin` is what was
    read. A criterion is asked of the `favorable` class alone, where there is one.
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
        """The same with a part for every row."""
        return unknown(self.origin, by_row=True)

    def counts(
        self, criterion: Criterion, source: Source | None = None
    ) -> tuple[list[Counted], tuple[Label, ...], Codes]:
        """Counts for every cell of a criterion, these cells, and the strata they are about."""
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
        whole, table = statistic.read(source), criterion.table(source, favorable)
        kept = [whole.cells.index(cell) for cell in table.cells]
        sums = {of: _kinds(criterion, source, of) for of in ("weight", "weight²", "rows")}
        found = [
            Counted(
                sums["weight"][:, at],
                sums["weight²"][:, at],
                sums["rows"][:, at],
                cell=cell,
                stratum=np.zeros(len(cell), np.intp) if stratum is None else stratum,
                clusters=clusters,
                proxy=proxy,
            )
            for at in kept
        ]
        return found, table.cells, statistic.strata(table.cells)

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
        found = Counted(
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
        return [found], ("all",), np.zeros(1, np.intp)


def unknown(data: Data, *, by_row: bool = False) -> Unknown:
    """Read what is known of the groups; `by_row` every row is a part, whatever it has in common.

    Rows, tables of any engine and counts of a column with gaps are counted as ever; probabilities
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
    given = data.columns("cluster", "strata")
    parts = [proxy.codes.astype(np.intp)]
    ways = clusters(given["cluster"])
    parts += [column.codes.astype(np.intp) for column in ways.values()]
    if given["strata"] is not None:
        parts.append(strata_of(given["strata"]).codes.astype(np.intp))
    if len({len(part) for part in parts}) > 1:
        raise InputError(f"Columns differ in length: {[len(part) for part in parts]}.")
    codes, places = (np.arange(len(parts[0])), parts) if by_row else _combined(parts)
    number = max(len(places[0]), 2)  # an audit refuses a single group, and a cell is none
    whom = Groups(codes.astype(np.uintp), tuple(range(number)), ("group",))
    return Unknown(
        replace(data, sensitive_features=whom, cluster=None, missing="error"),
        data,
        data.favorable,
        features.assuming if isinstance(features, Probable) else None,
        proxy,
        _padded(places[0], number),
        _outer([_padded(each, number) for each in places[1 : 1 + len(ways)]]),
        _padded(places[-1], number) if given["strata"] is not None else None,
    )


def _padded(places: Codes, number: int) -> Codes:
    return np.pad(places, (0, number - len(places)), mode="edge")


def _gaps(data: Data) -> Cells:
    """Groups that are recorded with gaps."""
    data = replace(data, missing="group")
    whom = data.columns("sensitive_features")["sensitive_features"]
    return cells_of(whom.labels)._replace(codes=whom.codes.astype(np.intp))


def cells_of(labels: tuple[Label, ...]) -> Cells:
    """Each value of the sensitive columns as a cell: a known group, or several that it may be.

    These have no probability, and the others none at all where some part of a value is missing.

    >>> cells_of((("F", "b"), ("F", None), ("M", "b"), ("M", "w"))).mixing
    array([[nan, nan, nan],
           [nan,  0.,  0.],
           [nan, nan, nan],
           [nan, nan, nan]])
    """
    groups = tuple(label for label in labels if not is_missing(label))
    if len(groups) < 2:
        there = f"The only group that is recorded is {show(groups[0])}" if groups else "No group is"
        raise InputError(
            f"{there}{'' if groups else ' recorded'}, and two are needed to compare. Check the "
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
    """Whether a group, or a part of it, is not recorded."""
    return label is None or (isinstance(label, tuple) and None in label)


def _may_be(label: Label, group: Label) -> bool:
    if isinstance(label, tuple) and isinstance(group, tuple):
        return all(part in (None, other) for part, other in zip(label, group, strict=True))
    return label is None or label == group


def _by_part(source: Tally) -> tuple[Tally, Codes, tuple[Codes, ...]]:
    """Counts of which each group in a cluster is a group, and these groups and clusters."""
    names = [axis.name for axis in source.axes]
    at = names.index("group")
    if not source.clusters:
        return source, np.arange(len(source.groups)), ()
    which = [names.index(name) for name in source.clusters]
    codes, (cell, *clustered) = _combined([source.cells[place] for place in (at, *which)])
    parts = replace(source.axes[at], labels=tuple(range(len(cell))))
    axes = [parts if one.name == "group" else one for one in source.axes]
    cells = source.cells.copy()
    cells[at] = codes
    kept = [place for place in range(len(axes)) if place not in which]
    by_part = gathered(
        tuple(axes[place] for place in kept), cells[kept], source.sums, source.notes, source.scale
    )
    return by_part, cell, _outer(clustered)


def _combined(parts: list[Codes]) -> tuple[Codes, list[Codes]]:
    """Codes of the combinations that occur, and the parts of each."""
    codes, places = parts[0], [np.arange(int(parts[0].max()) + 1)]
    for part in parts[1:]:
        width = int(part.max()) + 1
        seen, codes = np.unique(codes * width + part, return_inverse=True)
        places = [place[seen // width] for place in places] + [seen % width]
    return codes.astype(np.intp), places


def _kinds(criterion: Criterion, source: Tally, of: str) -> Floats:
    """Hits, misses and other rows (kinds, cells, parts)."""
    if of not in source.sums:  # rows that were not weighted weigh 1
        of = "rows"
    shares = criterion.statistic.shares(source, of=of) if is_share(criterion, source) else None
    if shares is None:
        raise no_share(criterion)
    everyone = source.table("group", of=of)
    others = np.maximum(everyone - shares.hits - shares.misses, 0.0)
    return np.stack([shares.hits, shares.misses, np.broadcast_to(others, shares.hits.shape)])


def has_bounds(criterion: Criterion, source: Source) -> bool:
    """Whether it is about shares of rows or means of values, in its worst cell."""
    if criterion.statistic.mean_of is not None:
        return isinstance(source, Tally)
    return is_share(criterion, source)


def is_share(criterion: Criterion, source: Source) -> bool:
    """Whether the criterion is about shares of rows, of which every row is a hit or a miss."""
    statistic = criterion.statistic
    return isinstance(source, Tally) and statistic.is_share and statistic.hit_sum is None


def no_share(criterion: Criterion) -> InputError:
    return InputError(
        f"{criterion.name} has no bounds where groups are not known, as it is neither a share of "
        "rows nor a mean. These have: selection, true and false positive rates, precision, "
        "accuracy; mean predictions, errors and losses."
    )
