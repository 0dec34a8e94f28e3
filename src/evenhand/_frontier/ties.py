"""The effect of shared random draws on the disparity, before a rule is deployed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenhand._words import number
from evenhand.mitigation._lots import ONE_BY_ONE, lots
from evenhand.mitigation.crossfit.rows import Codes, Floats

KEYS = 5  # over which the effect of shared draws is averaged
LEAST_EXCESS = 1e-3  # over a disparity: an excess that is worth a note


class Ties(NamedTuple):
    """The number of fitting rows that share a random draw without ids, and a note on its effect."""

    rows: int = 0
    note: str = ""

    def warn(self, rows: int) -> None:
        """Warn about a single row that is decided at random, whose draw may be shared."""
        if self.rows and rows == 1:
            warnings.warn(ONE_BY_ONE.format(ids="ids="), UserWarning, stacklevel=3)


NO_TIES = Ties()


def ties(
    group: Codes | None, features: Floats, value: float, disparity_of: Callable[[Floats], float]
) -> Ties:
    """The ties among rows that are decided at random: those with equal group and score.

    The key is not known yet, so the disparity is a mean over several keys.
    """
    codes = np.zeros(len(features), np.intp) if group is None else group
    table = np.column_stack([codes, features])
    keys = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    shared = int((np.bincount(keys)[keys] > 1).sum())
    if not shared:
        return NO_TIES
    separately, jointly = (
        float(
            np.mean([disparity_of(lots(keys, key=key, distinct=distinct)) for key in range(KEYS)])
        )
        for distinct in (False, True)
    )
    if separately <= max(value, jointly) + LEAST_EXCESS:
        return Ties(shared)
    return Ties(
        shared,
        "Decide people in one call, or pass ids: served one by one without ids, those who share "
        f"group and score share a draw, and the disparity is about {number(separately)}, not "
        f"{number(value)}.",
    )
