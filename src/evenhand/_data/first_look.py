"""A first pass over the numbers of a table: whether they are labels or amounts, and their range."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns.bins import MOST_CLASSES
from evenhand._data.binned import Spread
from evenhand._data.column_names import ColumnNames
from evenhand._data.group_by import (
    Expression,
    as_float,
    check_finite,
    distinct,
    is_fraction,
    no_numbers,
)
from evenhand._data.groups import amounts_as_groups
from evenhand._data.tasks import Contents, Task, is_regression
from evenhand._errors import InputError

ROUGH = 1e-8  # of the mean square: smaller variances may come from rounding


@dataclass(frozen=True)
class Survey:
    """The number of rows, whether numbers are predicted, and the range of numbers or scores.

    The columns in `doubtful` hold whole numbers, enough that they may be amounts. `two_labels` are
    the only two labels, where these are neighboring whole numbers such as 0 and 1.
    """

    rows: int
    are_numbers: bool
    spread: Spread | None = None
    doubtful: tuple[str, ...] = ()
    two_labels: tuple[int, int] | None = None


class NumericColumn(NamedTuple):
    """Extremes, moments and number of finite values of a column."""

    low: float | None
    high: float | None
    finite: int
    fraction: float | None
    mean: float | None = None
    deviation: float | None = None

    @property
    def possible(self) -> int:
        """The largest possible number of distinct whole numbers."""
        return 0 if self.low is None or self.high is None else int(self.high - self.low) + 1


def survey_of(table: Any, names: ColumnNames, task: Task | None) -> Survey:
    """Pass once over the numeric columns.

    A second pass is made only if just one of truth and predictions is whole numbers: labels next
    to scores, or amounts.
    """
    labels = [name for name in (names.y_true, names.y_pred) if name is not None]
    may_be_numbers = task == "regression" or (task is None and fractional(table, labels))
    ordered = {names.y_score, names.y_pred if may_be_numbers else None}
    rows, numeric = numeric_columns(table, [*labels, names.y_score], ordered, names.rows, labels)
    if not rows:
        raise InputError("There are no rows to count.")
    are_numbers = task == "regression"
    doubtful: list[str] = []
    if task is None and names.y_pred is not None:
        mixed = any(name in numeric and numeric[name].fraction is not None for name in labels)
        contents = [_contents(table, name, numeric, rows, count=mixed) for name in labels]
        are_numbers = is_regression(contents[0] if names.y_true else None, contents[-1:])
        if not are_numbers:
            doubtful = [n for n in labels if n in numeric and numeric[n].possible > MOST_CLASSES]
    if are_numbers and names.y_pred is None:
        raise InputError("Name the column of the predicted values (y_pred).")
    for name in (names.y_true, names.y_pred) if are_numbers else (names.y_score,):
        if name is not None and name not in numeric:
            raise no_numbers(name, table.collect_schema()[name])
        if name is not None:
            check_finite(name, rows - numeric[name].finite)
    measured = names.y_pred if are_numbers else names.y_score
    if measured is None:
        return Survey(rows, are_numbers, doubtful=tuple(doubtful))
    column = numeric[measured]
    spread = Spread(
        *(end or 0.0 for end in (column.low, column.high, column.mean, column.deviation))
    )
    return Survey(
        rows, are_numbers, spread, tuple(doubtful), _two_labels(table, labels, numeric, rows)
    )


def _two_labels(
    table: Any, names: Sequence[str], numeric: Mapping[str, NumericColumn], rows: int
) -> tuple[int, int] | None:
    """The labels of these columns, if they are two neighboring whole numbers."""
    schema = table.collect_schema()
    ends: list[float] = []
    for name in names:
        column = numeric.get(name) if schema[name].is_integer() else None
        if column is None or column.finite < rows or column.low is None or column.high is None:
            return None
        ends += [column.low, column.high]
    low, high = int(min(ends, default=0)), int(max(ends, default=0))
    return (low, high) if high == low + 1 else None


def check_amounts(table: Any, names: ColumnNames, labels: Sequence[str] = ()) -> None:
    """Refuse amounts as classes or groups before counting by them."""
    for name in labels:
        check_classes(name, distinct(table.filter(as_float(name).is_finite()), [name]))
    for name in fractional(table, names.groups.names):
        values = distinct(table, [name])
        if values > MOST_CLASSES:
            fraction = numeric_columns(table, [name])[1][name].fraction
            if fraction is not None:
                raise amounts_as_groups(name, values, fraction)


def check_classes(name: str, values: int) -> None:
    """Refuse many different whole numbers, which can be classes or amounts."""
    is_regression(None, [Contents(repr(name), True, distinct=values)])


def fractional(table: Any, names: Sequence[str]) -> list[str]:
    """The columns whose type allows numbers with fractions."""
    schema = table.collect_schema()
    return [name for name in names if schema[name].is_float() or schema[name].is_decimal()]


def numeric_columns(
    table: Any,
    names: Sequence[str | None],
    ordered: Collection[str | None] = (),
    times: str | None = None,
    broken: Collection[str] | None = None,
) -> tuple[int, dict[str, NumericColumn]]:
    """The number of lines, and what the numeric ones among these columns hold.

    Mean and deviation are for columns that may have to be ordered. Where `times` says how many
    rows a line stands for, the mean is that of the rows. Columns that may be `broken` (by default
    all) are checked for fractions. The others are aggregated in the fastest way first, and again
    carefully if the result suggests missing, infinite, huge or nearly equal numbers.
    """
    import narwhals as nw

    schema = table.collect_schema()
    numeric = list(dict.fromkeys(name for name in names if name and schema[name].is_numeric()))
    aggregates = [nw.len().alias("rows")]
    for at, name in enumerate(numeric):
        is_integer = schema[name].is_integer()
        if is_integer or times or broken is None or name in broken:
            parts = _carefully(name, name in ordered, times, is_whole=is_integer)
        else:
            parts = _quickly(name)
        aggregates += [expression.alias(f"{part} {at}") for part, expression in parts.items()]
    with np.errstate(over="ignore", invalid="ignore"):  # such numbers are aggregated again
        row = table.select(*aggregates).collect().rows(named=True)[0]
    summaries = {name: _summary(row, at) for at, name in enumerate(numeric)}
    complete = {name: column for name, column in summaries.items() if column is not None}
    if len(complete) < len(summaries):
        return numeric_columns(table, names, ordered, times)
    return int(row["rows"]), complete


def _carefully(
    name: str, is_ordered: bool, times: str | None, *, is_whole: bool
) -> dict[str, Expression]:
    """Aggregates of a column that may hold anything, or of whole numbers, which are finite."""
    import narwhals as nw

    column = nw.col(name) if is_whole else as_float(name)
    finite = column if is_whole else nw.when(column.is_finite()).then(column)
    aggregates = {"low": finite.min(), "high": finite.max(), "finite": finite.count()}
    if not is_whole:
        broken = column.is_finite() & is_fraction(column)
        aggregates["fraction"] = nw.when(broken).then(column).min()
    if is_ordered:
        often = as_float(times) if times else None
        mean = finite.mean() if often is None else (finite * often).sum() / often.sum()
        aggregates |= {"mean": mean, "deviation": finite.std()}
    return aggregates


def _quickly(name: str) -> dict[str, Expression]:
    """Aggregates of a column that probably holds only finite numbers."""
    column = as_float(name)
    aggregates = {"low": column.min(), "high": column.max(), "finite": column.count()}
    return aggregates | {"mean": column.mean(), "square": (column * column).mean()}


def _summary(row: Mapping[str, Any], at: int) -> NumericColumn | None:
    """A column from its aggregates; None if the quick ones do not settle it."""
    parts = ("low", "high", "fraction", "mean", "deviation")
    low, high, fraction, mean, deviation = (_number(row.get(f"{part} {at}")) for part in parts)
    finite = int(row[f"finite {at}"])
    if f"square {at}" in row:
        square = _number(row[f"square {at}"])
        if finite < row["rows"] or mean is None or square is None:
            return None
        variance = square - mean * mean
        if not (isfinite(variance) and variance > ROUGH * square):
            return None
        deviation = sqrt(variance)
    return NumericColumn(low, high, finite, fraction, mean, deviation)


def _number(value: Any) -> float | None:
    """A number of an engine; pandas writes NaN for none."""
    return None if value is None or value != value else float(value)


def _contents(
    table: Any, name: str, numeric: dict[str, NumericColumn], rows: int, *, count: bool
) -> Contents:
    """The contents of a column; distinct whole numbers are counted only on request."""
    if name not in numeric:
        return Contents(repr(name), numeric=False)
    column = numeric[name]
    if column.fraction is not None:
        return Contents(repr(name), True, column.fraction)
    values = min(column.possible, MOST_CLASSES)
    if count and column.possible > 2:
        values = distinct(table, [name]) - (column.finite < rows)
    return Contents(repr(name), True, distinct=values)
