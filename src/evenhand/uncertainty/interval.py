"""A confidence interval for a criterion's value, valid for many groups and for none apart.

The plain bootstrap resamples rates that scatter already, and so takes noise for inequality. Here
the true rates are supposed: for each of three stories of how groups differ, from equal groups to
groups further apart than they look, worlds are drawn, and a story is kept as far as it could have
shown the observed value. The interval runs over what was kept of all stories.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.measures import mpd
from evenhand.measures import resolve as resolve_measure
from evenhand.tally import Tally
from evenhand.uncertainty.extremes import mpd_bounds
from evenhand.uncertainty.model import Model, model, shares

Floats = NDArray[np.float64]

STRETCHES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15, 1.35, 1.6, 2, 3, 5, 9)
THRESHOLDS = (3.5, 3, 2.5, 2.2, 1.9, 1.6, 1.3, 1.1, 0.9, 0.7, 0.5, 0.3, 0.15)
HALVINGS = 4
APART = 2.5  # standard errors from the middle that make a group one of the few apart


@dataclass(frozen=True)
class Bounds:
    """A value, and the interval that holds the true one with the stated confidence."""

    value: float
    low: float
    high: float
    confidence: float


def interval(
    counts: Tally,
    criterion: str | Criterion,
    *,
    confidence: float = 0.95,
    replicates: int = 400,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> Bounds:
    """Between which values the criterion of the true rates lies.

    Options are those of `evaluate`. `replicates` worlds are drawn for each of some fifty
    suppositions.

    >>> from evenhand import tally
    >>> y, group = [1, 1, 1, 0] * 100 + [1, 0, 0, 0] * 100, ["a"] * 400 + ["b"] * 400
    >>> counts = tally(None, y, sensitive_features=group)
    >>> found = interval(counts, "statistical_parity", measure="mpd", random_state=0)
    >>> print(f"{found.low:.2f} {found.value:.2f} {found.high:.2f}")
    0.44 0.50 0.56
    """
    asked, rng = named(criterion), np.random.default_rng(random_state)
    rows = model(counts, asked, options.get("g"))
    value = float(asked.read(counts, **options))
    if np.isnan(value):
        return Bounds(value, np.nan, np.nan, confidence)
    if _is_mpd(asked, options):
        low, high = mpd_bounds(rows, asked, options, 1 - confidence, rng)
        return Bounds(value, low, high, confidence)
    asking = _Asking(rows, asked, options, value, replicates, rng)
    found = np.array([asking.kept(story, 1 - confidence) for story in stories(rows)])
    return Bounds(value, float(found[:, 0].min()), float(found[:, 1].max()), confidence)


def stories(rows: Model) -> Iterator[list[Floats]]:
    """Chances (given, groups, outcomes), from equal groups on to groups ever further apart."""
    seen = shares(rows.counts)
    pooled, middle = rows.pooled[:, None, :], shares(np.median(seen, axis=1))[:, None, :]
    noise = np.sqrt(pooled * (1 - pooled) / np.maximum(rows.sizes, 1)[..., None]) + 1e-12
    away = seen - middle
    yield [_chances(pooled + t * _visible(seen - pooled, noise)) for t in STRETCHES]
    small = [np.sign(away) * np.maximum(np.abs(away) - t * noise, 0) for t in THRESHOLDS]
    wide = [t * away for t in STRETCHES if t >= 1]
    yield [_chances(middle + part) for part in (0 * away, *small, *wide)]
    few = np.where((np.abs(away) >= APART * noise).any(axis=-1, keepdims=True), away, 0.0)
    if few.any():
        yield [_chances(middle + t * few) for t in STRETCHES]


class Shares(NamedTuple):
    """Of the worlds of a supposition: those at least as uneven as the observed one, and more."""

    as_large: float
    larger: float


@dataclass(frozen=True, eq=False)
class _Asking:
    """The question, and the value that was observed."""

    rows: Model
    criterion: Criterion
    options: dict[str, Any]
    value: float
    replicates: int
    rng: np.random.Generator

    def kept(self, story: list[Floats], error: float) -> tuple[float, float]:
        """The true values at which the story stops being too even, and becomes too uneven."""
        told: list[tuple[Floats, Shares]] = []
        for chances in story:
            told.append((chances, self._shares(chances)))
            if told[-1][1].larger > 1 - error / 2:
                break
        low = self._crossing(told, "as_large", error / 2)
        return low, self._crossing(told, "larger", 1 - error / 2)

    def _crossing(self, told: list[tuple[Floats, Shares]], which: str, level: float) -> float:
        """The true value where a share of the worlds reaches the level."""
        reached = [getattr(share, which) >= level for _, share in told]
        after = reached.index(True) if any(reached) else len(told)
        if after in (0, len(told)):
            return self._truth(told[min(after, len(told) - 1)][0])
        near, far = told[after - 1][0], told[after][0]
        below, above = (getattr(told[i][1], which) for i in (after - 1, after))
        for _ in range(HALVINGS):
            between = (near + far) / 2
            share = getattr(self._shares(between), which)
            if share < level:
                near, below = between, share
            else:
                far, above = between, share
        weight = float((level - below) / (above - below))
        return (1 - weight) * self._truth(near) + weight * self._truth(far)

    def _truth(self, chances: Floats) -> float:
        expected = self.rows.tally(chances * self.rows.sizes[..., None])
        return float(self.criterion(expected, **self.options))

    def _shares(self, chances: Floats) -> Shares:
        worlds = self.rows.draw(chances, self.replicates, self.rng)
        found = np.concatenate([self.criterion(world, **self.options) for world in worlds])
        found = found[~np.isnan(found)]
        as_large = float(np.mean(found >= self.value - 1e-12))
        return Shares(as_large, float(np.mean(found > self.value + 1e-12)))


def _visible(away: Floats, noise: Floats) -> Floats:
    """Deviations of at least the size of noise: equal rates too may hide groups that differ."""
    size = np.sqrt(np.mean((away / noise) ** 2))
    if size >= 1:
        return away
    if size > 1e-9:
        return np.asarray(away / size)
    camps = np.resize([1.0, -1.0], away.shape[1])[:, None] * np.resize([1.0, -1.0], away.shape[2])
    return np.asarray(camps * noise)


def _chances(wished: Floats) -> Floats:
    return shares(np.maximum(wished, 0.0))


def _is_mpd(asked: Criterion, options: dict[str, Any]) -> bool:
    worst = (options.get("aggregate") or asked.across) == "worst"
    return worst and resolve_measure(options.get("measure") or asked.measure) is mpd
