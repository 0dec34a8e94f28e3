"""Null models of counts: in every group, outcomes given what the criterion conditions on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand._data.areas import RankedScores
from evenhand._data.distributions import Distribution
from evenhand._data.tallies import Axis, Tally
from evenhand._errors import InputError
from evenhand._uncertainty.areas import fair_errors
from evenhand.criteria import Criterion, Settings
from evenhand.statistics import Table
from evenhand.statistics.arithmetic import ratio
from evenhand.statistics.sums import SIGNED

Floats = NDArray[np.float64]


class Model(Protocol):
    """A model that redraws outcomes, with group sizes fixed."""

    @property
    def observed(self) -> Floats:
        """The observed shares or means (given, groups, outcomes)."""

    @property
    def pooled(self) -> Floats:
        """The common shares or means if all groups are equal (given, 1, outcomes)."""

    def expected(self, truth: Floats) -> Table:
        """The table of statistics at true shares or means."""

    def draw(self, truth: Floats, times: int, rng: np.random.Generator) -> Iterator[Table]:
        """Simulated tables (replicates, cells, groups), some replicates at a time."""


def shares(counts: NDArray[Any]) -> Floats:
    """Shares along the last axis; equal ones where nothing was observed."""
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=even, where=total > 0))


COUNTS_AT_A_TIME = 1 << 22
PRIOR_ROWS = 2.0
LARGE_VARIANCE = 400.0


@dataclass(frozen=True, eq=False)
class Counts:
    """Observed counts (given, groups, outcomes), and the function that reads them as a table.

    Weighted rows have Kish's effective size (Σ w)² / Σ w².
    """

    counts: NDArray[Any]
    sizes: NDArray[np.int64]
    read: Callable[[NDArray[Any]], Table]

    @cached_property
    def observed(self) -> Floats:
        """Shares of the outcomes in each group."""
        return shares(self.counts)

    @cached_property
    def pooled(self) -> Floats:
        """Shares of the outcomes over all groups."""
        return shares(self.counts.sum(axis=1, keepdims=True))

    def expected(self, truth: Floats) -> Table:
        """The table of the expected counts."""
        return self.read(truth * self.sizes[..., None])

    def draw(self, truth: Floats, times: int, rng: np.random.Generator) -> Iterator[Table]:
        """Tables of multinomial counts."""
        size = max(1, COUNTS_AT_A_TIME // self.counts.size)
        for start in range(0, times, size):
            yield self.read(_drawn(self.sizes, truth, min(size, times - start), rng))


def counts_of(tally: Tally, criterion: Criterion, favorable: Any = None) -> Counts:
    """The counts of a tally, with what the criterion conditions on fixed."""
    fixed = criterion.statistic.conditions
    free = sorted({*criterion.statistic.axes} - {*fixed})
    axes = tuple(tally.axis(name) for name in (*fixed, "group", *free))
    names = [axis.name for axis in axes]
    shape = (-1, len(tally.groups), prod(axis.size for axis in axes[len(fixed) + 1 :]))
    rows = _whole_rows(tally.table(*names, of="rows").reshape(shape))
    if "weight" in tally.sums:
        counts = tally.table(*names).reshape(shape)
        squares = tally.table(*names, of="weight²").reshape(shape)
        sizes = effective(counts.sum(axis=-1), squares.sum(axis=-1))
    else:
        counts, sizes = rows.astype(np.float64), rows.sum(axis=-1)
    return Counts(counts, sizes, lambda drawn: criterion.table(_tally(axes, drawn), favorable))


def effective(weight: Floats, squares: Floats) -> NDArray[np.int64]:
    """Effective numbers of equally weighted rows, rounded."""
    return np.rint(effective_rows(weight, squares)).astype(np.int64)


def effective_rows(weight: Floats, squares: Floats) -> Floats:
    """Kish's (Σ w)² / Σ w²; none where nothing was observed."""
    return np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)


def _drawn(sizes: NDArray[np.int64], truth: Floats, times: int, rng: np.random.Generator) -> Floats:
    """Multinomial counts (times, given, groups, outcomes), or normal ones where all are large."""
    many = (_variance(sizes, truth) > LARGE_VARIANCE).all(axis=-1)
    if many.all():
        return _normal(sizes, truth, times, rng)
    counts, small = np.empty((times, *truth.shape)), ~many
    counts[:, small] = _multinomial(sizes[small], truth[small], times, rng)
    if many.any():
        counts[:, many] = _normal(sizes[many], truth[many], times, rng)
    return counts


