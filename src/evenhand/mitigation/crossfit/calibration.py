"""Calibration of scores in every group, by maps that become part of the rules.

Of two classes a map is isotonic: it keeps the order, so that a threshold on what it gives is a
threshold on the score. Of more classes, and where rules do not know the group, it mixes the
probabilities: P(class k) = Σ_j mixing[k, j] · score_j, which a rule's prices absorb. Either way a
rule on calibrated scores is equivalent to one on the original scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._words import number, plural
from evenhand.mitigation.crossfit.rows import Floats, Rows, stream
from evenhand.mitigation.optimal import DecisionRule

FOLDS = 5
LEVEL = 0.01  # at which scores are found to be off
ROUNDS = 50
SLOPE = 1e-6  # of the score itself, so that what isotonic regression ties keeps its order
LENT_ROWS = 1.0  # of the common mixing, to each class of a group's own


@dataclass(frozen=True, eq=False)
class Monotone:
    """A rising map of the second class's score: linear between knots, constant beyond them."""

    knots: Floats
    values: Floats

    @classmethod
    def fitted(cls, rows: Rows) -> Monotone:
        """Isotonic regression of the labels on the score."""
        score, place = np.unique(rows.scores[:, 1], return_inverse=True)
        everyone = np.bincount(place, rows.weight)
        share = np.bincount(place, rows.weight * rows.onehot[:, 1]) / everyone
        rising = isotonic_regression(share, weights=everyone).x
        along = (score - score[0]) / (np.ptp(score) or 1.0)
        return cls(score, np.clip((1 - SLOPE) * rising + SLOPE * along, 0, 1))

    def of(self, scores: Floats) -> Floats:
        """Calibrated probabilities of both classes."""
        second = np.interp(scores[:, 1], self.knots, self.values)
        return np.column_stack([1 - second, second])

    def taken_in(self, prices: Floats) -> Floats:
        """The prices on scores equivalent to prices on mapped scores."""
        first, second = prices[:, 1] - prices[:, 0]  # at score s, 1 costs (1 − s), s of these more
        slope = second - first
        if slope == 0:
            return prices
        cut = -first / slope
        raw = float(np.interp(cut, self.values, self.knots))
        if not self.values[0] <= cut <= self.values[-1]:  # all are on one side
            raw += np.sign(cut - raw)
        column = -np.sign(slope) * np.array([raw, raw - 1])
        return np.column_stack([np.zeros(2), column])


@dataclass(frozen=True, eq=False)
class Mixing:
    """A stochastic matrix: column j is the distribution of the class where the score is for j."""

    matrix: Floats

    @classmethod
    def fitted(cls, rows: Rows, common: Mixing | None = None) -> Mixing:
        """The maximum likelihood estimate by EM, shrunken a little toward the common one.

        The likelihood is concave, so that where the search begins does not matter.
        """
        count = len(rows.classes)
        prior = LENT_ROWS * (np.eye(count) if common is None else common.matrix)
        matrix = (prior / LENT_ROWS + 0.1) / (1 + 0.1 * count)
        weighted = rows.onehot * rows.weight[:, None] * len(rows.weight) / rows.weight.sum()
        for _ in range(ROUNDS):
            likely = np.maximum((rows.scores @ matrix.T * rows.onehot).sum(axis=1), 1e-300)
            counts = matrix * ((weighted / likely[:, None]).T @ rows.scores) + prior
            matrix = counts / counts.sum(axis=0)
        return cls(matrix)

    def of(self, scores: Floats) -> Floats:
        """Calibrated probabilities."""
        return np.asarray(scores @ self.matrix.T)

    def taken_in(self, prices: Floats) -> Floats:
        """The prices on scores equivalent to prices on mixed scores."""
        return np.asarray(self.matrix.T @ prices)


