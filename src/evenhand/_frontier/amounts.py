"""Rows with predicted amounts, counted once; the effects of a plan are computed from counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._columns.encoding import check_lengths, finite, weights
from evenhand._data.groups import Groups, groups
from evenhand._errors import InputError
from evenhand.criteria.evaluation import named
from evenhand.measures import MeasureLike
from evenhand.mitigation.crossfit.rows import (
    LARGEST,
    Codes,
    Floats,
    check_everyone,
    check_none_dropped,
    places_of,
)
from evenhand.mitigation.transport.plan import Plan, Supply, Support


@dataclass(frozen=True, eq=False)
class Amounts:
    """True and predicted amounts of rows, and their groups."""

    truth: Floats | None
    predicted: Floats
    whom: Groups
    weight: Floats | None

    def value(self, criterion: str, measure: MeasureLike) -> float:
        """The disparity of the predictions."""
        options: dict[str, Any] = {"sensitive_features": self.whom, "sample_weight": self.weight}
        return float(named(criterion)(self.truth, self.predicted, measure=measure, **options))

    @property
    def error(self) -> float:
        """The root mean squared error; NaN if the truth is unknown."""
        if self.truth is None:
            return float("nan")
        return float(np.sqrt(np.average((self.truth - self.predicted) ** 2, weights=self.weight)))

    @property
    def masses(self) -> Floats:
        """The weight of each row."""
        return np.ones(len(self.predicted)) if self.weight is None else self.weight

    @property
    def codes(self) -> Codes:
        """The index of each row's group."""
        return np.asarray(self.whom.codes, np.intp)

    def take(self, rows: Any) -> Amounts:
        """Some of the rows."""
        whom = Groups(self.whom.codes[rows], self.whom.labels, self.whom.names, self.whom.notes)
        truth = None if self.truth is None else self.truth[rows]
        weight = None if self.weight is None else self.weight[rows]
        return Amounts(truth, self.predicted[rows], whom, weight)


def read_amounts(
    y_true: Any, predicted: Any, features: Any, sample_weight: Any, like: Amounts | None = None
) -> Amounts:
    """The rows, checked; with the groups of the rows `like`, if these are passed."""
    rows = Amounts(
        None if y_true is None else finite(y_true, "y_true"),
        finite(predicted, "y_score"),
        groups(features),
        weights(sample_weight),
    )
    check_lengths(
        y_true=rows.truth,
        y_score=rows.predicted,
        sensitive_features=rows.whom.codes,
        sample_weight=rows.weight,
    )
    columns = [column for column in (rows.predicted, rows.truth) if column is not None]
    if max(np.abs(column).max() for column in columns) > LARGEST:
        raise InputError(f"Amounts beyond {LARGEST:g} cannot be squared and added up: scale them.")
    if like is None:
        check_none_dropped(rows.whom)
        if len(rows.whom.labels) < 2:
            raise InputError(
                f"There is one group, {rows.whom.labels}; a frontier compares several."
            )
        rows = rows.take(rows.masses > 0)
        check_everyone(rows.codes, rows.whom.labels)
        return rows
    reference = like.whom
    codes = places_of(rows.whom, reference.labels).astype(np.uint32)
    whom = Groups(codes, reference.labels, reference.names, rows.whom.notes)
    return Amounts(rows.truth, rows.predicted, whom, rows.weight)


@dataclass(frozen=True, eq=False)
class Binned:
    """Rows by group and bin of the prediction: weights, and sums of the truth.

    Nothing is drawn at random: expected CDFs and errors follow from the counts, so that the
    computation does not depend on the number of rows.
    """

    support: Support
    mass: Floats
    truth: Floats | None
    square: float

    @classmethod
    def of(cls, rows: Amounts, support: Support) -> Binned:
        """Count the rows once."""
        count, weight = len(rows.whom.labels), rows.masses
        mass = support.histograms(rows.predicted, rows.codes, weight, count)
        if rows.truth is None:
            return cls(support, mass, None, np.nan)
        truth = support.histograms(rows.predicted, rows.codes, weight * rows.truth, count)
        return cls(support, mass, truth, float(weight @ rows.truth**2))

    @property
    def supply(self) -> Supply:
        """The groups' CDFs and shares."""
        total = self.mass.sum(axis=1)
        return Supply(self.support.points, self._levels[:, 1:], total / total.sum())

    @property
    def _levels(self) -> Floats:
        """The CDFs with a leading 0; zeros for a group without rows."""
        total = np.maximum(self.mass.sum(axis=1, keepdims=True), 1e-300)
        levels = np.minimum(np.cumsum(self.mass, axis=1) / total, 1.0)
        levels[self.mass.sum(axis=1) > 0, -1] = 1.0
        return np.pad(levels, ((0, 0), (1, 0)))

    def moved(self, plan: Plan) -> Floats:
        """The expected CDFs of groups with rows, after a plan fitted to other rows."""
        before = np.pad(plan.supply.cdfs, ((0, 0), (1, 0)))
        present = np.flatnonzero(self.mass.sum(axis=1))
        return np.array([np.interp(plan.after[a], before[a], self._levels[a]) for a in present])

    def error(self, plan: Plan) -> float:
        """The root of the expected squared error after a plan; NaN if the truth is unknown."""
        if self.truth is None:
            return float("nan")
        mean, square = _moments(plan)
        total = self.square - 2 * (self.truth * mean).sum() + (self.mass * square).sum()
        return float(np.sqrt(max(total, 0.0) / self.mass.sum()))


def _moments(plan: Plan) -> tuple[Floats, Floats]:
    """The mean and mean square of the new values of each bin and group."""
    levels = np.pad(plan.supply.cdfs, ((0, 0), (1, 0)))
    width, points = np.diff(levels, axis=1), plan.support.points
    first = (plan.after > 0).argmax(axis=1)[:, None]
    moments = []
    for values in (points, points**2):
        after = Supply(values, plan.after, plan.supply.share)
        mass = np.diff(after.integral(levels), axis=1)
        destinations = [
            np.searchsorted(after_levels, level[1:])
            for after_levels, level in zip(plan.after, levels, strict=True)
        ]
        single = values[
            np.clip(np.array(destinations), first, len(points) - 1)
        ]  # a bin without rows
        moments.append(np.where(width > 1e-12, mass / np.maximum(width, 1e-12), single))
    return moments[0], moments[1]


@dataclass(frozen=True, eq=False)
class Means:
    """Rows by group: weight, mean prediction, and mean and mean square of the residuals."""

    mass: Floats
    mean: Floats
    bias: Floats
    square: Floats

    @classmethod
    def of(cls, rows: Amounts) -> Means:
        """Sum up the rows once."""
        count, weight, codes = len(rows.whom.labels), rows.masses, rows.codes
        mass = np.bincount(codes, weight, count).astype(np.float64)
        residual = (
            np.full(len(weight), np.nan) if rows.truth is None else rows.truth - rows.predicted
        )
        sums = [
            np.bincount(codes, weight * column, count) / np.where(mass > 0, mass, np.nan)
            for column in (rows.predicted, residual, residual**2)
        ]
        return cls(mass, *sums)

    def error(self, shifts: Floats) -> float:
        """The root of the mean squared error after shifts."""
        present = self.mass > 0
        square = (self.square - 2 * shifts * self.bias + shifts**2)[present]
        return float(np.sqrt(np.average(square, weights=self.mass[present])))
