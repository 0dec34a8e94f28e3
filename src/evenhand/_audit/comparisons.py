"""One statistic of each group against everybody else, with bounds of the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.views import View
from evenhand._columns import Label
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand._uncertainty.clusters import student_rows
from evenhand._uncertainty.differences import Binomials, difference_bounds
from evenhand._uncertainty.replicates import influence_amount, rates_amount
from evenhand.statistics import STATISTICS, E, Statistic
from evenhand.statistics.arithmetic import ratio, sum_of_others
from evenhand.statistics.catalogue import SCANNED

Floats = NDArray[np.float64]

MARGIN = 0.05  # a difference of rates that enough rows would show
SCANNED_MEANS = {  # in which every subgroup is compared, where no labels are predicted
    "regression": (
        ("error", "mean error"),
        ("yhat", "mean prediction"),
        ("squared_error", "mean squared error"),
    ),
    "ranking": (("exposure", "exposure"), ("top", "share of the top")),
}
MEAN_MARGIN = 0.1  # the same of means, in standard deviations: 0.05 is that of a rate of a half


@dataclass(frozen=True, eq=False)
class Comparison:
    """One statistic of the groups of a view, each against all the others.

    `at_least` gives lower bounds of the absolute differences that err so often, and `enough` the
    rows of equal weight that could show a difference of the margin from a known value.
    """

    view: View
    name: str
    value: Floats
    rest: Floats
    counted: Floats
    effective: Floats
    rest_effective: Floats
    at_least: Callable[[float], Floats]
    enough: Callable[[float], Floats]
    scale: float = 1.0

    @property
    def comparable(self) -> NDArray[np.bool_]:
        """Groups with rows that the statistic is about, where others have some too."""
        return np.asarray(np.isfinite(self.value) & np.isfinite(self.rest))

    @property
    def questions(self) -> int:
        """How many there are; of two groups, either against the other is one question."""
        groups = int(self.comparable.sum())
        return 1 if groups == 2 else groups

    def flagged(self, error: float) -> int:
        """How many of the questions are answered."""
        return min(int((self.at_least(error) > 0).sum()), self.questions)

    def rows_needed(self, error: float) -> Floats:
        """Counted rows that could show a difference of the margin, with the others as they are.

        If these are too few, however many rows the group has, all groups grow alike.
        """
        alone = self.enough(error)
        left = 1 - ratio(alone, self.rest_effective)  # of the precision, after the others' noise
        alike = 1 + ratio(self.effective, self.rest_effective)
        grown = np.nan_to_num(alike, nan=np.inf)
        factor = np.where(left > 0, 1 / np.where(left > 0, left, 1.0), grown)
        return np.asarray(alone * ratio(self.counted, self.effective) * factor)


def comparisons_of(view: View, margin: float | None) -> list[Comparison]:
    """Each statistic of a view in which its groups are compared."""
    evidence = view.evidence
    if not evidence.is_of_labels:
        sums, known = evidence.counted, SCANNED_MEANS[evidence.task]
        return [_means(view, sums, of, name, margin) for of, name in known if of in sums.sums]
    counts, least = evidence.counted, margin or MARGIN
    return [
        _rates(view, name, partial(_hits, statistic, at), least)
        for name, statistic, at in _statistics(evidence, counts.labels("yhat"))
    ]


def _hits(
    statistic: Statistic, at: int, counts: Tally, names: Sequence[str]
) -> tuple[Floats, Floats]:
    """Hits and misses of one cell (sums, 1, groups), by each of the named sums."""
    shares = [statistic.shares(counts, of=of) for of in names]
    hits, misses = (
        np.array([part[[at]] for part in parts])
        for parts in zip(*(each for each in shares if each is not None), strict=True)
    )
    return hits, misses


def _statistics(evidence: Evidence, classes: tuple[Label, ...]) -> list[tuple[str, Statistic, int]]:
    """Names of rates, and the statistic and the cell that each of them is."""
    good = evidence.favorable
    kept = [i for i, label in enumerate(classes) if good is None or label == good]
    if len(classes) == 2:
        kept = kept[-1:]  # the rate of the other class says the same
    rates = [
        (f"selection rate of {show(classes[i])}", STATISTICS["selection_rate"], i) for i in kept
    ]
    if "labels" not in evidence.sources:
        return rates
    for name, each in SCANNED.items():
        if not each.over:
            rates.append((name, each, 0))
        elif good is not None:
            rates += [(name, each, at) for at in kept]
    if good is None:  # what a class misses, in words that favor none
        rates += [
            (f"error rate where the truth is {show(label)}", STATISTICS["fnr"], at)
            for at, label in enumerate(classes)
        ]
    return rates


def _rates(view: View, name: str, hits: Callable[..., Any], margin: float) -> Comparison:
    """A rate, from the hits and misses that `hits` reads from counts."""
    counts = view.evidence.counted
    is_weighted = "weight²" in counts.sums
    hit, miss = hits(counts, ("rows", "weight", "weight²") if is_weighted else ("rows",) * 3)
    sums = np.concatenate([miss, hit], axis=1)

    def read(part: Tally) -> tuple[Floats, Floats]:
        hit, miss = hits(part, ("weight", "weight²") if "weight²" in part.sums else ("rows",))
        return hit, hit + miss

    amount = rates_amount(counts, read)
    others = np.maximum(_others(sums), 0.0)

    def sides(error: float) -> tuple[_Draws, _Draws]:
        if amount is None:
            return _sides(sums)
        rows = student_rows(amount.alone[0], amount.free[0], error)
        return _sides(_as_clustered(sums, rows))

    ours, theirs = sides(0.05)
    value, rest = (ratio(part[1, 1], part[1].sum(axis=0)) for part in (sums, others))

    def enough(error: float) -> Floats:
        return _chernoff(np.nan_to_num(rest), theirs.own.size, error, margin)

    return Comparison(
        view,
        name,
        value,
        rest,
        counted=sums[0].sum(axis=0),
        effective=ours.own.size,
        rest_effective=theirs.own.size,
        at_least=lambda error: _sure(*sides(error), error),
        enough=enough,
    )


def _as_clustered(sums: Floats, rows: Floats) -> Floats:
    """The same with squared weights as large as those of so few rows that vary as much."""
    weight, squares = sums[1].sum(axis=0), sums[2].sum(axis=0)
    factor = np.maximum(np.nan_to_num(ratio(ratio(weight**2, rows), squares), nan=1.0), 1.0)
    return np.stack([sums[0], sums[1], sums[2] * factor])


def _sides(sums: Floats) -> tuple[_Draws, _Draws]:
    """The draws of every group, and of all others."""
    typical = _design(sums)
    typical = ratio((typical * sums[0]).sum(axis=-1, keepdims=True), sums[0].sum(-1, keepdims=True))
    whole = sums.sum(axis=-1, keepdims=True)
    both = (sums, np.maximum(_others(sums), 0.0))
    ours, theirs = (_draws(part, whole, np.nan_to_num(typical)) for part in both)
    return ours, theirs


def _others(sums: Floats) -> Floats:
    """The sums over everybody but the group, for each group; nothing where they have no row."""
    others = sum_of_others(sums)
    return np.asarray(np.where(others[0] > 0, others, 0.0))


def _design(sums: Floats) -> Floats:
    """How many times fewer rows of equal weight say as much, of misses and of hits (2, groups)."""
    rows, weight, squares = sums
    return np.maximum(np.nan_to_num(ratio(rows * squares, weight**2)), 1.0)


class _Draws(NamedTuple):
    """The draws that rates amount to, by the weights of the rows, and by those of everybody."""

    own: Binomials
    common: Binomials


def _draws(sums: Floats, everybody: Floats, typical: Floats) -> _Draws:
    """Hits and misses count as many as vary as much; the odds say what a hit and a miss weigh.

    To first order this is the linearized variance Σ w² (y − p)² / (Σ w)². Where weights depend on
    the outcome alone it is exact, as the effective size of the rate is not.
    """
    rows, weight, _ = sums
    count = rows / np.maximum(_design(sums), typical)
    common = ratio(everybody[1], everybody[0] / np.maximum(_design(everybody), typical))
    own = np.where(count > 0, ratio(weight, count), common)
    size = count.sum(axis=0)
    return _Draws(*(Binomials(count[1], size, _odds(heavy, size)) for heavy in (own, common)))


def _odds(heavy: Floats, size: Floats) -> Floats:
    odds = ratio(heavy[1], heavy[0])
    return np.where(np.isfinite(odds) & (odds > 0), odds, 1.0) * np.ones_like(size)


def _sure(ours: _Draws, theirs: _Draws, error: float) -> Floats:
    """Bounds that hold by the weights of either side and by everybody's.

    A few hits may all be light or heavy by chance, and then their spread does not show it.
    """
    sure = difference_bounds(ours.own, theirs.own, error)
    if all((draws.own.odds == draws.common.odds).all() for draws in (ours, theirs)):
        return sure
    first, second = (
        np.sign(one.rate - other.rate) for one, other in zip(ours, theirs, strict=True)
    )
    again = difference_bounds(ours.common, theirs.common, error)
    return np.where(first == second, np.minimum(sure, again), 0.0)


def _chernoff(rate: Floats, size: Floats, error: float, margin: float) -> Floats:
    """Rows of which a rate off by the margin, up or down, would be too rare for the error."""
    from scipy.special import rel_entr

    rate = (rate * size + 0.5) / (size + 1)
    apart = np.full(rate.shape, np.inf)
    for far in (rate - margin, rate + margin):
        inside = np.clip(far, 0.0, 1.0)
        entropy = rel_entr(inside, rate) + rel_entr(1 - inside, 1 - rate)
        apart = np.where(inside == far, np.minimum(apart, entropy), apart)
    with np.errstate(divide="ignore"):  # a margin below what numbers resolve: no rows are enough
        return np.asarray(-np.log(error / 2) / apart)


def _means(view: View, sums: Tally, of: str, name: str, margin: float | None) -> Comparison:
    """A mean by Student's bounds, with the larger variance of both sides for both.

    A few rows of a skewed distribution that miss its tail show a small mean and a small variance
    together; the others know the tail, and rows with one large value have their own variance.
    """
    squares = sums.table("group", of="weight²") if "weight²" in sums.sums else sums.table("group")
    names = (sums.table("group", of=of), sums.table("group", of=f"{of}²"))
    table = np.array([sums.table("group", of="rows"), sums.table("group"), squares, *names])
    (value, variance, size), (rest, theirs, rest_size) = map(_moments, (table, _others(table)))
    amount = influence_amount(sums, E(of).influence, np.nan_to_num(variance)[None])
    if amount is not None:
        kept = np.minimum(np.nan_to_num(ratio(amount.alone[0], size)), 1.0)
        rest_size = rest_size * ratio(_others((size * kept)[None])[0], _others(size[None])[0])
        size = size * kept
    spread = np.fmax(variance, theirs)
    inverse = np.array([1 / np.maximum(size, 1.0), 1 / np.maximum(rest_size, 1.0)])
    free = inverse.sum(axis=0) ** 2 / (inverse**2 / np.maximum(1 / inverse - 1, 1e-9)).sum(axis=0)
    free = free if amount is None else np.minimum(free, amount.free[0])
    deviation = float(np.sqrt(_moments(table.sum(axis=-1, keepdims=True))[1][0])) or 1.0
    least = margin / deviation if margin else MEAN_MARGIN

    def at_least(error: float) -> Floats:
        from scipy.special import stdtrit

        reach = -stdtrit(np.maximum(free, 1.0), error / 2) * np.sqrt(spread * inverse.sum(axis=0))
        sure = np.abs(value - rest) - reach
        return np.where(np.minimum(size, rest_size) > 1, np.fmax(sure, 0.0), 0.0)

    def enough(error: float) -> Floats:
        from scipy.special import ndtri

        return np.full(value.shape, float(ndtri(error / 2) / least) ** 2)

    return Comparison(
        view,
        name,
        value,
        rest,
        counted=table[0],
        effective=size,
        rest_effective=rest_size,
        at_least=at_least,
        enough=enough,
        scale=deviation,
    )


def _moments(table: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and effective rows, from sums of weights, values and squares of both."""
    _, weight, squares, total, square = table
    mean, size = ratio(total, weight), np.nan_to_num(ratio(weight**2, squares))
    variance = np.maximum(ratio(square, weight) - mean**2, 0.0)
    return mean, variance * size / np.maximum(size - 1, 1.0), size
