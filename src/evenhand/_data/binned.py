"""Evidence of scores and of predicted values from one count in bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column, Label
from evenhand._columns.codes import positions
from evenhand._data.areas import RankedScores, check_direction
from evenhand._data.counting import moment_products
from evenhand._data.distributions import Distribution, distribution
from evenhand._data.evidence import (
    MOST_THRESHOLDS,
    Evidence,
    are_probabilities,
    direction_note,
    no_probability_note,
)
from evenhand._data.group_by import Cells, GroupColumns, as_float, count_cells, distinct
from evenhand._data.groups import Groups
from evenhand._data.summaries import SCORE_BINS, Source
from evenhand._data.tallies import Tally

Floats = NDArray[np.float64]

MOST_BINS, LEAST_BINS, MOST_CELLS = 1 << 13, 1 << 8, 1 << 21
LEAST_DEVIATION = 0.05  # of probabilities that are cut into bins of equal width
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Spread:
    """Range, mean and standard deviation of a column of numbers."""

    low: float
    high: float
    mean: float
    deviation: float

    def bin_of(self, column: Any, number: int) -> Any:
        """Expression for the bin of a number, of this many bins in ascending order.

        Each step rounds monotonically, so a larger number never falls into an earlier bin. Bins
        of numbers that are not probabilities are narrow near the mean.
        """
        import narwhals as nw

        even = self.even_bins(number)
        if even:
            return _floor(column * even).cast(nw.Int32)
        place = (column - self.mean) / (self.deviation or 1.0)
        squeezed = nw.when(place >= 0).then(1 - 1 / (1 + place)).otherwise(1 / (1 - place) - 1)
        return _floor((squeezed + 1) * (number / 2)).cast(nw.Int32)  # the argument is at least 0

    def even_bins(self, limit: int) -> int | None:
        """Number of bins of equal width for probabilities that spread over [0, 1], else None.

        Every tenth of the range is the start of a bin, even where products round: 0.9 less its
        last bit, times 10, is 9.
        """
        if not are_probabilities(self.low, self.high) or self.deviation < LEAST_DEVIATION:
            return None
        edges = np.array(SCORE_BINS[1:-1])
        at = np.arange(1, len(edges) + 1)
        for number in range(limit - limit % 10, 0, -10):
            first, before = (np.floor(x * number) for x in (edges, np.nextafter(edges, 0)))
            if (first * 10 == at * number).all() and (before < first).all():
                return number
        return None


@dataclass(frozen=True, eq=False)
class Binned:
    """Cells by bin and group, the bin of each cell, and the extreme values in each bin."""

    cells: Cells
    groups: Groups
    bins: NDArray[np.intp]
    lowest: Floats
    highest: Floats
    together: Mapping[str, Column]

    @property
    def loose(self) -> NDArray[np.bool_]:
        """Mask of the bins that hold more than one value."""
        return self.lowest < self.highest

    def shares(self, weight: Floats) -> Floats:
        """The share of its group's weight in each bin (groups, bins)."""
        shape = (len(self.groups.labels), len(self.lowest))
        key = np.ravel_multi_index((self.groups.codes.astype(np.intp), self.bins), shape)
        table = np.bincount(key, weight, minlength=shape[0] * shape[1]).reshape(shape)
        total = table.sum(axis=1, keepdims=True)
        shares = np.zeros(shape)
        np.divide(table, total, out=shares, where=total > 0)
        return shares

    def distribution(self, truth: Column | None = None) -> Distribution:
        """Each bin at its largest value, where every group's CDF is exact."""
        return distribution(
            self.highest[self.bins],
            sensitive_features=self.groups,
            y_true=truth,
            sample_weight=self.cells.weight,
            squared_weight=self.cells.sums.get("weight²", self.cells.rows),
            cluster=self.together or None,
        )

    def note(self, name: str) -> str:
        """Note on how far off the bins can be."""
        if not self.loose.any():
            return f"All {len(self.lowest):,} distinct values of {name!r} were counted."
        widest = self.shares(self.cells.weight)[:, self.loose].max(axis=0)
        span = (self.highest - self.lowest)[self.loose]
        return (
            f"{name!r} was counted in {len(self.lowest):,} bins: the groups' distributions are "
            f"exact at the bins' ends, and within a bin off by at most {widest.max():.2g} "
            f"(Kolmogorov distance); an integral by MPD is off by at most {span @ widest:.2g}."
        )

    def area_error(self, positive: NDArray[np.bool_]) -> float:
        """Bound on the error of a group's AUROC: half of the pairs that share a bin."""
        hits, misses = (
            self.shares(self.cells.weight * chosen)[:, self.loose]
            for chosen in (positive, ~positive)
        )
        return float((hits * misses).sum(axis=1).max(initial=0.0) / 2)


