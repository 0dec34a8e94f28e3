"""Counting ten million rows of integer codes, next to NumPy's own count of the same cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from people import draw
from timing import readable, take_turns

from evenhand import tally
from report import Bar, Line

CLASSES, GROUPS = 5, 1000
CASE = f"int64, {CLASSES} classes, {GROUPS} groups"


def lines(scale: float) -> Iterator[Line]:
    """One tally against one bincount."""
    truth, predicted, group = draw(int(10_000_000 * scale), CLASSES, GROUPS)
    timed = take_turns(
        {
            "np.bincount": lambda: np.bincount((truth * CLASSES + predicted) * GROUPS + group),
            "evenhand.tally": lambda: tally(truth, predicted, sensitive_features=group),
        }
    )
    numpy, ours = timed["np.bincount"], timed["evenhand.tally"]
    table = ours.result.table("y", "yhat", "group").ravel()
    np.testing.assert_array_equal(table[: len(numpy.result)], numpy.result)
    yield Line(CASE, "np.bincount", readable(numpy.seconds))
    ratio = ours.seconds / numpy.seconds
    yield Line(CASE, "evenhand.tally", readable(ours.seconds), ratio, Bar("<", 3))
