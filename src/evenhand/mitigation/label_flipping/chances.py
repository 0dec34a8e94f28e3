"""With which chance labels are flipped, so that the best classifier of the result is fair."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Flips(NamedTuple):
    """Chances that a 1 of the group ahead becomes 0, and a 0 of the other becomes 1."""

    down: float
    up: float


class Rule(NamedTuple):
    """For which labels rates are compared, the flips at strength t, and the largest sensible t.

    The flips are functions of t and of the shares P(y, a), the group ahead in column 0. At the
    largest t a chance reaches ½: a group is then accepted or turned down as a whole.
    """

    among: tuple[int, ...]
    flips: Callable[[float, Floats], Flips]
    most: Callable[[Floats], float]


def _parity(t: float, share: Floats) -> Flips:
    ahead, behind = share.sum(axis=0)
    return Flips(t / (ahead + t), t / (behind + t))


def _opportunity(t: float, share: Floats) -> Flips:
    return Flips(t / (2 * share[1, 0]), t / (2 * (share[1, 1] + t)))


def _equality(t: float, share: Floats) -> Flips:
    return Flips(t / (2 * (share[0, 0] + t)), t / (2 * share[0, 1]))


RULES = {
    "statistical_parity": Rule((0, 1), _parity, lambda share: float(share.sum(axis=0).min())),
    "equal_opportunity": Rule((1,), _opportunity, lambda share: float(share[1, 0])),
    "predictive_equality": Rule((0,), _equality, lambda share: float(share[0, 1])),
}


def thresholds(flips: Flips) -> tuple[float, float]:
    """Where on P(y = 1 | x) the best classifier of flipped labels cuts, ahead and behind.

    >>> thresholds(Flips(down=0.2, up=0.2))
    (0.625, 0.37499999999999994)
    """
    return 0.5 / (1 - flips.down), (0.5 - flips.up) / (1 - flips.up)
