"""Sensitive amounts, such as ages, cut into ranges inside the engine that holds the rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Bin
from evenhand._columns.bins import edges_at
from evenhand._data.group_by import as_float, distinct
from evenhand._data.groups import Bins
from evenhand._errors import InputError
from evenhand._words import plural

MOST_VALUES = 1_000_000  # different ones, which are brought in to find quantiles

Spans = Mapping[str, tuple[Bin, ...]]


def cut_columns(
    table: Any, bins: Bins, groups: tuple[str, ...], rows: str | None = None
) -> tuple[Any, Spans]:
    """The table with the place of each row's bin in these columns; and the bins.

    Where `rows` names a column, a line stands for that many rows, and quantiles are those of rows.
    """
    unknown = sorted(set(bins) - set(groups))
    if unknown:
        raise InputError(f"bins names {unknown}, but the columns are {list(groups)}.")
    spans: dict[str, tuple[Bin, ...]] = {}
    for name, wanted in bins.items():
        if not table.collect_schema()[name].is_numeric():
            raise InputError(f"{name!r} must hold numbers to be cut into bins.")
        edges = _edges(table, name, wanted, rows)
        spans[name] = tuple(Bin(*ends, i == 0) for i, ends in enumerate(pairwise(edges.tolist())))
        table = table.with_columns(_place(name, edges[1:-1]).alias(name))
    return table, spans


def _place(name: str, inner: NDArray[np.float64]) -> Any:
    """Which bin a number is in; none where it is missing."""
    import narwhals as nw

    column = as_float(name)
    place = nw.lit(len(inner))
    for at, edge in reversed(list(enumerate(inner.tolist()))):
        place = nw.when(column <= edge).then(nw.lit(at)).otherwise(place)
    return nw.when(column.is_finite()).then(place)


def _edges(table: Any, name: str, bins: Any, rows: str | None) -> NDArray[np.float64]:
    """Quantiles of the column, or the edges that were given, if they hold all its values."""
    import narwhals as nw

    column = as_float(name)
    ends = [column.min().alias("low"), column.max().alias("high")]
    row = table.filter(~column.is_nan()).select(*ends).collect().rows(named=True)[0]
    if row["low"] is None or not np.isfinite([row["low"], row["high"]]).all():
        raise InputError(f"{name!r} must hold finite numbers to be cut into bins.")
    if isinstance(bins, int):
        different = distinct(table, [name])
        if different > MOST_VALUES:
            raise InputError(
                f"{name!r} takes {different:,} different values, too many to find quantiles: give "
                "the edges of its bins, such as "
                f"bins={{{name!r}: [{row['low']:g}, {row['high']:g}]}}."
            )
        times = nw.col(rows).cast(nw.Int64) if rows else nw.lit(1)
        values = [column.alias("value"), times.alias("rows")]
        numbers = table.filter(column.is_finite()).select(*values)
        counted = numbers.group_by("value").agg(nw.col("rows").sum()).collect()
        often = counted["rows"].cast(nw.Int64).to_numpy()  # some engines add up to decimals
        return quantile_edges_of(counted["value"].to_numpy(), often, bins)
    edges = np.asarray(bins, dtype=np.float64)
    if len(edges) < 2 or (np.diff(edges) <= 0).any():
        raise InputError(f"The bin edges of {name} must increase; they are {list(bins)}.")
    outside = [end for end in (row["low"], row["high"]) if not edges[0] <= end <= edges[-1]]
    if outside:
        raise InputError(
            f"{name} has values outside its {plural(len(edges) - 1, 'bin')}, such as "
            f"{outside[0]:g}; the edges run from {edges[0]:g} to {edges[-1]:g}."
        )
    return edges


def quantile_edges_of(
    values: NDArray[np.float64], rows: NDArray[np.int64], bins: int
) -> NDArray[np.float64]:
    """The edges that the values make, each as often as counted: NumPy's quantiles of the rows."""
    order = np.argsort(values)
    ends = np.cumsum(rows[order])
    place = np.linspace(0, 1, bins + 1) * (ends[-1] - 1)
    below, above = (
        values[order][np.searchsorted(ends, np.minimum(at, ends[-1] - 1), side="right")]
        for at in (np.floor(place), np.floor(place) + 1)
    )
    part = place - np.floor(place)
    near = np.where(
        part < 0.5, below + (above - below) * part, above - (above - below) * (1 - part)
    )
    return edges_at(near, values)
