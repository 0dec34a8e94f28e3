"""What is known of every group: its value, and how far other values are from the data.

A *confidence curve* of a group says, for each signed distance z in standard errors, which true
value lies that far from what was observed: z = −1.96 and 1.96 are the ends of its 95% interval.
The curves of independent groups combine: the sum of their squared distances is about chi-squared.
Everything that intervals need of the data is in these curves, whatever the statistic is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._uncertainty.influence import Known
from evenhand.statistics import Table

Floats = NDArray[np.float64]
Exact = Callable[[float], tuple[Floats, Floats]]

STEP = 0.25
FARTHEST = 9.0
DISTANCES = np.arange(-FARTHEST, FARTHEST, STEP) + STEP / 2  # none is 0: there a curve may jump
MOST_BENT = 1.0  # skewness over the root of the rows that brings a limit nearer
CAUTION = 0.25  # between Jeffreys' (0) and Clopper and Pearson's (0.5) limits of a rate


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values (cells, groups), and their confidence curves (distances, cells, groups).

    `strata` says which cells are read from the same rows; cells of different strata are
    independent. `looks` is how many independent cells those of a stratum amount to. `exact` gives
    bounds of single values that hold with the stated error, proved for finitely many rows where
    the statistic is a rate; it is a partial of a module's function, so that it can be pickled.
    `counts` are hits and rows where it is a function of a rate, and `is_weighted` says whether
    those are not rows but what weighted ones amount to. Curves and `exact` are those of groups
    beside each other; where they share clusters, a group `alone` has other bounds. `free` are the
    degrees of freedom of a rate's limits, where these are not exact.
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
    alone: Exact | None = None
    free: Floats | None = None

    @cached_property
    def simultaneous(self) -> dict[float, tuple[Floats, Floats]]:
        """Bounds of all values at once (Šidák), by their common error; made when asked for."""
        return {}

    @cached_property
    def located(self) -> dict[tuple[bool, bool], Any]:
        """The cells as measures want them, with the common value of each; made when asked for."""
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
        if self.alone is not None:
            return self.alone(1 - confidence)
        return self.exact(1 - confidence) if self.proved else read_off(self.curves, 1 - confidence)


def read_off(curves: Floats, error: float) -> tuple[Floats, Floats]:
    """Bounds that err so often, as the curves have them."""
    from scipy.special import ndtri

    reach = float(-ndtri(error / 2))
    return curve_at(curves, -reach), curve_at(curves, reach)


def curve_at(curves: Floats, distance: float) -> Floats:
    """The values at one signed distance."""
    place = np.clip((distance - DISTANCES[0]) / STEP, 0, len(DISTANCES) - 1)
    below = min(int(place), len(DISTANCES) - 2)
    part = place - below
    return np.asarray((1 - part) * curves[below] + part * curves[below + 1])


def rate_curves(hits: Floats, sizes: Floats, free: Floats | None = None) -> Floats:
    """Limits of rates by quantiles of beta distributions, a little wider than Jeffreys'."""
    from scipy.special import betaincinv, ndtr

    pairs, places = np.unique(hits + 1j * sizes, return_inverse=True)  # small counts often repeat
    if free is None and len(pairs) < hits.size:
        return rate_curves(pairs.real, pairs.imag)[:, places.reshape(hits.shape)]
    z = DISTANCES.reshape(-1, *(1,) * hits.ndim)
    if free is not None:
        z = stretched(z, free)
    shift = np.sign(z) * CAUTION
    limits = betaincinv(hits + 0.5 + shift, sizes - hits + 0.5 - shift, ndtr(z))
    limits = np.where(np.isfinite(limits), limits, np.where(z < 0, 0.0, 1.0))  # in the far tails
    limits = np.where((hits <= 0) & (z < 0), 0.0, np.where((hits >= sizes) & (z > 0), 1.0, limits))
    return np.asarray(np.where(sizes > 0, limits, np.nan))


def stretched(z: Floats, free: Floats) -> Floats:
    """The distances that Student's t exceeds as seldom as a normal variable exceeds these."""
    from scipy.special import ndtr, stdtrit

    tail = np.maximum(ndtr(-np.abs(z)), 1e-280)
    return np.asarray(-np.sign(z) * stdtrit(free, tail))


def widened(free: Floats) -> Floats:
    """How much farther Student's 95% limits are than normal ones."""
    from scipy.special import ndtri, stdtrit

    return np.asarray(stdtrit(free, 0.025) / ndtri(0.025))


def student_limits(
    table: Table,
    center: Floats,
    known: Known,
    bounds: tuple[float, float],
    alone: Known | None = None,
) -> Estimates:
    """Student's limits, bent by the skewness of a row over the root of the rows.

    A mean of skewed rows is more often too small than too large, with too small an error. Hall's
    cubic transformation of Student's t (1992, Journal of the Royal Statistical Society B 54)
    removes that: limits are farther on the side of the tail, and nearer on the other one, but no
    nearer than expansions in the skewness can say. What is known of each group `alone` may differ.
    """
    at = partial(_bent_limits, center=center, bounds=bounds)
    curves = at(DISTANCES.reshape(-1, *(1,) * center.ndim), known=known)
    curves = np.where(np.isnan(center), np.nan, curves)
    strata, looks = np.zeros(len(table.cells), np.intp), float(max(len(table.cells) - 1, 1))
    ends = partial(both_limits, partial(at, known=known))
    single = None if alone is None else partial(both_limits, partial(at, known=alone))
    return Estimates(
        *(table.values, curves, table.cells, table.groups, known.free + 1, strata, looks, ends),
        alone=single,
    )


def _bent_limits(z: Floats, *, center: Floats, known: Known, bounds: tuple[float, float]) -> Floats:
    """Means that are z standard errors from those observed, by Student's t and Hall's bend."""
    reach = stretched(z, known.free)
    skew = known.skew if known.skew_above is None else np.where(z < 0, known.skew, known.skew_above)
    by = np.where(skew != 0, np.clip(skew, -MOST_BENT, MOST_BENT), 1.0)
    nearer = np.where(skew != 0, 3 / by * (1 - np.cbrt(1 - by * reach)), reach)
    # Toward the tail Hall's cube has no end; there its series is taken as far as skewness goes.
    bent = np.where(skew * reach > 0, reach + skew * reach**2 / 3, nearer) * known.error
    if known.growth is not None and known.usual is not None:
        least = _supposed_reach(reach, known.error, known.growth, known.usual)
        bent = np.where(known.growth * reach > 0, np.sign(reach) * np.fmax(abs(bent), least), bent)
    return np.asarray(np.clip(center + bent, *bounds))


def _supposed_reach(reach: Floats, error: Floats, growth: Floats, usual: Floats) -> Floats:
    """How far away a value is at a distance in errors, with the error that it would have itself.

    δ² = z² (e² + g δ), as that of Wilson's limits of a rate, but no error above the usual one.
    """
    half = reach**2 * np.abs(growth) / 2
    return np.minimum(half + np.sqrt(half**2 + (reach * error) ** 2), np.abs(reach) * usual)


def both_limits(at: Callable[[Floats], Floats], error: float) -> tuple[Floats, Floats]:
    from scipy.special import ndtri

    reach = np.asarray(-ndtri(error / 2))
    return at(-reach), at(reach)
