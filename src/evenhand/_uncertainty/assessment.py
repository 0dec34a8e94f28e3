"""All that is said of a criterion: for each measure the noise floor, the test and the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from evenhand._uncertainty.chance import Chance, chances
from evenhand._uncertainty.interval import ConfidenceInterval, Worlds, bounds, stories
from evenhand._uncertainty.models import Floats
from evenhand._uncertainty.question import questions
from evenhand.criteria import Criterion, Reading
from evenhand.measures import Measure
from evenhand.statistics.kinds import Source

ENOUGH, LEAST_WORLDS, MOST_COUNTS = 1000, 1000, 3_000_000


@dataclass(frozen=True, eq=False)
class Assessment:
    """For each measure what chance shows and the interval; for each cell and group its bounds."""

    readings: list[Reading]
    chances: list[Chance]
    bounds: list[ConfidenceInterval]
    worlds: Worlds
    confidence: float

    @cached_property
    def by_group(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of every cell and group, which hold what was seen."""
        seen = self.worlds.model.expected(self.worlds.model.seen).values
        shown, tail = self.worlds.around[:ENOUGH], (1 - self.confidence) / 2
        low, high = _quantiles(shown, tail), _quantiles(shown, 1 - tail)
        return np.fmin(low, seen), np.fmax(high, seen)


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
    fair_worlds: int = 2000,
    random_state: int | Sequence[int] | np.random.Generator | None = None,
) -> list[Assessment]:
    """Ask criteria of a source by all their measures, from the same worlds.

    Several criteria at once must be about the same distribution, which varies as one.

    >>> from evenhand import tally
    >>> counts = tally(None, [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    >>> asked = Asked("statistical_parity", ["mpd", "gini"], {})
    >>> (found,) = assess(counts, [asked], random_state=0)
    >>> [one.value for one in found.chances]
    [0.5, 0.5]
    """
    built = [questions(source, one.criterion, one.measures, **one.options) for one in asked]
    model, rng = built[0][0], np.random.default_rng(random_state)
    worlds = int(np.clip(MOST_COUNTS // model.seen.size, LEAST_WORLDS, fair_worlds))
    noise = iter(chances(model, [one for _, some in built for one in some], worlds, rng))
    supposed = Worlds(model, list(stories(model)), rng)
    return [
        Assessment(
            readings=[one.reading for one in some],
            chances=list(islice(noise, len(some))),
            bounds=[bounds(one, supposed, confidence) for one in some],
            worlds=supposed,
            confidence=confidence,
        )
        for _, some in built
    ]


def _quantiles(shown: Floats, level: float) -> Floats:
    """Of every cell and group, over the worlds in which it was observed."""
    ordered = np.sort(shown, axis=0)  # NaN comes last
    observed = shown.shape[0] - np.isnan(shown).sum(axis=0)
    at = np.rint(level * np.maximum(observed - 1, 0)).astype(np.intp)
    return np.asarray(np.take_along_axis(ordered, at[None], axis=0)[0])
