"""What scores add to the evidence: areas, losses, calibration, distributions and thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evenhand.audit.evidence import Evidence
from evenhand.columns import Column
from evenhand.columns.validation import check_lengths, finite
from evenhand.counting import count
from evenhand.distributions import Distribution, distribution
from evenhand.groups import groups
from evenhand.sources import Rows, summarise
from evenhand.tally import Tally

MOST_THRESHOLDS = 200


def with_scores(found: Evidence, rows: Rows) -> Evidence:
    """Add what scores tell: areas and losses, and for two classes distribution and calibration."""
    sources = dict(found.sources)
    one_column = np.ndim(rows.y_score) == 1 or np.shape(rows.y_score)[1] == 1
    score = finite(np.reshape(rows.y_score, -1), "y_score") if one_column else None
    if rows.y_true is not None and (found.favourable is not None or not one_column):
        sources["ranks"] = summarise("ranks", rows)
    if score is None and len(found.classes) == 2 and found.favourable is not None:
        score = np.asarray(rows.y_score)[:, found.classes.index(found.favourable)]
    probability = np.min(rows.y_score) >= 0 and np.max(rows.y_score) <= 1
    if "ranks" in sources and probability:
        sources["losses"] = summarise("losses", rows)
        if len(found.classes) == 2:
            sources["bins"] = summarise("bins", rows)
    if score is None:
        return replace(found, sources=sources)
    whom = {"sensitive_features": rows.sensitive_features, "sample_weight": rows.sample_weight}
    sources["steps"] = ordered = distribution(score, **whom)
    curve = None if rows.y_true is None else _thresholds(score, rows, ordered)
    decided = found.decided_at if found.favourable is None else _decided_at(score, found, rows)
    return replace(found, sources=sources, thresholds=curve, decided_at=decided)


def _decided_at(score: NDArray[np.float64], found: Evidence, rows: Rows) -> float | None:
    """The threshold that explains the decisions, if one does: a half, or the least selected."""
    at = (
        rows.y_pred.labels.index(found.favourable) if found.favourable in rows.y_pred.labels else -1
    )
    selected = rows.y_pred.codes == at
    if selected.all() or not selected.any():
        return found.decided_at
    least, most = float(score[selected].min()), float(score[~selected].max())
    if most >= least:
        return None
    return 0.5 if most < 0.5 <= least else least


def _thresholds(score: NDArray[np.float64], rows: Rows, ordered: Distribution) -> Tally:
    """Counts by score bin, truth and group; the edges are pooled quantiles."""
    at = np.linspace(0, len(ordered) - 1, MOST_THRESHOLDS).astype(np.intp)
    edges = np.unique(ordered.values[at])
    check_lengths(y_score=score, y_true=rows.y_true)
    codes = np.searchsorted(edges, score, side="right")
    bins = (-np.inf, *edges.tolist(), np.inf)
    column = Column(codes.astype(np.uint32), bins[:-1])
    whom = groups(rows.sensitive_features)
    return count(
        {"bin": column, "y": rows.y_true},
        whom,
        sample_weight=rows.sample_weight,
        edges={"bin": bins},
    )
