"""The group-by that counts rows of a dataframe, lazy query or database table in its engine."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from numbers import Real
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column, Label, encode
from evenhand._columns.codes import levels
from evenhand._columns.encoding import check_classes, check_weights
from evenhand._data.groups import Groups, Missing, Rare, clusters, groups, missing_note, settle_rare
from evenhand._data.tallies import Tally, axes_of, gathered, weighed
from evenhand._errors import InputError, InputTypeError, refusing
from evenhand._words import did_you_mean, plural

Floats = NDArray[np.float64]
Expression = Any  # of narwhals, which is imported only when a table is read

MOST_LISTED = 20


@dataclass(frozen=True, eq=False)
class Cells:
    """Observed cells: their keys and totals.

    `keys` are values by our names ("y", "yhat", …), `columns` by the names of the caller's
    columns. `sums` are weighted if rows are; `lowest` and `highest` are extremes.
    """

    keys: Mapping[str, NDArray[Any]]
    columns: Mapping[str, NDArray[Any]]
    rows: Floats
    sums: Mapping[str, Floats]
    lowest: Mapping[str, Floats] = field(default_factory=dict)
    highest: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def weight(self) -> Floats:
        """The weight of each cell; rows that were not weighted weigh 1."""
        return self.sums.get("weight", self.rows)

    def where(self, mask: NDArray[np.bool_]) -> Cells:
        """The cells that a mask selects."""
        parts = (self.keys, self.columns, self.sums, self.lowest, self.highest)
        keys, columns, sums, lowest, highest = (
            {name: values[mask] for name, values in part.items()} for part in parts
        )
        return Cells(keys, columns, self.rows[mask], sums, lowest, highest)

    def labels(self, key: str, name: str) -> Column:
        """A key as class labels; `name` is that of the column it came from."""
        column = encode(self.keys[key], repr(name))
        absent = self.rows_without(column)
        if absent:
            raise InputError(
                f"{name!r} has {plural(absent, 'missing label')}; drop or fill those rows."
            )
        return check_classes(column, repr(name))

    def clusters(self, names: Sequence[str]) -> dict[str, Column]:
        """The clusters of the cells, by axis of a tally."""
        return clusters({name: self.columns[name] for name in names}) if names else {}

    def rows_without(self, column: Column) -> int:
        """Number of rows (not cells) without a value in a column of the cells."""
        missing = np.array([label is None for label in column.labels], dtype=bool)
        return int(self.rows[missing[column.codes]].sum())

    def tally(
        self,
        columns: Mapping[str, Column],
        group: Groups,
        *,
        edges: Mapping[str, Sequence[float]] | None = None,
        notes: tuple[str, ...] = (),
        replicates: Mapping[str, float] | None = None,
    ) -> Tally:
        """The totals along coded columns and groups, without the rows of dropped groups.

        `replicates` names the sums of replicate weights, each with its scale.
        """
        replicates = replicates or {}
        kept = group.codes < len(group.labels)
        coded = {**columns, "group": Column(group.codes, group.labels)}
        axes = axes_of(coded, edges)
        codes = np.array([column.codes[kept] for column in coded.values()], dtype=np.intp)
        sums: dict[str, NDArray[Any]] = {"rows": self.rows[kept].astype(np.int64)}
        sums |= {name: values[kept] for name, values in self.sums.items() if name not in replicates}
        if replicates:
            sums["replicates"] = np.array([self.sums[name][kept] for name in replicates])
        return gathered(axes, codes, sums, (*notes, *group.notes), tuple(replicates.values()))


@dataclass(frozen=True)
class GroupColumns:
    """The columns of the groups, and how to treat missing and rare ones.

    `spans` are the labels of columns that were cut already and hold the positions of bins.
    """

    names: tuple[str, ...]
    missing: Missing = "error"
    min_count: int = 0
    rare: Rare = "keep"
    spans: Mapping[str, Sequence[Label]] = field(default_factory=dict)

    def coded(self, columns: Mapping[str, Any]) -> dict[str, Column]:
        """The columns of the groups as codes and labels."""
        return {name: self._labeled(encode(columns[name], name), name) for name in self.names}

    def _labeled(self, column: Column, name: str) -> Column:
        if name not in self.spans:
            return column
        places: tuple[Any, ...] = column.labels
        spans = self.spans[name]
        return Column(column.codes, tuple(None if p is None else spans[int(p)] for p in places))

    def groups_of(self, cells: Cells) -> Groups:
        """The group of every cell; the codes of dropped groups lie past the last label."""
        coded = self.coded(cells.columns)
        rows = int(cells.rows.sum())
        notes = [
            note
            for name, column in coded.items()
            for note in missing_note(name, cells.rows_without(column), rows, self.missing)
        ]
        crossed = groups(coded, missing="group")
        sizes = np.bincount(crossed.codes, cells.rows, minlength=len(crossed.labels))
        merged = settle_rare(crossed.labels, sizes, self.min_count, self.rare)
        codes = merged.target[crossed.codes].astype(np.uint32)
        return Groups(codes, merged.labels, self.names, (*notes, *merged.notes))


def read_table(frame: Any, requested: Iterable[str | None]) -> Any:
    """The table as a lazy query, checked to have these columns."""
    import narwhals as nw

    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(frame, pyarrow.RecordBatch):  # of a stream
        frame = pyarrow.Table.from_batches([frame])
    try:
        with refusing("The table's columns cannot be read"):
            table = nw.from_native(frame)
    except TypeError as failure:
        raise InputTypeError(
            f"A {type(frame).__name__} is not a table that narwhals reads; pass a dataframe, a "
            "lazy query or a database table, or columns to audit and tally."
        ) from failure
    available, names = (
        table.collect_schema().names(),
        [name for name in requested if name is not None],
    )
    for name in names:
        if name not in available:
            ellipsis = ", …" if len(available) > MOST_LISTED else ""
            listing = ", ".join(map(str, available[:MOST_LISTED])) + ellipsis
            hint = did_you_mean(name, available)
            if not all(isinstance(column, str) for column in available):
                hint += " Names of columns must be text: pass frame.rename(columns=str)."
            raise InputError(f"The table has no column {name!r}.{hint} It has {listing}.")
    return _with_numbers(table, names).lazy()


def count_cells(
    table: Any,
    *,
    columns: Sequence[str],
    keys: Mapping[str, Expression],
    sums: Mapping[str, Expression] | None = None,
    extremes: Mapping[str, Expression] | None = None,
    totaled: Mapping[str, Expression] | None = None,
    finite: Iterable[str] = (),
    weight: str | None = None,
    rows: str | None = None,
    most_cells: int | None = None,
) -> Cells:
    """Count rows, and add up weights and expressions times weight, in every cell: one group-by.

    A cell has the same values of `columns`, which are the caller's, and of `keys`, which are
    expressions under our names. Weights, and the columns named `finite`, must be finite numbers.
    Where a line of the table stands for many rows, `rows` is the column of their number, and
    `totaled` are sums over them. Of more cells than `most_cells`, one more than
    that are returned.
    """
    import narwhals as nw

    share = as_float(weight) if weight else None
    totals = dict(sums or {})
    if share is not None:
        totals = {
            name: reduce(mul, [*([] if column is None else [totals[column]]), *[share] * power])
            for name, (power, column) in weighed(totals).items()
        }
    if rows:
        totals = {name: values * as_float(rows) for name, values in totals.items()}
    totals |= totaled or {}
    checked = list(dict.fromkeys([*finite, *([weight] if weight else [])]))
    ends = dict(extremes or {})
    _check_numeric(table, checked)
    picked = _Selection()
    cell_keys = [picked.add(values) for values in keys.values()]
    cell_columns = [picked.add(nw.col(name)) for name in columns]
    added = [picked.add(values) for values in totals.values()]
    bad = [picked.add(_not_finite(as_float(name))) for name in checked]
    extreme = [picked.add(values) for values in ends.values()]
    weighing = (
        [] if share is None else [picked.add(share), picked.add(nw.when(share > 0).then(share))]
    )
    number = nw.col(picked.add(nw.col(rows).cast(nw.Int64))).sum() if rows else nw.len()
    aggregates = [
        number.alias("rows"),
        *(nw.col(name).sum() for name in [*added, *bad]),
        *(nw.col(name).min().alias(f"least {name}") for name in [*extreme, *weighing]),
        *(nw.col(name).max().alias(f"most {name}") for name in [*extreme, *weighing]),
    ]
    keyed = [*cell_keys, *cell_columns]
    try:
        grouped = table.select(*picked.expressions).group_by(*keyed).agg(*aggregates)
        if most_cells is not None and not table.implementation.is_polars():  # 1.20 panics
            grouped = grouped.head(most_cells + 1)
        counted = grouped.collect()
    except TypeError as failure:  # of pandas, whose cells can hold lists
        raise InputTypeError(f"A column cannot name classes or groups: {failure}.") from failure
    if not len(counted):
        raise InputError("There are no rows to count.")
    for name, place in zip(checked, bad, strict=True):
        check_finite(name, int(_floats(counted[place]).sum()))
    if weight:
        lightest, _, lowest, highest = (
            _floats(counted[f"{end} {place}"]) for place in weighing for end in ("least", "most")
        )
        _check_not_negative(weight, float(lightest.min()))
        finite_ends = np.append(lowest, np.inf), np.append(highest, 0.0)
        check_weights(
            repr(weight), float(np.nanmin(finite_ends[0])), float(np.nanmax(finite_ends[1]))
        )
    return Cells(
        {name: _values(counted[place]) for name, place in zip(keys, cell_keys, strict=True)},
        {name: _values(counted[place]) for name, place in zip(columns, cell_columns, strict=True)},
        _floats(counted["rows"]),
        {name: _floats(counted[place]) for name, place in zip(totals, added, strict=True)},
        {
            name: _floats(counted[f"least {place}"])
            for name, place in zip(ends, extreme, strict=True)
        },
        {
            name: _floats(counted[f"most {place}"])
            for name, place in zip(ends, extreme, strict=True)
        },
    )


def check_finite(name: str, bad: int) -> None:
    """Refuse a column with this many missing or infinite values, unless 0."""
    if bad:
        raise InputError(
            f"{name!r} has {plural(bad, 'value')} that {'is' if bad == 1 else 'are'} missing or "
            "not finite; drop or fill those rows."
        )


def distinct(table: Any, names: Sequence[str]) -> int:
    """Number of distinct combinations of values of the columns."""
    import narwhals as nw

    picked = table.select(*(nw.col(name).alias(str(i)) for i, name in enumerate(names)))
    cells = picked.group_by(*map(str, range(len(names)))).agg(nw.len().alias("rows"))
    return int(cells.select(nw.len()).collect().item())


def as_float(name: str) -> Expression:
    """A column as floating-point numbers."""
    import narwhals as nw

    return nw.col(name).cast(nw.Float64)


def is_fraction(number: Expression) -> Expression:
    """Whether numbers are not whole; without %, which pandas lacks for Arrow types."""
    return number.round() != number


def listed(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of columns as a tuple, from one name, several or None."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def no_numbers(name: str, kind: Any) -> InputTypeError:
    """The error for a column of another type."""
    import narwhals as nw

    if kind == nw.String:
        return InputTypeError(
            f"{name!r} must hold numbers, and holds text. Is there a value that is not a number, "
            "such as one with a percent sign?"
        )
    return InputTypeError(f"{name!r} must hold numbers, and holds {kind}.")


def _check_numeric(table: Any, names: Iterable[str]) -> None:
    """Refuse text, dates and other types that are not numbers."""
    import narwhals as nw

    schema = table.collect_schema()
    for name in names:
        if not schema[name].is_numeric() and schema[name] != nw.Boolean:
            raise no_numbers(name, schema[name])


def _check_not_negative(weight: str, lightest: float) -> None:
    if lightest < 0:
        raise InputError(f"The weights in {weight!r} include negative ones, such as {lightest:g}.")


def _with_numbers(table: Any, names: Iterable[str]) -> Any:
    """The table, with numbers that pandas keeps as objects or in too few bits converted."""
    import narwhals as nw

    if not isinstance(table, nw.DataFrame) or not table.implementation.is_pandas():
        return table
    schema = table.collect_schema()
    inferred = {
        name: _inferred(table[name].to_native(), name)
        for name in names
        if schema[name] == nw.Object or table[name].to_native().dtype == np.float16
    }
    return nw.from_native(table.to_native().assign(**inferred)) if inferred else table


def _inferred(objects: Any, name: str) -> Any:
    """Convert a pandas series of objects to numbers or truth values, if all values are."""
    if objects.dtype == np.float16:
        return objects.astype(np.float64)
    column = objects.infer_objects()
    if column.dtype.kind in "biuf":
        return column
    for value in column:
        if isinstance(value, Decimal) and value.is_snan():  # comparing it would raise
            raise InputError(f"{name!r} holds {value!r}; drop or fill those rows.")
    present = column.dropna()
    numeric = (
        isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in present
    )
    return column.astype(np.float64) if len(present) and all(numeric) else objects


class _Selection:
    """Expressions under generated names, which cannot clash with the caller's columns."""

    def __init__(self) -> None:
        self.expressions: list[Expression] = []

    def add(self, expression: Expression) -> str:
        name = f"selected {len(self.expressions)}"
        self.expressions.append(expression.alias(name))
        return name


def _not_finite(column: Expression) -> Expression:
    """Expression: 1 where a number is missing, NaN or infinite, else 0."""
    import narwhals as nw

    return nw.when(column.is_null() | ~column.is_finite()).then(nw.lit(1)).otherwise(nw.lit(0))


def _values(column: Any) -> NDArray[Any]:
    """Values of a key: whole numbers as they are, all else as objects."""
    if column.dtype.is_integer() and not column.null_count():
        return np.asarray(column.to_numpy())
    values: list[Any] = column.to_list()
    categories = getattr(column.dtype, "categories", None)  # of an ordered category or Enum
    if categories is not None:
        place = {str(level): level for level in levels(categories)}
        values = [place.get(value, value) for value in values]
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _floats(column: Any) -> Floats:
    import narwhals as nw

    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
