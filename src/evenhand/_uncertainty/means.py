"""Means, losses and functions of several means, with limits from the influence of single rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np

from evenhand._data.tallies import POWERS, Tally
from evenhand._uncertainty.clusters import Amount
from evenhand._uncertainty.curves import Estimates, Floats, student_limits
from evenhand._uncertainty.influence import PRIOR_ROWS, ErrorEstimates, RowMoments, error_estimates
from evenhand._uncertainty.replicates import influence_amount, squares_of
from evenhand.statistics import E, Statistic, Table
from evenhand.statistics.arithmetic import ratio
from evenhand.statistics.sums import SIGNED, moved_by_means

SKEWNESS = 3.0  # of a loss, over its coefficient of variation: gamma's is 2, lognormal's 3
EXCESS = 6.0  # its excess kurtosis over the square of that, as gamma's
NORMAL = 3.3  # relative variance of rows' influences on R² of normal errors: more with longer tails
LONGEST = 3.0  # times as much excess kurtosis, relative to that variance, with the longest tails


def means(source: Tally, statistic: Statistic, table: Table) -> Estimates:
    """Means with Student's limits; functions of several means vary with all or the first."""
    if statistic.scale is not None:
        return _scaled(source, statistic, table)
    name, per = statistic.means[0], statistic.relative_to
    mean = ratio(source.table("group", of=name), source.table("group", of=per or "weight"))
    if per is None:
        moments = _row_moments(source, name, mean)
    else:
        moments = _ratio_moments(source, name, per, statistic.bounds)
    influence = E(name, per=per).influence
    amount = influence_amount(source, influence, moments.variance * moments.rows, per)
    errors, single_errors = _dependent(source, moments, amount)
    plain = Table(mean[None], ("all",), table.groups)
    largest = statistic.most(source) if per or statistic.mean_of else np.inf
    bounds = (-np.inf if name in SIGNED else 0.0, largest)
    student = student_limits(plain, mean[None], errors, bounds, single_errors)
    return student if statistic.mean_of or per else _derived(source, statistic, table, student)


def _dependent(
    source: Tally, moments: RowMoments, amount: Amount | None
) -> tuple[ErrorEstimates, ErrorEstimates]:
    """Error estimates for comparing groups, and for each group by itself."""
    errors = error_estimates(moments)
    if amount is None:
        return (errors.scaled(np.sqrt(_sampled_part(source))),) * 2
    spread = _row_variance(moments, errors)
    dependent = []
    for rows in (amount.rows, amount.alone):
        supposed = error_estimates(
            moments._replace(variance=ratio(spread, rows), rows=np.maximum(rows, 1e-9))
        )
        error = np.sqrt(np.nan_to_num(ratio(spread, rows)))
        dependent.append(
            supposed._replace(error=error, free=np.minimum(amount.free, supposed.free))
        )
    return dependent[0], dependent[1]


def _row_variance(moments: RowMoments, errors: ErrorEstimates) -> Floats:
    """The variance of single rows, with prior rows where a few vary less than all rows do."""
    variances = moments.variance * moments.rows
    unbiased = variances * moments.rows / np.maximum(moments.rows - 1, 1.0)
    steadied_variances = errors.error**2 * moments.rows
    return np.where(steadied_variances > unbiased * (1 + 1e-9), steadied_variances, variances)


def _sampled_part(source: Tally) -> Floats:
    """The share of the variance that remains after finite population corrections."""
    if "fpc" not in source.sums:
        return np.ones(1)
    return np.nan_to_num(
        ratio(source.table("group", of="fpc"), source.table("group", of="weight²")), nan=1.0
    )


def _row_moments(source: Tally, name: str, mean: Floats) -> RowMoments:
    """Moments of the influences wᵢ (vᵢ − T) / W from sums of powers; else a loss's typical tail."""
    weight, center = source.table("group"), np.nan_to_num(mean)
    second, third, fourth = (central_sum(source, name, power, center) for power in (2, 3, 4))
    squares = source.table("group", of="weight²") if "weight²" in source.sums else weight
    rows = np.nan_to_num(ratio(weight**2, squares))
    effect = ratio(source.table("group", of="rows"), rows)
    if second is None:  # assume that weights are independent of the value
        square = ratio(source.table("group", of=f"{name}²"), weight)
        second = np.maximum(np.nan_to_num(square - center**2), 0.0) * squares
    second = _between_groups(np.nan_to_num(ratio(second, weight**2)), mean, rows)
    if third is not None and fourth is not None:
        third, fourth = ratio(third, weight**3), ratio(fourth, weight**4)
        moments = RowMoments.of(second, third, fourth, rows, effect)
    elif name not in SIGNED:
        variation = ratio(np.sqrt(second * rows), center)
        skewness, kurtosis = SKEWNESS * variation, 3 + EXCESS * variation**2
        moments = RowMoments(second, skewness, kurtosis, rows, effect)
    else:
        unknown = np.full(second.shape, np.nan)
        moments = RowMoments(second, unknown, unknown, rows, effect)
    return RowMoments(*(part[None] for part in moments))


