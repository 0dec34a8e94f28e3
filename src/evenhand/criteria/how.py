"""How a criterion is asked: which measure, aggregate and transform."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evenhand import aggregates, measures
from evenhand.criteria.reading import Reading
from evenhand.measures import Measure
from evenhand.statistics import Table


@dataclass(frozen=True)
class How:
    """Measure, aggregate, transform and least pooled F, as asked for."""

    measure: str | Measure
    aggregate: str | aggregates.Aggregate
    transform: str | None = None
    tau: float | None = None

    @property
    def function(self) -> Measure:
        """The measure itself."""
        return measures.resolve(self.measure)

    @property
    def applied(self) -> str | None:
        """The transform; "raw" is none, even where one is the habit."""
        return None if self.transform == "raw" else self.transform

    def check(self, *, sweeps: bool) -> None:
        """Refuse a transform that does not exist, and what only distributions know."""
        if self.transform not in (None, "raw", *measures.TRANSFORMS):
            known = ["raw", *measures.TRANSFORMS]
            raise ValueError(f"There is no transform {self.transform!r}; there are {known}.")
        if sweeps and self.aggregate not in ("worst", "integral"):
            raise ValueError(
                f"Over cut points the aggregate is 'worst' or 'integral', not {self.aggregate!r}."
            )
        if self.tau is not None and not sweeps:
            raise ValueError("tau is for 'strong_parity': the least pooled F of a cut point.")

    def for_supremum(self) -> How:
        """On raw CDFs a scale-free supremum is degenerate: exponentiate, unless told otherwise."""
        if self.transform is None and self.tau is None and measures.is_scale_free(self.function):
            return replace(self, transform="exp")
        return self

    def reading(self, name: str, value: Any, cells: Any, table: Table) -> Reading:
        """The answer, with how it was asked."""
        used = self.applied if measures.is_scale_free(self.function) else None
        asked = (name_of(self.measure), name_of(self.aggregate), used)
        return Reading(name, *asked, value, cells, table.values, table.cells, table.groups)


def name_of(thing: Any) -> str:
    """The name of a measure or aggregate, with the arguments it was given.

    >>> name_of(partial(measures.pq, p=0.5))
    'pq(p=0.5)'
    """
    if isinstance(thing, partial):
        named = [f"{key}={value}" for key, value in thing.keywords.items()]
        return f"{name_of(thing.func)}({', '.join([*map(str, thing.args), *named])})"
    return thing if isinstance(thing, str) else getattr(thing, "__name__", repr(thing))