def _variance(sizes: NDArray[np.int64], truth: Floats) -> Floats:
    return np.asarray(sizes[..., None] * truth * (1 - truth))


def _multinomial(
    sizes: NDArray[np.int64], truth: Floats, times: int, rng: np.random.Generator
) -> Floats:
    """Counts (times, groups, outcomes); outcomes that are rare in some group are drawn exactly."""
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


def _whole_rows(rows: Floats) -> NDArray[np.int64]:
    if (rows != np.rint(rows)).any():
        raise InputError(
            "This needs whole rows, and an expected tally has shares of them. "
            "Draw the labels, and count those."
        )
    return rows.astype(np.int64)


def _tally(axes: tuple[Axis, ...], counts: NDArray[Any]) -> Tally:
    """A tally of counts (…, given, groups, outcomes)."""
    shape = [axis.size for axis in axes]
    cells = np.array(np.unravel_index(np.arange(prod(shape)), shape), dtype=np.intp)
    return Tally(axes, cells, {"rows": counts.reshape(*counts.shape[:-3], -1)})


@dataclass(frozen=True, eq=False)
class Means:
    """Observed means (cells, groups, 1) with errors, and the function reading them as a table."""

    observed: Floats
    sizes: Floats
    errors: Floats
    lowest: float
    read: Callable[[Floats], Table]

    @cached_property
    def pooled(self) -> Floats:
        """The mean over all rows."""
        weight = self.sizes[..., None]
        return np.asarray(
            ratio((self.observed * weight).sum(1, keepdims=True), weight.sum(1, keepdims=True))
        )

    def expected(self, truth: Floats) -> Table:
        """The table of the means."""
        return self.read(truth)

    def draw(self, truth: Floats, times: int, rng: np.random.Generator) -> Iterator[Table]:
        """Tables of normal means."""
        noise = rng.standard_normal((times, *truth.shape))
        yield self.read(np.maximum(truth + self.errors * noise, self.lowest))


def means_of(sums: Tally, criterion: Criterion, favorable: Any = None) -> Means:
    """Means by group; of several sums only the first varies."""
    names, below = criterion.statistic.means, criterion.statistic.relative_to
    weight = sums.table("group")
    mean = np.nan_to_num(ratio(sums.table("group", of=names[0]), weight))
    square = np.nan_to_num(ratio(sums.table("group", of=f"{names[0]}²"), weight))
    squares = sums.table("group", of="weight²") if "weight²" in sums.sums else weight
    sizes = np.nan_to_num(ratio(weight**2, squares))
    fixed_names = names[1:] if below is None else (below,)
    fixed = {name: sums.table("group", of=name) for name in fixed_names}
    cells = np.arange(len(weight), dtype=np.intp)[None]

    def read(means: Floats) -> Table:
        drawn = means[..., 0, :, 0]
        totals = {"rows": weight, names[0]: drawn * weight, **fixed}
        replicate = Tally(
            (sums.axis("group"),),
            cells,
            {name: np.broadcast_to(total, drawn.shape) for name, total in totals.items()},
        )
        return criterion.table(replicate, favorable)

    lowest = -np.inf if names[0] in SIGNED else 0.0
    return Means(mean[None, :, None], sizes[None], _errors(mean, square, sizes), lowest, read)


def _errors(mean: Floats, square: Floats, sizes: Floats) -> Floats:
    """Errors of the means, with two prior rows of the pooled variance."""
    variance = np.maximum(square - mean**2, 0.0)
    pooled = (variance * sizes).sum() / sizes.sum()
    steadied = (variance * sizes + PRIOR_ROWS * pooled) / np.maximum(sizes - 1 + PRIOR_ROWS, 1.0)
    return np.asarray(np.sqrt(steadied / np.maximum(sizes, 1.0)))[None, :, None]


