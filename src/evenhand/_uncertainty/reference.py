"""Differences and ratios of every group to a reference, with simultaneous limits.

A limit of a function that rises in one value and falls in the other is its extreme over the pairs
that are jointly z standard errors from the data: z cos φ and z sin φ, for all angles φ. For a
normal difference this is the textbook interval; for a ratio it is close to Fieller's.

The truly best group is unknown. The ratio of a group to it is the smallest of its ratios to all
others. A lower limit of that is the smallest of the lower limits: it errs only if that of the truly
best group does, so the error is shared by the groups. An upper limit is the smallest of the upper
limits, any of which may err, so there the error is shared by the pairs.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import place_in
from evenhand._errors import InputError
from evenhand._kinds import check_labels
from evenhand._uncertainty.curves import Estimates, curve_at, rate_curves
from evenhand._words import did_you_mean

Floats = NDArray[np.float64]
Scale = Literal["difference", "ratio"]

ANGLES = np.linspace(0, np.pi / 2, 25)


class Comparison(NamedTuple):
    """The groups' differences from a reference, or ratios to it, with simultaneous limits."""

    values: Floats
    low: Floats
    high: Floats


def compare_rates(
    hits: Any,
    rows: Any,
    to: Any,
    scale: Scale,
    error: float,
    among: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Rates compared with a reference: the index of a group, "best" (the highest) or "overall".

    `among` is a mask of the groups that can be the best one; all by default.

    >>> ratios = compare_rates([40, 60, 90], [100, 100, 100], "best", "ratio", 0.05)
    >>> ratios.values.round(2), ratios.high.round(2)
    (array([0.44, 0.67, 1.  ]), array([0.61, 0.83, 1.  ]))
    """
    hits, rows = np.asarray(hits, np.float64), np.asarray(rows, np.float64)
    rates = np.divide(hits, rows, out=np.full(hits.shape, np.nan), where=rows > 0)
    return compare_values(rates, rate_curves(hits, rows), rows, to, scale, error, among)


def compare_values(
    values: Floats,
    curves: Floats,
    sizes: Floats,
    to: Any,
    scale: Scale,
    error: float,
    among: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Values with confidence curves (distances, groups) compared with a reference."""
    defined = np.isfinite(values)
    among = np.ones(len(values), bool) if among is None else among
    comparison = Comparison(*(np.full(len(values), np.nan) for _ in range(3)))
    if defined.sum() < 2 or (isinstance(to, int | np.integer) and not defined[to]):
        return comparison
    place = int(np.count_nonzero(defined[:to])) if isinstance(to, int | np.integer) else to
    evidence = values[defined], curves[:, defined], sizes[defined]
    if to == "best":
        parts = _compared_with_best(*evidence[:2], np.flatnonzero(among[defined]), scale, error)
    else:
        parts = _compared(*evidence, place, scale, error)
    for complete, part in zip(comparison, parts, strict=True):
        complete[defined] = part
    return comparison


def place_of(to: Label, groups: tuple[Label, ...]) -> Any:
    """The reference as `compare_values` takes it."""
    check_labels(to=to)
    place = place_in(groups, to)
    if place >= 0:
        return place
    if to in ("best", "overall"):
        return to
    raise InputError(
        f"to={to!r} is not a group; there are {list(groups)}, and 'overall' and 'best'."
        f"{did_you_mean(to, groups)}"
    )


def reference_limits(
    estimates: Estimates, to: Label, scale: Scale, error: float
) -> tuple[Floats, Floats]:
    """Limits of the largest distance of a group from the reference in each cell.

    For ratios the distance is 1 minus the smaller over the larger. The upper limit has the error of
    one normal variable, as for any measure (see `geometry.py`); the error of the lower one is
    shared by the groups.
    """
    place, ends = place_of(to, estimates.groups), []
    for values, curves, sizes in zip(
        estimates.values, np.moveaxis(estimates.curves, 1, 0), estimates.sizes, strict=True
    ):
        looks = len(np.unique(estimates.strata)) * estimates.looks
        separate = compare_values(values, curves, sizes, place, scale, error / looks)
        number = max(int(np.isfinite(values).sum()) - (place != "overall"), 1)
        joint = compare_values(values, curves, sizes, place, scale, min(error * number, 1.0))
        ends.append(
            (np.nanmax(_distances(separate, scale)[0]), np.nanmax(_distances(joint, scale)[1]))
        )
    lows, highs = np.transpose(ends)
    return lows, highs


def _distances(comparison: Comparison, scale: Scale) -> tuple[Floats, Floats]:
    """Lower and upper bounds of the distances of the groups from the reference."""
    if scale == "difference":
        lowest = np.maximum(np.maximum(comparison.low, -comparison.high), 0.0)
        return lowest, np.maximum(np.abs(comparison.low), np.abs(comparison.high))
    inverse = [1 / np.maximum(end, 1e-300) for end in (comparison.low, comparison.high)]
    lowest = np.maximum(np.maximum(1 - comparison.high, 1 - inverse[0]), 0.0)
    return lowest, np.maximum(np.maximum(1 - comparison.low, 1 - inverse[1]), 0.0)


def _compared_with_best(
    values: Floats, curves: Floats, references: NDArray[np.intp], scale: Scale, error: float
) -> Comparison:
    """The groups compared with the highest of some of them."""
    from scipy.special import ndtri

    number = len(values)
    lower_error, upper_error = error / number, error / max((number - 1) * len(references), 1)
    low = _limits(curves, references, scale, float(-ndtri(lower_error / 2)))[0]
    high = _limits(curves, references, scale, float(-ndtri(upper_error / 2)))[1]
    observed = _combined(values, values[references].max(), scale)
    return Comparison(observed, np.minimum(low, observed), np.maximum(high, observed))


def _compared(
    values: Floats, curves: Floats, sizes: Floats, to: Any, scale: Scale, error: float
) -> Comparison:
    from scipy.special import ndtri

    number = len(values)
    if to == "overall":
        share = sizes / sizes.sum()
        other_values = (share @ values - share * values) / (1 - share)
        reach = float(-ndtri(error / number / 2))
        ends = [curve_at(curves, z) - values for z in (-reach, reach)]
        spread = [
            np.sqrt(((share * end) ** 2).sum() - (share * end) ** 2) / (1 - share) for end in ends
        ]
        limits = [
            _overall(values, other_values, share, ends, spread, scale, up) for up in (False, True)
        ]
        return Comparison(_combined(values, share @ values, scale), *limits)
    reach = float(-ndtri(error / (number - 1) / 2))
    low, high = _limits(curves, np.array([to]), scale, reach)
    observed = _combined(values, values[to], scale)
    low[to], high[to] = observed[to], observed[to]
    return Comparison(observed, low, high)


def _overall(
    values: Floats,
    other_values: Floats,
    share: Floats,
    ends: Any,
    spread: Any,
    scale: Scale,
    up: bool,
) -> Floats:
    """Limits compared with everyone, from those of the group and of all other groups together."""
    angles = ANGLES[:, None]
    group_limits = values + np.cos(angles) * ends[up]
    other_limits = other_values + np.sin(angles) * (-spread[0] if up else spread[1])
    everyone = share * group_limits + (1 - share) * np.maximum(
        other_limits, 0.0 if scale == "ratio" else -np.inf
    )
    reached = _combined(group_limits, everyone, scale)
    return np.asarray(reached.max(axis=0) if up else reached.min(axis=0))


def _limits(
    curves: Floats, references: NDArray[np.intp], scale: Scale, reach: float
) -> tuple[Floats, Floats]:
    """The smallest lower and upper limits of every group over all references but itself."""
    itself = 1.0 if scale == "ratio" else 0.0
    extremes = np.full((2, curves.shape[1]), np.inf)
    for side, end in ((-1.0, extremes[0]), (1.0, extremes[1])):
        group_limits = np.array(
            [curve_at(curves, side * reach * np.cos(angle)) for angle in ANGLES]
        )
        reference_limits = np.array(
            [curve_at(curves, -side * reach * np.sin(angle)) for angle in ANGLES]
        )
        for reference in references.tolist():
            reached = _combined(group_limits, reference_limits[:, [reference]], scale)
            limit = reached.min(axis=0) if side < 0 else reached.max(axis=0)
            limit[reference] = itself
            np.minimum(end, limit, out=end)
    return extremes[0], extremes[1]


def _combined(values: Any, references: Any, scale: Scale) -> Floats:
    if scale == "difference":
        return np.asarray(values - references, np.float64)
    pair = np.broadcast_arrays(np.asarray(values, np.float64), np.asarray(references, np.float64))
    out = np.where(pair[0] > 0, np.inf, 1.0)
    return np.asarray(np.divide(pair[0], pair[1], out=out, where=pair[1] > 0))
