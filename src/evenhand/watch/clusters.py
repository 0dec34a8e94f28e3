"""Clustered rows: a cluster of a part counts as one observation, its share of hits.

Given the clusters of a part and their rows by group, suppose that under equality each cluster's
share has the mean p, whatever p is in this part, and that clusters are independent. Rows within a
cluster may depend in any way. To compare a group with the others, a cluster in which both occur is
a *block*; the other clusters are distributed over as many blocks as can have one of either side.
Each block has a contrast y, the mean share of the group less that of the others: it lies between −1
and 1, its mean is 0, and blocks are independent, as no cluster is in two. So for every bet λ
between −1 and 1 the product of 1 + λ y over blocks, and over parts, is a martingale of mean 1. Its
logarithm is a sum over parts, so the order of parts does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._data.tallies import Axis, Tally, gathered
from evenhand.criteria.questions import Question
from evenhand.watch.evalues import log_mean
from evenhand.watch.rates import Limits, Rates, range_of

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

BETS = np.array([0.06, 0.12, 0.25, 0.5, 0.85])
BET_WEIGHTS = np.array([0.15, 0.2, 0.25, 0.25, 0.15])
STAKES = tuple(f"{sign}{bet:g}" for sign in "+-" for bet in BETS)
UNIT = 1e5  # sums are whole multiples of its inverse, so that the order of parts does not matter
SUPPOSED = 5.0  # the prior weight of a supposed variance, in clusters with and without hits


class Pairs(NamedTuple):
    """A part's counts with every pair of a cluster and a group as a "group" of its own.

    `cluster` and `group` are those of each pair. Clusters are numbered in the order of a hash of
    their names, which is independent of their outcomes.
    """

    counts: Tally
    cluster: Codes
    group: Codes
    groups: tuple[Label, ...]


def pairs_of(counts: Tally) -> Pairs:
    """A part with one axis of clusters, as pairs of a cluster and a group."""
    (name,) = counts.clusters
    axes = [axis.name for axis in counts.axes]
    axis_of_clusters, whom = axes.index(name), axes.index("group")
    keys = [
        hashlib.sha256(show(label).encode("utf-8", "replace")).digest()
        for label in counts.labels(name)
    ]
    place = np.empty(len(keys), np.intp)
    place[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    number = len(counts.groups)
    codes, pair = np.unique(
        place[counts.cells[axis_of_clusters]] * number + counts.cells[whom], return_inverse=True
    )
    remaining_axes = [i for i in range(len(axes)) if i != axis_of_clusters]
    cells = counts.cells.copy()
    cells[whom] = pair
    new = tuple(
        replace(counts.axes[i], labels=tuple(range(len(codes)))) if i == whom else counts.axes[i]
        for i in remaining_axes
    )
    sums = gathered(new, cells[remaining_axes], counts.sums, ())
    return Pairs(sums, codes // number, codes % number, counts.groups)


def means_of(rates: Rates, pairs: Pairs) -> Tally:
    """Rows, clusters, sums of their shares and squared shares, and overlaps, by cell and group.

    The overlap is the sum over a group's clusters of the number of groups that each occurs in.
    """
    shape = (len(rates.cells), len(pairs.groups))
    present = rates.sizes > 0
    shares = np.where(present, rates.hits, 0.0) / np.maximum(rates.sizes, 1.0)
    within = np.zeros((len(rates.cells), int(pairs.cluster.max(initial=0)) + 1))
    for i in range(len(rates.cells)):
        np.add.at(within[i], pairs.cluster, present[i])
    values = {
        "rows": rates.sizes,
        "clusters": present,
        "total": np.rint(UNIT * shares),
        "squares": np.rint(UNIT * shares**2),
        "shared": np.where(present, within[:, pairs.cluster], 0.0),
    }
    totals = {}
    for name, table_of_pairs in values.items():
        table = np.zeros(shape)
        for i in range(shape[0]):
            table[i] = np.bincount(pairs.group, weights=table_of_pairs[i], minlength=shape[1])
        totals[name] = np.rint(table).astype(np.int64).ravel()
    return _dense(rates.cells, pairs.groups, totals)


def bets_of(rates: Rates, pairs: Pairs) -> Tally:
    """The logarithm of the wealth of each bet on or against a group, by cell and group."""
    shape = (len(rates.cells), len(pairs.groups), len(STAKES))
    gains = np.zeros(shape)
    for i in range(shape[0]):
        for a in range(shape[1]):
            contrasts = contrasts_of(rates.hits[i], rates.sizes[i], pairs, a)[:, None]
            logs = [np.log1p(sign * BETS * contrasts).sum(axis=0) for sign in (1, -1)]
            gains[i, a] = np.concatenate(logs)
    units = np.floor(UNIT * gains).astype(np.int64)
    return _dense(
        rates.cells, pairs.groups, {name: units[..., k].ravel() for k, name in enumerate(STAKES)}
    )


def contrasts_of(hits: Floats, sizes: Floats, pairs: Pairs, group: int) -> Floats:
    """The contrasts of blocks, a group against all others, in one cell."""
    number = int(pairs.cluster.max(initial=0)) + 1
    present, mine = sizes > 0, (pairs.group == group) & (sizes > 0)
    of_group, of_others = (
        tuple(
            np.bincount(pairs.cluster[at], weights=part[at], minlength=number)
            for part in (hits, sizes)
        )
        for at in (mine, present & ~mine)
    )
    has_group, has_others = of_group[1] > 0, of_others[1] > 0
    share, other_share = (part[0] / np.maximum(part[1], 1.0) for part in (of_group, of_others))
    is_block = has_group & has_others
    only_group, only_others = share[has_group & ~has_others], other_share[has_others & ~has_group]
    blocks = min(len(only_group), len(only_others))
    if not blocks:
        return np.asarray(share[is_block] - other_share[is_block])
    dealt = [_dealt(part, blocks) for part in (only_group, only_others)]
    return np.concatenate([share[is_block] - other_share[is_block], dealt[0] - dealt[1]])


def shaped(sums: Tally) -> dict[str, NDArray[np.int64]]:
    """Sums of every cell, by their axes."""
    shape = tuple(axis.size for axis in sums.axes)
    return {name: values.reshape(shape) for name, values in sums.sums.items()}


def log_bets(sums: Mapping[str, NDArray[np.int64]]) -> Floats:
    """Log e-value (…, cells, groups) that a group differs from all others."""
    logs = np.stack([sums[name] for name in STAKES], axis=-1) / UNIT
    return log_mean(logs, np.tile(BET_WEIGHTS / 2, 2))


def log_clusters_differ(bets: Tally, weights: Floats) -> float:
    """Log e-value against equality of all groups, averaged over cells, which share clusters."""
    by_group = log_bets(shaped(bets))
    padded = np.concatenate([by_group, np.zeros((len(by_group), 1))], axis=1)
    cells = log_mean(padded, np.append(weights, max(1 - weights.sum(), 0.0)))
    return float(log_mean(cells, np.full(len(cells), 1 / len(cells))))


def rates_of_means(sums: Tally, question: Question, limits: Limits) -> Rates:
    """Means over clusters as rates: a cluster is a row, and its share of hits a fractional hit.

    `effective` are the equivalent numbers of independent rows: p (1 − p) over the variance of the
    mean, in which a cluster of k groups counts as 1/k, since the variance of a combination of k
    shares is at most k times that of independent ones (Cauchy and Schwarz). Few hits reveal no
    variance, so a prior one is added, as large as that of identical rows within clusters.
    """
    shape = tuple(axis.size for axis in sums.axes)
    clusters, rows = (
        sums.sums[name].reshape(shape).astype(np.float64) for name in ("clusters", "rows")
    )
    total, squares = (sums.sums[name].reshape(shape) / UNIT for name in ("total", "squares"))
    total = np.clip(total, 0.0, clusters)
    sizes = np.maximum(clusters, 1.0)
    center = (total + 0.5) / (sizes + 1.0)
    greatest = center * (1 - center)
    supposed = SUPPOSED * sizes / (1 + np.minimum(total, clusters - total))
    spread = np.maximum(squares - total**2 / sizes, 0.0) + supposed * greatest
    variance = spread / (sizes - 1 + supposed)
    amounts = np.clip(sizes * greatest / variance, sizes, np.maximum(rows, sizes))
    shared = np.maximum(sums.sums["shared"].reshape(shape) / sizes, 1.0)
    effective = np.where(clusters > 0, amounts / shared, 0.0)
    cells = sums.labels("cell")
    statistic = question.criterion.statistic
    return Rates(
        total, clusters, cells, sums.groups, statistic.strata(cells),
        range_of(question, limits), are_counts=False, effective=effective,
    )  # fmt: skip


def _dealt(shares: Floats, blocks: int) -> Floats:
    """The mean of each block; shares are assigned to blocks in turn."""
    to = np.arange(len(shares)) % blocks
    return np.asarray(np.bincount(to, weights=shares) / np.bincount(to))


def _dense(
    cells: tuple[Label, ...], groups: tuple[Label, ...], sums: dict[str, NDArray[np.int64]]
) -> Tally:
    shape = (len(cells), len(groups))
    places = np.array(np.unravel_index(np.arange(shape[0] * shape[1]), shape), dtype=np.intp)
    return Tally((Axis("cell", cells), Axis("group", groups)), places, sums)
