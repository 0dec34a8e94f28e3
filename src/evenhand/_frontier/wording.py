"""What a frontier says, in sentences."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import NamedTuple

from evenhand._words import number
from evenhand.measures import MEASURES

SHARES = (0.5, 0.25, 0.0)  # of today's disparity, at which the cost is told


class Place(NamedTuple):
    """Where a model stands: its disparity, its cost, and that as people read it."""

    value: float
    cost: float
    shown: float


def sentences(
    criterion: str,
    measure: str,
    unit: str,
    model: Place,
    least: float,
    gap: float,
    cost_at: Callable[[float], float],
) -> list[str]:
    """Where the model stands, the least disparity at its cost, and what less of it costs."""
    lines = [
        f"By {criterion.replace('_', ' ')} the model's {MEASURES[measure].phrase} is "
        f"{number(model.value)} at {unit} {number(model.shown, 4)}."
    ]
    if least < model.value - 1e-4:
        lines.append(
            f"At that {unit} it could be {number(least)}, and no rule on these scores is below "
            f"{number(least)} (proved to {gap:.0e})."
        )
    else:
        lines.append(f"No rule on these scores of that {unit} is more even (proved to {gap:.0e}).")
    for share in SHARES:
        goal = share * model.value
        price = cost_at(goal) - model.cost
        how = f"costs {number(price, 2)}" if price > 5e-5 else "costs nothing"
        lines.append(f"{number(model.value)} → {number(goal)} {how} of {unit}.")
    return lines


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
    known = "" if isnan(error) else f" at a root mean squared error of {number(error, 4)}"
    lines = [
        f"By {criterion.replace('_', ' ')} the model's {MEASURES[measure].phrase} is "
        f"{number(value)}{known}."
    ]
    for share in (SHARES[0], SHARES[-1]):
        move, after = moved_to(share * value)
        then = "" if isnan(after) else f"; the error is then {number(after, 4)}"
        lines.append(
            f"{number(value)} → {number(share * value)} moves predictions by {number(move)} (root "
            f"mean square), and no less would do (proved){then}."
        )
    return lines
