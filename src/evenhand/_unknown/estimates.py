"""Estimates of the groups' rates, each under an assumption, with their covariance.

All are ratios N(a) / D(a) of estimated hits and rows of each group, so that a row of weight 1 moves
them by (n − T d) / D, where n and d are its parts in both (`influence.py`):

- *weighted*: a row is in each group with its probability. Right if decisions do not depend on the
  group among people with the same probabilities.
- *instrumental*: hits are regressed on the probabilities, E[n | p] = Σ p(a) ν(a). Right if
  decisions do not depend on the probabilities among people of the same group (McCartan, Fisher,
  Goldin, Ho and Imai 2025, Journal of the American Statistical Association).
- *combined*: rows of known group correct what the probabilities predict. The prediction is a
  regression on the known rows; it is averaged over all rows, and its residuals over the known ones:
  the prediction-powered estimate with optimal weights (Angelopoulos, Duchi and Zrnic 2023), in
  survey statistics the regression estimator. The odds of groups differ between hits and misses by a
  factor that is estimated from the known rows; with it, the estimate is semiparametrically
  efficient if the proxy depends on the group alone, or outcomes on the proxy alone. Limits are
  those of the number of rows with the same variance (Korn and Graubard 1998, Survey Methodology
  24, 193–201), so that they are narrower than those of the known rows alone, as far as the estimate
  is more precise. Right if the known rows are a random sample, even if the probabilities are wrong.
- *cut*: everybody counts as in the most probable group.
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

LEAST = 1e-6  # least variance of a difference over the groups' own; cubed, of any variance
ROUNDS = 60  # of iterative scaling
FEW = 5  # rows of a group
SINGULAR = 1e-8  # smallest over largest eigenvalue, for probabilities that distinguish groups


class Estimate(NamedTuple):
    """Rates (groups,), their covariance (groups, groups) and its degrees of freedom (groups,).

    With `sizes`, limits are those of this number of independent rows, which have the same
    variance. Values lie between the `limits`.
    """

    values: Floats
    covariance: Floats
    freedom: Floats
    sizes: Floats | None = None
    limits: tuple[float, float] = (0.0, 1.0)

    def interval(self, measure: Measure, error: float, share: float) -> tuple[float, float, float]:
        """The value of a measure and the ends of its interval."""
        from scipy.special import ndtri

        variances = np.diag(self.covariance)
        defined = np.flatnonzero(np.isfinite(self.values) & np.isfinite(variances))
        if len(defined) < 2:
            return np.nan, np.nan, np.nan
        values, covariance = self.values[defined], self.covariance[np.ix_(defined, defined)]
        value = float(measure(values))
        floor = np.maximum(LEAST * variances[defined], LEAST**3)  # for rates that move together
        quasi = quasi_ratio(covariance[None], floor[None])[0]
        cloud = Cloud(values, self._curves(defined, quasi))
        high = upper_limit(cloud, measure, float(-ndtri(error / 2)))
        low = lower_limit(cloud, measure, share)
        return value, min(low, value), max(high, value)

    def _curves(self, chosen: NDArray[np.intp], quasi: Floats) -> Floats:
        """Confidence curves (distances, groups) of some rates, with variances times `quasi`."""
        values, freedom = self.values[chosen], self.freedom[chosen]
        if self.sizes is None:
            reach = stretched(DISTANCES[:, None], freedom)
            spread = np.sqrt(np.diag(self.covariance)[chosen] * quasi)
            return np.clip(values + reach * spread, *self.limits)
        sizes = self.sizes[chosen] / quasi
        return rate_curves(np.nan_to_num(values) * sizes, sizes, freedom)

    def single(self, error: float) -> tuple[Floats, Floats]:
        """The ends of the intervals of single rates."""
        from scipy.special import ndtri

        if self.sizes is not None:
            groups = np.arange(len(self.values))
            ends = read_off(self._curves(groups, np.ones(len(groups))), error)
            low, high = (np.where(np.isnan(self.values), np.nan, end) for end in ends)
            return low, high
        reach = stretched(np.array(-ndtri(error / 2)), self.freedom)
        spread = reach * np.sqrt(np.diag(self.covariance))
        low, high = self.values - spread, self.values + spread
        return np.clip(low, *self.limits), np.clip(high, *self.limits)


def weighted(counts: Counted) -> Estimate:
    """Weighted estimate: every row is in each group with its probability."""
    return _shared(counts, counts.mixing)


def cut(counts: Counted) -> Estimate:
    """Estimate with every row in its most probable group."""
    likeliest = np.eye(counts.number)[np.nan_to_num(counts.mixing).argmax(axis=1)]
    return _shared(counts, likeliest if counts.is_complete else counts.mixing)


def _shared(counts: Counted, shares: Floats) -> Estimate:
    """Rates where the rows of each cell are in groups by these shares (cells, groups)."""
    if not counts.is_complete:
        return _nothing(counts)
    hits, rows = (_sum(counts, value) @ shares for value in (counts.hit, counts.about))
    values = ratio(hits, rows)
    moves = counts.hit - np.nan_to_num(values)[:, None, None] * counts.about
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = moves / rows[:, None, None] * _at(counts, shares).T[:, None, :]
    return _estimate(counts, values, influence)


def _sum(counts: Counted, values: Floats) -> Floats:
    """Weighted sums over every cell (cells,) of values of rows (kinds, parts or 1)."""
    return np.asarray(counts.by_cell(values * counts.weight).sum(axis=0))


def _at(counts: Counted, by_cell: Floats) -> Floats:
    """Values of cells, spread to parts if every row is one."""
    return by_cell if counts.value is None else by_cell[counts.cell]


def _estimate(counts: Counted, values: Floats, influence: Floats) -> Estimate:
    """Estimate with degrees of freedom from the kurtosis of the influence (Satterthwaite).

    No variance is below what one more row could add, as equal rows understate it.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        by_part = influence.shape[-1] == len(counts.cell)
        squares = counts.squares if by_part else counts.by_cell(counts.squares)
        variance = np.einsum("gkc,kc->g", influence**2, squares)
        fourth = np.einsum("gkc,kc->g", influence**4, squares)
        freedom = np.fmax(2 * variance**2 / np.maximum(fourth, 1e-300) - 1, 1.0)
    freedom = np.minimum(np.where(np.isfinite(freedom), freedom, 1.0), counts.freedom)
    largest = np.nan_to_num(np.abs(influence), posinf=0.0).max(axis=(1, 2))
    weight = counts.squares.sum() / max(counts.rows.sum(), 1.0)
    covariance = counts.covariance(np.nan_to_num(influence, posinf=0.0, neginf=0.0))
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), largest**2 * weight))
    return Estimate(values, covariance, freedom, limits=counts.limits)


