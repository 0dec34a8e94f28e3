"""Areas under ROC curves: score limits with DeLong's variance."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.areas import RankedScores, area_error, auroc_influences
from evenhand._data.distributions import Distribution
from evenhand._uncertainty import replicates
from evenhand._uncertainty.clusters import (
    PRIOR_UNITS,
    Amount,
    amount_of,
    crossings,
    units_of_scores,
)
from evenhand._uncertainty.curves import DISTANCES, Estimates, Floats, read_off, stretched
from evenhand.statistics import Table
from evenhand.statistics.arithmetic import ratio

EVERY_PAIR = 1e-18  # a variance below this is rounding: every pair is ranked alike
OBSERVED = 0.6  # weight of the variance at the observed area, with many rows
FEW_ROWS = 10.0  # positives or negatives that have half of that weight
PRIOR = 2.0  # degrees of freedom given to Hanley and McNeil's model


def areas(source: RankedScores, table: Table) -> Estimates:
    """Areas under ROC curves with limits that are nearly those of score tests.

    Hanley and McNeil's variance (1982) is evaluated at the limit (Newcombe 2006), so that a small
    group that happens to be ranked perfectly still has an interval, and in part at the observed
    area. It is multiplied by the ratio of DeLong's variance to it at the observed area; DeLong's
    assumes nothing of the scores.
    """
    places = [i for i, c in enumerate(source.classes) if c in table.cells]
    sizes = np.array([_class_sizes(source.scores[i], source.classes[i]) for i in places])
    amounts = [
        _amount(source.scores[i], source.classes[i], pair, value)
        for i, pair, value in zip(places, np.maximum(sizes, 1e-9), table.values, strict=True)
    ]
    z = stretched(DISTANCES[:, None, None], np.array([amount.free for amount in amounts]))
    parts = (np.array([amount[at] for amount in amounts])[:, None] for at in (0, 2))
    limits, single_limits = (_limits(table.values, sizes * part, z) for part in parts)
    strata, looks = np.zeros(len(places), np.intp), float(max(len(places) - 1, 1))
    return Estimates(
        table.values,
        limits,
        table.cells,
        table.groups,
        sizes.sum(axis=1),
        strata,
        looks,
        partial(read_off, limits),
        alone=partial(read_off, single_limits),
    )


def fair_errors(source: RankedScores, table: Table) -> Floats:
    """Standard errors of the areas if all groups had the common area, given each group's rows."""
    errors = []
    for cell, values in zip(table.cells, table.values, strict=True):
        place = source.classes.index(cell)
        sizes = np.maximum(np.array(_class_sizes(source.scores[place], cell)), 1e-9)
        pairs = np.where(np.isnan(values), 0.0, sizes.min(axis=0))
        common = ratio(np.nan_to_num(values) @ pairs, pairs.sum(keepdims=True))
        part = _amount(source.scores[place], cell, sizes, values).rows
        errors.append(area_error(common, *(sizes * part)))
    return np.array(errors)


def _limits(values: Floats, sizes: Floats, z: Floats) -> Floats:
    """The areas that are z standard errors from those observed, by bisection.

    The variance is that at the limit, as in a score test, mixed with that at the observed area. The
    first alone misses small groups that are ranked better than large ones, because areas near 1
    vary less; the second alone is wrong in groups with few positives or negatives.
    """
    positives, negatives = np.maximum(sizes[:, 0], 1e-9), np.maximum(sizes[:, 1], 1e-9)
    rarer = np.minimum(positives, negatives)
    observed = area_error(_inside(values, sizes), positives, negatives) ** 2
    weight = OBSERVED * rarer / (rarer + FEW_ROWS)
    low, high = (np.full((len(DISTANCES), *values.shape), end) for end in (0.0, 1.0))
    for _ in range(50):
        middle = (low + high) / 2
        variance = (1 - weight) * area_error(middle, positives, negatives) ** 2 + weight * observed
        distance = (middle - values) / np.sqrt(variance)
        low, high = np.where(distance < z, middle, low), np.where(distance < z, high, middle)
    return np.asarray(np.where(np.isnan(values), np.nan, (low + high) / 2))


def _inside(values: Floats, sizes: Floats) -> Floats:
    """Areas away from 0 and 1: even if every pair is ranked right, the next may not be."""
    margin = 0.5 / (sizes.min(axis=-2) + 1)
    return np.clip(values, margin, 1 - margin)