def binned(cells: Cells, grouping: GroupColumns, cluster: Sequence[str] = ()) -> Binned:
    """Arrange cells by group and bin (and any other keys), with bins in ascending order."""
    groups = grouping.groups_of(cells)
    kept = (cells.weight > 0) & (groups.codes < len(groups.labels))
    if not kept.all():
        cells = cells.where(kept)
        groups = Groups(groups.codes[kept], groups.labels, groups.names, groups.notes)
    places = np.unique(cells.keys["fine"], return_inverse=True)[1]
    lowest = np.full(places.max() + 1, np.inf)
    highest = -lowest
    np.minimum.at(lowest, places, cells.lowest["value"])
    np.maximum.at(highest, places, cells.highest["value"])
    return Binned(cells, groups, places, lowest, highest, cells.clusters(cluster))


def binned_regression(
    table: Any,
    y_true: str | None,
    y_pred: str,
    weight: str | None,
    grouping: GroupColumns,
    spread: Spread,
    rows: str | None = None,
    cluster: Sequence[str] = (),
) -> Evidence:
    """Moments exactly, and the distribution in bins."""
    yhat = as_float(y_pred)
    y = as_float(y_true) if y_true else None
    sums = moment_products(yhat, y, None if y is None else (y - yhat).abs())
    number = _bins_for(distinct(table, grouping.names))
    cells = count_cells(
        table,
        columns=[*grouping.names, *cluster],
        keys={"fine": spread.bin_of(yhat, number)},
        sums=sums,
        extremes={"value": yhat},
        weight=weight,
        rows=rows,
    )
    counted = binned(cells, grouping, cluster)
    sources: dict[str, Source] = {
        "moments": counted.cells.tally(counted.together, counted.groups),
        "steps": counted.distribution(),
    }
    notes = (*counted.groups.notes, counted.note(y_pred))
    return Evidence("regression", grouping.names, sources, notes=notes)


def count_scores(
    table: Any,
    y_true: str | None,
    y_score: str,
    weight: str | None,
    grouping: GroupColumns,
    spread: Spread,
    rows: str | None = None,
    cluster: Sequence[str] = (),
    *,
    label: Label = None,
    turned: bool = False,
    groups: int = 1,
    keys: Mapping[str, Any] | None = None,
    most_cells: int | None = None,
) -> Cells:
    """Count a score by truth, group and bin, with fewer bins where there are more groups.

    Losses are summed where `label` says which of two labels it is the probability of. Calibration
    bins are `turned`, those of one minus the score, where the other label is the favorable one.
    """
    import narwhals as nw

    score, number, sums = as_float(y_score), _bins_for(groups), {"score": as_float(y_score)}
    by = {**({"y": nw.col(y_true)} if y_true else {}), **(keys or {})}
    if y_true and label is not None and are_probabilities(spread.low, spread.high):
        if turned or spread.even_bins(number) is None:
            beyond = [score <= e if turned else score >= e for e in SCORE_BINS[1:-1]]
            by["bin"] = sum((flag.cast(nw.Int8) for flag in beyond), nw.lit(0))
        loss = _cross_entropy(score, by["y"], label)
        sums |= {"cross_entropy": loss, "cross_entropy²": loss * loss}
    return count_cells(
        table,
        columns=[*grouping.names, *cluster],
        keys=by | {"fine": spread.bin_of(score, number)},
        sums=sums,
        extremes={"value": score},
        weight=weight,
        rows=rows,
        most_cells=most_cells,
    )


