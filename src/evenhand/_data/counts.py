"""Tables that are already counted: a line stands for many rows, and a column says for how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.encoding import numbers
from evenhand._data.counting import share_classes, tally_columns
from evenhand._data.group_by import (
    Cells,
    GroupColumns,
    as_float,
    check_sums,
    count_cells,
    is_fraction,
    listed,
    read_table,
)
from evenhand._data.groups import Groups, Missing, Rare
from evenhand._data.tallies import MOST_ROWS, Tally, weighed
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_columns, check_kinds
from evenhand._words import plural

Floats = NDArray[np.float64]

MOST_DIGITS = 12  # decimals of a rate; more are those of a quotient, or noise of the last place
SELECTED = (0, 1)  # the classes of a rate, whether anybody is of them or not
SLACK = 1e-9  # of sums that were rounded when they were written
MOMENT_COLUMNS = {  # what `moments` adds up, by the names that a counted table has for it
    "yhat": "sum_prediction",
    "yhat²": "sum_prediction_squared",
    "yhat³": "sum_prediction_cubed",
    "yhat⁴": "sum_prediction_to_the_fourth",
    "y": "sum_truth",
    "y²": "sum_truth_squared",
    "y³": "sum_truth_cubed",
    "y⁴": "sum_truth_to_the_fourth",
    "error": "sum_error",
    "error²": "sum_squared_error",
    "error³": "sum_error_cubed",
    "error⁴": "sum_squared_error_squared",
    "y·squared_error": "sum_squared_error_times_truth",
    "y²·squared_error": "sum_squared_error_times_truth_squared",
    "squared_error": "sum_squared_error",
    "squared_error²": "sum_squared_error_squared",
    "absolute_error": "sum_absolute_error",
    "absolute_error²": "sum_squared_error",
}


def tally_counts(
    frame: Any,
    *,
    rows: str,
    y_true: str | None = None,
    y_pred: str | None = None,
    sensitive_features: str | Sequence[str],
    rate: str | None = None,
    digits: int | None = None,
    sample_weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    sums: Mapping[str, str] | None = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
) -> Tally:
    """Read a table of counts: what `GROUP BY` leaves of the rows is all that criteria need.

    Rate × rows of a line are counted as predicted 1, to the nearest whole number, and the others as
    0; `sums` are columns of sums over the rows of a line.
    """
    import narwhals as nw

    check_kinds(missing=missing, min_count=min_count, rare=rare, sums=sums)
    check_sums(sums)
    check_columns(
        rows=rows,
        y_true=y_true,
        y_pred=y_pred,
        rate=rate,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        strata=strata,
        cluster=cluster,
    )
    if y_pred is None and rate is None and not sums:
        raise InputError(
            "Name the column of the predictions (y_pred), of the selected share (rate), or those "
            "of sums over the rows (sums)."
        )
    group = GroupColumns(listed(sensitive_features), missing, min_count, rare)
    within = GroupColumns(listed(strata), missing)
    totals = dict(sums or {})
    _check_names(totals, sample_weight, rate)
    together = listed(cluster)
    wanted = [y_true, y_pred, *within.names, *together, *group.names]
    wanted += [*totals.values(), sample_weight]
    counted = read_counts(frame, wanted, rows=rows, rate=rate, digits=digits, y_pred=y_pred)
    labels = {"y": y_true, "yhat": counted.y_pred}
    known = {axis: name for axis, name in labels.items() if name is not None}
    cells = count_cells(
        counted.table,
        columns=[*within.names, *together, *group.names],
        keys={axis: nw.col(name) for axis, name in known.items()},
        totaled={name: as_float(column) for name, column in totals.items()},
        finite=totals.values(),
        weight=sample_weight,
        rows=rows,
    )
    _check_sums(cells, totals)
    coded = share_classes({axis: cells.labels(axis, name) for axis, name in known.items()})
    notes = counted.notes
    if within.names:
        stratum = within.of(cells)
        coded["stratum"] = Column(stratum.codes, stratum.labels)
        notes += stratum.notes
    whole = cells.tally(coded | cells.clusters(together), group.of(cells), notes=notes)
    return whole if rate is None else whole.with_classes(SELECTED)


def tally_moment_columns(
    frame: Any,
    *,
    rows: str,
    sensitive_features: str | Sequence[str],
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
) -> Tally:
    """The sums for criteria of regression, in columns of the names that `count_query` gives."""
    table = read_table(frame, [rows])
    there = table.collect_schema().names()
    needed = ("yhat", "yhat²")  # without these two there is nothing to audit
    sums = {name: at for name, at in MOMENT_COLUMNS.items() if at in there or name in needed}
    return tally_counts(
        frame,
        rows=rows,
        sensitive_features=sensitive_features,
        sums=sums,
        missing=missing,
        min_count=min_count,
        rare=rare,
    )


class CountedTable(NamedTuple):
    """Lines that stand for at least one row each, how many rows in all, and who was selected."""

    table: Any
    total: int
    y_pred: str | None
    notes: tuple[str, ...] = ()


def read_counts(
    frame: Any,
    wanted: Sequence[str | None],
    *,
    rows: str,
    rate: str | None = None,
    digits: int | None = None,
    y_pred: str | None = None,
) -> CountedTable:
    """The lines of a table of counts, if all of them are counts; rates become counts."""
    import narwhals as nw

    if rows is None:
        raise InputError("Name the column of the counts (rows).")
    if digits is not None and rate is None:
        raise InputError(f"digits={digits} is about rates; name their column (rate).")
    if rate is not None and y_pred is not None:
        raise InputError(f"Which says who was selected, y_pred={y_pred!r} or rate={rate!r}?")
    taken = [name for name in wanted if name is not None]
    if rows in taken:
        raise InputError(f"{rows!r} is the column of the counts, and cannot have another role too.")
    table = read_table(frame, [*taken, rows, rate])
    total = _total(table, rows)
    try:
        table = table.filter(nw.col(rows) > 0)
    except TypeError as failure:  # of pandas, whose columns can hold structures
        raise InputTypeError(f"A column cannot name classes or groups: {failure}.") from failure
    if rate is None:
        return CountedTable(table, total, y_pred)
    return _from_rates(table, list(dict.fromkeys(taken)), rows, rate, digits)


def line_counts(rows: Any, name: str = "rows") -> NDArray[np.int64] | None:
    """A column that says how many rows each line stands for, if all of it are counts."""
    if rows is None:
        return None
    count = numbers(rows, name)
    known = count[np.isfinite(count)]
    broken = known[known % 1 != 0]
    with np.errstate(over="ignore"):  # an infinite total is refused as too large
        total = known.sum()
    seen = {
        "lines": len(count),
        "known": len(known),
        "least": known.min(initial=np.inf),
        "most": known.max(initial=0.0),
        "total": total,
        "fraction": broken.min() if len(broken) else None,
    }
    _check_counts(name, seen)
    return count.astype(np.int64)


def tally_lines(
    y_true: Column | None,
    y_pred: Column,
    group: Groups,
    times: NDArray[np.int64],
    weight: Floats | None = None,
) -> Tally:
    """Count coded lines, each of which stands for several rows."""
    sums = {"times": times.astype(np.float64)}
    if weight is not None:
        sums |= {name: weight**power * times for name, (power, _) in weighed([]).items()}
    counted = tally_columns(y_true, y_pred, sensitive_features=group, sums=sums)
    totals: dict[str, NDArray[Any]] = dict(counted.sums)
    totals["rows"] = totals.pop("times").astype(np.int64)
    return replace(counted, sums=totals)


def _total(table: Any, rows: str) -> int:
    """How many rows all the lines stand for; refuse what is not a count."""
    import narwhals as nw

    kind = table.collect_schema()[rows]
    if not kind.is_numeric():
        raise InputTypeError(f"{rows!r} must hold counts, but holds something other than numbers.")
    whole, each = kind.is_integer(), nw.col(rows) if kind.is_integer() else as_float(rows)
    known = ~each.is_null() if whole else ~each.is_null() & each.is_finite()
    looked_at = table.select(
        nw.when(known).then(each).alias("count"),
        # Some engines refuse to make a float of a larger one; the largest is looked at by itself.
        nw.when(known & (each <= MOST_ROWS)).then(each).cast(nw.Float64).alias("exact"),
    )
    count, exact = nw.col("count"), nw.col("exact")
    parts = {
        "lines": nw.len(),
        "known": count.count(),
        "least": count.min(),
        "most": count.max(),
        "total": exact.sum(),
        "fraction": nw.when(is_fraction(exact)).then(exact).min(),
    }
    wanted = (part.alias(name) for name, part in parts.items())
    with np.errstate(over="ignore"):  # an infinite total is refused as too large
        row = looked_at.select(*wanted).collect().rows(named=True)[0]
    _check_counts(repr(rows), row)
    return int(row["total"])


def _check_counts(name: str, row: Mapping[str, Any]) -> None:
    """Refuse counts that are missing, negative or not whole, with the first such value."""
    absent = int(row["lines"]) - int(row["known"])
    if absent:
        raise InputError(
            f"{name} has {plural(absent, 'count')} that {'is' if absent == 1 else 'are'} missing "
            "or not finite; write 0 where there are no rows, or drop those lines."
        )
    if row["lines"] and row["least"] < 0:
        raise InputError(f"{name} has the count {row['least']:g}; counts are not negative.")
    fraction = row["fraction"]
    if fraction is not None and fraction == fraction:
        raise InputError(
            f"{name} has the count {fraction:g}, which is not whole. Weights of rows go into "
            "sample_weight=, and sums of weights into sums=."
        )
    if row["lines"] and max(row["most"], row["total"]) > MOST_ROWS:
        raise InputError(
            f"The counts in {name} reach {int(row['most']):,} and add up to more than "
            f"{MOST_ROWS:,}, as many rows as can be counted exactly."
        )
    if not row["lines"] or not row["total"]:
        raise InputError("There are no rows to count.")


def _from_rates(
    table: Any, names: list[str], rows: str, rate: str, digits: int | None
) -> CountedTable:
    """Two lines for each: the selected, and the others."""
    import narwhals as nw

    if not table.collect_schema()[rate].is_numeric():
        raise InputTypeError(f"{rate!r} must hold rates, but holds something other than numbers.")
    columns = [*names, *({rows, rate} - set(names))]
    lines = table.select(*columns).collect()
    size = np.asarray(lines[rows].cast(nw.Float64).to_numpy(), dtype=np.float64)
    share = np.asarray(lines[rate].to_numpy())
    if share.dtype == np.float32:  # as it is written: 0.39, not the nearest double of its single
        share = share.astype(str)
    share = share.astype(np.float64)
    selected, note = selected_of(share, size, rate, rows, digits)
    decision = _unused("selected", names)

    def counted(label: int, number: Floats) -> Any:
        values = {decision: np.full(len(lines), label), rows: number.astype(np.int64)}
        made = (
            nw.new_series(name, column, backend=lines.implementation)
            for name, column in values.items()
        )
        return lines.select(*names).with_columns(*made).filter(nw.col(rows) > 0)

    both = nw.concat([counted(0, size - selected), counted(1, selected)])
    return CountedTable(both.lazy(), int(size.sum()), decision, (note,))


def selected_of(
    rate: Floats, size: Floats, name: str, sizes: str, digits: int | None
) -> tuple[Floats, str]:
    """How many of each size a rate amounts to, and in words how far off that may be.

    A rate of d decimals lies within half a unit of the last of them of the share it was rounded
    from. Where no whole number of people has such a share, the two columns do not belong together.

    >>> selected_of(np.array([0.312]), np.array([1203.0]), "rate", "applicants", None)[0]
    array([375.])
    """
    wrong = ~((rate >= 0) & (rate <= 1))
    if wrong.any():
        value = float(rate[wrong][0])
        hint = " Divide percentages by 100." if 1 < value <= 100 else ""
        raise InputError(f"{name!r} has the rate {value:g}; rates lie between 0 and 1.{hint}")
    fractions = [value for value in rate.tolist() if 0 < value < 1]
    if digits is None:
        digits = max(map(_decimals, fractions), default=MOST_DIGITS)
    elif isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= MOST_DIGITS:
        raise InputError(f"digits is how many decimals rates have, 0 to {MOST_DIGITS}: {digits!r}.")
    reach = size * (0.5 * 10.0**-digits) + SLACK * np.maximum(1.0, size * 10.0**-digits)
    product = rate * size
    selected = np.rint(product)
    off = np.flatnonzero(np.abs(selected - product) > reach)
    if len(off):
        at = int(off[0])
        raise InputError(
            f"{name!r} has the rate {rate[at]:g} of {size[at]:g} in {sizes!r}, which is "
            f"{product[at]:g} people: no whole number of them has this rate to "
            f"{plural(digits, 'decimal')}. If the rates were rounded to fewer, round them so, or "
            "pass digits= to tally."
        )
    highest = np.minimum(np.floor(product + reach), size)
    lowest = np.maximum(np.ceil(product - reach), 0.0)
    most = int(np.maximum(highest - selected, selected - lowest).max(initial=0.0))
    how_far = (
        f"a count may be off by up to {most:,}" if most else "there is one such number for each"
    )
    note = (
        f"The selected are {name!r} × {sizes!r}, to the nearest whole number: the rates have "
        f"{plural(digits, 'decimal')}, and {how_far}."
    )
    if not fractions and most == 0:
        note = f"The selected are {name!r} × {sizes!r}: every rate is 0 or 1."
    return selected, note


def _decimals(value: float) -> int:
    """How many decimals a number has as it is written, but for noise of its last place.

    >>> _decimals(0.312), _decimals(1.0), _decimals(2.5e-07), _decimals(0.1 + 0.2)
    (3, 0, 8, 1)
    """
    return len(f"{value:.{MOST_DIGITS}f}".rstrip("0").partition(".")[2])


def _unused(name: str, names: Sequence[str]) -> str:
    """A name that no column has."""
    while name in names:
        name += "_"
    return name


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


def _check_sums(cells: Cells, totals: Mapping[str, str]) -> None:
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
