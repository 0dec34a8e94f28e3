"""What is known of every group: its value, and how far other values are from the data.

A *confidence curve* of a group says, for each signed distance z in standard errors, which true
value lies that far from what was observed: z = −1.96 and 1.96 are the ends of its 95 % interval.
The curves of independent groups combine: the sum of their squared distances is about chi-squared.
Everything that intervals need of the data is in these curves, whatever the statistic is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._distributions import Distribution, RankedScores, auroc_influences
from evenhand._errors import InputError
from evenhand._tally import Tally
from evenhand._uncertainty import replicates
from evenhand._uncertainty.clusters import (
    KNOWN,
    Amount,
    Reader,
    are_dependent,
    as_known,
    smallest,
    units_of,
    units_of_scores,
)
from evenhand._uncertainty.differences import rate_bounds
from evenhand._uncertainty.replicates import means_amount, rates_amount
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
        rows = draws.sizes if draws.free is None else as_known(draws.sizes, draws.free, error)
        low, high = rate_bounds(ratio(draws.hits, draws.sizes), rows, error)
        return link(_tilted(low, draws.odds)), link(_tilted(high, draws.odds))

    curves = link(_tilted(rate_curves(draws.hits, draws.sizes, draws.free), draws.odds))
    curves = np.where(np.isnan(table.values), np.nan, curves)
    known = (table.values, curves, table.cells, table.groups, draws.sizes, strata, looks, exact)
    return Estimates(*known, counts=draws.counts, is_weighted=draws.is_weighted)


class Draws(NamedTuple):
    """Hits of so many rows of equal weight; the odds say how much more a hit weighs than a miss.

    Where rows come in clusters, `free` are the degrees of freedom of what they amount to.
    """

    hits: Floats
    sizes: Floats
    odds: Floats
    free: Floats | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether these are not rows but what weighted or clustered ones amount to."""
        return self.free is not None or bool((self.odds != 1).any())

    @property
    def counts(self) -> tuple[Floats, Floats]:
        """Hits and rows whose share is the weighted rate, with its linearized variance."""
        if (self.odds == 1).all():
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


def _drawn(source: Tally, read: Reader) -> Draws:
    """What the hits among rows amount to; `read` gives both (sums, cells, groups) of a tally."""
    hits, total = read(source.whole)
    draws = _unweighed(hits[0], total[0]) if len(hits) == 1 else _weighed(hits, total)
    amount = rates_amount(source, read)
    if amount is not None:
        return _amounting(draws, amount) if source.scale else _fewer(draws, amount)
    return _corrected(draws, source, read) if "fpc" in source.sums else draws


def _corrected(draws: Draws, source: Tally, read: Reader) -> Draws:
    """More rows, by as much as a finite population leaves less to chance."""
    squares, left = (
        read(Tally(source.axes, source.cells, {"rows": source.sums[name]}))[1][0]
        for name in ("weight²", "fpc")
    )
    part = np.where(left > 0, left / np.where(squares > 0, squares, 1.0), 1.0)
    hits, sizes = draws.counts
    return Draws(hits / part, sizes / part, np.ones(1), np.full(sizes.shape, KNOWN))


def _fewer(draws: Draws, amount: Amount) -> Draws:
    """The same rates of as few rows as clustered ones amount to."""
    return _amounting(draws, Amount(np.minimum(amount.rows, draws.counts[1]), amount.free))


def _amounting(draws: Draws, amount: Amount) -> Draws:
    """The same rates of as many rows as dependent ones amount to."""
    share = np.nan_to_num(ratio(*draws.counts))
    return Draws(share * amount.rows, amount.rows, np.ones(1), amount.free)


def rate_curves(hits: Floats, sizes: Floats, free: Floats | None = None) -> Floats:
    """Limits of rates by quantiles of beta distributions, a little wider than Jeffreys'."""
    from scipy.special import betaincinv, ndtr

    pairs, places = np.unique(hits + 1j * sizes, return_inverse=True)  # small counts often repeat
    if len(pairs) < hits.size:
        return rate_curves(pairs.real, pairs.imag)[:, places.reshape(hits.shape)]
    z = DISTANCES.reshape(-1, *(1,) * hits.ndim)
    if free is not None:
        z = _stretched(z, free)
    shift = np.sign(z) * CAUTION
    more, less = np.maximum(hits + 0.5 + shift, 1e-3), np.maximum(sizes - hits + 0.5 - shift, 1e-3)
    limits = betaincinv(more, less, ndtr(z))
    limits = np.where(np.isfinite(limits), limits, np.where(z < 0, 0.0, 1.0))  # in the far tails
    limits = np.where((hits <= 0) & (z < 0), 0.0, np.where((hits >= sizes) & (z > 0), 1.0, limits))
    return np.asarray(np.where(sizes > 0, limits, np.nan))


