"""A tally of any dataframe, lazy query or database table, counted by its own engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column, encode
from evenhand._columns.encoding import check_classes
from evenhand._counting import share_classes
from evenhand._errors import InputError
from evenhand._groups import Groups, Missing, Rare, groups, missing_note, settle_rare
from evenhand._tally import Axis, Tally, gathered

Counted = dict[str, list[Any]]
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


def _counted(frame: Any, keys: Keys, sample_weight: str | None, sums: dict[str, str]) -> Counted:
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
    cells: Counted = counted.to_dict(as_series=False)
    _check_totals(cells)
    return cells


def _check_columns(table: Any, wanted: Sequence[str]) -> None:
    there = table.collect_schema().names()
    for name in wanted:
        if name not in there:
            raise InputError(f"The table has no column {name!r}; it has {there}.")


def _check_totals(cells: Counted) -> None:
    if not cells["rows"]:
        raise InputError("There are no rows to count.")
    if min(cells.get("least", [0])) < 0:
        raise InputError(f"sample_weight has negative values, such as {min(cells['least']):g}.")
    for name in cells:
        if name.startswith("sum ") and not np.isfinite(np.array(cells[name], dtype=float)).all():
            raise InputError(f"Column {name[4:]!r} has values that are missing or not finite.")


def _together(cells: Counted, axis: str, names: list[str]) -> Column:
    found = groups({name: cells[f"{axis} {i}"] for i, name in enumerate(names)}, missing="group")
    return Column(found.codes, found.labels)


def _missing_notes(cells: Counted, axis: str, names: list[str], missing: Missing) -> list[str]:
    """Say how many rows, not cells, lack each column."""
    notes: list[str] = []
    for i, name in enumerate(names):
        column = encode(cells[f"{axis} {i}"])
        labels = np.array([label is None for label in column.labels])
        absent = int(np.array(cells["rows"])[labels[column.codes]].sum())
        notes += missing_note(name, absent, sum(cells["rows"]), missing)
    return notes


def _total_names(cells: Counted) -> dict[str, str]:
    return {
        name.removeprefix("sum "): name for name in cells if name == "rows" or name[:4] == "sum "
    }


def _listed(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


Floats = NDArray[np.float64]

NOT_SUMS = ("least", "most", "least weight")
UNWEIGHTED = ("bad ", *NOT_SUMS)


@dataclass(frozen=True, eq=False)
class Cells:
    """Key values of every observed cell, and its totals."""

    keys: Mapping[str, NDArray[Any]]
    totals: Mapping[str, Floats]

    @property
    def rows(self) -> Floats:
        """Rows in each cell."""
        return self.totals["rows"]

    @property
    def weight(self) -> Floats:
        """The weight of each cell; rows that were not weighted weigh 1."""
        return self.totals.get("weight", self.rows)

    def where(self, kept: NDArray[np.bool_]) -> Cells:
        """Some of the cells."""
        keys = {name: one[kept] for name, one in self.keys.items()}
        return Cells(keys, {name: one[kept] for name, one in self.totals.items()})

    def labels(self, key: str, name: str) -> Column:
        """A key as class labels."""
        column = encode(self.keys[key], name)
        missing = [label is None for label in column.labels]
        absent = int(self.rows[np.array(missing, dtype=bool)[column.codes]].sum())
        if absent:
            raise InputError(f"{name!r} has {absent} missing labels; drop or fill those rows.")
        return check_classes(column, name)

    def tally(self, columns: Mapping[str, Column], edges: Sequence[float] = ()) -> Tally:
        """The totals along coded columns; `edges` are those of the axis "bin"."""
        axes = tuple(
            Axis(name, tuple(edges), "edges") if name == "bin" else Axis(name, one.labels)
            for name, one in columns.items()
        )
        codes = np.array([one.codes for one in columns.values()], dtype=np.intp)
        sums: dict[str, NDArray[Any]] = {
            name: one for name, one in self.totals.items() if not name.startswith(UNWEIGHTED)
        }
        return gathered(axes, codes, sums | {"rows": self.rows.astype(np.int64)}, ())


@dataclass(frozen=True)
class Whom:
    """Which columns name the groups, and what becomes of missing and rare ones."""

    columns: tuple[str, ...]
    missing: Missing = "error"
    min_count: int = 0
    rare: Rare = "keep"

    def find(self, cells: Cells) -> tuple[Cells, Groups]:
        """The group of every cell, and the cells without those of dropped groups."""
        found, notes = crossed(cells, self.columns, self.missing)
        sizes = np.bincount(found.codes, cells.rows, minlength=len(found.labels))
        settled = settle_rare(found.labels, sizes, self.min_count, self.rare)
        codes = settled.target[found.codes].astype(np.uint32)
        kept = codes < len(settled.labels)
        notes += settled.notes
        return cells.where(kept), Groups(codes[kept], settled.labels, self.columns, tuple(notes))


def crossed(cells: Cells, names: Sequence[str], missing: Missing) -> tuple[Column, list[str]]:
    """Key columns crossed, and notes of the rows that lack one of them."""
    coded = {name: encode(cells.keys[f"column {name}"], name) for name in names}
    notes: list[str] = []
    for name, column in coded.items():
        absent = np.array([label is None for label in column.labels], dtype=bool)[column.codes]
        notes += missing_note(name, int(cells.rows[absent].sum()), int(cells.rows.sum()), missing)
    found = groups(coded, missing="group")
    return Column(found.codes, found.labels), notes


def distinct(table: Any, names: Sequence[str]) -> int:
    """How many different combinations of values the columns take."""
    import narwhals as nw

    found = table.group_by(*names).agg(nw.len().alias("rows of it")).select(nw.len())
    return int(found.collect().item())


def columns_as_keys(names: Sequence[str]) -> dict[str, Any]:
    """Keys for columns of the table, apart from ours, whatever their names."""
    import narwhals as nw

    return {f"column {name}": nw.col(name) for name in names}


def counted(
    table: Any, keys: Mapping[str, Any], sums: Mapping[str, Any], weight: str | None
) -> Cells:
    """Count rows, and add up weights and expressions times weight, in each cell of the keys.

    Of "least" and "most" the extremes are taken, and "bad …" is not weighted.
    """
    import narwhals as nw

    share = nw.col(weight).cast(nw.Float64) if weight else None
    named = {
        name: one if share is None or name.startswith(UNWEIGHTED) else one * share
        for name, one in sums.items()
    }
    if weight and share is not None:
        named |= {"weight": share, "weight²": share * share, "least weight": share}
        named[f"bad {weight}"] = not_finite(share)
    inside = {f"key {name}": one for name, one in keys.items()}
    inside |= {f"sum {name}": one for name, one in named.items()}
    picked = table.select(*(one.alias(name) for name, one in inside.items()))
    totals = [_total(nw.col(f"sum {name}"), name) for name in named]
    found = picked.group_by(*(f"key {name}" for name in keys)).agg(nw.len(), *totals).collect()
    coded = {name: _key(found[f"key {name}"], name) for name in keys}
    floats = {name: _floats(found[f"sum {name}"]) for name in named}
    return _checked(Cells(coded, {"rows": _floats(found["len"])} | floats), weight)


def not_finite(column: Any) -> Any:
    """One where a number is missing, NaN or infinite, and zero elsewhere."""
    import narwhals as nw

    return nw.when(column.is_finite()).then(nw.lit(0)).otherwise(nw.lit(1))


def _key(column: Any, name: str) -> NDArray[Any]:
    if name == "fine":
        return _floats(column)
    values: list[Any] = column.to_list()
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _floats(column: Any) -> Floats:
    import narwhals as nw

    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _total(column: Any, name: str) -> Any:
    if name in ("least", "least weight"):
        return column.min()
    return column.max() if name == "most" else column.sum()


def _checked(cells: Cells, weight: str | None) -> Cells:
    """Refuse no rows at all, weights that are not weights, and numbers that are none."""
    if not len(cells.rows):
        raise InputError("There are no rows to count.")
    for name, total in cells.totals.items():
        if name.startswith("bad ") and total.sum():
            raise InputError(
                f"{name[4:]!r} has {total.sum():.0f} values that are missing or not finite; "
                "drop or fill those rows."
            )
    least = cells.totals.get("least weight", np.zeros(1)).min()
    if least < 0:
        raise InputError(f"The weights in {weight!r} include negative ones, such as {least:g}.")
    return cells
