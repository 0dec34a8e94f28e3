"""What is known of every group: its value, and how far other values are from the data.

A *confidence curve* of a group says, for each signed distance z in standard errors, which true
value lies that far from what was observed: z = −1.96 and 1.96 are the ends of its 95 % interval.
The curves of independent groups combine: the sum of their squared distances is about chi-squared.
Everything that intervals need of the data is in these curves, whatever the statistic is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._distributions import Distribution, RankedScores
from evenhand._errors import InputError
from evenhand._tally import Tally
from evenhand._uncertainty.differences import rate_bounds
from evenhand.criteria import Criterion
from evenhand.statistics import Auroc, Average, CalibrationError, Derived, E, F, P, Ratio, Table
from evenhand.statistics.forms import one_against_rest, ratio

Floats = NDArray[np.float64]
Exact = Callable[[float], tuple[Floats, Floats]]

STEP = 0.25
FARTHEST = 9.0
DISTANCES = np.arange(-FARTHEST, FARTHEST, STEP) + STEP / 2  # none is 0: there a curve may jump
CAUTION = 0.25  # between Jeffreys' (0) and Clopper and Pearson's (0.5) limits of a rate
LENT_ROWS = 2.0  # rows of pooled variance that steady the variance of a small group
SKEW = 3.0  # skewness of losses over their coefficient of variation: gamma's is 2, lognormal's 3
LENT_BY_TAILS = 4.0  # more of them, times the squared coefficient of variation of losses
LOOKS = 20.0  # independent looks that a supremum over cut points amounts to
MOST_CUTS = 24


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values (cells, groups), and their confidence curves (distances, cells, groups).

    `strata` says which cells are read from the same rows; cells of different strata are
    independent. `looks` is how many independent cells those of a stratum amount to. `exact` gives
    bounds of single values that hold with the stated error, proved for finitely many rows where
    the statistic is a rate. `counts` are hits and rows where it is a function of a rate, and
    `is_weighted` says whether those are not rows but what weighted ones amount to.
    """

    values: Floats
    curves: Floats
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]
    sizes: Floats
    strata: NDArray[np.intp]
    looks: float
    exact: Exact
    counts: tuple[Floats, Floats] | None = None
    is_weighted: bool = False

    @cached_property
    def simultaneous(self) -> dict[float, tuple[Floats, Floats]]:
        """Bounds of all values at once (Šidák), by their common error; made when asked for."""
        return {}

    def all_at_once(self, error: float) -> tuple[Floats, Floats]:
        """Bounds of every value that hold for all cells and groups at once."""
        if error not in self.simultaneous:
            number = max(int(np.isfinite(self.values).sum()), 1)
            self.simultaneous[error] = self.exact(1 - (1 - error) ** (1 / number))
        return self.simultaneous[error]

    @property
    def proved(self) -> bool:
        """Whether the exact bounds are proved: those of a rate, or of a function of one."""
        return self.counts is not None

    def single(self, confidence: float) -> tuple[Floats, Floats]:
        """Lower and upper limits of every single value; exact ones of a rate."""
        if self.proved:
            return self.exact(1 - confidence)
        from scipy.special import ndtri

        reach = float(-ndtri((1 - confidence) / 2))
        return curve_at(self.curves, -reach), curve_at(self.curves, reach)


def curve_at(curves: Floats, distance: float) -> Floats:
    """The values at one signed distance."""
    place = np.clip((distance - DISTANCES[0]) / STEP, 0, len(DISTANCES) - 1)
    below = min(int(place), len(DISTANCES) - 2)
    part = place - below
    return np.asarray((1 - part) * curves[below] + part * curves[below + 1])


