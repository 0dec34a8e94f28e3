"""The sentences of a frontier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._words import number, plural
from evenhand.measures import Measure, resolve

Floats = NDArray[Any]
SMALL = 10  # groups of fewer rows can produce a large gap by themselves
HALVED = "Halving the {what}, to {goal},"
OF_SHARES = ("strong_parity",)  # of amounts: shares of the groups at or below a cut point
LEAST = 5e-5  # the smallest cost that is reported
NONE = 1e-12  # a disparity that is practically 0


class Place(NamedTuple):
    """A model's disparity and cost, and the cost or accuracy to be shown.

    `aside` is the disparity without groups of a few rows, with their names.
    """

    value: float
    cost: float
    displayed: float
    aside: tuple[float, str] | None = None


def sentences(
    criterion: str,
    measure: str,
    unit: str,
    model: Place,
    lowest: float,
    cost_at: Callable[[float], float],
    held: str = "",
    people_at: Callable[[float], str] | None = None,
    kind: str = "",
) -> list[str]:
    """The model's disparity, the least disparity at its cost, and the cost of reducing it.

    `held` is a clause on what all rules have in common, and `people_at` says whose decisions change
    at a bound. The gap may be of a `kind`, such as a worst-case gap.
    """
    resolved = resolve(measure)
    noun = f"{kind}gap" if resolved.is_width else f"{kind}{resolved.phrase}"

    def spelled(value: float) -> str:
        return points_of(value) if resolved.is_width else number(value)

    name = criterion.replace("_", " ")
    cost_text = f"at a cost of {number(model.cost, 4)}"
    if unit == "accuracy":
        cost_text = f"at an accuracy of {100 * model.displayed:.1f}%"
    lines = [f"By {name}, the model's {noun} is {spelled(model.value)} {cost_text}."]
    if model.aside is not None and spelled(model.aside[0]) != spelled(model.value):
        lines[0] = f"{lines[0][:-1]}; without {model.aside[1]} it is {spelled(model.aside[0])}."
    if model.value < NONE:
        return lines
    is_free = lowest <= LEAST < model.value and cost_at(0.0) - model.cost <= LEAST
    if people_at is None and is_free:
        return [*lines, f"{_closing(resolved).format(what=noun)} costs {_price(0.0, unit)}."]
    if lowest < model.value - 1e-4:
        alternative = f"be {spelled(lowest)}; no rule on these scores does better."
        closed = "be closed." if resolved.is_width else "be 0."
        lines.append(
            f"At the same {unit}{held} the {noun} could {alternative if lowest > LEAST else closed}"
        )
    else:
        lines.append(f"No rule on these scores of the same {unit}{held} has a smaller {noun}.")
    for share, start in ((0.5, HALVED), (0.0, _closing(resolved))):  # of today's disparity
        goal = share * model.value
        extra = cost_at(goal) - model.cost
        price = _price(extra, unit)
        if unit == "accuracy" and extra > LEAST:
            price += f" ({100 * model.displayed:.1f}% to {100 * (model.displayed - extra):.1f}%)"
        people = people_at(goal) if people_at is not None and not share else ""
        lines.append(f"{start.format(what=noun, goal=spelled(goal))} costs {price}{people}.")
    return lines


def without_small(
    table: Floats, sizes: Floats, names: Sequence[str], value_of: Callable[[Floats], float]
) -> tuple[float, str] | None:
    """The disparity without groups of a few rows, and their names; None if all are large.

    The rate of a single row is 0 or 1, and so produces the largest gap. Weights that are not counts
    do not determine the number of rows.
    """
    small = np.flatnonzero(sizes < SMALL)
    counted = np.array_equal(sizes, np.rint(sizes))
    if not counted or not len(small) or len(sizes) - len(small) < 2:
        return None
    value = value_of(np.delete(table, small, axis=0))
    if len(small) == 1:
        return value, f"{names[small[0]]} ({plural(int(sizes[small[0]]), 'row')})"
    return value, f"the {len(small)} groups of fewer than {SMALL} rows"


def _closing(measure: Measure) -> str:
    return "Closing the {what}" if measure.is_width else "Bringing the {what} to 0"


def _price(extra: float, unit: str) -> str:
    if extra <= LEAST:
        return f"no {unit}" if unit == "accuracy" else "nothing"
    return f"{points_of(extra)} of accuracy" if unit == "accuracy" else number(extra, 2)


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
    """The disparity of predictions, and how far they must move to reduce it, in sentences.

    `moved_to` returns the root mean square of the moves that a bound requires, and the error after
    them; errors are NaN if the truth is unknown.
    """
    resolved = resolve(measure)
    is_share = resolved.is_width and criterion in OF_SHARES

    def spelled(amount: float) -> str:
        return points_of(amount) if is_share else number(amount)

    noun = "largest gap between distributions" if is_share else resolved.phrase
    error_text = "" if isnan(error) else f" at a root mean squared error of {number(error, 4)}"
    name = criterion.replace("_", " ")
    lines = [f"By {name}, the model's {noun} is {spelled(value)}{error_text}."]
    for share, start in ((0.5, HALVED), (0.0, _closing(resolved))):
        move, after = moved_to(share * value)
        then = "" if isnan(after) else f"; the error is then {number(after, 4)}"
        goal = start.format(what=noun, goal=spelled(share * value))
        lines.append(
            f"{goal} moves predictions by at least {number(move)} (root mean square){then}."
        )
    return lines
