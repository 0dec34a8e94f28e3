"""Any number of classes: a best response is one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenhand.mitigation.optimal.population import Codes, Floats, Population, Response
from evenhand.mitigation.optimal.rule import cheapest, tilt
from evenhand.mitigation.optimal.thresholds import Thresholds

ROWS_AT_A_TIME = 1 << 14  # scores of a block then stay in the cache


@dataclass(frozen=True, eq=False)
class Scores:
    """Any number of classes: one pass over the rows, whose features are transposed and sorted.

    `features` (features, rows) are the class probabilities, or where the group is not known the
    joint probabilities of group and class; rows of one pool lie between two of `starts`.
    """

    features: Floats
    weight: Floats
    starts: Codes
    groups: int

    @classmethod
    def of(cls, probabilities: Floats, group: Codes, weight: Floats, groups: int) -> Scores:
        """Rows of known groups: a pool for each."""
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(groups + 1))
        return cls(
            np.ascontiguousarray(probabilities.T[:, order]),
            weight[order] / weight.sum(),
            starts,
            groups,
        )

    @classmethod
    def blind(cls, joint: Floats, weight: Floats, groups: int) -> Scores:
        """One pool of all rows, by joint probabilities (rows, groups × classes)."""
        whole = np.array([0, len(joint)])
        return cls(np.ascontiguousarray(joint.T), weight / weight.sum(), whole, groups)

    @property
    def pools(self) -> int:
        """How many pools decide for themselves."""
        return len(self.starts) - 1

    @property
    def mass(self) -> Floats:
        """The share of rows by group and class."""
        weighted = [self.features[:, a:b] @ self.weight[a:b] for a, b in pairwise(self.starts)]
        return np.array(weighted).reshape(self.groups, -1)

    def respond(self, prices: Floats) -> Response:
        """Take the class of least price in every row, block by block."""
        classes = prices.shape[-1]
        matrices = (prices + tilt(classes)).reshape(self.pools, -1, classes)
        confusion = np.zeros_like(matrices)
        for pool, (first, last) in enumerate(pairwise(self.starts.tolist())):
            for start in range(first, last, ROWS_AT_A_TIME):
                rows = slice(start, min(start + ROWS_AT_A_TIME, last))
                confusion[pool] += self._block(matrices[pool], rows)
        return Response(np.arange(self.pools), matrices, confusion)

    def guesses(self) -> Response:
        """None: each would cost a pass over the rows."""
        shape = (0, len(self.features), len(self.features) * self.pools // self.groups)
        return Response(np.zeros(0, np.intp), np.zeros(shape), np.zeros(shape))

    def _block(self, matrix: Floats, rows: slice) -> Floats:
        features = self.features[:, rows]
        least = cheapest(matrix.T @ features)
        mine = least == np.arange(matrix.shape[1])[:, None]
        return np.asarray(features @ (mine * self.weight[rows]).T)


def known_groups(probabilities: Floats, group: Codes, weight: Floats, groups: int) -> Population:
    """Rows of known groups, with class probabilities (rows, classes)."""
    kind = Thresholds if probabilities.shape[1] == 2 else Scores
    return kind.of(probabilities, group, weight, groups)
