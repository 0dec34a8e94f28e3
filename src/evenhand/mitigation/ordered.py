"""The groups' values in order, and where other values stand among those of their own group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.words import smallest_unsigned
from evenhand.distributions.ordering import ascending

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Ordered:
    """The distinct values of each group, ascending, one group after the other.

    `below` and `upto` are the parts of a group's weight before a value and with it; `ends` is
    where each group ends, and `keys` put group and rank into one ascending number.
    """

    values: Floats
    below: Floats
    upto: Floats
    ends: Codes
    pooled: Floats
    keys: Codes

    @property
    def starts(self) -> Codes:
        """Where each group starts."""
        return np.append(0, self.ends[:-1])

    def interpolated(self, images: Floats, values: Floats, group: Codes) -> Floats:
        """The line through the images of a group's values, level beyond the outermost.

        In ascending order all searches walk through memory; at random they would jump.
        """
        order, inorder = ascending(values)
        whose = group[order]
        rank = np.searchsorted(self.pooled, inorder, side="right")
        last = np.searchsorted(self.keys, whose * (len(self.pooled) + 1) + rank, side="right") - 1
        left = np.maximum(last, self.starts[whose])
        right = np.minimum(left + 1, self.ends[whose] - 1)
        gap = self.values[right] - self.values[left]
        part = np.clip((inorder - self.values[left]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
        found = np.empty_like(inorder)
        found[order] = images[left] + part * (images[right] - images[left])
        return found


def ordered(values: Floats, group: Codes, weight: Floats, groups: int) -> Ordered:
    """Put the values of every group in order, each distinct value once.

    >>> two = ordered(np.array([3.0, 1.0, 3.0]), np.array([0, 1, 0]), np.ones(3), groups=2)
    >>> two.values, two.upto, two.ends
    (array([3., 1.]), array([1., 1.]), array([1, 2]))
    """
    order, pooled = ascending(values)
    new = np.append(True, pooled[1:] != pooled[:-1])
    distinct, span = pooled[new], int(new.sum()) + 1
    by_group = np.argsort(group[order].astype(smallest_unsigned(groups)), kind="stable")
    order = order[by_group]
    keys = group[order] * span + np.cumsum(new)[by_group]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    mass, keys = np.add.reduceat(weight[order], first), keys[first]
    ends = np.searchsorted(keys, np.arange(1, groups + 1) * span)
    below, upto = _levels(mass, ends)
    return Ordered(distinct[keys % span - 1], below, upto, ends, distinct, keys)


def _levels(mass: Floats, ends: Codes) -> tuple[Floats, Floats]:
    """The parts of its group's mass before each value, and with it."""
    grown = np.append(0.0, np.cumsum(mass))
    starts = np.append(0, ends[:-1])
    before = np.repeat(grown[starts], ends - starts)
    total = np.repeat(grown[ends], ends - starts) - before
    return (grown[:-1] - before) / total, (grown[1:] - before) / total
