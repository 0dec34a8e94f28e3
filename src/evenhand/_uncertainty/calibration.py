"""Calibration errors: mean absolute gaps over bins of the score."""

from __future__ import annotations

from functools import partial

import numpy as np

from evenhand._data.tallies import Tally
from evenhand._uncertainty.curves import (
    DISTANCES,
    Estimates,
    rate_curves,
    read_off,
    widened,
)
from evenhand._uncertainty.rates import hits_drawn
from evenhand.statistics import Statistic, Table
from evenhand.statistics.arithmetic import ratio


def calibration_errors(source: Tally, table: Table, statistic: Statistic) -> Estimates:
    """Mean absolute gaps over bins, with limits. Noise raises them; the lower limits allow for it.

    The error is a convex function of the gaps g of the bins. *Upper limit*: every gap is moved to
    the limit of its rate at distance z, and the moves are combined as independent ones are (a bin
    without a hit may still be far from its score). *Lower limit*: the distance to the nearest gaps
    with a smaller error, which are the observed ones shrunk by a constant; each bin that shrinks to
    0 counts as a degree of freedom. The number of rows in each bin is random too, which moves the
    error by as much as gaps differ from bin to bin, so its variance is added.
    """
    from scipy.special import chdtrc, ndtri

    assert statistic.gaps is not None
    weight = source.table("bin", "group")
    hits, score = (source.table("bin", "group", of=name) for name in statistic.gaps)
    draws = hits_drawn(source, statistic.gaps[0], "bin")
    rows, wider = draws.sizes, np.ones(1) if draws.free is None else widened(draws.free)
    share = np.nan_to_num(ratio(weight, weight.sum(axis=0, keepdims=True)))
    gap = np.nan_to_num(ratio(hits - score, weight))
    rate = (np.nan_to_num(ratio(hits, weight)) * rows + 0.5) / (rows + 1)
    variance = wider**2 * np.where(rows > 0, rate * (1 - rate) / np.maximum(rows, 1), 0.0)
    value = (share * np.abs(gap)).sum(axis=0)
    mixed = (share * (np.abs(gap) - value) ** 2).sum(axis=0)
    mixing = np.max(wider) * np.sqrt(np.nan_to_num(ratio(mixed, rows.sum(axis=0))))
    curves = np.empty((len(DISTANCES), 1, len(value)))
    above = DISTANCES > 0
    limits = rate_curves(np.nan_to_num(ratio(hits, weight)) * rows, rows)
    moves = np.nan_to_num(np.abs(limits - np.nan_to_num(ratio(score, weight))) - np.abs(gap))
    moves = np.maximum(np.maximum(moves, moves[::-1])[above], 0.0)
    curves[above, 0] = value + np.sqrt(((wider * share * moves) ** 2).sum(axis=1))
    scale = np.nan_to_num(ratio(np.abs(gap), share * variance))
    for a in range(len(value)):
        steep = np.sort(scale[:, a]) * np.linspace(0.2, 1, len(scale))
        slopes = np.unique(np.concatenate([steep, np.linspace(0, scale[:, a].max(), 60)]))
        shrunk = np.maximum(np.abs(gap[:, a]) - slopes[:, None] * (share * variance)[:, a], 0.0)
        shrinkage = np.abs(gap[:, a]) - shrunk
        part = np.divide(
            shrinkage**2, variance[:, a], out=np.zeros_like(shrinkage), where=variance[:, a] > 0
        )
        vanished = ((shrunk == 0) & (shrinkage > 0)).sum(axis=1)
        free = np.maximum(np.minimum(vanished + 1, (shrinkage > 0).sum(axis=1)), 1)
        tail = np.maximum(chdtrc(free, part.sum(axis=1)), 1e-290)
        distance = np.maximum.accumulate(np.maximum(-ndtri(tail / 2), 0.0))
        errors = (share[:, a] * shrunk).sum(axis=1)
        curves[~above, 0, a] = np.interp(-DISTANCES[~above], distance, errors, right=0.0)
    reach = np.hypot(curves - value, DISTANCES[:, None, None] * mixing)
    curves = value + np.sign(DISTANCES)[:, None, None] * reach
    curves = np.clip(np.where(np.isnan(table.values), np.nan, curves), 0.0, 1.0)

    strata = np.zeros(1, np.intp)
    sizes, exact = rows.sum(axis=0)[None], partial(read_off, curves)
    return Estimates(table.values, curves, table.cells, table.groups, sizes, strata, 1.0, exact)
