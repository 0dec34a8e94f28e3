"""Gaps within parts: groups are compared on the same days, whatever else drifts.

Pooled rates compare one group's days with another's, so each part is a stratum. Let group a have n
of the N rows of a part and h of its H hits: its excess is U = h − n H / N, and if its rate is
μ + g, with the part's own level μ, then the expectation of U is (L g), where L = diag(n) − n nᵀ/N.
Summed over parts, g solves L g = U: least squares with a level for every part. For two groups that
is the Mantel–Haenszel difference Σ ω (p_a − p_b) / Σ ω with ω = n_a n_b / N. The weights are known
before the outcomes, so U − L g is a martingale, however levels and the mix of groups drift. Groups
are shown at a common level, that of the rows that can be compared. With the same mix in every part,
or with a single part, these are the pooled rates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.tallies import Tally
from evenhand.watch.clusters import UNIT, shaped
from evenhand.watch.evalues import against_others
from evenhand.watch.rates import Rates

Floats = NDArray[np.float64]

SCORES = ("beyond", "variance", "third", "level")
ROUNDS = 30  # of scaling a table to its margins
NONE = 1e-9  # of information


class Scores(NamedTuple):
    """Sums over parts (…, cells, groups) that gaps are computed from.

    `beyond` is U, with its `variance` and `third` moment if groups are equal; `level` are the hits
    and `information` the rows, both weighted by the other groups' share of the part.
    """

    beyond: Floats
    variance: Floats
    third: Floats
    level: Floats
    information: Floats

    def __add__(self, other: Scores) -> Scores:  # type: ignore[override]
        return Scores(*(first + second for first, second in zip(self, other, strict=True)))

    def __sub__(self, other: Scores) -> Scores:
        return Scores(*(first - second for first, second in zip(self, other, strict=True)))

    def each(self, change: Callable[[Floats], Floats]) -> Scores:
        """All of the sums, changed by a function."""
        return Scores(*(change(part) for part in self))


class Within(NamedTuple):
    """Rates at a common level, and pairs of groups that no part compares."""

    rates: Rates
    unlinked: tuple[tuple[Label, Label], ...]


def scores_of(rates: Rates) -> Scores:
    """The sums of one part."""
    of_others = 1 - rates.sizes / np.maximum(rates.sizes.sum(axis=-1, keepdims=True), 1.0)
    beyond, variance, third = against_others(rates.hits, rates.sizes)
    return Scores(beyond, variance, third, rates.hits * of_others, rates.sizes * of_others)


def read(
    rates: Rates, sources: Sequence[Label], score: Tally | None, information: Tally | None
) -> Scores:
    """Sums of many parts, in the cells and groups of rates; `sources` are the rows of each cell."""
    parts = [_placed(score, name, rates.cells, rates.groups) for name in SCORES]
    parts.append(_placed(information, "information", sources, rates.groups))
    return Scores(*parts)


def pairs_of(rates: Rates, sources: Sequence[Label], pairs: Tally | None) -> Floats | None:
    """The information on each pair of groups (cells, groups, groups), if it was stored."""
    if pairs is None:
        return None
    places = {label: i for i, label in enumerate(pairs.labels("cell"))}
    positions = {group: i for i, group in enumerate(pairs.groups)}
    if not (places.keys() >= {*sources} and positions.keys() >= {*rates.groups}):
        return None
    table = shaped(pairs)["both"] / UNIT
    order = [positions[group] for group in rates.groups]
    return np.asarray(table[[places[source] for source in sources]][:, order][:, :, order])


def within(rates: Rates, scores: Scores, pairs: Floats | None, slack: float) -> Within:
    """Rates whose gaps are those within parts.

    `sizes` are equivalent numbers of rows: compared in a single part, these would carry no more
    information on any gap. `slack` is the rounding error of a sum.
    """
    hits, sizes = rates.hits.copy(), rates.sizes.copy()
    unlinked: dict[tuple[Label, Label], None] = {}
    for i in range(len(rates.cells)):
        present = np.flatnonzero(sizes[i] > 0)
        rows = sizes[i, present]
        beyond, level, information = (
            part[i, present] for part in (scores.beyond, scores.level, scores.information)
        )
        pooled = rows * (1 - rows / max(rows.sum(), 1.0))
        if (np.abs(pooled - information) <= slack + 1e-9 * rows).all():
            continue
        linked = information > slack + NONE
        table = (
            None
            if pairs is None
            else scaled(pairs[i][np.ix_(present, present)], information, slack)
        )
        components = _components(linked, table)
        share = np.where(linked, information / np.maximum(pooled, NONE), 0.0)
        amount, gap = share * rows, np.zeros(len(rows))
        for component in components:
            members = np.flatnonzero(component)
            solution = _solved(
                None if table is None else table[np.ix_(members, members)],
                beyond[members],
                amount[members],
            )
            gap[members] = solution[0] - np.average(solution[0], weights=information[members])
            amount[members] = solution[1]
        common = level[linked].sum() / max(information[linked].sum(), NONE)
        if linked.any():  # a level at which all are valid rates, so that no gap is truncated
            common = min(max(common, -gap[linked].min()), 1 - gap[linked].max())
        hits[i, present] = amount * np.clip(common + gap, 0.0, 1.0)
        sizes[i, present] = amount
        firsts = [rates.groups[present[int(np.flatnonzero(each)[0])]] for each in components]
        firsts += [rates.groups[j] for j in present[~linked]]
        unlinked.update(dict.fromkeys((firsts[0], other) for other in firsts[1:]))
    effective = rates.effective
    if effective is not None:
        effective = effective * sizes / np.maximum(rates.sizes, 1.0)
    adjusted = replace(rates, hits=hits, sizes=sizes, effective=effective)
    return Within(adjusted, tuple(unlinked))


def expected(total: Scores, information: Floats, pairs: Floats | None) -> Floats:
    """The expected excess of groups in some parts if gaps are those of all parts.

    `information` (…, cells, groups) is that of these parts. Without the table of pairs, each
    group's gap to all others is assumed to be the same in them.
    """
    if pairs is None or pairs.shape[-1] == 2:
        return np.asarray(information * total.beyond / np.maximum(total.information, NONE))
    table = scaled(pairs, total.information, 0.0)
    laplacian = table.sum(axis=-1)[..., None] * np.eye(table.shape[-1]) - table
    gaps = np.linalg.pinv(laplacian, hermitian=True) @ total.beyond[..., None]
    some = scaled(pairs, information, 0.0)
    return np.asarray(some.sum(axis=-1) * gaps[..., 0] - (some @ gaps)[..., 0])


def scaled(pairs: Floats, information: Floats, slack: float) -> Floats:
    """The table of pairs (…, groups, groups) whose rows add up to the information (…, groups).

    For a subset of the parts only the margins are known; the associations are assumed to be those
    of all parts (iterative proportional fitting), which is exact for two or three groups.
    """
    number = pairs.shape[-1]
    table = pairs * (1 - np.eye(number))
    if (np.abs(table.sum(axis=-1) - information) <= number * slack + NONE).all():
        return np.broadcast_to(table, (*information.shape, number))
    factor = np.ones(information.shape)
    for _ in range(ROUNDS):
        row = factor * (table @ factor[..., None])[..., 0]
        step = np.sqrt(information / np.where(row > NONE, row, 1.0))
        factor = np.where((row > NONE) & (information > NONE), factor * step, 0.0)
    return np.asarray(factor[..., None] * table * factor[..., None, :])


def _solved(table: Floats | None, beyond: Floats, amount: Floats) -> tuple[Floats, Floats]:
    """Gaps, and the sizes of a single part with no more information on them.

    Contrasts of g have the variances of L's inverse, and adding u_a + u_b to its elements changes
    none of them. With the u that make its diagonal that of independent groups, the remaining
    off-diagonal elements are added to the diagonal: such a diagonal matrix is at least as large
    (Gershgorin).
    """
    if table is None or len(beyond) == 2:
        return beyond / amount, amount
    laplacian = np.diag(table.sum(axis=1)) - table
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    shift = (1 / amount - np.diag(inverse)) / 2
    variances = np.abs(inverse + shift[:, None] + shift).sum(axis=1)
    return inverse @ beyond, 1 / variances


def _components(linked: NDArray[np.bool_], table: Floats | None) -> list[NDArray[np.bool_]]:
    """The sets of groups that parts compare with each other, directly or through others."""
    remaining, components = linked.copy(), []
    while remaining.any():
        reached = np.zeros(len(remaining), bool)
        reached[int(np.flatnonzero(remaining)[0])] = True
        while table is not None:
            extended = reached | (linked & (table[reached].sum(axis=0) > NONE))
            if (extended == reached).all():
                break
            reached = extended
        components.append(reached if table is not None else linked)
        remaining &= ~components[-1]
    return components


def _placed(
    sums: Tally | None, name: str, cells: Sequence[Label], groups: Sequence[Label]
) -> Floats:
    """A sum in the order of cells and groups; 0 where it is missing."""
    if sums is None:
        return np.zeros((len(cells), len(groups)))
    table = shaped(sums)[name] / UNIT
    return placed(table, (sums.labels("cell"), sums.groups), cells, groups)


def placed(
    table: Floats,
    labels: tuple[Sequence[Label], Sequence[Label]],
    cells: Sequence[Label],
    groups: Sequence[Label],
) -> Floats:
    """A table (…, cells, groups) in another order of its labels; 0 where one is missing."""
    rows, columns = ({label: i for i, label in enumerate(each)} for each in labels)
    padded = np.pad(table, [(0, 0)] * (table.ndim - 2) + [(0, 1), (0, 1)])
    row_places = np.array([rows.get(cell, -1) for cell in cells], dtype=np.intp)
    column_places = np.array([columns.get(group, -1) for group in groups], dtype=np.intp)
    return np.asarray(padded[..., row_places[:, None], column_places])
