"""Areas under ROC curves, by score limits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.distributions import (
    Distribution,
    RankedScores,
    area_error,
    auroc_influences,
)
from evenhand._uncertainty import replicates
from evenhand._uncertainty.clusters import Amount, are_dependent, smallest, units_of_scores
from evenhand._uncertainty.curves import DISTANCES, Estimates, Floats, read_off, stretched
from evenhand.statistics import Table
from evenhand.statistics.forms import ratio


def areas(source: RankedScores, table: Table) -> Estimates:
    """Areas under ROC curves by score limits: the variance is that at the supposed area.

    Hanley and McNeil's variance (1982) at the limit itself (Newcombe 2006), so that a small group
    that happens to be ranked perfectly still has an interval.
    """
    kept = [i for i, c in enumerate(source.classes) if c in table.cells]
    sizes = np.array([_both(source.scores[i], source.classes[i]) for i in kept])
    z: Floats = DISTANCES[:, None, None]
    if are_dependent(source):
        parts = [_areas_amount(source.scores[i], source.classes[i]) for i in kept]
        sizes = sizes * np.array([part.rows for part in parts])[:, None]
        z = stretched(z, np.array([part.free for part in parts]))
    positives, negatives = np.maximum(sizes[:, 0], 1e-9), np.maximum(sizes[:, 1], 1e-9)
    low, high = (np.full((len(DISTANCES), *table.values.shape), end) for end in (0.0, 1.0))
    for _ in range(50):
        middle = (low + high) / 2
        far = (middle - table.values) / area_error(middle, positives, negatives)
        low, high = np.where(far < z, middle, low), np.where(far < z, high, middle)
    curves = np.where(np.isnan(table.values), np.nan, (low + high) / 2)

    exact = partial(read_off, curves)
    strata, looks = np.zeros(len(kept), np.intp), float(max(len(kept) - 1, 1))
    rows = positives + negatives
    return Estimates(table.values, curves, table.cells, table.groups, rows, strata, looks, exact)


def _areas_amount(scores: Distribution, positive: Label) -> Amount:
    """The part of the rows that clustered ones amount to for an area under the ROC curve.

    A row moves the area by its placement among the rows of the other kind (DeLong et al. 1988), and
    what those of a cluster do together is added up (Obuchowski 1997).
    """
    moved = auroc_influences(scores, positive)
    weight = np.ones(len(scores)) if scores.weights is None else scores.weights

    def added(codes: NDArray[Any], parts: Floats, size: int) -> Floats:
        return np.asarray(np.bincount(codes, parts, minlength=size), np.float64)

    groups, squares = len(scores.groups), scores.squared_weights
    rows, alone = (added(scores.codes, part, groups) for part in (weight, squares))
    spread = np.nan_to_num(ratio(added(scores.codes, weight * moved**2, groups), rows))
    independent = ratio(rows**2, alone)
    if scores.survey is not None:

        def shifted(weight: Floats) -> Floats:
            mass = added(scores.codes, weight, groups)
            return np.nan_to_num(ratio(added(scores.codes, weight * moved, groups), mass))

        again = map(shifted, scores.survey.replicates)
        moved_by = replicates.deviations(again, np.zeros(groups), scores.survey.scale)
        amount = replicates.amount(moved_by, spread, independent)
        return Amount(np.nan_to_num(amount.rows / independent), amount.free)
    amounts = []
    for which in range(len(scores.clusters)):
        units, unit = units_of_scores(scores, which)
        parts = (added(unit, part, len(units.owner)) for part in (weight * moved, weight, squares))
        residuals, sizes, each = (part[None] for part in parts)
        amounts.append(units.amount(residuals, sizes, each, spread[None]))
    amount = smallest(amounts)
    return Amount(np.nan_to_num(amount.rows[0] / independent), amount.free[0])


def _both(scores: Distribution, positive: Label) -> tuple[Floats, Floats]:
    """Effective rows of each group that are positive, and that are not."""
    assert scores.truth is not None
    is_positive = np.array([label == positive for label in scores.truth.labels])
    hit = is_positive[scores.truth.codes]
    weight = np.ones(len(scores)) if scores.weights is None else scores.weights
    square = scores.squared_weights
    sizes = []
    for chosen in (hit, ~hit):
        total = np.bincount(scores.codes, weight * chosen, minlength=len(scores.groups))
        squares = np.bincount(scores.codes, square * chosen, minlength=len(scores.groups))
        sizes.append(np.nan_to_num(ratio(np.asarray(total**2, float), np.asarray(squares, float))))
    return sizes[0], sizes[1]
