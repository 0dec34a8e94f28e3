"""Standard errors as in R's `survey`: covariances of groups, without small-sample corrections.

To first order a unit (a row or a cluster) moves a statistic by its influence ψ. The covariance of
groups a and b is c / (c − 1) Σ ψ(a) ψ(b) over all c units of the data, including those without rows
of a group (Binder 1983, International Statistical Review 51). The covariances of crossing
clusterings add up, less those of rows that share all of them (Cameron, Gelbach and Miller 2011).
With replicate weights it is Σ cᵣ (θᵣ − θ)(θᵣ − θ)ᵀ around the statistic of all rows. Limits and
tests start from the same influences, but allow for units that are few or unequal.
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


def covariance(source: Any, criterion: Criterion, favorable: Label = None) -> Floats:
    """Covariances (cells, groups, groups) of a statistic; NaN where the sums do not have them."""
    source, statistic = plain(source), criterion.statistic
    if isinstance(source, RankedScores):
        return np.array([_of_area(source, c) for c in criterion.table(source, favorable).cells])
    table = criterion.table(source, favorable)
    if source.scale:
        replicated = (
            np.nan_to_num(criterion.table(replicate, favorable).values)
            for replicate in _weighted_replicates(source)
        )
        shifts = deviations(replicated, np.nan_to_num(table.values), source.scale)
        return np.asarray(np.einsum("rca,rcb->cab", shifts, shifts))
    counts, groups = source.whole, len(table.groups)
    cells = places(statistic.read(counts), table)
    if not source.clusters:
        rows = _corrected(float(source.sums["rows"].sum()))
        square = _of_rows(source, statistic, table.values.shape)
        return np.asarray(square[cells][..., None] * np.eye(groups) * rows)
    total = np.zeros((len(cells), groups, groups))
    for sign, axes in crossings(source.clusters):
        units, replicate = units_of(source, *axes)
        shifts = statistic.influence(replicate, units.owner, counts)[cells]
        total += sign * _corrected(units.clusters) * units.products(shifts)
    return total


def _corrected(units: float) -> float:
    """The factor c / (c − 1) of a variance, since the values are fitted to the same units."""
    return units / max(units - 1, 1e-300)


def _weighted_replicates(source: Tally) -> Iterator[Tally]:
    """The tally of each replicate weight, read as weighted rows."""
    for replicate in replicates_of(source):
        yield replace(replicate, sums={**replicate.sums, "weight": replicate.sums["rows"]})


def _of_rows(source: Tally, statistic: Statistic, shape: tuple[int, ...]) -> Floats:
    """Sums Σ ψ² of independent rows (cells, groups), whose groups are uncorrelated."""
    if not statistic.sums:
        return clusters.row_squares(source, statistic)
    is_mean = statistic.means and not statistic.conditions
    square = means.row_squares(source, statistic) if is_mean else None
    return np.full(shape, np.nan) if square is None else square[None]


def _of_area(source: RankedScores, positive: Label) -> Floats:
    """The covariance of the areas under a class's ROC curve, by placements (DeLong et al. 1988)."""
    scores = source.scores[source.classes.index(positive)]
    groups = len(scores.groups)

    def added(codes: NDArray[Any], parts: Floats, size: int) -> Floats:
        return np.asarray(np.bincount(codes, parts, size), np.float64)

    weight = scores.row_weights
    size = added(scores.codes, weight, groups)
    influences = auroc_influences(scores, positive) / np.where(size > 0, size, 1.0)[scores.codes]
    if scores.survey is not None:
        replicated = (
            added(scores.codes, weights * influences, groups)
            for weights in scores.survey.replicates
        )
        shifts = deviations(replicated, np.zeros(groups), scores.survey.scale)
        return np.asarray(shifts.T @ shifts)
    if not scores.clusters:
        square = added(scores.codes, scores.squared_weights * influences**2, groups)
        return np.asarray(np.diag(square) * _corrected(len(scores)))
    total = np.zeros((groups, groups))
    for sign, axes in crossings(range(len(scores.clusters))):
        units, unit = units_of_scores(scores, *axes)
        row = added(unit, weight * influences, len(units.owner))
        total += sign * _corrected(units.clusters) * units.products(row[None])[0]
    return total
