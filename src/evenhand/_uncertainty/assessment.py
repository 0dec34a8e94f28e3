"""All that is said of a criterion: the test, and an interval for each measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand._columns import Label
from evenhand._uncertainty.estimates import Estimates, estimates_of
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.interval import ConfidenceInterval, interval_of, reading_of
from evenhand.criteria import Criterion, Reading
from evenhand.measures import Measure
from evenhand.statistics.kinds import Source


@dataclass(frozen=True, eq=False)
class Assessment:
    """The test, the largest difference, each measure's interval, and what is known of groups."""

    p_value: float
    gap: ConfidenceInterval
    readings: list[Reading]
    intervals: list[ConfidenceInterval]
    estimates: Estimates


def assess(
    source: Source,
    criterion: Criterion,
    measures: Sequence[str | Measure],
    *,
    favorable: Label = None,
    transform: str | None = None,
    confidence: float = 0.95,
) -> Assessment:
    """Ask a criterion of a source by all its measures.

    >>> from evenhand import tally
    >>> from evenhand.criteria import statistical_parity
    >>> counts = tally(None, [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    >>> assessment = assess(counts, statistical_parity, ["mpd", "gini"])
    >>> [interval.value for interval in assessment.intervals]
    [0.5, 0.5]
    """
    estimates = estimates_of(source, criterion, favorable)
    readings, intervals = [], []
    for measure in measures:
        settings = criterion.settings(measure, transform=transform)
        readings.append(reading_of(source, criterion, settings, favorable))
        intervals.append(interval_of(estimates, settings, readings[-1], source, confidence))
    gap = next(
        (
            known
            for known, reading in zip(intervals, readings, strict=True)
            if reading.measure == "mpd"
        ),
        None,
    )
    if gap is None:
        settings = criterion.settings("mpd", transform="raw")
        reading = reading_of(source, criterion, settings, favorable)
        gap = interval_of(estimates, settings, reading, source, confidence)
    p_value = homogeneity(source, criterion, estimates)
    return Assessment(p_value, gap, readings, intervals, estimates)
