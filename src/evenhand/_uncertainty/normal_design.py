"""Normal approximations of the simulated samples of `design.py`, within milliseconds.

They serve any statistic with standard errors, and several tests at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from evenhand._uncertainty.curves import Estimates, curve_at
from evenhand._uncertainty.geometry import ANGLES
from evenhand._uncertainty.monte_carlo import DRAWS, ENOUGH, SHARES
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

SEED = 20_000
NULL_DRAWS, QUICK_DRAWS = 1000, 500
WIDEST = 20  # groups with the widest intervals, which determine that of the largest difference


@dataclass(frozen=True, eq=False)
class Stratum:
    """Standardized differences (outcomes, groups) of groups from their common value.

    `weight` is the root of each group's share of the rows; `share` is the common share of each
    outcome, and `roots` are the roots of each group's own shares, by which its counts vary.
    """

    shift: Floats
    weight: Floats
    share: Floats | None = None
    roots: Floats | None = None

    @classmethod
    def of_rates(cls, sizes: Floats, shares: Floats) -> Stratum:
        """The stratum of shares (outcomes, groups), which add up to 1."""
        weight = np.sqrt(sizes / sizes.sum())
        share = np.maximum((shares * weight**2).sum(axis=1, keepdims=True), 1e-12)
        shift = np.sqrt(sizes) * (shares - share) / np.sqrt(share)
        return cls(shift, weight, share, np.sqrt(shares))

    @classmethod
    def of_values(cls, values: Floats, errors: Floats) -> Stratum:
        """The stratum of values with standard errors."""
        weight = (1 / errors) / np.sqrt((errors**-2).sum())
        common = float((weight**2 * values).sum())
        return cls(((values - common) / errors)[None], weight)

    @property
    def free(self) -> int:
        """Degrees of freedom."""
        outcomes, groups = self.shift.shape
        return int(max(outcomes - 1, 1) * (groups - 1))

    def null(self, draws: int) -> tuple[Floats, Floats]:
        """Omnibus statistics and largest contrasts of draws from equal groups."""
        return self._statistics(0.0, self._noise(draws, SEED, is_null=True))

    def drawn(self, factor: float) -> tuple[Floats, Floats]:
        """The same statistics of groups that differ as these do, with `factor` times the rows."""
        return self._statistics(np.sqrt(factor), self._own_noise)

    @cached_property
    def _own_noise(self) -> Floats:
        return self._noise(QUICK_DRAWS, SEED + 1, is_null=False)

    def _noise(self, draws: int, seed: int, is_null: bool) -> Floats:
        """Noise of the shift; with rare outcomes it varies less."""
        noise = np.random.default_rng(seed).standard_normal((draws, *self.shift.shape))
        if self.share is not None and self.roots is not None:
            root = np.sqrt(self.share)
            own_root = root if is_null else self.roots
            noise = (
                own_root * (noise - own_root * (own_root * noise).sum(axis=1, keepdims=True)) / root
            )
        return np.asarray(noise - self.weight * (noise * self.weight).sum(axis=2, keepdims=True))

    def _statistics(self, scale: float, noise: Floats) -> tuple[Floats, Floats]:
        lever = np.maximum(1 - self.weight**2, 1e-9)
        if self.share is not None:
            lever = lever * np.maximum(1 - self.share, 1e-9)
        squares = (scale * self.shift + noise) ** 2
        return squares.sum(axis=(1, 2)), (squares / lever).max(axis=(1, 2))


@dataclass(frozen=True, eq=False)
class NormalModel:
    """A design by normal noise.

    `questions` are the tests, each of several strata. `values` and `errors` (cells, groups) are in
    units of the statistic; for a rate, errors follow from `rates` and `sizes`, since limits of few
    rows are wider.
    """

    questions: tuple[tuple[Stratum, ...], ...]
    values: Floats
    errors: Floats
    sizes: Floats | None = None
    rates: Floats | None = None

    @classmethod
    def of_rates(cls, sizes: Floats, rates: Floats) -> NormalModel:
        """The design of groups of these sizes with these true rates."""
        stratum = Stratum.of_rates(sizes, np.stack([rates, 1 - rates]))
        errors = np.sqrt(rates * (1 - rates) / sizes)
        return cls(((stratum,),), rates[None], errors[None], sizes[None], rates[None])

    @classmethod
    def of_means(cls, means: Floats, errors: Floats) -> NormalModel:
        """The design of groups with these true means and standard errors."""
        return cls(((Stratum.of_values(means, errors),),), means[None], errors[None])

    @classmethod
    def of_estimates(cls, estimates: Estimates) -> NormalModel | None:
        """The design of groups that differ as observed, with errors as if they were equal.

        The observed differences of many groups are mostly noise, which is subtracted.
        """
        errors = (curve_at(estimates.curves, 1.0) - curve_at(estimates.curves, -1.0)) / 2
        defined = np.isfinite(estimates.values) & np.isfinite(errors) & (errors > 0)
        if not (defined.sum(axis=1) >= 2).any():
            return None
        zeros = np.where(defined, 0.0, np.nan)
        if estimates.counts is None:
            questions = [
                (Stratum.of_values(values[groups], error[groups]),)
                for values, error, groups in zip(estimates.values, errors, defined, strict=True)
                if groups.sum() >= 2
            ]
            return cls(tuple(map(_cleared, questions)), zeros, errors)
        hits, sizes = estimates.counts
        rows = np.where(defined, sizes, 0.0)
        shares = np.nan_to_num(ratio(np.where(defined, hits, 0.0), rows))
        tests = tuple(map(_cleared, _questions(shares, rows, estimates.strata)))
        if not np.allclose(shares[defined], estimates.values[defined]):
            return cls(tests, zeros, errors)
        pooled = ratio((shares * rows).sum(axis=1), rows.sum(axis=1))
        rates = np.where(defined, pooled[:, None], np.nan)
        return cls(tests, zeros, errors, np.where(defined, sizes, np.nan), rates)

    def detector(self, level: float) -> Callable[[float], float]:
        """The power of the test as a function of the multiple of the rows."""
        share_of_level = level / len(self.questions)
        limits = [_critical(question, share_of_level) for question in self.questions]

        def detected(factor: float) -> float:
            missed = 1.0
            for question, (square, contrast) in zip(self.questions, limits, strict=True):
                squares, contrasts = _joint([stratum.drawn(factor) for stratum in question])
                missed *= 1 - float(((squares >= square) | (contrasts >= contrast)).mean())
            return 1 - missed

        return detected

    def alike(self, margin: float, confidence: float, factor: float = 1.0) -> float:
        """The probability that the interval of the largest difference ends within the margin."""
        return float((self.upper_ends(confidence, factor) <= margin).mean())

    def upper_ends(self, confidence: float, factor: float = 1.0) -> Floats:
        """Upper limits of the largest difference in any cell, one for each draw."""
        rng = np.random.default_rng(SEED)
        largest = np.zeros(QUICK_DRAWS)
        for values, errors in zip(self.values, self._errors(factor), strict=True):
            widest = np.argsort(-np.nan_to_num(errors))[:WIDEST]
            chosen = widest[np.isfinite(values[widest]) & np.isfinite(errors[widest])]
            if len(chosen) >= 2:
                error = errors[chosen]
                samples = values[chosen] + error * rng.standard_normal((QUICK_DRAWS, len(chosen)))
                limits = partial(_normal_limits, samples, error)
                largest = np.maximum(largest, farthest(limits, confidence, ANGLES[::3]))
        return largest

    def _errors(self, factor: float) -> Floats:
        """Standard errors; those of rates with a hit and a miss added."""
        if self.rates is None or self.sizes is None:
            return np.asarray(self.errors / np.sqrt(factor))
        rows = self.sizes * factor
        steadied = (self.rates * rows + 1) / (rows + 2)
        return np.asarray(np.sqrt(steadied * (1 - steadied) / rows))


def _cleared(question: tuple[Stratum, ...]) -> tuple[Stratum, ...]:
    """The differences, less the average contribution of noise with more than two groups."""
    square = sum(float((stratum.shift**2).sum()) for stratum in question)
    noise = sum(stratum.free for stratum in question) - 1
    part = np.sqrt(max(1 - noise / square, 0.0)) if square > 0 else 0.0
    return tuple(replace(stratum, shift=part * stratum.shift) for stratum in question)


def _critical(question: Sequence[Stratum], level: float) -> tuple[float, float]:
    """The critical values of the omnibus statistic and of the largest contrast."""
    from scipy.special import chdtri

    if level * DRAWS < ENOUGH:  # too few draws beyond: the test uses tail probabilities
        tests = sum(stratum.shift.size for stratum in question)
        free = sum(stratum.free for stratum in question)
        return float(chdtri(free, level * SHARES[0])), float(chdtri(1, level * SHARES[1] / tests))
    null = _joint([stratum.null(NULL_DRAWS) for stratum in question])
    ranks = [NULL_DRAWS - np.argsort(np.argsort(values)) for values in null]
    smallest = np.minimum(
        *(values_of / share for values_of, share in zip(ranks, SHARES, strict=True))
    )
    limit = float(np.quantile(smallest, level, method="lower"))
    square, contrast = (
        float(np.sort(values)[-max(int(limit * share), 1)])
        for values, share in zip(null, SHARES, strict=True)
    )
    return square, contrast


def _normal_limits(values: Floats, errors: Floats, distance: float) -> Floats:
    return values + distance * errors


def _joint(strata: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The statistics of strata that are tested together."""
    squares = np.sum([square for square, _ in strata], axis=0)
    return squares, np.max([contrast for _, contrast in strata], axis=0)


