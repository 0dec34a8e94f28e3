"""The weakest flipping of labels after which a model treats both groups alike enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation.constraints import cell_masses
from evenhand.mitigation.label_flipping.chances import Flips, Rule
from evenhand.mitigation.reader import Codes, Rows
from evenhand.mitigation.refitting import Refitting

Floats = NDArray[np.float64]

HALVINGS = 13


class Fitted(NamedTuple):
    """A model, the strength of the flips behind it, and its disparity (group 0 minus group 1)."""

    model: Any
    strength: float
    disparity: float


@dataclass(frozen=True, eq=False)
class Search:
    """Rows and a model to fit to them; with `lots` in [0, 1), labels are flipped for good."""

    rows: Rows
    refitting: Refitting
    classes: NDArray[Any]
    rule: Rule
    lots: Floats | None = None

    def plain(self) -> Fitted:
        """The model of the labels as they are."""
        model = self.refitting.fit(self.classes[self.rows.y], self.rows.weight)
        return Fitted(model, 0.0, self._disparity(model))

    def weakest(self, plain: Fitted, delta: float) -> Fitted:
        """The weakest flips that leave at most `delta`, or else those that leave the least."""
        ahead = int(plain.disparity < 0)
        mass = cell_masses(self.rows.y, self.rows.group, 2, 2, self.rows.sample_weight)
        share = (mass / mass.sum())[:, [ahead, 1 - ahead]]
        may_flip = np.flatnonzero(self.rows.y == (self.rows.group == ahead))
        twice = self.refitting.rows(np.append(np.arange(len(self.rows.y)), may_flip))
        low, high, tried = 0.0, self.rule.most(share), [plain]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            labels, weight = self._flipped(self.rule.flips(middle, share), may_flip)
            model = twice.fit(labels, weight, tried[-1].model)
            tried.append(Fitted(model, middle, self._disparity(model)))
            enough = tried[-1].disparity * np.sign(plain.disparity) <= delta
            low, high = (low, middle) if enough else (middle, high)
        allowed = [one for one in tried if abs(one.disparity) <= delta]
        if allowed:
            return min(allowed, key=lambda one: one.strength)
        return min(tried, key=lambda one: abs(one.disparity))

    def _flipped(self, flips: Flips, may_flip: Codes) -> tuple[NDArray[Any], Floats]:
        """Every row with its label, and those that may flip with the other one as well."""
        y = self.rows.y
        chance = np.zeros(len(y))
        chance[may_flip] = np.where(y[may_flip] == 1, flips.down, flips.up)
        if self.lots is not None:
            chance = (self.lots < chance).astype(np.float64)
        weight = self.rows.weight
        labels = np.append(y, 1 - y[may_flip])
        return self.classes[labels], np.append(weight * (1 - chance), (weight * chance)[may_flip])

    def _disparity(self, model: Any) -> float:
        """The difference in acceptance; none where a group has nobody to compare."""
        y, group = self.rows.y, self.rows.group
        accepted = self.rows.weight * (model.predict(self.refitting.X) == self.classes[1])
        among = list(self.rule.among)
        above = cell_masses(y, group, 2, 2, accepted)[among].sum(axis=0)
        below = cell_masses(y, group, 2, 2, self.rows.sample_weight)[among].sum(axis=0)
        return float(np.subtract(*(above / below))) if below.all() else 0.0
