"""Every group beside a reference: differences and ratios, with limits that hold for all at once.

A limit of a function of two values, one rising and one falling in it, is its extreme over the pairs
that together lie z standard errors from the data: z cos φ and z sin φ, for all angles φ. For a
normal difference this is the textbook interval; for a ratio it is close to Fieller's.

The best group is not known. The ratio of a group to it is the least of its ratios to all others. A
lower limit of that is the least of the lower limits: it errs only where that of the truly best
group does, so the error is shared by the groups. An upper limit is the least of the upper limits,
any of which may err, so there the error is shared by the pairs.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._errors import InputError
from evenhand._kinds import check_labels
from evenhand._uncertainty.curves import Estimates, curve_at, rate_curves
from evenhand._words import did_you_mean

Floats = NDArray[np.float64]
How = Literal["difference", "ratio"]

ANGLES = np.linspace(0, np.pi / 2, 25)


class Beside(NamedTuple):
    """The groups' differences from a reference, or ratios to it, with simultaneous limits."""

    values: Floats
    low: Floats
    high: Floats


def against(
    hits: Any, rows: Any, to: Any, how: How, error: float, among: NDArray[np.bool_] | None = None
) -> Beside:
    """Rates beside a reference: the place of a group, "best" (the highest) or "overall".

    `among` says which groups can be the best one; all by default.

    >>> ratios = against([40, 60, 90], [100, 100, 100], "best", "ratio", 0.05)
    >>> ratios.values.round(2), ratios.high.round(2)
    (array([0.44, 0.67, 1.  ]), array([0.61, 0.83, 1.  ]))
    """
    hits, rows = np.asarray(hits, np.float64), np.asarray(rows, np.float64)
    rates = np.divide(hits, rows, out=np.full(hits.shape, np.nan), where=rows > 0)
    return beside(rates, rate_curves(hits, rows), rows, to, how, error, among)


def beside(
    values: Floats,
    curves: Floats,
    sizes: Floats,
    to: Any,
    how: How,
    error: float,
    among: NDArray[np.bool_] | None = None,
) -> Beside:
    """The same of any values with confidence curves (distances, groups)."""
    seen = np.isfinite(values)
    among = np.ones(len(values), bool) if among is None else among
    found = Beside(*(np.full(len(values), np.nan) for _ in range(3)))
    if seen.sum() < 2 or (isinstance(to, int | np.integer) and not seen[to]):
        return found
    place = int(np.count_nonzero(seen[:to])) if isinstance(to, int | np.integer) else to
    known = values[seen], curves[:, seen], sizes[seen]
    if to == "best":
        parts = _beside_best(*known[:2], np.flatnonzero(among[seen]), how, error)
    else:
        parts = _beside(*known, place, how, error)
    for whole, part in zip(found, parts, strict=True):
        whole[seen] = part
    return found


def place_of(to: Label, groups: tuple[Label, ...]) -> Any:
    """The reference as `beside` knows it."""
    check_labels(to=to)
    if to in groups:
        return groups.index(to)
    if to in ("best", "overall"):
        return to
    raise InputError(
        f"to={to!r} is not a group; there are {list(groups)}, and 'overall' and 'best'."
        f"{did_you_mean(to, groups)}"
    )


def interval_beside(
    estimates: Estimates, to: Label, how: How, error: float
) -> tuple[Floats, Floats]:
    """Limits of how far the farthest group of each cell is from the reference, in either direction.

    By ratio it is how much the smaller falls short of the larger. The upper limit needs one normal
    variable, as that of any measure (see `interval.py`); the lower one is shared by the groups.
    """
    place, ends = place_of(to, estimates.groups), []
    for values, curves, sizes in zip(
        estimates.values, np.moveaxis(estimates.curves, 1, 0), estimates.sizes, strict=True
    ):
        looks = len(np.unique(estimates.strata)) * estimates.looks
        sure = beside(values, curves, sizes, place, how, error / looks)
        number = max(int(np.isfinite(values).sum()) - (place != "overall"), 1)
        wide = beside(values, curves, sizes, place, how, min(error * number, 1.0))
        ends.append((np.nanmax(_apart(sure, how)[0]), np.nanmax(_apart(wide, how)[1])))
    lows, highs = np.transpose(ends)
    return lows, highs