def estimates_of(source: Any, asked: Criterion, favorable: Label = None) -> Estimates:
    """What a summary of the rows tells of a criterion's statistic in every cell and group."""
    statistic = asked.statistic
    if isinstance(source, Tally):
        _refuse_shares(source)
    if isinstance(statistic, F):
        return _cuts(source)
    table = asked.table(source, favorable)
    if isinstance(statistic, P):
        return _shares(source, statistic, table)
    if isinstance(statistic, Ratio):
        return _ratios(source, statistic, table)
    if isinstance(statistic, Average):
        return _averages(source, statistic, table)
    if isinstance(statistic, Auroc):
        return _areas(source, table)
    if isinstance(statistic, CalibrationError):
        return _calibration_errors(source, table)
    if isinstance(statistic, E) and statistic.given:
        return _binned_rates(source, statistic, table)
    return _means(source, statistic, table)


def _refuse_shares(counts: Tally) -> None:
    rows = counts.sums["rows"]
    if (rows != np.rint(rows)).any():
        raise InputError(
            "This needs whole rows, and an expected tally has shares of them. "
            "Draw the labels, and count those."
        )


# Rates: shares of rows, exactly.


def _rates(
    table: Table,
    draws: Draws,
    strata: NDArray[np.intp],
    looks: float = 1.0,
    link: Callable[[Floats], Floats] = np.asarray,
) -> Estimates:
    """Rates, or what a monotone function makes of them."""

    def exact(error: float) -> tuple[Floats, Floats]:
        low, high = rate_bounds(ratio(draws.hits, draws.sizes), draws.sizes, error)
        return link(_tilted(low, draws.odds)), link(_tilted(high, draws.odds))

    curves = link(_tilted(rate_curves(draws.hits, draws.sizes), draws.odds))
    curves = np.where(np.isnan(table.values), np.nan, curves)
    known = (table.values, curves, table.cells, table.groups, draws.sizes, strata, looks, exact)
    return Estimates(*known, counts=draws.counts, is_weighted=draws.is_weighted)


class Draws(NamedTuple):
    """Hits of so many rows of equal weight; the odds say how much more a hit weighs than a miss."""

    hits: Floats
    sizes: Floats
    odds: Floats

    @property
    def is_weighted(self) -> bool:
        """Whether a hit weighs more or less than a miss."""
        return bool((self.odds != 1).any())

    @property
    def counts(self) -> tuple[Floats, Floats]:
        """Hits and rows whose share is the weighted rate, with its linearized variance."""
        if not self.is_weighted:
            return self.hits, self.sizes
        share = np.nan_to_num(ratio(self.hits, self.sizes))
        rate = _tilted(share, self.odds)
        slope = np.where(share * (1 - share) > 0, ratio(rate * (1 - rate), share * (1 - share)), 1)
        sizes = self.sizes / np.maximum(slope, 1e-9)
        return rate * sizes, sizes


def _tilted(share: Floats, odds: Floats) -> Floats:
    """The weighted rate of a share of rows."""
    return np.asarray(odds * share / (1 - share + odds * share))


def _weighed(hits: Floats, total: Floats) -> Draws:
    """The rows of equal weight that vary as much, from rows, weights and squared weights.

    Hits and misses each count as many as vary as much (Kish), and the odds say what they weigh. To
    first order this is the linearized variance Σ w² (y − p)² / (Σ w)². Where weights depend on the
    outcome alone it is exact: a group in which an outcome was not seen would have seen it with the
    weight that it has in the other groups.
    """
    counts, heavy = [], []
    for rows, weight, squares in (hits, total - hits):
        design = np.maximum(np.nan_to_num(ratio(rows * squares, weight**2)), 1.0)
        shared = rows.sum(axis=-1, keepdims=True)
        typical = np.nan_to_num(ratio((design * rows).sum(axis=-1, keepdims=True), shared))
        counts.append(rows / np.maximum(design, np.maximum(typical, 1.0)))
        common = ratio(weight.sum(axis=-1, keepdims=True), counts[-1].sum(axis=-1, keepdims=True))
        heavy.append(np.where(counts[-1] > 0, ratio(weight, counts[-1]), common))
    odds = ratio(heavy[0], heavy[1])
    odds = np.where(np.isfinite(odds) & (odds > 0), odds, 1.0)
    return Draws(counts[0], counts[0] + counts[1], odds)


def _unweighed(hits: Floats, sizes: Floats) -> Draws:
    return Draws(hits, sizes, np.ones(1))


