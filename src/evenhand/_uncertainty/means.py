"""Means and losses, and functions of several means, by Student's limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from evenhand._data.tallies import Tally
from evenhand._uncertainty.curves import Estimates, Floats, student_limits
from evenhand._uncertainty.replicates import means_amount
from evenhand.statistics import Derived, E, Table
from evenhand.statistics.forms import ratio

ROUNDING = 1e-13  # of a mean square: a variance that only rounding makes, and the order of rows
LENT_ROWS = 2.0  # rows of pooled variance that steady the variance of a small group
SKEW = 3.0  # skewness of losses over their coefficient of variation: gamma's is 2, lognormal's 3
LENT_BY_TAILS = 4.0  # more of them, times the squared coefficient of variation of losses


def means(source: Tally, statistic: Any, table: Table) -> Estimates:
    """Means by Student's limits; a function of several means varies with the first of them."""
    names = (statistic.of,) if isinstance(statistic, E) else statistic.of
    weight = source.table("group")
    mean = ratio(source.table("group", of=names[0]), weight)
    square = ratio(source.table("group", of=f"{names[0]}²"), weight)
    by = next((name for name in ("fpc", "weight²") if name in source.sums), "weight")
    sizes = np.nan_to_num(ratio(weight**2, source.table("group", of=by)))
    variance = np.nan_to_num(square - mean**2)
    variance = np.where(variance > ROUNDING * square, variance, 0.0)
    is_loss = names[0] != "yhat"
    free = np.maximum(sizes - 1, 0.0) + LENT_ROWS
    amount = means_amount(source, names[0], np.nan_to_num(mean), variance)
    if amount is not None:
        sizes = amount.rows if source.scale else np.minimum(amount.rows, sizes)
        free = amount.free
    steadied = _steadied(variance, mean, sizes, LENT_BY_TAILS if is_loss else 0.0)
    error = np.sqrt(steadied / np.maximum(sizes, 1.0))
    least = 0.0 if is_loss else -np.inf
    plain = Table(mean[None], ("all",), table.groups)
    skew = SKEW * np.nan_to_num(ratio(error, mean)) if is_loss else np.zeros_like(error)
    student = student_limits(
        plain, mean[None], error[None], free[None], (least, np.inf), skew[None]
    )
    if isinstance(statistic, E):
        return student
    return _derived(source, statistic, table, student)


def _steadied(variance: Floats, mean: Floats, sizes: Floats, per_tail: float) -> Floats:
    """Variances of small groups, by the rows that all groups lend them; never less than their own.

    Where losses have heavy tails a small group has seldom seen its tail, so its own variance is too
    small. The heavier the tail, the larger is the squared coefficient of variation of all rows,
    and the more of them are lent.
    """
    rows = max(float(sizes.sum()), 1.0)
    pooled = float((variance * sizes).sum()) / rows
    common = float((np.nan_to_num(mean) * sizes).sum()) / rows
    lent_rows = LENT_ROWS + (per_tail * pooled / common**2 if common else 0.0)
    steadied = (variance * sizes + lent_rows * pooled) / (np.maximum(sizes - 1, 0.0) + lent_rows)
    return np.asarray(np.fmax(steadied, variance * sizes / np.maximum(sizes - 1, 1.0)))


def _derived(source: Tally, statistic: Derived, table: Table, first: Estimates) -> Estimates:
    weight = source.table("group")
    others = [ratio(source.table("group", of=name), weight) for name in statistic.of[1:]]
    moved = partial(_moved, statistic, [*others, weight])
    curves = moved(first.curves)
    falls = np.nanmean(curves[-1] - curves[0]) < 0
    curves = curves[::-1] if falls else curves
    strata, exact = np.zeros(1, np.intp), partial(_moved_bounds, moved, first)
    return Estimates(
        table.values, curves, table.cells, table.groups, first.sizes, strata, 1.0, exact
    )


def _moved(statistic: Derived, others: Sequence[Floats], means: Floats) -> Floats:
    """The statistic, were its first mean one of these."""
    return np.asarray([statistic.function(one[0], *others)[None] for one in means])


def _moved_bounds(
    moved: Callable[[Floats], Floats], first: Estimates, error: float
) -> tuple[Floats, Floats]:
    ends = moved(np.array(first.exact(error)))
    return np.fmin(ends[0], ends[1]), np.fmax(ends[0], ends[1])