def _questions(
    shares: Floats, sizes: Floats, strata: NDArray[np.intp]
) -> tuple[tuple[Stratum, ...], ...]:
    """The tests: cells of one distribution are outcomes of a stratum, others are separate tests."""
    partitions, single = [], []
    for stratum in np.unique(strata):
        cells = np.flatnonzero(strata == stratum)
        groups = (sizes[cells] > 0).all(axis=0)
        if groups.sum() < 2:
            continue
        part, rows = shares[np.ix_(cells, groups)], sizes[cells[0], groups]
        remaining = 1 - part.sum(axis=0)
        if np.allclose(sizes[np.ix_(cells, groups)], rows) and (remaining > -1e-9).all():
            outcomes = np.vstack([part, np.maximum(remaining, 0.0)[None]])
            partitions.append(Stratum.of_rates(rows, outcomes[outcomes.sum(axis=1) > 1e-9]))
            continue
        for cell in cells:
            present = sizes[cell] > 0
            if present.sum() >= 2:
                pair = np.stack([shares[cell, present], 1 - shares[cell, present]])
                single.append((Stratum.of_rates(sizes[cell, present], pair),))
    return tuple([tuple(partitions)] if partitions else []) + tuple(single)


def farthest(
    limits: Callable[[float], Floats], confidence: float, angles: Floats = ANGLES
) -> Floats:
    """The largest difference within a distance of each draw, over all splits between two groups."""
    from scipy.special import ndtri

    reach = float(-ndtri((1 - confidence) / 2))
    best: Floats | None = None
    for up, down in zip(np.cos(angles).round(12), np.sin(angles).round(12), strict=True):
        high, low = limits(float(reach * up)), limits(float(-reach * down))
        ends = _largest_gap(high, low)
        best = ends if best is None else np.maximum(best, ends)
    assert best is not None
    return best


def _largest_gap(high: Floats, low: Floats) -> Floats:
    """The largest high − low of two different groups."""
    rows = np.arange(len(high))
    top, bottom = high.argmax(axis=1), low.argmin(axis=1)
    highest, lowest = high[rows, top], low[rows, bottom]
    high_others, low_others = high.copy(), low.copy()
    high_others[rows, top], low_others[rows, bottom] = -np.inf, np.inf
    extremes_coincide = np.maximum(
        highest - low_others.min(axis=1), high_others.max(axis=1) - lowest
    )
    return np.asarray(np.where(top != bottom, highest - lowest, extremes_coincide))