def _nothing(counts: Counted) -> Estimate:
    none = np.full(counts.number, np.nan)
    return Estimate(none, np.full((counts.number,) * 2, np.nan), np.ones(counts.number))


def instrumental(counts: Counted) -> Estimate:
    """Instrumental estimate: hits and rows regressed on the probabilities."""
    if not counts.is_complete:
        return _nothing(counts)
    mixing, total = counts.mixing, _sum(counts, np.ones((1, 1)))
    square = mixing.T @ (total[:, None] * mixing)
    scale = np.sqrt(np.maximum(np.diag(square), 1e-300))
    spectrum = np.linalg.eigvalsh(square / np.outer(scale, scale))
    if spectrum[0] < SINGULAR * spectrum[-1]:  # the probabilities do not distinguish the groups
        return _nothing(counts)
    inverse = np.linalg.inv(square)
    parts = counts.hit, counts.about
    hits, rows = (inverse @ (mixing.T @ _sum(counts, part)) for part in parts)
    rows = np.where(rows > 0, rows, np.nan)
    values = hits / rows
    mixing = _at(counts, mixing)
    residuals = [part - mixing @ fitted for part, fitted in zip(parts, (hits, rows), strict=True)]
    rate = np.nan_to_num(values)[:, None, None]
    moves = residuals[0][None] - rate * residuals[1][None]
    influence = (inverse @ mixing.T)[:, None, :] * moves / rows[:, None, None]
    estimate = _estimate(counts, values, influence)
    return estimate._replace(values=np.clip(values, *counts.limits))