Map = Monotone | Mixing | None


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map for each group: none, the one for all groups, or its own, as `kinds` says."""

    maps: tuple[Map, ...]
    kinds: tuple[str, ...]

    def applied(self, rows: Rows) -> Rows:
        """The rows with calibrated scores; by every group's map if rules do not know the group."""
        scores = rows.scores.copy()
        for group, own in enumerate(self.maps):
            mine = rows.group == group
            if own is not None and mine.any():
                scores[mine] = own.of(rows.scores[mine])
        by_group = None
        if rows.group_proba is not None:
            mapped = [rows.scores if own is None else own.of(rows.scores) for own in self.maps]
            by_group = np.stack(mapped, axis=1)
        return replace(rows, scores=scores, are_probabilities=True, by_group=by_group)

    def taken_in(self, rule: DecisionRule) -> DecisionRule:
        """The rule on original scores equivalent to this one on calibrated scores."""
        prices = rule.prices.copy()
        count = prices.shape[2]
        for at, pool in enumerate(rule.pool):
            if prices.shape[1] == count:
                own = self.maps[pool]
                prices[at] = prices[at] if own is None else own.taken_in(prices[at])
                continue
            for group, own in enumerate(self.maps):  # one pool of all rows, by P(group, class)
                block = slice(group * count, (group + 1) * count)
                if own is not None:
                    prices[at, block] = own.taken_in(prices[at, block])
        return replace(rule, prices=prices)

    def sentence(self) -> str:
        """A sentence on the maps in use."""
        own, common = (self.kinds.count(kind) for kind in ("own", "common"))
        unmapped = len(self.kinds) - own - common
        parts = [
            f"{plural(count, 'group')} {how}"
            for count, how in (
                (own, "by a map of its own" if own == 1 else "by maps of their own"),
                (common, "by one map for all groups"),
                (unmapped, "not at all"),
            )
            if count
        ]
        return (
            f"The scores were recalibrated: {', '.join(parts)}, whichever came nearest to labels "
            "left out. The rules hold the maps and take scores as they come."
        )


def calibration(rows: Rows, random_state: int) -> Calibration:
    """Each group's best map, by the squared error on held-out labels."""
    if rows.truth is None:
        raise InputError("Scores are recalibrated by labels: pass y_true.")
    fold = stream(random_state, 4).permutation(len(rows.group)) % FOLDS
    kinds = ("none", "common", "own") if rows.are_probabilities else ("common", "own")
    errors = np.zeros((len(kinds), len(rows.groups)))
    for left_out in range(FOLDS):
        outside = rows.take(fold == left_out)
        maps = _maps(rows.take(fold != left_out))
        for place, kind in enumerate(kinds):
            errors[place] += _squared(outside, maps[kind])
    chosen = tuple(kinds[place] for place in errors.argmin(axis=0))
    maps = _maps(rows)
    return Calibration(tuple(maps[kind][group] for group, kind in enumerate(chosen)), chosen)


def believable(rows: Rows, judge: str) -> tuple[str, ...]:
    """The truths that rules may be fitted to, the least noisy first: scores, if calibrated."""
    if judge == "scores" or not rows.are_probabilities or miscalibrated(rows):
        return (judge,)
    return ("scores", judge)


def miscalibrated(rows: Rows) -> str:
    """A note on groups whose class frequencies differ significantly from their scores; or ""."""
    truth, groups = rows.onehot, len(rows.groups)
    count = len(rows.classes)
    total = np.bincount(rows.group, rows.weight, groups)
    expected, observed, spread = (
        np.stack([np.bincount(rows.group, column, groups) for column in table.T], axis=1)
        for table in (
            rows.weight[:, None] * rows.scores,
            rows.weight[:, None] * truth,
            rows.weight[:, None] ** 2 * rows.scores * (1 - rows.scores),
        )
    )
    score = np.abs(observed - expected) / np.sqrt(np.maximum(spread, 1e-300))
    off = score > -ndtri(LEVEL / (2 * groups * count))
    if not off.any():
        return ""
    gap = np.abs(observed - expected) / np.maximum(total, 1e-300)[:, None]
    group, kind = np.unravel_index(np.argmax(np.where(off, gap, -1)), off.shape)
    return (
        f"The scores are not calibrated in {plural(int(off.any(axis=1).sum()), 'group')}: of "
        f"{show(rows.groups[group])} they say {number(expected[group, kind] / total[group])} are "
        f"{show(rows.classes[kind])}, and {number(observed[group, kind] / total[group])} are."
    )


def _maps(rows: Rows) -> dict[str, list[Map]]:
    """Maps of every kind, for each group."""
    common: Monotone | Mixing
    own: list[Map] = []
    if rows.is_binary and rows.group_proba is None:
        common = Monotone.fitted(rows)
        own = [Monotone.fitted(part) if len(part.group) else common for part in _by_group(rows)]
    else:
        common = Mixing.fitted(rows)
        own = [Mixing.fitted(part, common) for part in _by_group(rows)]
    count = len(rows.groups)
    return {"none": [None] * count, "common": [common] * count, "own": own}


def _by_group(rows: Rows) -> list[Rows]:
    order = np.argsort(rows.group, kind="stable")
    ends = np.searchsorted(rows.group[order], np.arange(1, len(rows.groups)))
    return [rows.take(part) for part in np.split(order, ends)]


def _squared(rows: Rows, maps: Sequence[Map]) -> Floats:
    """The squared error of the scores after these maps, by group."""
    calibrated = Calibration(tuple(maps), ()).applied(rows).scores
    off = rows.weight * ((rows.onehot - calibrated) ** 2).sum(axis=1)
    return np.asarray(np.bincount(rows.group, off, len(rows.groups)), dtype=np.float64)
