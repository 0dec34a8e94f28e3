"""Cache of what is computed from counts alone.

Counts are immutable, so results never go stale. They are kept on the counts themselves and freed
with them, but left out of copies and pickles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

PLACE = "_worked_out"


class Immutable:
    """An object that never changes, so that results can be cached on it."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != PLACE}


def once(source: Immutable, key: Any, work_out: Callable[[], T]) -> T:
    """The cached result under this key, computed on first use.

    Audits that share counts share these results: another margin or threshold recomputes only what
    depends on it.

    >>> class Counts(Immutable):
    ...     pass
    >>> counts = Counts()
    >>> once(counts, "total", lambda: 3), once(counts, "total", lambda: 4)
    (3, 3)
    """
    cache: dict[Any, T] = source.__dict__.setdefault(PLACE, {})
    if key not in cache:
        cache[key] = work_out()
    return cache[key]
