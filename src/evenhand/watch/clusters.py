"""Rows that go together: a cluster of a part counts as one observation, its share of hits.

Given which clusters a part has and how many rows of which group, let each of their shares have the
mean p where groups are alike, whatever p is in this part, and clusters be independent. Rows within
a cluster may depend in any way. To compare a group with the others, a cluster in which both occur
is a *block*; the other clusters are dealt out to as many blocks as can have one of either side.
Each block has a contrast y, the mean share of the group less that of the others: it lies within
−1 and 1, its mean is 0, and blocks are independent, as no cluster is in two. So for every bet λ
within −1 and 1 the product of 1 + λ y over blocks, and over parts, is a martingale of mean 1. Its
logarithm is a sum over parts, so the order of parts is nothing.
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
UNIT = 1e5  # sums are kept as whole numbers of its inverse, so that the order of parts is nothing
SUPPOSED = 5.0  # clusters with hits, and as many without, that a supposed variance is worth


class Pairs(NamedTuple):
    """A part's counts with every pair of a cluster and a group as a "group" of its own.

    `cluster` and `group` say which ones each pair is of. Clusters are numbered in the order of a
    hash of their names, which has nothing to do with their outcomes.
    """

    counts: Tally
    cluster: Codes
    group: Codes
    groups: tuple[Label, ...]


def pairs_of(counts: Tally) -> Pairs:
    """A part with one axis of clusters, by pairs."""
    (name,) = counts.clusters
    axes = [axis.name for axis in counts.axes]
    at, whom = axes.index(name), axes.index("group")
    keys = [
        hashlib.sha256(show(label).encode("utf-8", "replace")).digest()
        for label in counts.labels(name)
    ]
    place = np.empty(len(keys), np.intp)
    place[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    number = len(counts.groups)
    codes, pair = np.unique(
        place[counts.cells[at]] * number + counts.cells[whom], return_inverse=True
    )
    kept = [i for i in range(len(axes)) if i != at]
    cells = counts.cells.copy()
    cells[whom] = pair
    new = tuple(
        replace(counts.axes[i], labels=tuple(range(len(codes)))) if i == whom else counts.axes[i]
        for i in kept
    )
    sums = gathered(new, cells[kept], counts.sums, ())
    return Pairs(sums, codes // number, codes % number, counts.groups)


def means_of(rates: Rates, pairs: Pairs) -> Tally:
    """By cell and group: rows, clusters, their shares added up and squared, and in how many groups.

    The last is the sum over a group's clusters of the number of groups that each lies in.
    """
    shape = (len(rates.cells), len(pairs.groups))
    seen = rates.sizes > 0
    shares = np.where(seen, rates.hits, 0.0) / np.maximum(rates.sizes, 1.0)
    within = np.zeros((len(rates.cells), int(pairs.cluster.max(initial=0)) + 1))
    for i in range(len(rates.cells)):
        np.add.at(within[i], pairs.cluster, seen[i])
    values = {
        "rows": rates.sizes,
        "clusters": seen,
        "total": np.rint(UNIT * shares),
        "squares": np.rint(UNIT * shares**2),
        "shared": np.where(seen, within[:, pairs.cluster], 0.0),
    }
    totals = {}
    for name, each in values.items():
        table = np.zeros(shape)
        for i in range(shape[0]):
            table[i] = np.bincount(pairs.group, weights=each[i], minlength=shape[1])
        totals[name] = np.rint(table).astype(np.int64).ravel()
    return _dense(rates.cells, pairs.groups, totals)


def bets_of(rates: Rates, pairs: Pairs) -> Tally:
    """By cell and group: the logarithm of what each bet on or against the group has come to."""
    shape = (len(rates.cells), len(pairs.groups), len(STAKES))
    gains = np.zeros(shape)
    for i in range(shape[0]):
        for a in range(shape[1]):
            contrasts = contrasts_of(rates.hits[i], rates.sizes[i], pairs, a)[:, None]
            both = [np.log1p(sign * BETS * contrasts).sum(axis=0) for sign in (1, -1)]
            gains[i, a] = np.concatenate(both)
    whole = np.floor(UNIT * gains).astype(np.int64)
    return _dense(
        rates.cells, pairs.groups, {name: whole[..., k].ravel() for k, name in enumerate(STAKES)}
    )


def contrasts_of(hits: Floats, sizes: Floats, pairs: Pairs, group: int) -> Floats:
    """The contrasts of blocks, a group beside all others, in one cell."""
    number = int(pairs.cluster.max(initial=0)) + 1
    seen, mine = sizes > 0, (pairs.group == group) & (sizes > 0)
    own, other = (
        tuple(
            np.bincount(pairs.cluster[at], weights=part[at], minlength=number)
            for part in (hits, sizes)
        )
        for at in (mine, seen & ~mine)
    )
    here, there = own[1] > 0, other[1] > 0
    share, rest = (part[0] / np.maximum(part[1], 1.0) for part in (own, other))
    both = here & there
    left, right = share[here & ~there], rest[there & ~here]
    blocks = min(len(left), len(right))
    if not blocks:
        return np.asarray(share[both] - rest[both])
    dealt = [_dealt(part, blocks) for part in (left, right)]
    return np.concatenate([share[both] - rest[both], dealt[0] - dealt[1]])


def shaped(sums: Tally) -> dict[str, NDArray[np.int64]]:
    """Sums of every cell, by their axes."""
    shape = tuple(axis.size for axis in sums.axes)
    return {name: values.reshape(shape) for name, values in sums.sums.items()}


def log_bets(sums: Mapping[str, NDArray[np.int64]]) -> Floats:
    """Log e-value (…, cells, groups) that a group is apart from all others."""
    logs = np.stack([sums[name] for name in STAKES], axis=-1) / UNIT
    return log_mean(logs, np.tile(BET_WEIGHTS / 2, 2))


def log_clusters_differ(bets: Tally, weights: Floats) -> float:
    """Log e-value against "all groups alike", averaged over cells: they share clusters."""
    each = log_bets(shaped(bets))
    padded = np.concatenate([each, np.zeros((len(each), 1))], axis=1)
    cells = log_mean(padded, np.append(weights, max(1 - weights.sum(), 0.0)))
    return float(log_mean(cells, np.full(len(cells), 1 / len(cells))))


def rates_of_means(sums: Tally, question: Question, limits: Limits) -> Rates:
    """Means over clusters: a cluster is a row, and its share of hits what it has of a hit.

    `effective` are the independent rows that would know as much: p (1 − p) over the variance of
    the mean, in which a cluster that lies in k groups counts as 1/k, since the variance of a
    combination of k shares is at most k times that of independent ones (Cauchy and Schwarz). Few
    hits show no variance, so one as great as rows that are all alike within clusters is supposed.
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
    """The mean of each block, to which shares are dealt out in turn."""
    to = np.arange(len(shares)) % blocks
    return np.asarray(np.bincount(to, weights=shares) / np.bincount(to))


def _dense(
    cells: tuple[Label, ...], groups: tuple[Label, ...], sums: dict[str, NDArray[np.int64]]
) -> Tally:
    shape = (len(cells), len(groups))
    places = np.array(np.unravel_index(np.arange(shape[0] * shape[1]), shape), dtype=np.intp)
    return Tally((Axis("cell", cells), Axis("group", groups)), places, sums)
