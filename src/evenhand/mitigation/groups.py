"""How an estimator reads the group of each row from columns of X, and cells of class and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.bins import binned, quantile_edges
from evenhand._columns.encoding import encode, numbers
from evenhand._dataframes import column_of, is_frame
from evenhand._errors import InputError
from evenhand._groups import Groups, groups, show

Codes = NDArray[np.intp]

Bins = int | Mapping[Any, int] | None


@dataclass(frozen=True)
class Sensitive:
    """The groups seen at fit, and how to find a row's group again: codes into `labels`.

    `columns` are names, or positions where X has no names; `cuts` holds the bin edges of the
    columns that were cut. The outermost bins are open to values beyond those seen at fit.

    >>> people = np.array([[31, 1], [64, 0], [45, 1]])
    >>> by_age = Sensitive.learn(people, group=0, bins=2)
    >>> [str(label) for label in by_age.labels], by_age.codes(np.array([[99, 0], [20, 0]]))
    (['[31, 45]', '(45, 64]'], array([1, 0]))
    """

    columns: tuple[Any, ...]
    labels: tuple[Label, ...]
    cuts: Mapping[Any, NDArray[np.float64]]

    @classmethod
    def learn(cls, X: Any, group: Any, bins: Bins = None) -> Sensitive:
        """Learn the groups of the fitting rows; `bins` cuts numeric columns at quantiles."""
        return cls.read(X, group, bins)[0]

    @classmethod
    def read(cls, X: Any, group: Any, bins: Bins = None) -> tuple[Sensitive, Codes]:
        """Learn the groups of the fitting rows, and give each row's."""
        columns = _resolved(X, group)
        values = {name: column_of(X, name) for name in columns}
        cuts = {name: _edges(values[name], name, count) for name, count in _cut(values, bins)}
        seen = _grouped(values, cuts)
        if len(seen.labels) < 2:
            only = show(seen.labels[0]) if seen.labels else "none"
            raise InputError(
                f"The group columns {list(columns)} hold one group only ({only}); "
                "there is nothing to make equal with fewer than two."
            )
        return cls(columns, seen.labels, cuts), seen.codes.astype(np.intp)

    def codes(self, X: Any) -> Codes:
        """The place of each row's group in `labels`; −1 for a group not seen at fit."""
        there = self.groups(X)
        place = {label: code for code, label in enumerate(self.labels)}
        return np.array([place.get(label, -1) for label in there.labels], np.intp)[there.codes]

    def unseen(self, X: Any) -> tuple[Label, ...]:
        """The groups in X that were not there at fit."""
        return tuple(label for label in self.groups(X).labels if label not in self.labels)

    def features(self, X: Any, sees_group: bool) -> Any:
        """What the base model reads: X, without the sensitive columns unless it sees them."""
        if sees_group:
            return X
        if not is_frame(X):
            width = X.shape[1]
            return X[:, np.setdiff1d(np.arange(width), np.array(self.columns, np.intp))]
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        return frame.drop([name for name in self.columns if name in frame.columns]).to_native()

    def groups(self, X: Any) -> Groups:
        """The groups of X as they are, seen at fit or not."""
        return _grouped({name: column_of(X, name) for name in self.columns}, self.cuts)


def cell_masses(
    y: Codes, group: Codes, classes: int, groups: int, weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weight of every (class, group); without weights, its number of rows.

    >>> cell_masses(np.array([1, 1, 0]), np.array([0, 0, 1]), 2, 2)
    array([[0., 1.],
           [2., 0.]])
    """
    cell = y * groups + group
    mass = np.bincount(cell, weight, classes * groups).reshape(classes, groups)
    return np.asarray(mass, dtype=np.float64)


def empty_cells(
    mass: NDArray[np.float64], classes: Iterable[Any], groups: Iterable[Any], criterion: str = ""
) -> tuple[str, ...]:
    """A sentence for each (class, group) without rows: nothing can be required there.

    Statistical parity requires nothing of classes, and has none of these.

    >>> empty_cells(np.array([[3.0, 0.0]]), ["yes"], ["F", "M"])
    ('Group M has no rows of class yes, so nothing is required of it there.',)
    """
    if criterion == "statistical_parity":
        return ()
    names = [show(label) for label in classes], [show(label) for label in groups]
    return tuple(
        f"Group {names[1][a]} has no rows of class {names[0][y]}, so nothing is required of it "
        "there."
        for y, a in np.argwhere(mass == 0)
    )


def _resolved(X: Any, group: Any) -> tuple[Any, ...]:
    """The sensitive columns as names of a dataframe, or as positions from 0 of an array."""
    wanted = list(group) if isinstance(group, Sequence) and not isinstance(group, str) else [group]
    if group is None or not wanted:
        raise InputError("Which columns of X name the group? Pass group=, such as group='sex'.")
    if is_frame(X):
        import narwhals as nw

        names = list(nw.from_native(X, eager_only=True).columns)
        return tuple(
            names[name] if isinstance(name, int) and name not in names else name for name in wanted
        )
    width = X.shape[1]
    odd = [
        name for name in wanted if not isinstance(name, int | np.integer) or not _fits(name, width)
    ]
    if odd:
        raise InputError(
            f"X is an array of {width} columns without names, and group names {odd[0]!r}. "
            "Give the position of the column, or pass a dataframe."
        )
    return tuple(int(name) % width for name in wanted)


def _fits(position: Any, width: int) -> bool:
    return -width <= int(position) < width


def _cut(values: Mapping[Any, Any], bins: Bins) -> list[tuple[Any, int]]:
    """The columns to cut, and into how many bins; a single number is for all numeric columns."""
    if isinstance(bins, Mapping):
        return [(name, bins[name]) for name in values if name in bins]
    return [(name, bins) for name in values if bins is not None and _is_numeric(values[name])]


def _is_numeric(values: Any) -> bool:
    """Whether a column holds quantities; in a column of objects every value must be one."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind == "O":
        return all(isinstance(label, Real) for label in encode(values).labels if label is not None)
    if isinstance(values, np.ndarray):
        return kind in "iuf"
    import narwhals as nw

    return bool(nw.from_native(values, series_only=True).dtype.is_numeric())


def _edges(values: Any, name: Any, bins: int) -> NDArray[np.float64]:
    """The edges of quantile bins, of which there must be two at least."""
    if bins < 2:
        raise InputError(f"bins={bins} makes one group of column {name!r}; use at least 2.")
    return quantile_edges(numbers(values, str(name)), bins)


def _grouped(values: Mapping[Any, Any], cuts: Mapping[Any, NDArray[np.float64]]) -> Groups:
    columns = {
        str(name): binned(numbers(column, str(name)), cuts[name])
        if name in cuts
        else encode(column, str(name))
        for name, column in values.items()
    }
    absent = {name: column.missing for name, column in columns.items() if column.missing}
    if absent:
        name, count = next(iter(absent.items()))
        raise InputError(
            f"{count} of {len(columns[name])} rows have no value of {name!r}. "
            "Drop those rows, or fill the column with a value that makes them a group."
        )
    return groups(columns)
