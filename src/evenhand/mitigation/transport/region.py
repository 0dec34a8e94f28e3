"""Where the groups' levels may lie: at most ε unequal at every cut point, and ascending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from evenhand.mitigation.optimal.cones import Cone, Part
from evenhand.mitigation.transport.bound import Bound
from evenhand.mitigation.transport.solver import Program
from evenhand.mitigation.transport.support import Codes, Floats


class Tangents(NamedTuple):
    """Lines slope · x + rest below the costs of some entries, given by their places."""

    place: Codes
    slope: Floats
    rest: Floats


@dataclass(frozen=True, eq=False)
class Region:
    """Arrays of cut points × groups within [0, 1], ascending, that meet a bound from `first` on.

    The variables of its programs are the entries, then a bound on the cost of each, then what
    helps to describe the cones, cut point by cut point.
    """

    shape: tuple[int, int]
    bound: Bound
    first: int = 0

    @property
    def cone(self) -> Cone:
        """Where the levels at one cut point may lie."""
        return self.bound.cone(self.shape[1])

    def inside(self, at: Floats) -> Floats:
        """A solver's answer, exactly ascending within [0, 1], and exactly as equal as asked."""
        ascending = np.maximum.accumulate(np.clip(at, 0.0, 1.0), axis=0)
        kept = self.bound.pulled(ascending[self.first :])
        return np.vstack([np.minimum(ascending[: self.first], kept[:1]), kept])

    def program(self, tangents: Tangents, weights: Floats) -> Program:
        """The least weighted sum of costs, each no less than its tangents."""
        slack, constant = self._everywhere()
        size, width = weights.size, slack.shape[1]
        linear = [_lines(tangents, size, width), self._ascending(width)]
        linear += [-sparse.eye_array(size, width), sparse.eye_array(size, width)]
        zeros = [np.zeros(part.shape[0]) for part in linear[1:3]]
        limits = np.concatenate([-tangents.rest, *zeros, np.ones(size), constant])
        cost = np.concatenate([np.zeros(size), weights.ravel(), np.zeros(width - 2 * size)])
        rows = sparse.vstack([*linear, -slack], format="csr")
        flat = Part("nonnegative", rows.shape[0] - slack.shape[0])
        return Program(cost, rows, limits, (flat, *self.cone.parts * (self.shape[0] - self.first)))

    def _everywhere(self) -> tuple[sparse.csr_array, Floats]:
        """The slack of the cones at all cut points from the first on: its rows and constant."""
        (cuts, groups), cone = self.shape, self.cone
        constrained = sparse.eye_array(cuts, format="csr")[self.first :]
        levels = sparse.kron(constrained, cone.of_rates)
        helping = sparse.kron(sparse.eye_array(cuts - self.first), cone.of_help)
        bounds = sparse.csr_array((levels.shape[0], cuts * groups))
        slack = sparse.hstack([levels, bounds, helping], format="csr")
        return slack, np.tile(cone.constant, cuts - self.first)

    def _ascending(self, width: int) -> sparse.csr_array:
        """Each level minus the next one of its group."""
        cuts, groups = self.shape
        pairs = (cuts - 1) * groups
        return sparse.eye_array(pairs, width) - sparse.eye_array(pairs, width, k=groups)


def _lines(tangents: Tangents, size: int, width: int) -> sparse.csr_array:
    """Each slope times its entry, minus the bound on the cost of that entry."""
    row = np.arange(len(tangents.place))
    entries = np.concatenate([tangents.slope, -np.ones(len(row))])
    places = np.concatenate([tangents.place, tangents.place + size])
    return sparse.csr_array((entries, (np.tile(row, 2), places)), shape=(len(row), width))