def rate_curves(hits: Floats, sizes: Floats) -> Floats:
    """Limits of rates by quantiles of beta distributions, a little wider than Jeffreys'."""
    from scipy.special import betaincinv, ndtr

    pairs, places = np.unique(hits + 1j * sizes, return_inverse=True)  # small counts often repeat
    if len(pairs) < hits.size:
        return rate_curves(pairs.real, pairs.imag)[:, places.reshape(hits.shape)]
    z = DISTANCES.reshape(-1, *(1,) * hits.ndim)
    shift = np.sign(z) * CAUTION
    more, less = np.maximum(hits + 0.5 + shift, 1e-3), np.maximum(sizes - hits + 0.5 - shift, 1e-3)
    limits = betaincinv(more, less, ndtr(z))
    limits = np.where(np.isfinite(limits), limits, np.where(z < 0, 0.0, 1.0))  # in the far tails
    limits = np.where((hits <= 0) & (z < 0), 0.0, np.where((hits >= sizes) & (z > 0), 1.0, limits))
    return np.asarray(np.where(sizes > 0, limits, np.nan))


def _shares(source: Tally, statistic: P, table: Table) -> Estimates:
    axes = [name for name in (statistic.given, statistic.event) if name]
    kept = _places(statistic.read(source), table)
    events = len(source.labels(statistic.event))
    strata = np.asarray(kept) // events if statistic.given else np.zeros(len(kept), np.intp)
    looks = 1.0 if len(kept) <= 2 else float(max(np.bincount(strata).max() - 1, 1))
    return _rates(table, _shares_drawn(source, axes, kept), strata.astype(np.intp), looks)


def _shares_drawn(source: Tally, axes: list[str], kept: list[int]) -> Draws:
    """Hits and rows (cells, groups) of the last axis."""
    sums = np.array([source.table(*axes, "group", of=name) for name in _weights(source)])
    total = np.broadcast_to(sums.sum(axis=-2, keepdims=True), sums.shape)
    hits, total = (part.reshape(len(sums), -1, sums.shape[-1])[:, kept] for part in (sums, total))
    return _unweighed(hits[0], total[0]) if len(sums) == 1 else _weighed(hits, total)


def _weights(source: Tally) -> tuple[str, ...]:
    """The sums that say how many rows there are, and how they are weighted."""
    return ("rows", "weight", "weight²") if "weight²" in source.sums else ("rows",)


def _linearized(
    hits: Floats, total: Floats, squares: Floats, all_squares: Floats
) -> tuple[Floats, Floats]:
    """The effective size p (1 − p) / variance of each weighted share, and the hits among it."""
    share = np.nan_to_num(ratio(hits, total))
    variance = (1 - share) ** 2 * squares + share**2 * (all_squares - squares)
    varies = (share > 0) & (share < 1)
    sizes = np.where(
        varies,
        np.nan_to_num(ratio(share * (1 - share) * total**2, np.where(varies, variance, 1.0))),
        np.nan_to_num(ratio(total**2, all_squares)),
    )
    return share * sizes, sizes


def _places(whole: Table, kept: Table) -> list[int]:
    where = {cell: place for place, cell in enumerate(whole.cells)}
    return [where[cell] for cell in kept.cells]


def _ratios(source: Tally, statistic: Ratio, table: Table) -> Estimates:
    """A ratio of two kinds of rows is a monotone function of the share of one kind among both.

    So TPR is a share of the positives, F1 = 2 s / (1 + s) with s = tp / (tp + fp + fn), and
    fn / fp = s / (1 − s) with s = fn / (fn + fp): each has a rate's exact limits.
    """
    kept = _places(statistic.read(source), table)
    kinds = _kinds(statistic)
    sums = [one_against_rest(source.table("y", "yhat", "group", of=n)) for n in _weights(source)]
    strata, looks = np.zeros(len(kept), np.intp), float(max(len(kept) - 1, 1))
    if kinds is None:
        counted = one_against_rest(source.table("y", "yhat", "group"))
        return _linear_fractional(statistic, counted, table, kept)
    (first, above), (second, below) = kinds
    hits, rest = (
        np.array([_added(outcomes, part)[kept] for outcomes in sums]) for part in (first, second)
    )
    both = hits + rest
    draws = _unweighed(hits[0], both[0]) if len(sums) == 1 else _weighed(hits, both)

    def link(share: Floats) -> Floats:
        top = above[0] * share + below[0] * (1 - share)
        bottom = above[1] * share + below[1] * (1 - share)
        return np.asarray(
            np.divide(top, bottom, out=np.full(share.shape, np.inf), where=bottom > 0)
        )

    return _rates(table, draws, strata, looks, link)


