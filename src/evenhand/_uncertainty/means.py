"""Means and losses, and functions of several means, by what single rows do to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np

from evenhand._data.tallies import POWERS, Tally
from evenhand._uncertainty.clusters import Amount
from evenhand._uncertainty.curves import Estimates, Floats, student_limits
from evenhand._uncertainty.influence import LENT_ROWS, Known, RowMoments, steadied
from evenhand._uncertainty.replicates import influence_amount, squares_of
from evenhand.statistics import E, Statistic, Table
from evenhand.statistics.arithmetic import ratio
from evenhand.statistics.sums import SIGNED, moved_by_means

SKEWNESS = 3.0  # of a loss, over its coefficient of variation: gamma's is 2, lognormal's 3
EXCESS = 6.0  # its excess kurtosis over the square of that, as gamma's
UNEXPLAINED = 9.0  # the same of a function of several means: between gamma's and lognormal's 16


def means(source: Tally, statistic: Statistic, table: Table) -> Estimates:
    """Means by Student's limits; a function of several means varies with all, or with the first."""
    if statistic.scale is not None:
        return _scaled(source, statistic, table)
    of, per = statistic.means[0], statistic.relative_to
    mean = ratio(source.table("group", of=of), source.table("group", of=per or "weight"))
    if per is None:
        moments = _row_moments(source, of, mean)
    else:
        moments = _ratio_moments(source, of, per, statistic.bounds)
    influence = E(of, per=per).influence
    amount = influence_amount(source, influence, moments.variance * moments.rows, per)
    known, alone = _dependent(source, moments, amount)
    plain = Table(mean[None], ("all",), table.groups)
    most = statistic.most(source) if per or statistic.mean_of else np.inf
    bounds = (-np.inf if of in SIGNED else 0.0, most)
    student = student_limits(plain, mean[None], known, bounds, alone)
    return student if statistic.mean_of or per else _derived(source, statistic, table, student)


def _dependent(source: Tally, moments: RowMoments, amount: Amount | None) -> tuple[Known, Known]:
    """What is known of groups beside each other, and of each alone."""
    known = steadied(moments)
    if amount is None:
        return (known.scaled(np.sqrt(_sampled_part(source))),) * 2
    spread = _lent(moments, known)
    both = []
    for rows in (amount.rows, amount.alone):
        few = steadied(moments._replace(variance=ratio(spread, rows), rows=np.maximum(rows, 1e-9)))
        error = np.sqrt(np.nan_to_num(ratio(spread, rows)))
        both.append(few._replace(error=error, free=np.minimum(amount.free, few.free)))
    return both[0], both[1]


def _lent(moments: RowMoments, known: Known) -> Floats:
    """The variance of single rows; where a few of them vary less than all do, with that of all."""
    own = moments.variance * moments.rows
    shown = own * moments.rows / np.maximum(moments.rows - 1, 1.0)
    lent = known.error**2 * moments.rows
    return np.where(lent > shown * (1 + 1e-9), lent, own)


def _sampled_part(source: Tally) -> Floats:
    """What a finite population leaves to chance, of the variance."""
    if "fpc" not in source.sums:
        return np.ones(1)
    return np.nan_to_num(
        ratio(source.table("group", of="fpc"), source.table("group", of="weight²")), nan=1.0
    )


def _row_moments(source: Tally, of: str, mean: Floats) -> RowMoments:
    """Moments of the influences wᵢ (vᵢ − T) / W, from sums of powers; of losses by their tails."""
    weight, center = source.table("group"), np.nan_to_num(mean)
    second, third, fourth = (central_sum(source, of, power, center) for power in (2, 3, 4))
    squares = source.table("group", of="weight²") if "weight²" in source.sums else weight
    rows = np.nan_to_num(ratio(weight**2, squares))
    effect = ratio(source.table("group", of="rows"), rows)
    if second is None:  # the weights are taken not to go with the value
        square = ratio(source.table("group", of=f"{of}²"), weight)
        second = np.maximum(np.nan_to_num(square - center**2), 0.0) * squares
    second = _of_single_rows(np.nan_to_num(ratio(second, weight**2)), mean, rows)
    if third is not None and fourth is not None:
        third, fourth = ratio(third, weight**3), ratio(fourth, weight**4)
        moments = RowMoments.of(second, third, fourth, rows, effect)
    elif of not in SIGNED:
        variation = ratio(np.sqrt(second * rows), center)
        skewness, kurtosis = SKEWNESS * variation, 3 + EXCESS * variation**2
        moments = RowMoments(second, skewness, kurtosis, rows, effect)
    else:
        unknown = np.full(second.shape, np.nan)
        moments = RowMoments(second, unknown, unknown, rows, effect)
    return RowMoments(*(part[None] for part in moments))


def _of_single_rows(variance: Floats, mean: Floats, rows: Floats) -> Floats:
    """Variances; where most groups are single rows, at least what their means differ by."""
    seen = rows > 0
    groups = np.count_nonzero(seen)
    if groups < 2 or rows[seen].sum() >= 2 * groups:
        return variance
    each = np.var(mean[seen], ddof=1) / np.mean(1 / rows[seen])
    return np.where(seen, np.maximum(variance, ratio(np.full(rows.shape, each), rows)), variance)


