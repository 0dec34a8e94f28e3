"""How evenhand speaks: names it suggests, numbers it writes, and plurals."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """A hint at the nearest known name, with a space before it; empty where none is near.

    >>> did_you_mean("equal_odds", ["equalized_odds", "accuracy_parity"])
    " Did you mean 'equalized_odds'?"
    """
    near = difflib.get_close_matches(str(name), [str(one) for one in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def plural(count: float, noun: str, nouns: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(12500, "row"), plural(2, "criterion", "criteria")
    ('1 row', '12,500 rows', '2 criteria')
    """
    return f"{count:,.0f} {noun if count == 1 else nouns or noun + 's'}"
