"""The bounds of all cells as one cone, and what it says of the prices of rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evenhand.mitigation.optimal.cones import Cone, Part

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bounds:
    """The slack A r + B u + b of all cells; r are the rates of all pairs (cell, group)."""

    of_rates: sparse.csr_array
    of_help: sparse.csr_array
    constant: Floats
    parts: tuple[Part, ...]
    most: Floats

    @classmethod
    def of(cls, by_cell: Sequence[Cone | None], observed: NDArray[np.bool_]) -> Bounds | None:
        """Each cone takes the rates of the groups observed in its cell; None bounds nothing."""
        pairs = sparse.eye_array(observed.size, format="csr")
        picks = [pairs[np.flatnonzero(row)] for row in _by_cell(observed)]
        chosen = [(cone, pick) for cone, pick in zip(by_cell, picks, strict=True) if cone]
        if not chosen:
            return None
        cones = [cone for cone, _ in chosen]
        return cls(
            sparse.vstack([cone.of_rates @ pick for cone, pick in chosen], format="csr"),
            sparse.block_diag([cone.of_help for cone in cones], format="csr"),
            np.concatenate([cone.constant for cone in cones]),
            tuple(part for cone in cones for part in cone.parts),
            np.concatenate([cone.most for cone in cones]),
        )

    @property
    def pairs(self) -> int:
        """How many rates there are."""
        return int(self.of_rates.shape[1])

    @property
    def polyhedral(self) -> bool:
        """Whether linear programming is enough."""
        return all(part.kind == "nonnegative" for part in self.parts)

    def multipliers(self, dual: Floats) -> Floats:
        """The prices of the rates at a dual point."""
        return np.asarray(-(self.of_rates.T @ dual))

    def constant_part(self, dual: Floats) -> float:
        """What a dual point contributes to the lower bound, apart from the pools' responses.

        A helping variable lies in a known interval, so that a dual point that is only nearly
        feasible still bounds.
        """
        residual = -(self.of_help.T @ dual)
        return float(np.minimum(residual, 0) @ self.most - self.constant @ dual)

    def slope(self, dual: Floats, rates: Floats) -> Floats:
        """In which direction the lower bound rises from a dual point, where rates respond so."""
        helping = np.where(self.of_help.T @ dual > 0, self.most, 0.0)
        return np.asarray(-(self.of_rates @ rates + self.of_help @ helping + self.constant))


def _by_cell(observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each cell, which of all pairs (cell, group) are its own and observed."""
    own = np.eye(len(observed), dtype=bool)[:, :, None] & observed
    return own.reshape(len(observed), -1)