def _with_two_more(
    variance: Floats, value: Floats, rows: Floats, bounds: tuple[float, float]
) -> Floats:
    """Variances, none less than what two further rows at an end of the range would add.

    Two rows of all groups; or, where rows are the same in every group, two of each.
    """
    if not np.isfinite(bounds).all():
        return variance
    farthest = np.maximum(value - bounds[0], bounds[1] - value)
    seen = rows if (variance <= 1e-12).all() else rows.sum()
    least = ratio(LENT_ROWS * farthest**2 / (seen + LENT_ROWS), rows)
    return np.where(rows > 0, np.maximum(variance, least), variance)


def _ratio_moments(
    source: Tally, of: str, per: str, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> RowMoments:
    """Moments of the influences wᵢ (nᵢ − T dᵢ) / D: those of a mean, where d are the weights."""
    above, below = (source.table("group", of=name) for name in (of, per))
    value = np.nan_to_num(ratio(above, below))
    weight = source.table("group")
    centers = [np.nan_to_num(ratio(part, weight)) for part in (above, below)]
    parts = [
        _product(source, one, two, name, centers[i], centers[j])
        for one, two, name, i, j in (
            (of, of, f"{of}²", 0, 0),
            (of, per, f"{of}·{per}", 0, 1),
            (per, per, f"{per}²", 1, 1),
        )
    ]
    second = np.maximum(parts[0] - 2 * value * parts[1] + value**2 * parts[2], 0.0)
    rows = np.nan_to_num(ratio(below**2, squares_of(source, per)))
    second = _of_single_rows(np.nan_to_num(ratio(second, below**2)), value, rows)
    second = _with_two_more(second, value, rows, bounds)
    unknown = np.full(second.shape, np.nan)
    effect = ratio(source.table("group", of="rows"), rows)
    return RowMoments(*(part[None] for part in (second, unknown, unknown, rows, effect)))


def central_sum(source: Tally, of: str, power: int, center: Floats) -> Floats | None:
    """Σ wʲ (v − T)ʲ by group, for the power j; None where the sums were not counted."""
    mark = POWERS[power]
    names = [of, *(f"{of}{POWERS[k]}" for k in range(2, power + 1))]
    if "weight" in source.sums:
        names = [f"weight{mark}", *(f"weight{mark}·{name}" for name in names)]
    else:
        names = ["rows", *names]
    if not set(names) <= source.sums.keys():
        return None
    sums = [source.table("group", of=name) for name in names]
    if not np.isfinite(sums).all() or not (sums[0] > 0).any():
        return None
    parts = [comb(power, k) * sums[k] * (-center) ** (power - k) for k in range(power + 1)]
    total = np.sum(parts, axis=0)
    rounding = 1e-13 * np.max(np.abs(parts), axis=0)
    total = np.where(np.abs(total) > rounding, total, 0.0)
    return np.asarray(total if power == 3 else np.maximum(total, 0.0))


def _scaled(source: Tally, statistic: Any, table: Table) -> Estimates:
    """A function of several means, all of which vary, on the scale where it varies evenly.

    Its influence is the sum of those on the means, times how it changes with each.
    """
    scale, weight = statistic.scale, source.table("group")
    assert scale is not None
    center = [np.nan_to_num(ratio(source.table("group", of=o), weight)) for o in statistic.means]
    slopes = scale.gradient(*center)
    squares = source.table("group", of="weight²") if "weight²" in source.sums else weight
    rows = np.nan_to_num(ratio(weight**2, squares))
    second = _with_unseen_tails(_second(source, statistic, center, slopes), rows, slopes[-1])
    unknown = np.full(second.shape, np.nan)
    heavy = 3 + UNEXPLAINED * second * rows
    effect = ratio(source.table("group", of="rows"), rows)
    moments = RowMoments(*(part[None] for part in (second, unknown, heavy, rows, effect)))
    influence = partial(moved_by_means, statistic.means, scale.gradient)
    amount = influence_amount(source, influence, (second * rows)[None])
    known, alone = (_of_a_spread(of, rows) for of in _dependent(source, moments, amount))
    place = np.where(np.isnan(table.values), np.nan, scale.at(*center))
    plain = Table(place, ("all",), table.groups)
    student = student_limits(plain, place, known, (-np.inf, np.inf), alone)
    return _moved_along(table, student, scale.value)


def _with_unseen_tails(second: Floats, rows: Floats, slope: Floats) -> Floats:
    """Σ ψ² of each group, where two rows more vary like the rows of all groups.

    Next to a spread that was taken from the same few rows nothing is ever far: n of them have no
    kurtosis above n. Next to the spread of all rows, tails show (Bonett 2006, Computational
    Statistics & Data Analysis 50, 775–782). The last mean is the one that gives the spread.
    """
    spread = np.nan_to_num(ratio(rows, np.abs(slope)))
    common = (second * spread**2).sum() * rows.sum() / max(spread.sum() ** 2, 1e-300)
    more = ratio(second * rows + LENT_ROWS * common / np.maximum(rows, 1.0), rows + LENT_ROWS)
    return np.where(rows > 0, np.fmax(second, more), second)


def _of_a_spread(known: Known, rows: Floats) -> Known:
    """The same of the logarithm of a spread, which varies more the fewer rows it is taken from.

    That of n normal rows has trigamma((n − 1) / 2) for a variance, where 2 / (n − 1) is told here.
    """
    from scipy.special import polygamma

    half = np.maximum(rows - 1, 1.0) / 2
    error = known.error * np.sqrt(half * polygamma(1, half))
    return known._replace(error=error, free=np.minimum(known.free, 2 * half))


def _second(
    source: Tally, statistic: Any, center: Sequence[Floats], slopes: Sequence[Floats]
) -> Floats:
    """Σ ψ² of a function of several means, from sums of products of their columns."""
    second, means = np.zeros(len(center[0])), statistic.means
    for i, products in enumerate(statistic.scale.products):
        for j, name in enumerate(products, start=i):
            product = _product(source, means[i], means[j], name, center[i], center[j])
            second += (1 if i == j else 2) * slopes[i] * slopes[j] * product
    return np.maximum(np.nan_to_num(ratio(second, source.table("group") ** 2)), 0.0)


def row_squares(source: Tally, statistic: Any) -> Floats | None:
    """Σ ψ² over independent rows (groups) of a function of means; None where it was not counted."""
    weight = source.table("group")
    center = [np.nan_to_num(ratio(source.table("group", of=o), weight)) for o in statistic.means]
    if statistic.relative_to:
        variance = _ratio_moments(source, statistic.means[0], statistic.relative_to).variance
        return np.asarray(variance[0])
    slopes = (np.ones(len(weight)),) if statistic.mean_of else statistic.gradient
    if slopes is None or "fpc" in source.sums:
        return None
    slopes = slopes(*center) if callable(slopes) else slopes
    if len(center) > 1:
        mark = "weight²·" if "weight" in source.sums else ""
        counted = {mark + name for part in statistic.scale.products for name in part}
        return _second(source, statistic, center, slopes) if counted <= source.sums.keys() else None
    second = central_sum(source, statistic.means[0], 2, center[0])
    return None if second is None else slopes[0] ** 2 * ratio(second, weight**2)


def _product(source: Tally, one: str, two: str, name: str, center: Floats, other: Floats) -> Floats:
    """Σ w² (x − x̄) (z − z̄) by group; where it was not counted, that of weights of their own."""
    if "weight" not in source.sums:
        both = [source.table("group", of=of) for of in (one, two)]
        rows, mixed = source.table("group"), _or_alike(source, name, *both)
    elif f"weight²·{name}" in source.sums:
        names = [f"weight²·{of}" for of in (one, two, name)]
        *both, mixed = (source.table("group", of=of) for of in names)
        rows = source.table("group", of="weight²")
    else:
        weight, rows = source.table("group"), source.table("group", of="weight²")
        both = [source.table("group", of=of) for of in (one, two)]
        heavy = np.nan_to_num(ratio(rows, weight))
        mixed = _or_alike(source, name, *both) * heavy
        both = [part * heavy for part in both]
    return np.asarray(mixed - other * both[0] - center * both[1] + center * other * rows)


def _or_alike(source: Tally, name: str, one: Floats, two: Floats) -> Floats:
    """A sum of products; where it was not counted, that of columns that do not go together."""
    if name in source.sums:
        return source.table("group", of=name)
    return np.nan_to_num(ratio(one * two, source.table("group")))


def _derived(source: Tally, statistic: Any, table: Table, first: Estimates) -> Estimates:
    weight = source.table("group")
    others = [ratio(source.table("group", of=name), weight) for name in statistic.means[1:]]
    return _moved_along(table, first, partial(_moved, statistic, [*others, weight]))


def _moved(statistic: Any, others: Sequence[Floats], means: Floats) -> Floats:
    """The statistic, were its first mean one of these."""
    return np.asarray([statistic.function(one[0], *others)[None] for one in means])


def _moved_along(table: Table, first: Estimates, moved: Callable[[Floats], Floats]) -> Estimates:
    """Limits of a monotone function, from those of what it is a function of."""
    curves = moved(first.curves)
    falls = np.nanmean(curves[-1] - curves[0]) < 0
    curves = curves[::-1] if falls else curves
    strata = np.zeros(1, np.intp)
    assert first.alone is not None
    exact, alone = (partial(_moved_bounds, moved, of) for of in (first.exact, first.alone))
    known = (table.values, curves, table.cells, table.groups, first.sizes, strata, 1.0, exact)
    return Estimates(*known, alone=alone)


def _moved_bounds(
    moved: Callable[[Floats], Floats], bounds: Callable[[float], Any], error: float
) -> tuple[Floats, Floats]:
    ends = moved(np.array(bounds(error)))
    return np.fmin(ends[0], ends[1]), np.fmax(ends[0], ends[1])
