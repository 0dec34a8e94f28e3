"""Tables of counts: each line represents many rows, and a column has their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.encoding import numbers
from evenhand._data.counting import tally_columns
from evenhand._data.group_by import as_float, is_fraction, read_table
from evenhand._data.groups import Groups
from evenhand._data.tallies import MOST_ROWS, Tally, weighed
from evenhand._errors import InputError, InputTypeError
from evenhand._words import plural

Floats = NDArray[np.float64]

MOST_DIGITS = 12  # decimals of a rate; more come from a quotient, or from rounding
SELECTED = (0, 1)  # the classes of a rate, even if one has no rows
SLACK = 1e-9  # of sums that were rounded when they were written
MOMENT_COLUMNS = {  # the sums of `moments`, by their names in a table of counts
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


class CountedTable(NamedTuple):
    """Lines of at least one row each, the total number of rows, and the column of decisions."""

    table: Any
    total: int
    y_pred: str | None
    notes: tuple[str, ...] = ()


def read_counts(
    frame: Any,
    requested: Sequence[str | None],
    *,
    rows: str,
    rate: str | None = None,
    digits: int | None = None,
    y_pred: str | None = None,
) -> CountedTable:
    """Read a table of counts and check them; rates become counts."""
    import narwhals as nw

    if digits is not None and rate is None:
        raise InputError(f"digits={digits} is about rates; name their column (rate).")
    if rate is not None and y_pred is not None:
        raise InputError(f"Which says who was selected, y_pred={y_pred!r} or rate={rate!r}?")
    columns = [name for name in requested if name is not None]
    if rows in columns:
        raise InputError(f"{rows!r} is the column of the counts, and cannot have another role too.")
    table = read_table(frame, [*columns, rows, rate])
    total = _total(table, rows)
    try:
        table = table.filter(nw.col(rows) > 0)
    except TypeError as failure:  # of pandas, whose columns can hold structures
        raise InputTypeError(f"A column cannot name classes or groups: {failure}.") from failure
    if rate is None:
        return CountedTable(table, total, y_pred)
    return _from_rates(table, list(dict.fromkeys(columns)), rows, rate, digits)


def line_counts(rows: Any, name: str = "rows") -> NDArray[np.int64] | None:
    """The column of numbers of rows, checked to be counts."""
    if rows is None:
        return None
    count = numbers(rows, name)
    finite = count[np.isfinite(count)]
    broken = finite[finite % 1 != 0]
    with np.errstate(over="ignore"):  # an infinite total is refused as too large
        total = finite.sum()
    summary = {
        "lines": len(count),
        "known": len(finite),
        "least": finite.min(initial=np.inf),
        "most": finite.max(initial=0.0),
        "total": total,
        "fraction": broken.min() if len(broken) else None,
    }
    _check_counts(name, summary)
    return count.astype(np.int64)


def tally_lines(
    y_true: Column | None,
    y_pred: Column,
    group: Groups,
    times: NDArray[np.int64],
    weight: Floats | None = None,
    strata: Column | None = None,
) -> Tally:
    """Count coded lines, each of which represents several rows."""
    sums = {"times": times.astype(np.float64)}
    if weight is not None:
        sums |= {name: weight**power * times for name, (power, _) in weighed([]).items()}
    by = {"sensitive_features": group, "strata": strata}
    counted = tally_columns(y_true, y_pred, **by, sums=sums)
    totals: dict[str, NDArray[Any]] = dict(counted.sums)
    totals["rows"] = totals.pop("times").astype(np.int64)
    return replace(counted, sums=totals)


def _total(table: Any, rows: str) -> int:
    """Total number of rows of all lines; refuse a column that is not of counts."""
    import narwhals as nw

    kind = table.collect_schema()[rows]
    if not kind.is_numeric():
        raise InputTypeError(f"{rows!r} must hold counts, but holds something other than numbers.")
    is_whole, number = kind.is_integer(), nw.col(rows) if kind.is_integer() else as_float(rows)
    available = ~number.is_null() if is_whole else ~number.is_null() & number.is_finite()
    looked_at = table.select(
        nw.when(available).then(number).alias("count"),
        # Some engines refuse to make a float of a larger one; the largest is checked by itself.
        nw.when(available & (number <= MOST_ROWS)).then(number).cast(nw.Float64).alias("exact"),
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
    aggregates = (part.alias(name) for name, part in parts.items())
    with np.errstate(over="ignore"):  # an infinite total is refused as too large
        row = looked_at.select(*aggregates).collect().rows(named=True)[0]
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
    """Split each line into one of the selected and one of the rejected."""
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
        added = (
            nw.new_series(name, column, backend=lines.implementation)
            for name, column in values.items()
        )
        return lines.select(*names).with_columns(*added).filter(nw.col(rows) > 0)

    split = nw.concat([counted(0, size - selected), counted(1, selected)])
    return CountedTable(split.lazy(), int(size.sum()), decision, (note,))


def selected_of(
    rate: Floats, size: Floats, name: str, sizes: str, digits: int | None
) -> tuple[Floats, str]:
    """Numbers of selected rows that rates amount to, and a note on how far off these may be.

    A rate of d decimals is within half a unit of its last decimal of the share it was rounded
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
    largest = int(np.maximum(highest - selected, selected - lowest).max(initial=0.0))
    how_far = (
        f"a count may be off by up to {largest:,}"
        if largest
        else "there is one such number for each"
    )
    note = (
        f"The selected are {name!r} × {sizes!r}, to the nearest whole number: the rates have "
        f"{plural(digits, 'decimal')}, and {how_far}."
    )
    if not fractions and largest == 0:
        note = f"The selected are {name!r} × {sizes!r}: every rate is 0 or 1."
    return selected, note


def _decimals(value: float) -> int:
    """Number of decimals of a number as written, ignoring rounding in its last place.

    >>> _decimals(0.312), _decimals(1.0), _decimals(2.5e-07), _decimals(0.1 + 0.2)
    (3, 0, 8, 1)
    """
    return len(f"{value:.{MOST_DIGITS}f}".rstrip("0").partition(".")[2])


def _unused(name: str, names: Sequence[str]) -> str:
    """A name that no column has yet."""
    while name in names:
        name += "_"
    return name
