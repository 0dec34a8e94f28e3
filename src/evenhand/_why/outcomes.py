"""Parts of a gap from different true outcomes and from different decisions.

A group's counts of (truth, decision) are its shares of true labels times, for each true label, the
shares of decisions among its rows. The first are the base rates, the others for two labels the true
and the false positive rate. Each *player* (the base rates, or the decisions about one true label)
can be that of either group; a *hybrid* takes some from one group and the rest from the other, and
has a value of the statistic like any group. A part is the change in value when its player is
exchanged, averaged over all orders of exchange (Shapley), so that parts add up to the gap.
"""

from __future__ import annotations

from itertools import product
from math import factorial
from typing import NamedTuple

import numpy as np

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._data.tallies import Axis, Tally
from evenhand._errors import InputError
from evenhand._uncertainty.clusters import row_influences
from evenhand._why.entries import Entries, Floats, prior_share
from evenhand.statistics import Statistic

MOST_CLASSES = 8  # with at most this many true labels, decisions about each are a part


class Split(NamedTuple):
    """Parts of a gap: names, descriptions, values, covariance and degrees of freedom."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    values: Floats
    covariance: Floats
    freedom: Floats
    notes: tuple[str, ...] = ()


def outcome_split(counts: Tally, statistic: Statistic, cell: Label, positive: Label) -> Split:
    """The parts of T(first group) − T(second), from counts (truth, decision) of the two."""
    labels = counts.labels("y")
    shares, decided, notes = _components(counts)
    players = _players(len(labels))
    source = np.array(list(product((1, 0), repeat=players.max() + 1)))  # the group of each player
    base = shares[source[:, 0]]
    rates = np.array([[decided[who[players[y]], y] for y in range(len(labels))] for who in source])
    hybrids = _tally(base[..., None] * rates, labels)
    at = statistic.read(hybrids).cells.index(cell)
    values = statistic.read(hybrids).values[at]
    if not np.isfinite(values).all():
        names = " and ".join(show(group) for group in counts.groups)
        raise InputError(
            f"{statistic.formula} would be 0/0 with the base rates of one of {names}, and the "
            "decisions about the other, so the gap between them has no parts. Choose other groups "
            "with between=, or explain a rate such as statistical_parity."
        )
    slopes = row_influences(hybrids, statistic)[:, at].T.reshape(rates.shape)
    weights = _shapley(source)
    influence = _influences(
        counts, weights, source, players, (base, rates, slopes), (shares, decided)
    )
    entries = Entries.of(counts)
    return Split(
        *_part_names(labels, positive, len(weights)),
        weights @ values,
        entries.covariance(influence)
        + _hidden(counts, weights, source[:, players], (base, slopes), decided)
        + _hidden_bases(counts, weights, source[:, 0], (slopes * rates).sum(axis=2), shares),
        entries.freedom(influence),
        notes,
    )


def _components(counts: Tally) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Shares of true labels (groups, labels), and of decisions among the rows of each label.

    Where a group has no row of a true label, decisions about it are unknown: those of the other
    group are used, which adds nothing to a part.
    """
    table = np.moveaxis(counts.table("y", "yhat", "group"), -1, 0)
    sizes = table.sum(axis=2)
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    decided = table / np.where(sizes > 0, sizes, 1.0)[..., None]
    notes = []
    for group, label in np.argwhere((sizes == 0) & (sizes[::-1] > 0)):
        decided[group, label] = decided[1 - group, label]
        names = (show(counts.groups[group]), show(counts.labels("y")[label]))
        notes.append(
            f"{names[0]} has no rows whose true label is {names[1]}: how they would be decided is "
            f"not known, and is assumed to be as for {show(counts.groups[1 - group])}."
        )
    return shares, decided, tuple(notes)


