"""Recommended rules: fitted to labels or scores, and with how much randomness.

The proved curve is of the fitting rows; its rules follow their noise. Those that are recommended
are chosen by rows left out of the fit (five folds), from rules fitted to labels or to scores and
with random decisions that limit the standard error of every group's rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError
from evenhand.mitigation.crossfit.calibration import Calibration, calibration
from evenhand.mitigation.crossfit.objective import Objective
from evenhand.mitigation.crossfit.rows import Codes, Floats, Rows, stream
from evenhand.mitigation.crossfit.tracing import Tracer, tracer_of
from evenhand.mitigation.optimal import Solution, Steady, lot_share

FOLDS = 5
ERRORS = (0.05, 0.03, 0.02)  # standard errors that a group's rate may have
TRIED = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)  # bounds, in parts of the disparity without one
ROUGH = 1e-4
MOST_GROUPS = 200  # of more, labels are not compared with scores, which would take a minute more

Kind = tuple[str, float]  # what rules are fitted to, and the standard error that rates may have


@dataclass(frozen=True, eq=False)
class Advice:
    """The recommended rules: `errors[i]` is the standard error at bounds near `TRIED[i]`.

    `most` is the disparity without a bound; `tracers` and `lots` are by standard error.
    """

    truth: str
    errors: tuple[float, ...]
    most: float
    tracers: Mapping[float, Tracer]
    lots: Mapping[float, Floats]

    @property
    def has_lots(self) -> bool:
        """Whether some rows are decided at random, whatever their score."""
        return any(lot.any() for lot in self.lots.values())

    def error(self, bound: float) -> float:
        """The standard error allowed for rates at this bound."""
        part = bound / self.most if self.most > 0 else 0.0
        return self.errors[int(np.argmin(np.abs(np.subtract(TRIED, part))))]

    def along(self, bounds: Sequence[float]) -> Iterator[Solution]:
        """A solution for each of these ascending bounds."""
        errors = [self.error(bound) for bound in bounds]
        for error in dict.fromkeys(errors):
            mine = [bound for bound, own in zip(bounds, errors, strict=True) if own == error]
            yield from self.tracers[error].along(mine)


def advised(
    rows: Rows,
    question: Objective,
    truths: Sequence[str],
    rate_error: Any,
    random_state: int,
    maps: Calibration | None = None,
    *,
    rising: bool = True,
) -> Advice:
    """Choose the rules to recommend: by the first of the truths unless another is clearly better.

    With maps that recalibrate the scores, those of each fold are fitted without it. Rules that are
    `rising` never prefer a lower score to a higher one of the same group.
    """
    if len(rows.groups) > MOST_GROUPS:
        truths = truths[:1]
    plain = {truth: tracer_of(rows, question, truth, maps, rising=rising) for truth in truths}
    errors = _errors(rate_error, rows, plain[truths[0]])
    truth, chosen = truths[0], (errors[0],) * len(TRIED)
    if rows.truth is not None and rows.group_proba is None and len(truths) * len(errors) > 1:
        kinds = [(truth, error) for truth in truths for error in errors]
        refit = maps is not None
        judged = _held_out(rows, question, kinds, random_state, refit=refit, rising=rising)
        truth, chosen = _best(judged)
    tracer = plain[truth]
    lots = {error: lot_shares(rows, tracer, error) for error in set(chosen)}
    tracers = {error: _steadied(tracer, lot) for error, lot in lots.items()}
    return Advice(truth, chosen, tracer.free().value, tracers, lots)


def lot_shares(rows: Rows, tracer: Tracer, error: float) -> Floats:
    """Shares of random decisions by group, for the cell whose rate is least certain."""
    if not np.isfinite(error) or rows.group_proba is not None:
        return np.zeros(len(rows.groups))
    forms = tracer.question.forms(tracer.population.mass, rows.favorable)
    size = forms.sizes * _rows_by_weight(rows)
    cells = tracer.free().rates[: len(forms.cells)]
    overall = np.nansum(cells * size, axis=1) / np.maximum(size.sum(axis=1), 1)
    by_cell = [lot_share(size[c], float(overall[c]), error) for c in range(len(size))]
    return np.asarray(np.where(forms.observed, by_cell, 0.0).max(axis=0))


def _errors(rate_error: Any, rows: Rows, tracer: Tracer) -> tuple[float, ...]:
    """The standard errors to try, none (infinite) first."""
    if rate_error is None:
        return (np.inf,)
    if isinstance(rate_error, str) and rate_error == "cross-fit":
        few = [error for error in ERRORS if lot_shares(rows, tracer, error).any()]
        return (np.inf, *few) if rows.truth is not None else (np.inf,)
    if (
        isinstance(rate_error, bool)
        or not isinstance(rate_error, Real)
        or not float(rate_error) > 0
    ):
        raise InputError(f"rate_error is a positive number or 'cross-fit', not {rate_error!r}.")
    return (float(rate_error) if rate_error < 1 else np.inf,)  # no rate has one as large as 1


def _steadied(tracer: Tracer, lot: Floats) -> Tracer:
    return replace(tracer, population=Steady(tracer.population, lot)) if lot.any() else tracer


def _held_out(
    rows: Rows,
    question: Objective,
    kinds: Sequence[Kind],
    random_state: int,
    *,
    refit: bool,
    rising: bool,
) -> dict[Kind, NDArray[np.float64]]:
    """Disparity and cost of each kind (folds, bounds, 2), for rules fitted to the other folds.

    Each fold is judged by itself: what a group has too much in one fold it lacks in the others,
    so that rates of all folds together would look more equal than those of new rows.
    """
    fold = stream(random_state, 2).permutation(len(rows.group)) % FOLDS
    judged = {kind: np.zeros((FOLDS, len(TRIED), 2)) for kind in kinds}
    for left_out in range(FOLDS):
        inside, outside = rows.take(fold != left_out), rows.take(fold == left_out)
        maps = calibration(inside, random_state) if refit else None
        plain = {
            truth: tracer_of(inside, question, truth, maps, rising=rising) for truth, _ in kinds
        }
        for kind in kinds:
            judged[kind][left_out] = _on_other_rows(inside, outside, plain[kind[0]], kind[1])
    return judged


def _on_other_rows(inside: Rows, outside: Rows, tracer: Tracer, error: float) -> Floats:
    """Disparity and cost at each bound tried."""
    steady, question = _steadied(tracer, lot_shares(inside, tracer, error)), tracer.question
    greatest = steady.free().value
    pairs = []
    for solution in steady.along([greatest * part for part in TRIED], ROUGH):
        table = outside.confusion(solution.rule.probabilities(outside.features, outside.known))
        value = question.value(table, inside.favorable)
        pairs.append((np.nan_to_num(value), question.price(table)))
    return np.array(pairs)


def _best(judged: Mapping[Kind, NDArray[np.float64]]) -> tuple[str, tuple[float, ...]]:
    """The best truth to fit to, and the standard error at every bound tried.

    The first truth wins unless another is better by more than a standard error (jackknife over
    folds): scores come first, since rules fitted to labels follow their noise.
    """
    truths = list(dict.fromkeys(truth for truth, _ in judged))
    folds = np.arange(FOLDS)
    chosen = truths[0]
    for other in truths[1:]:
        gain = _gain(judged, folds, truths[0], other)
        without = np.array(
            [_gain(judged, np.delete(folds, fold), truths[0], other) for fold in folds]
        )
        error = np.sqrt((FOLDS - 1) / FOLDS * ((without - without.mean()) ** 2).sum())
        if gain > error:
            chosen = other
    above = _above(judged, folds)
    return chosen, _strengths(
        {error: distances for (kind, error), distances in above.items() if kind == chosen}
    )


def _gain(
    judged: Mapping[Kind, NDArray[np.float64]], folds: Codes, first: str, second: str
) -> float:
    """By how much the second truth's best rules are nearer to the best of all, over bounds."""
    above = _above(judged, folds)
    nearest = {
        truth: np.min(
            [distances for (kind, _), distances in above.items() if kind == truth], axis=0
        )
        for truth in (first, second)
    }
    return float(np.mean(nearest[first] - nearest[second]))


