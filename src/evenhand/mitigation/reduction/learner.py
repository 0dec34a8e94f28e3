"""The base model as a player of the game: costs in, a model and whom it accepts out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation.constraints import cell_masses
from evenhand.mitigation.reader import Codes, Rows
from evenhand.mitigation.refitting import Refitting

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Learner:
    """A model to refit, and the rows, of which those alike may be one row of their weight."""

    refitting: Refitting
    y: Codes
    group: Codes
    weight: Floats
    mass: Floats

    @classmethod
    def prepare(cls, estimator: Any, features: Any, rows: Rows, mass: Floats) -> Self:
        """Make the features ready once; `mass` is the weight of each (label, group)."""
        refitting = Refitting.prepare(estimator, features, rows.y)
        first, member = refitting.alike(rows.y * mass.shape[1] + rows.group)
        weight = np.bincount(member, rows.weight).astype(np.float64)
        return cls(refitting.rows(first), rows.y[first], rows.group[first], weight, mass)

    def answer(self, costs: Floats, start: Any) -> tuple[Any, Floats]:
        """Fit the model to accept where that costs less than nothing, weighted by what is at stake.

        What comes back with it is the share of everyone it accepts in each (label, group).
        """
        gain = -costs[self.y, self.group]
        weight = abs(gain) * self.weight
        weight *= self.mass.sum() / weight.sum()
        model = self.refitting.fit((gain > 0).astype(np.intp), weight, start)
        accepted = model.predict(self.refitting.X) * self.weight
        table = cell_masses(self.y, self.group, 2, self.mass.shape[1], accepted)
        return model, table / self.mass.sum()