def _players(classes: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The player of each true label's decisions; 0 is the base rates."""
    return np.arange(1, classes + 1) if classes <= MOST_CLASSES else np.ones(classes, np.intp)


def _tally(tables: Floats, labels: tuple[Label, ...]) -> Tally:
    """Counts (hybrids, truth, decision) as a tally in which every hybrid is a group."""
    sizes = (len(tables), len(labels), len(labels))
    group, truth, decision = np.unravel_index(np.arange(tables.size), sizes)
    axes = (
        Axis("y", labels),
        Axis("yhat", labels),
        Axis("group", tuple(range(len(tables)))),
    )
    return Tally(axes, np.array([truth, decision, group]), {"rows": tables.ravel()})


def _shapley(source: np.ndarray[tuple[int, int], np.dtype[np.intp]]) -> Floats:
    """Weights (players, hybrids) of the hybrids' values; 0 in `chosen` is the first group."""
    is_first = source == 0
    players = source.shape[1]
    before = is_first.sum(axis=1)[:, None] - is_first  # others from the first group
    size = np.array([factorial(s) * factorial(players - s - 1) for s in range(players)])
    weight = size[before] / factorial(players)
    return np.asarray(np.where(is_first, weight, -weight).T, np.float64)


def _influences(
    counts: Tally,
    weights: Floats,
    source: np.ndarray[tuple[int, int], np.dtype[np.intp]],
    players: np.ndarray[tuple[int], np.dtype[np.intp]],
    hybrids: tuple[Floats, Floats, Floats],
    components: tuple[Floats, Floats],
) -> Floats:
    """Influence of a row of weight 1 in each cell on each part (parts, cells).

    A row changes the base rates of its group and the decisions about its true label, and with them
    the hybrids that take these from its group. Rows of one group, truth and decision are equal.
    """
    (base, rates, slopes), (shares, decided) = hybrids, components
    sizes = counts.table("y", "group").T
    by_base_rate = (slopes * rates).sum(axis=2)  # derivative of the values by the base rates
    kinds = []
    for group in (0, 1):
        by_base = (by_base_rate - (by_base_rate @ shares[group])[:, None]) / sizes[group].sum()
        by_base = by_base * (source[:, [0]] == group)
        centered = slopes - (slopes * decided[group]).sum(axis=2, keepdims=True)
        size = np.where(sizes[group] > 0, sizes[group], 1.0)
        is_own = source[:, players] == group
        by_rate = (is_own * base / size)[..., None] * centered
        kinds.append(np.tensordot(weights, by_base[..., None] + by_rate, 1))
    at = {axis.name: place for place, axis in enumerate(counts.axes)}
    truth, decision, group_of = (counts.cells[at[name]] for name in ("y", "yhat", "group"))
    return np.asarray(np.stack(kinds, axis=1)[:, group_of, truth, decision])


def _hidden(
    counts: Tally,
    weights: Floats,
    source: np.ndarray[tuple[int, int], np.dtype[np.intp]],
    hybrids: tuple[Floats, Floats],
    decided: Floats,
) -> Floats:
    """Covariance (parts, parts) added for true labels with few decisions."""
    base, slopes = hybrids
    sizes = counts.table("y", "group").T
    squares = counts.table("y", "group", of="weight²" if "weight²" in counts.sums else "rows").T
    shares = prior_share(np.where(squares > 0, sizes**2 / np.where(squares > 0, squares, 1.0), 0.0))
    pooled = (sizes[..., None] * decided).sum(axis=0) + 0.5 / decided.shape[-1]
    pooled_rates = pooled / pooled.sum(axis=1, keepdims=True)
    total = np.zeros((len(weights), len(weights)))
    for group in (0, 1):
        weight_of_group = (source == group) * base
        slope = np.einsum("ph,hy,hyc->pyc", weights, weight_of_group, slopes)
        slope -= (slope * pooled_rates).sum(axis=2, keepdims=True)
        total += np.einsum("pyc,qyc,yc,y->pq", slope, slope, pooled_rates, shares[group])
    return total


def _hidden_bases(
    counts: Tally,
    weights: Floats,
    source: np.ndarray[tuple[int], np.dtype[np.intp]],
    along: Floats,
    shares: Floats,
) -> Floats:
    """Covariance (parts, parts) added for the base rates of groups with few rows."""
    sizes = counts.table("group")
    squares = counts.table("group", of="weight²" if "weight²" in counts.sums else "rows")
    few = prior_share(np.where(squares > 0, sizes**2 / np.where(squares > 0, squares, 1.0), 0.0))
    pooled = sizes @ shares + 0.5 / shares.shape[1]
    pooled_shares = pooled / pooled.sum()
    total = np.zeros((len(weights), len(weights)))
    for group in (0, 1):
        influence = weights @ ((source == group)[:, None] * along)
        influence -= (influence @ pooled_shares)[:, None]
        total += few[group] * (influence * pooled_shares) @ influence.T
    return total


def _part_names(
    labels: tuple[Label, ...], positive: Label, number: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the parts, and their descriptions."""
    if number == 2:
        return ("base", "decisions"), (
            "the shares of true labels",
            "decisions about people with the same true label",
        )
    if len(labels) == 2 and positive in labels:
        rates = [
            ("true_positive", "true positive rates")
            if label == positive
            else ("false_positive", "false positive rates")
            for label in labels
        ]
        return ("base", *(rate[0] for rate in rates)), (
            "base rates",
            *(rate[1] for rate in rates),
        )
    names = tuple(f"true {show(label)}" for label in labels)
    words = tuple(f"decisions where the truth is {show(label)}" for label in labels)
    return ("base", *names), ("the shares of true labels", *words)
