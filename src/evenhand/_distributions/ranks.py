"""Scores in order with their true labels: what the area under the ROC curve needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.codes import Codes
from evenhand._distributions.distribution import Distribution
from evenhand._errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankedScores:
    """For each class, the distribution of its score, with the true labels."""

    classes: tuple[Label, ...]
    scores: tuple[Distribution, ...]

    def regrouped(self, target: NDArray[np.intp], labels: tuple[Label, ...]) -> RankedScores:
        """Each group becomes the group `target` of the new labels."""
        return RankedScores(
            self.classes, tuple(scores.regrouped(target, labels) for scores in self.scores)
        )


@dataclass(frozen=True, eq=False)
class Contests:
    """At each distinct score of each group, the weights of positives and of negatives."""

    hits: Floats
    misses: Floats
    codes: Codes
    groups: int

    def by_group(self, values: Floats) -> Floats:
        """Sums over the scores of each group."""
        return np.asarray(np.bincount(self.codes, values, minlength=self.groups), np.float64)

    def below(self, weights: Floats) -> Floats:
        """The weight at lower scores of the same group, and half of that at the same score."""
        total = self.by_group(weights)
        earlier = np.cumsum(total) - total
        return np.asarray(np.cumsum(weights) - weights / 2 - earlier[self.codes])


def auroc_by_group(scores: Distribution, positive: Label) -> Floats:
    """P(score of a positive > that of a negative) in every group, ties counted half.

    NaN in a group that has no positives or no negatives.
    """
    return _areas(_contests(scores, positive))


def auroc_errors(scores: Distribution, positive: Label) -> Floats:
    """Standard errors of the areas by DeLong's method; NaN where there is no area."""
    contests = _contests(scores, positive)
    area = _areas(contests)
    variance = np.zeros(contests.groups)
    for ours, theirs in ((contests.hits, contests.misses), (contests.misses, contests.hits)):
        own, other = contests.by_group(ours), contests.by_group(theirs)
        won = contests.below(theirs) / np.where(other > 0, other, 1)[contests.codes]
        center = area if ours is contests.hits else 1 - area
        spread = contests.by_group(ours * (won - center[contests.codes]) ** 2)
        variance += spread / np.maximum(own - 1, 1) / np.where(own > 0, own, 1)
    return np.asarray(np.sqrt(variance))


def _areas(contests: Contests) -> Floats:
    wins = contests.by_group(contests.hits * contests.below(contests.misses))
    pairs = contests.by_group(contests.hits) * contests.by_group(contests.misses)
    areas = np.full(contests.groups, np.nan)
    np.divide(wins, pairs, out=areas, where=pairs > 0)
    return areas


def _contests(scores: Distribution, positive: Label) -> Contests:
    if scores.truth is None:
        raise InputError("AUROC needs y_true; give it to distribution(..., y_true=).")
    order = np.argsort(scores.codes, kind="stable")
    codes, values = scores.codes[order], scores.values[order]
    weight = np.ones(len(order)) if scores.weights is None else scores.weights[order]
    is_positive = np.array([label == positive for label in scores.truth.labels])
    hits = np.where(is_positive[scores.truth.codes[order]], weight, 0.0)
    changes = (codes[1:] != codes[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(np.append(True, changes))
    misses = np.add.reduceat(weight - hits, starts)
    return Contests(np.add.reduceat(hits, starts), misses, codes[starts], len(scores.groups))
