"""A statistic of each group compared with everybody else, with bounds on the difference."""

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
from evenhand._uncertainty.replicates import by_kinds, influence_amount, rates_amount
from evenhand.statistics import STATISTICS, E, Statistic
from evenhand.statistics.arithmetic import ratio, sum_of_others
from evenhand.statistics.catalogue import SCANNED

Floats = NDArray[np.float64]

MARGIN = 0.05  # a difference of rates that a group should have enough rows to show
SCANNED_MEANS = {  # the means of subgroups that are compared, where no labels are predicted
    "regression": (
        ("error", "mean error"),
        ("yhat", "mean prediction"),
        ("squared_error", "mean squared error"),
    ),
    "ranking": (("exposure", "exposure"), ("top", "share of the top")),
}
MEAN_MARGIN = 0.1  # the same for means, in standard deviations: what 0.05 is for a rate of a half


@dataclass(frozen=True, eq=False)
class Comparison:
    """A statistic of the groups of a view, each compared with all others together.

    `at_least` gives lower bounds on the absolute differences with this error probability, and
    `enough` the rows of equal weight that could show a difference of the margin from a known value.
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
        """Mask of the groups for which the statistic is defined, as it is for everybody else."""
        return np.asarray(np.isfinite(self.value) & np.isfinite(self.rest))

    @property
    def questions(self) -> int:
        """Number of comparisons; two groups make only one."""
        groups = int(self.comparable.sum())
        return 1 if groups == 2 else groups

    def flagged(self, error: float) -> int:
        """Number of significant comparisons."""
        return min(int((self.at_least(error) > 0).sum()), self.questions)

    def rows_needed(self, error: float) -> Floats:
        """Rows of the group that could show a difference of the margin, with the others unchanged.

        If no number would be enough, because the others are too few, all groups grow in proportion.
        """
        alone = self.enough(error)
        remaining = 1 - ratio(alone, self.rest_effective)  # after the others' noise
        growth = 1 + ratio(self.effective, self.rest_effective)
        factor_of_all = np.nan_to_num(growth, nan=np.inf)
        factor = np.where(remaining > 0, 1 / np.where(remaining > 0, remaining, 1.0), factor_of_all)
        return np.asarray(alone * ratio(self.counted, self.effective) * factor)


def comparisons_of(view: View, margin: float | None) -> list[Comparison]:
    """Comparisons of the groups of a view in each statistic."""
    evidence = view.evidence
    if not evidence.is_of_labels:
        sums, statistics = evidence.counted, SCANNED_MEANS[evidence.task]
        return [
            _means(view, sums, column, name, margin)
            for column, name in statistics
            if column in sums.sums
        ]
    counts, margin_of_rates = evidence.counted, margin or MARGIN
    return [
        _rates(view, name, partial(_hits, statistic, at), margin_of_rates)
        for name, statistic, at in _statistics(evidence, counts.labels("yhat"))
    ]


def _hits(
    statistic: Statistic, at: int, counts: Tally, names: Sequence[str]
) -> tuple[Floats, Floats]:
    """Hits and misses of one cell (sums, 1, groups), by each of the named sums."""
    shares = [statistic.shares(counts, of=name) for name in names]
    hits, misses = (
        np.array([part[[at]] for part in parts])
        for parts in zip(*(share for share in shares if share is not None), strict=True)
    )
    return hits, misses


def _statistics(evidence: Evidence, classes: tuple[Label, ...]) -> list[tuple[str, Statistic, int]]:
    """The rates to compare: name, statistic and cell."""
    good = evidence.favorable
    kept = [i for i, label in enumerate(classes) if good is None or label == good]
    if len(classes) == 2:
        kept = kept[-1:]  # the rate of the other class is its complement
    rates = [
        (f"selection rate of {show(classes[i])}", STATISTICS["selection_rate"], i) for i in kept
    ]
    if "labels" not in evidence.sources:
        return rates
    for name, scanned in SCANNED.items():
        if not scanned.over:
            rates.append((name, scanned, 0))
        elif good is not None:
            rates += [(name, scanned, at) for at in kept]
    if good is None:  # false negative rates, in neutral words
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

    amount = rates_amount(counts, by_kinds(read))
    others = np.maximum(_others(sums), 0.0)

    def sides(error: float) -> tuple[_Draws, _Draws]:
        if amount is None:
            return _sides(sums)
        rows = student_rows(amount.alone[0], amount.free[0], error)
        return _sides(_as_clustered(sums, rows))

    own_draws, rest_draws = sides(0.05)
    value, rest = (ratio(part[1, 1], part[1].sum(axis=0)) for part in (sums, others))

    def enough(error: float) -> Floats:
        return _chernoff(np.nan_to_num(rest), rest_draws.own.size, error, margin)

    return Comparison(
        view,
        name,
        value,
        rest,
        counted=sums[0].sum(axis=0),
        effective=own_draws.own.size,
        rest_effective=rest_draws.own.size,
        at_least=lambda error: _lower_bounds(*sides(error), error),
        enough=enough,
    )


def _as_clustered(sums: Floats, rows: Floats) -> Floats:
    """The same sums with squared weights scaled to this effective number of rows."""
    weight, squares = sums[1].sum(axis=0), sums[2].sum(axis=0)
    factor = np.maximum(np.nan_to_num(ratio(ratio(weight**2, rows), squares), nan=1.0), 1.0)
    return np.stack([sums[0], sums[1], sums[2] * factor])


def _sides(sums: Floats) -> tuple[_Draws, _Draws]:
    """The draws of every group, and of everybody else."""
    typical = _design(sums)
    typical = ratio((typical * sums[0]).sum(axis=-1, keepdims=True), sums[0].sum(-1, keepdims=True))
    everybody = sums.sum(axis=-1, keepdims=True)
    sides = (sums, np.maximum(_others(sums), 0.0))
    own, rest = (_draws(part, everybody, np.nan_to_num(typical)) for part in sides)
    return own, rest


def _others(sums: Floats) -> Floats:
    """For each group the sums over everybody else; zeros if no rows are left."""
    others = sum_of_others(sums)
    return np.asarray(np.where(others[0] > 0, others, 0.0))


def _design(sums: Floats) -> Floats:
    """Design effects of misses and of hits (2, groups): mean square over squared mean weight."""
    rows, weight, squares = sums
    return np.maximum(np.nan_to_num(ratio(rows * squares, weight**2)), 1.0)


class _Draws(NamedTuple):
    """Rates as binomial draws, with odds by the group's own weights and by those of everybody."""

    own: Binomials
    common: Binomials