def _stretched(z: Floats, free: Floats) -> Floats:
    """The distances that Student's t exceeds as seldom as a normal variable exceeds these."""
    from scipy.special import ndtr, stdtrit

    tail = np.maximum(ndtr(-np.abs(z)), 1e-280)
    return np.asarray(np.where(z == 0, 0.0, -np.sign(z) * stdtrit(free, tail)))


def _widened(free: Floats) -> Floats:
    """How much farther Student's 95 % limits are than normal ones."""
    from scipy.special import ndtri, stdtrit

    return np.asarray(stdtrit(free, 0.025) / ndtri(0.025))


def _shares(source: Tally, statistic: P, table: Table) -> Estimates:
    axes = [name for name in (statistic.given, statistic.event) if name]
    kept = _places(statistic.read(source), table)
    events = len(source.labels(statistic.event))
    strata = np.asarray(kept) // events if statistic.given else np.zeros(len(kept), np.intp)
    looks = 1.0 if len(kept) <= 2 else float(max(np.bincount(strata).max() - 1, 1))
    return _rates(table, _shares_drawn(source, axes, kept), strata.astype(np.intp), looks)


def _shares_drawn(source: Tally, axes: list[str], kept: list[int]) -> Draws:
    """Hits and rows (cells, groups) of the last axis."""

    def read(counts: Tally) -> tuple[Floats, Floats]:
        sums = np.array([counts.table(*axes, "group", of=name) for name in _weights(counts)])
        total = np.broadcast_to(sums.sum(axis=-2, keepdims=True), sums.shape)
        shape = (len(sums), -1, sums.shape[-1])
        return sums.reshape(shape)[:, kept], total.reshape(shape)[:, kept]

    return _drawn(source, read)


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
    strata, looks = np.zeros(len(kept), np.intp), float(max(len(kept) - 1, 1))
    if kinds is None:
        return _linear_fractional(source, statistic, table, kept)
    (first, above), (second, below) = kinds

    def read(counts: Tally) -> tuple[Floats, Floats]:
        tables = [counts.table("y", "yhat", "group", of=name) for name in _weights(counts)]
        sums = [one_against_rest(each) for each in tables]
        hits, rest = (
            np.array([_added(each, part)[kept] for each in sums]) for part in (first, second)
        )
        return hits, hits + rest

    def link(share: Floats) -> Floats:
        top = above[0] * share + below[0] * (1 - share)
        bottom = above[1] * share + below[1] * (1 - share)
        return np.asarray(
            np.divide(top, bottom, out=np.full(share.shape, np.inf), where=bottom > 0)
        )

    return _rates(table, _drawn(source, read), strata, looks, link)


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


def _linear_fractional(source: Tally, statistic: Ratio, table: Table, kept: list[int]) -> Estimates:
    """Any other ratio of counts, by its linear approximation."""
    above, below = statistic.numerator, statistic.denominator
    value = np.nan_to_num(table.values)

    def added(counts: Tally, factors: Mapping[str, Floats]) -> Floats:
        counted = one_against_rest(counts.table("y", "yhat", "group"))
        parts = [factor * counted[name][kept] for name, factor in factors.items()]
        return np.asarray(sum(parts), dtype=np.float64)

    def moves(values: Floats) -> dict[str, Floats]:
        names = above.keys() | below.keys()
        return {name: above.get(name, 0.0) - values * below.get(name, 0.0) for name in names}

    total = added(source, {name: np.asarray(factor) for name, factor in below.items()})
    square = added(source, {name: move**2 for name, move in moves(value).items()})
    variance, free = ratio(square, total**2), np.maximum(total, 2.0)
    everyone = np.broadcast_to(source.table("group", of="rows"), total.shape)
    spread, amounts = np.nan_to_num(ratio(square, everyone)), []
    for axis in source.clusters:
        units, each = units_of(source, axis)
        rows = np.broadcast_to(each.table("group", of="rows"), (len(kept), len(units.owner)))
        moved = added(each, moves(value[:, units.owner]))
        amounts.append(units.amount(moved, rows, rows, spread))
    if source.scale:
        again = (_places_of(statistic, one, kept) for one in replicates.replicates_of(source))
        variance = (replicates.deviations(again, value, source.scale) ** 2).sum(axis=0)
        free = np.minimum(free, len(source.scale))
    elif amounts:
        amount = smallest(amounts)
        variance, free = variance * ratio(everyone, amount.rows), amount.free
    error, none = np.sqrt(variance), np.zeros_like(variance)
    return _student(table, table.values, error, free, statistic.bounds, none)