def _added(outcomes: dict[str, Floats], names: list[str]) -> Floats:
    return np.asarray(sum(outcomes[name] for name in names), dtype=np.float64)


Terms = tuple[list[str], tuple[float, float]]


def _kinds(statistic: Ratio) -> tuple[Terms, Terms] | None:
    """The outcomes above and below by their coefficients, where there are two kinds of them."""
    above, below = dict(statistic.numerator), dict(statistic.denominator)
    for terms in (above, below):
        if "all" in terms:
            whole = terms.pop("all")
            for name in ("correct", "wrong"):
                terms[name] = terms.get(name, 0.0) + whole
    pairs: dict[tuple[float, float], list[str]] = {}
    for name in above.keys() | below.keys():
        pairs.setdefault((above.get(name, 0.0), below.get(name, 0.0)), []).append(name)
    if len(pairs) != 2:
        return None
    (one, names), (two, others) = pairs.items()
    if one[0] * two[1] < two[0] * one[1]:
        return (others, two), (names, one)
    return (names, one), (others, two)


def _linear_fractional(
    statistic: Ratio, counted: dict[str, Floats], table: Table, kept: list[int]
) -> Estimates:
    """Any other ratio of counts, by its linear approximation."""
    above, below = statistic.numerator, statistic.denominator
    value = np.nan_to_num(table.values)
    parts = [factor * counted[name][kept] for name, factor in below.items()]
    total = np.asarray(sum(parts), dtype=np.float64)
    spread = sum(
        counted[name][..., kept, :] * (above.get(name, 0.0) - value * below.get(name, 0.0)) ** 2
        for name in above.keys() | below.keys()
    )
    error = np.sqrt(ratio(np.asarray(spread), np.asarray(total) ** 2))
    return _student(
        table, table.values, error, np.maximum(total, 2.0), statistic.bounds, np.zeros_like(error)
    )


def _binned_rates(source: Tally, statistic: E, table: Table) -> Estimates:
    """Rates of hits in bins of the score: the bins are strata."""
    axes = (str(statistic.given), "group")
    total = source.table(*axes)
    hits = source.table(*axes, of=statistic.of)
    if "weight²" in source.sums:
        squares = source.table(*axes, of="weight²")
        hits, total = _linearized(hits, total, squares * np.nan_to_num(ratio(hits, total)), squares)
    return _rates(table, _unweighed(hits, total), np.arange(len(total), dtype=np.intp))


