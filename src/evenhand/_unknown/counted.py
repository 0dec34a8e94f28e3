"""Counts by what is known of the group: hits, misses and other rows of each cell of the proxy.

The cells of a proxy are counted as groups are, by the same tally. A statistic is a share of hits
among hits and misses; the other rows have no part in it, such as those that are truly negative in
a true positive rate. A *part* is a cell of the proxy, in one cluster and one stratum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.encoding import encode
from evenhand._data.data import OF_TABLES, Data
from evenhand._data.groups import Groups, clusters, columns_of, strata_of
from evenhand._data.probable import Cells, Probable, probable
from evenhand._data.summaries import with_favorable
from evenhand._data.tallies import Tally
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


def counted(data: Data, criterion: Criterion) -> tuple[list[Counted], tuple[Label, ...], Codes]:
    """Counts for every cell of a criterion, the cells, and their strata (read from other rows)."""
    proxy = _proxy(data)
    given = data.columns("cluster", "strata")
    parts = [proxy.codes.astype(np.intp)]
    ways = clusters(given["cluster"])
    if len(ways) > 1:
        raise InputError("Groups that are not known take one column of clusters, not several.")
    parts += [column.codes.astype(np.intp) for column in ways.values()]
    if given["strata"] is not None:
        parts.append(strata_of(given["strata"]).codes.astype(np.intp))
    if len({len(part) for part in parts}) > 1:
        raise InputError(f"Columns differ in length: {[len(part) for part in parts]}.")
    codes, places = _combined(parts)
    cluster = places[1] if ways else None
    stratum = places[-1] if given["strata"] is not None else np.zeros(len(places[0]), np.intp)
    whom = Groups(codes.astype(np.uintp), tuple(range(len(places[0]))), ("group",))
    plain = replace(data, sensitive_features=whom, cluster=None)
    source = with_favorable(plain.source(criterion.statistic.needs), data.favorable)
    criterion.check(source)
    if not isinstance(source, Tally):
        raise _no_share(criterion)
    statistic = criterion.statistic
    whole, table = statistic.read(source), criterion.table(source, data.favorable)
    kept = [whole.cells.index(cell) for cell in table.cells]
    sums = {of: _kinds(criterion, source, of) for of in ("weight", "weight²", "rows")}
    found = [
        Counted(
            sums["weight"][:, at],
            sums["weight²"][:, at],
            sums["rows"][:, at],
            cell=places[0],
            stratum=stratum,
            cluster=cluster,
            proxy=proxy,
        )
        for at in kept
    ]
    return found, table.cells, statistic.strata(table.cells)


def _proxy(data: Data) -> Cells:
    features = data.sensitive_features
    if not isinstance(features, Probable):
        features = _with_gaps(data)
    for name in (*OF_TABLES, "bins", "min_count"):
        if data._has(name):
            raise InputTypeError(f"{name}= cannot go with groups that are not known for sure.")
    return features.read(data.data).cells()


def _with_gaps(data: Data) -> Probable:
    """Groups that are recorded with gaps, in one column."""
    given = columns_of(data.columns("sensitive_features")["sensitive_features"])
    column = next(iter(given.values()))
    if len(given) > 1 or isinstance(column, Groups) or not encode(column).missing:
        raise InputTypeError(
            "bounds are about groups that are not known for sure: pass sensitive_features="
            "evenhand.probable(...), or one column with gaps. Where all groups are known, evaluate "
            "and interval answer."
        )
    return probable(known=column)


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
    shares = criterion.statistic.shares(source, of=of)
    if shares is None or criterion.statistic.hit_sum is not None:
        raise _no_share(criterion)
    everyone = source.table("group", of=of)
    others = np.maximum(everyone - shares.hits - shares.misses, 0.0)
    return np.stack([shares.hits, shares.misses, np.broadcast_to(others, shares.hits.shape)])


def _no_share(criterion: Criterion) -> InputError:
    return InputError(
        f"{criterion.name} is no share of rows, and only shares have bounds where groups are not "
        "known: selection, true and false positive rates, precision, accuracy."
    )
