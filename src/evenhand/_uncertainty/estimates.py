"""Estimates of any statistic from a summary of the rows, with the limits of its kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.areas import RankedScores
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._uncertainty.areas import areas
from evenhand._uncertainty.calibration import calibration_errors
from evenhand._uncertainty.clusters import plain
from evenhand._uncertainty.curves import Estimates
from evenhand._uncertainty.means import means
from evenhand._uncertainty.rates import averages, cuts, rates, sums_of_hits
from evenhand.criteria import Criterion


def estimates_of(source: Any, criterion: Criterion, favorable: Label = None) -> Estimates:
    """Estimates of a criterion's statistic in every cell and group."""
    statistic = criterion.statistic
    if isinstance(source, Tally):
        _refuse_shares(source)
    source = plain(source)
    if statistic.sweeps:
        return cuts(source)
    table = criterion.table(source, favorable)
    if isinstance(source, RankedScores):
        return areas(source, table)
    if statistic.gaps:
        return calibration_errors(source, table, statistic)
    if statistic.parts:
        return averages(source, statistic, table)
    if statistic.means:
        return (sums_of_hits if statistic.hit_sum else means)(source, statistic, table)
    return rates(source, statistic, table)


def _refuse_shares(counts: Tally) -> None:
    rows = counts.sums["rows"]
    if rows.dtype.kind == "f" and (rows != np.rint(rows)).any():
        raise InputError(
            "This needs whole rows, and an expected tally has shares of them. "
            "Draw the labels, and count those."
        )
