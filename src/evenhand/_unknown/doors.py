"""What `evaluate` and `interval` answer where groups are not known for sure."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from evenhand._data.data import Data
from evenhand._data.doors import where_unknown
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._uncertainty.interval import ConfidenceInterval, interval
from evenhand._unknown.answers import WITHOUT, Bounds
from evenhand._unknown.bounds import bounds_of
from evenhand._unknown.counted import unknown
from evenhand.criteria import Criterion, UndefinedWarning, evaluate
from evenhand.measures import MeasureLike


@where_unknown(evaluate)
def value(
    criterion: str | Criterion, data: Data, measure: MeasureLike | None = None, **more: Any
) -> float:
    """The value under the assumption that was named; without one there is none."""
    found = _found(criterion, data, measure, more)
    answer = found.answers[found.decisive]
    if found.decisive == WITHOUT and answer.greatest != answer.least:
        raise InputError(
            "Where groups are not known for sure there is no single value, only the range "
            f"{answer.least:.4g} to {answer.greatest:.4g}: ask interval, or bounds; or name an "
            'assumption, as in evenhand.probable(..., assuming="weighted").'
        )
    single = answer.least if found.decisive == WITHOUT else answer.value
    if np.isnan(single):
        warnings.warn(f"Undefined: {found.summary}", UndefinedWarning, stacklevel=3)
    return single


@where_unknown(interval)
def interval_of_unknown(
    criterion: str | Criterion,
    data: Data,
    measure: MeasureLike | None = None,
    confidence: float = 0.95,
    method: str = "calibrated",
    **more: Any,
) -> ConfidenceInterval:
    """The interval of the bounds; or of the answer whose assumption was named."""
    check_kinds(confidence=confidence, method=method)
    if method != "calibrated":
        raise InputError(
            f"method={method!r} does not work with groups that are not known for sure."
        )
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    found = _found(criterion, data, measure, more, confidence)
    answer = found.answers[found.decisive]
    return ConfidenceInterval(answer.value, answer.low, answer.high, confidence, found.decisive)


def _found(
    criterion: str | Criterion,
    data: Data,
    measure: MeasureLike | None,
    more: dict[str, Any],
    confidence: float = 0.95,
) -> Bounds:
    g = more.pop("g", None)
    given = [name for name, option in more.items() if option is not None]
    if callable(g):
        given.append("g")
    if given:
        raise InputError(f"{given[0]}= does not work with groups that are not known for sure.")
    return bounds_of(unknown(data), criterion, measure, g=g, confidence=confidence)
