"""Estimates of the groups' rates, each under an assumption, with their covariance.

All are ratios N(a) / D(a) of estimated hits and rows of each group, so that a row of weight 1 moves
them by (n − T d) / D, where n and d are its parts in both (`influence.py`):

- *weighted*: a row is in each group with its probability. Right if decisions do not depend on the
  group among people with the same probabilities.
- *instrumental*: hits are regressed on the probabilities, E[n | p] = Σ p(a) ν(a). Right if
  decisions do not depend on the probabilities among people of the same group (McCartan, Fisher,
  Goldin, Ho and Imai 2025, Journal of the American Statistical Association).
- *combined*: rows of known group say how their groups differ from what the probabilities predict
  of them. The prediction is a regression on the known rows, its mean is taken over all rows, and
  what it misses over the known ones: the prediction-powered estimate with the best weights
  (Angelopoulos, Duchi and Zrnic 2023), which survey statistics call the regression estimator.
  Among hits the odds of groups are other than among misses, by a factor that the known rows
  tell; with it, the estimate is as precise as any of the kind (semiparametric efficiency) where
  the proxy depends on the group alone, or outcomes on the proxy alone. Limits are those of as
  many rows as would have the same variance (Korn and Graubard 1998, Survey Methodology 24,
  193–201), so that they are narrower than those of the known rows alone as far as the estimate
  is more precise. Right if the known rows are a random sample, whatever the probabilities are
  worth.
- *cut*: everybody is taken to be in the most probable group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.curves import DISTANCES, rate_curves, read_off, stretched
from evenhand._uncertainty.geometry import Cloud, lower_limit, upper_limit
from evenhand._uncertainty.influence import quasi_ratio
from evenhand._unknown.counted import Counted, Floats
from evenhand.measures import Measure
from evenhand.statistics.arithmetic import ratio

LEAST = 1e-6  # part of a variance that a difference has, and what no variance is below, cubed
ROUNDS = 60  # of fitting odds
FEW = 5  # rows of a group
SINGULAR = 1e-8  # least eigenvalue over the largest, of probabilities that tell groups apart


class Estimate(NamedTuple):
    """Rates (groups,), their covariance (groups, groups) and its degrees of freedom (groups,).

    Where there are `sizes`, limits are those of this number of independent rows, whose
    variance would be the same. Values lie between the `limits`.
    """

    values: Floats
    covariance: Floats
    free: Floats
    sizes: Floats | None = None
    limits: tuple[float, float] = (0.0, 1.0)

    def interval(self, measure: Measure, error: float, share: float) -> tuple[float, float, float]:
        """The value of a measure and the ends of its interval."""
        from scipy.special import ndtri

        own = np.diag(self.covariance)
        kept = np.flatnonzero(np.isfinite(self.values) & np.isfinite(own))
        if len(kept) < 2:
            return np.nan, np.nan, np.nan
        values, covariance = self.values[kept], self.covariance[np.ix_(kept, kept)]
        value = float(measure(values))
        floor = np.maximum(LEAST * own[kept], LEAST**3)  # groups that always move as one
        quasi = quasi_ratio(covariance[None], floor[None])[0]
        cloud = Cloud(values, self._curves(kept, quasi))
        high = upper_limit(cloud, measure, float(-ndtri(error / 2)))
        low = lower_limit(cloud, measure, share)
        return value, min(low, value), max(high, value)

    def _curves(self, kept: NDArray[np.intp], quasi: Floats) -> Floats:
        """Confidence curves (distances, groups) of some rates, with variances times `quasi`."""
        values, free = self.values[kept], self.free[kept]
        if self.sizes is None:
            far = stretched(DISTANCES[:, None], free)
            spread = np.sqrt(np.diag(self.covariance)[kept] * quasi)
            return np.clip(values + far * spread, *self.limits)
        sizes = self.sizes[kept] / quasi
        return rate_curves(np.nan_to_num(values) * sizes, sizes, free)

    def single(self, error: float) -> tuple[Floats, Floats]:
        """The ends of the intervals of single rates."""
        from scipy.special import ndtri

        if self.sizes is not None:
            every = np.arange(len(self.values))
            ends = read_off(self._curves(every, np.ones(len(every))), error)
            low, high = (np.where(np.isnan(self.values), np.nan, end) for end in ends)
            return low, high
        reach = stretched(np.array(-ndtri(error / 2)), self.free)
        spread = reach * np.sqrt(np.diag(self.covariance))
        low, high = self.values - spread, self.values + spread
        return np.clip(low, *self.limits), np.clip(high, *self.limits)


def weighted(counts: Counted) -> Estimate:
    """Every row is in each group with its probability."""
    return _shared(counts, counts.mixing)


def cut(counts: Counted) -> Estimate:
    """Every row is in its most probable group."""
    likeliest = np.eye(counts.number)[np.nan_to_num(counts.mixing).argmax(axis=1)]
    return _shared(counts, likeliest if counts.is_complete else counts.mixing)


def _shared(counts: Counted, shares: Floats) -> Estimate:
    """Rates where the rows of each cell are in groups by these shares (cells, groups)."""
    if not counts.is_complete:
        return _nothing(counts)
    hits, rows = (_sum(counts, each) @ shares for each in (counts.hit, counts.about))
    values = ratio(hits, rows)
    moves = counts.hit - np.nan_to_num(values)[:, None, None] * counts.about
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = moves / rows[:, None, None] * _at(counts, shares).T[:, None, :]
    return _estimate(counts, values, influence)


def _sum(counts: Counted, each: Floats) -> Floats:
    """What the rows of every cell (cells,) add up to, if each adds so much (kinds, parts or 1)."""
    return np.asarray(counts.by_cell(each * counts.weight).sum(axis=0))


def _at(counts: Counted, by_cell: Floats) -> Floats:
    """What is known of the cells, for each part where every row is one."""
    return by_cell if counts.value is None else by_cell[counts.cell]


def _estimate(counts: Counted, values: Floats, influence: Floats) -> Estimate:
    """With degrees of freedom by the kurtosis of the influence (Satterthwaite).

    No variance is less than what a single further row may add: rows that agree say too little.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        by_part = influence.shape[-1] == len(counts.cell)
        squares = counts.squares if by_part else counts.by_cell(counts.squares)
        moved = np.einsum("gkc,kc->g", influence**2, squares)
        fourth = np.einsum("gkc,kc->g", influence**4, squares)
        free = np.fmax(2 * moved**2 / np.maximum(fourth, 1e-300) - 1, 1.0)
    free = np.minimum(np.where(np.isfinite(free), free, 1.0), counts.free)
    most = np.nan_to_num(np.abs(influence), posinf=0.0).max(axis=(1, 2))
    weight = counts.squares.sum() / max(counts.rows.sum(), 1.0)
    covariance = counts.covariance(np.nan_to_num(influence, posinf=0.0, neginf=0.0))
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), most**2 * weight))
    return Estimate(values, covariance, free, limits=counts.limits)


