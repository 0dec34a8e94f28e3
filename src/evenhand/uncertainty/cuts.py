"""Distributions as counts: rows below a number of cut points, and hits in bins of the score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.criteria.how import How
from evenhand.distributions import Distribution
from evenhand.statistics import Table
from evenhand.tally import Tally
from evenhand.uncertainty.counts import Counts, effective
from evenhand.uncertainty.model import Floats

MOST_CUTS, LEAST_CUTS, MOST_CELLS = 64, 20, 1280


def cuts_of(scores: Distribution) -> tuple[Counts, Floats]:
    """Counts of the rows between cut points, at quantiles and evenly spaced; and those points."""
    groups = len(scores.groups)
    number = int(np.clip(MOST_CELLS // groups, LEAST_CUTS, MOST_CUTS))
    mass = np.cumsum(np.ones(len(scores)) if scores.weights is None else scores.weights)
    at = np.searchsorted(mass, np.linspace(0, mass[-1], number // 2 + 1)[1:-1])
    spaced = np.linspace(scores.values[0], scores.values[-1], number // 2 + 1)[1:-1]  # for tails
    edges = np.unique(np.concatenate([scores.values[at], spaced]))
    bins = np.searchsorted(edges, scores.values, side="left")
    key = scores.codes.astype(np.intp) * (len(edges) + 1) + bins
    shape = (1, groups, len(edges) + 1)
    table = np.bincount(key, scores.weights, minlength=groups * shape[-1]).reshape(shape)
    sizes = table.sum(axis=-1)
    if scores.weights is not None:
        each = scores.weights**2 if scores.squares is None else scores.squares
        squares = np.bincount(scores.codes, each, minlength=groups)[None]
        sizes = effective(sizes, squares.astype(np.float64))

    def read(counts: NDArray[Any]) -> Table:
        below = np.cumsum(counts[..., 0, :, :], axis=-1)
        total = below[..., -1:]
        levels = np.full(below.shape, np.nan)
        np.divide(below, total, out=levels, where=total > 0)
        values = np.moveaxis(levels[..., :-1], -1, -2)
        return Table(values, tuple(edges.tolist()), scores.groups)

    return Counts(table, sizes.astype(np.int64), read), edges


def across_cuts(how: How, model: Counts, edges: Floats, span: Floats) -> How:
    """How the measure is taken over the cut points: supremum or integral, as sums of cells."""
    if how.aggregate == "integral":
        ends = np.concatenate([span[:1], (edges[1:] + edges[:-1]) / 2, span[1:]])
        widths = np.diff(ends)
        return replace(how, aggregate=lambda cells: cells @ widths)
    how = how.for_supremum()
    kept = np.cumsum(model.pooled[0, 0])[:-1] >= (how.tau or 0.0)
    return replace(how, aggregate=lambda cells: cells[..., kept].max(axis=-1), tau=None)


def hits_of(bins: Tally, asked: Criterion, favourable: Any = None) -> Counts:
    """Hits and misses in every bin of the score; the scores stay as they are."""
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
        return asked.table(Tally(axes, cells, flat), favourable)

    return Counts(table, sizes, read)
