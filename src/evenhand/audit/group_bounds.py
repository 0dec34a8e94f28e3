"""Between which values each group's own statistic lies: exact for rates, else by drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Reading
from evenhand.criteria.criterion import class_of
from evenhand.statistics import P, Ratio, Statistic
from evenhand.statistics.forms import one_against_rest
from evenhand.tally import Tally
from evenhand.uncertainty import Assessment
from evenhand.uncertainty.counts import effective_rows
from evenhand.uncertainty.rates import rate_bounds

Floats = NDArray[np.float64]


def group_bounds(statistic: Statistic, source: Any, sure: Assessment) -> tuple[Floats, Floats]:
    """Lower and upper bounds (cells, groups); NaN where nothing was observed."""
    reading = sure.readings[0]
    sizes = _sizes(statistic, source, reading) if _is_rate(statistic) else None
    if sizes is None:
        return sure.by_group
    unseen = np.isnan(reading.table)
    bounds = rate_bounds(reading.table, sizes, 1 - sure.confidence)
    low, high = (np.where(unseen, np.nan, one) for one in bounds)
    return low, high


def support(statistic: Statistic, source: Any, reading: Reading, of: str = "rows") -> Floats | None:
    """Rows that each value (cells, groups) was computed from, where the statistic is a ratio."""
    if not isinstance(source, Tally) or not isinstance(statistic, P | Ratio):
        return None
    if isinstance(statistic, P):
        axes = [statistic.given, "group"] if statistic.given else ["group"]
        counts = source.table(*axes, of=of).reshape(-1, len(reading.groups))
        asked = {class_of(cell) for cell in reading.cells}
        kept = [label for label in source.labels(statistic.event) if label in asked]
        return np.repeat(counts, len(kept), axis=0)
    outcomes = one_against_rest(source.table("y", "yhat", "group", of=of))
    below = sum(factor * outcomes[name] for name, factor in statistic.denominator.items())
    at = [i for i, label in enumerate(source.labels("y")) if label in reading.cells]
    return np.asarray(below)[at] if statistic.over else np.asarray(below)


def _is_rate(statistic: Statistic) -> bool:
    """Whether it is a share of rows: what is above the line is part of what is below it."""
    if isinstance(statistic, P):
        return True
    if not isinstance(statistic, Ratio):
        return False
    above, below = statistic.numerator, statistic.denominator
    part = below == {"all": 1} or above.items() <= below.items()
    return part and {*above.values(), *below.values()} == {1}


def _sizes(statistic: Statistic, source: Any, reading: Reading) -> Floats | None:
    """How many equally weighted rows vary as much as those of each value."""
    if not isinstance(source, Tally) or "weight" not in source.sums:
        return support(statistic, source, reading)
    weight = support(statistic, source, reading, of="weight")
    squares = support(statistic, source, reading, of="weight²")
    assert weight is not None
    assert squares is not None
    return effective_rows(weight, squares)
