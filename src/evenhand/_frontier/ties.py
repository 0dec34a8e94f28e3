"""What people who share a lot do to the disparity, before anyone is served."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenhand._words import number
from evenhand.mitigation._lots import ONE_BY_ONE, lots
from evenhand.mitigation.crossfit.rows import Codes, Floats

KEYS = 5  # over which lots that people share are told
LEAST_EXCESS = 1e-3  # over a disparity, that is worth a note


class Ties(NamedTuple):
    """How many fitting rows share a lot with another where they have no ids, and what it does."""

    rows: int = 0
    note: str = ""

    def warn(self, rows: int) -> None:
        """Say of one row, served by itself and decided at random, that its lot is shared."""
        if self.rows and rows == 1:
            warnings.warn(ONE_BY_ONE.format(ids="ids="), UserWarning, stacklevel=3)


NO_TIES = Ties()


def ties(
    group: Codes | None, features: Floats, value: float, by: Callable[[Floats], float]
) -> Ties:
    """Of the rows that chance decides: who shares group and score, and the disparity by lots.

    The key is not known yet, so that the disparity is a mean over some.
    """
    known = np.zeros(len(features), np.intp) if group is None else group
    table = np.column_stack([known, features])
    alike = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    shared = int((np.bincount(alike)[alike] > 1).sum())
    if not shared:
        return NO_TIES
    alone, together = (
        float(np.mean([by(lots(alike, key=key, distinct=distinct)) for key in range(KEYS)]))
        for distinct in (False, True)
    )
    if alone <= max(value, together) + LEAST_EXCESS:
        return Ties(shared)
    return Ties(
        shared,
        "Decide people in one call, or pass ids: served one by one without ids, those who share "
        f"group and score share a draw, and the disparity is about {number(alone)}, not "
        f"{number(value)}.",
    )
