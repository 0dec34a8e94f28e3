"""The same counts for coarser groups: each column alone, combinations, wider bins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.column import Label, positions, union
from evenhand.columns.intervals import Interval
from evenhand.sources import Source

Coarser = Callable[[Label], Label]


@dataclass(frozen=True, eq=False)
class View:
    """A coarser grouping: what it is called, and where each group goes."""

    name: str
    target: NDArray[np.intp]
    labels: tuple[Label, ...]

    def of(self, source: Source) -> Source:
        """The tally or distribution of the coarser groups; no row is counted again."""
        return source.regrouped(self.target, self.labels)


def views(
    labels: tuple[Label, ...],
    names: tuple[str, ...],
    depth: int,
    groupings: Mapping[str, Coarser] | None = None,
) -> Iterator[View]:
    """Columns alone and up to `depth` together, bins two by two, and groupings of the caller's."""
    for size in range(1, min(depth, len(names) - 1) + 1):
        for chosen in combinations(range(len(names)), size):
            yield _view(" × ".join(names[i] for i in chosen), labels, partial(_kept, names, chosen))
    for i, name in enumerate(names):
        bins = [part for part in union(_parts(one, names)[i] for one in labels) if _is_bin(part)]
        for wider in _widened(bins):
            called = f"{name} in {len(set(wider.values()))} bins"
            yield _view(called, labels, partial(_renamed, names, i, wider))
    for name, coarser in (groupings or {}).items():
        yield _view(name, labels, coarser)


def _view(name: str, labels: tuple[Label, ...], coarser: Coarser) -> View:
    moved = [coarser(label) for label in labels]
    kept = union(moved)
    return View(name, positions(moved, kept), kept)


def _parts(label: Label, names: tuple[str, ...]) -> tuple[Label, ...]:
    """The label's entry in each column; groups merged before belong to no entry."""
    if len(names) > 1 and isinstance(label, tuple):
        return label
    return (label,) * len(names)


def _kept(names: tuple[str, ...], chosen: tuple[int, ...], label: Label) -> Label:
    if not isinstance(label, tuple):
        return label
    parts = tuple(_parts(label, names)[i] for i in chosen)
    return parts[0] if len(parts) == 1 else parts


def _renamed(
    names: tuple[str, ...], place: int, wider: Mapping[Label, Label], label: Label
) -> Label:
    parts = list(_parts(label, names))
    if parts[place] not in wider:
        return label
    parts[place] = wider[parts[place]]
    return parts[0] if len(names) == 1 else tuple(parts)


def _is_bin(part: Label) -> bool:
    return isinstance(part, Interval)


def _widened(bins: list[Any]) -> Iterator[dict[Label, Label]]:
    """Neighbours merged two by two, then four by four, down to two bins."""
    width = 2
    while len(bins) > width:
        starts = [i - i % width for i in range(len(bins))]
        ends = [min(start + width, len(bins)) - 1 for start in starts]
        wide = [
            Interval(bins[a].low, bins[b].high, bins[a].lowest)
            for a, b in zip(starts, ends, strict=True)
        ]
        yield dict(zip(bins, wide, strict=True))
        width *= 2