def combined(counts: Counted) -> Estimate:
    """Combined estimate: predictions from probabilities, corrected by rows of known group."""
    if not (counts.known >= 0).any():
        return _nothing(counts)
    groups, known = counts.number, counts.known >= 0
    member = np.where(known[:, None], np.eye(groups)[np.maximum(counts.known, 0)], 0.0)
    factor = _expansion(counts, known)
    # Features of a row (kinds, parts, features), and the targets that they predict: its part in
    # the numerator and the denominator of each group.
    features = _features(counts, factor)
    parts = [of_row[..., None] * member for of_row in (counts.hit, counts.about)]
    targets = np.concatenate([np.broadcast_to(part, parts[0].shape) for part in parts], axis=-1)
    weight = counts.weight * factor
    root = np.sqrt(weight)[..., None]
    flat = (features * root).reshape(-1, features.shape[-1])
    slopes, _, rank, _ = np.linalg.lstsq(flat, (targets * root).reshape(len(flat), -1), rcond=1e-9)
    predicted = features @ slopes
    residuals = (targets - predicted) * factor[:, None]
    totals = np.einsum("kp,kpt->t", counts.weight, predicted + residuals)
    hits, rows = totals[:groups], totals[groups:]
    occupied = rows > 1e-9 * counts.weight.sum()  # smaller sums are rounding
    values = np.divide(hits, rows, out=np.full(groups, np.nan), where=occupied)
    number = counts.rows[:, known].sum()
    residuals *= np.sqrt(number / max(number - rank, 1.0))
    moves = predicted + residuals
    rate = np.nan_to_num(values)
    influence = moves[..., :groups] - rate * moves[..., groups:]
    influence = np.divide(influence, rows, out=np.zeros_like(influence), where=occupied)
    known_rows = np.array(
        [(counts.rows * counts.about)[:, counts.known == at].sum() for at in range(groups)]
    )
    values = np.where(known_rows > 1, values, np.nan)
    estimate = _estimate(counts, values, np.moveaxis(influence, -1, 0))
    if counts.value is not None:
        return estimate._replace(values=np.clip(values, *counts.limits))
    by_known = (targets[..., :groups] - rate * targets[..., groups:]) * factor[:, None]
    by_known = np.divide(by_known, rows, out=np.zeros_like(by_known), where=occupied)
    by_rows = np.einsum("kpg,kp->g", by_known**2, counts.squares)
    sizes = np.array([_effective_rows(counts, at) for at in range(groups)])
    # The known rows, scaled by the ratio of their own variance to that of the estimate.
    variances = np.diag(estimate.covariance)
    sizes *= np.divide(
        by_rows, variances, out=np.ones(groups), where=(by_rows > 0) & (variances > 0)
    )
    return Estimate(
        np.clip(values, 0.0, 1.0),
        estimate.covariance,
        np.full(groups, min(counts.freedom, 1e9)),
        sizes,
    )