def _nothing(counts: Counted) -> Estimate:
    none = np.full(counts.number, np.nan)
    return Estimate(none, np.full((counts.number,) * 2, np.nan), np.ones(counts.number))


def instrumental(counts: Counted) -> Estimate:
    """Hits and rows, each regressed on the probabilities."""
    if not counts.is_complete:
        return _nothing(counts)
    mixing, whole = counts.mixing, _sum(counts, np.ones((1, 1)))
    square = mixing.T @ (whole[:, None] * mixing)
    scale = np.sqrt(np.maximum(np.diag(square), 1e-300))
    spectrum = np.linalg.eigvalsh(square / np.outer(scale, scale))
    if spectrum[0] < SINGULAR * spectrum[-1]:  # the probabilities do not tell the groups apart
        return _nothing(counts)
    inverse = np.linalg.inv(square)
    parts = counts.hit, counts.about
    hits, rows = (inverse @ (mixing.T @ _sum(counts, each)) for each in parts)
    rows = np.where(rows > 0, rows, np.nan)
    values = hits / rows
    mixing = _at(counts, mixing)
    missed = [each - mixing @ fitted for each, fitted in zip(parts, (hits, rows), strict=True)]
    rate = np.nan_to_num(values)[:, None, None]
    moves = missed[0][None] - rate * missed[1][None]
    influence = (inverse @ mixing.T)[:, None, :] * moves / rows[:, None, None]
    estimate = _estimate(counts, values, influence)
    return estimate._replace(values=np.clip(values, *counts.limits))


