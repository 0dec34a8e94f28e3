"""Which criteria can be watched, and the hits and rows that each of them reads from a tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.questions import Question
from evenhand._columns import Label
from evenhand._data.tallies import Tally
from evenhand._data.tasks import favorable_label
from evenhand._errors import InputError
from evenhand.criteria.criterion import class_of
from evenhand.statistics import E, P, Ratio, Statistic
from evenhand.statistics.forms import one_against_rest, ratio
from evenhand.watch.labels import is_label

Floats = NDArray[np.float64]
Limits = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Rates:
    """Hits and rows (cells, groups); cells of one stratum are read from the same rows.

    Of a bounded mean the hits are what it has of its range. Only hits that were counted
    `are_counts`. Where rows go together, hits and sizes are of clusters, and `effective` is how
    many independent rows would know as much.
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

    def kept(self, where: list[int]) -> Rates:
        """Some of the cells."""
        cells = tuple(self.cells[i] for i in where)
        parts = (self.hits[where], self.sizes[where])
        effective = None if self.effective is None else self.effective[where]
        return replace(
            self, hits=parts[0], sizes=parts[1], cells=cells, strata=self.strata[where],
            effective=effective,
        )  # fmt: skip


def check_watchable(question: Question, limits: Limits) -> None:
    """Refuse what no anytime-valid interval is known for; say what to watch in its place."""
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
    if isinstance(statistic, P) or (isinstance(statistic, E) and statistic.of == "hits"):
        return
    if isinstance(statistic, Ratio) and _is_share(statistic):
        return
    raise InputError(f"{name} is not a share of rows, so it cannot be watched; {_instead()}")


def rates_of(source: Tally, question: Question, favorable: Label, limits: Limits) -> Rates:
    """What a tally says of a criterion's rates in every cell and group."""
    rates = all_rates_of(source, question, limits)
    return rates.kept(asked(rates.cells, question, favorable))


def all_rates_of(source: Tally, question: Question, limits: Limits) -> Rates:
    """The same, of all classes."""
    statistic = question.criterion.statistic
    if isinstance(statistic, P):
        return _probabilities(source, statistic)
    if isinstance(statistic, Ratio):
        return _shares(source, statistic)
    assert isinstance(statistic, E)
    return _means(source, statistic, limits.get(question.name))


def sources_of_cells(statistic: Statistic, cells: Sequence[Label]) -> tuple[Label, ...]:
    """The rows that each cell is a rate of: classes of the same rows have the same."""
    if not isinstance(statistic, P):
        return tuple(cells)
    given = statistic.given is not None
    return tuple(cell[0] if given and isinstance(cell, tuple) else "all" for cell in cells)


def strata_of(statistic: Statistic, cells: tuple[Label, ...]) -> NDArray[np.intp]:
    """Which cells are read from the same rows: those of the same condition, if there is one."""
    if isinstance(statistic, P) and statistic.given:
        given = [cell[0] if isinstance(cell, tuple) else None for cell in cells]
        order = list(dict.fromkeys(given))
        return np.array([order.index(each) for each in given], dtype=np.intp)
    if isinstance(statistic, E) and statistic.given:
        return np.arange(len(cells))
    return np.zeros(len(cells), np.intp)


def range_of(question: Question, limits: Limits) -> tuple[float, float]:
    """The least and greatest value that a criterion's rates or means can have."""
    return limits[question.name] if is_mean(question) else (0.0, 1.0)


def is_mean(question: Question) -> bool:
    """Whether a criterion is of means within limits that were stated, and not of shares."""
    statistic = question.criterion.statistic
    return isinstance(statistic, E) and statistic.given is None


def asked(cells: tuple[Label, ...], question: Question, favorable: Label) -> list[int]:
    """The cells of the favorable class, where one is asked about; else all.

    A part may lack the class: then there is nothing to learn from it, and no error.
    """
    every = list(range(len(cells)))
    criterion = question.criterion
    if not criterion.statistic.over.endswith("c") or not (
        favorable is not None or criterion.one_class
    ):
        return every
    classes = list(dict.fromkeys(class_of(cell) for cell in cells))
    if favorable is None:
        if len(classes) > 2:
            return every
        if len(classes) == 2:
            favorable = favorable_label(classes, None)
        else:
            favorable = next((label for label in classes if label in (1, True)), None)
    return [i for i in every if is_label(class_of(cells[i]), favorable)]


def _probabilities(source: Tally, statistic: P) -> Rates:
    axes = [name for name in (statistic.given, statistic.event) if name]
    counts = source.table(*axes, "group", of="rows")
    total = np.broadcast_to(counts.sum(axis=-2, keepdims=True), counts.shape)
    events = source.labels(statistic.event)
    cells: tuple[Any, ...] = events
    if statistic.given:
        cells = tuple((k, c) for k in source.labels(statistic.given) for c in events)
    shape = (-1, counts.shape[-1])
    strata = strata_of(statistic, cells)
    return Rates(counts.reshape(shape), total.reshape(shape), cells, source.groups, strata)


def _shares(source: Tally, statistic: Ratio) -> Rates:
    outcomes = one_against_rest(source.table("y", "yhat", "group", of="rows"))
    hits, sizes = (
        np.asarray(sum(outcomes[name] for name in terms), dtype=np.float64)
        for terms in (statistic.numerator, statistic.denominator)
    )
    cells = source.labels("y") if statistic.over else ("all",)
    return Rates(hits, sizes, cells, source.groups, strata_of(statistic, cells))


def _means(source: Tally, statistic: E, limits: tuple[float, float] | None) -> Rates:
    axes = (statistic.given, "group") if statistic.given else ("group",)
    rows, sums = source.table(*axes, of="rows"), source.table(*axes, of=statistic.of)
    if statistic.given:
        cells = statistic.read(source).cells
        return Rates(sums, rows, cells, source.groups, strata_of(statistic, cells))
    assert limits is not None
    low, high = limits
    hits = (sums - low * rows) / (high - low)
    if (hits < -1e-9 * rows).any() or (hits > rows * (1 + 1e-9)).any():
        raise InputError(
            f"A mean of {statistic.of} is not within {low:g} and {high:g}, the limits stated."
        )
    hits = np.clip(hits, 0.0, rows)
    strata = strata_of(statistic, ("all",))
    return Rates(hits[None], rows[None], ("all",), source.groups, strata, limits, False)


def _is_share(statistic: Ratio) -> bool:
    """Whether what is above the line is part of what is below, each counted once."""
    above, below = statistic.numerator, statistic.denominator
    each = all(factor == 1 for factor in (*above.values(), *below.values()))
    return each and (set(above) <= set(below) or set(below) == {"all"})


def _instead() -> str:
    return (
        "watch rates: statistical_parity, equal_opportunity, predictive_equality, equalized_odds, "
        "predictive_parity, accuracy_parity, calibration_parity, or a bounded mean with limits=."
    )
