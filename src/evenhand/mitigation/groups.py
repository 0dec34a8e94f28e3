"""How an estimator reads the group of each row from columns of X, and cells of class and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.bins import binned, quantile_edges
from evenhand._columns.encoding import encode, numbers
from evenhand._data.dataframes import column_of, is_frame, names_in
from evenhand._data.groups import Groups, groups, show
from evenhand._data.probable import Probable, probable
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import brief

Codes = NDArray[np.intp]

Bins = int | Mapping[Any, int] | None


@dataclass(frozen=True)
class Sensitive:
    """The groups seen at fit, and how to find a row's group again: codes into `labels`.

    `columns` are names, or positions where X has no names; `cuts` holds the bin edges of the
    columns that were cut. The outermost bins are open to values beyond those seen at fit. `hidden`
    are columns that name the person, for lots alone. Where groups are `probable`, the columns have
    their probabilities.

    >>> people = np.array([[31, 1], [64, 0], [45, 1]])
    >>> by_age, _ = Sensitive.read(people, group=0, bins=2)
    >>> [str(label) for label in by_age.labels], by_age.codes(np.array([[99, 0], [20, 0]]))
    (['[31, 45]', '(45, 64]'], array([1, 0]))
    """

    columns: tuple[Any, ...]
    labels: tuple[Label, ...]
    cuts: Mapping[Any, NDArray[np.float64]]
    hidden: tuple[Any, ...] = ()
    probable: Probable | None = None

    @classmethod
    def read(
        cls, X: Any, group: Any, bins: Bins = None, row_id: Any = None
    ) -> tuple[Sensitive, Codes]:
        """Learn the groups of the fitting rows, and give each row's; `bins` cuts at quantiles."""
        if group is None or (isinstance(group, Sequence) and not len(group)):
            raise InputError("Which columns of X name the group? Pass group=, such as group='sex'.")
        if isinstance(group, Probable):
            return cls._of_probable(X, group, _id_columns(X, row_id))
        if hasattr(group, "shape"):
            name = getattr(group, "name", None) or "sex"
            raise InputTypeError(
                f"group= names columns of X, and is {brief(group)}. Keep the column in X and pass "
                f"its name, such as group={name!r}."
            )
        columns = _resolved(X, group)
        hidden = _id_columns(X, row_id)
        values = {name: column_of(X, name) for name in columns}
        cuts = {name: _edges(values[name], name, count) for name, count in _cut(values, bins)}
        groups = _grouped(values, cuts)
        if len(groups.labels) < 2:
            label = show(groups.labels[0]) if groups.labels else "none"
            raise InputError(
                f"The group columns {list(columns)} hold one group only ({label}); "
                "there is nothing to make equal with fewer than two."
            )
        return cls(columns, groups.labels, cuts, hidden), groups.codes.astype(np.intp)

    @classmethod
    def _of_probable(
        cls, X: Any, probable: Probable, hidden: tuple[Any, ...]
    ) -> tuple[Sensitive, Codes]:
        """Groups of which X has the probabilities; codes of rows are out of range."""
        if not isinstance(probable.probabilities, tuple) or probable.known is not None:
            content = (
                "a matrix" if probable.known is None else "known groups, which a rule never sees"
            )
            raise InputError(
                f"group=evenhand.probable(...) was given {content}. Name the columns of X that "
                "have the probabilities, and nothing else: "
                "probable(['p_F', 'p_M'], groups=['F', 'M'])."
            )
        sensitive = cls(_resolved(X, probable.probabilities), probable.groups, {}, hidden, probable)
        return sensitive, np.full(len(sensitive.chances(X)), len(sensitive.labels))

    def chances(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of groups in X (rows, groups)."""
        assert self.probable is not None
        columns = np.column_stack([numbers(column_of(X, name), str(name)) for name in self.columns])
        return probable(columns, self.labels, assuming=self.probable.assuming).by_row()

    def codes(self, X: Any) -> Codes:
        """The place of each row's group in `labels`; −1 for a group not seen at fit."""
        if self.probable is not None:
            return np.zeros(X.shape[0], np.intp)
        groups = self.groups(X)
        place = {label: code for code, label in enumerate(self.labels)}
        return np.array([place.get(label, -1) for label in groups.labels], np.intp)[groups.codes]

    def unseen(self, X: Any) -> tuple[Label, ...]:
        """The groups in X that were absent at fit."""
        return tuple(label for label in self.groups(X).labels if label not in self.labels)

    def features(self, X: Any, sees_group: bool) -> Any:
        """The base model's features: X, without the sensitive columns unless it sees them."""
        unseen = self.hidden if sees_group else (*self.columns, *self.hidden)
        if not unseen:
            return X
        if not is_frame(X):
            width = X.shape[1]
            return X[:, np.setdiff1d(np.arange(width), np.array(unseen, np.intp))]
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        return frame.drop([name for name in unseen if name in frame.columns]).to_native()

    def text(self, X: Any, sees_group: bool) -> list[Any]:
        """The columns that the base model reads and that hold text, by name or position."""
        unseen = self.hidden if sees_group else (*self.columns, *self.hidden)
        every = names_in(X) if is_frame(X) else range(X.shape[1])
        return [name for name in every if name not in unseen and _is_text(column_of(X, name))]

    def ids(self, X: Any) -> Any:
        """The ids of persons: the hidden columns, or else the index."""
        if not self.hidden:
            return _index(X)
        for name in self.hidden:
            column_of(X, name)  # refuses one that is not there
        if not is_frame(X):
            return X[:, list(self.hidden)]
        import narwhals as nw

        return nw.from_native(X, eager_only=True).select(list(self.hidden)).to_native()

    def groups(self, X: Any) -> Groups:
        """The groups of X, seen at fit or not."""
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
    """A note for each (class, group) without rows: nothing can be required there.

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


def _resolved(X: Any, group: Any, parameter: str = "group") -> tuple[Any, ...]:
    """Columns as names of a dataframe, or as positions from 0 of an array."""
    names_or_positions = (
        list(group) if isinstance(group, Sequence) and not isinstance(group, str) else [group]
    )
    if is_frame(X):
        import narwhals as nw

        names = list(nw.from_native(X, eager_only=True).columns)
        return tuple(
            names[name] if isinstance(name, int) and name not in names else name
            for name in names_or_positions
        )
    width = X.shape[1]
    unknown = [
        name
        for name in names_or_positions
        if not isinstance(name, int | np.integer) or not _fits(name, width)
    ]
    if unknown:
        raise InputError(
            f"X is an array of {width} columns without names, and {parameter} names "
            f"{unknown[0]!r}. Give the position of the column, or pass a dataframe."
        )
    return tuple(int(name) % width for name in names_or_positions)


def _id_columns(X: Any, row_id: Any) -> tuple[Any, ...]:
    """The columns that name the person; none if the index or the row's own values do.

    A column of the name "index", which pandas makes of an index, holds the same ids.
    """
    if row_id is None:
        return ()
    if (
        isinstance(row_id, str)
        and row_id == "index"
        and not (is_frame(X) and "index" in names_in(X))
    ):
        _index(X, fitting=True)
        return ()
    columns = _resolved(X, row_id, "row_id")
    for name in columns:
        column_of(X, name)  # refuses one that is not there
    return columns


def _index(X: Any, fitting: bool = False) -> Any:
    """The index of a dataframe, unless it is only the position of rows."""
    index = getattr(X, "index", None)
    if index is None or not hasattr(index, "to_flat_index"):
        raise InputError(
            f"row_id='index' is for dataframes of pandas; X is a {type(X).__name__}, which has no "
            "index. Pass the column of the ids as row_id=, or None for the row's own values."
        )
    counts = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    if counts and not fitting:
        raise InputError(
            f"The index of X counts the rows of this call, from 0 to {len(index) - 1}: in another "
            "batch it would name other people. Set it to their ids (X.set_index), or pass the "
            "column of the ids as row_id=."
        )
    return index


def _fits(position: Any, width: int) -> bool:
    return -width <= int(position) < width


def _cut(values: Mapping[Any, Any], bins: Bins) -> list[tuple[Any, int]]:
    """The columns to cut, and into how many bins; a single number is for all numeric columns."""
    if isinstance(bins, Mapping):
        return [(name, bins[name]) for name in values if name in bins]
    return [(name, bins) for name in values if bins is not None and _is_numeric(values[name])]


def _is_text(values: Any) -> bool:
    """Whether a column holds text other than numbers."""
    try:
        np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return True
    return False


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
    """The edges of quantile bins, at least two."""
    if not isinstance(bins, Integral):
        raise InputTypeError(
            f"bins of column {name!r} is {bins!r}: into how many quantile bins it is cut, such as "
            "4. To cut at edges of your own, make a column of the bins first."
        )
    if bins < 2:
        raise InputError(f"bins={bins!r} makes one group of column {name!r}; use at least 2.")
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
