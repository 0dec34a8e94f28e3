"""A confidence interval for a criterion's value, valid for many groups and for none apart.

The plain bootstrap resamples rates that scatter already, and so takes noise for inequality. Here
the true rates are supposed: for each of three stories of how groups differ, from equal groups to
groups further apart than they look, worlds are drawn, and a story is kept as far as it could have
shown the observed value. The interval runs over what was kept of all stories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from evenhand.criteria import Criterion
from evenhand.sources import Source
from evenhand.uncertainty.extremes import mpd_bounds
from evenhand.uncertainty.model import Floats
from evenhand.uncertainty.question import Question, questions
from evenhand.uncertainty.stories import Worlds, stories

HALVINGS = 4
UNUSUALLY_EVEN = 1 / 6
ENOUGH_TO_COUNT = 200
NOTHING = 1e-12  # what rounding leaves of a difference of equal rates


@dataclass(frozen=True)
class Bounds:
    """A value, and the interval that holds the true one with the stated confidence.

    `estimate` is the value corrected for noise: the truth of which half the worlds show at least
    as much as was observed.
    """

    value: float
    low: float
    high: float
    confidence: float
    estimate: float


def interval(
    counts: Source,
    criterion: str | Criterion,
    *,
    confidence: float = 0.95,
    replicates: int | None = None,
    random_state: int | np.random.Generator | None = None,
    measure: Any = None,
    **options: Any,
) -> Bounds:
    """Between which values the criterion of the true rates lies.

    `counts` is a Tally, a Distribution or ranked scores, whichever the criterion reads; options
    are those of `evaluate`. `replicates` worlds are drawn for each of some fifty suppositions;
    without it, 400, or fewer where there are thousands of cells.

    >>> from evenhand import tally
    >>> y, group = [1, 1, 1, 0] * 100 + [1, 0, 0, 0] * 100, ["a"] * 400 + ["b"] * 400
    >>> counts = tally(None, y, sensitive_features=group)
    >>> found = interval(counts, "statistical_parity", measure="mpd", random_state=0)
    >>> print(f"{found.low:.2f} {found.value:.2f} {found.high:.2f}")
    0.44 0.50 0.56
    """
    model, (asked,) = questions(counts, criterion, [measure], **options)
    rng = np.random.default_rng(random_state)
    return bounds(asked, Worlds(model, list(stories(model)), rng, replicates), confidence)


def bounds(asked: Question, worlds: Worlds, confidence: float) -> Bounds:
    """The interval and the corrected estimate of one question, from worlds others may share."""
    if np.isnan(asked.value):
        return Bounds(np.nan, np.nan, np.nan, confidence, np.nan)
    searches = [_Search(asked, worlds, story) for story in range(len(worlds.told))]
    estimate = searches[0].crossing("as_large", 0.5) + asked.more
    find = _largest_difference if asked.worst_mpd else _told
    low, high = find(searches, 1 - confidence)
    low = max(0.0, min(low, asked.value) + min(asked.more, 0.0)) if low > NOTHING else 0.0
    high = min(high + asked.more, asked.most)
    estimate = float(np.clip(estimate, low, high))
    return Bounds(asked.value + asked.more, low, high, confidence, estimate)


class Shares(NamedTuple):
    """Of the worlds of a supposition: those at least as uneven as the observed one, and more."""

    as_large: float
    larger: float


@dataclass(frozen=True, eq=False)
class _Search:
    """The places of one story at which it stops being too even, and becomes too uneven."""

    asked: Question
    worlds: Worlds
    story: int
    _known: dict[float, Shares] = field(default_factory=dict)

    def crossing(self, which: str, level: float) -> float:
        """The true value where a share of the worlds reaches the level."""
        last = len(self.worlds.told[self.story]) - 1
        near, below = 0.0, getattr(self._shares(0.0), which)
        if below >= level:
            return self._truth(0.0)
        for place in range(1, last + 1):
            far, above = float(place), getattr(self._shares(place), which)
            if above >= level:
                return self._refined(which, level, (near, below), (far, above))
            near, below = far, above
        return self._truth(last)

    def _refined(
        self, which: str, level: float, near: tuple[float, float], far: tuple[float, float]
    ) -> float:
        """Halve the stretch between two places some times, then take the straight line."""
        for _ in range(HALVINGS):
            between = (near[0] + far[0]) / 2
            share = getattr(self._shares(between), which)
            near, far = ((between, share), far) if share < level else (near, (between, share))
        weight = (level - near[1]) / (far[1] - near[1])
        return (1 - weight) * self._truth(near[0]) + weight * self._truth(far[0])

    def _truth(self, place: float) -> float:
        truth = self.worlds.truth(self.story, place)
        return float(self.asked(self.worlds.model.expected(truth))[0])

    def shown(self, place: float) -> Floats:
        """The values of the worlds of a place, where they have one."""
        found = self.asked(self.worlds.shown(self.story, place))
        return found[~np.isnan(found)]

    def _shares(self, place: float) -> Shares:
        if place not in self._known:
            found = self.shown(place)
            slack = 1e-12 * max(1.0, abs(self.asked.value))
            as_large = _share(found, self.asked.value - slack)
            larger = _share(np.nextafter(found, -np.inf), self.asked.value + slack)
            self._known[place] = Shares(as_large, larger)
        return self._known[place]


def _share(found: Floats, value: float) -> float:
    """The share of at least a value; of few worlds, that of the normal curve of their roots."""
    if len(found) >= ENOUGH_TO_COUNT:
        return float(np.mean(found >= value))
    roots = np.sqrt(np.maximum(found, 0.0))
    spread = roots.std() + 1e-15
    return NormalDist().cdf(float((roots.mean() - np.sqrt(max(value, 0.0))) / spread))


def _largest_difference(searches: Sequence[_Search], error: float) -> tuple[float, float]:
    low, high = mpd_bounds(searches[0].worlds, error)
    return low, max(high, searches[0].asked.value)


def _told(searches: Sequence[_Search], error: float) -> tuple[float, float]:
    """The least and the greatest truth that some story keeps.

    A value that hardly a fair model shows, because it is so even, would leave next to nothing. So
    from above it counts as no less than what one fair model in six stays below.
    """
    asked, fair = searches[0].asked, searches[0].shown(0.0)
    usual = float(np.quantile(fair, UNUSUALLY_EVEN)) if len(fair) else 0.0
    low = min(search.crossing("as_large", error / 2) for search in searches)
    if usual > asked.value:
        searches = [replace(one, asked=replace(asked, value=usual), _known={}) for one in searches]
    return low, max(search.crossing("larger", 1 - error / 2) for search in searches)
