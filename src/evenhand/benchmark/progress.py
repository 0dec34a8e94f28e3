"""A progress bar on stderr, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from evenhand._errors import require

LAYOUT = "{percentage:3.0f}% |{bar}| {desc} [{elapsed}, left {remaining}]"

T = TypeVar("T")


def is_watched(progress: bool | None) -> bool:
    """Whether to show a bar: `progress`, and by default where stderr is a terminal.

    >>> is_watched(True)
    True
    """
    return sys.stderr.isatty() if progress is None else progress


def tracked(
    things: Iterable[T], total: int, noun: str, progress: bool | None = None
) -> Iterator[T]:
    """Yield the things one by one, with a bar that counts them.

    >>> list(tracked("ab", 2, "letters", progress=False))
    ['a', 'b']
    """
    if not is_watched(progress) or not total:
        yield from things
        return
    require("tqdm")
    from tqdm import tqdm

    with tqdm(total=total, bar_format=LAYOUT, file=sys.stderr) as bar:
        bar.set_description_str(f"0 of {total} {noun}")
        for done, thing in enumerate(things, start=1):
            yield thing
            bar.set_description_str(f"{done} of {total} {noun}")
            bar.update(1)
