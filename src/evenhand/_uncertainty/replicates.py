"""Surveys with replicate weights: how many independent rows those of each group amount to.

The variance of a statistic θ of a group is Σ cᵣ (θᵣ − θ)², with θᵣ from the r-th replicate weights
(Wolter 2007). Beside the variance that rows of these weights would have if they were drawn
independently it is a design effect. That of a small group is itself hardly known, and 0 where all
its outcomes are alike, so all groups lend it theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from evenhand._data.tallies import Tally
from evenhand._uncertainty import clusters
from evenhand._uncertainty.clusters import LEAST_RATIO, LENT_UNITS, MOST_PAIRED, Amount, Reader
from evenhand._uncertainty.influence import quasi_ratio
from evenhand.statistics.forms import ratio

Floats = NDArray[np.float64]

LEAST_EFFECT = (
    0.05  # replicates that hardly differ say that weights were fitted, not that all is known
)


def replicates_of(source: Tally) -> Iterator[Tally]:
    """The tally of each replicate weight; what it counts is read as rows."""
    names = {name: name.removeprefix("replicates of ") for name in source.sums}
    names = {name: short for name, short in names.items() if name.startswith("replicates")}
    for at in range(len(source.scale)):
        sums = {short: source.sums[name][at] for name, short in names.items()}
        sums["rows"] = sums.pop("replicates")
        yield Tally(source.axes, source.cells, sums)


def deviations(values: Iterable[Floats], center: Floats, scale: Iterable[float]) -> Floats:
    """√cᵣ (θᵣ − θ) of every replicate; their squares add up to the variance.

    >>> deviations(np.array([[1.0], [3.0]]), np.array([2.0]), [4.0, 4.0]).ravel()
    array([-2.,  2.])
    """
    return np.array([c**0.5 * (each - center) for c, each in zip(scale, values, strict=True)])


def rates_amount(source: Tally, read: Reader) -> Amount | None:
    """What dependent rows amount to for rates (cells, groups); None where they are independent."""
    if not source.scale:
        return clusters.rates_amount(source, read)
    hits, total = (part[-2:] for part in read(source))
    share = _share(hits[0], total[0])
    each = (_share(*(part[0] for part in read(one))) for one in replicates_of(source))
    independent = np.nan_to_num(ratio(total[0] ** 2, total[1]))
    return amount(deviations(each, share, source.scale), share * (1 - share), independent)


def means_amount(source: Tally, of: str, mean: Floats, spread: Floats) -> Amount | None:
    """What dependent rows amount to for the means of a sum, by group."""
    if not source.scale:
        return clusters.means_amount(source, of, mean, spread)
    each = (_share(one.table("group", of=of), one.table("group")) for one in replicates_of(source))
    rows, squares = source.table("group"), source.table("group", of="weight²")
    independent = np.nan_to_num(ratio(rows**2, squares))
    return amount(deviations(each, mean, source.scale), spread, independent)


def amount(moved: Floats, spread: Floats, independent: Floats) -> Amount:
    """Rows that vary as much as the replicates say, from those that independent ones would be.

    `moved` are the deviations of replicates, `spread` is the variance of single rows. How well the
    variance is known depends on how few deviations make it up (Satterthwaite), and on the rows.
    """
    squares = moved**2
    varied, few = squares.sum(axis=0), 1 / len(moved)
    fourth = np.nan_to_num(ratio((squares**2).sum(axis=0), varied**2))
    own = np.nan_to_num(ratio(varied * independent, spread))
    free = np.minimum(2 / np.maximum(fourth - few, 2 * few), np.maximum(independent - 1, 0.0))
    free = np.where(own > 0, free, 0.0)
    every = free.sum(axis=-1, keepdims=True)
    common = ratio((free * own).sum(axis=-1, keepdims=True), every)
    common = np.nan_to_num(common, nan=1.0)
    lent = np.minimum(LENT_UNITS, every - free)
    both = free + lent
    effect = np.where(both > 0, ratio(free * own + lent * common, both), common)
    alone = independent / np.maximum(effect, LEAST_EFFECT)
    if moved.shape[-1] > MOST_PAIRED:
        return Amount(alone, np.maximum(both, 1.0), alone)
    covariance = np.einsum("r...a,r...b->...ab", moved, moved)
    less = np.maximum(quasi_ratio(covariance, varied / len(moved) / 2), LEAST_RATIO)
    return Amount(alone / less, np.maximum(both, 1.0), alone)


def _share(hits: Floats, total: Floats) -> Floats:
    known = np.divide(hits, total, out=np.zeros(np.shape(total)), where=np.asarray(total) != 0)
    return np.asarray(known)