def combined(counts: Counted) -> Estimate:
    """Predictions from the probabilities, corrected by the rows of known group."""
    if not (counts.known >= 0).any():
        return _nothing(counts)
    groups, known = counts.number, counts.known >= 0
    member = np.where(known[:, None], np.eye(groups)[np.maximum(counts.known, 0)], 0.0)
    factor = _expansion(counts, known)
    # Features of a row (kinds, parts, features), and what is predicted of it: its part in what is
    # above the line and below it of each group.
    features = _features(counts, factor)
    parts = [each[..., None] * member for each in (counts.hit, counts.about)]
    targets = np.concatenate([np.broadcast_to(part, parts[0].shape) for part in parts], axis=-1)
    weight = counts.weight * factor
    root = np.sqrt(weight)[..., None]
    flat = (features * root).reshape(-1, features.shape[-1])
    slopes, _, rank, _ = np.linalg.lstsq(flat, (targets * root).reshape(len(flat), -1), rcond=1e-9)
    predicted = features @ slopes
    missed = (targets - predicted) * factor[:, None]
    totals = np.einsum("kp,kpt->t", counts.weight, predicted + missed)
    hits, rows = totals[:groups], totals[groups:]
    there = rows > 1e-9 * counts.weight.sum()  # less is rounding
    values = np.divide(hits, rows, out=np.full(groups, np.nan), where=there)
    number = counts.rows[:, known].sum()
    missed *= np.sqrt(number / max(number - rank, 1.0))
    moves = predicted + missed
    rate = np.nan_to_num(values)
    influence = moves[..., :groups] - rate * moves[..., groups:]
    influence = np.divide(influence, rows, out=np.zeros_like(influence), where=there)
    seen = np.array(
        [(counts.rows * counts.about)[:, counts.known == at].sum() for at in range(groups)]
    )
    values = np.where(seen > 1, values, np.nan)
    estimate = _estimate(counts, values, np.moveaxis(influence, -1, 0))
    if counts.value is not None:
        return estimate._replace(values=np.clip(values, *counts.limits))
    alone = (targets[..., :groups] - rate * targets[..., groups:]) * factor[:, None]
    alone = np.divide(alone, rows, out=np.zeros_like(alone), where=there)
    by_rows = np.einsum("kpg,kp->g", alone**2, counts.squares)
    sizes = np.array([_alike(counts, at) for at in range(groups)])
    # As many times the known rows as their variance alone is that of the estimate.
    own = np.diag(estimate.covariance)
    sizes *= np.divide(by_rows, own, out=np.ones(groups), where=(by_rows > 0) & (own > 0))
    return Estimate(
        np.clip(values, 0.0, 1.0),
        estimate.covariance,
        np.full(groups, min(counts.free, 1e9)),
        sizes,
    )


def _features(counts: Counted, factor: Floats) -> Floats:
    """What the group of a row is predicted from: probabilities given what is seen of it.

    (kinds, parts, features), a set of its own for each kind; of a mean one more, times the value.
    """
    proxy = counts.proxy.mixing
    if np.isnan(proxy).any():
        likely = np.ones((*np.broadcast_shapes(counts.sorts.shape, counts.cell.shape), 1))
    else:
        likely = proxy[counts.cell] * _odds(counts, factor)[counts.sorts]
        likely /= np.maximum(likely.sum(axis=-1, keepdims=True), 1e-300)
    if counts.value is None:
        return np.concatenate([kind[:, None, None] * likely for kind in np.eye(3)], axis=-1)
    spread = counts.value - counts.value.mean()
    spread = spread / max(float(np.abs(spread).max()), 1e-300)
    return np.concatenate([likely, likely * spread[None, :, None]], axis=-1)


def _odds(counts: Counted, factor: Floats) -> Floats:
    """By how much more likely groups are among rows of each sort than their proxy says.

    (sorts, groups), fitted to the known rows by iterative scaling; one more row that is as its
    proxy says keeps it from the extremes.
    """
    proxy, known = counts.proxy.mixing, counts.proxy.known
    sample = counts.by_sort(counts.weight * factor)  # (sorts, cells)
    row = sample.sum() / max(counts.rows[:, counts.known >= 0].sum(), 1.0)
    seen = np.stack([sample[:, known == at].sum(axis=1) for at in range(counts.number)], axis=1)
    expected = sample @ proxy
    share = expected / np.maximum(expected.sum(axis=1, keepdims=True), 1e-300)
    odds = np.ones(seen.shape)
    for _ in range(ROUNDS):
        likely = proxy * odds[:, None, :]
        likely /= np.maximum(likely.sum(axis=-1, keepdims=True), 1e-300)
        fitted = np.einsum("sc,scg->sg", sample, likely)
        step = (seen + row * share) / np.maximum(fitted + row * share, 1e-300)
        odds *= np.where(share > 0, step, 1.0)
        if np.abs(step - 1)[share > 0].max(initial=0.0) < 1e-6:
            break
    return odds


