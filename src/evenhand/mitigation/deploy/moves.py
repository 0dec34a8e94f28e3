"""The new values of predicted amounts in each group: lines between cuts, and random draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation.deploy.description import Floats, Grouping

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Moves:
    """Pieces of each pool of rows, and the outcomes of each piece.

    An amount x is in the piece after as many `cuts` (pools, cuts; absent ones are infinite) as are
    at most x. There it becomes start + slope · (x − anchor), by the first outcome whose end is
    above the lot: `end`, `start` and `slope` are (pools, pieces, outcomes), and the last end of a
    piece is 1. `grouping` is None where one pool holds everyone.
    """

    cuts: Floats
    anchor: Floats
    end: Floats
    start: Floats
    slope: Floats
    grouping: Grouping | None = None

    @property
    def pools(self) -> int:
        """The number of pools."""
        return len(self.cuts)

    @property
    def draws(self) -> bool:
        """Whether any prediction is random."""
        return bool((self.end[:, :, 0] < 1).any())

    def amounts(self, before: Floats, pool: Codes, lot: Floats) -> Floats:
        """The new amounts of rows with these amounts, pools and draws."""
        piece = self.pieces(before, pool)
        outcome = (self.end[pool, piece] <= lot[:, None]).sum(axis=1)
        at = pool, piece, np.minimum(outcome, self.end.shape[2] - 1)
        moved: Floats = self.start[at] + self.slope[at] * (before - self.anchor[pool, piece])
        return moved

    def expected(self, before: Floats, pool: Codes) -> Floats:
        """The expected new amounts of rows with these amounts and pools."""
        piece = self.pieces(before, pool)
        chance = np.diff(np.minimum(self.end[pool, piece], 1), axis=1, prepend=0)
        distance = before - self.anchor[pool, piece]
        moved = self.start[pool, piece] + self.slope[pool, piece] * distance[:, None]
        return np.asarray((chance * moved).sum(axis=1))

    def pieces(self, before: Floats, pool: Codes) -> Codes:
        """The piece of each row."""
        pieces = np.zeros(len(before), np.intp)
        for pool_number in range(self.pools):
            rows = pool == pool_number
            pieces[rows] = np.searchsorted(self.cuts[pool_number], before[rows], side="right")
        return pieces

    def listed(self, pool: int) -> tuple[list[float], list[tuple[float, list[list[float]]]]]:
        """The cuts of a pool, and by piece its anchor and outcomes (end, start, slope)."""
        cuts = self.cuts[pool][np.isfinite(self.cuts[pool])].tolist()
        pieces = []
        for piece in range(len(cuts) + 1):
            ends = self.end[pool, piece]
            count = int((ends < 1).sum()) + 1
            columns = (ends, self.start[pool, piece], self.slope[pool, piece])
            outcomes = np.column_stack([column[:count] for column in columns]).tolist()
            pieces.append((float(self.anchor[pool, piece]), outcomes))
        return cuts, pieces
