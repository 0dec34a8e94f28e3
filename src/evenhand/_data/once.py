"""What follows from counts alone is worked out once, when it is first asked for.

Counts never change after they are made. What is remembered stays with them and goes with them; it
is no part of them, so copies and pickles are without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

PLACE = "_worked_out"


class Unchanging:
    """What never changes after it is made."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != PLACE}


def once(source: Unchanging, key: Any, work_out: Callable[[], T]) -> T:
    """What is remembered of a source under this key, worked out if it is not known yet.

    Audits that share counts share what follows from them: after a change of the margin or of the
    threshold, all that does not depend on it.

    >>> class Counts(Unchanging):
    ...     pass
    >>> counts = Counts()
    >>> once(counts, "total", lambda: 3), once(counts, "total", lambda: 4)
    (3, 3)
    """
    known: dict[Any, T] = source.__dict__.setdefault(PLACE, {})
    if key not in known:
        known[key] = work_out()
    return known[key]
