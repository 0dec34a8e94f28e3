"""A first look over the numbers of a table: are they labels or amounts, and where do they lie."""

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

ROUGH = 1e-8  # of the mean square: a variance that rounding may have made


@dataclass(frozen=True)
class Survey:
    """How many rows there are, whether they are about numbers, and where those or scores lie.

    The labels in `doubtful` are whole numbers, of which there are enough to be amounts.
    `two_labels` are all labels there are, where those are neighboring whole numbers: 0 and 1.
    """

    rows: int
    are_numbers: bool
    spread: Spread | None = None
    doubtful: tuple[str, ...] = ()
    two_labels: tuple[int, int] | None = None


class NumericColumn(NamedTuple):
    """What one look over a column of numbers shows."""

    low: float | None
    high: float | None
    finite: int
    fraction: float | None
    mean: float | None = None
    deviation: float | None = None

    @property
    def possible(self) -> int:
        """How many whole numbers there can be."""
        return 0 if self.low is None or self.high is None else int(self.high - self.low) + 1


def survey_of(table: Any, names: ColumnNames, task: Task | None) -> Survey:
    """Look once over the numeric columns.

    Once more only if the target is whole numbers and its predictions are not, or the other way
    around: labels beside scores, or amounts.
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
        known = [_contents(table, name, numeric, rows, count=mixed) for name in labels]
        are_numbers = is_regression(known[0] if names.y_true else None, known[-1:])
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
    seen = numeric[measured]
    spread = Spread(*(end or 0.0 for end in (seen.low, seen.high, seen.mean, seen.deviation)))
    return Survey(
        rows, are_numbers, spread, tuple(doubtful), _two_labels(table, labels, numeric, rows)
    )


def _two_labels(
    table: Any, names: Sequence[str], numeric: Mapping[str, NumericColumn], rows: int
) -> tuple[int, int] | None:
    """All labels of these columns, where they are two neighboring whole numbers."""
    schema = table.collect_schema()
    ends: list[float] = []
    for name in names:
        seen = numeric.get(name) if schema[name].is_integer() else None
        if seen is None or seen.finite < rows or seen.low is None or seen.high is None:
            return None
        ends += [seen.low, seen.high]
    low, high = int(min(ends, default=0)), int(max(ends, default=0))
    return (low, high) if high == low + 1 else None


def check_amounts(table: Any, names: ColumnNames, labels: Sequence[str] = ()) -> None:
    """Refuse amounts as classes or groups before anything is counted by each of them."""
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
    rows a line stands for, the mean is that of the rows. Fractions are looked for in the columns
    that may be `broken`, by default in all. The others are looked over with the least effort, and
    with care if their mean shows that some numbers are missing, not finite, huge or nearly alike.
    """
    import narwhals as nw

    schema = table.collect_schema()
    numeric = list(dict.fromkeys(name for name in names if name and schema[name].is_numeric()))
    wanted = [nw.len().alias("rows")]
    for at, name in enumerate(numeric):
        whole = schema[name].is_integer()
        if whole or times or broken is None or name in broken:
            parts = _carefully(name, name in ordered, times, whole=whole)
        else:
            parts = _quickly(name)
        wanted += [expression.alias(f"{part} {at}") for part, expression in parts.items()]
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are looked at again
        row = table.select(*wanted).collect().rows(named=True)[0]
    known = {name: _seen(row, at) for at, name in enumerate(numeric)}
    seen = {name: column for name, column in known.items() if column is not None}
    if len(seen) < len(known):
        return numeric_columns(table, names, ordered, times)
    return int(row["rows"]), seen


def _carefully(
    name: str, is_ordered: bool, times: str | None, *, whole: bool
) -> dict[str, Expression]:
    """What is asked of a column that may hold anything, or whole numbers, which are all finite."""
    import narwhals as nw

    column = nw.col(name) if whole else as_float(name)
    finite = column if whole else nw.when(column.is_finite()).then(column)
    asked = {"low": finite.min(), "high": finite.max(), "finite": finite.count()}
    if not whole:
        broken = column.is_finite() & is_fraction(column)
        asked["fraction"] = nw.when(broken).then(column).min()
    if is_ordered:
        often = as_float(times) if times else None
        mean = finite.mean() if often is None else (finite * often).sum() / often.sum()
        asked |= {"mean": mean, "deviation": finite.std()}
    return asked


def _quickly(name: str) -> dict[str, Expression]:
    """What is asked of a column that hardly holds anything but finite numbers."""
    column = as_float(name)
    asked = {"low": column.min(), "high": column.max(), "finite": column.count()}
    return asked | {"mean": column.mean(), "square": (column * column).mean()}


def _seen(row: Mapping[str, Any], at: int) -> NumericColumn | None:
    """What the answers say of a column; None if a quick look leaves something open."""
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
    """What a column holds; different whole numbers are counted only where it matters now."""
    if name not in numeric:
        return Contents(repr(name), numeric=False)
    seen = numeric[name]
    if seen.fraction is not None:
        return Contents(repr(name), True, seen.fraction)
    values = min(seen.possible, MOST_CLASSES)
    if count and seen.possible > 2:
        values = distinct(table, [name]) - (seen.finite < rows)
    return Contents(repr(name), True, distinct=values)
