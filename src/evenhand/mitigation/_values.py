"""What parameters of estimators may hold: a name means the same in each, so it is said once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np


class Values(NamedTuple):
    """What a parameter may hold: in words, and a test."""

    words: str
    allow: Callable[[Any], bool]


def _number(low: float, high: float = math.inf, *, above: bool = False) -> Values:
    """A number between two, or above the first."""
    least = f"above {low:g}" if above else f"of at least {low:g}"
    words = f"a number {least}" if high == math.inf else f"a number from {low:g} to {high:g}"

    def allow(value: Any) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
            return False
        number = float(value)
        return (low < number if above else low <= number) and number <= high

    return Values(words, allow)


def _whole(least: int) -> Values:
    """A whole number of at least so many."""
    return Values(
        f"a whole number of at least {least}",
        lambda value: (
            isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
        ),
    )


def _or_none(values: Values) -> Values:
    return Values(f"None or {values.words}", lambda value: value is None or values.allow(value))


def _is_range(value: Any) -> bool:
    """Whether a value is two finite numbers, the second above the first."""
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError):
        return False
    return math.isfinite(low) and math.isfinite(high) and low < high


def _is_column(value: Any) -> bool:
    """Whether a value may name a column, or be its position."""
    return isinstance(value, str | Integral) and not isinstance(value, bool)


def _are_columns(value: Any) -> bool:
    """Whether a value may name a column or several."""
    if isinstance(value, list | tuple):
        return bool(value) and all(_is_column(name) for name in value)
    return _is_column(value)


TRUTH = Values("True or False", lambda value: isinstance(value, bool | np.bool_))
NAME = Values("a name", lambda value: isinstance(value, str))
VALUES: Mapping[str, Values] = {
    **dict.fromkeys(
        ("sees_group", "prefit", "draw", "hard", "halves", "as_published", "rising"), TRUTH
    ),
    **dict.fromkeys(("criterion", "divergence", "flips", "loss", "measure", "objective"), NAME),
    "unseen": Values(
        "'error' or 'base'", lambda value: isinstance(value, str) and value in ("error", "base")
    ),
    "row_id": _or_none(Values("a column, a list of columns or 'index'", _are_columns)),
    "epsilon": _number(0),
    "softness": _number(0, above=True),
    "tolerance": _number(0, above=True),
    "price_bound": _number(0, above=True),
    "p": _number(0, above=True),
    "q": _number(0, above=True),
    "tau": _number(0, 1),
    "fraction": _number(0, 1),
    "constraint_weight": _number(0, 1),
    "strength": _number(0),
    "bound": _or_none(_number(0)),
    "learning_rate": _number(0, above=True),
    "batch_size": _whole(1),
    "max_epochs": _whole(1),
    "patience": _or_none(_whole(1)),
    "privacy": _or_none(_number(0, above=True)),
    "regularization": _or_none(_number(0)),
    "grid_size": _whole(1),
    "levels": _whole(2),
    "max_iter": _whole(1),
    "support": Values(
        "a whole number of at least 1, or 'exact'",
        lambda value: (isinstance(value, str) and value == "exact") or _whole(1).allow(value),
    ),
    "bounds": Values(
        "None or two numbers, the second above the first",
        lambda value: value is None or _is_range(value),
    ),
}
