"""A tally of any dataframe, lazy query or database table, counted by its own engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.columns import Column, encode
from evenhand.columns.validation import check_classes
from evenhand.counting import share_classes
from evenhand.groups import Missing, groups, missing_note
from evenhand.tally import Axis, Tally, gathered

Cells = dict[str, list[Any]]
Keys = dict[str, list[str]]


def tally_frame(
    frame: Any,
    *,
    y_true: str | None,
    y_pred: str,
    sensitive_features: str | Sequence[str],
    sample_weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    sums: Mapping[str, str] | None = None,
    missing: Missing = "error",
) -> Tally:
    """Count rows by group in the engine that holds them; only the counts come back.

    `frame` is a pandas, Polars (eager or lazy), Arrow, DuckDB, Dask, Ibis or Spark table, or any
    other that narwhals reads; the rest are names of its columns. `sums` maps names to columns
    whose values are added up in each cell.
    """
    keys = {
        "y": _listed(y_true),
        "yhat": [y_pred],
        "stratum": _listed(strata),
        "group": _listed(sensitive_features),
    }
    cells = _counted(frame, keys, sample_weight, dict(sums or {}))
    labelled = {
        axis: check_classes(encode(cells[f"{axis} 0"]), keys[axis][0])
        for axis in ("y", "yhat")
        if keys[axis]
    }
    columns = share_classes(labelled)
    notes: list[str] = []
    for axis in ("stratum", "group"):
        if keys[axis]:
            columns[axis] = _together(cells, axis, keys[axis])
            notes += _missing_notes(cells, axis, keys[axis], missing)
    axes = tuple(Axis(name, column.labels) for name, column in columns.items())
    codes = np.array([column.codes for column in columns.values()], dtype=np.intp)
    totals = {name: np.array(cells[key]) for name, key in _total_names(cells).items()}
    return gathered(axes, codes, totals, tuple(notes))


def _counted(frame: Any, keys: Keys, sample_weight: str | None, sums: dict[str, str]) -> Cells:
    """One group-by in the engine: a row for each observed cell."""
    import narwhals as nw

    table = nw.from_native(frame).lazy()
    wanted = {f"{axis} {i}": name for axis, names in keys.items() for i, name in enumerate(names)}
    _check_columns(table, [*wanted.values(), *sums.values(), *_listed(sample_weight)])
    weight = nw.col(sample_weight).cast(nw.Float64) if sample_weight else nw.lit(1.0)
    named = {
        f"sum {name}": nw.col(column).cast(nw.Float64) * weight for name, column in sums.items()
    }
    if sample_weight:
        named |= {"sum weight": weight, "sum weight²": weight * weight}
    picked = table.select(
        *(nw.col(column).alias(key) for key, column in wanted.items()),
        *(column.alias(name) for name, column in named.items()),
    )
    totals = [nw.col(name).sum() for name in named]
    least = [nw.col(name).min().alias("least") for name in named if name == "sum weight"]
    counted = picked.group_by(*wanted).agg(nw.len().alias("rows"), *totals, *least).collect()
    cells: Cells = counted.to_dict(as_series=False)
    _check_totals(cells)
    return cells


def _check_columns(table: Any, wanted: Sequence[str]) -> None:
    there = table.collect_schema().names()
    for name in wanted:
        if name not in there:
            raise ValueError(f"The table has no column {name!r}; it has {there}.")


def _check_totals(cells: Cells) -> None:
    if not cells["rows"]:
        raise ValueError("There are no rows to count.")
    if min(cells.get("least", [0])) < 0:
        raise ValueError(f"sample_weight has negative values, such as {min(cells['least']):g}.")
    for name in cells:
        if name.startswith("sum ") and not np.isfinite(np.array(cells[name], dtype=float)).all():
            raise ValueError(f"Column {name[4:]!r} has values that are missing or not finite.")


def _together(cells: Cells, axis: str, names: list[str]) -> Column:
    found = groups({name: cells[f"{axis} {i}"] for i, name in enumerate(names)}, missing="group")
    return Column(found.codes, found.labels)


def _missing_notes(cells: Cells, axis: str, names: list[str], missing: Missing) -> list[str]:
    """Say how many rows, not cells, lack each column."""
    notes: list[str] = []
    for i, name in enumerate(names):
        column = encode(cells[f"{axis} {i}"])
        labels = np.array([label is None for label in column.labels])
        absent = int(np.array(cells["rows"])[labels[column.codes]].sum())
        notes += missing_note(name, absent, sum(cells["rows"]), missing)
    return notes


def _total_names(cells: Cells) -> dict[str, str]:
    return {
        name.removeprefix("sum "): name for name in cells if name == "rows" or name[:4] == "sum "
    }


def _listed(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)