def _cuts(scores: Distribution) -> Estimates:
    """Shares of each group at or below a number of cut points."""
    groups = len(scores.groups)
    mass = np.cumsum(np.ones(len(scores)) if scores.weights is None else scores.weights)
    at = np.searchsorted(mass, np.linspace(0, mass[-1], MOST_CUTS // 2 + 1)[1:-1])
    spaced = np.linspace(scores.values[0], scores.values[-1], MOST_CUTS // 2 + 1)[1:-1]
    edges = np.unique(np.concatenate([scores.values[at], spaced]))
    bins = np.searchsorted(edges, scores.values, side="left")
    key = scores.codes.astype(np.intp) * (len(edges) + 1) + bins
    shape = (groups, len(edges) + 1)

    def below(weight: Floats | None) -> Floats:
        counted = np.bincount(key, weight, minlength=groups * shape[1]).reshape(shape)
        return np.cumsum(counted, axis=1).T.astype(np.float64)

    hits = below(scores.weights)
    total = np.broadcast_to(hits[-1], hits[:-1].shape)
    hits = hits[:-1]
    table = Table(ratio(hits, total), tuple(edges.tolist()), scores.groups)
    if scores.weights is not None:
        squares = below(scores.weights**2 if scores.squares is None else scores.squares)
        everything = np.broadcast_to(squares[-1], squares[:-1].shape)
        hits, total = _linearized(hits, total, squares[:-1], everything)
    draws = _unweighed(hits, np.asarray(total))
    return _rates(table, draws, np.zeros(len(edges), np.intp), LOOKS)


# Everything else: means and areas, by Student's or score limits.


def _averages(source: Tally, statistic: Average, table: Table) -> Estimates:
    """The mean of two rates of different rows: their limits, combined as variances add up."""
    parts = []
    for part in (statistic.first, statistic.second):
        read = part.read(source)
        kept = _places(read, table)
        chosen = Table(read.values[kept], table.cells, table.groups)
        parts.append(_ratios(source, part, chosen))
    moves = [part.curves - part.values for part in parts]
    reach = np.sqrt(moves[0] ** 2 + moves[1] ** 2) / 2
    z = DISTANCES[:, None, None]
    curves = np.clip(table.values + np.sign(z) * reach, 0.0, 1.0)
    sizes = np.minimum(parts[0].sizes, parts[1].sizes)

    def exact(error: float) -> tuple[Floats, Floats]:
        (low, high), (lower, higher) = (part.exact(error / 2) for part in parts)
        return (low + lower) / 2, (high + higher) / 2

    strata, looks = np.zeros(len(table.cells), np.intp), float(max(len(table.cells) - 1, 1))
    return Estimates(table.values, curves, table.cells, table.groups, sizes, strata, looks, exact)


def _means(source: Tally, statistic: Any, table: Table) -> Estimates:
    """Means by Student's limits; a function of several means varies with the first of them."""
    names = (statistic.of,) if isinstance(statistic, E) else statistic.of
    weight = source.table("group")
    mean = ratio(source.table("group", of=names[0]), weight)
    square = ratio(source.table("group", of=f"{names[0]}²"), weight)
    squares = source.table("group", of="weight²") if "weight²" in source.sums else weight
    sizes = np.nan_to_num(ratio(weight**2, squares))
    variance = np.maximum(np.nan_to_num(square - mean**2), 0.0)
    is_loss = names[0] != "yhat"
    steadied = _steadied(variance, mean, sizes, LENT_BY_TAILS if is_loss else 0.0)
    free = np.maximum(sizes - 1, 0.0) + LENT_ROWS
    error = np.sqrt(steadied / np.maximum(sizes, 1.0))
    least = 0.0 if is_loss else -np.inf
    plain = Table(mean[None], ("all",), table.groups)
    skew = SKEW * np.nan_to_num(ratio(error, mean)) if is_loss else np.zeros_like(error)
    student = _student(plain, mean[None], error[None], free[None], (least, np.inf), skew[None])
    if isinstance(statistic, E):
        return student
    return _derived(source, statistic, table, student)


def _steadied(variance: Floats, mean: Floats, sizes: Floats, per_tail: float) -> Floats:
    """Variances of small groups, by the rows that all groups lend them; never less than their own.

    Where losses have heavy tails a small group has seldom seen its tail, so its own variance is too
    small. The heavier the tail, the larger is the squared coefficient of variation of all rows,
    and the more of them are lent.
    """
    rows = max(float(sizes.sum()), 1.0)
    pooled = float((variance * sizes).sum()) / rows
    common = float((np.nan_to_num(mean) * sizes).sum()) / rows
    lent_rows = LENT_ROWS + (per_tail * pooled / common**2 if common else 0.0)
    steadied = (variance * sizes + lent_rows * pooled) / (np.maximum(sizes - 1, 0.0) + lent_rows)
    return np.asarray(np.fmax(steadied, variance * sizes / np.maximum(sizes - 1, 1.0)))


def _derived(source: Tally, statistic: Derived, table: Table, first: Estimates) -> Estimates:
    weight = source.table("group")
    others = [ratio(source.table("group", of=name), weight) for name in statistic.of[1:]]

    def moved(means: Floats) -> Floats:
        rows = [statistic.function(one[0], *others, weight)[None] for one in means]
        return np.asarray(rows)

    curves = moved(first.curves)
    falls = np.nanmean(curves[-1] - curves[0]) < 0
    curves = curves[::-1] if falls else curves

    def exact(error: float) -> tuple[Floats, Floats]:
        ends = moved(np.array(first.exact(error)))
        return np.fmin(ends[0], ends[1]), np.fmax(ends[0], ends[1])

    strata = np.zeros(1, np.intp)
    return Estimates(
        table.values, curves, table.cells, table.groups, first.sizes, strata, 1.0, exact
    )


def _student(
    table: Table,
    center: Floats,
    error: Floats,
    free: Floats,
    bounds: tuple[float, float],
    skew: Floats,
) -> Estimates:
    """Student's limits, bent by `skew`, the skewness of a row over the root of the rows.

    A mean of skewed rows is more often too small than too large, with too small an error. Hall's
    cubic transformation of Student's t (1992, Journal of the Royal Statistical Society B 54)
    removes that; its limits are never nearer than the plain ones above the mean.
    """
    from scipy.special import ndtr, stdtrit

    def at(z: Floats) -> Floats:
        tail = np.maximum(ndtr(-np.abs(z)), 1e-280)
        reach = np.where(z == 0, 0.0, -np.sign(z) * stdtrit(free, tail))
        by = np.where(skew > 0, skew, 1.0)
        bent = np.fmax(reach, 3 / by * (1 - np.cbrt(1 - by * reach)))
        reach = np.where(skew > 0, bent, reach)
        return np.asarray(np.clip(center + reach * error, *bounds))

    def exact(error_rate: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        reach = np.asarray(-ndtri(error_rate / 2))
        return at(-reach), at(reach)

    curves = np.array([at(np.asarray(z)) for z in DISTANCES])
    curves = np.where(np.isnan(center), np.nan, curves)
    strata, looks = np.zeros(len(table.cells), np.intp), float(max(len(table.cells) - 1, 1))
    return Estimates(
        table.values, curves, table.cells, table.groups, free + 1, strata, looks, exact
    )


def _areas(source: RankedScores, table: Table) -> Estimates:
    """Areas under ROC curves by score limits: the variance is that at the supposed area.

    Hanley and McNeil's variance (1982) at the limit itself (Newcombe 2006), so that a small group
    that happens to be ranked perfectly still has an interval.
    """
    kept = [i for i, c in enumerate(source.classes) if c in table.cells]
    sizes = np.array([_both(source.scores[i], source.classes[i]) for i in kept])
    positives, negatives = np.maximum(sizes[:, 0], 1e-9), np.maximum(sizes[:, 1], 1e-9)
    low, high = (np.full((len(DISTANCES), *table.values.shape), end) for end in (0.0, 1.0))
    z = DISTANCES[:, None, None]
    for _ in range(50):
        middle = (low + high) / 2
        far = (middle - table.values) / _area_error(middle, positives, negatives)
        low, high = np.where(far < z, middle, low), np.where(far < z, high, middle)
    curves = np.where(np.isnan(table.values), np.nan, (low + high) / 2)

    def exact(error: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        reach = float(-ndtri(error / 2))
        return curve_at(curves, -reach), curve_at(curves, reach)

    strata, looks = np.zeros(len(kept), np.intp), float(max(len(kept) - 1, 1))
    rows = positives + negatives
    return Estimates(table.values, curves, table.cells, table.groups, rows, strata, looks, exact)


def _area_error(area: Floats, positives: Floats, negatives: Floats) -> Floats:
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area)
    variance = variance + np.maximum(positives - 1, 0) * (first - area**2)
    variance = variance + np.maximum(negatives - 1, 0) * (second - area**2)
    return np.sqrt(np.maximum(variance / (positives * negatives), 1e-18))


def _both(scores: Distribution, positive: Label) -> tuple[Floats, Floats]:
    """Effective rows of each group that are positive, and that are not."""
    assert scores.truth is not None
    is_positive = np.array([label == positive for label in scores.truth.labels])
    hit = is_positive[scores.truth.codes]
    weight = np.ones(len(scores)) if scores.weights is None else scores.weights
    square = weight**2 if scores.squares is None else scores.squares
    sizes = []
    for chosen in (hit, ~hit):
        total = np.bincount(scores.codes, weight * chosen, minlength=len(scores.groups))
        squares = np.bincount(scores.codes, square * chosen, minlength=len(scores.groups))
        sizes.append(np.nan_to_num(ratio(np.asarray(total**2, float), np.asarray(squares, float))))
    return sizes[0], sizes[1]


def _calibration_errors(source: Tally, table: Table) -> Estimates:
    """Mean absolute gaps over bins. Noise raises them, so lower limits allow for it.

    The error is a convex function of the gaps g of the bins. Above: every gap at the limit of its
    rate that is z away, their moves added up as independent ones are (a bin without a hit may still
    be far from its score). Below: the distance to the gaps with a smaller error, which
    are those shrunk by a constant; as many bins as vanish count as degrees of freedom.
    """
    from scipy.special import chdtrc, ndtri

    weight = source.table("bin", "group")
    hits = source.table("bin", "group", of="hits")
    score = source.table("bin", "group", of="score")
    squares = source.table("bin", "group", of="weight²") if "weight²" in source.sums else weight
    rows = np.nan_to_num(ratio(weight**2, squares))
    share = np.nan_to_num(ratio(weight, weight.sum(axis=0, keepdims=True)))
    gap = np.nan_to_num(ratio(hits - score, weight))
    rate = (np.nan_to_num(ratio(hits, weight)) * rows + 0.5) / (rows + 1)
    variance = np.where(rows > 0, rate * (1 - rate) / np.maximum(rows, 1), 0.0)
    value = (share * np.abs(gap)).sum(axis=0)
    curves = np.empty((len(DISTANCES), 1, len(value)))
    above = DISTANCES > 0
    limits = rate_curves(np.nan_to_num(ratio(hits, weight)) * rows, rows)
    moves = np.nan_to_num(np.abs(limits - np.nan_to_num(ratio(score, weight))) - np.abs(gap))
    moves = np.maximum(np.maximum(moves, moves[::-1])[above], 0.0)
    curves[above, 0] = value + np.sqrt(((share * moves) ** 2).sum(axis=1))
    scale = np.where(share * variance > 0, np.abs(gap) / np.maximum(share * variance, 1e-300), 0.0)
    for a in range(len(value)):
        slopes = np.append(np.sort(scale[:, a]) * np.linspace(0.2, 1, len(scale)), [0.0])
        slopes = np.unique(np.concatenate([slopes, np.linspace(0, scale[:, a].max(), 60)]))
        shrunk = np.maximum(np.abs(gap[:, a]) - slopes[:, None] * (share * variance)[:, a], 0.0)
        moved = np.abs(gap[:, a]) - shrunk
        part = np.divide(
            moved**2, variance[:, a], out=np.zeros_like(moved), where=variance[:, a] > 0
        )
        gone = ((shrunk == 0) & (moved > 0)).sum(axis=1)
        free = np.maximum(np.minimum(gone + 1, (moved > 0).sum(axis=1)), 1)
        tail = np.maximum(chdtrc(free, part.sum(axis=1)), 1e-290)
        far = np.maximum.accumulate(np.maximum(-ndtri(tail / 2), 0.0))
        errors = (share[:, a] * shrunk).sum(axis=1)
        curves[~above, 0, a] = np.interp(-DISTANCES[~above], far, errors, right=0.0)
    curves = np.clip(np.where(np.isnan(table.values), np.nan, curves), 0.0, 1.0)

    def exact(error: float) -> tuple[Floats, Floats]:
        far = float(-ndtri(error / 2))
        return curve_at(curves, -far), curve_at(curves, far)

    strata = np.zeros(1, np.intp)
    sizes = rows.sum(axis=0)[None]
    return Estimates(table.values, curves, table.cells, table.groups, sizes, strata, 1.0, exact)
