"""Counts by what is known of the group: hits, misses and other rows of each cell of the proxy.

The cells of a proxy are counted as groups are, by the same tally. A statistic is a share of hits
among hits and misses; the other rows have no part in it, such as those that are truly negative in
a true positive rate. A *part* is a cell of the proxy, in one cluster and one stratum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.groups import Groups, clusters, columns_of, show, strata_of
from evenhand._data.probable import UNKNOWN, Assuming, Cells, Probable, probable
from evenhand._data.summaries import Source, with_favorable
from evenhand._data.tallies import Tally, gathered
from evenhand._errors import InputError, InputTypeError
from evenhand.criteria import Criterion

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

HIT, MISS = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
COUNTED = HIT + MISS  # rows that the statistic is about


@dataclass(frozen=True, eq=False)
class Counted:
    """What was counted of one cell of a criterion: a class, or a pair of labels.

    `weight`, `squares` and `rows` (kinds, parts) are sums over hits, misses and others of weights,
    their squares, and 1. `cell`, `cluster` and `stratum` say of each part where it belongs;
    `cluster` is None where rows are independent.
    """

    weight: Floats
    squares: Floats
    rows: Floats
    cell: Codes
    stratum: Codes
    cluster: Codes | None
    proxy: Cells

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
        if self.cluster is None:
            flat = influence.reshape(len(influence), -1)
            rows = self.rows.sum()
            return np.asarray((flat * self.squares.ravel()) @ flat.T * rows / max(rows - 1, 1.0))
        moved = np.einsum("skp,kp->sp", influence, self.weight)
        number = int(self.cluster.max()) + 1
        units = np.stack([np.bincount(self.cluster, each, number) for each in moved])
        return np.asarray(units @ units.T * number / max(number - 1, 1))


@dataclass(frozen=True, eq=False)
class Unknown:
    """Data whose groups are the cells of a proxy, or the values of a column with gaps.

    `data` has one group for each part, or where they were not counted yet one for each value of the
    columns; `cell`, `cluster`, `stratum` and `proxy` are as in `Counted`.
    A criterion is asked of the `favorable` class alone, where there is one.
    """

    data: Data
    favorable: Label = None
    assuming: Assuming | None = None
    proxy: Cells | None = None
    cell: Codes | None = None
    cluster: Codes | None = None
    stratum: Codes | None = None

    def counts(
        self, criterion: Criterion, source: Source | None = None
    ) -> tuple[list[Counted], tuple[Label, ...], Codes]:
        """Counts for every cell of a criterion, these cells, and the strata they are about."""
        favorable = self.favorable
        if source is None:
            source = self.data.source(criterion.statistic.needs)
            source = with_favorable(source, self.data.favorable)
        criterion.check(source)
        if not isinstance(source, Tally):
            raise no_share(criterion)
        cluster, proxy, cell, stratum = self.cluster, self.proxy, self.cell, self.stratum
        if proxy is None:
            proxy = cells_of(source.groups)
            source, cell, cluster = _by_part(source)
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
                cluster=cluster,
                proxy=proxy,
            )
            for at in kept
        ]
        return found, table.cells, statistic.strata(table.cells)


def unknown(data: Data) -> Unknown:
    """Read what is known of the groups.

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
            raise InputTypeError(f"{name}= cannot go with groups that are not known for sure.")
    if not isinstance(features, Probable):
        if data.strata is None or data.is_counted:
            data = data if data.is_counted else replace(data, missing="group")
            return Unknown(data, data.favorable)
        features = _with_gaps(data)
    proxy = features.read(data.data).cells()
    given = data.columns("cluster", "strata")
    parts = [proxy.codes.astype(np.intp)]
    ways = clusters(given["cluster"])
    if len(ways) > 1:
        raise _many_clusters()
    parts += [column.codes.astype(np.intp) for column in ways.values()]
    if given["strata"] is not None:
        parts.append(strata_of(given["strata"]).codes.astype(np.intp))
    if len({len(part) for part in parts}) > 1:
        raise InputError(f"Columns differ in length: {[len(part) for part in parts]}.")
    codes, places = _combined(parts)
    number = max(len(places[0]), 2)  # an audit refuses a single group, and a cell is none
    whom = Groups(codes.astype(np.uintp), tuple(range(number)), ("group",))
    return Unknown(
        replace(data, sensitive_features=whom, cluster=None, missing="error"),
        data.favorable,
        features.assuming,
        proxy,
        _padded(places[0], number),
        _padded(places[1], number) if ways else None,
        _padded(places[-1], number) if given["strata"] is not None else None,
    )


def _padded(places: Codes, number: int) -> Codes:
    return np.pad(places, (0, number - len(places)), mode="edge")


def _with_gaps(data: Data) -> Probable:
    """Groups that are recorded with gaps, in one column."""
    given = columns_of(data.columns("sensitive_features")["sensitive_features"])
    column = next(iter(given.values()))
    if len(given) > 1 or isinstance(column, Groups):
        raise InputTypeError("strata= go with gaps in one sensitive column, not in several.")
    return probable(known=column)


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
        raise InputError(f"There must be at least two known groups, not {list(groups)}.")
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


def _by_part(source: Tally) -> tuple[Tally, Codes, Codes | None]:
    """Counts of which each group in a cluster is a group, and these groups and clusters."""
    if len(source.clusters) > 1:
        raise _many_clusters()
    names = [axis.name for axis in source.axes]
    at = names.index("group")
    if not source.clusters:
        return source, np.arange(len(source.groups)), None
    axis = names.index(source.clusters[0])
    codes, (cell, cluster) = _combined([source.cells[at], source.cells[axis]])
    parts = replace(source.axes[at], labels=tuple(range(len(cell))))
    axes = [parts if one.name == "group" else one for one in source.axes]
    cells = source.cells.copy()
    cells[at] = codes
    kept = [place for place in range(len(axes)) if place != axis]
    by_part = gathered(
        tuple(axes[place] for place in kept), cells[kept], source.sums, source.notes, source.scale
    )
    return by_part, cell, cluster


def _many_clusters() -> InputError:
    return InputError("Groups that are not known take one column of clusters, not several.")


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


def is_share(criterion: Criterion, source: Source) -> bool:
    """Whether the criterion is about shares of rows, of which every row is a hit or a miss."""
    statistic = criterion.statistic
    return isinstance(source, Tally) and statistic.is_share and statistic.hit_sum is None


def no_share(criterion: Criterion) -> InputError:
    return InputError(
        f"{criterion.name} is no share of rows, and only shares have bounds where groups are not "
        "known: selection, true and false positive rates, precision, accuracy."
    )
