"""Tallies of tables: rows counted by the table's own engine, or lines of counts summed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._columns import Column
from evenhand._data.amounts import cut_columns
from evenhand._data.counting import share_classes
from evenhand._data.counts import MOMENT_COLUMNS, SELECTED, SLACK, CountedTable, read_counts
from evenhand._data.group_by import Cells, GroupColumns, as_float, count_cells, listed, read_table
from evenhand._data.roles import POLICY, Columns
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_columns, check_kinds

NAMES = ("rows", "y_true", "y_pred", "rate", "sensitive_features", "sample_weight", "strata")


def tally_table(
    roles: Columns, sums: Mapping[str, str] | None = None, digits: int | None = None
) -> Tally:
    """Count a table in the engine that holds it; only the counts come back.

    Where `rows` names a column of counts, a line stands for that many rows, and `sums` are columns
    of sums over these; rate × rows, to the nearest whole number, are counted as predicted 1, and
    the remaining rows as 0.
    """
    import narwhals as nw

    rows, weight = roles.rows, roles.sample_weight
    rate = None if rows is None else roles.rate
    policy: dict[str, Any] = {name: getattr(roles, name) for name in POLICY}
    check_kinds(**policy, bins=roles.bins, sums=sums)
    totals = dict(sums or {})
    _check_sums(totals)
    check_columns(**{name: getattr(roles, name) for name in (*NAMES, "cluster")})
    if rows is None and roles.y_pred is None:
        raise InputError("Name the column of the predictions (y_pred).")
    if roles.y_pred is None and rate is None and not sums:
        raise InputError(
            "Name the column of the predictions (y_pred), of the selected share (rate), or those "
            "of sums over the rows (sums)."
        )
    group = GroupColumns(listed(roles.sensitive_features), **policy)
    within, together = GroupColumns(listed(roles.strata), roles.missing), listed(roles.cluster)
    columns = [*within.names, *together, *group.names]
    requested = [roles.y_true, roles.y_pred, *columns, *totals.values(), weight]
    added = {name: as_float(column) for name, column in totals.items()}
    if rows is None:
        counted = CountedTable(read_table(roles.data, requested), 0, roles.y_pred)
        options: dict[str, Any] = {"sums": added}
    else:
        _check_names(totals, weight, rate)
        counted = read_counts(
            roles.data, requested, rows=rows, rate=rate, digits=digits, y_pred=roles.y_pred
        )
        options = {"totaled": added, "rows": rows}
    table = counted.table
    if roles.bins:
        table, spans = cut_columns(table, roles.bins, group.names, rows)
        group = replace(group, spans=spans)
    labels = {"y": roles.y_true, "yhat": counted.y_pred}
    label_columns = {axis: name for axis, name in labels.items() if name is not None}
    cells = count_cells(
        table,
        columns=columns,
        keys={axis: nw.col(name) for axis, name in label_columns.items()},
        finite=totals.values(),
        weight=weight,
        **options,
    )
    if rows is not None:
        _check_squares(cells, totals)
    coded = share_classes({axis: cells.labels(axis, name) for axis, name in label_columns.items()})
    notes = counted.notes
    if within.names:
        stratum = within.groups_of(cells)
        coded["stratum"] = Column(stratum.codes, stratum.labels)
        notes += stratum.notes
    result = cells.tally(coded | cells.clusters(together), group.groups_of(cells), notes=notes)
    return result if rate is None else result.with_classes(SELECTED)


def tally_moment_columns(roles: Columns) -> Tally:
    """The sums for criteria of regression, from columns named as by `count_query`."""
    available = read_table(roles.data, [roles.rows]).collect_schema().names()
    needed = ("yhat", "yhat²")  # without these two there is nothing to audit
    sums = {
        name: column
        for name, column in MOMENT_COLUMNS.items()
        if column in available or name in needed
    }
    names = ("data", "rows", "sensitive_features", "missing", "min_count", "rare")
    return tally_table(Columns(**{name: getattr(roles, name) for name in names}), sums)


def _check_sums(sums: Mapping[str, str]) -> None:
    """Refuse sums of anything but names of columns."""
    for name, column in sums.items():
        if not isinstance(name, str) or not isinstance(column, str):
            raise InputTypeError(f"sums={{{name!r}: {column!r}}} does not name a column to add up.")


def _check_names(totals: Mapping[str, str], weight: str | None, rate: str | None) -> None:
    """Refuse weights without squares, weights twice, and sums next to a rate."""
    if totals and rate is not None:
        raise InputError(
            f"sums={list(totals)} are over all rows of a line, and rate={rate!r} divides these "
            "into two; name y_pred instead, with a line for each."
        )
    present = [name for name in ("weight", "weight²") if name in totals]
    if present and weight is not None:
        raise InputError(f"Which weights, those of sample_weight={weight!r} or sums={present}?")
    if len(present) == 1:
        raise InputError(
            "Weighted counts need two sums, 'weight' and 'weight²', of weights and of their "
            f"squares: sums names {present[0]!r} alone."
        )
    if "rows" in totals:
        raise InputError("The number of rows is rows=, and not among the sums.")


def _check_squares(cells: Cells, totals: Mapping[str, str]) -> None:
    """Refuse sums of squares that are too small for their sums (Cauchy and Schwarz)."""
    for name, column in totals.items():
        squares = cells.sums.get(f"{name}²")
        if name == "weight" and (cells.sums[name] < 0).any():
            raise InputError(f"{column!r} has negative sums of weights.")
        if squares is None:
            continue
        size = cells.rows if name == "weight" else cells.weight
        smallest = cells.sums[name] ** 2
        wrong = np.flatnonzero(squares * size < smallest * (1 - SLACK))
        if len(wrong):
            at = int(wrong[0])
            raise InputError(
                f"{totals[f'{name}²']!r} has the sum of squares {squares[at]:g}, but {size[at]:g} "
                f"values that add up to {cells.sums[name][at]:g} in {column!r} have squares of at "
                f"least {smallest[at] / size[at]:g}."
            )
