"""Rankings of the same rows by several models: places in lists, added up once for each model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.codes import Column
from evenhand._columns.encoding import numbers
from evenhand._compare.moved import Moved
from evenhand._data.groups import Groups
from evenhand._data.places import Discount
from evenhand._data.rankings import ranking
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._uncertainty.clusters import units_of
from evenhand.criteria import Criterion

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lists:
    """The places that each model gives the same rows, what is known of them, and the groups."""

    truth: Any
    predicted: Mapping[str, Any]
    groups: Groups
    weight: Any
    cluster: Any
    query: Any
    discount: Discount
    top_k: int | None
    about = "lists"

    @property
    def number(self) -> int:
        """How many rows there are."""
        return len(self.groups)

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """The sums of each model."""
        return tuple(self._counted(model, place) for model, place in self.predicted.items())

    def _counted(self, model: str, place: Any) -> Tally:
        known = numbers(place, model)
        if (known != np.rint(known)).any():
            raise InputError(
                f"{model} has the place {known[known != np.rint(known)][0]:g}; rankings are "
                "compared by places 1, 2, 3, … If these are scores, pass the places that they "
                "give each row of a list, the highest score first."
            )
        return ranking(
            self.truth,
            place,
            self.groups,
            query=self.query,
            discount=self.discount,
            top_k=self.top_k,
            sample_weight=self.weight,
            cluster=self.cluster,
        )

    def observed(self, needs: set[str]) -> Mapping[str, tuple[Tally, ...]]:
        """A tally for each model."""
        return dict.fromkeys(needs, self.tallies)

    def moved(
        self,
        criterion: Criterion,
        sources: Sequence[Any],  # noqa: ARG002
        favorable: Label,  # noqa: ARG002
    ) -> Callable[[int, int], Moved]:
        """By how much queries move a statistic of two models, or the fewest clusters of rows."""
        return lambda first, second: self._moved(criterion, first, second)

    def _moved(self, criterion: Criterion, first: int, second: int) -> Moved:
        models = [self.tallies[model] for model in (first, second)]
        axis = min(models[0].clusters, key=lambda name: models[0].axis(name).size)
        each = []
        for source in models:
            units, parts = units_of(source, axis)
            each.append(criterion.statistic.influence(parts, units.owner, source.whole))
        concerned = np.isfinite(each[0]) & np.isfinite(each[1])
        together = {axis: Column(units.cluster.astype(np.uint32), models[0].axis(axis).labels)}
        rows = (np.ones(len(units.owner)),)
        return Moved(units.owner, (each[0], each[1]), concerned, rows, together)

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[Mapping[str, tuple[Tally, ...]]]:
        """Sums of queries drawn again from all, or of the fewest clusters; the same for models."""
        first = self.tallies[0]
        axis = min(first.clusters, key=lambda name: first.axis(name).size)
        size, at = first.axis(axis).size, [one.name for one in first.axes].index(axis)
        for _ in range(replicates):
            drawn = np.bincount(rng.integers(0, size, size), minlength=size)
            again = (
                replace(each, sums={of: v * drawn[each.cells[at]] for of, v in each.sums.items()})
                for each in self.tallies
            )
            yield dict.fromkeys(needs, tuple(again))
