"""A table as a tally: its rows counted by its own engine, or lines of counts added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand._columns import Column
from evenhand._data.counting import share_classes
from evenhand._data.counts import MOMENT_COLUMNS, SELECTED, SLACK, CountedTable, read_counts
from evenhand._data.group_by import Cells, GroupColumns, as_float, count_cells, listed, read_table
from evenhand._data.roles import POLICY, Columns
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_columns, check_kinds

NAMES = ("rows", "y_true", "y_pred", "rate", "sensitive_features", "sample_weight", "strata")


def tally_table(
    given: Columns, sums: Mapping[str, str] | None = None, digits: int | None = None
) -> Tally:
    """Count a table in the engine that holds it; only the counts come back.

    Where `rows` names a column of counts, a line stands for that many rows, and `sums` are columns
    of sums over these; rate × rows of a line are counted as predicted 1, to the nearest whole
    number, and the others as 0.
    """
    import narwhals as nw

    rows, weight = given.rows, given.sample_weight
    rate = None if rows is None else given.rate
    policy: dict[str, Any] = {name: getattr(given, name) for name in POLICY}
    check_kinds(**policy, sums=sums)
    totals = dict(sums or {})
    _check_sums(totals)
    check_columns(**{name: getattr(given, name) for name in (*NAMES, "cluster")})
    if rows is None and given.y_pred is None:
        raise InputError("Name the column of the predictions (y_pred).")
    if given.y_pred is None and rate is None and not sums:
        raise InputError(
            "Name the column of the predictions (y_pred), of the selected share (rate), or those "
            "of sums over the rows (sums)."
        )
    group = GroupColumns(listed(given.sensitive_features), **policy)
    within, together = GroupColumns(listed(given.strata), given.missing), listed(given.cluster)
    columns = [*within.names, *together, *group.names]
    wanted = [given.y_true, given.y_pred, *columns, *totals.values(), weight]
    added = {name: as_float(column) for name, column in totals.items()}
    if rows is None:
        counted = CountedTable(read_table(given.data, wanted), 0, given.y_pred)
        how: dict[str, Any] = {"sums": added}
    else:
        _check_names(totals, weight, rate)
        counted = read_counts(
            given.data, wanted, rows=rows, rate=rate, digits=digits, y_pred=given.y_pred
        )
        how = {"totaled": added, "rows": rows}
    labels = {"y": given.y_true, "yhat": counted.y_pred}
    known = {axis: name for axis, name in labels.items() if name is not None}
    cells = count_cells(
        counted.table,
        columns=columns,
        keys={axis: nw.col(name) for axis, name in known.items()},
        finite=totals.values(),
        weight=weight,
        **how,
    )
    if rows is not None:
        _check_squares(cells, totals)
    coded = share_classes({axis: cells.labels(axis, name) for axis, name in known.items()})
    notes = counted.notes
    if within.names:
        stratum = within.of(cells)
        coded["stratum"] = Column(stratum.codes, stratum.labels)
        notes += stratum.notes
    whole = cells.tally(coded | cells.clusters(together), group.of(cells), notes=notes)
    return whole if rate is None else whole.with_classes(SELECTED)


def tally_moment_columns(given: Columns) -> Tally:
    """The sums for criteria of regression, in columns of the names that `count_query` gives."""
    there = read_table(given.data, [given.rows]).collect_schema().names()
    needed = ("yhat", "yhat²")  # without these two there is nothing to audit
    sums = {name: at for name, at in MOMENT_COLUMNS.items() if at in there or name in needed}
    names = ("data", "rows", "sensitive_features", "missing", "min_count", "rare")
    return tally_table(Columns(**{name: getattr(given, name) for name in names}), sums)


def _check_sums(sums: Mapping[str, str]) -> None:
    """Refuse sums of what are not names of columns."""
    for name, column in sums.items():
        if not isinstance(name, str) or not isinstance(column, str):
            raise InputTypeError(f"sums={{{name!r}: {column!r}}} does not name a column to add up.")


def _check_names(totals: Mapping[str, str], weight: str | None, rate: str | None) -> None:
    """Refuse half of what weights need, weights twice, and sums over selected and others alike."""
    if totals and rate is not None:
        raise InputError(
            f"sums={list(totals)} are over all rows of a line, and rate={rate!r} divides these "
            "into two; name y_pred instead, with a line for each."
        )
    given = [name for name in ("weight", "weight²") if name in totals]
    if given and weight is not None:
        raise InputError(f"Which weights, those of sample_weight={weight!r} or sums={given}?")
    if len(given) == 1:
        raise InputError(
            "Weighted counts need two sums, 'weight' and 'weight²', of weights and of their "
            f"squares: sums names {given[0]!r} alone."
        )
    if "rows" in totals:
        raise InputError("The number of rows is rows=, and not among the sums.")


def _check_squares(cells: Cells, totals: Mapping[str, str]) -> None:
    """Refuse sums of squares that are too small for the sums beside them (Cauchy and Schwarz)."""
    for name, column in totals.items():
        squares = cells.sums.get(f"{name}²")
        if name == "weight" and (cells.sums[name] < 0).any():
            raise InputError(f"{column!r} has negative sums of weights.")
        if squares is None:
            continue
        size = cells.rows if name == "weight" else cells.weight
        least = cells.sums[name] ** 2
        wrong = np.flatnonzero(squares * size < least * (1 - SLACK))
        if len(wrong):
            at = int(wrong[0])
            raise InputError(
                f"{totals[f'{name}²']!r} has the sum of squares {squares[at]:g}, but {size[at]:g} "
                f"values that add up to {cells.sums[name][at]:g} in {column!r} have squares of at "
                f"least {least[at] / size[at]:g}."
            )
