"""Standard errors as R's `survey` has them: the covariance of groups, with no allowance for few.

To first order a unit (a row or a cluster) moves a statistic by its influence ψ. The covariance of
groups a and b is c / (c − 1) Σ ψ(a) ψ(b) over all c units of the data, those without rows of a
group among them (Binder 1983, International Statistical Review 51). Of clusterings that cross,
covariances add up, less those of rows that share all of them (Cameron, Gelbach and Miller 2011). Of
replicate weights it is Σ cᵣ (θᵣ − θ)(θᵣ − θ)ᵀ around the statistic of all rows. Limits and tests
start from the same influences, but allow for units that are few or unequal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.areas import RankedScores, auroc_influences
from evenhand._data.tallies import Tally
from evenhand._uncertainty import clusters, means
from evenhand._uncertainty.clusters import crossings, plain, units_of, units_of_scores
from evenhand._uncertainty.rates import places
from evenhand._uncertainty.replicates import deviations, replicates_of
from evenhand.criteria import Criterion
from evenhand.statistics import Statistic

Floats = NDArray[np.float64]


def covariance(source: Any, asked: Criterion, favorable: Label = None) -> Floats:
    """Covariances (cells, groups, groups) of a statistic; NaN where the sums do not tell."""
    source, statistic = plain(source), asked.statistic
    if isinstance(source, RankedScores):
        return np.array([_of_area(source, c) for c in asked.table(source, favorable).cells])
    table = asked.table(source, favorable)
    if source.scale:
        again = (np.nan_to_num(asked.table(each, favorable).values) for each in _each(source))
        moved = deviations(again, np.nan_to_num(table.values), source.scale)
        return np.asarray(np.einsum("rca,rcb->cab", moved, moved))
    whole, groups = source.whole, len(table.groups)
    kept = places(statistic.read(whole), table)
    if not source.clusters:
        rows = _corrected(float(source.sums["rows"].sum()))
        square = _of_rows(source, statistic, table.values.shape)
        return np.asarray(square[kept][..., None] * np.eye(groups) * rows)
    total = np.zeros((len(kept), groups, groups))
    for sign, axes in crossings(source.clusters):
        units, each = units_of(source, *axes)
        moved = statistic.influence(each, units.owner, whole)[kept]
        total += sign * _corrected(units.clusters) * units.products(moved)
    return total


def _corrected(units: float) -> float:
    """What a variance is multiplied by, as the values are fitted to the same units."""
    return units / max(units - 1, 1e-300)


def _each(source: Tally) -> Iterator[Tally]:
    """The tally of each replicate, with its labels in the order of all of them."""
    for each in replicates_of(source):
        yield replace(each, sums={**each.sums, "weight": each.sums["rows"]})


def _of_rows(source: Tally, statistic: Statistic, shape: tuple[int, ...]) -> Floats:
    """Sums Σ ψ² of independent rows (cells, groups), whose groups do not vary together."""
    if not statistic.sums:
        return clusters.row_squares(source, statistic)
    is_mean = statistic.means and not statistic.conditions
    square = means.row_squares(source, statistic) if is_mean else None
    return np.full(shape, np.nan) if square is None else square[None]


def _of_area(source: RankedScores, positive: Label) -> Floats:
    """That of the area under the ROC curve of a class, by placements (DeLong et al. 1988)."""
    scores = source.scores[source.classes.index(positive)]
    groups = len(scores.groups)

    def added(codes: NDArray[Any], parts: Floats, size: int) -> Floats:
        return np.asarray(np.bincount(codes, parts, size), np.float64)

    weight = np.ones(len(scores)) if scores.weights is None else scores.weights
    size = added(scores.codes, weight, groups)
    moved = auroc_influences(scores, positive) / np.where(size > 0, size, 1.0)[scores.codes]
    if scores.survey is not None:
        again = (added(scores.codes, each * moved, groups) for each in scores.survey.replicates)
        by = deviations(again, np.zeros(groups), scores.survey.scale)
        return np.asarray(by.T @ by)
    if not scores.clusters:
        square = added(scores.codes, scores.squared_weights * moved**2, groups)
        return np.asarray(np.diag(square) * _corrected(len(scores)))
    total = np.zeros((groups, groups))
    for sign, which in crossings(range(len(scores.clusters))):
        units, unit = units_of_scores(scores, *which)
        row = added(unit, weight * moved, len(units.owner))
        total += sign * _corrected(units.clusters) * units.products(row[None])[0]
    return total
