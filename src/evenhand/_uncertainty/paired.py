"""Intervals of the difference in inequality of two models on the same rows, without resampling.

Two models share their rows, so their errors are correlated. An upper limit of m(p) − m(r), for the
rates p and r of two models, supposes that r is truly less unequal than observed. For each level of
inequality the nearest such r is q standard errors from the data (see `geometry.py` for the
distribution of this distance), and p is shifted with it, by its correlation with r in every group.
The remaining distance, √(reach² − q²), lets p be more unequal than observed. The largest
m(p) − m(r) along this path is the limit.

For one direction this is the interval of the difference of two correlated normal variables. It also
holds where groups are tied or equal, since the distance counts all equalities that bind r, and an
upper limit of m(p) needs only one normal variable. Where all groups of r may be equal, the path
ends: there either model gets half of the error.

Of several cells the worst one counts: max m(p) − max m(r) is at most m(p) in the cell where p is
worst less m(r) in any cell: the same one, or the one with the largest observed m(r); either gets
half of the error. Cells where p is clearly not the worst are left out. For any groups, models and
dependence, [low − high, high − low] of two single intervals with half of the error each is valid
too; it serves distributions, sums over cells, and measures without such a path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._data.summaries import Source
from evenhand._uncertainty.curves import DISTANCES, STEP, Estimates
from evenhand._uncertainty.geometry import NEGLIGIBLE, Cloud
from evenhand._uncertainty.interval import (
    Cells,
    ConfidenceInterval,
    as_computed,
    cells_of,
    interval_of,
)
from evenhand._uncertainty.paths import Path, path_of
from evenhand.criteria import Reading, Settings
from evenhand.measures import Measure
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

BOX = 0.1  # the share of the error spent on identifying the worst cell
ANGLES = np.linspace(0, np.pi / 2, 7)
ROUNDS, EXTREMES, WIDEST = 3, 2, 2
FARTHEST = 7.5
STEPS = np.array([0.0, 0.3, 0.6, 1.0, 1.3, 1.8, 2.5, FARTHEST])
OWN = 3  # the step of the interval; the others locate the p-value


@dataclass(frozen=True)
class Difference:
    """The first model's inequality less the second's, with its interval and p-value.

    The interval excludes 0 exactly where the p-value is below 1 − confidence.
    """

    value: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Sample:
    """The estimates of one model by one measure."""

    source: Source
    estimates: Estimates
    settings: Settings
    reading: Reading
    p_value: float
    intervals: dict[float, ConfidenceInterval] = field(default_factory=dict)
    paths: dict[int, Path] = field(default_factory=dict)
    candidates: dict[tuple[float, ...], NDArray[np.bool_]] = field(default_factory=dict)

    @cached_property
    def computed(self) -> Sample:
        """The sample by the measure of inequality that a falling measure is one minus."""
        reading = as_computed(self.reading)
        return Sample(self.source, self.estimates, reading.settings, reading, self.p_value)

    @cached_property
    def cells(self) -> Cells:
        """The groups observed in each cell."""
        return cells_of(self.estimates, self.settings)

    def interval(self, confidence: float) -> ConfidenceInterval:
        """The interval of this model by itself; cached."""
        if confidence not in self.intervals:
            self.intervals[confidence] = interval_of(
                self.estimates, self.settings, self.reading, self.source, confidence, self.p_value
            )
        return self.intervals[confidence]

    def path(self, cell: int) -> Path | None:
        """The path from the observed groups of a cell to equal ones; cached."""
        observed = self.cells[cell]
        if observed is None:
            return None
        if cell not in self.paths:
            cloud, groups, _ = observed
            self.paths[cell] = path_of(cloud, groups, self.settings.function)
        return self.paths[cell]

    @cached_property
    def largest(self) -> int:
        """The cell with the largest observed inequality."""
        measure = self.settings.function
        inequalities = {
            i: float(measure(cell[0].values)) for i, cell in enumerate(self.cells) if cell
        }
        return max(inequalities, key=lambda i: (inequalities[i], -i))

    def maybe_worst(self, reaches: Floats) -> NDArray[np.bool_]:
        """Mask (reaches, cells) of cells that may be the worst, at a small share of the error."""
        key = tuple(reaches.tolist())
        if key not in self.candidates:
            distance, path = _with_error(reaches, BOX / 4 / (1 - BOX)), self.path(self.largest)
            assert path is not None
            smallest = np.interp(distance, path.scores, path.levels)
            chosen = np.zeros((len(reaches), len(self.cells)), bool)
            for i, cell in enumerate(self.cells):
                if cell is not None and not self._mirrors(i):
                    chosen[:, i] = (
                        most_uneven_within(cell[0], self.settings.function, distance) >= smallest
                    )
            chosen[:, self.largest] = True
            self.candidates[key] = chosen
        return self.candidates[key]

    def _mirrors(self, cell: int) -> bool:
        """Whether its rates are complements of those of the worst cell, with the same gaps."""
        first, second = self.estimates.values[[cell, self.largest]]
        return not self.settings.function.is_relative and bool(np.allclose(first + second, 1.0))


def difference(
    first: Sample, second: Sample, correlations: Floats | None, confidence: float
) -> Difference:
    """The first model's inequality less the second's.

    `correlations` (cells, cells, groups) are those of the first model's estimates with the
    second's, NaN where unknown; None if all are. For ratios it is the first model's ratio less the
    second's, so a positive difference is less inequality.
    """
    if first.settings.resolved.falls:
        mirrored = difference(first.computed, second.computed, correlations, confidence)
        return Difference(-mirrored.value, -mirrored.high, -mirrored.low, mirrored.p_value)
    value, reach = float(first.reading) - float(second.reading), reach_of(confidence)
    if np.isnan(value):
        return Difference(np.nan, np.nan, np.nan, np.nan)
    solved = first.settings.function.is_solved and first.settings.aggregate == "worst"
    reaches = np.minimum(reach * STEPS, FARTHEST)

    def above(reverse: bool, indices: list[int]) -> Floats:
        upper, lower = (second, first) if reverse else (first, second)
        if correlations is None or not solved:
            return _from_single_intervals(upper, lower, reaches[indices])
        mirrored = np.swapaxes(correlations, 0, 1) if reverse else correlations
        return _jointly(upper, lower, mirrored, reaches, indices)

    toward = value < 0  # which limit is the one toward 0
    steps = list(range(len(STEPS)))
    if correlations is None or not solved:  # single intervals are expensive
        steps = [OWN - 1, OWN] if above(not toward, [OWN])[0] >= 0 else [OWN, *steps[OWN + 2 :: 2]]
    ends = np.maximum.accumulate(above(not toward, steps))
    near_end, far_end = float(ends[steps.index(OWN)]), float(above(toward, [OWN])[0])
    low, high = (-far_end, near_end) if toward else (-near_end, far_end)
    return Difference(value, min(low, value), max(high, value), _p_value(reaches[steps], ends))


def reach_of(confidence: float) -> float:
    """The distance in standard errors, with the share of the error for the worst cell set aside."""
    from scipy.special import ndtri

    return float(-ndtri((1 - confidence) * (1 - BOX) / 2))


def _with_error(reach: Floats, part: float) -> Floats:
    """The distances whose two-sided error is a part of that of each reach."""
    from scipy.special import ndtr, ndtri

    return np.asarray(-ndtri(ndtr(-reach) * 2 * part))


def _p_value(steps: Floats, ends: Floats) -> float:
    """The error at which the limit toward 0 reaches 0."""
    from scipy.special import ndtr

    if ends[0] >= 0:
        return 1.0
    within, distance = np.flatnonzero(ends >= 0), steps[-1]
    if len(within):
        i = within[0]
        distance = steps[i - 1] + (steps[i] - steps[i - 1]) * -ends[i - 1] / (ends[i] - ends[i - 1])
    return float(min(1.0, 2 * ndtr(-distance) / (1 - BOX)))


def _from_single_intervals(first: Sample, second: Sample, reach: Floats) -> Floats:
    """Upper limits of the difference from single intervals, each with half of the error."""
    from scipy.special import ndtr

    ends = []
    for distance in reach:
        confidence = float(1 - ndtr(-distance) / (1 - BOX))
        ends.append(first.interval(confidence).high - second.interval(confidence).low)
    return np.array(ends)


def _jointly(
    first: Sample, second: Sample, correlations: Floats, reaches: Floats, steps: list[int]
) -> Floats:
    """Upper limits of the difference, in the cells where the first model may be worst."""
    measure, chosen, reach = (
        first.settings.function,
        first.maybe_worst(reaches)[steps],
        reaches[steps],
    )
    largest = np.full(len(reach), -np.inf)
    for i in np.flatnonzero(chosen.any(axis=0)).tolist():
        first_path = first.path(i)
        assert first_path is not None
        partners = [
            j
            for j in sorted({i, second.largest})
            if second.cells[j] and np.isfinite(correlations[i, j]).all()
        ]
        within = reach if len(partners) == 1 else _with_error(reach, 0.25)
        limits = [most_uneven_within(first_path.cloud, measure, reach)] if not partners else []
        for j in partners:
            second_path = second.path(j)
            assert second_path is not None
            limits.append(farthest(first_path, second_path, correlations[i, j], measure, within))
        largest = np.maximum(largest, np.where(chosen[:, i], np.min(limits, axis=0), -np.inf))
    return largest


def correlated(
    covariance: Floats, first: Floats, second: Floats, one_row: Floats, other_row: Floats
) -> Floats:
    """Correlations of two models' estimates, from their variances and the effect of a single row.

    Models that agreed in every row may disagree in the next: a row that only the first model gets
    right is added, and one that only the second does.
    """
    square = (first + one_row**2) * (second + other_row**2)
    defined = np.isfinite(square) & (square > 0) & np.isfinite(covariance)
    return np.asarray(
        np.clip(np.where(defined, covariance, 0.0) / np.sqrt(np.where(defined, square, 1.0)), -1, 1)
    )


def farthest(
    first: Path, second: Path, correlations: Floats, measure: Measure, reach: Floats
) -> Floats:
    """The largest m(first) − m(second) within each reach."""
    from scipy.special import ndtr, ndtri

    end = second.scores[-1]
    scores = np.minimum(reach[:, None] * np.sin(ANGLES), end)
    remaining = np.sqrt(np.maximum(reach[:, None] ** 2 - scores**2, 0.0))
    corner = -ndtri(ndtr(-reach) / 2)  # where all groups of the second may be alike
    scores[:, -1] = np.where(end <= corner, end, scores[:, -1])
    remaining[:, -1] = np.where(end <= corner, corner, remaining[:, -1])
    levels, moves = second.at(np.maximum(scores.ravel(), NEGLIGIBLE))  # at 0 it has no direction
    length = np.sqrt((moves**2).sum(axis=1, keepdims=True))
    directions = np.nan_to_num(ratio(correlations * moves, length))
    largest = _climbed(
        first.cloud,
        measure,
        (correlations * moves)[:, first.kept],
        directions[:, first.kept],
        remaining.reshape(-1, 1),
    )
    difference = (largest - levels).reshape(scores.shape).max(axis=1)
    return np.asarray(np.maximum(difference, first.levels[0] - second.levels[0]))


def most_uneven_within(cloud: Cloud, measure: Measure, reach: Floats) -> Floats:
    """Upper limits of a measure for many reaches at once, for a single model."""
    nowhere = np.zeros((len(reach), len(cloud)))
    return _climbed(cloud, measure, nowhere, nowhere, reach[:, None])


def _climbed(
    cloud: Cloud, measure: Measure, base: Floats, direction: Floats, remaining: Floats
) -> Floats:
    """The largest inequality within a distance of `base` (…, groups), from several starts.

    `direction` d is the direction in which the noise is determined by the other model: the
    remaining covariance is I − d dᵀ, which limits how far a direction u reaches.
    """
    groups = np.eye(len(cloud))

    def pull(values: Floats, steepness: Floats) -> Floats:
        return np.asarray(measure.gradient(values) * steepness)

    observed, steepness = _read(cloud, base)
    if measure.reads == "extremes":
        tops = np.argsort(-cloud.at(base + remaining), axis=1)[:, :EXTREMES].T
        bottoms = np.argsort(cloud.at(base - remaining), axis=1)[:, :EXTREMES].T
        toward = np.stack([groups[top] - groups[low] for top in tops for low in bottoms])
    else:
        widest = np.argsort(cloud.at(-1.0) - cloud.at(1.0))[:WIDEST]
        single = np.concatenate([groups[widest], -groups[widest]])[:, None]
        single = np.broadcast_to(single, (len(single), *base.shape))
        toward = np.concatenate([pull(observed, steepness)[None], single])
    largest = np.asarray(measure(observed))
    for rounds_left in reversed(range(ROUNDS)):
        along = (toward * direction).sum(axis=-1, keepdims=True)
        square = (toward**2).sum(axis=-1, keepdims=True)
        length = np.sqrt(np.maximum(square - along**2, 1e-300))
        moves = base + np.where(square > 0, remaining * (toward - direction * along) / length, 0.0)
        values, steepness = _read(cloud, moves)
        largest = np.maximum(largest, np.asarray(measure(values)).max(axis=0))
        toward = pull(values, steepness) if rounds_left else toward
    return largest


def _read(cloud: Cloud, moves: Floats) -> tuple[Floats, Floats]:
    """The values at signed distances, and their slopes by distance."""
    place = np.clip((moves - DISTANCES[0]) / STEP, 0.0, len(DISTANCES) - 1.0)
    below = np.minimum(place.astype(np.intp), len(DISTANCES) - 2)
    groups = np.arange(len(cloud))
    start = cloud.curves[below, groups]
    rise = cloud.curves[below + 1, groups] - start
    return start + (place - below) * rise, rise
