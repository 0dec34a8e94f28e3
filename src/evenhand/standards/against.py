"""Stub."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

Floats = NDArray[np.float64]


def against(
    hits: Any, rows: Any, to: str | int, how: Literal["ratio", "difference"], error: float
) -> tuple[Floats, Floats, Floats]:
    """A box of Clopper–Pearson bounds that hold at once (Šidák)."""
    hits, rows = np.asarray(hits, float), np.asarray(rows, float)
    tail = (1 - (1 - error) ** (1 / len(rows))) / 2
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    some, rest = hits > 0, hits < rows
    low[some] = betaincinv(hits[some], (rows - hits)[some] + 1, tail)
    high[rest] = betaincinv(hits[rest] + 1, (rows - hits)[rest], 1 - tail)
    rates = hits / rows
    at = int(np.argmax(rates)) if to == "best" else int(to)
    values = rates / rates[at]
    with np.errstate(divide="ignore"):
        if to == "best":
            bottom_low = np.full(len(rows), low.max())
            lows, highs = low / high.max(), np.minimum(high / bottom_low, 1.0)
        else:
            lows, highs = low / high[at], high / low[at]
            lows[at] = highs[at] = 1.0
    return values, lows, highs