def _between_groups(variance: Floats, mean: Floats, rows: Floats) -> Floats:
    """Variances; where most groups are single rows, at least the variance between groups."""
    present = rows > 0
    groups = np.count_nonzero(present)
    if groups < 2 or rows[present].sum() >= 2 * groups:
        return variance
    between = np.var(mean[present], ddof=1) / np.mean(1 / rows[present])
    return np.where(
        present, np.maximum(variance, ratio(np.full(rows.shape, between), rows)), variance
    )


def _with_prior_rows(
    variance: Floats, value: Floats, rows: Floats, bounds: tuple[float, float]
) -> Floats:
    """Variances of at least what two further rows at an end of the range would add.

    Two rows among all groups or, where the rows of every group are equal, two in each.
    """
    if not np.isfinite(bounds).all():
        return variance
    farthest = np.maximum(value - bounds[0], bounds[1] - value)
    rows_seen = rows if (variance <= 1e-12).all() else rows.sum()
    smallest = ratio(PRIOR_ROWS * farthest**2 / (rows_seen + PRIOR_ROWS), rows)
    return np.where(rows > 0, np.maximum(variance, smallest), variance)


def _ratio_moments(
    source: Tally, name: str, denominator: str, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> RowMoments:
    """Moments of the influences wᵢ (nᵢ − T dᵢ) / D: those of a mean, where d are the weights."""
    above, below = (source.table("group", of=product) for product in (name, denominator))
    value = np.nan_to_num(ratio(above, below))
    weight = source.table("group")
    centers = [np.nan_to_num(ratio(part, weight)) for part in (above, below)]
    parts = [
        _product(source, first, second_name, product, centers[i], centers[j])
        for first, second_name, product, i, j in (
            (name, name, f"{name}²", 0, 0),
            (name, denominator, f"{name}·{denominator}", 0, 1),
            (denominator, denominator, f"{denominator}²", 1, 1),
        )
    ]
    second = np.maximum(parts[0] - 2 * value * parts[1] + value**2 * parts[2], 0.0)
    rows = np.nan_to_num(ratio(below**2, squares_of(source, denominator)))
    second = _between_groups(np.nan_to_num(ratio(second, below**2)), value, rows)
    second = _with_prior_rows(second, value, rows, bounds)
    unknown = np.full(second.shape, np.nan)
    effect = ratio(source.table("group", of="rows"), rows)
    return RowMoments(*(part[None] for part in (second, unknown, unknown, rows, effect)))


def central_sum(source: Tally, column: str, power: int, center: Floats) -> Floats | None:
    """Σ wʲ (v − T)ʲ by group, for the power j; None where the sums were not counted."""
    mark = POWERS[power]
    names = [column, *(f"{column}{POWERS[k]}" for k in range(2, power + 1))]
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
    """A function of several means, all of which vary, on its variance-stabilizing scale.

    Its influence is the sum of those on the means, times its derivative by each.
    """
    scale, weight = statistic.scale, source.table("group")
    assert scale is not None
    center = [np.nan_to_num(ratio(source.table("group", of=o), weight)) for o in statistic.means]
    slopes = scale.gradient(*center)
    squares = source.table("group", of="weight²") if "weight²" in source.sums else weight
    rows = np.nan_to_num(ratio(weight**2, squares))
    second = _with_unseen_tails(_second(source, statistic, center, slopes), rows, slopes[-1])
    unknown = np.full(second.shape, np.nan)
    # The scale stretches where the statistic hardly moves, without longer tails to the same degree.
    stretched = np.maximum(slopes[0] * center[0], 1e-9)
    relative = ratio(second * rows, stretched)
    kurtosis = 3 + EXCESS * relative * np.clip(relative / NORMAL, 1.0, LONGEST)
    effect = ratio(source.table("group", of="rows"), rows)
    moments = RowMoments(*(part[None] for part in (second, unknown, kurtosis, rows, effect)))
    influence = partial(moved_by_means, statistic.means, scale.gradient)
    amount = influence_amount(source, influence, (second * rows)[None])
    errors, single_errors = (
        _log_spread_errors(estimated, rows) for estimated in _dependent(source, moments, amount)
    )
    place = np.where(np.isnan(table.values), np.nan, scale.at(*center))
    plain = Table(place, ("all",), table.groups)
    student = student_limits(plain, place, errors, (-np.inf, np.inf), single_errors)
    return _transformed(table, student, scale.value)


def _with_unseen_tails(second: Floats, rows: Floats, slope: Floats) -> Floats:
    """Σ ψ² of each group, with two prior rows that vary like the rows of all groups.

    Relative to a spread estimated from the same few rows no row is an outlier: the kurtosis of n
    rows is at most n. Relative to the spread of all rows, tails show (Bonett 2006, Computational
    Statistics & Data Analysis 50, 775–782). The last mean is the one that determines the spread.
    """
    spread = np.nan_to_num(ratio(rows, np.abs(slope)))
    common = (second * spread**2).sum() * rows.sum() / max(spread.sum() ** 2, 1e-300)
    steadied_squares = ratio(
        second * rows + PRIOR_ROWS * common / np.maximum(rows, 1.0), rows + PRIOR_ROWS
    )
    return np.where(rows > 0, np.fmax(second, steadied_squares), second)


def _log_spread_errors(errors: ErrorEstimates, rows: Floats) -> ErrorEstimates:
    """Error estimates of the logarithm of a spread, corrected for few rows.

    For n normal rows its variance is trigamma((n − 1) / 2); `errors` has 2 / (n − 1).
    """
    from scipy.special import polygamma

    half = np.maximum(rows - 1, 1.0) / 2
    error = errors.error * np.sqrt(half * polygamma(1, half))
    return errors._replace(error=error, free=np.minimum(errors.free, 2 * half))


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
    """Σ ψ² of a function of means over independent rows (groups); None if it was not counted."""
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


def _product(
    source: Tally, first: str, second: str, name: str, first_center: Floats, second_center: Floats
) -> Floats:
    """Σ w² (x − x̄) (z − z̄) by group; if not counted, as if weights were independent of both."""
    if "weight" not in source.sums:
        sums = [source.table("group", of=column) for column in (first, second)]
        rows, mixed = source.table("group"), _or_uncorrelated(source, name, *sums)
    elif f"weight²·{name}" in source.sums:
        names = [f"weight²·{column}" for column in (first, second, name)]
        *sums, mixed = (source.table("group", of=column) for column in names)
        rows = source.table("group", of="weight²")
    else:
        weight, rows = source.table("group"), source.table("group", of="weight²")
        sums = [source.table("group", of=column) for column in (first, second)]
        mean_weight = np.nan_to_num(ratio(rows, weight))
        mixed = _or_uncorrelated(source, name, *sums) * mean_weight
        sums = [part * mean_weight for part in sums]
    return np.asarray(
        mixed
        - second_center * sums[0]
        - first_center * sums[1]
        + first_center * second_center * rows
    )


def _or_uncorrelated(source: Tally, name: str, first: Floats, second: Floats) -> Floats:
    """A sum of products; if it was not counted, that of uncorrelated columns."""
    if name in source.sums:
        return source.table("group", of=name)
    return np.nan_to_num(ratio(first * second, source.table("group")))


def _derived(source: Tally, statistic: Any, table: Table, first: Estimates) -> Estimates:
    """A function of several means, with the limits of the first mean and the others fixed."""
    weight = source.table("group")
    other_means = [ratio(source.table("group", of=name), weight) for name in statistic.means[1:]]
    return _transformed(table, first, partial(_recomputed, statistic, [*other_means, weight]))


def _recomputed(statistic: Any, other_means: Sequence[Floats], means: Floats) -> Floats:
    """The statistic for these values of its first mean."""
    return np.asarray([statistic.function(mean[0], *other_means)[None] for mean in means])


def _transformed(
    table: Table, first: Estimates, transform: Callable[[Floats], Floats]
) -> Estimates:
    """Limits of a monotone function, from those of its argument."""
    curves = transform(first.curves)
    falls = np.nanmean(curves[-1] - curves[0]) < 0
    curves = curves[::-1] if falls else curves
    strata = np.zeros(1, np.intp)
    assert first.alone is not None
    exact, single = (
        partial(_transformed_bounds, transform, limits) for limits in (first.exact, first.alone)
    )
    parts = (table.values, curves, table.cells, table.groups, first.sizes, strata, 1.0, exact)
    return Estimates(*parts, alone=single)


def _transformed_bounds(
    transform: Callable[[Floats], Floats], bounds: Callable[[float], Any], error: float
) -> tuple[Floats, Floats]:
    ends = transform(np.array(bounds(error)))
    return np.fmin(ends[0], ends[1]), np.fmax(ends[0], ends[1])
