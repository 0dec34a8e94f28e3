"""Areas under ROC curves, by score limits with DeLong's variance."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.areas import RankedScores, area_error, auroc_influences
from evenhand._data.distributions import Distribution
from evenhand._uncertainty import replicates
from evenhand._uncertainty.clusters import LENT_UNITS, Amount, amount_of, crossings, units_of_scores
from evenhand._uncertainty.curves import DISTANCES, Estimates, Floats, read_off, stretched
from evenhand.statistics import Table
from evenhand.statistics.arithmetic import ratio

EVERY_PAIR = 1e-18  # a variance by rounding alone: every pair is ranked alike
PRIOR = 2.0  # degrees of freedom that Hanley and McNeil's model counts for


def areas(source: RankedScores, table: Table) -> Estimates:
    """Areas under ROC curves by score limits: the variance is that at the supposed area.

    Hanley and McNeil's variance (1982) at the limit itself (Newcombe 2006), so that a small group
    that happens to be ranked perfectly still has an interval; times how much larger DeLong's is at
    the area that was observed, which supposes nothing of the scores.
    """
    kept = [i for i, c in enumerate(source.classes) if c in table.cells]
    sizes = np.array([_both(source.scores[i], source.classes[i]) for i in kept])
    known = [
        _amount(source.scores[i], source.classes[i], both, area_error(value, *both))
        for i, both, value in zip(kept, np.maximum(sizes, 1e-9), table.values, strict=True)
    ]
    z = stretched(DISTANCES[:, None, None], np.array([amount.free for amount in known]))
    parts = (np.array([amount[at] for amount in known])[:, None] for at in (0, 2))
    beside, alone = (_limits(table.values, sizes * part, z) for part in parts)
    strata, looks = np.zeros(len(kept), np.intp), float(max(len(kept) - 1, 1))
    return Estimates(
        table.values,
        beside,
        table.cells,
        table.groups,
        sizes.sum(axis=1),
        strata,
        looks,
        partial(read_off, beside),
        alone=partial(read_off, alone),
    )


def fair_errors(source: RankedScores, table: Table) -> Floats:
    """Standard errors of the areas if every group had that of all, each by its own rows."""
    errors = []
    for cell, values in zip(table.cells, table.values, strict=True):
        of = source.classes.index(cell)
        sizes = np.maximum(np.array(_both(source.scores[of], cell)), 1e-9)
        pairs = np.where(np.isnan(values), 0.0, sizes.min(axis=0))
        common = ratio(np.nan_to_num(values) @ pairs, pairs.sum(keepdims=True))
        part = _amount(source.scores[of], cell, sizes, area_error(values, *sizes)).rows
        errors.append(area_error(common, *(sizes * part)))
    return np.array(errors)


def _limits(values: Floats, sizes: Floats, z: Floats) -> Floats:
    """The areas that lie z standard errors from those observed, by halving."""
    positives, negatives = np.maximum(sizes[:, 0], 1e-9), np.maximum(sizes[:, 1], 1e-9)
    low, high = (np.full((len(DISTANCES), *values.shape), end) for end in (0.0, 1.0))
    for _ in range(50):
        middle = (low + high) / 2
        far = (middle - values) / area_error(middle, positives, negatives)
        low, high = np.where(far < z, middle, low), np.where(far < z, high, middle)
    return np.asarray(np.where(np.isnan(values), np.nan, (low + high) / 2))


def _amount(scores: Distribution, positive: Label, sizes: Floats, error: Floats) -> Amount:
    """The part of the rows that would vary as much by Hanley and McNeil's model.

    A row moves the area by its placement among the rows of the other kind (DeLong et al. 1988), and
    what those of a cluster do together is added up (Obuchowski 1997). A few rows of the rarer kind
    seldom show the one that is ranked low: their variance has the tails of all groups' rows, and
    none where every pair is ranked right.
    """
    moved = auroc_influences(scores, positive)
    weight = np.ones(len(scores)) if scores.weights is None else scores.weights
    groups, squares = len(scores.groups), scores.squared_weights

    def added(codes: NDArray[Any], parts: Floats, size: int = groups) -> Floats:
        return np.asarray(np.bincount(codes, parts, minlength=size), np.float64)

    rows = added(scores.codes, weight)
    own, square = np.zeros(groups), squares * moved**2
    for chosen, size in zip(_kinds(scores, positive), sizes, strict=True):
        part = added(scores.codes, np.where(chosen, square, 0.0))
        own += part * size / np.maximum(size - 1, 1.0)  # the area is fitted to the same rows
    is_plain = scores.weights is None and scores.squares is None
    heavy = square if is_plain else square * ratio(squares, weight) ** 2
    fourth = added(scores.codes, heavy * moved**2)
    own = np.where(own > EVERY_PAIR * rows**2, own, 0.0)
    few = 1 / np.maximum(sizes.sum(axis=0), 1.0)
    tail = np.maximum(np.nan_to_num(ratio(fourth, own**2)) - few, 0.0)
    rarer = sizes.min(axis=0)
    usual = rarer**2 @ tail / max(float(rarer @ (own > 0)), 1.0)
    tail = np.maximum(tail, usual / np.maximum(rarer, 1.0))
    free = np.where(own > 0, 2 / np.maximum(tail, 2 * few), 0.0)
    effect = np.nan_to_num(ratio(own, rows**2 * error**2))
    every = float(free.sum())
    common = (float((free * effect).sum()) + PRIOR) / (every + PRIOR)
    lent = np.minimum(LENT_UNITS, every - free + PRIOR)
    part, free = (free + lent) / (free * effect + lent * common), free + lent
    if not scores.clusters and scores.survey is None:
        return Amount(part, free, part)
    spread = np.nan_to_num(ratio(added(scores.codes, weight * moved**2), rows))
    amount = _dependent(scores, moved, weight, spread, added)
    alike = (
        added(scores.codes, square) / np.maximum(rows, 1e-300) ** 2
    )  # if rows did not go together
    beside, alone = (
        part * _as_usual(ratio(alike * each, spread), rows * (own > 0)) for each in amount[::2]
    )
    return Amount(beside, np.minimum(amount.free, free), alone)


def _as_usual(values: Floats, rows: Floats) -> Floats:
    """The values; where there are no rows to tell it, the mean of the others."""
    known = (rows > 0) & np.isfinite(values)
    usual = np.average(values[known], weights=rows[known]) if known.any() else 1.0
    return np.where(known, values, usual)


def _dependent(
    scores: Distribution, moved: Floats, weight: Floats, spread: Floats, added: Any
) -> Amount:
    """What rows amount to that go together, in clusters or by the replicates of a survey."""
    groups, squares = len(scores.groups), scores.squared_weights
    if scores.survey is not None:

        def shifted(weight: Floats) -> Floats:
            mass = added(scores.codes, weight)
            return np.nan_to_num(ratio(added(scores.codes, weight * moved), mass))

        again = map(shifted, scores.survey.replicates)
        moved_by = replicates.deviations(again, np.zeros(groups), scores.survey.scale)
        independent = ratio(added(scores.codes, weight) ** 2, added(scores.codes, squares))
        return replicates.amount(moved_by, spread, independent)
    parts = []
    for sign, which in crossings(range(len(scores.clusters))):
        units, unit = units_of_scores(scores, *which)
        columns = (weight * moved, weight, squares)
        moves, sizes, each = (added(unit, part, len(units.owner))[None] for part in columns)
        parts.append((sign, units.varied(moves, sizes, each, spread[None])))
    return Amount(*(part[0] for part in amount_of(parts)))


def _kinds(scores: Distribution, positive: Label) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows are positive, and which are not."""
    assert scores.truth is not None
    hit = np.array([label == positive for label in scores.truth.labels])[scores.truth.codes]
    return hit, ~hit


def _both(scores: Distribution, positive: Label) -> tuple[Floats, Floats]:
    """Effective rows of each group that are positive, and that are not."""
    weight = np.ones(len(scores)) if scores.weights is None else scores.weights
    square = scores.squared_weights
    sizes = []
    for chosen in _kinds(scores, positive):
        total = np.bincount(scores.codes, weight * chosen, minlength=len(scores.groups))
        squares = np.bincount(scores.codes, square * chosen, minlength=len(scores.groups))
        sizes.append(np.nan_to_num(ratio(np.asarray(total**2, float), np.asarray(squares, float))))
    return sizes[0], sizes[1]