def _draws(sums: Floats, everybody: Floats, typical: Floats) -> _Draws:
    """Effective numbers of hits and misses, with the odds of their weights.

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


def _lower_bounds(own: _Draws, rest: _Draws, error: float) -> Floats:
    """Bounds that hold with the weights of either side and with everybody's.

    A few hits may all be light or heavy by chance, which their spread does not show.
    """
    bound = difference_bounds(own.own, rest.own, error)
    if all((draws.own.odds == draws.common.odds).all() for draws in (own, rest)):
        return bound
    first, second = (np.sign(a.rate - b.rate) for a, b in zip(own, rest, strict=True))
    bound_by_common = difference_bounds(own.common, rest.common, error)
    return np.where(first == second, np.minimum(bound, bound_by_common), 0.0)


def _chernoff(rate: Floats, size: Floats, error: float, margin: float) -> Floats:
    """Rows with which a rate off by the margin, up or down, would be rarer than the error."""
    from scipy.special import rel_entr

    rate = (rate * size + 0.5) / (size + 1)
    divergence = np.full(rate.shape, np.inf)
    for distant in (rate - margin, rate + margin):
        inside = np.clip(distant, 0.0, 1.0)
        entropy = rel_entr(inside, rate) + rel_entr(1 - inside, 1 - rate)
        divergence = np.where(inside == distant, np.minimum(divergence, entropy), divergence)
    with np.errstate(divide="ignore"):  # a margin below rounding: no number of rows is enough
        return np.asarray(-np.log(error / 2) / divergence)


def _means(view: View, sums: Tally, of: str, name: str, margin: float | None) -> Comparison:
    """A mean with Student's bounds, using the larger variance of the two sides for both.

    A few rows of a skewed distribution that miss its tail show a small mean and a small variance
    together; everybody else shows the tail, and a group with one large value its own variance.
    """
    squares = sums.table("group", of="weight²") if "weight²" in sums.sums else sums.table("group")
    names = (sums.table("group", of=of), sums.table("group", of=f"{of}²"))
    table = np.array([sums.table("group", of="rows"), sums.table("group"), squares, *names])
    (value, variance, size), (rest, rest_variance, rest_size) = map(
        _moments, (table, _others(table))
    )
    amount = influence_amount(sums, E(of).influence, np.nan_to_num(variance)[None])
    if amount is not None:
        share = np.minimum(np.nan_to_num(ratio(amount.alone[0], size)), 1.0)
        rest_size = rest_size * ratio(_others((size * share)[None])[0], _others(size[None])[0])
        size = size * share
    spread = np.fmax(variance, rest_variance)
    inverse = np.array([1 / np.maximum(size, 1.0), 1 / np.maximum(rest_size, 1.0)])
    freedom = inverse.sum(axis=0) ** 2 / (inverse**2 / np.maximum(1 / inverse - 1, 1e-9)).sum(
        axis=0
    )
    freedom = freedom if amount is None else np.minimum(freedom, amount.free[0])
    deviation = float(np.sqrt(_moments(table.sum(axis=-1, keepdims=True))[1][0])) or 1.0
    margin_in_deviations = margin / deviation if margin else MEAN_MARGIN

    def at_least(error: float) -> Floats:
        from scipy.special import stdtrit

        reach = -stdtrit(np.maximum(freedom, 1.0), error / 2) * np.sqrt(
            spread * inverse.sum(axis=0)
        )
        bound = np.abs(value - rest) - reach
        return np.where(np.minimum(size, rest_size) > 1, np.fmax(bound, 0.0), 0.0)

    def enough(error: float) -> Floats:
        from scipy.special import ndtri

        return np.full(value.shape, float(ndtri(error / 2) / margin_in_deviations) ** 2)

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
    """Mean, variance and effective rows, from sums of weights, values and their squares."""
    _, weight, squares, total, square = table
    mean, size = ratio(total, weight), np.nan_to_num(ratio(weight**2, squares))
    variance = np.maximum(ratio(square, weight) - mean**2, 0.0)
    return mean, variance * size / np.maximum(size - 1, 1.0), size
