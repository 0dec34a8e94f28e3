"""A bound on the inequality of vectors, one entry for each group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from evenhand import measures
from evenhand.measures import Measure
from evenhand.mitigation.optimal.cones import Cone, cone
from evenhand.mitigation.transport.support import Floats

Name = Literal["pq", "gini", "mpd"]


@dataclass(frozen=True)
class Bound:
    """A measure, with its orders where it is PQ, and the most that it may be."""

    measure: Name
    epsilon: float
    p: float = 1
    q: float = 2

    def __post_init__(self) -> None:
        if self.epsilon < 0:
            raise ValueError(f"epsilon is {self.epsilon}; no measure is below 0.")
        cone(self.measure, 2, self.epsilon, self.p, self.q)  # refuses what has no cone

    @property
    def function(self) -> Measure:
        """The measure itself."""
        if self.measure == "pq":
            return partial(measures.pq, p=self.p, q=self.q)
        return measures.MEASURES[self.measure]

    @property
    def is_width(self) -> bool:
        """Whether it says how far apart entries may be: MPD, or 0 by any measure."""
        return self.measure == "mpd" or self.epsilon == 0

    def cone(self, groups: int) -> Cone:
        """The vectors that meet it; one that all vectors meet has none, and is refused."""
        found = cone(self.measure, groups, self.epsilon, self.p, self.q)
        if found is None:
            raise ValueError(f"No vector of {groups} entries has a {self.measure} above ε.")
        return found

    def met_by(self, vectors: Floats) -> bool:
        """Whether no vector (the last axis) is more unequal."""
        return bool(np.max(self.function(vectors), initial=0.0) <= self.epsilon)

    def pulled(self, vectors: Floats) -> Floats:
        """Vectors moved towards their means, all by the same part, until they meet it."""
        away = vectors.mean(axis=-1, keepdims=True) - vectors
        low, high = 0.0, 1.0
        while high - low > 1e-15 and not self.met_by(vectors + low * away):
            middle = (low + high) / 2
            met = self.met_by(vectors + middle * away)
            low, high = (low, middle) if met else (middle, high)
        return vectors if high == 1.0 else np.asarray(vectors + high * away)
