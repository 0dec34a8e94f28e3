"""Scores in order with their true labels: what the area under the ROC curve needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.columns import Label
from evenhand.columns.words import Codes
from evenhand.distributions.distribution import Distribution

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankedScores:
    """For each class, the distribution of its score, with the true labels."""

    classes: tuple[Label, ...]
    scores: tuple[Distribution, ...]


def auroc_by_group(scores: Distribution, positive: Label) -> Floats:
    """P(score of a positive > that of a negative) in every group, ties counted half.

    NaN in a group that has no positives or no negatives.
    """
    if scores.truth is None:
        raise ValueError("AUROC needs y_true; give it to distribution(..., y_true=).")
    order = np.argsort(scores.codes, kind="stable")
    codes, values = scores.codes[order], scores.values[order]
    weight = np.ones(len(order)) if scores.weights is None else scores.weights[order]
    is_positive = np.array([label == positive for label in scores.truth.labels])
    hits = np.where(is_positive[scores.truth.codes[order]], weight, 0.0)
    changes = (codes[1:] != codes[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(np.append(True, changes))
    return _areas(
        np.add.reduceat(hits, starts),
        np.add.reduceat(weight - hits, starts),
        codes[starts],
        len(scores.groups),
    )


def _areas(hits: Floats, misses: Floats, codes: Codes, groups: int) -> Floats:
    """Areas from the weights of positives and negatives at each distinct score of each group."""
    all_hits = np.bincount(codes, hits, minlength=groups)
    all_misses = np.bincount(codes, misses, minlength=groups)
    earlier_groups = np.cumsum(all_misses) - all_misses
    below = np.cumsum(misses) - misses - earlier_groups[codes]
    wins = np.bincount(codes, hits * (below + misses / 2), minlength=groups)
    pairs = all_hits * all_misses
    areas = np.full(groups, np.nan)
    np.divide(wins, pairs, out=areas, where=pairs > 0)
    return areas