def _apart(found: Beside, how: How) -> tuple[Floats, Floats]:
    """A lower bound of how far a group is from the reference, and how far it can be."""
    if how == "difference":
        least = np.maximum(np.maximum(found.low, -found.high), 0.0)
        return least, np.maximum(np.abs(found.low), np.abs(found.high))
    inverse = [1 / np.maximum(end, 1e-300) for end in (found.low, found.high)]
    least = np.maximum(np.maximum(1 - found.high, 1 - inverse[0]), 0.0)
    return least, np.maximum(np.maximum(1 - found.low, 1 - inverse[1]), 0.0)


def _beside_best(
    values: Floats, curves: Floats, references: NDArray[np.intp], how: How, error: float
) -> Beside:
    """Beside the highest of some of the groups."""
    from scipy.special import ndtri

    number = len(values)
    each, every = error / number, error / max((number - 1) * len(references), 1)
    low = _limits(curves, references, how, float(-ndtri(each / 2)))[0]
    high = _limits(curves, references, how, float(-ndtri(every / 2)))[1]
    shown = _combined(values, values[references].max(), how)
    return Beside(shown, np.minimum(low, shown), np.maximum(high, shown))


def _beside(
    values: Floats, curves: Floats, sizes: Floats, to: Any, how: How, error: float
) -> Beside:
    from scipy.special import ndtri

    number = len(values)
    if to == "overall":
        share = sizes / sizes.sum()
        others = (share @ values - share * values) / (1 - share)
        reach = float(-ndtri(error / number / 2))
        ends = [curve_at(curves, z) - values for z in (-reach, reach)]
        spread = [
            np.sqrt(((share * end) ** 2).sum() - (share * end) ** 2) / (1 - share) for end in ends
        ]
        both = [_overall(values, others, share, ends, spread, how, up) for up in (False, True)]
        return Beside(_combined(values, share @ values, how), *both)
    reach = float(-ndtri(error / (number - 1) / 2))
    low, high = _limits(curves, np.array([to]), how, reach)
    shown = _combined(values, values[to], how)
    low[to], high[to] = shown[to], shown[to]
    return Beside(shown, low, high)


def _overall(
    values: Floats, others: Floats, share: Floats, ends: Any, spread: Any, how: How, up: bool
) -> Floats:
    """Limits beside everyone, the group included: of the group and of the others, apart."""
    angles = ANGLES[:, None]
    ours = values + np.cos(angles) * ends[up]
    theirs = others + np.sin(angles) * (-spread[0] if up else spread[1])
    everyone = share * ours + (1 - share) * np.maximum(theirs, 0.0 if how == "ratio" else -np.inf)
    reached = _combined(ours, everyone, how)
    return np.asarray(reached.max(axis=0) if up else reached.min(axis=0))


def _limits(
    curves: Floats, references: NDArray[np.intp], how: How, reach: float
) -> tuple[Floats, Floats]:
    """The least lower and upper limits of every group beside any of the references but itself."""
    itself = 1.0 if how == "ratio" else 0.0
    least = np.full((2, curves.shape[1]), np.inf)
    for side, end in ((-1.0, least[0]), (1.0, least[1])):
        ours = np.array([curve_at(curves, side * reach * np.cos(angle)) for angle in ANGLES])
        theirs = np.array([curve_at(curves, -side * reach * np.sin(angle)) for angle in ANGLES])
        for reference in references.tolist():
            reached = _combined(ours, theirs[:, [reference]], how)
            limit = reached.min(axis=0) if side < 0 else reached.max(axis=0)
            limit[reference] = itself
            np.minimum(end, limit, out=end)
    return least[0], least[1]


def _combined(ours: Any, theirs: Any, how: How) -> Floats:
    if how == "difference":
        return np.asarray(ours - theirs, np.float64)
    both = np.broadcast_arrays(np.asarray(ours, np.float64), np.asarray(theirs, np.float64))
    out = np.where(both[0] > 0, np.inf, 1.0)
    return np.asarray(np.divide(both[0], both[1], out=out, where=both[1] > 0))
