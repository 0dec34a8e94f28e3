"""Rates and monotone functions of them: shares of rows, with exact limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._data.distributions import Distribution
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._uncertainty import replicates
from evenhand._uncertainty.clusters import (
    INFINITE_FREEDOM,
    Amount,
    amount_of,
    are_dependent,
    crossings,
    row_squares,
    student_rows,
    units_of_scores,
)
from evenhand._uncertainty.curves import DISTANCES, Estimates, Floats, rate_curves, student_limits
from evenhand._uncertainty.differences import rate_bounds
from evenhand._uncertainty.influence import ErrorEstimates
from evenhand._uncertainty.replicates import Reader, by_kinds, influence_amount, rates_amount
from evenhand.statistics import Shares, Statistic, Table
from evenhand.statistics.arithmetic import ratio

LOOKS = 20.0  # effective number of independent cut points in a supremum over them
MOST_CUTS = 24
NORMAL = 100.0  # degrees of freedom above which Student's t is practically normal
ROUNDING = 1e-12  # of a group's weight: the error of subtracting its hits


def rates(source: Tally, statistic: Statistic, table: Table) -> Estimates:
    """A statistic that is monotone in the share of hits, with a rate's exact limits."""
    cells = places(statistic.read(source), table)
    if statistic.shares(source.whole) is None and statistic.fraction(source.whole) is not None:
        return _linear_fractional(source, statistic, table, cells)

    def read(counts: Tally) -> tuple[Floats, Floats]:
        counted = [_shares(statistic, counts, name) for name in _weights(counts)]
        hits, misses = (
            np.array([part[cells] for part in parts]) for parts in zip(*counted, strict=True)
        )
        return hits, hits + misses

    strata = statistic.strata(table.cells)
    looks = float(max(np.bincount(strata).max() - 1, 1))
    return _rates(table, _drawn(source, read), strata, looks, statistic.of_share)


def _shares(statistic: Statistic, counts: Tally, name: str) -> Shares:
    shares = statistic.shares(counts, of=name)
    if shares is None:
        raise InputError(
            f"No interval is known for {statistic.formula}: nothing tells its hits from its "
            "misses. A statistic of your own has an interval with `shares`."
        )
    return shares


def sums_of_hits(source: Tally, statistic: Statistic, table: Table) -> Estimates:
    """Rates of summed hits: in bins of the score, or in the top places of lists."""
    draws = hits_drawn(source, str(statistic.hit_sum), *statistic.conditions)
    return _rates(table, draws, statistic.strata(table.cells))


