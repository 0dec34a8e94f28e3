"""All that is said of a criterion: for each measure the noise floor, the test and the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Label
from evenhand._uncertainty.chance import Chance, chances
from evenhand._uncertainty.estimates import Estimates, estimates_of
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.interval import ConfidenceInterval, interval_of, reading_of
from evenhand._uncertainty.question import questions
from evenhand.criteria import Criterion, Reading
from evenhand.criteria.evaluation import named
from evenhand.measures import Measure
from evenhand.statistics.kinds import Source

LEAST_REPLICATES, MOST_COUNTS = 1000, 3_000_000


@dataclass(frozen=True, eq=False)
class Assessment:
    """The test; for each measure what chance shows and the interval; what is known of groups."""

    p_value: float
    gap: ConfidenceInterval
    readings: list[Reading]
    chances: list[Chance]
    intervals: list[ConfidenceInterval]
    estimates: Estimates


class Asked(NamedTuple):
    """A criterion, the measures it is asked by, and the options of `evaluate`."""

    criterion: str | Criterion
    measures: Sequence[str | Measure]
    options: dict[str, Any]


def assess(
    source: Source,
    asked: Sequence[Asked],
    *,
    confidence: float = 0.95,
    replicates: int = 2000,
    random_state: int | Sequence[int] | np.random.Generator | None = None,
) -> list[Assessment]:
    """Ask criteria of a source by all their measures, from the same replicates.

    Several criteria at once must be about the same distribution, which varies as one.

    >>> from evenhand import tally
    >>> counts = tally(None, [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    >>> asked = Asked("statistical_parity", ["mpd", "gini"], {})
    >>> (assessment,) = assess(counts, [asked], random_state=0)
    >>> [interval.value for interval in assessment.intervals]
    [0.5, 0.5]
    """
    built = [questions(source, one.criterion, one.measures, **one.options) for one in asked]
    model, rng = built[0][0], np.random.default_rng(random_state)
    number = int(np.clip(MOST_COUNTS // model.seen.size, LEAST_REPLICATES, replicates))
    noise = iter(chances(model, [one for _, some in built for one in some], number, rng))
    assessments = []
    for each, (_, some) in zip(asked, built, strict=True):
        options = dict(each.options)
        criterion = named(each.criterion).with_statistic(options.pop("g", None))
        estimates = estimates_of(source, criterion, options.pop("favorable", None))
        readings = [question.reading for question in some]
        intervals = [
            interval_of(estimates, criterion.settings(way, **options), reading, source, confidence)
            for way, reading in zip(each.measures, readings, strict=True)
        ]
        gap = _known_gap(intervals, readings) or _gap(
            source, criterion, estimates, options, each.options.get("favorable"), confidence
        )
        p_value = homogeneity(source, criterion, estimates)
        shown = list(islice(noise, len(some)))
        assessments.append(Assessment(p_value, gap, readings, shown, intervals, estimates))
    return assessments


def _gap(
    source: Source,
    criterion: Criterion,
    estimates: Estimates,
    options: dict[str, Any],
    favorable: Label,
    confidence: float,
) -> ConfidenceInterval:
    """The largest difference between two groups, whatever was asked for."""
    settings = criterion.settings("mpd", transform="raw", tau=options.get("tau"))
    reading = reading_of(source, criterion, settings, favorable)
    return interval_of(estimates, settings, reading, source, confidence)


def _known_gap(
    intervals: Sequence[ConfidenceInterval], readings: Sequence[Reading]
) -> ConfidenceInterval | None:
    """The same, where it was asked for anyway."""
    for interval, reading in zip(intervals, readings, strict=True):
        if reading.measure == "mpd":
            return interval
    return None
