"""Surveys with replicate weights: the effective number of independent rows in each group.

The variance of a statistic θ of a group is Σ cᵣ (θᵣ − θ)², with θᵣ from the r-th replicate weights
(Wolter 2007). Its ratio to the variance of independently drawn rows with these weights is the
design effect. That of a small group is poorly determined, and 0 where all its outcomes are equal,
so it is combined with that of all groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from evenhand._data.tallies import Axis, Tally
from evenhand._uncertainty.clusters import (
    LEAST_RATIO,
    MOST_KINDS,
    MOST_PAIRED,
    PRIOR_UNITS,
    Amount,
    amount_of,
    are_dependent,
    crossings,
    units_of,
)
from evenhand._uncertainty.influence import quasi_ratio
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

LEAST_EFFECT = (
    0.05  # replicates hardly differ if weights were calibrated, not because nothing is uncertain
)


def replicates_of(source: Tally) -> Iterator[Tally]:
    """The tally of each replicate weight, with its weights read as rows."""
    names = {name: name.removeprefix("replicates of ") for name in source.sums}
    names = {name: short for name, short in names.items() if name.startswith("replicates")}
    for replicate in range(len(source.scale)):
        sums = {short: source.sums[name][replicate] for name, short in names.items()}
        sums["rows"] = sums.pop("replicates")
        yield Tally(source.axes, source.cells, sums)


def deviations(values: Iterable[Floats], center: Floats, scale: Iterable[float]) -> Floats:
    """Deviations √cᵣ (θᵣ − θ) of the replicates, whose squares add up to the variance.

    >>> deviations(np.array([[1.0], [3.0]]), np.array([2.0]), [4.0, 4.0]).ravel()
    array([-2.,  2.])
    """
    return np.array([c**0.5 * (value - center) for c, value in zip(scale, values, strict=True)])


Reader = Callable[[Tally], tuple[Floats, Floats]]
Owner = NDArray[np.intp]
Moves = Callable[[Tally, Owner], tuple[Floats, Floats, Floats]]


def rates_amount(source: Tally, read: Reader) -> Amount | None:
    """Effective numbers of dependent rows for rates (cells, groups); None for independent rows.

    `read` gives hits and rows (sums, cells, groups) of a tally: by rows, or by weights and squared
    weights last.
    """
    if not are_dependent(source):
        return None
    hits, total = (part[-2:] for part in read(source.whole))
    share = np.nan_to_num(ratio(hits[0], total[0]))

    def moves(counts: Tally, owner: Owner) -> tuple[Floats, Floats, Floats]:
        struck, counted = (part[-2:] for part in read(counts))
        return struck[0] - share[:, owner] * counted[0], counted[0], counted[-1]

    return _amount(source, moves, share * (1 - share))


def by_kinds(read: Reader) -> Reader:
    """The same hits and rows, where they are counts: what a row of each kind adds, times its rows.

    A kind of row is a position along the axes other than the group.
    """

    def totals(counts: Tally) -> tuple[Floats, Floats]:
        names = [axis.name for axis in counts.axes if axis.name != "group"]
        shape = tuple(counts.axis(name).size for name in names)
        if prod(shape) > MOST_KINDS:
            return read(counts)
        kinds = np.arange(prod(shape))
        axes = (*map(counts.axis, names), Axis("group", tuple(range(len(kinds)))))
        cells = np.array([*np.unravel_index(kinds, shape), kinds])
        one_each = Tally(axes, cells, {"rows": np.ones(len(kinds))})
        sums = ("weight", "weight²") if "weight²" in counts.sums else ("rows",)
        tables = [counts.table(*names, "group", of=of).reshape(len(kinds), -1) for of in sums]
        hits, rows = (np.array([part[0] @ table for table in tables]) for part in read(one_each))
        return hits, rows

    return totals


def influence_amount(
    source: Tally, influence: Callable[..., Floats], spread: Floats, per: str | None = None
) -> Amount | None:
    """Effective numbers of dependent rows for a statistic of all rows of a group (cells, groups).

    `influence` is that of the statistic, and `spread` the variance of single rows. For a ratio of
    two sums, rows are weighted by its denominator, `per`.
    """
    unclustered = source.whole
    size = unclustered.table("group", of=per or "weight")

    def moves(counts: Tally, owner: Owner) -> tuple[Floats, Floats, Floats]:
        weight = counts.table("group", of=per or "weight")
        weight = np.broadcast_to(weight, (len(spread), len(owner)))
        shifts = influence(counts, owner, unclustered) * size[owner]
        return shifts, weight, np.broadcast_to(squares_of(counts, per), weight.shape)

    return _amount(source, moves, spread)


def squares_of(counts: Tally, per: str | None = None) -> Floats:
    """Sums of squared weights by group, or of squared denominators for a ratio."""
    if per is None:
        return counts.table("group", of="weight²" if "weight²" in counts.sums else "weight")
    mark = "weight²·" if f"weight²·{per}²" in counts.sums else ""
    return counts.table("group", of=f"{mark}{per}²")


def _amount(source: Tally, moves: Moves, spread: Floats) -> Amount | None:
    """Effective numbers from the moves, weights and squared weights of units (cells, units)."""
    if source.scale:
        everyone = np.arange(spread.shape[-1])
        _, rows, squares = moves(source, everyone)
        replicated = (
            _share(*moves(replicate, everyone)[:2]) for replicate in replicates_of(source)
        )
        shifts = deviations(replicated, np.zeros(spread.shape), source.scale)
        return amount(shifts, spread, np.nan_to_num(ratio(rows**2, squares)))
    parts = []
    for sign, axes in crossings(source.clusters):
        units, counts = units_of(source, *axes)
        parts.append((sign, units.varied(*moves(counts, units.owner), spread)))
    return amount_of(parts) if parts else None


def amount(shifts: Floats, spread: Floats, independent: Floats) -> Amount:
    """Effective numbers of rows by replicate weights.

    `shifts` are the deviations of replicates, `spread` is the variance of single rows, and
    `independent` the effective number if rows were independent. The degrees of freedom follow from
    how few deviations dominate the variance (Satterthwaite), and from the rows.
    """
    squares = shifts**2
    varied, floor = squares.sum(axis=0), 1 / len(shifts)
    fourth = np.nan_to_num(ratio((squares**2).sum(axis=0), varied**2))
    effects = np.nan_to_num(ratio(varied * independent, spread))
    free = np.minimum(2 / np.maximum(fourth - floor, 2 * floor), np.maximum(independent - 1, 0.0))
    free = np.where(effects > 0, free, 0.0)
    total = free.sum(axis=-1, keepdims=True)
    common = ratio((free * effects).sum(axis=-1, keepdims=True), total)
    common = np.nan_to_num(common, nan=1.0)
    borrowed = np.minimum(PRIOR_UNITS, total - free)
    freedom = free + borrowed
    effect = np.where(freedom > 0, ratio(free * effects + borrowed * common, freedom), common)
    single = independent / np.maximum(effect, LEAST_EFFECT)
    if shifts.shape[-1] > MOST_PAIRED:
        return Amount(single, np.maximum(freedom, 1.0), single)
    covariance = np.einsum("r...a,r...b->...ab", shifts, shifts)
    quasi = np.maximum(quasi_ratio(covariance, varied / len(shifts) / 2), LEAST_RATIO)
    return Amount(single / quasi, np.maximum(freedom, 1.0), single)


def _share(hits: Floats, total: Floats) -> Floats:
    shares = np.divide(hits, total, out=np.zeros(np.shape(total)), where=np.asarray(total) != 0)
    return np.asarray(shares)
