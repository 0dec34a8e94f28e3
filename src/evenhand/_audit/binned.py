"""Evidence of scores and of predicted values from one count in bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.evidence import Evidence
from evenhand._audit.from_rows import MOST_THRESHOLDS
from evenhand._columns import Column, Label
from evenhand._columns.codes import positions
from evenhand._distributions import Distribution, RankedScores, distribution
from evenhand._frames import Cells, Whom, columns_as_keys, counted, distinct
from evenhand._groups import Groups
from evenhand._tally import Tally
from evenhand.statistics.kinds import SCORE_BINS, Source

Floats = NDArray[np.float64]

MOST_BINS, LEAST_BINS, MOST_CELLS = 1 << 14, 1 << 8, 1 << 21


@dataclass(frozen=True)
class Facts:
    """Where the numbers of a column lie."""

    low: float
    high: float
    mean: float
    deviation: float

    def bin_of(self, column: Any, number: int) -> Any:
        """An expression that puts numbers into bins in their order, narrow around the mean.

        Each step is rounded monotonically, so larger numbers never come into an earlier bin.
        """
        import narwhals as nw

        place = (column - self.mean) / (self.deviation or 1.0)
        squeezed = nw.when(place >= 0).then(1 - 1 / (1 + place)).otherwise(1 / (1 - place) - 1)
        return ((squeezed * (number / 2)) // 1).cast(nw.Int32)


@dataclass(frozen=True, eq=False)
class Binned:
    """Cells by bin and group (and more): the bin of each, and of each bin its extreme values."""

    cells: Cells
    whom: Groups
    bins: NDArray[np.intp]
    least: Floats
    most: Floats

    @property
    def loose(self) -> NDArray[np.bool_]:
        """Which bins hold more than one value."""
        return self.least < self.most

    @property
    def group(self) -> Column:
        """The group of every cell."""
        return Column(self.whom.codes, self.whom.labels)

    def shares(self, weight: Floats) -> Floats:
        """The share of its group's weight in each bin (groups, bins)."""
        shape = (len(self.whom.labels), len(self.least))
        key = np.ravel_multi_index((self.whom.codes.astype(np.intp), self.bins), shape)
        table = np.bincount(key, weight, minlength=shape[0] * shape[1]).reshape(shape)
        total = table.sum(axis=1, keepdims=True)
        shares = np.zeros(shape)
        np.divide(table, total, out=shares, where=total > 0)
        return shares

    def distribution(self, truth: Column | None = None) -> Distribution:
        """Each bin as its greatest value, where every group's F is exact."""
        return distribution(
            self.most[self.bins],
            sensitive_features=self.whom,
            y_true=truth,
            sample_weight=self.cells.weight,
            squared_weight=self.cells.totals.get("weight²", self.cells.rows),
        )

    def note(self, name: str) -> str:
        """How far off the bins can be."""
        if not self.loose.any():
            return f"All {len(self.least):,} distinct values of {name!r} were counted."
        widest = self.shares(self.cells.weight)[:, self.loose].max(axis=0)
        span = (self.most - self.least)[self.loose]
        return (
            f"{name!r} was counted in {len(self.least):,} bins: the groups' distributions are "
            f"exact at the bins' ends, and within a bin off by at most {widest.max():.2g} "
            f"(Kolmogorov distance); an integral by MPD is off by at most {span @ widest:.2g}."
        )

    def area_error(self, positive: NDArray[np.bool_]) -> float:
        """The most that an area under a group's ROC curve is off: half of the pairs in one bin."""
        hits, misses = (
            self.shares(self.cells.weight * chosen)[:, self.loose]
            for chosen in (positive, ~positive)
        )
        return float((hits * misses).sum(axis=1).max(initial=0.0) / 2)


