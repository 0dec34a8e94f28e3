"""The contributions of ranges of scores to a gap, where a threshold on scores decides.

With shares q of ranges of scores and means m in them, of two groups a and b, and M the mean of both
groups' values, the gap is the sum over ranges of

    qₐ (mₐ − M) − q_b (m_b − M).

For selection rates m is 1 above the cut and 0 below it: a range contributes the difference of the
groups' shares in it, times 1 − M or −M. Ranges are quarters of the scores above the cut, and of
those below it, so that two ranges are next to the cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.bins import binned, quantile_edges
from evenhand._data.areas import RankedScores
from evenhand._data.distributions import Distribution
from evenhand._data.evidence import Evidence
from evenhand._data.groups import CLUSTER
from evenhand._data.summaries import with_favorable
from evenhand._data.tallies import Axis, Tally, gathered
from evenhand._why.account import Region
from evenhand._why.entries import Codes, Floats, prior_share, reach
from evenhand._why.strata import Influences, Means

RANGES = 4  # on either side of the cut
BELOW, ABOVE = "below the cut", "above the cut"


class Span(NamedTuple):
    """A range of scores: its side of the cut, and its lowest and highest score."""

    side: str
    low: float
    high: float


def by_score(evidence: Evidence) -> Tally | None:
    """Counts of labels with ranges of the score as strata; None without a known cut."""
    ranks = evidence.sources.get("ranks")
    scores: object = evidence.sources.get("steps")
    if isinstance(ranks, RankedScores):
        scores = ranks.scores[0]
    score_label, cut = evidence.score_of, evidence.decided_at
    if not isinstance(scores, Distribution) or cut is None or scores.survey is not None:
        return None
    if len(evidence.classes) != 2 or score_label not in evidence.classes:
        return None
    is_turned = isinstance(ranks, RankedScores) and ranks.classes[0] != score_label
    values = -scores.values if is_turned else scores.values
    is_above = values >= cut
    stratum, labels = _ranges(values, is_above)
    at = evidence.classes.index(score_label)
    axes = [
        Axis("stratum", labels),
        Axis("yhat", evidence.classes),
        Axis("group", scores.groups),
    ]
    cells: list[NDArray[Any]] = [stratum, np.where(is_above, at, 1 - at), scores.codes]
    if scores.truth is not None:
        place = np.array([evidence.classes.index(label) for label in scores.truth.labels])
        axes.append(Axis("y", evidence.classes))
        cells.append(place[scores.truth.codes])
    return with_favorable(_counted(axes, cells, scores), evidence.favorable)


def _counted(axes: list[Axis], cells: list[NDArray[Any]], scores: Distribution) -> Tally:
    """Count entries of a distribution in cells; one may stand for several rows."""
    weight = scores.row_weights
    squares = scores.squared_weights
    rows = np.rint(np.divide(weight**2, squares, out=np.ones(len(weight)), where=squares > 0))
    for at, cluster in enumerate(scores.clusters):
        axes = [*axes, Axis(f"{CLUSTER} {at + 1}" if at else CLUSTER, tuple(cluster.labels))]
        cells = [*cells, cluster.codes]
    sums = {"rows": rows, "weight": weight, "weight²": squares}
    return gathered(tuple(axes), np.array(cells, dtype=np.intp), sums, ())


def _ranges(values: Floats, is_above: NDArray[np.bool_]) -> tuple[Codes, tuple[Span, ...]]:
    """The range of each value, and the ranges in ascending order."""
    codes = np.zeros(len(values), np.intp)
    spans: list[Span] = []
    for side, on_side in ((BELOW, ~is_above), (ABOVE, is_above)):
        side_values = values[on_side]
        if not len(side_values):
            continue
        edges = quantile_edges(side_values, RANGES)
        column = binned(side_values, edges)
        codes[on_side] = np.asarray(column.codes, np.intp) + len(spans)
        inside = [side_values[column.codes == code] for code in range(len(column.labels))]
        spans += [Span(side, float(members.min()), float(members.max())) for members in inside]
    return codes, tuple(spans)


def regions_of(data: Means, spans: Sequence[Span], error: float) -> tuple[Region, ...]:
    """Contributions of ranges of scores, the largest first; intervals are simultaneous."""
    kept = np.flatnonzero(data.weight.sum(axis=0) > 0)  # for precision, say, none below the cut
    values, influence, hidden = _by_range(data)
    values, influence, hidden = (
        values[kept],
        influence[kept],
        hidden[np.ix_(kept, kept)],
    )
    spread, freedom = data.entries.covariance(influence) + hidden, data.entries.freedom(influence)
    errors = reach(spread, freedom, error) * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    at = data.entries.group * data.strata + data.stratum
    rows = np.bincount(at, data.entries.rows, 2 * data.strata).reshape(2, -1)
    shares = data.weight / data.weight.sum(axis=1)[:, None]
    names = _names([spans[place] for place in kept.tolist()])
    below = sum(span.side == BELOW for span in spans)
    regions = []
    for place, name, value, margin in zip(kept.tolist(), names, values, errors, strict=True):
        side, low, high = spans[place]
        regions.append(
            Region(
                name,
                f"just {side}" if place in (below - 1, below) else side,
                float(value),
                float(value - margin),
                float(value + margin),
                (low, high),
                (int(rows[0, place]), int(rows[1, place])),
                (float(shares[0, place]), float(shares[1, place])),
            )
        )
    return tuple(sorted(regions, key=lambda region: -abs(region.value)))


def _names(spans: Sequence[Span]) -> list[str]:
    """Names of ranges, with enough digits for all ends to be distinct."""
    for digits in range(2, 18):
        ends = [(f"{span.low:.{digits}g}", f"{span.high:.{digits}g}") for span in spans]
        if all(len({pair[side] for pair in ends}) == len(ends) for side in (0, 1)):
            break
    return [low if low == high else f"{low} to {high}" for low, high in ends]


def _by_range(data: Means) -> Influences:
    """Contributions of ranges to the gap, with influences of rows."""
    weight = data.weight
    size = weight.sum(axis=1)
    shares, sums = weight / size[:, None], data.sums(data.values) / size[:, None]
    level = sums.sum(axis=1)
    middle = level.mean()
    contributions = sums - middle * shares
    share_difference = shares[0] - shares[1]
    group, stratum = data.entries.group, data.stratum
    sign = np.where(group == 0, 1.0, -1.0) / size[group]
    is_in_range = stratum == np.arange(data.strata)[:, None]
    influence = (is_in_range * (data.values - middle) - contributions[group].T) * sign
    influence -= share_difference[:, None] * (data.values - level[group]) / (2 * size[group])
    hidden = _hidden(data, middle)
    return Influences(contributions[0] - contributions[1], influence, hidden)


def _hidden(data: Means, middle: float) -> Floats:
    """Covariance added for the shares and means of groups with few rows."""
    weight = data.weight
    totals = weight.sum(axis=0)
    means = data.sums(data.values).sum(axis=0) / np.where(totals > 0, totals, 1.0)
    pooled_shares = totals / totals.sum()
    slopes = np.diag(means - middle)
    slopes -= (slopes @ pooled_shares)[:, None]
    squares = np.bincount(data.entries.group, data.entries.squares, 2)
    share = prior_share(weight.sum(axis=1) ** 2 / squares).sum()
    return np.asarray(
        share * ((slopes * pooled_shares) @ slopes.T + np.diag(pooled_shares) * data.spread)
    )
