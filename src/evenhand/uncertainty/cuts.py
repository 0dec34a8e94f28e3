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
    """Counts of the rows between cut points at pooled quantiles, and the cut points."""
    groups = len(scores.groups)
    number = int(np.clip(MOST_CELLS // groups, LEAST_CUTS, MOST_CUTS))
    at = np.unique(np.linspace(0, len(scores) - 1, number + 1).astype(np.intp)[1:-1])
    edges = np.unique(scores.values[at])
    bins = np.searchsorted(edges, scores.values, side="left")
    key = scores.codes.astype(np.intp) * (len(edges) + 1) + bins
    shape = (1, groups, len(edges) + 1)
    table = np.bincount(key, scores.weights, minlength=groups * shape[-1]).reshape(shape)
    sizes = table.sum(axis=-1)
    if scores.weights is not None:
        squares = np.bincount(scores.codes, scores.weights**2, minlength=groups)[None]
        sizes = effective(sizes, squares.astype(np.float64))

    def read(counts: NDArray[Any]) -> Table:
        below = np.cumsum(counts[..., 0, :, :], axis=-1)
        total = below[..., -1:]
        levels = np.full(below.shape, np.nan)
        np.divide(below, total, out=levels, where=total > 0)
        values = np.moveaxis(levels[..., :-1], -1, -2)
        return Table(values, tuple(edges.tolist()), scores.groups)

    return Counts(table, sizes.astype(np.int64), read), edges


def across_cuts(how: How, model: Counts, edges: Floats, span: tuple[float, float]) -> How:
    """How the measure is taken over the cut points: supremum or integral, as sums of cells."""
    if how.aggregate == "integral":
        widths = np.diff(np.append(edges, span[1]))
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
