"""The criteria that can be watched, and the hits and rows that they read from a tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.summaries import with_favorable
from evenhand._data.tallies import Tally
from evenhand._data.tasks import favorable_label
from evenhand._errors import InputError
from evenhand._uncertainty.interval import check_guaranteed
from evenhand.criteria.criterion import class_of
from evenhand.criteria.questions import Question
from evenhand.measures import resolve
from evenhand.statistics import Statistic
from evenhand.statistics.arithmetic import ratio
from evenhand.watch.labels import is_label

Floats = NDArray[np.float64]
Limits = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Rates:
    """Hits and rows (cells, groups); cells of one stratum are read from the same rows.

    For a bounded mean the hits are fractions of its range. Only counted hits `are_counts`. Where
    rows come in clusters, hits and sizes are of clusters, and `effective` is the equivalent number
    of independent rows.
    """

    hits: Floats
    sizes: Floats
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]
    strata: NDArray[np.intp]
    limits: tuple[float, float] = (0.0, 1.0)
    are_counts: bool = True
    effective: Floats | None = None

    @property
    def values(self) -> Floats:
        """The rates or means; NaN where there are no rows."""
        low, high = self.limits
        return low + (high - low) * ratio(self.hits, self.sizes)

    def select(self, where: list[int]) -> Rates:
        """Some of the cells."""
        cells = tuple(self.cells[i] for i in where)
        parts = (self.hits[where], self.sizes[where])
        effective = None if self.effective is None else self.effective[where]
        return replace(
            self, hits=parts[0], sizes=parts[1], cells=cells, strata=self.strata[where],
            effective=effective,
        )  # fmt: skip


def check_watchable(question: Question, limits: Limits, method: str) -> None:
    """Refuse questions without an anytime-valid interval, and suggest others."""
    for measure in question.measures:
        check_guaranteed(resolve(measure), method)
    statistic, name = question.criterion.statistic, question.name
    if question.criterion.across not in ("worst",):
        raise InputError(f"{name} sums over cut points, which cannot be watched; {_instead()}")
    if is_mean(question):
        if name not in limits:
            raise InputError(
                f"{name} is a mean, and what it can be has to be known: state its least and "
                f"greatest possible value, limits={{{name!r}: (0, 1)}}."
            )
        low, high = limits[name]
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise InputError(
                f"The limits of {name} are two numbers, low < high; not {low}, {high}."
            )
        return
    if statistic.is_share:
        return
    raise InputError(f"{name} is not a share of rows, so it cannot be watched; {_instead()}")


def rates_of(source: Tally, question: Question, favorable: Label, limits: Limits) -> Rates:
    """A criterion's rates in every cell and group, from a tally."""
    rates = all_rates_of(with_favorable(source, favorable), question, limits)
    return rates.select(watched_cells(rates.cells, question, favorable))


def all_rates_of(source: Tally, question: Question, limits: Limits) -> Rates:
    """The same for all classes."""
    statistic = question.criterion.statistic
    if statistic.mean_of:
        return _means(source, statistic.mean_of, limits[question.name])
    shares = statistic.shares(source, of="rows")
    assert shares is not None
    cells = statistic.read(source).cells
    return Rates(shares.hits, shares.rows, cells, source.groups, statistic.strata(cells))


def sources_of_cells(statistic: Statistic, cells: Sequence[Label]) -> tuple[Label, ...]:
    """The source of rows of each cell; classes of the same rows share it."""
    if not statistic.is_partition or statistic.hit_sum:
        return tuple(cells)
    is_conditional = bool(statistic.conditions)
    return tuple(cell[0] if is_conditional and isinstance(cell, tuple) else "all" for cell in cells)


def range_of(question: Question, limits: Limits) -> tuple[float, float]:
    """The least and greatest value that a criterion's rates or means can have."""
    return limits[question.name] if is_mean(question) else (0.0, 1.0)


def is_mean(question: Question) -> bool:
    """Whether a criterion compares means within stated limits, not shares."""
    return question.criterion.statistic.mean_of is not None


def watched_cells(cells: tuple[Label, ...], question: Question, favorable: Label) -> list[int]:
    """The cells of the favorable class, if only that is compared; else all.

    A part may lack the class: then it carries no information, and is not an error.
    """
    all_cells = list(range(len(cells)))
    criterion = question.criterion
    if not criterion.statistic.over.endswith("c") or not (
        favorable is not None or criterion.one_class
    ):
        return all_cells
    classes = list(dict.fromkeys(class_of(cell) for cell in cells))
    if favorable is None:
        if len(classes) > 2:
            return all_cells
        if len(classes) == 2:
            favorable = favorable_label(classes, None)
        else:
            favorable = next((label for label in classes if label in (1, True)), None)
    return [i for i in all_cells if is_label(class_of(cells[i]), favorable)]


def _means(source: Tally, name: str, limits: tuple[float, float]) -> Rates:
    rows, sums = source.table("group", of="rows"), source.table("group", of=name)
    low, high = limits
    hits = (sums - low * rows) / (high - low)
    if (hits < -1e-9 * rows).any() or (hits > rows * (1 + 1e-9)).any():
        raise InputError(f"A mean of {name} is not within {low:g} and {high:g}, the limits stated.")
    hits, stratum = np.clip(hits, 0.0, rows), np.zeros(1, np.intp)
    return Rates(hits[None], rows[None], ("all",), source.groups, stratum, limits, False)


def _instead() -> str:
    return (
        "watch rates: statistical_parity, equal_opportunity, predictive_equality, equalized_odds, "
        "predictive_parity, accuracy_parity, calibration_parity, or a bounded mean with limits=."
    )
