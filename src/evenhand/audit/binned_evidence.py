"""Evidence of scores and of predicted values from one count in bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.audit.binning import Binned, Facts, binned
from evenhand.audit.cells import Cells, Whom, distinct
from evenhand.audit.evidence import Evidence
from evenhand.audit.scores import MOST_THRESHOLDS
from evenhand.columns import Column, Label
from evenhand.columns.column import positions
from evenhand.distributions import RankedScores
from evenhand.sources import SCORE_BINS, Source
from evenhand.tally import Tally

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
    ranked = bool(y_true) and known.favourable is not None and len(known.classes) == 2
    keys: dict[str, Any] = {"y": truth_known} if y_true else {}
    sums = {"score": score}
    if ranked and facts.low >= 0 and facts.high <= 1:
        keys["bin"] = sum(((score >= e).cast(nw.Int64) for e in SCORE_BINS[1:-1]), nw.lit(0))
        loss = _cross_entropy(score, truth_known, known.favourable)
        sums |= {"cross_entropy": loss, "cross_entropy²": loss * loss}
    groups = len(known.groups)
    found = binned(table, score, facts, whom, keys=keys, sums=sums, weight=weight, groups=groups)
    sources = {**known.sources, "steps": found.distribution()}
    notes = [*known.notes, found.note(y_score)]
    if not y_true:
        return replace(known, sources=sources, notes=tuple(notes))
    truth = _truth(found.cells, y_true, known.classes)
    if ranked:
        sources |= _ranked(found, truth, known.favourable)
        error = found.area_error(truth.codes == known.classes.index(known.favourable))
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