def binned_scores(
    cells: Cells,
    evidence: Evidence,
    y_true: str | None,
    y_score: str,
    grouping: GroupColumns,
    spread: Spread,
    cluster: Sequence[str] = (),
    *,
    is_stated: bool = False,
) -> Evidence:
    """Add the statistics of a score, counted by `count_scores`, to evidence of labels."""
    counted = binned(cells, grouping, cluster)
    truth = _truth(counted.cells, y_true, evidence.classes) if y_true else None
    scores = counted.distribution(truth)
    sources: dict[str, Source] = {**evidence.sources, "steps": replace(scores, truth=None)}
    notes = [*evidence.notes, counted.note(y_score)]
    if truth is None:
        return replace(evidence, sources=sources, notes=tuple(notes))
    if evidence.score_of is not None:
        if not is_stated:
            check_direction(scores, evidence.score_of)
        probable = are_probabilities(spread.low, spread.high)
        notes += [] if probable else [no_probability_note(spread.low, spread.high, "The score")]
        good = evidence.favorable if evidence.is_turned else evidence.score_of
        sources["ranks"] = RankedScores((good,), (scores.turned if evidence.is_turned else scores,))
        notes += direction_note(sources["ranks"], evidence.score_of) if is_stated else ()
        sources |= _losses(counted, truth, good, turned=evidence.is_turned) if probable else {}
        error = counted.area_error(truth.codes == evidence.classes.index(good))
        notes += [f"Areas under ROC curves are off by at most {error:.2g}."] if error else []
    curve = _thresholds(counted, truth)
    return replace(evidence, sources=sources, thresholds=curve, notes=tuple(notes))


def _losses(counted: Binned, truth: Column, good: Label, *, turned: bool) -> dict[str, Source]:
    """Losses and calibration of probabilities; `turned`, of one minus the probabilities."""
    cells, groups = counted.cells, counted.groups
    hit = truth.codes == truth.labels.index(good)
    hits = {f"{name}·hits": cells.sums[name] * hit for name in ("weight²",) if name in cells.sums}
    hits["hits"] = cells.weight * hit
    places = cells.keys.get("bin")
    if places is None:  # every tenth is the edge of a bin, so cells lie in one tenth
        places = np.searchsorted(SCORE_BINS[1:-1], cells.lowest["value"], side="right")
    bins = Column(places.astype(np.uint8), SCORE_BINS[:-1])
    score = cells.weight - cells.sums["score"] if turned else cells.sums["score"]
    with_hits = replace(cells, sums={**cells.sums, **hits, "score": score})
    within = {"bin": bins, **counted.together}
    return {
        "losses": cells.tally(counted.together, groups),
        "bins": with_hits.tally(within, groups, edges={"bin": SCORE_BINS}),
    }


def _bins_for(groups: int) -> int:
    """Number of bins for this many groups."""
    return int(np.clip(MOST_CELLS // groups, LEAST_BINS, MOST_BINS))


def _thresholds(counted: Binned, truth: Column) -> Tally:
    """Counts by score bin, truth and group; the edges are the lowest values of some bins."""
    mass = np.cumsum(np.bincount(counted.bins, counted.cells.weight))
    masses = np.linspace(0, mass[-1], MOST_THRESHOLDS)
    at = np.minimum(np.searchsorted(mass, masses), len(mass) - 1)
    edges = counted.lowest[np.unique(at)]
    codes = np.searchsorted(edges, counted.lowest, side="right")[counted.bins]
    bins = (-np.inf, *edges.tolist(), np.inf)
    column = Column(codes.astype(np.uint32), bins[:-1])
    return counted.cells.tally({"bin": column, "y": truth}, counted.groups, edges={"bin": bins})


def _truth(cells: Cells, name: str, classes: Sequence[Label]) -> Column:
    column = cells.labels("y", name)
    places = positions(column.labels, classes).astype(np.uint32)
    return Column(places[column.codes], tuple(classes))


def _cross_entropy(score: Any, truth: Any, good: Label) -> Any:
    import narwhals as nw

    probability = nw.when(truth == good).then(score).otherwise(1 - score)
    floored = nw.when(probability > EPSILON).then(probability).otherwise(EPSILON)
    return floored.log() * -1


def _floor(numbers: Any) -> Any:
    """Floor of numbers that are at least 0, for which engines agree on %."""
    return numbers.floor() if hasattr(numbers, "floor") else numbers - numbers % 1