def _places_of(statistic: Ratio, counts: Tally, kept: list[int]) -> Floats:
    return np.nan_to_num(statistic.read(counts).values[kept])


def _binned_rates(source: Tally, statistic: E, table: Table) -> Estimates:
    """Rates of hits in bins of the score: the bins are strata."""
    draws = _bins_drawn(source, str(statistic.given), statistic.of)
    return _rates(table, draws, np.arange(len(draws.sizes), dtype=np.intp))


def _bins_drawn(source: Tally, given: str, of: str) -> Draws:
    """The hits, a sum of the rows, among those in every bin and group (bins, groups)."""
    total, hits = source.table(given, "group"), source.table(given, "group", of=of)
    share, is_weighted = np.nan_to_num(ratio(hits, total)), "weight²" in source.sums
    squares = source.table(given, "group", of="weight²") if is_weighted else total
    if is_weighted:
        hits, total = _linearized(hits, total, squares * share, squares)
    draws = _unweighed(hits, total)

    def read(counts: Tally) -> tuple[Floats, Floats]:
        names = ("weight", "weight²") if "weight²" in counts.sums else ("rows",)
        rows = np.array([counts.table(given, "group", of=name) for name in names])
        return np.broadcast_to(counts.table(given, "group", of=of), rows.shape), rows

    amount = rates_amount(source, read)
    if amount is None:
        return draws
    return _amounting(draws, amount) if source.scale else _fewer(draws, amount)


