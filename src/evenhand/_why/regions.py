"""Which scores a gap comes from, where decisions are scores cut at a threshold.

With shares q of ranges of scores and means m in them, of two groups a and b, and M the mean of both
groups' values, the gap is the sum over ranges of

    qₐ (mₐ − M) − q_b (m_b − M).

Of selection rates m is 1 above the cut and 0 below it: a range adds what one group has more people
in it than the other, times 1 − M or −M. Ranges are quarters of those above the cut, and of those
below it, so that those next to the cut are just above and just below it.
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
from evenhand._why.entries import Codes, Floats, lent, reach
from evenhand._why.strata import Means, Moved

RANGES = 4  # on either side of the cut
BELOW, ABOVE = "below the cut", "above the cut"


class Span(NamedTuple):
    """A range of scores: on which side of the cut, and its lowest and highest score."""

    side: str
    low: float
    high: float


def by_score(evidence: Evidence) -> Tally | None:
    """Counts of labels with ranges of the score as strata; None where no cut is known."""
    ranks = evidence.sources.get("ranks")
    scores: object = evidence.sources.get("steps")
    if isinstance(ranks, RankedScores):
        scores = ranks.scores[0]
    of, cut = evidence.score_of, evidence.decided_at
    if not isinstance(scores, Distribution) or cut is None or scores.survey is not None:
        return None
    if len(evidence.classes) != 2 or of not in evidence.classes:
        return None
    is_turned = isinstance(ranks, RankedScores) and ranks.classes[0] != of
    values = -scores.values if is_turned else scores.values
    is_above = values >= cut
    stratum, labels = _ranges(values, is_above)
    at = evidence.classes.index(of)
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
    """Entries of a distribution in cells; one that stands for several rows counts as many."""
    weight = np.ones(len(scores)) if scores.weights is None else scores.weights
    squares = scores.squared_weights
    rows = np.rint(np.divide(weight**2, squares, out=np.ones(len(weight)), where=squares > 0))
    for at, cluster in enumerate(scores.clusters):
        axes = [*axes, Axis(f"{CLUSTER} {at + 1}" if at else CLUSTER, tuple(cluster.labels))]
        cells = [*cells, cluster.codes]
    sums = {"rows": rows, "weight": weight, "weight²": squares}
    return gathered(tuple(axes), np.array(cells, dtype=np.intp), sums, ())


def _ranges(values: Floats, is_above: NDArray[np.bool_]) -> tuple[Codes, tuple[Span, ...]]:
    """The range of each value, ascending, and what it is called: its side and its ends."""
    codes = np.zeros(len(values), np.intp)
    spans: list[Span] = []
    for side, chosen in ((BELOW, ~is_above), (ABOVE, is_above)):
        own = values[chosen]
        if not len(own):
            continue
        edges = quantile_edges(own, RANGES)
        column = binned(own, edges)
        codes[chosen] = np.asarray(column.codes, np.intp) + len(spans)
        inside = [own[column.codes == code] for code in range(len(column.labels))]
        spans += [Span(side, float(each.min()), float(each.max())) for each in inside]
    return codes, tuple(spans)


def regions_of(data: Means, spans: Sequence[Span], error: float) -> tuple[Region, ...]:
    """What each range of scores adds to the gap, the largest first; intervals hold at once."""
    seen = np.flatnonzero(data.weight.sum(axis=0) > 0)  # of precision, say, none below the cut
    values, moved, hidden = _by_range(data)
    values, moved, hidden = values[seen], moved[seen], hidden[np.ix_(seen, seen)]
    spread, free = data.entries.covariance(moved) + hidden, data.entries.free(moved)
    errors = reach(spread, free, error) * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    at = data.entries.group * data.strata + data.stratum
    rows = np.bincount(at, data.entries.rows, 2 * data.strata).reshape(2, -1)
    shares = data.weight / data.weight.sum(axis=1)[:, None]
    names = _names([spans[place] for place in seen.tolist()])
    below = sum(span.side == BELOW for span in spans)
    found = []
    for place, name, value, off in zip(seen.tolist(), names, values, errors, strict=True):
        side, low, high = spans[place]
        found.append(
            Region(
                name,
                f"just {side}" if place in (below - 1, below) else side,
                float(value),
                float(value - off),
                float(value + off),
                (low, high),
                (int(rows[0, place]), int(rows[1, place])),
                (float(shares[0, place]), float(shares[1, place])),
            )
        )
    return tuple(sorted(found, key=lambda one: -abs(one.value)))


def _names(spans: Sequence[Span]) -> list[str]:
    """Ranges by their ends, with digits enough that no two begin or end alike."""
    for digits in range(2, 18):
        ends = [(f"{span.low:.{digits}g}", f"{span.high:.{digits}g}") for span in spans]
        if all(len({each[side] for each in ends}) == len(ends) for side in (0, 1)):
            break
    return [low if low == high else f"{low} to {high}" for low, high in ends]


def _by_range(data: Means) -> Moved:
    """What ranges add to the gap, how rows move that, and what few rows may hide."""
    weight = data.weight
    size = weight.sum(axis=1)
    shares, sums = weight / size[:, None], data.sums(data.values) / size[:, None]
    level = sums.sum(axis=1)
    middle = level.mean()
    each = sums - middle * shares
    apart = shares[0] - shares[1]
    group, stratum = data.entries.group, data.stratum
    sign = np.where(group == 0, 1.0, -1.0) / size[group]
    own = stratum == np.arange(data.strata)[:, None]
    moved = (own * (data.values - middle) - each[group].T) * sign
    moved -= apart[:, None] * (data.values - level[group]) / (2 * size[group])
    hidden = _hidden(data, middle)
    return Moved(each[0] - each[1], moved, hidden)


def _hidden(data: Means, middle: float) -> Floats:
    """What few rows of a group may hide of its shares and means, as covariances."""
    weight = data.weight
    both = weight.sum(axis=0)
    means = data.sums(data.values).sum(axis=0) / np.where(both > 0, both, 1.0)
    usual = both / both.sum()
    moved = np.diag(means - middle)
    moved -= (moved @ usual)[:, None]
    squares = np.bincount(data.entries.group, data.entries.squares, 2)
    few = lent(weight.sum(axis=1) ** 2 / squares).sum()
    return np.asarray(few * ((moved * usual) @ moved.T + np.diag(usual) * data.spread))
