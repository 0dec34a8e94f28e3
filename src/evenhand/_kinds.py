"""What kind of thing each option takes: said once by name, asked at every door.

Values are checked by those who read them; a list in place of a number, say, would else reach the
caller as an error of whatever touched it first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from evenhand._errors import InputTypeError


class Kind(NamedTuple):
    """The types that an option takes, in words and as classes."""

    words: str
    types: tuple[type, ...]
    callable: bool = False

    def takes(self, value: Any) -> bool:
        """Whether a value is of the kind; truth values are no numbers, and arrays no names."""
        if self.callable and callable(value):
            return True
        if isinstance(value, bool | np.bool_) and bool not in self.types:
            return False
        return isinstance(value, self.types)


NAME = Kind("a name", (str,))
NAME_OR_NONE = Kind("a name", (str, type(None)))
FUNCTION_OR_NONE = Kind("a name or a function", (str, type(None)), callable=True)
KINDS: dict[str, Kind] = {
    "aggregate": FUNCTION_OR_NONE,
    "bins": Kind("a mapping from columns to bins", (Mapping, type(None))),
    "confidence": Kind("a number between 0 and 1", (Real,)),
    "control": NAME,
    "criteria": Kind("a criterion, or a list of these", (Iterable, type(None)), callable=True),
    "criterion": Kind("a criterion or its name", (str,), callable=True),
    "difference": Kind("a number", (Real, type(None))),
    "depth": Kind("a whole number", (Integral,)),
    "g": FUNCTION_OR_NONE,
    "margin": Kind("a number", (Real, type(None))),
    "measure": FUNCTION_OR_NONE,
    "measures": Kind("a measure, or a list of these", (Collection,)),
    "method": NAME,
    "min_count": Kind("a whole number", (Integral,)),
    "missing": NAME,
    "power": Kind("a number between 0 and 1", (Real,)),
    "rare": NAME,
    "rate": Kind("a number between 0 and 1", (Real, type(None))),
    "replicates": Kind("a whole number", (Integral, type(None))),
    "sums": Kind("a mapping of names to columns", (Mapping, type(None))),
    "task": NAME_OR_NONE,
    "tau": Kind("a number", (Real, type(None))),
    "title": Kind("text", (str, type(None))),
    "tolerances": Kind("a mapping of names to numbers", (Mapping, type(None))),
    "transform": NAME_OR_NONE,
}


def check_kinds(**options: Any) -> None:
    """Refuse an option of the wrong kind.

    >>> check_kinds(confidence=None)
    Traceback (most recent call last):
    evenhand.InputTypeError: confidence must be a number between 0 and 1, not None.
    """
    for name, value in options.items():
        if name in KINDS and not KINDS[name].takes(value):
            raise InputTypeError(f"{name} must be {KINDS[name].words}, not {value!r}.")


def check_columns(**columns: Any) -> None:
    """Refuse what cannot name a column, or several where one is meant.

    >>> check_columns(y_pred=["a"])
    Traceback (most recent call last):
    evenhand.InputTypeError: y_pred must be the name of a column, not ['a'].
    """
    for name, value in columns.items():
        several = name in ("sensitive_features", "strata", "cluster")
        names = value if several and isinstance(value, list | tuple) else [value]
        if not all(isinstance(one, str) for one in names if value is not None):
            words = "the name of a column" + (", or a list of names" if several else "")
            raise InputTypeError(f"{name} must be {words}, not {value!r}.")