def _cuts(scores: Distribution) -> Estimates:
    """Shares of each group at or below a number of cut points."""
    mass = np.cumsum(np.ones(len(scores)) if scores.weights is None else scores.weights)
    at = np.searchsorted(mass, np.linspace(0, mass[-1], MOST_CUTS // 2 + 1)[1:-1])
    spaced = np.linspace(scores.values[0], scores.values[-1], MOST_CUTS // 2 + 1)[1:-1]
    edges = np.unique(np.concatenate([scores.values[at], spaced]))
    bins = np.searchsorted(edges, scores.values, side="left")
    codes, groups = scores.codes.astype(np.intp), len(scores.groups)

    def below(weight: Floats | None, codes: NDArray[np.intp], groups: int) -> tuple[Floats, Floats]:
        """What lies below each cut (cuts, groups), and everything."""
        shape = (groups, len(edges) + 1)
        key = codes * shape[1] + bins
        counted = np.bincount(key, weight, minlength=shape[0] * shape[1]).reshape(shape)
        grown = np.cumsum(counted, axis=1).T.astype(np.float64)
        return grown[:-1], np.broadcast_to(grown[-1], grown[:-1].shape)

    hits, total = below(scores.weights, codes, groups)
    share = ratio(hits, total)
    table = Table(share, tuple(edges.tolist()), scores.groups)
    square = _squares(scores)
    if scores.weights is not None:
        hits, total = _linearized(hits, total, *below(square, codes, groups))
    draws, share = _unweighed(hits, np.asarray(total)), np.nan_to_num(share)
    amounts = []
    for which in range(len(scores.clusters)):
        units, unit = units_of_scores(scores, which)
        under, weight = below(scores.weights, unit, len(units.owner))
        alone = below(square, unit, len(units.owner))[1]
        residuals = under - share[:, units.owner] * weight
        amounts.append(units.amount(residuals, weight, alone, share * (1 - share)))
    draws = _fewer(draws, smallest(amounts)) if amounts else draws
    if scores.survey is not None:
        each = (ratio(*below(weight, codes, groups)) for weight in scores.survey.replicates)
        moved = replicates.deviations(map(np.nan_to_num, each), share, scores.survey.scale)
        draws = _amounting(draws, replicates.amount(moved, share * (1 - share), draws.sizes))
    return _rates(table, draws, np.zeros(len(edges), np.intp), LOOKS)


def _squares(scores: Distribution) -> Floats:
    """The squared weight of every value, or what the rows behind it have."""
    if scores.squares is not None:
        return scores.squares
    return np.ones(len(scores)) if scores.weights is None else scores.weights**2


# Everything else: means and areas, by Student's or score limits.


def _averages(source: Tally, statistic: Average, table: Table) -> Estimates:
    """The mean of two rates of different rows: their limits, combined as variances add up."""
    parts = []
    for part in (statistic.first, statistic.second):
        read = part.read(source)
        kept = _places(read, table)
        chosen = Table(read.values[kept], table.cells, table.groups)
        parts.append(_ratios(source, part, chosen))
    moves = [np.abs(part.curves - part.values) for part in parts]
    # In a cluster both may go together: then their deviations add up, not their variances.
    together = moves[0] + moves[1] if are_dependent(source) else np.hypot(*moves)
    reach = together / 2
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
    by = next((name for name in ("fpc", "weight²") if name in source.sums), "weight")
    sizes = np.nan_to_num(ratio(weight**2, source.table("group", of=by)))
    variance = np.maximum(np.nan_to_num(square - mean**2), 0.0)
    is_loss = names[0] != "yhat"
    free = np.maximum(sizes - 1, 0.0) + LENT_ROWS
    amount = means_amount(source, names[0], np.nan_to_num(mean), variance)
    if amount is not None:
        sizes = amount.rows if source.scale else np.minimum(amount.rows, sizes)
        free = amount.free
    steadied = _steadied(variance, mean, sizes, LENT_BY_TAILS if is_loss else 0.0)
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
    z: Floats = DISTANCES[:, None, None]
    if are_dependent(source):
        parts = [_areas_amount(source.scores[i], source.classes[i]) for i in kept]
        sizes = sizes * np.array([part.rows for part in parts])[:, None]
        z = _stretched(z, np.array([part.free for part in parts]))
    positives, negatives = np.maximum(sizes[:, 0], 1e-9), np.maximum(sizes[:, 1], 1e-9)
    low, high = (np.full((len(DISTANCES), *table.values.shape), end) for end in (0.0, 1.0))
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


def _areas_amount(scores: Distribution, positive: Label) -> Amount:
    """The part of the rows that clustered ones amount to for an area under the ROC curve.

    A row moves the area by its placement among the rows of the other kind (DeLong et al. 1988), and
    what those of a cluster do together is added up (Obuchowski 1997).
    """
    moved = auroc_influences(scores, positive)
    weight = np.ones(len(scores)) if scores.weights is None else scores.weights

    def added(codes: NDArray[Any], parts: Floats, size: int) -> Floats:
        return np.asarray(np.bincount(codes, parts, minlength=size), np.float64)

    groups, squares = len(scores.groups), _squares(scores)
    rows, alone = (added(scores.codes, part, groups) for part in (weight, squares))
    spread = np.nan_to_num(ratio(added(scores.codes, weight * moved**2, groups), rows))
    independent = np.maximum(ratio(rows**2, alone), 1e-300)
    if scores.survey is not None:

        def shifted(weight: Floats) -> Floats:
            mass = added(scores.codes, weight, groups)
            return np.nan_to_num(ratio(added(scores.codes, weight * moved, groups), mass))

        again = map(shifted, scores.survey.replicates)
        moved_by = replicates.deviations(again, np.zeros(groups), scores.survey.scale)
        amount = replicates.amount(moved_by, spread, independent)
        return Amount(np.nan_to_num(amount.rows / independent), amount.free)
    amounts = []
    for which in range(len(scores.clusters)):
        units, unit = units_of_scores(scores, which)
        parts = (added(unit, part, len(units.owner)) for part in (weight * moved, weight, squares))
        residuals, sizes, each = (part[None] for part in parts)
        amounts.append(units.amount(residuals, sizes, each, spread[None]))
    amount = smallest(amounts)
    part = np.clip(np.nan_to_num(amount.rows[0] / independent), 0.0, 1.0)
    return Amount(part, amount.free[0])


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
    rows, wider = np.nan_to_num(ratio(weight**2, squares)), np.ones(1)
    if are_dependent(source):
        draws = _bins_drawn(source, "bin", "hits")
        assert draws.free is not None
        rows, wider = draws.sizes, _widened(draws.free)
    share = np.nan_to_num(ratio(weight, weight.sum(axis=0, keepdims=True)))
    gap = np.nan_to_num(ratio(hits - score, weight))
    rate = (np.nan_to_num(ratio(hits, weight)) * rows + 0.5) / (rows + 1)
    variance = wider**2 * np.where(rows > 0, rate * (1 - rate) / np.maximum(rows, 1), 0.0)
    value = (share * np.abs(gap)).sum(axis=0)
    curves = np.empty((len(DISTANCES), 1, len(value)))
    above = DISTANCES > 0
    limits = rate_curves(np.nan_to_num(ratio(hits, weight)) * rows, rows)
    moves = np.nan_to_num(np.abs(limits - np.nan_to_num(ratio(score, weight))) - np.abs(gap))
    moves = np.maximum(np.maximum(moves, moves[::-1])[above], 0.0)
    curves[above, 0] = value + np.sqrt(((wider * share * moves) ** 2).sum(axis=1))
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
