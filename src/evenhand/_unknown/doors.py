"""Values and intervals for `evaluate` and `interval` where groups are probable or unknown."""

from __future__ import annotations

from typing import Any

from evenhand._data.data import Data
from evenhand._data.doors import where_unknown
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._uncertainty.interval import ConfidenceInterval, interval
from evenhand._unknown.answers import WITHOUT, Bounds
from evenhand._unknown.bounds import bounds_of
from evenhand._unknown.counted import unknown
from evenhand.criteria import Criterion, evaluate
from evenhand.criteria.evaluation import warn_if_undefined
from evenhand.measures import MeasureLike


@where_unknown(evaluate)
def value(
    criterion: str | Criterion, data: Data, measure: MeasureLike | None = None, **options: Any
) -> float:
    """The value under the named assumption; without one, bounds must coincide."""
    result = _bounds(criterion, data, measure, options)
    answer = result.answers[result.decisive]
    if result.decisive == WITHOUT and answer.greatest != answer.least:
        raise InputError(
            "Where groups are not known for sure there is no single value, only the range "
            f"{answer.least:.4g} to {answer.greatest:.4g}: ask interval, or bounds; or name an "
            'assumption, as in evenhand.probable(..., assuming="weighted").'
        )
    single = answer.least if result.decisive == WITHOUT else answer.value
    warn_if_undefined(single, result.summary)
    return single


@where_unknown(interval)
def interval_of_unknown(
    criterion: str | Criterion,
    data: Data,
    measure: MeasureLike | None = None,
    confidence: float = 0.95,
    method: str = "calibrated",
    **options: Any,
) -> ConfidenceInterval:
    """The interval of the bounds, or of the answer under the named assumption."""
    check_kinds(confidence=confidence, method=method)
    if method != "calibrated":
        raise InputError(
            f"method={method!r} does not work with groups that are not known for sure."
        )
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    result = _bounds(criterion, data, measure, options, confidence)
    answer = result.answers[result.decisive]
    return ConfidenceInterval(answer.value, answer.low, answer.high, confidence, result.decisive)


def _bounds(
    criterion: str | Criterion,
    data: Data,
    measure: MeasureLike | None,
    options: dict[str, Any],
    confidence: float = 0.95,
) -> Bounds:
    g = options.pop("g", None)
    unsupported = [name for name, option in options.items() if option is not None]
    if callable(g):
        unsupported.append("g")
    if unsupported:
        raise InputError(
            f"{unsupported[0]}= does not work with groups that are not known for sure."
        )
    return bounds_of(unknown(data), criterion, measure, g=g, confidence=confidence)