def _strengths(above: Mapping[float, Floats]) -> tuple[float, ...]:
    """The errors nearest to the best, among those that do not grow as the bound gets tighter."""
    choices = combinations_with_replacement(sorted(above), len(TRIED))
    return min(choices, key=lambda choice: sum(above[error][at] for at, error in enumerate(choice)))


def _above(judged: Mapping[Kind, NDArray[np.float64]], folds: Codes) -> dict[Kind, Floats]:
    """The distance of each kind's rules from the best of all kinds, at every bound.

    The best is the convex hull of all pairs (disparity, cost), since rules can be mixed. Far is
    the lesser of two: how much less uneven others are at that cost, and how much cheaper at that
    disparity, in parts of the hull's width and height.
    """
    curves = {kind: pairs[folds].mean(axis=0) for kind, pairs in judged.items()}
    corners = _hull(np.concatenate(list(curves.values())))
    width, height = np.maximum(np.ptp(corners, axis=0), 1e-12)
    even, cheap = corners.T
    return {
        kind: np.minimum(
            (value - np.interp(cost, cheap[::-1], even[::-1])) / width,
            (cost - np.interp(value, even, cheap)) / height,
        )
        for kind, (value, cost) in ((kind, pairs.T) for kind, pairs in curves.items())
    }


def _hull(points: Floats) -> Floats:
    """The corners from the most even to the cheapest.

    >>> _hull(np.array([[0.0, 3.0], [1.0, 2.5], [1.0, 1.0], [3.0, 0.0], [4.0, 2.0]]))
    array([[0., 3.],
           [1., 1.],
           [3., 0.]])
    """
    corners: list[Floats] = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))]:
        while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0:
            corners.pop()
        corners.append(point)
    table = np.array(corners)
    return np.asarray(table[: int(np.argmin(table[:, 1])) + 1])


def _turn(first: Floats, second: Floats, third: Floats) -> float:
    """Above 0 where three points turn left."""
    (along, up), (further, on) = second - first, third - first
    return float(along * on - up * further)


def _rows_by_weight(rows: Rows) -> float:
    """The effective sample size (Kish)."""
    return float(rows.weight.sum() ** 2 / (rows.weight**2).sum())
