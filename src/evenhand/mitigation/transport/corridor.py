"""The cheapest CDFs that differ by at most a given width at every cut point."""

from __future__ import annotations

import numpy as np

from evenhand.mitigation.transport.plan import Supply
from evenhand.mitigation.transport.support import Floats

HALVINGS = 54


def corridor(supply: Supply, width: float) -> Floats:
    """The groups' CDFs, nowhere more than `width` apart, that cost least to reach.

    At a cut point, let all CDFs lie between b and b + width: the cheapest are the old ones,
    clipped. That leaves one number b for each cut point, and a convex cost whose slope is known;
    the least b with a slope of at least 0 grows with the cut point, so the clipped CDFs do too.

    >>> two = Supply(np.array([0.0, 1.0]), np.array([[1.0, 1.0], [0.5, 1.0]]), np.full(2, 0.5))
    >>> corridor(two, width=0.2)
    array([[0.7, 1. ],
           [0.5, 1. ]])
    """
    low = np.full(len(supply.cuts), -width)
    high = np.ones_like(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = slope(supply, middle, width) >= 0
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    inner = np.clip(supply.cdfs[:, :-1], high, high + width)
    return np.column_stack([inner, np.ones(len(inner))])


def slope(supply: Supply, floor: Floats, width: float) -> Floats:
    """How the cost at each cut point grows with the floor of its corridor."""
    levels = np.broadcast_to(floor, (len(supply.share), len(floor)))
    lifted = np.maximum(supply.quantile(levels, "right") - supply.cuts, 0)
    lowered = np.maximum(supply.cuts - supply.quantile(levels + width, "right"), 0)
    return np.asarray(supply.share @ lifted - supply.share @ lowered)


def certified_gap(supply: Supply, width: float) -> float:
    """By how much the cost of `corridor` can exceed the least: the last halving's interval."""
    span = float(supply.points[-1] - supply.points[0])
    return 2 * span**2 * (1 + width) * 2.0**-HALVINGS
