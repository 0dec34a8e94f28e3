"""A gap between two groups in parts: from different true outcomes, and from different decisions.

A group's counts of (truth, decision) are its shares of true labels times, for each true label, how
rows of that label are decided. The first are the base rates, the others for two labels the true and
the false positive rate. Each *player* (the base rates, or the decisions about one true label) can
be that of either group; a *hybrid* takes some from one group and the rest from the other, and has a
value of the statistic like any group. A part is the average over all orders of what the value
changes by as one player after another is exchanged (Shapley), so that parts add up to the gap.
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
from evenhand._why.entries import Entries, Floats, lent
from evenhand.statistics import Statistic

MOST_CLASSES = 8  # true labels whose decisions are parts of their own


class Split(NamedTuple):
    """Parts of a gap: names, words, values, and by how much they vary together."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    values: Floats
    covariance: Floats
    free: Floats
    notes: tuple[str, ...] = ()


def outcome_split(counts: Tally, statistic: Statistic, cell: Label, positive: Label) -> Split:
    """The parts of T(first group) − T(second), from counts (truth, decision) of the two."""
    labels = counts.labels("y")
    shares, decided, notes = _components(counts)
    players = _players(len(labels))
    chosen = np.array(list(product((1, 0), repeat=players.max() + 1)))  # which group each is from
    base = shares[chosen[:, 0]]
    rates = np.array([[decided[who[players[y]], y] for y in range(len(labels))] for who in chosen])
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
    weights = _shapley(chosen)
    moved = _moved(counts, weights, chosen, players, (base, rates, slopes), (shares, decided))
    entries = Entries.of(counts)
    return Split(
        *_named(labels, positive, len(weights)),
        weights @ values,
        entries.covariance(moved)
        + _hidden(counts, weights, chosen[:, players], (base, slopes), decided)
        + _hidden_bases(counts, weights, chosen[:, 0], (slopes * rates).sum(axis=2), shares),
        entries.free(moved),
        notes,
    )


def _components(counts: Tally) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Shares of true labels (groups, labels), and of decisions among the rows of each label.

    Where a group has no row of a true label, nobody knows how it would be decided: it is taken to
    be as in the other group, which adds nothing to a part.
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


def _shapley(chosen: np.ndarray[tuple[int, int], np.dtype[np.intp]]) -> Floats:
    """Weights (players, hybrids) of the hybrids' values; 0 in `chosen` is the first group."""
    is_first = chosen == 0
    players = chosen.shape[1]
    before = is_first.sum(axis=1)[:, None] - is_first  # others from the first group
    size = np.array([factorial(s) * factorial(players - s - 1) for s in range(players)])
    weight = size[before] / factorial(players)
    return np.asarray(np.where(is_first, weight, -weight).T, np.float64)


def _moved(
    counts: Tally,
    weights: Floats,
    chosen: np.ndarray[tuple[int, int], np.dtype[np.intp]],
    players: np.ndarray[tuple[int], np.dtype[np.intp]],
    hybrids: tuple[Floats, Floats, Floats],
    components: tuple[Floats, Floats],
) -> Floats:
    """By how much a row of weight 1 in each cell moves each part (parts, cells).

    A row moves the base rates of its group, and the decisions about its true label; a hybrid moves
    with those that it takes from that group. Rows of one group, truth and decision are all alike.
    """
    (base, rates, slopes), (shares, decided) = hybrids, components
    sizes = counts.table("y", "group").T
    along = (slopes * rates).sum(axis=2)  # how values follow base rates
    kinds = []
    for group in (0, 1):
        by_base = (along - (along @ shares[group])[:, None]) / sizes[group].sum()
        by_base = by_base * (chosen[:, [0]] == group)
        own = slopes - (slopes * decided[group]).sum(axis=2, keepdims=True)
        size = np.where(sizes[group] > 0, sizes[group], 1.0)
        is_own = chosen[:, players] == group
        by_rate = (is_own * base / size)[..., None] * own
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
    """What few decisions about a true label may hide, as covariances (parts, parts)."""
    base, slopes = hybrids
    sizes = counts.table("y", "group").T
    squares = counts.table("y", "group", of="weight²" if "weight²" in counts.sums else "rows").T
    few = lent(np.where(squares > 0, sizes**2 / np.where(squares > 0, squares, 1.0), 0.0))
    both = (sizes[..., None] * decided).sum(axis=0) + 0.5 / decided.shape[-1]
    usual = both / both.sum(axis=1, keepdims=True)
    total = np.zeros((len(weights), len(weights)))
    for group in (0, 1):
        own = (source == group) * base
        along = np.einsum("ph,hy,hyc->pyc", weights, own, slopes)
        along -= (along * usual).sum(axis=2, keepdims=True)
        total += np.einsum("pyc,qyc,yc,y->pq", along, along, usual, few[group])
    return total


def _hidden_bases(
    counts: Tally,
    weights: Floats,
    source: np.ndarray[tuple[int], np.dtype[np.intp]],
    along: Floats,
    shares: Floats,
) -> Floats:
    """What few rows may hide of a group's true labels, as covariances (parts, parts)."""
    sizes = counts.table("group")
    squares = counts.table("group", of="weight²" if "weight²" in counts.sums else "rows")
    few = lent(np.where(squares > 0, sizes**2 / np.where(squares > 0, squares, 1.0), 0.0))
    both = sizes @ shares + 0.5 / shares.shape[1]
    usual = both / both.sum()
    total = np.zeros((len(weights), len(weights)))
    for group in (0, 1):
        moved = weights @ ((source == group)[:, None] * along)
        moved -= (moved @ usual)[:, None]
        total += few[group] * (moved * usual) @ moved.T
    return total


def _named(
    labels: tuple[Label, ...], positive: Label, number: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the parts, and what differs, in words."""
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
        return ("base", *(one[0] for one in rates)), (
            "base rates",
            *(one[1] for one in rates),
        )
    names = tuple(f"true {show(label)}" for label in labels)
    words = tuple(f"decisions where the truth is {show(label)}" for label in labels)
    return ("base", *names), ("the shares of true labels", *words)
