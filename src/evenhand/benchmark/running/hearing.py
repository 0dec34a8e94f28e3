"""Warnings of one thread, also where others run in parallel."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_listeners: dict[int, list[list[str]]] = {}  # by thread, the innermost last
_filters: list[Any] = []


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the warnings of this thread, each text once; none is shown.

    `warnings.catch_warnings` is for the whole process: two threads that use it take each other's
    warnings, and may leave the filters of the other behind. Here filters are set once, when the
    first thread begins, and set back when the last one ends.

    >>> with collected_warnings() as notes:
    ...     warnings.warn("careful", stacklevel=1)
    >>> notes
    ['UserWarning: careful']
    """
    notes: list[str] = []
    me = threading.get_ident()
    with _lock:
        if not _listeners:
            _filters.append(warnings.catch_warnings())
            _filters[-1].__enter__()
            warnings.simplefilter("always")
            warnings.showwarning = _note
        _listeners.setdefault(me, []).append(notes)
    try:
        yield notes
    finally:
        with _lock:
            _listeners[me].pop()
            if not _listeners[me]:
                del _listeners[me]
            if not _listeners:
                _filters.pop().__exit__(None, None, None)


def _note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    text = f"{category.__name__}: {message}"
    for notes in _listeners.get(threading.get_ident(), [])[-1:]:
        if text not in notes:
            notes.append(text)