def cuts(scores: Distribution) -> Estimates:
    """Shares of each group at or below each of several cut points."""
    mass = np.cumsum(scores.row_weights)
    quantiles = np.searchsorted(mass, np.linspace(0, mass[-1], MOST_CUTS // 2 + 1)[1:-1])
    spaced = np.linspace(scores.values[0], scores.values[-1], MOST_CUTS // 2 + 1)[1:-1]
    edges = np.unique(np.concatenate([scores.values[quantiles], spaced]))
    ends = np.searchsorted(scores.values, edges, side="right")  # values are in order
    bins = np.repeat(np.arange(len(edges) + 1), np.diff(ends, prepend=0, append=len(scores)))
    codes, groups = scores.codes.astype(np.intp), len(scores.groups)

    def below(weight: Floats | None, codes: NDArray[np.intp], groups: int) -> tuple[Floats, Floats]:
        """The weight below each cut (cuts, groups), and the total."""
        shape = (groups, len(edges) + 1)
        key = codes * shape[1] + bins
        counted = np.bincount(key, weight, minlength=shape[0] * shape[1]).reshape(shape)
        grown = np.cumsum(counted, axis=1).T.astype(np.float64)
        return grown[:-1], np.broadcast_to(grown[-1], grown[:-1].shape)

    hits, total = below(scores.weights, codes, groups)
    share = ratio(hits, total)
    table = Table(share, tuple(edges.tolist()), scores.groups)
    square = scores.squared_weights
    if scores.weights is not None:
        hits, total = _linearized(hits, total, *below(square, codes, groups))
    draws, share = _unweighed(hits, np.asarray(total)), np.nan_to_num(share)
    if scores.weights is not None:
        squares = np.bincount(codes, square, minlength=groups)
        free = _normality(squares, np.bincount(codes, square**2, minlength=groups))
        if (free <= NORMAL).any():
            draws = draws._replace(free=np.broadcast_to(free, share.shape))
    parts = []
    for sign, axes in crossings(range(len(scores.clusters))):
        units, unit = units_of_scores(scores, *axes)
        under, weight = below(scores.weights, unit, len(units.owner))
        unit_squares = below(square, unit, len(units.owner))[1]
        residuals = under - share[:, units.owner] * weight
        parts.append((sign, units.varied(residuals, weight, unit_squares, share * (1 - share))))
    draws = _with_amount(draws, amount_of(parts)) if parts else draws
    if scores.survey is not None:
        replicated = (ratio(*below(weight, codes, groups)) for weight in scores.survey.replicates)
        shifts = replicates.deviations(map(np.nan_to_num, replicated), share, scores.survey.scale)
        draws = _with_amount(draws, replicates.amount(shifts, share * (1 - share), draws.sizes))
    return _rates(table, draws, np.zeros(len(edges), np.intp), LOOKS)


def averages(source: Tally, statistic: Statistic, table: Table) -> Estimates:
    """The mean of two rates of different rows, with limits combined like variances."""
    parts = []
    for part in statistic.parts:
        read = part.read(source)
        cells = places(read, table)
        chosen = Table(read.values[cells], table.cells, table.groups)
        parts.append(rates(source, part, chosen))
    moves = [np.abs(part.curves - part.values) for part in parts]
    # Clusters may correlate the two: then their deviations add up, not their variances.
    total = moves[0] + moves[1] if are_dependent(source) else np.hypot(*moves)
    reach = total / 2
    z = DISTANCES[:, None, None]
    curves = np.clip(table.values + np.sign(z) * reach, 0.0, 1.0)
    sizes = np.minimum(parts[0].sizes, parts[1].sizes)
    strata, looks = np.zeros(len(table.cells), np.intp), float(max(len(table.cells) - 1, 1))
    exact = partial(_average_bounds, parts)
    return Estimates(table.values, curves, table.cells, table.groups, sizes, strata, looks, exact)


def _average_bounds(parts: Sequence[Estimates], error: float) -> tuple[Floats, Floats]:
    (low, high), (lower, higher) = (part.exact(error / 2) for part in parts)
    return (low + lower) / 2, (high + higher) / 2


def hits_drawn(source: Tally, hit_sum: str, *conditions: str) -> Draws:
    """Summed hits among the rows of every group (cells, groups), or of its bins."""

    def table(counts: Tally, name: str) -> Floats:
        return np.atleast_2d(counts.table(*conditions, "group", of=name))

    total, hits = table(source, "weight"), table(source, hit_sum)
    share, is_weighted = np.nan_to_num(ratio(hits, total)), "weight²" in source.sums
    squares = table(source, "weight²") if is_weighted else total
    if is_weighted:
        squared_hits = f"weight²·{hit_sum}"
        struck = table(source, squared_hits) if squared_hits in source.sums else squares * share
        hits, total = _linearized(hits, total, struck, squares)
    draws = _unweighed(hits, total)

    def read(counts: Tally) -> tuple[Floats, Floats]:
        names = ("weight", "weight²") if "weight²" in counts.sums else ("rows",)
        rows = np.array([table(counts, name) for name in names])
        return np.broadcast_to(table(counts, hit_sum), rows.shape), rows

    amount = rates_amount(source, read)
    return draws if amount is None else _with_amount(draws, amount)


class Draws(NamedTuple):
    """Hits among rows of equal weight; `odds` is the weight of a hit relative to a miss.

    Where rows come in clusters, `free` are the degrees of freedom of their effective number, and
    `alone` is the effective number for a single group, which is not compared with others.
    """

    hits: Floats
    sizes: Floats
    odds: Floats
    free: Floats | None = None
    alone: Floats | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether these are effective numbers of weighted or clustered rows."""
        return self.free is not None or bool((self.odds != 1).any())

    @property
    def counts(self) -> tuple[Floats, Floats]:
        """Hits and rows whose share is the weighted rate, with its linearized variance."""
        if (self.odds == 1).all():
            return self.hits, self.sizes
        share = np.nan_to_num(ratio(self.hits, self.sizes))
        rate = _tilted(share, self.odds)
        slope = np.nan_to_num(ratio(rate * (1 - rate), share * (1 - share)), nan=1.0)
        sizes = self.sizes / np.maximum(slope, 1e-9)
        return rate * sizes, sizes


def _rates(
    table: Table,
    draws: Draws,
    strata: NDArray[np.intp],
    looks: float = 1.0,
    link: Callable[[Floats], Floats] = np.asarray,
) -> Estimates:
    """Estimates of rates, or of a monotone function of them."""
    curves = link(_tilted(rate_curves(draws.hits, draws.sizes, draws.free), draws.odds))
    curves = np.where(np.isnan(table.values), np.nan, curves)
    exact = partial(_linked_bounds, draws, link)
    parts = (table.values, curves, table.cells, table.groups, draws.sizes, strata, looks, exact)
    single = exact
    if draws.alone is not None:
        share = np.nan_to_num(ratio(draws.hits, draws.sizes))
        single_draws = draws._replace(hits=share * draws.alone, sizes=draws.alone)
        single = partial(_linked_bounds, single_draws, link)
    return Estimates(
        *parts,
        counts=draws.counts,
        is_weighted=draws.is_weighted,
        alone=single,
        free=draws.free,
    )


def _linked_bounds(
    draws: Draws, link: Callable[[Floats], Floats], error: float
) -> tuple[Floats, Floats]:
    rows = draws.sizes if draws.free is None else student_rows(draws.sizes, draws.free, error)
    low, high = rate_bounds(ratio(draws.hits, draws.sizes), rows, error)
    return link(_tilted(low, draws.odds)), link(_tilted(high, draws.odds))


def _tilted(share: Floats, odds: Floats) -> Floats:
    """The weighted rate of a share of rows."""
    return np.asarray(odds * share / (1 - share + odds * share))


def _weighed(hits: Floats, total: Floats) -> Draws:
    """Effective rows of equal weight, from rows, weights and squared weights.

    Hits and misses each have their effective number (Kish), and the odds are their relative weight.
    To first order this is the linearized variance Σ w² (y − p)² / (Σ w)². It is exact where weights
    depend on the outcome only: an outcome that a group lacks has the weight of the other groups.
    """
    counts, mean_weights = [], []
    for counted, weight, squares in (hits, total - hits):
        rows = np.where(
            weight > ROUNDING * total[1], counted, 0.0
        )  # rows without weight carry no information
        design = np.maximum(np.nan_to_num(ratio(rows * squares, weight**2)), 1.0)
        shared = rows.sum(axis=-1, keepdims=True)
        typical = np.nan_to_num(ratio((design * rows).sum(axis=-1, keepdims=True), shared))
        counts.append(rows / np.maximum(design, np.maximum(typical, 1.0)))
        common = ratio(weight.sum(axis=-1, keepdims=True), counts[-1].sum(axis=-1, keepdims=True))
        mean_weights.append(np.where(counts[-1] > 0, ratio(weight, counts[-1]), common))
    odds = ratio(mean_weights[0], mean_weights[1])
    odds = np.where(np.isfinite(odds) & (odds > 0), odds, 1.0)
    return Draws(counts[0], counts[0] + counts[1], odds)


def _unweighed(hits: Floats, sizes: Floats) -> Draws:
    return Draws(hits, sizes, np.ones(1))


def _drawn(source: Tally, read: Reader) -> Draws:
    """Effective hits and rows; `read` gives both (sums, cells, groups) of a tally."""
    hits, total = read(source.whole)
    draws = _unweighed(hits[0], total[0]) if len(hits) == 1 else _weighed(hits, total)
    amount = rates_amount(source, by_kinds(read))
    if amount is not None:
        return _with_amount(draws, amount)
    if "fpc" in source.sums:
        return _corrected(draws, source, read)
    return _with_heavy_rows(draws, source, read) if "weight⁴" in source.sums else draws


def _with_heavy_rows(draws: Draws, source: Tally, read: Reader) -> Draws:
    """The draws with limits by Student's t, where a few rows dominate a group's weight.

    A sum of weighted outcomes is as far from normal as that of (Σ w²)² / Σ w⁴ equal ones.
    """
    with np.errstate(over="ignore"):
        square, fourth = (
            read(Tally(source.axes, source.cells, {"rows": source.sums[name]}))[1][0]
            for name in ("weight²", "weight⁴")
        )
        free = _normality(square, fourth)
    return draws if (free > NORMAL).all() else draws._replace(free=free)


def _normality(square: Any, fourth: Any) -> Floats:
    """Degrees of freedom by which Student's t is as far from normal as a sum of weighted rows."""
    equal = ratio(np.asarray(square, np.float64) ** 2, np.asarray(fourth, np.float64))
    return np.asarray(
        np.minimum(np.where(np.isfinite(equal), equal, np.inf) ** 2 / 2, INFINITE_FREEDOM)
    )


def _corrected(draws: Draws, source: Tally, read: Reader) -> Draws:
    """The draws with more effective rows, by the finite population correction."""
    squares, corrected = (
        read(Tally(source.axes, source.cells, {"rows": source.sums[name]}))[1][0]
        for name in ("weight²", "fpc")
    )
    part = np.nan_to_num(ratio(corrected, squares), nan=1.0)
    hits, sizes = draws.counts
    return Draws(hits / part, sizes / part, np.ones(1), np.full(sizes.shape, INFINITE_FREEDOM))


def _with_amount(draws: Draws, amount: Amount) -> Draws:
    """The same rates with the effective number of dependent rows."""
    share = np.nan_to_num(ratio(*draws.counts))
    return Draws(share * amount.rows, amount.rows, np.ones(1), amount.free, amount.alone)


def _weights(source: Tally) -> tuple[str, ...]:
    """The names of the sums of rows, weights and squared weights."""
    return ("rows", "weight", "weight²") if "weight²" in source.sums else ("rows",)


def _linearized(
    hits: Floats, total: Floats, squares: Floats, all_squares: Floats
) -> tuple[Floats, Floats]:
    """The effective size p (1 − p) / variance of each weighted share, and the hits among it."""
    share = np.nan_to_num(ratio(hits, total))
    variance = (1 - share) ** 2 * squares + share**2 * (all_squares - squares)
    varies = (share > 0) & (share < 1)
    sizes = np.where(
        varies,
        np.nan_to_num(ratio(share * (1 - share) * total**2, np.where(varies, variance, 1.0))),
        np.nan_to_num(ratio(total**2, all_squares)),
    )
    return share * sizes, sizes


def places(table: Table, subset: Table) -> list[int]:
    """The positions of a subset's cells in a table."""
    where = {cell: place for place, cell in enumerate(table.cells)}
    return [where[cell] for cell in subset.cells]


def _linear_fractional(
    source: Tally, statistic: Statistic, table: Table, cells: list[int]
) -> Estimates:
    """Estimates of any other ratio of counts, by its linear approximation."""
    counts = source.whole
    size, rows = counts.table("group"), replace(counts, sums={"rows": counts.sums["rows"]})
    squares = counts.table("group", of="weight²") if "weight²" in counts.sums else size
    variance, equal = row_squares(counts, statistic)[cells], ratio(size**2, squares)
    counted = statistic.fraction(rows)
    assert counted is not None
    free = np.maximum(counted[1][cells], 2.0)

    def influence(*parts: Any) -> Floats:
        return statistic.influence(*parts)[cells]

    amount = influence_amount(source, influence, variance * equal)
    if amount is not None:
        variance, free = variance * ratio(equal, amount.rows), amount.free
    errors = ErrorEstimates(np.sqrt(variance), free, np.zeros_like(variance))
    return student_limits(table, table.values, errors, statistic.bounds)
