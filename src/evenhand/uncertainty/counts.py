"""Rows counted in cells: in every group, outcomes given what the criterion conditions on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.statistics import Average, P, Ratio, Statistic, Table
from evenhand.tally import Axis, Tally
from evenhand.uncertainty.model import Floats, shares

COUNTS_AT_A_TIME = 1 << 22
PRIOR_ROWS = 2.0
LARGE_VARIANCE = 400.0
BY_TRUTH = ({"tp", "fn"}, {"fp", "tn"})
BY_PREDICTION = ({"tp", "fp"}, {"tn", "fn"})


@dataclass(frozen=True, eq=False)
class Counts:
    """Observed counts (given, groups, outcomes), and how counts are read as a table.

    Weighted rows count as many as would vary as much: (Σ w)² / Σ w² (Kish's effective size).
    """

    counts: NDArray[Any]
    sizes: NDArray[np.int64]
    read: Callable[[NDArray[Any]], Table]

    @cached_property
    def seen(self) -> Floats:
        """Shares of the outcomes in each group."""
        return shares(self.counts)

    @cached_property
    def lent(self) -> Floats:
        """Shares with two pooled rows more in each group."""
        return shares(self.seen * self.sizes[..., None] + PRIOR_ROWS * self.pooled)

    @cached_property
    def pooled(self) -> Floats:
        """Shares of the outcomes over all groups."""
        return shares(self.counts.sum(axis=1, keepdims=True))

    @cached_property
    def noise(self) -> Floats:
        """Standard errors of multinomial shares."""
        variance = self.pooled * (1 - self.pooled) / np.maximum(self.sizes, 1)[..., None]
        return np.asarray(np.sqrt(variance) + 1e-12)

    def settled(self, wished: Floats) -> Floats:
        """Shares: not negative, and 1 in all."""
        return shares(np.maximum(wished, 0.0))

    def expected(self, truth: Floats) -> Table:
        """The table of the expected counts."""
        return self.read(truth * self.sizes[..., None])

    def draw(self, truth: Floats, times: int, rng: np.random.Generator) -> Iterator[Table]:
        """Tables of multinomial counts."""
        size = max(1, COUNTS_AT_A_TIME // self.counts.size)
        for start in range(0, times, size):
            yield self.read(_drawn(self.sizes, truth, min(size, times - start), rng))


def counts_of(tally: Tally, asked: Criterion, favourable: Any = None) -> Counts:
    """Read a tally as draws, with what the criterion conditions on kept as it is."""
    statistic = asked.statistic
    fixed = given(statistic)
    used = {statistic.event, *fixed} if isinstance(statistic, P) else {"y", "yhat"}
    axes = tuple(tally.axis(name) for name in (*fixed, "group", *sorted(used - {*fixed})))
    names = [axis.name for axis in axes]
    shape = (-1, len(tally.groups), prod(axis.size for axis in axes[len(fixed) + 1 :]))
    rows = _whole(tally.table(*names, of="rows").reshape(shape))
    if "weight" in tally.sums:
        counts = tally.table(*names).reshape(shape)
        squares = tally.table(*names, of="weight²").reshape(shape)
        sizes = effective(counts.sum(axis=-1), squares.sum(axis=-1))
    else:
        counts, sizes = rows.astype(np.float64), rows.sum(axis=-1)
    return Counts(counts, sizes, lambda drawn: asked.table(_tally(axes, drawn), favourable))


def given(statistic: Statistic) -> tuple[str, ...]:
    """The axes a statistic conditions on: their counts by group stay as they are."""
    if isinstance(statistic, Average):
        return given(statistic.one)
    if isinstance(statistic, P):
        return (statistic.given,) if statistic.given else ()
    if isinstance(statistic, Ratio) and statistic.denominator.keys() in BY_TRUTH:
        return ("y",)
    if isinstance(statistic, Ratio) and statistic.denominator.keys() in BY_PREDICTION:
        return ("yhat",)
    return ()


def effective(weight: Floats, squares: Floats) -> NDArray[np.int64]:
    """How many equally weighted rows vary as much, in whole rows."""
    return np.rint(effective_rows(weight, squares)).astype(np.int64)


def effective_rows(weight: Floats, squares: Floats) -> Floats:
    """Kish's (Σ w)² / Σ w²; none where nothing was observed."""
    return np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)


def _drawn(sizes: NDArray[np.int64], truth: Floats, times: int, rng: np.random.Generator) -> Floats:
    """Multinomial counts (times, given, groups, outcomes); normal ones where all are many."""
    many = (_variance(sizes, truth) > LARGE_VARIANCE).all(axis=-1)
    if many.all():
        return _normal(sizes, truth, times, rng)
    counts, few = np.empty((times, *truth.shape)), ~many
    counts[:, few] = _multinomial(sizes[few], truth[few], times, rng)
    if many.any():
        counts[:, many] = _normal(sizes[many], truth[many], times, rng)
    return counts


def _variance(sizes: NDArray[np.int64], truth: Floats) -> Floats:
    return np.asarray(sizes[..., None] * truth * (1 - truth))


def _multinomial(
    sizes: NDArray[np.int64], truth: Floats, times: int, rng: np.random.Generator
) -> Floats:
    """Counts (times, groups, outcomes): outcomes rare in some group exactly, the others normal."""
    rare = (_variance(sizes, truth) <= LARGE_VARIANCE).any(axis=0)
    if np.count_nonzero(~rare) <= 2:
        return rng.multinomial(sizes, truth, size=(times, len(sizes))).astype(np.float64)
    common = truth[:, ~rare].sum(axis=1, keepdims=True)
    exact = shares(np.hstack([truth[:, rare], common]))
    drawn = rng.multinomial(sizes, exact, size=(times, len(sizes)))
    counts = np.empty((times, *truth.shape))
    counts[..., rare] = drawn[..., :-1]
    counts[..., ~rare] = _normal(drawn[..., -1], truth[:, ~rare] / common, times, rng)
    return counts


def _normal(
    sizes: NDArray[np.int64], truth: Floats, times: int, rng: np.random.Generator
) -> Floats:
    """Counts with the means and covariances of multinomial ones, much faster to draw."""
    rows = sizes[..., None].astype(np.float64)
    if truth.shape[-1] == 2:
        noise = rng.standard_normal((times, *truth.shape[:-1]))
        noise *= np.sqrt(rows[..., 0] * truth.prod(axis=-1))
        first = rows[..., 0] * truth[..., 0] + noise
        return np.stack([first, rows[..., 0] - first], axis=-1)
    noise = rng.standard_normal((times, *truth.shape))
    noise *= np.sqrt(truth)
    noise -= truth * noise.sum(axis=-1, keepdims=True)
    noise *= np.sqrt(rows)
    noise += rows * truth
    return noise


def _whole(rows: Floats) -> NDArray[np.int64]:
    if (rows != np.rint(rows)).any():
        raise ValueError(
            "This needs whole rows, and an expected tally has shares of them. "
            "Draw the labels, and count those."
        )
    return rows.astype(np.int64)


def _tally(axes: tuple[Axis, ...], counts: NDArray[Any]) -> Tally:
    """A tally of counts (…, given, groups, outcomes)."""
    shape = [axis.size for axis in axes]
    cells = np.array(np.unravel_index(np.arange(prod(shape)), shape), dtype=np.intp)
    return Tally(axes, cells, {"rows": counts.reshape(*counts.shape[:-3], -1)})