def _amount(scores: Distribution, positive: Label, sizes: Floats, values: Floats) -> Amount:
    """Effective share of the rows: the share that Hanley and McNeil's model needs to vary as much.

    A row moves the area by its placement among the rows of the other class (DeLong et al. 1988);
    placements of a cluster are added up (Obuchowski 1997). Placements of positives and of negatives
    vary by different amounts, and one class may be rare in one group only, so each class borrows
    from the same class in all groups.
    """
    influences = auroc_influences(scores, positive)
    weight = scores.row_weights
    groups, squares = len(scores.groups), scores.squared_weights

    def added(codes: NDArray[Any], parts: Floats, size: int = groups) -> Floats:
        return np.asarray(np.bincount(codes, parts, minlength=size), np.float64)

    rows, square = added(scores.codes, weight), squares * influences**2
    whole = np.maximum(rows, 1e-300)
    is_plain = scores.weights is None and scores.squares is None
    fourth_power = square if is_plain else square * ratio(squares, weight) ** 2
    fourth_power = fourth_power * influences**2
    modeled = _modeled(_inside(np.where(np.isnan(values), 0.5, values), sizes), sizes)
    variance, uncertainty = np.zeros(groups), np.zeros(groups)
    for chosen, size, model in zip(_kinds(scores, positive), sizes, modeled, strict=True):
        second, fourth = (
            added(scores.codes, np.where(chosen, power, 0.0)) / rows_power
            for power, rows_power in ((square, whole**2), (fourth_power, whole**4))
        )
        placed, free = _shrunken(second, fourth, size, model)
        variance += placed
        uncertainty += placed**2 / free
    part, free = modeled.sum(axis=0) / variance, variance**2 / uncertainty
    if not scores.clusters and scores.survey is None:
        return Amount(part, free, part)
    spread = np.nan_to_num(ratio(added(scores.codes, weight * influences**2), rows))
    amount = _dependent(scores, influences, weight, spread, added)
    independent = added(scores.codes, square) / whole**2  # if rows were independent
    varied = independent > EVERY_PAIR
    compared, single = (
        part * _filled(ratio(independent * rows_amount, spread), rows * varied)
        for rows_amount in amount[::2]
    )
    return Amount(compared, np.minimum(amount.free, free), single)


def _modeled(area: Floats, sizes: Floats) -> Floats:
    """Hanley and McNeil's variance in parts: by placements of positives, and of negatives."""
    above_two, two_above = 2 * area**2 / (1 + area), area / (2 - area)
    return np.array([above_two - area**2, two_above - area**2]) / sizes


def _shrunken(second: Floats, fourth: Floats, size: Floats, model: Floats) -> tuple[Floats, Floats]:
    """The variance by the placements of one class in each group, and its degrees of freedom.

    From sums of second and fourth powers of influences. Its ratio to the model is shrunken toward
    that of all groups. A few rows seldom include one that is ranked low, so the tail of their
    placements is at least the usual one.
    """
    varied = second > EVERY_PAIR
    second = np.where(varied, second, 0.0)
    floor = 1 / np.maximum(size, 1.0)
    tail = np.maximum(np.nan_to_num(ratio(fourth, second**2)) - floor, 0.0)
    usual = size**2 @ tail / max(float(size @ varied), 1.0)
    tail = np.maximum(tail, usual * floor)
    free = np.where(varied, 2 / np.maximum(tail, 2 * floor), 0.0)
    fitted = second * size / np.maximum(size - 1, 1.0)  # the area is fitted to the same rows
    effect = np.nan_to_num(ratio(fitted, model))
    total = float(free.sum())
    common = (float((free * effect).sum()) + PRIOR) / (total + PRIOR)
    borrowed = np.minimum(PRIOR_UNITS, total - free + PRIOR)
    return model * (free * effect + borrowed * common) / (free + borrowed), free + borrowed


def _filled(values: Floats, rows: Floats) -> Floats:
    """The values, with the mean of the others where a group has no rows."""
    available = (rows > 0) & np.isfinite(values)
    mean = np.average(values[available], weights=rows[available]) if available.any() else 1.0
    return np.where(available, values, mean)


def _dependent(
    scores: Distribution, influences: Floats, weight: Floats, spread: Floats, added: Any
) -> Amount:
    """Effective number of dependent rows, by their clusters or a survey's replicate weights."""
    groups, squares = len(scores.groups), scores.squared_weights
    if scores.survey is not None:

        def shifted(weight: Floats) -> Floats:
            mass = added(scores.codes, weight)
            return np.nan_to_num(ratio(added(scores.codes, weight * influences), mass))

        replicated = map(shifted, scores.survey.replicates)
        shifts = replicates.deviations(replicated, np.zeros(groups), scores.survey.scale)
        independent = ratio(added(scores.codes, weight) ** 2, added(scores.codes, squares))
        return replicates.amount(shifts, spread, independent)
    parts = []
    for sign, axes in crossings(range(len(scores.clusters))):
        units, unit = units_of_scores(scores, *axes)
        columns = (weight * influences, weight, squares)
        moves, sizes, unit_squares = (added(unit, part, len(units.owner))[None] for part in columns)
        parts.append((sign, units.varied(moves, sizes, unit_squares, spread[None])))
    return Amount(*(part[0] for part in amount_of(parts)))


def _kinds(scores: Distribution, positive: Label) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the positive and of the negative rows."""
    assert scores.truth is not None
    hit = np.array([label == positive for label in scores.truth.labels])[scores.truth.codes]
    return hit, ~hit


def _class_sizes(scores: Distribution, positive: Label) -> tuple[Floats, Floats]:
    """Effective numbers of positive and of negative rows in each group."""
    weight = scores.row_weights
    square = scores.squared_weights
    sizes = []
    for chosen in _kinds(scores, positive):
        total = np.bincount(scores.codes, weight * chosen, minlength=len(scores.groups))
        squares = np.bincount(scores.codes, square * chosen, minlength=len(scores.groups))
        sizes.append(np.nan_to_num(ratio(np.asarray(total**2, float), np.asarray(squares, float))))
    return sizes[0], sizes[1]
