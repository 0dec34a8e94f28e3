"""Groups known only in part: as probabilities, or for some of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Label
from evenhand._columns.encoding import check_order, encode, finite
from evenhand._data.dataframes import column_of, is_frame, names_in
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._signatures import suggests_names
from evenhand._words import did_you_mean, plural

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

Assuming = Literal["weighted", "instrumental", "combined"]

UNKNOWN = -1
ROUNDING = 1e-3  # tolerance of the sum of a row's probabilities, which may be printed ones
MOST_CELLS = 2000
ROWS_OF_A_CELL = 50  # on average, where rows of similar probabilities are pooled
FEWEST_CELLS = 50  # up to this many different probabilities are not pooled
GRIDS = (64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1)


class Cells(NamedTuple):
    """Cells of rows with the same information about their groups.

    `codes` says which cell each row is in. Of each cell, `mixing` (cells, groups) has the
    probabilities of the groups, the mean of its rows; NaN where there are none. `known` is the
    place of the group that all its rows have, or −1.
    """

    codes: Codes
    mixing: Floats
    known: Codes
    groups: tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class Probable:
    """Probable or partly known groups of the rows, made by `probable`.

    Attributes
    ----------
    probabilities : ndarray of shape (rows, groups), names of columns, or None
        The probability of each group.
    groups : tuple of labels
        The groups.
    known : array-like, name of a column, or None
        The groups of the rows where they are known.
    assuming : {"weighted", "instrumental", "combined"} or None
        The assumption that answers rest on.

    See Also
    --------
    probable : Say how probable each group is for each row.

    """

    probabilities: Any
    groups: tuple[Label, ...]
    known: Any = None
    assuming: Assuming | None = None

    def __repr__(self) -> str:
        what = "probable" if self.probabilities is not None else "partly known"
        return f"<Probable: {what} groups {list(self.groups)}>"

    @property
    def names(self) -> list[str]:
        """Names of the columns that are given by name."""
        named = [*self.probabilities] if isinstance(self.probabilities, tuple) else []
        return [*named, *([self.known] if isinstance(self.known, str) else [])]

    def read(self, table: Any) -> Probable:
        """The same with columns of a table in place of names."""
        matrix, known = self.probabilities, self.known
        named = isinstance(matrix, tuple)
        if (named or isinstance(known, str)) and table is None:
            raise InputTypeError(f"{self!r} names columns: pass the table that has them as data=.")
        if named:
            matrix = {name: column_of(table, name) for name in matrix}
        known = column_of(table, known) if isinstance(known, str) else known
        return probable(matrix, self.groups, known=known, assuming=self.assuming)

    def cells(self, limit: int = MOST_CELLS) -> Cells:
        """Cells of rows with the same probabilities; with similar ones, if there are too many."""
        known = None if self.known is None else _known_codes(self.known, self.groups)
        matrix = self.probabilities
        rows = len(matrix) if known is None else len(known)
        if matrix is None:
            codes, mixing = np.zeros(rows, np.intp), np.full((1, len(self.groups)), np.nan)
        else:
            codes, mixing = _alike(matrix, limit)
        if known is None:
            return Cells(codes, mixing, np.full(len(mixing), UNKNOWN), self.groups)
        width = len(self.groups) + 1
        pairs, codes = np.unique(codes * width + known - UNKNOWN, return_inverse=True)
        return Cells(codes, mixing[pairs // width], pairs % width + UNKNOWN, self.groups)

    def by_row(self) -> Floats:
        """The probabilities of every row (rows, groups): 1 for a known group."""
        if self.probabilities is None:
            raise InputError(
                "Rules go by the probabilities of groups, and only known groups were given: pass "
                "probabilities."
            )
        if self.known is None:
            return np.asarray(self.probabilities)
        known = _known_codes(self.known, self.groups)
        one_hot = np.eye(len(self.groups))[np.maximum(known, 0)]
        return np.where((known >= 0)[:, None], one_hot, self.probabilities)


@suggests_names
def probable(
    probabilities: Any = None,
    groups: Sequence[Label] | None = None,
    *,
    known: Any = None,
    assuming: Assuming | None = None,
) -> Probable:
    """Say how probable each group is for each row, where groups are not recorded.

    Pass the result as `sensitive_features` to `audit`, `interval`, `evaluate`, `assert_even` or
    `bounds`.

    Parameters
    ----------
    probabilities : array-like of shape (rows, groups), dataframe or names of columns, optional
        The probability of each group, such as a proxy's. It must be right on average: of all
        rows with the same probabilities, that share is in each group. Names are those of columns
        of `data`. Leave it out where all that is known is the column `known`.
    groups : sequence of labels, optional
        The groups, in the order of the columns; by default the names of the columns, or the
        values of `known`.
    known : array-like or name of a column, optional
        The group of each row where it is known, and None or NaN elsewhere.
    assuming : {"weighted", "instrumental", "combined"}, optional
        The answer that decides, where you can vouch for its assumption: that among people with the
        same probabilities outcomes do not depend on the group; that among people of the same group
        they do not depend on the probabilities; or that the people in `known` are a random sample.
        By default the bounds decide, which assume none of these.

    Returns
    -------
    Probable
        Probabilities that were checked.

    Raises
    ------
    InputError
        If probabilities are negative, missing or do not add up to 1, or a known group is none of
        the groups.

    See Also
    --------
    bounds : What can be said of a criterion then.
    audit : What can be said of all.

    Examples
    --------
    >>> probable([[0.9, 0.1], [0.3, 0.7]], groups=["a", "b"])
    <Probable: probable groups ['a', 'b']>
    >>> probable(known=["a", None, "b"])
    <Probable: partly known groups ['a', 'b']>

    """
    if probabilities is None and known is None:
        raise InputTypeError("Pass probabilities of the groups, or the column known, or both.")
    check_kinds(assuming=assuming)
    answers = get_args(Assuming)
    if assuming is not None and assuming not in answers:
        raise InputError(
            f"assuming must be one of {[*answers]}, not {assuming!r}."
            f"{did_you_mean(assuming, answers)}"
        )
    if assuming == "combined" and known is None:
        raise InputError('assuming="combined" needs people of known group: pass known=.')
    if assuming in ("weighted", "instrumental") and probabilities is None:
        raise InputError(f"assuming={assuming!r} needs the probabilities of the groups.")
    labels = None if groups is None else _labels(groups)
    if probabilities is None:
        if labels is None:
            if isinstance(known, str):
                raise InputError("Name the groups, as groups=, where known names a column.")
            labels = tuple(label for label in encode(known, "known").labels if label is not None)
            if not labels:
                raise InputError(
                    "Every group in known is missing, and there are no probabilities: pass these, "
                    "or a column in which some groups are recorded."
                )
        matrix: Any = None
    elif _is_names(probabilities):
        matrix = tuple(probabilities)
        labels = matrix if labels is None else labels
        _check_number(len(matrix), labels)
    else:
        names, columns = _columns(probabilities, labels)
        labels = names if labels is None else labels
        _check_number(len(columns), labels)
        matrix = _checked(columns, labels)
    if len(labels) < 2:
        raise InputError(f"There must be at least two groups, not {list(labels)}.")
    if known is not None and not isinstance(known, str):
        codes = _known_codes(known, labels)
        if matrix is not None and not isinstance(matrix, tuple):
            check_order(probabilities=probabilities, known=known)
            if len(codes) != len(matrix):
                raise InputError(
                    f"probabilities have {plural(len(matrix), 'row')} and known {len(codes):,}."
                )
        if matrix is None and not (codes >= 0).any():
            raise InputError("No group is known, and there are no probabilities.")
    return Probable(matrix, labels, known, assuming)


def _labels(groups: Sequence[Label]) -> tuple[Label, ...]:
    if isinstance(groups, str) or not isinstance(groups, Sequence | np.ndarray):
        raise InputTypeError(f"groups must be a sequence of labels, not {groups!r}.")
    labels = encode(groups, "groups")
    if len(labels.labels) < len(groups) or labels.missing:
        raise InputError(f"Name each group once, and leave none missing; groups are {groups!r}.")
    return tuple(labels.labels[code] for code in labels.codes.tolist())


def _is_names(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(name, str) for name in value)
    )


def _columns(values: Any, labels: Any) -> tuple[tuple[Label, ...], list[Any]]:
    """The columns of a matrix, mapping or dataframe, with their names."""
    if isinstance(values, Mapping):
        return tuple(values), list(values.values())
    if is_frame(values):
        names = names_in(values)
        return tuple(names), [column_of(values, name) for name in names]
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 2:
        raise InputError(
            "probabilities must have a column for each group: a matrix, a dataframe or names of "
            f"columns; their shape is {array.shape}."
        )
    if labels is None:
        raise InputError("Name the groups in the order of the columns, as groups=.")
    return (), list(array.T)


def _check_number(columns: int, labels: tuple[Label, ...]) -> None:
    if columns != len(labels):
        raise InputError(
            f"There are {plural(columns, 'column')} of probabilities for "
            f"{plural(len(labels), 'group')}: {list(labels)}."
        )


def _checked(columns: list[Any], labels: tuple[Label, ...]) -> Floats:
    """Probabilities that add up to 1 in every row."""
    parts = [
        finite(column, f"The probability of {label!r}")
        for label, column in zip(labels, columns, strict=True)
    ]
    if len({len(part) for part in parts}) > 1:
        raise InputError(f"Columns of probabilities differ in length: {[*map(len, parts)]}.")
    matrix = np.stack(parts, axis=1)
    if not len(matrix):
        raise InputError("There are no rows of probabilities.")
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        raise InputError(
            f"The probability of {labels[column]!r} is {matrix[row, column]:g} in row {row}; "
            "probabilities are at least 0."
        )
    total = matrix.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1) > ROUNDING)
    if len(wrong):
        more = f", nor do those of {plural(len(wrong) - 1, 'other row')}" if len(wrong) > 1 else ""
        raise InputError(
            f"Probabilities of row {wrong[0]} add up to {total[wrong[0]]:g}, not 1{more}. Divide "
            "each row by its sum if they are shares, or add a column for people in none of these "
            "groups."
        )
    return np.asarray(matrix / total[:, None])


def _known_codes(known: Any, labels: tuple[Label, ...]) -> Codes:
    """The position of every row's group, −1 where it is not known."""
    column = encode(known, "known")
    strange = [label for label in column.labels if label is not None and label not in labels]
    if strange:
        raise InputError(
            f"known has the group {strange[0]!r}, which is none of {list(labels)}."
            f"{did_you_mean(strange[0], labels)}"
        )
    places = [UNKNOWN if label is None else labels.index(label) for label in column.labels]
    return np.array(places, np.intp)[column.codes]


def _alike(matrix: Floats, limit: int) -> tuple[Codes, Floats]:
    """Cells of rows with equal probabilities; with similar ones, if there would be too many."""
    codes, first = _distinct(matrix)
    rows = len(matrix)
    limit = min(limit, max(rows // ROWS_OF_A_CELL, FEWEST_CELLS))
    if len(first) <= limit:
        return codes, matrix[first]
    for parts in GRIDS:
        codes, first = _distinct(np.rint(matrix * parts))
        if len(first) <= limit:
            break
    sizes = np.bincount(codes)
    columns = [np.bincount(codes, column) / sizes for column in matrix.T]
    return codes, np.stack(columns, axis=1)


def _distinct(matrix: Floats) -> tuple[Codes, Codes]:
    """Codes of equal rows, and the first row of each code."""
    mixed = np.zeros(len(matrix))
    for at, column in enumerate(matrix.T):  # column by column, so that equal rows get equal sums
        mixed += column * np.sqrt(at + 2.0)
    _, first, codes = np.unique(mixed, return_index=True, return_inverse=True)
    if not np.array_equal(matrix[first[codes]], matrix):  # two different rows with one sum
        _, first, codes = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    return codes.ravel().astype(np.intp), first