def _alike(counts: Counted, group: int) -> float:
    """How many rows of equal weight the known rows of a group amount to (Kish)."""
    at = counts.known == group
    squares = counts.squares[:2, at].sum()
    return float(counts.weight[:2, at].sum() ** 2 / squares) if squares else 0.0


def _expansion(counts: Counted, known: NDArray[np.bool_]) -> Floats:
    """How many rows a known row stands for, within its stratum; 0 of a row that is not known."""
    number = int(counts.stratum.max()) + 1
    whole = counts.weight.sum(axis=0)
    all_rows, with_group = (
        np.bincount(counts.stratum, each, number).astype(np.float64)
        for each in (whole, whole * known)
    )
    return np.where(known, ratio(all_rows, with_group)[counts.stratum], 0.0)


def known_p_value(counts: Counted) -> float:
    """The p-value of the known rows being a random sample: Pearson's test of two samples.

    Rows are compared by their likeliest group and by hit, miss or other, within strata.
    """
    from scipy.special import chdtrc

    known = counts.known >= 0
    likeliest = np.nan_to_num(counts.proxy.mixing).argmax(axis=1)[counts.cell]
    every = np.arange(counts.sorts.max() + 1)[:, None]
    by_sort = counts.rows if counts.value is None else counts.rows * (counts.sorts == every)
    square, free = 0.0, 0
    for stratum in np.unique(counts.stratum).tolist():
        here = counts.stratum == stratum
        tables = []
        for of in (known, ~known):
            each = [
                np.bincount(likeliest[here & of], kind[here & of], counts.number)
                for kind in by_sort
            ]
            tables.append(np.concatenate(each))
        table = np.array(tables)
        table = table[:, table.sum(axis=0) > 0]
        if not table.sum(axis=1).all() or table.shape[1] < 2:
            continue
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        square += float(((table - expected) ** 2 / expected).sum())
        free += table.shape[1] - 1
    return float(chdtrc(free, square)) if free else np.nan


def proxy_p_value(counts: Counted) -> float:
    """The p-value of the probabilities being right, from the rows of known group.

    A score test of a regression of groups on their probabilities: groups are as large as these say,
    and people are as often in groups that are said to be probable. Of groups in which fewer than
    five are expected, or all but five, only the second is looked at.
    """
    from scipy.special import chdtrc, fdtrc

    known, mixing = counts.known >= 0, counts.proxy.mixing
    if not known.any() or np.isnan(mixing).any():
        return np.nan
    factor, group = _expansion(counts, known), np.maximum(counts.known, 0)
    sure = (mixing**2).sum(axis=1, keepdims=True)  # of a group that is drawn, its probability
    own = np.take_along_axis(mixing[counts.cell], group[:, None], axis=1) - sure[counts.cell]
    moved = np.concatenate([np.eye(counts.number)[group] - mixing[counts.cell], own], axis=1)
    moved *= factor[:, None]
    off = (moved * counts.weight.sum(axis=0)[:, None]).sum(axis=0)
    if counts.clusters:
        by_kind = np.broadcast_to(moved.T[:, None], (moved.shape[1], *counts.weight.shape))
        covariance = counts.covariance(by_kind)
    else:
        squares = np.bincount(counts.cell, counts.squares.sum(axis=0) * factor**2, len(mixing))
        both = np.concatenate(
            [np.eye(counts.number) - mixing[:, None], mixing[..., None] - sure[:, None]], axis=-1
        )
        covariance = np.einsum("c,cg,cgs,cgt->st", squares, mixing, both, both)
    rows = (counts.rows.sum(axis=0) * known) @ mixing[counts.cell]
    kept = np.append((rows >= FEW) & (rows.sum() - rows >= FEW), True)
    off, covariance = off[kept], covariance[np.ix_(kept, kept)]
    spectrum, axes = np.linalg.eigh(covariance)
    there = spectrum > SINGULAR * max(spectrum[-1], 1e-300)
    along = axes.T @ off
    if not there.any():  # the probabilities are 0 and 1
        return 0.0 if np.abs(off).max() > 0 else np.nan
    square, free = float((along[there] ** 2 / spectrum[there]).sum()), int(there.sum())
    if np.isinf(counts.free):
        return float(chdtrc(free, square))
    rest = counts.free - free + 1
    return float(fdtrc(free, rest, square * rest / (counts.free * free))) if rest > 0 else np.nan