def _features(counts: Counted, factor: Floats) -> Floats:
    """Features that predict the group of a row: probabilities given its outcome.

    (kinds, parts, features), separate for each kind; for a mean also multiplied by the value.
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
    """Factors on the odds of groups among rows of each sort, relative to the proxy.

    (sorts, groups), fitted to the known rows by iterative scaling; one prior row that follows the
    proxy avoids extremes.
    """
    proxy, known = counts.proxy.mixing, counts.proxy.known
    sample = counts.by_sort(counts.weight * factor)  # (sorts, cells)
    row = sample.sum() / max(counts.rows[:, counts.known >= 0].sum(), 1.0)
    observed = np.stack([sample[:, known == at].sum(axis=1) for at in range(counts.number)], axis=1)
    expected = sample @ proxy
    share = expected / np.maximum(expected.sum(axis=1, keepdims=True), 1e-300)
    odds = np.ones(observed.shape)
    for _ in range(ROUNDS):
        likely = proxy * odds[:, None, :]
        likely /= np.maximum(likely.sum(axis=-1, keepdims=True), 1e-300)
        fitted = np.einsum("sc,scg->sg", sample, likely)
        step = (observed + row * share) / np.maximum(fitted + row * share, 1e-300)
        odds *= np.where(share > 0, step, 1.0)
        if np.abs(step - 1)[share > 0].max(initial=0.0) < 1e-6:
            break
    return odds


def _effective_rows(counts: Counted, group: int) -> float:
    """Effective number of known rows of a group (Kish)."""
    at = counts.known == group
    squares = counts.squares[:2, at].sum()
    return float(counts.weight[:2, at].sum() ** 2 / squares) if squares else 0.0


def _expansion(counts: Counted, known: NDArray[np.bool_]) -> Floats:
    """Number of rows that a known row represents in its stratum; 0 for unknown rows."""
    number = int(counts.stratum.max()) + 1
    total = counts.weight.sum(axis=0)
    all_rows, with_group = (
        np.bincount(counts.stratum, mass, number).astype(np.float64)
        for mass in (total, total * known)
    )
    return np.where(known, ratio(all_rows, with_group)[counts.stratum], 0.0)


def known_p_value(counts: Counted) -> float:
    """P-value for the known rows being a random sample: Pearson's test of two samples.

    Rows are compared by their most probable group and by hit, miss or other, within strata.
    """
    from scipy.special import chdtrc

    known = counts.known >= 0
    likeliest = np.nan_to_num(counts.proxy.mixing).argmax(axis=1)[counts.cell]
    sorts = np.arange(counts.sorts.max() + 1)[:, None]
    by_sort = counts.rows if counts.value is None else counts.rows * (counts.sorts == sorts)
    square, degrees = 0.0, 0
    for stratum in np.unique(counts.stratum).tolist():
        in_stratum = counts.stratum == stratum
        tables = []
        for side in (known, ~known):
            table_rows = [
                np.bincount(likeliest[in_stratum & side], kind[in_stratum & side], counts.number)
                for kind in by_sort
            ]
            tables.append(np.concatenate(table_rows))
        table = np.array(tables)
        table = table[:, table.sum(axis=0) > 0]
        if not table.sum(axis=1).all() or table.shape[1] < 2:
            continue
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        square += float(((table - expected) ** 2 / expected).sum())
        degrees += table.shape[1] - 1
    return float(chdtrc(degrees, square)) if degrees else np.nan


def proxy_p_value(counts: Counted) -> float:
    """P-value for the probabilities being calibrated, from the rows of known group.

    A score test of a regression of groups on their probabilities: of intercepts (the sizes of
    groups) and of the slope. Groups in which fewer than five rows are expected, or all but five,
    enter only the slope.
    """
    from scipy.special import chdtrc, fdtrc

    known, mixing = counts.known >= 0, counts.proxy.mixing
    if not known.any() or np.isnan(mixing).any():
        return np.nan
    factor, group = _expansion(counts, known), np.maximum(counts.known, 0)
    expected = (mixing**2).sum(axis=1, keepdims=True)  # expected probability of the drawn group
    slope = np.take_along_axis(mixing[counts.cell], group[:, None], axis=1) - expected[counts.cell]
    scores = np.concatenate([np.eye(counts.number)[group] - mixing[counts.cell], slope], axis=1)
    scores *= factor[:, None]
    total = (scores * counts.weight.sum(axis=0)[:, None]).sum(axis=0)
    if counts.clusters:
        by_kind = np.broadcast_to(scores.T[:, None], (scores.shape[1], *counts.weight.shape))
        covariance = counts.covariance(by_kind)
    else:
        squares = np.bincount(counts.cell, counts.squares.sum(axis=0) * factor**2, len(mixing))
        covariates = np.concatenate(
            [np.eye(counts.number) - mixing[:, None], mixing[..., None] - expected[:, None]],
            axis=-1,
        )
        covariance = np.einsum("c,cg,cgs,cgt->st", squares, mixing, covariates, covariates)
    rows = (counts.rows.sum(axis=0) * known) @ mixing[counts.cell]
    used = np.append((rows >= FEW) & (rows.sum() - rows >= FEW), True)
    total, covariance = total[used], covariance[np.ix_(used, used)]
    spectrum, axes = np.linalg.eigh(covariance)
    regular = spectrum > SINGULAR * max(spectrum[-1], 1e-300)
    along = axes.T @ total
    if not regular.any():  # the probabilities are 0 and 1
        return 0.0 if np.abs(total).max() > 0 else np.nan
    square, degrees = float((along[regular] ** 2 / spectrum[regular]).sum()), int(regular.sum())
    if np.isinf(counts.freedom):
        return float(chdtrc(degrees, square))
    remaining = counts.freedom - degrees + 1
    return (
        float(fdtrc(degrees, remaining, square * remaining / (counts.freedom * degrees)))
        if remaining > 0
        else np.nan
    )
