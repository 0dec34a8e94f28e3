"""A plan as the outcomes of each amount: the values that a random draw, or its place, selects."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evenhand.mitigation.amount_rule import outcomes
from evenhand.mitigation.deploy import Grouping, Moves
from evenhand.mitigation.group_reader import Floats
from evenhand.mitigation.transport.plan import NEAR, Plan

Piece = tuple[Floats, Floats]  # ends of the lots, and the value up to each


def plan_moves(plan: Plan, draw: bool, grouping: Grouping | None) -> Moves:
    """The plan of each group, with random draws or by the place of amounts in their bins."""
    by_group = _drawn if draw or plan.support.edges is None else _placed
    return outcomes([by_group(plan, group) for group in range(len(plan.after))], grouping)


def _drawn(plan: Plan, group: int) -> tuple[Floats, list[Piece]]:
    """For each value of the support, the images of its ranks, the highest first."""
    support, levels = plan.support, np.append(0.0, plan.supply.cdfs[group])
    pieces = [_between(plan, group, low, high) for low, high in pairwise(levels)]
    if support.edges is not None:
        return support.edges[1:-1], pieces
    # Without bins a value is met exactly or not at all, and what lies between two has one rank.
    points = support.points
    between = [_between(plan, group, level, level) for level in levels[1:-1]]
    cuts = np.column_stack([np.nextafter(points[:-1], np.inf), points[1:]]).ravel()
    interleaved = [piece for pair in zip(pieces[:-1], between, strict=True) for piece in pair]
    return cuts, [*interleaved, pieces[-1]]


def _between(plan: Plan, group: int, low: float, high: float) -> Piece:
    """The values of the ranks in (low, high]; a draw of 0 is the highest of them."""
    after, points = plan.after[group], plan.support.points
    first, last = int((after > 0).argmax()), len(points) - 1
    top, bottom = np.clip(np.searchsorted(after, [high - NEAR, low + NEAR]), first, last)
    if top <= bottom:
        return np.ones(1), points[[top]]
    places = np.arange(top, bottom - 1, -1)
    ends = np.append((high - after[places[:-1] - 1]) / (high - low), 1.0)
    return ends, points[places]


def _placed(plan: Plan, group: int) -> tuple[Floats, list[Piece]]:
    """The new value by the place of an amount within its bin, as steps."""
    edges = plan.support.edges
    assert edges is not None
    levels = np.append(0.0, plan.supply.cdfs[group])
    cuts: list[float] = []
    pieces: list[Piece] = []
    for at, (low, high) in enumerate(pairwise(levels)):
        ends, values = _between(plan, group, low, high)
        left, right = edges[at], edges[at + 1]
        if at:
            cuts.append(float(left))
        inner = left + (1 - ends[:-1][::-1]) * (right - left)
        cuts += np.nextafter(inner, np.inf).tolist()
        pieces += [(np.ones(1), values[[place]]) for place in range(len(values) - 1, -1, -1)]
    return np.array(cuts), pieces