def areas_of(scores: RankedScores, criterion: Criterion, favorable: Any = None) -> Means:
    """Areas under the ROC curve with the errors of a common area; undefined ones are left out."""
    table = criterion.table(scores, favorable)
    undefined = np.isnan(table.values)
    errors = np.where(undefined, np.nan, fair_errors(scores, table))
    observed = np.where(undefined, 0.0, table.values)[..., None]
    rows = np.where(undefined, 0.0, 1 / np.maximum(errors, 1e-12) ** 2)

    def read(means: Floats) -> Table:
        values: Any = np.where(undefined, np.nan, np.clip(means[..., 0], 0.0, 1.0))
        return Table(values, table.cells, table.groups)

    return Means(observed, rows, np.nan_to_num(errors)[..., None], 0.0, read)


MOST_CUTS, LEAST_CUTS, MOST_CELLS = 64, 20, 1280


def cuts_of(scores: Distribution) -> tuple[Counts, Floats]:
    """Counts of rows between cut points, which are quantiles and evenly spaced; and the points."""
    groups = len(scores.groups)
    number = int(np.clip(MOST_CELLS // groups, LEAST_CUTS, MOST_CUTS))
    mass = np.cumsum(scores.row_weights)
    places = np.searchsorted(mass, np.linspace(0, mass[-1], number // 2 + 1)[1:-1])
    spaced = np.linspace(scores.values[0], scores.values[-1], number // 2 + 1)[1:-1]  # for tails
    edges = np.unique(np.concatenate([scores.values[places], spaced]))
    bins = np.searchsorted(edges, scores.values, side="left")
    key = scores.codes.astype(np.intp) * (len(edges) + 1) + bins
    shape = (1, groups, len(edges) + 1)
    table = np.bincount(key, scores.weights, minlength=groups * shape[-1]).reshape(shape)
    sizes = table.sum(axis=-1)
    if scores.weights is not None:
        squared_weights = scores.weights**2 if scores.squares is None else scores.squares
        squares = np.bincount(scores.codes, squared_weights, minlength=groups)[None]
        sizes = effective(sizes, squares.astype(np.float64))

    def read(counts: NDArray[Any]) -> Table:
        below = np.cumsum(counts[..., 0, :, :], axis=-1)
        total = below[..., -1:]
        levels = np.full(below.shape, np.nan)
        np.divide(below, total, out=levels, where=total > 0)
        values = np.moveaxis(levels[..., :-1], -1, -2)
        return Table(values, tuple(edges.tolist()), scores.groups)

    return Counts(table, sizes.astype(np.int64), read), edges


def across_cuts(settings: Settings, model: Counts, edges: Floats, span: Floats) -> Settings:
    """Settings that take the measure's supremum or integral over the cut points."""
    if settings.aggregate == "integral":
        ends = np.concatenate([span[:1], (edges[1:] + edges[:-1]) / 2, span[1:]])
        widths = np.diff(ends)
        return replace(settings, aggregate=lambda cells: cells @ widths)
    settings = settings.for_supremum()
    allowed = np.cumsum(model.pooled[0, 0])[:-1] >= (settings.tau or 0.0)
    return replace(settings, aggregate=lambda cells: cells[..., allowed].max(axis=-1), tau=None)


def hits_of(bins: Tally, criterion: Criterion, favorable: Any = None) -> Counts:
    """Hits and misses in every bin of the score, with the scores fixed."""
    weight = bins.table("bin", "group")
    hits = bins.table("bin", "group", of="hits")
    squares = bins.table("bin", "group", of="weight²") if "weight²" in bins.sums else weight
    sizes = effective(weight, squares)
    table = np.stack([weight - hits, hits], axis=-1)
    score = bins.table("bin", "group", of="score")
    mean = np.divide(score, weight, out=np.zeros_like(score), where=weight > 0)
    axes = tuple(bins.axis(name) for name in ("bin", "group"))
    cells = np.array(np.unravel_index(np.arange(weight.size), weight.shape), dtype=np.intp)

    def read(counts: NDArray[Any]) -> Table:
        rows = counts.sum(axis=-1)
        sums = {"rows": rows, "hits": counts[..., 1], "score": mean * rows}
        flat = {name: part.reshape(*part.shape[:-2], -1) for name, part in sums.items()}
        return criterion.table(Tally(axes, cells, flat), favorable)

    return Counts(table, sizes, read)
