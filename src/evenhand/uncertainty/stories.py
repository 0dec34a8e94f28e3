"""Stories of how groups may truly differ, and the worlds that each supposition shows.

A story is a list of truths, from equal groups on to groups ever further apart. A place in a story
is a number: 2.5 is half-way between its truths 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evenhand.statistics import Table
from evenhand.uncertainty.model import Floats, Model, drawn

STRETCHES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15, 1.35, 1.6, 2, 3, 5, 9)
THRESHOLDS = (3.5, 3, 2.5, 2.2, 1.9, 1.6, 1.3, 1.1, 0.9, 0.7, 0.5, 0.3, 0.15)
WHOLE = STRETCHES.index(1)
APART = 2.5  # standard errors from the middle that make a group one of the few apart
LEAST_WORLDS, MOST_WORLDS, COUNTS_AT_A_PLACE = 40, 400, 100_000
MANY_WORLDS, FEW_WORLDS = 2000, 400
REMEMBERED = 1 << 25  # values of tables kept for the next question


def stories(model: Model) -> Iterator[list[Floats]]:
    """Truths (given, groups, outcomes), from equal groups on to groups ever further apart."""
    seen, pooled, noise = model.seen, model.pooled, model.noise
    middle = model.settled(np.median(seen, axis=1, keepdims=True))
    away = seen - middle
    yield [model.settled(pooled + t * _visible(seen - pooled, noise)) for t in STRETCHES]
    small = [np.sign(away) * np.maximum(np.abs(away) - t * noise, 0) for t in THRESHOLDS]
    wide = [model.settled(middle + t * away) for t in STRETCHES if t >= 1]
    yield _plausible([model.settled(middle + part) for part in (0 * away, *small)], model) + wide
    few = np.where((np.abs(away) >= APART * noise).any(axis=-1, keepdims=True), away, 0.0)
    if few.any():
        told = [model.settled(middle + t * few) for t in STRETCHES]
        yield _plausible(told[: WHOLE + 1], model) + told[WHOLE + 1 :]


def _plausible(told: list[Floats], model: Model) -> list[Floats]:
    """Truths no further from what was seen than equal groups are, and the last of them."""
    limit = _distance(model.pooled, model) * (1 + 1e-9)
    return [truth for truth in told[:-1] if _distance(truth, model) <= limit] + told[-1:]


def _distance(truth: Floats, model: Model) -> float:
    return float(np.sum(((model.seen - truth) / model.noise) ** 2))


@dataclass(frozen=True, eq=False)
class Worlds:
    """The worlds of every place in every story, drawn when first asked for."""

    model: Model
    told: list[list[Floats]]
    rng: np.random.Generator
    asked_for: int | None = None
    _drawn: dict[tuple[int, float], Table] = field(default_factory=dict)

    @property
    def replicates(self) -> int:
        """How many worlds are drawn at a place."""
        afforded = np.clip(COUNTS_AT_A_PLACE // self.model.seen.size, LEAST_WORLDS, MOST_WORLDS)
        return self.asked_for or int(afforded)

    @cached_property
    def around(self) -> Floats:
        """Tables (worlds, cells, groups) that what was seen would show, if it were the truth."""
        afforded = REMEMBERED // self.model.expected(self.model.seen).values.size
        times = int(np.clip(afforded, FEW_WORLDS, MANY_WORLDS))
        return np.asarray(drawn(self.model, self.model.lent, times, self.rng).values)

    def truth(self, story: int, place: float) -> Floats:
        """What is supposed at a place."""
        before = min(int(place), len(self.told[story]) - 2)
        part = place - before
        near, far = self.told[story][before], self.told[story][before + 1]
        return np.asarray((1 - part) * near + part * far)

    def shown(self, story: int, place: float) -> Table:
        """The tables of its worlds."""
        key = (story, place)
        if key in self._drawn:
            return self._drawn[key]
        table = drawn(self.model, self.truth(story, place), self.replicates, self.rng)
        if table.values.size * (len(self._drawn) + 1) <= REMEMBERED:
            self._drawn[key] = table
        return table


def _visible(away: Floats, noise: Floats) -> Floats:
    """Deviations of at least the size of noise: equal rates too may hide groups that differ."""
    size = np.sqrt(np.mean((away / noise) ** 2))
    if size >= 1:
        return away
    if size > 1e-9:
        return np.asarray(away / size)
    camps = np.resize([1.0, -1.0], away.shape[1])[:, None] * np.resize([1.0, -1.0], away.shape[2])
    return np.asarray(camps * noise)
