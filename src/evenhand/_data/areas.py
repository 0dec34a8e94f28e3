"""Areas under the ROC curves of groups, from ranked scores and true labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Codes, Label
from evenhand._data.distributions import Distribution, Floats
from evenhand._data.once import Immutable, once
from evenhand._errors import InputError

SURE = 2.576  # standard errors of a 99% interval: 1 in 200 uninformative scores is refused


@dataclass(frozen=True, eq=False)
class RankedScores(Immutable):
    """For each class, the distribution of its score, with the true labels."""

    classes: tuple[Label, ...]
    scores: tuple[Distribution, ...]

    def __repr__(self) -> str:
        return f"<RankedScores of {', '.join(map(str, self.classes))}: {self.scores[0]!r}>"

    def __add__(self, other: RankedScores) -> RankedScores:
        if not isinstance(other, RankedScores):
            return NotImplemented
        if self.classes != other.classes:
            raise InputError(
                f"Cannot add scores of {list(self.classes)} to those of {list(other.classes)}."
            )
        pairs = zip(self.scores, other.scores, strict=True)
        return RankedScores(self.classes, tuple(mine + theirs for mine, theirs in pairs))

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
        """The weight at lower scores of the same group, and half of that at the same score.

        Running sums of shares, not of weights: rounding in a heavy group would swamp a light one
        after it.
        """
        total = self.by_group(weights)
        share = weights / np.where(total > 0, total, 1.0)[self.codes]
        present = (total > 0).astype(np.intp)
        earlier = np.cumsum(present) - present
        below = np.cumsum(share) - share / 2 - earlier[self.codes]
        return np.asarray(below * total[self.codes])


def auroc_by_group(scores: Distribution, positive: Label) -> Floats:
    """P(score of a positive > that of a negative) in every group, ties counted half.

    NaN in a group that has no positives or no negatives.
    """
    return once(scores, ("areas", positive), lambda: _areas(_contests(scores, positive)))


class Area(NamedTuple):
    """The area under the ROC curve of all rows, with its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def is_reversed(self) -> bool:
        """Whether the scores clearly rank against their label."""
        return self.high < 0.5

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def area_of_all(scores: Distribution, positive: Label) -> Area | None:
    """P(score of a positive > that of a negative) over all groups; None without either kind.

    The interval has Hanley and McNeil's variance at its own ends, so that a few rows that happen
    to be ranked perfectly, or perfectly wrongly, still have one. Rows in clusters count as no more
    rows than there are clusters.
    """
    assert scores.truth is not None
    hit = np.array([label == positive for label in scores.truth.labels])[scores.truth.codes]
    weight = scores.row_weights
    squares = scores.squared_weights
    positives, negatives = (
        float(weight[chosen].sum() ** 2 / squares[chosen].sum()) if chosen.any() else 0.0
        for chosen in (hit, ~hit)
    )
    if not positives or not negatives:
        return None
    starts = np.flatnonzero(np.append(True, scores.values[1:] != scores.values[:-1]))
    won, lost = (np.add.reduceat(weight * chosen, starts) for chosen in (hit, ~hit))
    below = np.cumsum(lost) - lost / 2
    area = float(np.clip((won * below).sum() / (won.sum() * lost.sum()), 0.0, 1.0))
    units = [len(np.unique(cluster.codes)) for cluster in scores.clusters]
    part = min([1.0, *(unit / len(scores) for unit in units)])
    sizes = (positives * part, negatives * part)
    return Area(area, *(_area_end(area, end, *sizes) for end in (0.0, 1.0)))


def _area_end(area: float, end: float, positives: float, negatives: float) -> float:
    """The most extreme area that is within `SURE` of its standard errors from the estimate."""
    inner, outer = area, end
    for _ in range(40):
        middle = (inner + outer) / 2
        error = float(area_error(np.float64(middle), np.float64(positives), np.float64(negatives)))
        inner, outer = (middle, outer) if abs(middle - area) < SURE * error else (inner, middle)
    return inner


def area_error(area: Any, positives: Any, negatives: Any) -> Any:
    """Hanley and McNeil's standard error (1982) of an area, by the numbers of rows of each kind."""
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area)
    variance = variance + np.maximum(positives - 1, 0) * (first - area**2)
    variance = variance + np.maximum(negatives - 1, 0) * (second - area**2)
    return np.sqrt(np.maximum(variance / (positives * negatives), 1e-18))


def check_direction(scores: Distribution, positive: Label) -> None:
    """Refuse scores that clearly rank against the label that they are supposed to predict."""
    assert scores.truth is not None
    area = area_of_all(scores, positive)
    if area is not None and area.is_reversed:
        alternative = next(label for label in scores.truth.labels if label != positive)
        raise InputError(
            f"The scores rank against the label {positive!r}: AUROC {area}. If they are scores of "
            f"{alternative!r}, pass score_of={alternative!r}; if they are of {positive!r}, say so "
            f"by score_of={positive!r}."
        )


def auroc_influences(scores: Distribution, positive: Label) -> Floats:
    """Influence of each value on the area, times the weight of its group; 0 without an area.

    A positive moves it by its placement among the negatives of its group, and a negative by its
    own among the positives (DeLong et al. 1988).
    """
    contests, area = _contests(scores, positive), np.nan_to_num(auroc_by_group(scores, positive))
    order = np.argsort(scores.codes, kind="stable")
    codes, values = scores.codes[order], scores.values[order]
    changes = (codes[1:] != codes[:-1]) | (values[1:] != values[:-1])
    place = np.cumsum(np.append(True, changes)) - 1
    hits, misses = contests.by_group(contests.hits), contests.by_group(contests.misses)
    total = hits + misses
    assert scores.truth is not None
    is_positive = np.array([label == positive for label in scores.truth.labels])
    hit = is_positive[scores.truth.codes[order]]
    won, lost = contests.below(contests.misses)[place], contests.below(contests.hits)[place]
    defined = ((hits > 0) & (misses > 0))[codes]
    own, opposite = (np.where(defined, part[codes], 1.0) for part in (hits, misses))
    change = np.where(hit, won / opposite, 1 - lost / own) - area[codes]
    change = np.where(defined, change * total[codes] / np.where(hit, own, opposite), 0.0)
    influence = np.empty(len(order))
    influence[order] = change
    return influence


def _areas(contests: Contests) -> Floats:
    wins = contests.by_group(contests.hits * contests.below(contests.misses))
    pairs = contests.by_group(contests.hits) * contests.by_group(contests.misses)
    areas = np.full(contests.groups, np.nan)
    np.divide(wins, pairs, out=areas, where=pairs > 0)
    return np.clip(areas, 0.0, 1.0, out=areas)  # sums may round beyond


def _contests(scores: Distribution, positive: Label) -> Contests:
    if scores.truth is None:
        raise InputError("AUROC needs y_true; give it to distribution(..., y_true=).")
    order = np.argsort(scores.codes, kind="stable")
    codes, values = scores.codes[order], scores.values[order]
    weight = scores.row_weights[order]
    is_positive = np.array([label == positive for label in scores.truth.labels])
    hits = np.where(is_positive[scores.truth.codes[order]], weight, 0.0)
    changes = (codes[1:] != codes[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(np.append(True, changes))
    misses = np.add.reduceat(weight - hits, starts)
    return Contests(np.add.reduceat(hits, starts), misses, codes[starts], len(scores.groups))
