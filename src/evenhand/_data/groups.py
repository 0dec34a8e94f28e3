"""The groups of rows: columns, intersections, quantile bins, rare and missing values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import is_not
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.bins import MOST_CLASSES, Bin, cut, some_fraction
from evenhand._columns.codes import (
    Codes,
    Column,
    Label,
    canonical,
    combine,
    recode,
    smallest_unsigned,
    union,
)
from evenhand._columns.encoding import check_column, check_order, encode
from evenhand._data.probable import Probable
from evenhand._errors import InputError, InputTypeError, refusing
from evenhand._kinds import check_kinds
from evenhand._signatures import suggests_names
from evenhand._words import did_you_mean, plural, visible

Missing = Literal["error", "group", "unknown"]
Rare = Literal["keep", "merge", "drop"]
Bins = Mapping[str, int | Sequence[float]]

CLUSTER = "cluster"  # the axis of clusters; that of a second clustering is "cluster 2"
MERGED = "(rare groups)"
MOST_SHOWN = 6  # groups in a repr
NO_POLICY = (None, "error", 0, "keep")  # the defaults, which need no check
RARE = ("keep", "merge", "drop")


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every row, as `groups` makes it.

    Attributes
    ----------
    codes : ndarray of unsigned integers
        For each row the place of its group in `labels`; a row past the last label is left out.
    labels : tuple of labels
        The groups, sorted. The label of an intersection is a tuple, one part for each name.
    names : tuple of str
        The sensitive columns.
    notes : tuple of str
        How rare and missing values were treated, in words.

    See Also
    --------
    groups : Read the group of each row from sensitive columns.

    """

    codes: Codes
    labels: tuple[Label, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        pairs = zip(self.labels, self.sizes.tolist(), strict=True)
        sizes = [f"{show(label)} ({size:,})" for label, size in pairs]
        omitted = f" and {len(sizes) - MOST_SHOWN} more" if len(sizes) > MOST_SHOWN else ""
        names = " × ".join(self.names)
        listed = f"{', '.join(sizes[:MOST_SHOWN])}{omitted}"
        return visible(f"<Groups by {names}, of {plural(len(self), 'row')}: {listed}>")

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Rows in each group."""
        return np.bincount(self.codes, minlength=len(self.labels))[: len(self.labels)]

    def settle_rare(self, min_count: int, rare: Rare) -> Groups:
        """Merge or drop the groups of fewer than `min_count` rows, and note it.

        Parameters
        ----------
        min_count : int
            The least number of rows.
        rare : {"keep", "merge", "drop"}
            How a group with fewer is treated.

        Returns
        -------
        Groups
            The groups that are left.

        """
        if min_count <= 1 and rare in RARE:  # every group has a row, so none is rare
            return self
        regrouping = settle_rare(self.labels, self.sizes, min_count, rare)
        target = np.append(regrouping.target, len(regrouping.labels))
        codes = recode(target.astype(smallest_unsigned(len(regrouping.labels) + 1)), self.codes)
        return Groups(codes, regrouping.labels, self.names, (*self.notes, *regrouping.notes))


class Regrouping(NamedTuple):
    """The new position of each old group (past the last: dropped), the new labels, and notes."""

    target: NDArray[np.intp]
    labels: tuple[Label, ...]
    notes: tuple[str, ...]


@suggests_names
def groups(
    sensitive_features: Any,
    *,
    bins: Bins | None = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
) -> Groups:
    """Read the group of each row from one or many sensitive columns.

    Parameters
    ----------
    sensitive_features : array-like, mapping of columns, dataframe or Groups
        One or many columns, of any kind and library. Several are intersected, and only
        combinations that occur become groups.
    bins : mapping of str to int or sequence of float, optional
        For a continuous column, by name: into how many quantile bins it is cut, or at which edges.
    missing : {"error", "group"}, default "error"
        Whether to refuse missing values, or to make them a group of their own.
    min_count : int, default 0
        Groups with fewer rows than this are rare.
    rare : {"keep", "merge", "drop"}, default "keep"
        How rare groups are treated: kept and named in the notes, merged into one, or left out.

    Returns
    -------
    Groups
        Pass it as `sensitive_features` to any function.

    Raises
    ------
    InputError
        If values are missing, an edge is wrong, or no rows would be left.

    Examples
    --------
    >>> people = {"sex": ["F", "M", "F"], "age": [31, 64, 45]}
    >>> [show(label) for label in groups(people, bins={"age": [18, 40, 90]}).labels]
    ['F × [18, 40]', 'F × (40, 90]', 'M × (40, 90]']

    """
    policy = {"bins": bins, "missing": missing, "min_count": min_count, "rare": rare}
    if any(map(is_not, policy.values(), NO_POLICY)):
        check_kinds(**policy)
    if isinstance(sensitive_features, Groups):
        if bins:
            raise InputError(
                "bins= cuts columns, and these groups are made already: cut them there."
            )
        return sensitive_features.settle_rare(min_count, rare)
    columns = columns_of(sensitive_features)
    check_order(sensitive_features=columns)
    unknown = set(bins or ()) - set(columns)
    if unknown:
        name = sorted(map(str, unknown))[0]
        way_out = did_you_mean(name, columns)
        if "group" in columns or "column 0" in columns:  # names of ours, for columns without one
            way_out += (
                " A column is named in a dataframe or a mapping: "
                f"sensitive_features={{{name!r}: ...}}."
            )
        raise InputError(
            f"bins names {sorted(map(str, unknown))}, but the columns are {list(columns)}.{way_out}"
        )
    coded = {}
    for name, values in columns.items():
        edges = (bins or {}).get(name)
        coded[name] = encode(values, name) if edges is None else cut(values, edges, name)
        _check_simple(name, coded[name].labels)
        check_not_amounts(name, coded[name].labels)
    notes = tuple(
        note
        for name, column in coded.items()
        for note in missing_note(name, column.missing, len(column), missing)
    )
    crossed = _intersection(coded)
    names = tuple(map(str, coded))
    return Groups(crossed.codes, crossed.labels, names, notes).settle_rare(min_count, rare)


def strata_of(strata: Any) -> Column:
    """Read the stratum of each row, from one or many columns."""
    if isinstance(strata, Column):
        return strata
    if not isinstance(strata, Groups):
        columns = columns_of(strata, "strata")
        check_order(strata=columns)
        strata = groups(columns)
    return Column(strata.codes, strata.labels)


def clusters(cluster: Any) -> dict[str, Column]:
    """Clusters of the rows, by name of the axis; several columns are crossed clusterings.

    >>> list(clusters({"school": ["a", "b"], "rater": [1, 1]}))
    ['cluster', 'cluster 2']
    """
    if cluster is None:
        return {}
    coded = {}
    for at, (name, values) in enumerate(columns_of(cluster, "cluster").items()):
        column = encode(values, name)
        if column.missing:
            raise InputError(
                f"{column.missing} of {len(column)} rows have no cluster. Drop those rows, or give "
                "each a cluster of its own."
            )
        coded[cluster_axis(at)] = column
    return coded


def cluster_axis(at: int) -> str:
    """Name of the axis of the clusters of the column at this position."""
    return CLUSTER if at == 0 else f"{CLUSTER} {at + 1}"


def columns_of(features: Any, role: str = "sensitive_features") -> dict[str, Any]:
    """Columns by name from any input; a single unnamed column is called 'group'.

    For lists it is called 'query'.
    """
    unnamed = "query" if role == "query" else "group"
    if features is None:
        raise InputError(f"Pass {role}, the columns that name the groups.")
    check_column(features, role)
    if isinstance(features, Probable):
        raise InputTypeError(
            f"This function needs the group of every row, and got {features!r}. Pass the rows "
            "whose group is known; or ask evenhand.bounds, evaluate, interval, audit, assert_even "
            "or frontier, which read probabilities."
        )
    if isinstance(features, Mapping):
        return dict(features)
    if isinstance(features, Column):
        return {unnamed: features}
    if isinstance(features, list | tuple) and features and all(map(_is_column, features)):
        names = [
            getattr(column, "name", None) or f"column {at}" for at, column in enumerate(features)
        ]
        if len(set(names)) < len(names):
            raise InputError(f"{role} has two columns of one name: {list(map(str, names))}.")
        return {str(name): column for name, column in zip(names, features, strict=True)}
    if isinstance(features, list) and features and isinstance(features[0], list):
        features = np.array(features, dtype=object)
    if isinstance(features, np.ndarray) and features.ndim == 2:
        return {f"column {j}": features[:, j] for j in range(features.shape[1])}
    if isinstance(features, np.ndarray | list | tuple | range):
        return {unnamed: features}
    import narwhals as nw

    with refusing("The dataframe's columns cannot be read"):
        native = nw.from_native(features, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        raise InputTypeError(
            f"{role} is a lazy query; pass it as data= and name its columns, or collect it first."
        )
    if isinstance(native, nw.DataFrame):
        return {name: native[:, at].to_native() for at, name in enumerate(native.columns)}
    return {str(getattr(features, "name", None) or unnamed): features}


def _is_column(values: Any) -> bool:
    """Whether it is an array or series, so that a list of them is several columns."""
    return getattr(values, "ndim", None) == 1 or type(values).__name__ in ("Series", "ChunkedArray")


def settle_rare(
    labels: Sequence[Label], sizes: NDArray[Any], min_count: int, rare: Rare
) -> Regrouping:
    """Merge, drop or keep groups with fewer than `min_count` rows."""
    if rare not in RARE:
        raise InputError(f"rare must be 'keep', 'merge' or 'drop', not {rare!r}.")
    small = np.flatnonzero(np.asarray(sizes) < min_count)
    everyone = np.arange(len(labels))
    if not len(small):
        return Regrouping(everyone, tuple(labels), ())
    listed = ", ".join(f"{show(labels[i])} ({sizes[i]:g})" for i in small.tolist())
    has, was = ("has", "was") if len(small) == 1 else ("have", "were")
    finding = f"{len(small)} of {len(labels)} groups {has} fewer than {min_count} rows"
    if rare == "keep":
        return Regrouping(everyone, tuple(labels), (f"{finding}, and {was} kept: {listed}",))
    large = np.setdiff1d(everyone, small)
    remaining = tuple(labels[i] for i in large.tolist()) + ((MERGED,) if rare == "merge" else ())
    if not remaining:
        raise InputError(f"{finding}: nobody would be left. Lower min_count, or merge them.")
    target = np.full(len(labels), len(large))
    target[large] = np.arange(len(large))
    treatment = f"{was} merged into {MERGED!r}" if rare == "merge" else f"{was} dropped"
    return Regrouping(target, remaining, (f"{finding}, and {treatment}: {listed}",))


def joined(left: Sequence[Label], right: Sequence[Label]) -> tuple[Label, ...]:
    """The groups of two counts together; refuse groups that depend on the rows of a part.

    Quantiles of a part are not those of all rows, and a group may be rare in only one part.
    """
    if MERGED in left or MERGED in right:
        raise InputError(
            "Cannot add counts whose rare groups were merged before: what is rare in a part need "
            "not be rare in all. Add them first, then call settle_rare on the sum."
        )
    labels = union(left, right)
    parts = [
        label if isinstance(label, tuple) and not isinstance(label, Bin) else (label,)
        for label in labels
    ]
    for column in zip(*parts, strict=True) if len(set(map(len, parts))) == 1 else ():
        bins = sorted({part for part in column if isinstance(part, Bin)})
        for before, after in pairwise(bins):
            if after.low < before.high or after.lowest:
                raise InputError(
                    f"Cannot add counts whose bins differ, such as {before} and {after}. "
                    "Cut all parts at the same edges, not into quantiles of each."
                )
    return labels


def _check_simple(name: str, labels: Collection[Label]) -> None:
    """Refuse labels of several parts in a single column."""
    for label in labels:
        if isinstance(label, tuple) and not isinstance(label, Bin):
            raise InputTypeError(
                f"The column {name!r} holds {label!r}: groups by several columns in one. Pass each "
                "part as a column of its own, such as sensitive_features=[first, second]."
            )


def check_not_amounts(name: str, labels: Collection[Label]) -> None:
    """Refuse groups that are amounts: many different numbers, not all of them whole."""
    fraction = some_fraction(labels) if len(labels) > MOST_CLASSES else None
    if fraction is not None:
        raise amounts_as_groups(name, len(labels), fraction)


def amounts_as_groups(name: str, distinct: int, fraction: float) -> InputError:
    """The error for a column with this many values, including one with a fraction."""
    return InputError(
        f"The column {name!r} takes {distinct:,} different values, such as {fraction:.9g}: "
        f"amounts, not groups. Cut it into ranges with bins={{{name!r}: 4}}, of "
        "evenhand.groups and of audits; or make it text, if these are names."
    )


def missing_note(name: str, absent: int, rows: int, missing: Missing) -> list[str]:
    """Refuse missing values in a column, or note that they are a group of their own."""
    if missing not in get_args(Missing):
        raise InputError(f"missing must be one of {[*get_args(Missing)]}, not {missing!r}.")
    if not absent:
        return []
    finding = f"{absent} of {rows} rows {'has' if absent == 1 else 'have'} no value of {name!r}"
    if missing == "error":
        raise InputError(
            f"{finding}. Drop such rows, ask for answers that hold whatever their group is with "
            'missing="unknown", or make them a group of their own with missing="group".'
        )
    if missing == "unknown":
        raise InputError(
            f"{finding}. Only bounds, evaluate, interval, audit and assert_even have answers that "
            "hold whatever it is; drop such rows, or make them a group of their own with "
            'missing="group".'
        )
    return [f"{finding}; such rows are a group of their own"]


def show(label: Label) -> str:
    """A label as people read it.

    >>> show(("Female", "Black")), show(None)
    ('Female × Black', '(missing)')
    """
    if isinstance(label, tuple) and not isinstance(label, Bin):
        return " × ".join(show(part) for part in label)
    return "(missing)" if label is None else str(label)


def place_in(groups: Sequence[Label], label: Label) -> int:
    """Position of a group, by its label or its text; -1 if absent.

    >>> place_in([("F", "b"), ("M", "b")], "M × b"), place_in([1, 2], "2"), place_in([1, 2], 3)
    (1, 1, -1)
    """
    if label in groups:
        return list(groups).index(label)
    written = [show(group) for group in groups]
    return written.index(str(label)) if str(label) in written else -1


def _intersection(coded: Mapping[str, Column]) -> Column:
    columns = list(coded.values())
    lengths = {name: len(column) for name, column in coded.items()}
    if len(set(lengths.values())) != 1:
        raise InputError(f"The sensitive columns differ in length: {lengths}.")
    if len(columns) == 1:
        return columns[0]
    codes, rows = combine([(column.codes, len(column.labels)) for column in columns])
    parts = [[column.labels[i] for i in column.codes[rows]] for column in columns]
    return canonical(codes, list(zip(*parts, strict=True)))
