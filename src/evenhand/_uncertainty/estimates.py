"""What a summary of the rows tells of any statistic: which kind of limits it has."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._uncertainty.areas import areas
from evenhand._uncertainty.calibration import calibration_errors
from evenhand._uncertainty.clusters import plain
from evenhand._uncertainty.curves import Estimates
from evenhand._uncertainty.means import means
from evenhand._uncertainty.rates import averages, binned_rates, cuts, ratios, shares
from evenhand.criteria import Criterion
from evenhand.statistics import Auroc, Average, CalibrationError, E, F, P, Ratio


def estimates_of(source: Any, asked: Criterion, favorable: Label = None) -> Estimates:
    """What a summary of the rows tells of a criterion's statistic in every cell and group."""
    statistic = asked.statistic
    if isinstance(source, Tally):
        _refuse_shares(source)
    source = plain(source)
    if isinstance(statistic, F):
        return cuts(source)
    table = asked.table(source, favorable)
    if isinstance(statistic, P):
        return shares(source, statistic, table)
    if isinstance(statistic, Ratio):
        return ratios(source, statistic, table)
    if isinstance(statistic, Average):
        return averages(source, statistic, table)
    if isinstance(statistic, Auroc):
        return areas(source, table)
    if isinstance(statistic, CalibrationError):
        return calibration_errors(source, table)
    if isinstance(statistic, E) and statistic.given:
        return binned_rates(source, statistic, table)
    return means(source, statistic, table)


def _refuse_shares(counts: Tally) -> None:
    rows = counts.sums["rows"]
    if (rows != np.rint(rows)).any():
        raise InputError(
            "This needs whole rows, and an expected tally has shares of them. "
            "Draw the labels, and count those."
        )
