"""All that is said of a criterion: for each measure the noise floor, the test and the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.criteria import Criterion, Reading
from evenhand.measures import Measure
from evenhand.sources import Source
from evenhand.uncertainty.chance import Chance, chances
from evenhand.uncertainty.interval import Bounds, bounds
from evenhand.uncertainty.model import Floats
from evenhand.uncertainty.question import questions
from evenhand.uncertainty.stories import Worlds, stories

ENOUGH, LEAST_WORLDS, MOST_COUNTS = 1000, 1000, 3_000_000


@dataclass(frozen=True, eq=False)
class Assessment:
    """For each measure what chance shows and the interval; for each cell and group its bounds."""

    readings: list[Reading]
    chances: list[Chance]
    bounds: list[Bounds]
    low: Floats
    high: Floats


def assess(
    source: Source,
    criterion: str | Criterion,
    measures: Sequence[str | Measure],
    *,
    confidence: float = 0.95,
    fair_worlds: int = 2000,
    random_state: int | Sequence[int] | np.random.Generator | None = None,
    **options: Any,
) -> Assessment:
    """Ask every measure of a criterion at once; they share the worlds that are drawn.

    >>> from evenhand import tally
    >>> counts = tally(None, [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    >>> found = assess(counts, "statistical_parity", ["mpd", "gini"], random_state=0)
    >>> [one.value for one in found.chances]
    [0.5, 0.5]
    """
    model, asked = questions(source, criterion, measures, **options)
    rng = np.random.default_rng(random_state)
    worlds = int(np.clip(MOST_COUNTS // model.seen.size, LEAST_WORLDS, fair_worlds))
    noise = chances(model, asked, worlds, rng)
    supposed = Worlds(model, list(stories(model)), rng)
    found = [bounds(one, supposed, confidence) for one in asked]
    low, high = _by_group(supposed, confidence)
    return Assessment([one.reading for one in asked], noise, found, low, high)


def _by_group(worlds: Worlds, confidence: float) -> tuple[Floats, Floats]:
    """Bounds of every cell and group, which hold what was seen."""
    seen = worlds.model.expected(worlds.model.seen).values
    shown, tail = worlds.around[:ENOUGH], (1 - confidence) / 2
    low, high = _quantiles(shown, tail), _quantiles(shown, 1 - tail)
    return np.fmin(low, seen), np.fmax(high, seen)


def _quantiles(shown: Floats, level: float) -> Floats:
    """Of every cell and group, over the worlds in which it was observed."""
    ordered = np.sort(shown, axis=0)  # NaN comes last
    observed = shown.shape[0] - np.isnan(shown).sum(axis=0)
    at = np.rint(level * np.maximum(observed - 1, 0)).astype(np.intp)
    return np.asarray(np.take_along_axis(ordered, at[None], axis=0)[0])
