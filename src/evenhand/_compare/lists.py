"""Rankings of the same rows by several models, summed once for each model."""

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
from evenhand._compare.influences import Influences
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
    """The places of rows by each model, or its scores, with the columns of the rows."""

    truth: Any
    predicted: Mapping[str, Any]
    scores: Mapping[str, Any]
    groups: Groups
    weight: Any
    cluster: Any
    query: Any
    discount: Discount
    top_k: int | None
    about = "lists"
    needs = ("lists",)
    notes = ()

    @property
    def number(self) -> int:
        """Number of rows."""
        return len(self.groups)

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """The sums of each model."""
        if self.scores and self.predicted:
            raise InputError(
                "A ranking is given by predictions, the places, or by y_score, the scores that "
                "order each list: pass one of them."
            )
        if self.scores:
            return tuple(self._counted(None, score) for score in self.scores.values())
        return tuple(self._placed(model, place) for model, place in self.predicted.items())

    def _placed(self, model: str, place: Any) -> Tally:
        places_ = numbers(place, model)
        if (places_ != np.rint(places_)).any():
            raise InputError(
                f"{model} has the place {places_[places_ != np.rint(places_)][0]:g}; rankings are "
                "compared by places 1, 2, 3, … If these are scores, pass them as y_score=."
            )
        return self._counted(place, None)

    def _counted(self, place: Any, score: Any) -> Tally:
        return ranking(
            self.truth,
            place,
            self.groups,
            query=self.query,
            score=score,
            discount=self.discount,
            top_k=self.top_k,
            sample_weight=self.weight,
            cluster=self.cluster,
        )

    def observed(self, needs: set[str]) -> Mapping[str, tuple[Tally, ...]]:
        """A tally for each model."""
        return dict.fromkeys(needs, self.tallies)

    def influences(
        self,
        criterion: Criterion,
        sources: Sequence[Any],  # noqa: ARG002
        favorable: Label,  # noqa: ARG002
    ) -> Callable[[int, int], Influences]:
        """Function of two models that gives the influences of queries, or of coarser clusters."""
        return lambda first, second: self._paired(criterion, first, second)

    def _paired(self, criterion: Criterion, first: int, second: int) -> Influences:
        models = [self.tallies[model] for model in (first, second)]
        axis = min(models[0].clusters, key=lambda name: models[0].axis(name).size)
        influences = []
        for source in models:
            units, parts = units_of(source, axis)
            influences.append(criterion.statistic.influence(parts, units.owner, source.whole))
        concerned = np.isfinite(influences[0]) & np.isfinite(influences[1])
        together = {axis: Column(units.cluster.astype(np.uint32), models[0].axis(axis).labels)}
        rows = (np.ones(len(units.owner)),)
        return Influences(units.owner, (influences[0], influences[1]), concerned, rows, together)

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[Mapping[str, tuple[Tally, ...]]]:
        """Bootstrap sums of queries, or of coarser clusters, the same for all models."""
        first = self.tallies[0]
        axis = min(first.clusters, key=lambda name: first.axis(name).size)
        size, at = first.axis(axis).size, [axis_.name for axis_ in first.axes].index(axis)
        for _ in range(replicates):
            draws = np.bincount(rng.integers(0, size, size), minlength=size)
            drawn_tallies = (
                replace(
                    tally,
                    sums={key: v * draws[tally.cells[at]] for key, v in tally.sums.items()},
                )
                for tally in self.tallies
            )
            yield dict.fromkeys(needs, tuple(drawn_tallies))
