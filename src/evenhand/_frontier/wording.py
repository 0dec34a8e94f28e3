"""What a frontier says, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._words import number, plural
from evenhand.measures import Measure, resolve

Floats = NDArray[Any]
SMALL = 10  # rows, fewer than which make a gap by themselves
HALVED = "Halving the {what}, to {goal},"
OF_SHARES = ("strong_parity",)  # of amounts: shares of the groups at or below a cut point
LEAST = 5e-5  # a cost that is said
NONE = 1e-12  # a disparity that is none


class Place(NamedTuple):
    """Where a model stands: its disparity, its cost, and that as people read it.

    `aside` is the disparity without groups of a few rows, and which these are.
    """

    value: float
    cost: float
    shown: float
    aside: tuple[float, str] | None = None


def sentences(
    criterion: str,
    measure: str,
    unit: str,
    model: Place,
    least: float,
    cost_at: Callable[[float], float],
    held: str = "",
    people_at: Callable[[float], str] | None = None,
    kind: str = "",
) -> list[str]:
    """Where the model stands, the least disparity at its cost, and what less of it costs.

    `held` says what all rules have in common, and `people_at` whose decisions change at a bound.
    The gap may be of a `kind`, such as that in the worst case.
    """
    by = resolve(measure)
    what = f"{kind}gap" if by.is_width else f"{kind}{by.phrase}"

    def told(value: float) -> str:
        return points_of(value) if by.is_width else number(value)

    name = criterion.replace("_", " ")
    at = f"at a cost of {number(model.cost, 4)}"
    if unit == "accuracy":
        at = f"at an accuracy of {100 * model.shown:.1f}%"
    lines = [f"By {name}, the model's {what} is {told(model.value)} {at}."]
    if model.aside is not None and told(model.aside[0]) != told(model.value):
        lines[0] = f"{lines[0][:-1]}; without {model.aside[1]} it is {told(model.aside[0])}."
    if model.value < NONE:
        return lines
    is_free = least <= LEAST < model.value and cost_at(0.0) - model.cost <= LEAST
    if people_at is None and is_free:
        return [*lines, f"{_closing(by).format(what=what)} costs {_price(0.0, unit)}."]
    if least < model.value - 1e-4:
        better = f"be {told(least)}; no rule on these scores does better."
        closed = "be closed." if by.is_width else "be 0."
        lines.append(
            f"At the same {unit}{held} the {what} could {better if least > LEAST else closed}"
        )
    else:
        lines.append(f"No rule on these scores of the same {unit}{held} has a smaller {what}.")
    for share, start in ((0.5, HALVED), (0.0, _closing(by))):  # of today's disparity
        goal = share * model.value
        more = cost_at(goal) - model.cost
        price = _price(more, unit)
        if unit == "accuracy" and more > LEAST:
            price += f" ({100 * model.shown:.1f}% to {100 * (model.shown - more):.1f}%)"
        people = people_at(goal) if people_at is not None and not share else ""
        lines.append(f"{start.format(what=what, goal=told(goal))} costs {price}{people}.")
    return lines


def without_small(
    table: Floats, sizes: Floats, names: Sequence[str], value_of: Callable[[Floats], float]
) -> tuple[float, str] | None:
    """The disparity without groups of a few rows, and which these are; None where all are large.

    A rate of one row is 0 or 1, and so makes the largest gap by itself. Weights that are no
    counts do not say how many rows there are.
    """
    small = np.flatnonzero(sizes < SMALL)
    counted = np.array_equal(sizes, np.rint(sizes))
    if not counted or not len(small) or len(sizes) - len(small) < 2:
        return None
    value = value_of(np.delete(table, small, axis=0))
    if len(small) == 1:
        return value, f"{names[small[0]]} ({plural(int(sizes[small[0]]), 'row')})"
    return value, f"the {len(small)} groups of fewer than {SMALL} rows"


def _closing(by: Measure) -> str:
    return "Closing the {what}" if by.is_width else "Bringing the {what} to 0"


def _price(more: float, unit: str) -> str:
    if more <= LEAST:
        return f"no {unit}" if unit == "accuracy" else "nothing"
    return f"{points_of(more)} of accuracy" if unit == "accuracy" else number(more, 2)


def points_of(value: float) -> str:
    """A difference of rates in points, with as many decimals as it takes to see it.

    >>> points_of(0.2594), points_of(0.0021), points_of(0.00004), points_of(0.0), points_of(0.01)
    ('25.9 points', '0.2 points', '0.004 points', '0 points', '1.0 points')
    """
    if value < NONE:
        return "0 points"
    return f"{100 * value:.1f} points" if value >= 0.0005 else f"{100 * value:.1g} points"


def moving_sentences(
    criterion: str,
    measure: str,
    value: float,
    error: float,
    moved_to: Callable[[float], tuple[float, float]],
) -> list[str]:
    """How uneven predictions are, and how far they must move to be less so.

    `moved_to` has the root mean square of the moves that a bound takes, and the error after them;
    errors are NaN where the truth is not known.
    """
    by = resolve(measure)
    is_share = by.is_width and criterion in OF_SHARES

    def told(amount: float) -> str:
        return points_of(amount) if is_share else number(amount)

    what = "largest gap between distributions" if is_share else by.phrase
    known = "" if isnan(error) else f" at a root mean squared error of {number(error, 4)}"
    name = criterion.replace("_", " ")
    lines = [f"By {name}, the model's {what} is {told(value)}{known}."]
    for share, start in ((0.5, HALVED), (0.0, _closing(by))):
        move, after = moved_to(share * value)
        then = "" if isnan(after) else f"; the error is then {number(after, 4)}"
        goal = start.format(what=what, goal=told(share * value))
        lines.append(
            f"{goal} moves predictions by at least {number(move)} (root mean square){then}."
        )
    return lines
