"""Covariances of the parts of a gap, from the influence of rows, or of cells of equal rows.

An entry is a row, or all rows of a tally's cell. To first order a row moves a part by its weight
times ψ, so that covariances of parts are sums of products over rows or clusters, as for any
statistic (`_uncertainty/errors.py`). Degrees of freedom are smaller, the fewer rows carry these
sums (Satterthwaite). Few equal rows do not show that the next one would be equal too: each cell of
rows borrows two prior rows with the pooled variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._data.tallies import Tally
from evenhand._uncertainty.clusters import crossings
from evenhand._uncertainty.replicates import deviations

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
PRIOR_ROWS = 2.0


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows of two groups, 0 and 1, or cells of equal rows.

    `weight` and `squares` are sums of the weights of an entry's rows and of their squares, and
    `rows` is their number. `clusters` has the cluster of each entry, for each clustering.
    `replicates` (replicates, entries) are replicate weights, with their `scale`.
    """

    group: Codes
    weight: Floats
    squares: Floats
    rows: Floats
    clusters: tuple[Codes, ...] = ()
    replicates: Floats | None = None
    scale: tuple[float, ...] = ()

    @classmethod
    def of(cls, counts: Tally) -> Entries:
        """The cells of a tally of two groups."""
        axis_places = {axis.name: place for place, axis in enumerate(counts.axes)}
        sums = counts.sums
        heavy = next(name for name in ("fpc", "weight²", "rows") if name in sums)
        return cls(
            counts.cells[axis_places["group"]],
            np.asarray(sums.get("weight", sums["rows"]), np.float64),
            np.asarray(sums[heavy], np.float64),
            np.asarray(sums["rows"], np.float64),
            tuple(counts.cells[axis_places[name]] for name in counts.clusters),
            np.asarray(sums["replicates"], np.float64) if counts.scale else None,
            counts.scale,
        )

    def times(self, factor: Floats) -> Entries:
        """The same rows with multiplied weights, without rows of weight 0."""
        present = factor > 0
        replicates = None if self.replicates is None else (self.replicates * factor)[:, present]
        return Entries(
            self.group[present],
            (self.weight * factor)[present],
            (self.squares * factor**2)[present],
            self.rows[present],
            tuple(codes[present] for codes in self.clusters),
            replicates,
            self.scale,
        )

    def covariance(self, influence: Floats) -> Floats:
        """Covariances of parts (parts, parts), from influences (parts, entries) by weight."""
        if self.replicates is not None:
            estimates = (influence @ replicate for replicate in self.replicates)
            deviation = deviations(estimates, np.zeros(len(influence)), self.scale)
            return np.asarray(deviation.T @ deviation)
        if not self.clusters:
            number = self.rows.sum()
            product = (influence * self.squares) @ influence.T
            return np.asarray(product * number / max(number - 1, 1e-300))
        total = np.zeros((len(influence), len(influence)))
        for sign, clustering in crossings(self.clusters):
            units = self._units(influence, clustering)
            number = units.shape[1]
            total += sign * (units @ units.T) * number / max(number - 1, 1e-300)
        variances = np.diagonal(total)
        # With crossed clusterings variances may be negative: none is below that of a single one.
        alone = [np.square(self._units(influence, (codes,))).sum(axis=1) for codes in self.clusters]
        shortfall = np.maximum(np.max(alone, axis=0) - variances, 0.0)
        return np.asarray(total + np.diag(shortfall))

    def freedom(self, influence: Floats) -> Floats:
        """Degrees of freedom of each part's variance."""
        candidates = [self._freedom(influence, np.ones(len(self.group), bool))]
        groups = [self.group == number for number in (0, 1)]
        spreads = [self._squares(influence * members) for members in groups]
        freedoms = [self._freedom(influence, members) for members in groups]
        below = sum(square**2 / freedom for square, freedom in zip(spreads, freedoms, strict=True))
        total = sum(spreads)
        candidates.append(_ratio(np.square(total), np.asarray(below)))
        return np.asarray(np.maximum(np.min(candidates, axis=0), 1.0))

    def _squares(self, influence: Floats) -> Floats:
        if self.clusters:
            clustering = min(self.clusters, key=lambda codes: int(codes.max(initial=0)))
            return np.asarray(np.square(self._units(influence, (clustering,))).sum(axis=1))
        return np.asarray((influence**2 * self.squares).sum(axis=1))

    def _freedom(self, influence: Floats, members: NDArray[np.bool_]) -> Floats:
        """Degrees of freedom from some entries: fewer if few units carry the variance."""
        influence = influence[:, members]
        if self.replicates is not None:
            return np.full(len(influence), max(len(self.scale) - 1.0, 1.0))
        if self.clusters:
            codes = min(self.clusters, key=lambda codes: int(codes.max(initial=0)))[members]
            distinct, inverse = np.unique(codes, return_inverse=True)
            units = _added(influence * self.weight[members], inverse, len(distinct))
            number, second = float(len(distinct)), np.square(units).sum(axis=1)
            fourth = (units**4).sum(axis=1)
        else:
            single = influence**2 * self.squares[members] / np.maximum(self.rows[members], 1.0)
            number = float(self.rows[members].sum())
            second = single @ self.rows[members]
            fourth = single**2 @ self.rows[members]
        concentration = _ratio(fourth, second**2) - 1 / max(number, 1.0)
        return np.asarray(np.clip(2 / np.maximum(concentration, 1e-12), 1.0, max(number - 1, 1.0)))

    def _units(self, influence: Floats, clusterings: tuple[Codes, ...]) -> Floats:
        """Influences summed over clusters; of several clusterings, over their intersections."""
        first, *remaining = clusterings
        codes = np.unique(first, return_inverse=True)[1]
        for clustering in remaining:
            codes = codes * (int(clustering.max(initial=0)) + 1) + clustering
            codes = np.unique(codes, return_inverse=True)[1]
        return _added(influence * self.weight, codes, int(codes.max(initial=-1)) + 1)


def prior_share(rows: Floats) -> Floats:
    """Share of the pooled variance that is added to the variance of a mean of n rows."""
    shares = PRIOR_ROWS / np.maximum(rows * (rows + PRIOR_ROWS), 1e-300)
    return np.asarray(np.where(rows > 0, shares, 0.0))


def _added(values: Floats, codes: Codes, size: int) -> Floats:
    return np.array([np.bincount(codes, row, size) for row in values])


def _ratio(above: Floats, below: Floats) -> Floats:
    positive = np.asarray(below) > 0
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), 1e9), where=positive))


def reach(covariance: Floats, freedom: Floats, error: float) -> float:
    """Multiplier of standard errors for simultaneous intervals with this error probability.

    By simulation from the correlations (Student's, with the fewest degrees of freedom) and a fixed
    seed: the Monte Carlo error is below 1%.

    >>> round(reach(np.eye(1), np.array([1e9]), 0.05), 1)
    2.0
    """
    from scipy.special import stdtrit

    spread = np.sqrt(np.diagonal(covariance))
    varying = spread > 0
    fewest = float(np.min(freedom, initial=1e9))
    single = float(-stdtrit(fewest, error / 2))
    if varying.sum() < 2:
        return single
    correlation = covariance[np.ix_(varying, varying)] / np.outer(spread[varying], spread[varying])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    random = np.random.default_rng(0)
    draws = random.standard_normal((DRAWS, len(root))) @ root.T
    draws /= np.sqrt(random.chisquare(min(fewest, 1e6), (DRAWS, 1)) / min(fewest, 1e6))
    return max(float(np.quantile(np.abs(draws).max(axis=1), 1 - error)), single)


DRAWS = 20_000
