"""Predicted numbers of several models for the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label
from evenhand._compare.design import Design
from evenhand._compare.influences import Influences
from evenhand._data.counting import moment_columns, moments
from evenhand._data.distributions import Distribution, ascending, steps
from evenhand._data.groups import Groups
from evenhand._data.summaries import KINDS, Source
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tallies import Axis, Tally
from evenhand.criteria import Criterion

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Predicted numbers of each model, with the groups and, if known, the truth."""

    truth: Floats | None
    predicted: tuple[Floats, ...]
    design: Design
    notes: tuple[str, ...] = ()
    about = "numbers"
    needs = ("moments", "steps")

    @property
    def groups(self) -> Groups:
        """The groups of the rows."""
        return self.design.groups

    @property
    def number(self) -> int:
        """Number of rows."""
        return self.design.number

    def observed(self, needs: set[str]) -> dict[str, tuple[Source, ...]]:
        """The sums by group and the distributions of each model."""
        return self._sources(needs, self._sorted(needs), self.design)

    def influences(
        self,
        criterion: Criterion,
        sources: Sequence[Any],
        favorable: Label,  # noqa: ARG002
    ) -> Callable[[int, int], Influences] | None:
        """Function of two models that gives influences of rows; None for distributions."""
        if criterion.kind.is_swept:
            return None
        owner, number = self.groups.codes.astype(np.intp), self.design.lines
        axis = Axis("group", tuple(range(number)))

        def of_model(model: int) -> Floats:
            sums = {"rows": np.ones(number)} | moment_columns(self.truth, self.predicted[model])
            alone = Tally((axis,), np.arange(number)[None], sums)
            return criterion.statistic.influence(alone, owner, sources[model].whole)

        return lambda first, second: Influences.of_rows(
            self.design, of_model(first), of_model(second)
        )

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[dict[str, tuple[Source, ...]]]:
        """Sums and distributions of bootstrap replicates, one at a time."""
        ordered, weight = self._sorted(needs), self.design.weight
        for draws in self.design.drawn(replicates, rng):
            drawn = draws.astype(np.float64) if weight is None else draws * weight
            yield self._sources(needs, ordered, Design(self.groups, drawn))

    def _sorted(self, needs: set[str]) -> list[tuple[NDArray[np.int64], Floats]]:
        swept = any(KINDS[need].is_swept for need in needs)
        return [ascending(values) for values in self.predicted] if swept else []

    def _sources(
        self,
        needs: set[str],
        ordered: list[tuple[NDArray[np.int64], Floats]],
        design: Design,
    ) -> dict[str, tuple[Source, ...]]:
        return {
            need: tuple(_distribution(*each, design) for each in ordered)
            if KINDS[need].is_swept
            else tuple(moments(self.truth, values, **design.columns) for values in self.predicted)
            for need in needs
        }


def _distribution(order: NDArray[np.int64], values: Floats, design: Design) -> Distribution:
    """The distribution of ordered rows, without rows of weight 0."""
    weight, labels = design.weight, design.groups.labels
    if weight is not None:
        weighted = weight[order] > 0
        order, values = order[weighted], values[weighted]
        weight = weight[order]
    codes = design.groups.codes[order]
    path = steps(values, codes, len(labels), weight)
    together = tuple(
        Column(column.codes[order], column.labels) for column in design.clusters.values()
    )
    survey: SurveyWeights | None = None if design.survey is None else design.survey[order]
    squares = None
    if survey is not None and survey.left is not None:
        squares = survey.weight**2 * survey.left
    return Distribution(values, codes, labels, weight, None, path, squares, together, survey)
