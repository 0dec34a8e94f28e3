"""How much the parts of a gap vary: from the influence of rows, or of cells of rows that are alike.

An entry is a row, or all rows of a tally's cell. To first order a row moves a part by its weight
times ψ, so that covariances of parts are sums of products, over rows or over clusters, as of any
statistic (`_uncertainty/errors.py`). Degrees of freedom are how well these sums are known, by how
few rows they rest on (Satterthwaite). Few rows that are all alike do not show that the next one is
alike, too: each cell of rows is lent two rows of what all of them together vary by.
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
LENT_ROWS = 2.0


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows of two groups, 0 and 1, or cells of such rows that are all alike.

    `weight` and `squares` add up the weights of an entry's rows and their squares, and `rows`
    counts them. `clusters` says for each clustering where an entry belongs. `replicates`
    (replicates, entries) are further weights, whose squared deviations count by `scale`.
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
        at = {axis.name: place for place, axis in enumerate(counts.axes)}
        sums = counts.sums
        heavy = next(name for name in ("fpc", "weight²", "rows") if name in sums)
        return cls(
            counts.cells[at["group"]],
            np.asarray(sums.get("weight", sums["rows"]), np.float64),
            np.asarray(sums[heavy], np.float64),
            np.asarray(sums["rows"], np.float64),
            tuple(counts.cells[at[name]] for name in counts.clusters),
            np.asarray(sums["replicates"], np.float64) if counts.scale else None,
            counts.scale,
        )

    def times(self, factor: Floats) -> Entries:
        """The same rows with their weights multiplied; those of no weight are left out."""
        kept = factor > 0
        again = None if self.replicates is None else (self.replicates * factor)[:, kept]
        return Entries(
            self.group[kept],
            (self.weight * factor)[kept],
            (self.squares * factor**2)[kept],
            self.rows[kept],
            tuple(codes[kept] for codes in self.clusters),
            again,
            self.scale,
        )

    def covariance(self, moved: Floats) -> Floats:
        """Covariances of parts (parts, parts), from influences (parts, entries) by weight."""
        if self.replicates is not None:
            each = (moved @ again for again in self.replicates)
            by = deviations(each, np.zeros(len(moved)), self.scale)
            return np.asarray(by.T @ by)
        if not self.clusters:
            number = self.rows.sum()
            product = (moved * self.squares) @ moved.T
            return np.asarray(product * number / max(number - 1, 1e-300))
        total = np.zeros((len(moved), len(moved)))
        for sign, chosen in crossings(self.clusters):
            units = self._units(moved, chosen)
            number = units.shape[1]
            total += sign * (units @ units.T) * number / max(number - 1, 1e-300)
        own = np.diagonal(total)
        # Variances of clusterings that cross may come out negative: none is below a single one's.
        alone = [np.square(self._units(moved, (one,))).sum(axis=1) for one in self.clusters]
        short = np.maximum(np.max(alone, axis=0) - own, 0.0)
        return np.asarray(total + np.diag(short))

    def free(self, moved: Floats) -> Floats:
        """Degrees of freedom of each part's variance."""
        found = [self._free(moved, np.ones(len(self.group), bool))]
        groups = [self.group == number for number in (0, 1)]
        each = [self._squares(moved * chosen) for chosen in groups]
        known = [self._free(moved, chosen) for chosen in groups]
        below = sum(square**2 / free for square, free in zip(each, known, strict=True))
        whole = sum(each)
        found.append(_ratio(np.square(whole), np.asarray(below)))
        return np.asarray(np.maximum(np.min(found, axis=0), 1.0))

    def _squares(self, moved: Floats) -> Floats:
        if self.clusters:
            chosen = min(self.clusters, key=lambda codes: int(codes.max(initial=0)))
            return np.asarray(np.square(self._units(moved, (chosen,))).sum(axis=1))
        return np.asarray((moved**2 * self.squares).sum(axis=1))

    def _free(self, moved: Floats, chosen: NDArray[np.bool_]) -> Floats:
        """Those of some entries: by how many units there are, and by how few carry the variance."""
        moved = moved[:, chosen]
        if self.replicates is not None:
            return np.full(len(moved), max(len(self.scale) - 1.0, 1.0))
        if self.clusters:
            codes = min(self.clusters, key=lambda codes: int(codes.max(initial=0)))[chosen]
            kept, again = np.unique(codes, return_inverse=True)
            units = _added(moved * self.weight[chosen], again, len(kept))
            number, second = float(len(kept)), np.square(units).sum(axis=1)
            fourth = (units**4).sum(axis=1)
        else:
            single = moved**2 * self.squares[chosen] / np.maximum(self.rows[chosen], 1.0)
            number = float(self.rows[chosen].sum())
            second = single @ self.rows[chosen]
            fourth = single**2 @ self.rows[chosen]
        few = _ratio(fourth, second**2) - 1 / max(number, 1.0)
        return np.asarray(np.clip(2 / np.maximum(few, 1e-12), 1.0, max(number - 1, 1.0)))

    def _units(self, moved: Floats, clusterings: tuple[Codes, ...]) -> Floats:
        """What whole clusters move; of several clusterings, rows that share all of them."""
        first, *others = clusterings
        codes = np.unique(first, return_inverse=True)[1]
        for more in others:
            codes = codes * (int(more.max(initial=0)) + 1) + more
            codes = np.unique(codes, return_inverse=True)[1]
        return _added(moved * self.weight, codes, int(codes.max(initial=-1)) + 1)


def lent(rows: Floats) -> Floats:
    """By how much of a single row's variance that of a mean of n rows may be short."""
    few = LENT_ROWS / np.maximum(rows * (rows + LENT_ROWS), 1e-300)
    return np.asarray(np.where(rows > 0, few, 0.0))


def _added(values: Floats, codes: Codes, size: int) -> Floats:
    return np.array([np.bincount(codes, row, size) for row in values])


def _ratio(above: Floats, below: Floats) -> Floats:
    known = np.asarray(below) > 0
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), 1e9), where=known))


def reach(covariance: Floats, free: Floats, error: float) -> float:
    """How many standard errors all of several values lie within at once, with this chance of error.

    By simulation from their correlations (Student's, of the fewest degrees of freedom), with draws
    that are always the same: the Monte-Carlo error is less than one in a hundred.

    >>> round(reach(np.eye(1), np.array([1e9]), 0.05), 1)
    2.0
    """
    from scipy.special import stdtrit

    spread = np.sqrt(np.diagonal(covariance))
    seen = spread > 0
    fewest = float(np.min(free, initial=1e9))
    single = float(-stdtrit(fewest, error / 2))
    if seen.sum() < 2:
        return single
    correlation = covariance[np.ix_(seen, seen)] / np.outer(spread[seen], spread[seen])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    random = np.random.default_rng(0)
    draws = random.standard_normal((DRAWS, len(root))) @ root.T
    draws /= np.sqrt(random.chisquare(min(fewest, 1e6), (DRAWS, 1)) / min(fewest, 1e6))
    return max(float(np.quantile(np.abs(draws).max(axis=1), 1 - error)), single)


DRAWS = 20_000
