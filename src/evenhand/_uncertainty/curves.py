"""Estimates of a statistic by group, with their confidence curves.

A group's *confidence curve* gives, for each signed distance z in standard errors, the true value
that is that far from the observed one: z = −1.96 and 1.96 are the ends of its 95% interval. The
curves of independent groups combine: the sum of their squared distances is about chi-squared.
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
from evenhand._uncertainty.influence import ErrorEstimates
from evenhand.statistics import Table

Floats = NDArray[np.float64]
Exact = Callable[[float], tuple[Floats, Floats]]

STEP = 0.25
FARTHEST = 9.0
DISTANCES = np.arange(-FARTHEST, FARTHEST, STEP) + STEP / 2  # none is 0, where a curve may jump
MOST_BENT = 1.0  # the largest skewness over the root of the rows that moves a limit inward
CAUTION = 0.25  # between Jeffreys' (0) and Clopper and Pearson's (0.5) limits of a rate


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values (cells, groups), and their confidence curves (distances, cells, groups).

    `strata` says which cells are read from the same rows; cells of different strata are
    independent. `looks` is the effective number of independent cells in a stratum. `exact` gives
    bounds of single values that hold with the stated error, proved for finitely many rows where
    the statistic is a rate; it is a partial of a module's function, so that it can be pickled.
    `counts` are hits and rows where it is a function of a rate, and `is_weighted` says whether
    those are effective numbers of weighted rows. Curves and `exact` are for comparing groups with
    each other; where groups share clusters, the bounds of a group `alone` differ. `free` are the
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
        """Simultaneous bounds of all values (Šidák), cached by their common error."""
        return {}

    @cached_property
    def located(self) -> dict[tuple[bool, bool], Any]:
        """The cells as measures need them, with the common value of each; a cache."""
        return {}

    def all_at_once(self, error: float) -> tuple[Floats, Floats]:
        """Bounds of every value that hold simultaneously for all cells and groups."""
        if error not in self.simultaneous:
            number = max(int(np.isfinite(self.values).sum()), 1)
            self.simultaneous[error] = self.exact(1 - (1 - error) ** (1 / number))
        return self.simultaneous[error]

    @property
    def proved(self) -> bool:
        """Whether the exact bounds are proved: those of a rate, or of a function of one."""
        return self.counts is not None

    def single(self, confidence: float) -> tuple[Floats, Floats]:
        """Lower and upper limits of every single value, exact ones for a rate."""
        if self.alone is not None:
            return self.alone(1 - confidence)
        return self.exact(1 - confidence) if self.proved else read_off(self.curves, 1 - confidence)


def read_off(curves: Floats, error: float) -> tuple[Floats, Floats]:
    """Bounds with this two-sided error, read from the curves."""
    from scipy.special import ndtri

    reach = float(-ndtri(error / 2))
    return curve_at(curves, -reach), curve_at(curves, reach)


def curve_at(curves: Floats, distance: float) -> Floats:
    """The values at a signed distance."""
    place = np.clip((distance - DISTANCES[0]) / STEP, 0, len(DISTANCES) - 1)
    below = min(int(place), len(DISTANCES) - 2)
    part = place - below
    return np.asarray((1 - part) * curves[below] + part * curves[below + 1])


def rate_curves(hits: Floats, sizes: Floats, free: Floats | None = None) -> Floats:
    """Confidence curves of rates, from beta quantiles: a little wider than Jeffreys' limits."""
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
    """The quantiles of Student's t with the tail probabilities of these normal quantiles."""
    from scipy.special import ndtr, stdtrit

    tail = np.maximum(ndtr(-np.abs(z)), 1e-280)
    return np.asarray(-np.sign(z) * stdtrit(free, tail))


def widened(free: Floats) -> Floats:
    """The ratio of Student's 95% limits to normal ones."""
    from scipy.special import ndtri, stdtrit

    return np.asarray(stdtrit(free, 0.025) / ndtri(0.025))


def student_limits(
    table: Table,
    center: Floats,
    errors: ErrorEstimates,
    bounds: tuple[float, float],
    single_errors: ErrorEstimates | None = None,
) -> Estimates:
    """Student's limits, corrected for the skewness of a row over the root of the rows.

    A mean of skewed rows is more often too small than too large, with too small an error. Hall's
    cubic transformation of Student's t (1992, Journal of the Royal Statistical Society B 54)
    removes that: limits are farther out on the side of the tail and nearer on the other, but no
    nearer than the expansion in the skewness is valid. `single_errors` are for groups by
    themselves, where these differ.
    """
    limits = partial(_bent_limits, center=center, bounds=bounds)
    curves = limits(DISTANCES.reshape(-1, *(1,) * center.ndim), errors=errors)
    curves = np.where(np.isnan(center), np.nan, curves)
    strata, looks = np.zeros(len(table.cells), np.intp), float(max(len(table.cells) - 1, 1))
    ends = partial(both_limits, partial(limits, errors=errors))
    single_bounds = (
        None
        if single_errors is None
        else partial(both_limits, partial(limits, errors=single_errors))
    )
    return Estimates(
        *(table.values, curves, table.cells, table.groups, errors.free + 1, strata, looks, ends),
        alone=single_bounds,
    )


def _bent_limits(
    z: Floats, *, center: Floats, errors: ErrorEstimates, bounds: tuple[float, float]
) -> Floats:
    """Means that are z standard errors from those observed, by Student's t and Hall's transform."""
    reach = stretched(z, errors.free)
    skew = (
        errors.skew
        if errors.skew_above is None
        else np.where(z < 0, errors.skew, errors.skew_above)
    )
    bend = np.where(skew != 0, np.clip(skew, -MOST_BENT, MOST_BENT), 1.0)
    nearer = np.where(skew != 0, 3 / bend * (1 - np.cbrt(1 - bend * reach)), reach)
    # Toward the tail Hall's cubic diverges; there its series is cut off after the first term.
    bent = np.where(skew * reach > 0, reach + skew * reach**2 / 3, nearer) * errors.error
    if errors.growth is not None and errors.ceiling is not None:
        supposed = _supposed_reach(reach, errors.error, errors.growth, errors.ceiling)
        bent = np.where(
            errors.growth * reach > 0, np.sign(reach) * np.fmax(abs(bent), supposed), bent
        )
    return np.asarray(np.clip(center + bent, *bounds))


def _supposed_reach(reach: Floats, error: Floats, growth: Floats, largest: Floats) -> Floats:
    """The distance δ of a value that is `reach` of its own standard errors away.

    δ² = z² (e² + g δ), as in Wilson's limits of a rate, but no error is above the largest.
    """
    half = reach**2 * np.abs(growth) / 2
    return np.minimum(half + np.sqrt(half**2 + (reach * error) ** 2), np.abs(reach) * largest)


def both_limits(at: Callable[[Floats], Floats], error: float) -> tuple[Floats, Floats]:
    """Lower and upper limits with this two-sided error, from limits by signed distance."""
    from scipy.special import ndtri

    reach = np.asarray(-ndtri(error / 2))
    return at(-reach), at(reach)
