"""A confidence interval for a criterion's value, valid for many groups and for none apart.

The plain bootstrap resamples rates that scatter already, and so takes noise for inequality. Here
the true rates are supposed: for each of three stories of how groups differ, from equal groups to
groups further apart than they look, worlds are drawn, and a story is kept as far as it could have
shown the observed value. The interval runs over what was kept of all stories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from evenhand._uncertainty.models import Floats, Model, drawn
from evenhand._uncertainty.question import Question, questions
from evenhand.criteria import Criterion
from evenhand.statistics import Table
from evenhand.statistics.kinds import Source

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


SELECTION_ERROR = 0.005  # of leaving out a group that is truly extreme


def mpd_bounds(worlds: Worlds, error: float) -> tuple[float, float]:
    """Lower and upper bound of the worst cell's largest difference."""
    model = worlds.model
    seen = model.expected(model.seen).values
    noise = worlds.around - model.expected(model.lent).values
    cells = [
        _cell(seen[c, ok], noise[:, c][:, ok], error)
        for c, ok in enumerate(~np.isnan(seen) & ~np.isnan(noise).any(axis=0))
        if ok.sum() >= 2
    ]
    if not cells:
        return 0.0, np.inf
    values, scatter, highs = (np.array(part) for part in zip(*cells, strict=True))
    scale = scatter.std(axis=1) + 1e-12
    reach = np.quantile((scatter / scale[:, None]).max(axis=0), 1 - error / 2 + SELECTION_ERROR)
    low = float(max(0.0, (values - reach * scale).max()))
    return low, max(low, float(highs.max()))


def _cell(seen: Floats, noise: Floats, error: float) -> tuple[float, Floats, float]:
    """The observed difference, how noise may have raised it, and an upper bound of the true one."""
    spread = noise.std(axis=0) + 1e-12
    far = np.quantile(np.abs(noise / spread).max(axis=1), 1 - SELECTION_ERROR) * spread
    top = np.flatnonzero(seen + far >= (seen - far).max())
    bottom = np.flatnonzero(seen - far <= (seen + far).min())
    value = float(seen.max() - seen.min())
    raised = noise[:, top].max(axis=1) - noise[:, bottom].min(axis=1)
    return value, raised, _upper(value, noise, top, bottom, spread, error)


def _upper(
    value: float, noise: Floats, top: Any, bottom: Any, spread: Floats, error: float
) -> float:
    """The largest true difference of two groups, all others half-way, that could look so small."""
    high = int(top[np.argmax(spread[top])])
    others = bottom[bottom != high]
    if not len(others):
        others = np.flatnonzero(np.arange(len(spread)) != high)
    low = int(others[np.argmax(spread[others])])
    rest = np.delete(noise, [high, low], axis=1)
    ceiling = rest.max(axis=1) if rest.size else np.full(len(noise), -np.inf)
    floor = rest.min(axis=1) if rest.size else np.full(len(noise), np.inf)

    shown_as = value + max(_step(noise[:, high]), _step(noise[:, low])) / 2

    def could_be(difference: float) -> bool:
        a, b = difference / 2 + noise[:, high], -difference / 2 + noise[:, low]
        shown = np.maximum(np.maximum(a, b), ceiling) - np.minimum(np.minimum(a, b), floor)
        return bool(np.mean(shown <= shown_as + 1e-12) > error / 2)

    least, most = 0.0, value + 6 * float(spread[high] + spread[low])
    for _ in range(30):
        middle = (least + most) / 2
        least, most = (middle, most) if could_be(middle) else (least, middle)
    return most


def _step(column: Floats) -> float:
    """How far apart neighboring values of a rate are: whole rows make it a lattice."""
    steps = np.diff(np.unique(column.round(12)))
    return float(steps.min()) if len(steps) else 0.0


HALVINGS = 4
UNUSUALLY_EVEN = 1 / 6
ENOUGH_TO_COUNT = 200
NOTHING = 1e-12  # what rounding leaves of a difference of equal rates


@dataclass(frozen=True)
class ConfidenceInterval:
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
) -> ConfidenceInterval:
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


def bounds(asked: Question, worlds: Worlds, confidence: float) -> ConfidenceInterval:
    """The interval and the corrected estimate of one question, from worlds others may share."""
    if np.isnan(asked.value):
        return ConfidenceInterval(np.nan, np.nan, np.nan, confidence, np.nan)
    searches = [_Search(asked, worlds, story) for story in range(len(worlds.told))]
    estimate = searches[0].crossing("as_large", 0.5) + asked.more
    find = _largest_difference if asked.worst_mpd else _told
    low, high = find(searches, 1 - confidence)
    low = max(0.0, min(low, asked.value) + min(asked.more, 0.0)) if low > NOTHING else 0.0
    high = min(high + asked.more, asked.most)
    estimate = float(np.clip(estimate, low, high))
    return ConfidenceInterval(asked.value + asked.more, low, high, confidence, estimate)


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
