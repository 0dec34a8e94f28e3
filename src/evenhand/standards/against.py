"""Ratios of rates to a reference, with intervals that hold for all groups at once."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

Floats = NDArray[np.float64]


def against(
    hits: Any, rows: Any, to: str | int, how: Literal["ratio"], error: float
) -> tuple[Floats, Floats, Floats]:
    """Ratios, and the ends of what they can be where each rate is in its exact interval.

    The intervals of all rates hold at once (Šidák), so the ratios' do, whichever group has the
    highest true rate.

    >>> values, low, high = against([10, 30], [100, 100], 1, "ratio", 0.05)
    >>> values.round(3), low.round(3), high.round(3)
    (array([0.333, 1.   ]), array([0.106, 1.   ]), array([0.93, 1.  ]))
    """
    assert how == "ratio"
    hits, rows = np.asarray(hits, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    tail = (1 - (1 - error) ** (1 / len(rows))) / 2
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    some, rest = hits > 0, hits < rows
    low[some] = betaincinv(hits[some], (rows - hits)[some] + 1, tail)
    high[rest] = betaincinv(hits[rest] + 1, (rows - hits)[rest], 1 - tail)
    rates = hits / rows
    with np.errstate(divide="ignore"):
        if isinstance(to, str):
            return rates / rates.max(), low / high.max(), np.minimum(high / low.max(), 1.0)
        values, lows, highs = rates / rates[to], low / high[to], high / low[to]
    lows[to] = highs[to] = 1.0
    return values, lows, highs
