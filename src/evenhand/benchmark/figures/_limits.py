"""The limits of a panel, arrows for points beyond them, and the crowded corner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.benchmark.figures._roots import is_by_root
from evenhand.benchmark.figures.theme import PERFORMANCES, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORNER_SHARE, CORNER_AREA = 0.6, 0.2  # this share of the points in less than this share of a panel
FEW = 8  # points that anyone can distinguish
REACH = 4.0
NEAR = 1.4  # a panel that this much more breadth completes is completed: no arrow to what is near
MARGIN, STRIP = 0.07, 0.2  # shares of what is shown, left free at an edge and at one with arrows
BEYOND = "_beyond"  # the label of an arrow's marker
MIN_DISTANCE = 0.07  # between two arrows, of the edge

Limits = tuple[float, float]


def height(y: str, tables: Sequence[Any], reach: float) -> Limits:
    values = np.concatenate([table["y"].to_numpy() for table in tables])
    if is_by_root(y):
        return 0.0, 1.06 * float(values.max())
    is_high_good = y in ("accuracy", "r2")
    low, high = window(values, low_is_good=not is_high_good, reach=reach)
    bars = np.concatenate([table["y_error"].fillna(0).to_numpy() for table in tables])
    room = float(np.clip((values + bars if is_high_good else values - bars) - high, 0, None).max())
    if is_high_good:  # bars of the best points stay inside, unless they are very long
        high += min(room, 0.25 * (high - low))
    return low if y in PERFORMANCES else 0.0, high  # a criterion is best at 0


def breadth(x: str, table: Any, reach: float) -> Limits:
    values = table["x"].to_numpy()
    highest = 1.05 * float(np.nanmax(values + table["x_error"].fillna(0)))
    if values.min() < 0:
        return float(values.min()), highest
    if is_by_root(x):
        limit = window(np.sqrt(values), low_is_good=True, reach=reach, start=0.0)[1] ** 2
    else:
        limit = window(values, low_is_good=True, reach=reach, start=0.0)[1]
    if limit > values.max():  # all are inside: their bars too, unless they are very long
        limit = max(limit, min(highest, NEAR * limit))
    return 0.0, max(limit, 1.25 * float(np.median(values)), 1e-12)  # also where all are about equal


def beyond(axes: Axes, points: Any, x: Limits, y: Limits, theme: Theme) -> None:
    """An arrow for each line that leaves the window, in the strip that `window` keeps free."""
    to_axes = axes.transData + axes.transAxes.inverted()
    right = points["x"] > x[1]
    up = (points["y"] > y[1]).astype(int) - (points["y"] < y[0]).astype(int)
    outside = points.assign(right=right, up=up.where(~right, 0))[right | (up != 0)]
    occupied: list[tuple[int, float]] = []
    for (name, to_right, to_up), rows in outside.groupby(["series", "right", "up"], sort=False):
        inside = np.column_stack([rows["x"].clip(*x), rows["y"].clip(*y)])
        along = 1 if to_right else 0
        place = _free(float(np.median(to_axes.transform(inside)[:, along])), int(to_up), occupied)
        start, tip = (0.13, 0.0) if to_up < 0 else (0.9, 1.0)
        at, end = (place, start), (place, tip)
        if to_right:
            at, end = at[::-1], end[::-1]
        style = theme.style(str(name))
        axes.plot(*at, transform=axes.transAxes, label=BEYOND, zorder=6, **style.line)
        axes.annotate(
            "",
            xy=end,
            xytext=at,
            xycoords="axes fraction",
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "->", "color": style.ink, "linewidth": 1.0},
        )


def _free(place: float, edge: int, occupied: list[tuple[int, float]]) -> float:
    """The place of an arrow along an edge, clear of the others.

    >>> _free(0.9, -1, [(-1, 0.88), (0, 0.9)]) < 0.82
    True
    """
    place = min(max(place, MIN_DISTANCE), 1 - MIN_DISTANCE)
    step = MIN_DISTANCE if place < 0.5 else -MIN_DISTANCE
    while any(neighbor == edge and abs(place - at) < MIN_DISTANCE for neighbor, at in occupied):
        place += step
    occupied.append((edge, place))
    return place


def corner_of(points: Any, x: Limits, y: Limits) -> tuple[Limits, Limits] | None:
    """The corner where most points crowd, if it is a small part of the panel; else None.

    It holds the points nearest to their median, and lines of at least two methods.
    """
    inside = points[points["x"].between(*x) & points["y"].between(*y)]
    if len(inside) < FEW or inside["series"].nunique() < 2:
        return None
    spans = np.array([x[1] - x[0], y[1] - y[0]])
    places = (inside[["x", "y"]].to_numpy() - [x[0], y[0]]) / spans
    distances = np.hypot(*(places - np.median(places, axis=0)).T)
    nearest = places[
        np.argsort(distances, kind="stable")[: int(np.ceil(CORNER_SHARE * len(places)))]
    ]
    low, high = nearest.min(axis=0), nearest.max(axis=0)
    margin = 0.08 * np.maximum(high - low, 0.05)
    low, high = np.maximum(low - margin, 0), np.minimum(high + margin, 1)
    if np.prod(high - low) > CORNER_AREA or (high - low).max() > 0.8:
        return None
    ends = np.array([low, high]) * spans + [x[0], y[0]]
    return (float(ends[0, 0]), float(ends[1, 0])), (float(ends[0, 1]), float(ends[1, 1]))


def window(
    values: Any, *, low_is_good: bool = False, reach: float = REACH, start: float | None = None
) -> tuple[float, float]:
    """Limits that show the better three quarters well, and others that are not too far off.

    No point is at the edge; where some are beyond it, a strip is free for their arrows. `start` is
    where the axis begins, if not at the best value.

    >>> window(np.array([0.70, 0.71, 0.72, 0.72, 0.10]))
    (0.696, 0.7214)
    >>> window(np.array([0.70, 0.71, 0.72, 0.72, 0.69]))
    (0.6879, 0.7221)
    """
    sign = -1.0 if low_is_good else 1.0
    oriented = sign * np.asarray(values, dtype=np.float64)
    quarter, best, lowest = (float(np.quantile(oriented, at)) for at in (0.25, 1.0, 0.0))
    worst = lowest
    if np.isfinite(reach):
        worst = max(worst, quarter - reach * max(best - quarter, 1e-9))
    first = best if start is None else sign * start
    if first - lowest <= NEAR * (first - worst):
        worst = lowest
    span = max(best - worst, 1e-3 * abs(best), 1e-4)  # also where all are equal
    cut = float(oriented[oriented >= worst].min())
    while (next_value := float(oriented[oriented >= cut - STRIP * span].min())) < cut:
        cut, span = next_value, max(best - next_value, span)
    span = max(best - cut, 1e-3 * abs(best), 1e-4)
    below = STRIP if (oriented < cut).any() else MARGIN
    ends = sorted((sign * (cut - below * span), sign * (best + MARGIN * span)))
    return round(ends[0], 6), round(ends[1], 6)
