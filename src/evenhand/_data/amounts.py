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

MOST_VALUES = 1_000_000  # distinct values that are brought in to compute quantiles

Spans = Mapping[str, tuple[Bin, ...]]


def cut_columns(
    table: Any, bins: Bins, groups: tuple[str, ...], rows: str | None = None
) -> tuple[Any, Spans]:
    """Replace sensitive amounts by the positions of their bins; return the table and the bins.

    Where `rows` names a column of counts, each line counts as that many rows in the quantiles.
    """
    unknown = sorted(set(bins) - set(groups))
    if unknown:
        raise InputError(f"bins names {unknown}, but the columns are {list(groups)}.")
    spans: dict[str, tuple[Bin, ...]] = {}
    for name, number_or_edges in bins.items():
        if not table.collect_schema()[name].is_numeric():
            raise InputError(f"{name!r} must hold numbers to be cut into bins.")
        edges = _edges(table, name, number_or_edges, rows)
        spans[name] = tuple(Bin(*ends, i == 0) for i, ends in enumerate(pairwise(edges.tolist())))
        table = table.with_columns(_place(name, edges[1:-1]).alias(name))
    return table, spans


def _place(name: str, inner: NDArray[np.float64]) -> Any:
    """Expression for the position of a number's bin; null where it is missing."""
    import narwhals as nw

    column = as_float(name)
    place = nw.lit(len(inner))
    for at, edge in reversed(list(enumerate(inner.tolist()))):
        place = nw.when(column <= edge).then(nw.lit(at)).otherwise(place)
    return nw.when(column.is_finite()).then(place)


def _edges(table: Any, name: str, bins: Any, rows: str | None) -> NDArray[np.float64]:
    """Quantiles of the column, or the given edges, checked to contain all its values."""
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
        lines = numbers.group_by("value").agg(nw.col("rows").sum()).collect()
        counts = lines["rows"].cast(nw.Int64).to_numpy()  # some engines add up to decimals
        return quantile_edges_of(lines["value"].to_numpy(), counts, bins)
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
    """NumPy's quantiles of values that each occur in this many rows, as edges."""
    order = np.argsort(values)
    ends = np.cumsum(rows[order])
    place = np.linspace(0, 1, bins + 1) * (ends[-1] - 1)
    below, above = (
        values[order][np.searchsorted(ends, np.minimum(at, ends[-1] - 1), side="right")]
        for at in (np.floor(place), np.floor(place) + 1)
    )
    part = place - np.floor(place)
    neighbors = np.where(
        part < 0.5, below + (above - below) * part, above - (above - below) * (1 - part)
    )
    return edges_at(neighbors, values)
