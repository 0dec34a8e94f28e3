"""Predicted labels of several models for the same rows, with scores where there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label, combine
from evenhand._compare.design import Design
from evenhand._compare.influences import Influences
from evenhand._compare.scores import NEEDS as OF_SCORES
from evenhand._compare.scores import Scores
from evenhand._data.counting import tally_columns
from evenhand._data.counts import tally_lines
from evenhand._data.groups import Groups
from evenhand._data.summaries import Source
from evenhand._data.tallies import Axis, Tally, gathered
from evenhand._uncertainty.clusters import row_influences
from evenhand._uncertainty.rates import places
from evenhand.criteria import Criterion

Floats = NDArray[np.float64]

COUNTS_AT_A_TIME = 1 << 22


@dataclass(frozen=True, eq=False)
class Labels:
    """Predicted labels of each model, with the groups and, if known, truth, strata and scores."""

    truth: Column | None
    predicted: tuple[Column, ...]
    design: Design
    strata: Column | None = None
    scores: Scores | None = None
    notes: tuple[str, ...] = ()
    about = "labels"

    @property
    def groups(self) -> Groups:
        """The groups of the rows."""
        return self.design.groups

    @property
    def number(self) -> int:
        """Number of rows."""
        return self.design.number

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of summary that can be made."""
        strata = () if self.strata is None else ("strata",)
        scores = () if self.scores is None else OF_SCORES if self.truth else OF_SCORES[-1:]
        return ("predictions", "labels", *strata, *scores)

    def regrouped(self, labels: tuple[Label, ...]) -> Labels:
        """The same rows in a single group."""
        group = Groups(np.zeros(self.design.lines, np.uint8), labels, ("group",))
        design = replace(self.design, groups=group)
        scores = self.scores and replace(self.scores, design=design, made={})
        return replace(self, design=design, scores=scores)

    def observed(self, needs: set[str]) -> dict[str, tuple[Source, ...]]:
        """What statistics read of each model."""
        kinds = {need: "labels" if need == "predictions" else need for need in needs}
        models = range(len(self.predicted))
        made = {
            kind: tuple(self._summary(kind, model) for model in models)
            for kind in set(kinds.values())
        }
        return {need: made[kind] for need, kind in kinds.items()}

    def _summary(self, need: str, model: int) -> Source:
        if need in OF_SCORES:
            assert self.scores is not None
            return self.scores.summary(need, model)
        predicted, design = self.predicted[model], self.design
        truth, strata = (None, self.strata) if need == "strata" else (self.truth, None)
        if design.times is not None:
            return tally_lines(
                truth, predicted, design.groups, design.times, design.weight, strata=strata
            )
        return tally_columns(truth, predicted, strata=strata, **design.columns)

    def influences(
        self, criterion: Criterion, sources: Sequence[Any], favorable: Label
    ) -> Callable[[int, int], Influences] | None:
        """Function of two models that gives the influences of rows on their statistics."""
        statistic = criterion.statistic
        if statistic.needs in OF_SCORES:
            return self._of_scores(criterion, sources)
        given = self.strata if statistic.needs == "strata" else self.truth
        of_models = [_influences(source.whole, criterion, favorable) for source in sources]
        return lambda first, second: self._paired(
            first, second, given, (of_models[first], of_models[second])
        )

    def _of_scores(
        self, criterion: Criterion, sources: Sequence[Any]
    ) -> Callable[[int, int], Influences] | None:
        assert self.scores is not None
        of_models = [
            self.scores.influences(criterion.statistic, model, source)
            for model, source in enumerate(sources)
        ]
        defined = [each for each in of_models if each is not None]
        if len(defined) < len(of_models):
            return None
        return lambda first, second: Influences.of_rows(
            self.design, defined[first], defined[second]
        )

    def _paired(
        self, first: int, second: int, given: Column | None, of_models: tuple[Floats, Floats]
    ) -> Influences:
        """Influences of rows on two models' statistics; equal rows are one line."""
        design = self.design
        columns = [*(self.predicted[m] for m in (first, second)), *design.clusters.values()]
        columns.append(Column(design.groups.codes, design.groups.labels))
        if given is not None:
            columns.append(given)
        line: Any = np.arange(design.lines)
        first_rows = line
        if design.survey is None:  # else replicates tell rows apart
            line, first_rows = combine([(column.codes, len(column.labels)) for column in columns])
        codes = [column.codes[first_rows] for column in columns]
        condition: Any = np.zeros(len(first_rows), np.intp) if given is None else codes.pop()
        owner = codes.pop().astype(np.intp)
        # A criterion is not about rows with no influence on either model, whatever is predicted.
        concerned = np.any([(abs(influence) > 0).any(axis=1) for influence in of_models], axis=0)
        typical = 1.0
        if design.weight is not None:
            typical = np.sqrt(np.average(design.weight**2, weights=design.times))
        first_typical, second_typical = (
            typical * np.ptp(influence, axis=(0, 1)) for influence in of_models
        )
        return Influences(
            owner,
            (
                of_models[0][condition, codes[0], :, owner].T,
                of_models[1][condition, codes[1], :, owner].T,
            ),
            concerned[condition, :, owner].T,
            design.powers(line, len(first_rows)),
            {
                name: Column(codes[2 + at], column.labels)
                for at, (name, column) in enumerate(design.clusters.items())
            },
            (first_typical, second_typical),
            design.survey,
        )

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[dict[str, tuple[Source, ...]]]:
        """Summaries of bootstrap replicates: of labels alone, many in a batch.

        A replicate is drawn from the joint table of truth, groups and all predictions; weighted
        rows are drawn one by one, and clusters as a whole.
        """
        by_row = bool(needs & {*OF_SCORES}) or self.design.is_counted_by_row
        columns = {} if self.truth is None else {"y": self.truth}
        columns |= {f"yhat {model}": column for model, column in enumerate(self.predicted)}
        columns["group"] = Column(self.groups.codes, self.groups.labels)
        columns |= {} if self.strata is None else {"stratum": self.strata}
        cells, counts = self._joint(columns, by_row=by_row)
        batch = max(1, COUNTS_AT_A_TIME // len(counts)) if not needs & {*OF_SCORES} else 1
        for start in range(0, replicates, batch):
            shape = min(batch, replicates - start)
            if self.design.clusters:
                draws = np.array(list(self.design.drawn(shape, rng)))
            else:
                draws = rng.multinomial(counts.sum(), counts / counts.sum(), size=shape)
            yield {need: tuple(self._drawn(need, columns, cells, draws)) for need in needs}

    def _joint(
        self, columns: dict[str, Column], *, by_row: bool
    ) -> tuple[dict[str, NDArray[np.intp]], NDArray[np.int64]]:
        """Codes of the columns in each cell of their joint table, and the rows in it."""
        if by_row:
            codes = {name: column.codes.astype(np.intp) for name, column in columns.items()}
            times = self.design.times
            return codes, np.ones(self.design.lines, np.int64) if times is None else times
        cell, rows = combine([(column.codes, len(column.labels)) for column in columns.values()])
        codes = {name: column.codes[rows].astype(np.intp) for name, column in columns.items()}
        counts = np.bincount(cell, self.design.times, minlength=len(rows))
        return codes, counts.astype(np.int64, copy=False)

    def _drawn(
        self,
        need: str,
        columns: dict[str, Column],
        cells: dict[str, NDArray[np.intp]],
        draws: NDArray[np.int64],
    ) -> Iterator[Source]:
        sums: dict[str, NDArray[Any]] = {"rows": draws}
        if self.design.weight is not None:
            sums["weight"] = draws * self.design.weight
        given = "stratum" if need == "strata" else "y"
        for model in range(len(self.predicted)):
            if need in OF_SCORES:
                assert self.scores is not None
                weight = np.asarray(sums.get("weight", draws)[0], dtype=np.float64)
                yield self.scores.summary(need, model, weight)
                continue
            names = [name for name in (given, f"yhat {model}", "group") if name in columns]
            axes = tuple(Axis(name.split()[0], columns[name].labels) for name in names)
            yield gathered(axes, np.array([cells[name] for name in names]), sums, ())


def _influences(source: Tally, criterion: Criterion, favorable: Label) -> Floats:
    """Influence of a row on the statistic, by truth or stratum and by prediction (first axes)."""
    statistic = criterion.statistic
    cells = places(statistic.read(source), criterion.table(source, favorable))
    influence = row_influences(source, statistic)[:, cells]
    kinds = [axis for axis in source.axes if axis.name != "group"]
    influence = influence.reshape(*(axis.size for axis in kinds), *influence.shape[1:])
    at = [axis.name for axis in kinds].index("yhat")
    influence = np.moveaxis(influence, at, len(kinds) - 1)
    return influence.reshape(-1, *influence.shape[len(kinds) - 1 :])
