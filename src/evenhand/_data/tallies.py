"""Tallies: additive sums in labeled cells, which are all that a criterion needs of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label, positions, union
from evenhand._data.groups import CLUSTER, Rare, joined, settle_rare, show
from evenhand._data.once import Immutable
from evenhand._errors import InputError, InputTypeError


@dataclass(frozen=True)
class Axis:
    """One axis of a tally: categories, which merge by union, or bin edges, which must agree."""

    name: str
    labels: tuple[Label, ...]
    kind: Literal["categories", "edges"] = "categories"

    @property
    def size(self) -> int:
        """Number of cells along this axis."""
        return len(self.labels) - (self.kind == "edges")


@dataclass(frozen=True, eq=False)
class Tally(Immutable):
    """Sums over the rows in each cell that occurs; tallies of parts add up to that of all rows.

    A cell is a combination of labels, such as true label 1, predicted label 0, group "a". Make one
    with `tally`; add them with `+` or
    `sum`.

    Parameters
    ----------
    axes : tuple of Axis
        What distinguishes the cells: "y", "yhat", "stratum", "bin", "group", each with labels; and
        "cluster" where rows go together, over which every table adds up.
    cells : ndarray of int, of shape (axes, n_cells)
        For each cell its place along each axis: `axes[i].labels[cells[i, k]]` is what cell k is
        along axis i. Cells in which no row falls are not there.
    sums : mapping of str to ndarray, each of shape (…, n_cells)
        Totals over the rows of each cell: "rows" counts them, "weight" adds up their weights (and
        "weight²" the squares) where they were weighted; others by name. Axes before the last are a
        batch of tallies with the same cells, all of which a criterion reads at once.
    notes : tuple of str, default ()
        How rare and missing groups were treated, in words.
    scale : tuple of float, default ()
        Of a survey with replicate weights: what the squared deviation of each is multiplied by.
        Their sums are "replicates", a batch, and "replicates of" the other sums.

    Examples
    --------
    >>> from evenhand import tally
    >>> counts = tally(["yes", "no"], ["yes", "yes"], sensitive_features=["a", "b"])
    >>> [axis.name for axis in counts.axes], counts.labels("y")
    (['y', 'yhat', 'group'], ('no', 'yes'))
    >>> counts.cells
    array([[0, 1],
           [1, 1],
           [1, 0]])
    >>> counts.sums["rows"]
    array([1, 1])

    """

    axes: tuple[Axis, ...]
    cells: NDArray[np.intp]
    sums: Mapping[str, NDArray[Any]]
    notes: tuple[str, ...] = ()
    scale: tuple[float, ...] = ()

    def labels(self, axis: str) -> tuple[Label, ...]:
        """Labels along an axis.

        Parameters
        ----------
        axis : str
            The name of the axis: "y", "yhat", "group", …

        Returns
        -------
        tuple of labels
            Sorted; of an axis of bins, the edges.

        """
        return self.axis(axis).labels

    @property
    def groups(self) -> tuple[Label, ...]:
        """The groups, in the order of every table's last axis."""
        return self.labels("group")

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of the axes of clusters, where `cluster=` was given."""
        return tuple(axis.name for axis in self.axes if axis.name.startswith(CLUSTER))

    @cached_property
    def whole(self) -> Tally:
        """The same counts, summed over clusters."""
        if not self.clusters:
            return self
        kept = [i for i, axis in enumerate(self.axes) if axis.name not in self.clusters]
        axes = tuple(self.axes[i] for i in kept)
        return gathered(axes, self.cells[kept], self.sums, self.notes, self.scale)

    def table(self, *names: str, of: str = "weight") -> NDArray[np.float64]:
        """Dense totals along the named axes, in that order, after the batch axes.

        Parameters
        ----------
        *names : str
            The axes; the rows are added up over the others.
        of : str, default "weight"
            Which sum; rows that were not weighted weigh 1.

        Returns
        -------
        ndarray
            An axis for each name; 0 where no row fell.

        """
        if self.clusters and not set(names) & set(self.clusters):
            return self.whole.table(*names, of=of)
        shape = tuple(self.axis(name).size for name in names)
        order = [[axis.name for axis in self.axes].index(name) for name in names]
        values = self._sum(of)
        flat = np.ravel_multi_index(tuple(self.cells[order]), shape)
        where, added = _totals(flat, {of: values})
        totals = added[of]
        if len(where) == prod(shape):
            table = np.array(totals, dtype=np.float64)
        else:
            table = np.zeros((*values.shape[:-1], prod(shape)))
            table[..., where] = totals
        return table.reshape(*values.shape[:-1], *shape)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        axes = _joined_axes(self, other)
        cells = np.concatenate([_recoded(self, axes), _recoded(other, axes)], axis=1)
        sums = {
            name: np.concatenate([self.sums[name], other.sums[name]], axis=-1) for name in self.sums
        }
        notes = tuple(dict.fromkeys(self.notes + other.notes))
        return gathered(axes, cells, sums, notes, self.scale)

    def __radd__(self, zero: int) -> Tally:
        return self if zero == 0 else NotImplemented

    def settle_rare(self, min_count: int, rare: Rare) -> Tally:
        """Merge or drop the groups of fewer than `min_count` rows, and note it.

        Parameters
        ----------
        min_count : int
            The least number of rows.
        rare : {"keep", "merge", "drop"}
            How a group with fewer is treated.

        Returns
        -------
        Tally
            The same counts of the groups that are left.

        """
        regrouping = settle_rare(self.groups, self.table("group", of="rows"), min_count, rare)
        tally = self.regrouped(regrouping.target, regrouping.labels)
        return replace(tally, notes=self.notes + regrouping.notes)

    def regrouped(self, target: NDArray[np.intp], labels: tuple[Label, ...]) -> Tally:
        """Each group becomes the group `target` of the new labels; past the last, it is dropped.

        Parameters
        ----------
        target : ndarray of int
            For each group its new place.
        labels : tuple of labels
            The new groups.

        Returns
        -------
        Tally
            The same counts of the new groups.

        Examples
        --------
        >>> counts = Tally((Axis("group", ("a", "b")),), np.array([[0, 1]]), {"rows": np.ones(2)})
        >>> counts.regrouped(np.array([0, 0]), ("all",)).table("group")
        array([2.])

        """
        at = self.axes.index(self.axis("group"))
        cells = self.cells.copy()
        cells[at] = target[cells[at]]
        kept = cells[at] < len(labels)
        axes = tuple(replace(a, labels=labels) if a.name == "group" else a for a in self.axes)
        sums = {name: values[..., kept] for name, values in self.sums.items()}
        return gathered(axes, cells[:, kept], sums, self.notes, self.scale)

    def with_classes(self, labels: Iterable[Label]) -> Tally:
        """The same counts, with room for classes that no row has.

        Parameters
        ----------
        labels : iterable of labels
            The classes.

        Returns
        -------
        Tally
            With the labels among those of truth and prediction.

        """
        classes = tuple(labels)
        axes = tuple(
            replace(axis, labels=union(axis.labels, classes)) if axis.name in CLASSES else axis
            for axis in self.axes
        )
        return replace(self, axes=axes, cells=_recoded(self, axes))

    def __repr__(self) -> str:
        axes = ", ".join(f"{axis.name}: {axis.size}" for axis in self.axes)
        rows = self.sums["rows"].sum(axis=-1)
        return f"<Tally of {rows} rows in {self.cells.shape[1]} cells ({axes})>"

    def _sum(self, name: str) -> NDArray[Any]:
        """A named sum; rows that were not weighted weigh 1."""
        if name == "weight" and name not in self.sums:
            name = "rows"
        if name not in self.sums:
            raise InputError(
                f"This tally has no sum {name!r}, only {list(self.sums)}; "
                "count again with what the criterion needs."
            )
        return self.sums[name]

    def axis(self, name: str) -> Axis:
        """The axis of that name.

        Parameters
        ----------
        name : str
            Such as "y", "yhat" or "group".

        Returns
        -------
        Axis
            Its name, labels and kind.

        """
        for axis in self.axes:
            if axis.name == name:
                return axis
        raise InputError(
            f"This tally has no axis {name!r}, only {[axis.name for axis in self.axes]}; "
            "count again with what the criterion needs."
        )


MOST_ROWS = 2**53 - 1  # a float holds every whole number up to the next, and not the one after it
CLASSES = ("y", "yhat")  # these axes share their labels: truth and prediction are of one kind


def one_kind(classes: tuple[Label, ...]) -> tuple[Label, ...]:
    """The classes, unless some are text and others are not: 1 and "1" would be two of them."""
    if len({isinstance(label, str) for label in classes}) == 2:
        raise InputTypeError(
            f"Labels mix text and numbers: {[show(label) for label in classes[:6]]}. "
            "Give y_true and y_pred the same kind of labels, in every part."
        )
    return classes


POWERS = {2: "²", 3: "³", 4: "⁴"}
BY_PLACE = ("exposure", "top", "first")  # numbers that follow from the place in a list
PAIRED = tuple(
    name.format(pairs)
    for pairs in ("", " within", " across")
    for name in ("won{0}", "won{0}²", "won{0}·pairs{0}", "pairs{0}", "pairs{0}²")
)
INFLUENCE = {  # sums times a power of the weight, for variances of statistics
    2: (
        *("yhat", "yhat²", "y", "y²", "y³", "y⁴", "error", "error²"),
        *("squared_error", "squared_error²"),
        *("y·squared_error", "y²·squared_error", "absolute_error", "absolute_error²"),
        *("cross_entropy", "cross_entropy²", "loss", "loss²"),
        "hits",
        *(f"{name}{mark}" for name in BY_PLACE for mark in ("", "²")),
        *("relevance", "relevance²", "exposure·relevance", "gain", "gain²", "gain·relevance"),
        *PAIRED,
    ),
    3: tuple(f"{name}{mark}" for name in ("yhat", "error", *BY_PLACE) for mark in ("", "²", "³")),
    4: tuple(
        f"{name}{mark}" for name in ("yhat", "error", *BY_PLACE) for mark in ("", "²", "³", "⁴")
    ),
}


def weighed(names: Iterable[str]) -> dict[str, tuple[int, str | None]]:
    """The sums of weighted rows: each a power of the weight, alone or times a column.

    >>> weighed(["hits"])["weight²·hits"], weighed([])["weight⁴"]
    ((2, 'hits'), (4, None))
    """
    columns = list(names)
    sums: dict[str, tuple[int, str | None]] = {name: (1, name) for name in columns}
    sums |= {"weight": (1, None)} | {f"weight{mark}": (at, None) for at, mark in POWERS.items()}
    for power, mark in POWERS.items():
        for name in INFLUENCE[power]:
            if name in columns:
                sums[f"weight{mark}·{name}"] = (power, name)
    return sums


def _joined_axes(left: Tally, right: Tally) -> tuple[Axis, ...]:
    """Axes that hold the cells of both tallies."""
    if [(a.name, a.kind) for a in left.axes] != [(a.name, a.kind) for a in right.axes]:
        raise InputError(f"Cannot add {left} and {right}: they were counted along different axes.")
    if set(left.sums) != set(right.sums):
        raise InputError(f"Cannot add tallies of {sorted(left.sums)} and of {sorted(right.sums)}.")
    if left.scale != right.scale:
        raise InputError("Cannot add tallies whose replicate weights were made in different ways.")
    axes = [*left.axes, *right.axes]
    classes = one_kind(union(*(axis.labels for axis in axes if axis.name in CLASSES)))
    return tuple(
        replace(a, labels=classes if a.name in CLASSES else _merged(a, b))
        for a, b in zip(left.axes, right.axes, strict=True)
    )


def _merged(left: Axis, right: Axis) -> tuple[Label, ...]:
    if left.kind == "categories":
        return joined(left.labels, right.labels)
    if left.labels != right.labels:
        raise InputError(
            f"Cannot add tallies whose {left.name!r} bins differ: {left.labels} and "
            f"{right.labels}. Count both with the same edges."
        )
    return left.labels


def _recoded(tally: Tally, axes: tuple[Axis, ...]) -> NDArray[np.intp]:
    rows = [
        codes if old.kind == "edges" else positions(old.labels, new.labels)[codes]
        for old, new, codes in zip(tally.axes, axes, tally.cells, strict=True)
    ]
    return np.array(rows)


def check_rows(rows: NDArray[Any]) -> None:
    """Refuse more rows in total than can be counted exactly."""
    total = float(np.sum(rows, dtype=np.float64))
    if total > MOST_ROWS:
        raise InputError(
            f"There are {total:,.0f} rows; no more than {MOST_ROWS:,} can be counted exactly."
        )


def axes_of(
    columns: Mapping[str, Column], edges: Mapping[str, Sequence[float]] | None = None
) -> tuple[Axis, ...]:
    """The axes of coded columns, of which some may be bins with `edges`."""
    edges_by_name = edges or {}
    return tuple(
        Axis(name, tuple(edges_by_name[name]), "edges")
        if name in edges_by_name
        else Axis(name, column.labels)
        for name, column in columns.items()
    )


def gathered(
    axes: tuple[Axis, ...],
    cells: NDArray[np.intp],
    sums: Mapping[str, NDArray[Any]],
    notes: tuple[str, ...],
    scale: tuple[float, ...] = (),
) -> Tally:
    """Make a tally from cells, adding up repeated ones."""
    sizes = tuple(axis.size for axis in axes)
    flat = np.ravel_multi_index(tuple(cells), sizes)
    if "rows" in sums:  # sums of a watch need not count rows
        check_rows(sums["rows"])
    where, totals = _totals(flat, sums)
    places = np.array(np.unravel_index(where, sizes), dtype=np.intp)
    return Tally(axes, places, totals, notes, scale)


def _totals(
    flat: NDArray[np.intp], sums: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.intp], dict[str, NDArray[Any]]]:
    """Distinct indices in order, and for each the sums of its values along the last axis."""
    if (np.diff(flat) > 0).all():
        return flat, dict(sums)
    space = int(flat.max()) + 1
    if space <= len(flat) and all(values.ndim == 1 for values in sums.values()):
        where = np.flatnonzero(np.bincount(flat))  # faster than sorting, where most cells occur
        return where, {
            name: np.bincount(flat, values, space)[where].astype(values.dtype)
            for name, values in sums.items()
        }
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], {
        name: np.add.reduceat(values[..., order], starts, axis=-1) for name, values in sums.items()
    }