def binned(
    table: Any,
    column: Any,
    facts: Facts,
    whom: Whom,
    *,
    keys: Mapping[str, Any],
    sums: Mapping[str, Any],
    weight: str | None,
    groups: int,
) -> Binned:
    """Count a column in bins, by its group and the given keys."""
    number = int(np.clip(MOST_CELLS // groups, LEAST_BINS, MOST_BINS))
    asked = columns_as_keys(whom.columns) | dict(keys)
    asked["fine"] = facts.bin_of(column, number)
    found = counted(table, asked, {**sums, "least": column, "most": column}, weight)
    cells, who = whom.find(found.where(found.weight > 0))
    bins = np.unique(cells.keys["fine"], return_inverse=True)[1]
    least = np.full(bins.max() + 1, np.inf)
    most = -least
    np.minimum.at(least, bins, cells.totals["least"])
    np.maximum.at(most, bins, cells.totals["most"])
    return Binned(cells, who, bins, least, most)


EPSILON = float(np.finfo(np.float64).eps)


def binned_regression(
    table: Any, y_true: str | None, y_pred: str, weight: str | None, whom: Whom, facts: Facts
) -> Evidence:
    """Moments exactly, and the distribution in bins."""
    import narwhals as nw

    yhat = nw.col(y_pred).cast(nw.Float64)
    sums = {"yhat": yhat, "yhat²": yhat * yhat}
    if y_true:
        y = nw.col(y_true).cast(nw.Float64)
        error = y - yhat
        square = error * error
        sums |= {"y": y, "y²": y * y, "squared_error": square, "squared_error²": square * square}
        sums |= {"absolute_error": error.abs(), "absolute_error²": square}
    groups = distinct(table, whom.columns)
    found = binned(table, yhat, facts, whom, keys={}, sums=sums, weight=weight, groups=groups)
    sources: dict[str, Source] = {
        "moments": found.cells.tally({"group": found.group}),
        "steps": found.distribution(),
    }
    notes = (*found.whom.notes, found.note(y_pred))
    return Evidence("regression", whom.columns, sources, notes=notes)


def binned_scores(
    table: Any,
    known: Evidence,
    y_true: str | None,
    y_score: str,
    weight: str | None,
    whom: Whom,
    facts: Facts,
) -> Evidence:
    """Add to evidence of labels what a score tells."""
    import narwhals as nw

    score = nw.col(y_score).cast(nw.Float64)
    truth_known = nw.col(y_true) if y_true else None
    ranked = bool(y_true) and known.favorable is not None and len(known.classes) == 2
    keys: dict[str, Any] = {"y": truth_known} if y_true else {}
    sums = {"score": score}
    if ranked and facts.low >= 0 and facts.high <= 1:
        keys["bin"] = sum(((score >= e).cast(nw.Int64) for e in SCORE_BINS[1:-1]), nw.lit(0))
        loss = _cross_entropy(score, truth_known, known.favorable)
        sums |= {"cross_entropy": loss, "cross_entropy²": loss * loss}
    groups = len(known.groups)
    found = binned(table, score, facts, whom, keys=keys, sums=sums, weight=weight, groups=groups)
    sources = {**known.sources, "steps": found.distribution()}
    notes = [*known.notes, found.note(y_score)]
    if not y_true:
        return replace(known, sources=sources, notes=tuple(notes))
    truth = _truth(found.cells, y_true, known.classes)
    if ranked:
        sources |= _ranked(found, truth, known.favorable)
        error = found.area_error(truth.codes == known.classes.index(known.favorable))
        notes += [f"Areas under ROC curves are off by at most {error:.2g}."] if error else []
    curve = _thresholds(found, truth)
    return replace(known, sources=sources, thresholds=curve, notes=tuple(notes))


def _ranked(found: Binned, truth: Column, good: Label) -> dict[str, Source]:
    """Areas, and for probabilities losses and calibration."""
    sources: dict[str, Source] = {"ranks": RankedScores((good,), (found.distribution(truth),))}
    if "bin" not in found.cells.keys:
        return sources
    hits = found.cells.weight * (truth.codes == truth.labels.index(good))
    cells = Cells(found.cells.keys, {**found.cells.totals, "hits": hits})
    bins = Column(cells.keys["bin"].astype(np.uint8), SCORE_BINS[:-1])
    sources["losses"] = found.cells.tally({"group": found.group})
    sources["bins"] = cells.tally({"bin": bins, "group": found.group}, SCORE_BINS)
    return sources


def _thresholds(found: Binned, truth: Column) -> Tally:
    """Counts by score bin, truth and group; the edges are the least values of some bins."""
    mass = np.cumsum(np.bincount(found.bins, found.cells.weight))
    wanted = np.linspace(0, mass[-1], MOST_THRESHOLDS)
    at = np.minimum(np.searchsorted(mass, wanted), len(mass) - 1)
    edges = found.least[np.unique(at)]
    codes = np.searchsorted(edges, found.least, side="right")[found.bins]
    bins = (-np.inf, *edges.tolist(), np.inf)
    column = Column(codes.astype(np.uint32), bins[:-1])
    return found.cells.tally({"bin": column, "y": truth, "group": found.group}, bins)


def _truth(cells: Cells, name: str, classes: Sequence[Label]) -> Column:
    found = cells.labels("y", name)
    places = positions(found.labels, classes).astype(np.uint32)
    return Column(places[found.codes], tuple(classes))


def _cross_entropy(score: Any, truth: Any, good: Label) -> Any:
    import narwhals as nw

    given = nw.when(truth == good).then(score).otherwise(1 - score)
    floored = nw.when(given > EPSILON).then(given).otherwise(EPSILON)
    return floored.log() * -1
