"""Predictions of several models for the same rows, coded and counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label, combine
from evenhand._columns.encoding import classes, finite, weights
from evenhand._compare.influences import Influences
from evenhand._compare.lists import Lists
from evenhand._data.counting import moment_columns, moments, share_classes, tally_columns
from evenhand._data.counts import line_counts, tally_lines
from evenhand._data.distributions import Distribution, ascending, steps
from evenhand._data.groups import Groups, clusters, groups
from evenhand._data.summaries import KINDS, Source
from evenhand._data.tallies import Axis, Tally, gathered
from evenhand._data.tasks import Targets
from evenhand._errors import InputError
from evenhand._uncertainty.clusters import row_influences
from evenhand._uncertainty.rates import places
from evenhand.criteria import Criterion

Floats = NDArray[np.float64]
Sources = Mapping[str, tuple[Source, ...]]  # for each need, a source for each model

COUNTS_AT_A_TIME = 1 << 22
MOST_REPEATED = 10_000_000


@dataclass(frozen=True, eq=False)
class Labels:
    """Predicted labels of each model, with the groups and, if known, the truth."""

    truth: Column | None
    predicted: tuple[Column, ...]
    groups: Groups
    weight: Floats | None
    clusters: Mapping[str, Column] = field(default_factory=dict)
    times: NDArray[np.int64] | None = None  # number of rows of each line, if not 1
    about = "labels"

    @property
    def number(self) -> int:
        """Number of rows."""
        return len(self.groups) if self.times is None else int(self.times.sum())

    def observed(self, needs: set[str]) -> Sources:
        """A tally for each model."""
        return dict.fromkeys(needs, tuple(map(self._counted, self.predicted)))

    def _counted(self, predicted: Column) -> Tally:
        if self.times is not None:
            return tally_lines(self.truth, predicted, self.groups, self.times, self.weight)
        options: dict[str, Any] = {"sensitive_features": self.groups, "sample_weight": self.weight}
        options["cluster"] = self.clusters or None
        return tally_columns(self.truth, predicted, **options)

    def influences(
        self, criterion: Criterion, sources: Sequence[Any], favorable: Label
    ) -> Callable[[int, int], Influences]:
        """Function of two models that gives the influences of rows on their statistics."""
        of_models = [_influences(source.whole, criterion, favorable) for source in sources]
        return lambda first, second: self._paired(
            first, second, (of_models[first], of_models[second])
        )

    def _paired(self, first: int, second: int, of_models: tuple[Floats, Floats]) -> Influences:
        """Influences of rows on two models' statistics; equal rows are one line."""
        columns = [*(self.predicted[m] for m in (first, second)), *self.clusters.values()]
        columns.append(Column(self.groups.codes, self.groups.labels))
        if self.truth is not None:
            columns.append(self.truth)
        line, first_rows = combine([(column.codes, len(column.labels)) for column in columns])
        codes = [column.codes[first_rows] for column in columns]
        truth: Any = np.zeros(len(first_rows), np.intp) if self.truth is None else codes.pop()
        owner = codes.pop().astype(np.intp)
        # A criterion is not about rows with no influence on either model, whatever is predicted.
        concerned = np.any([(abs(influence) > 0).any(axis=1) for influence in of_models], axis=0)
        typical = 1.0
        if self.weight is not None:
            typical = np.sqrt(np.average(self.weight**2, weights=self.times))
        first_typical, second_typical = (
            typical * np.ptp(influence, axis=(0, 1)) for influence in of_models
        )
        return Influences(
            owner,
            (of_models[0][truth, codes[0], :, owner].T, of_models[1][truth, codes[1], :, owner].T),
            concerned[truth, :, owner].T,
            _powers(self.weight, self.times, line, len(first_rows)),
            {
                name: Column(codes[2 + at], column.labels)
                for at, (name, column) in enumerate(self.clusters.items())
            },
            (first_typical, second_typical),
        )

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[Sources]:
        """Tallies of bootstrap replicates, many in a batch.

        A replicate is drawn from the joint table of truth, groups and all predictions; weighted
        rows are drawn one by one, and clusters as a whole.
        """
        cells, counts = self._joint()
        batch = max(1, COUNTS_AT_A_TIME // len(counts))
        for start in range(0, replicates, batch):
            shape = min(batch, replicates - start)
            if self.clusters:
                draws = np.array([_drawn_clusters(self.clusters, rng) for _ in range(shape)])
            else:
                draws = rng.multinomial(counts.sum(), counts / counts.sum(), size=shape)
            yield dict.fromkeys(needs, tuple(self._marginals(cells, draws)))

    def _joint(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Codes (columns, cells) of truth, each prediction and group, and rows in each cell."""
        columns = [column for column in (self.truth, *self.predicted) if column is not None]
        columns.append(Column(self.groups.codes, self.groups.labels))
        if self.weight is not None or self.clusters:
            all_codes = np.array([column.codes for column in columns], dtype=np.intp)
            return all_codes, np.ones(
                all_codes.shape[1], np.int64
            ) if self.times is None else self.times
        codes, rows = combine([(column.codes, len(column.labels)) for column in columns])
        cells = np.array([column.codes[rows] for column in columns], dtype=np.intp)
        counts = np.bincount(codes, self.times, minlength=len(rows))
        return cells, counts.astype(np.int64, copy=False)

    def _marginals(self, cells: NDArray[np.intp], draws: NDArray[np.int64]) -> Iterator[Tally]:
        sums: dict[str, NDArray[Any]] = {"rows": draws}
        if self.weight is not None:
            sums["weight"] = draws * self.weight
        has_truth = self.truth is not None
        names = ("y", "yhat", "group") if has_truth else ("yhat", "group")
        for model, column in enumerate(self.predicted):
            axes = tuple(
                Axis(name, self.groups.labels if name == "group" else column.labels)
                for name in names
            )
            places = [0, model + 1, -1] if has_truth else [model, -1]
            yield gathered(axes, cells[places], sums, ())


@dataclass(frozen=True, eq=False)
class Numbers:
    """Predicted numbers of each model, with the groups and, if known, the truth."""

    truth: Floats | None
    predicted: tuple[Floats, ...]
    groups: Groups
    weight: Floats | None
    clusters: Mapping[str, Column] = field(default_factory=dict)
    about = "numbers"

    @property
    def number(self) -> int:
        """Number of rows."""
        return len(self.groups)

    def observed(self, needs: set[str]) -> Sources:
        """The sums by group and the distributions of each model."""
        return self._sources(needs, self._sorted(needs), self.weight)

    def influences(
        self,
        criterion: Criterion,
        sources: Sequence[Any],
        favorable: Label,  # noqa: ARG002
    ) -> Callable[[int, int], Influences] | None:
        """Function of two models that gives influences of rows; None for distributions."""
        if criterion.kind.is_swept:
            return None
        return lambda first, second: self._paired(criterion, first, second, sources)

    def _paired(
        self, criterion: Criterion, first: int, second: int, sources: Sequence[Any]
    ) -> Influences:
        owner, number = self.groups.codes.astype(np.intp), self.number
        influences, axis = [], Axis("group", tuple(range(number)))
        for model in (first, second):
            sums = {"rows": np.ones(number)} | moment_columns(self.truth, self.predicted[model])
            alone = Tally((axis,), np.arange(number)[None], sums)
            influences.append(criterion.statistic.influence(alone, owner, sources[model].whole))
        powers = _powers(self.weight, None, np.arange(number), number)
        concerned = np.isfinite(influences[0]) & np.isfinite(influences[1])
        return Influences(owner, (influences[0], influences[1]), concerned, powers, self.clusters)

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[Sources]:
        """Sums and distributions of bootstrap replicates, one at a time."""
        ordered, rows = self._sorted(needs), len(self.groups)
        weight = np.ones(rows) if self.weight is None else self.weight
        for _ in range(replicates):
            if self.clusters:
                draws = _drawn_clusters(self.clusters, rng)
            else:
                draws = np.bincount(rng.integers(0, rows, rows), minlength=rows)
            yield self._sources(needs, ordered, draws * weight)

    def _sorted(self, needs: set[str]) -> list[tuple[NDArray[np.int64], Floats]]:
        swept = any(KINDS[need].is_swept for need in needs)
        return [ascending(values) for values in self.predicted] if swept else []

    def _sources(
        self,
        needs: set[str],
        ordered: list[tuple[NDArray[np.int64], Floats]],
        weight: Floats | None,
    ) -> Sources:
        options: dict[str, Any] = {"sensitive_features": self.groups, "sample_weight": weight}
        options["cluster"] = self.clusters or None
        return {
            need: tuple(
                _distribution(*each, self.groups, weight, self.clusters) for each in ordered
            )
            if KINDS[need].is_swept
            else tuple(moments(self.truth, values, **options) for values in self.predicted)
            for need in needs
        }


Evidence = Labels | Numbers | Lists


def _influences(source: Tally, criterion: Criterion, favorable: Label) -> Floats:
    """Influence of a row by truth and prediction (first two axes) on the statistic."""
    statistic, predicted = criterion.statistic, source.axis("yhat").size
    cells = places(statistic.read(source), criterion.table(source, favorable))
    influence = row_influences(source, statistic)[:, cells]
    return influence.reshape(-1, predicted, *influence.shape[1:])


def _powers(
    weight: Floats | None, times: NDArray[np.int64] | None, line: NDArray[Any], lines: int
) -> tuple[Floats, ...]:
    """Sums over the rows of each line of powers of their weights, from the 0th on."""
    counts = np.ones(len(line)) if times is None else times.astype(np.float64)
    powers = [counts] if weight is None else [counts * weight**power for power in range(5)]
    return tuple(np.bincount(line, values, lines).astype(np.float64) for values in powers)


def _drawn_clusters(clusters: Mapping[str, Column], rng: np.random.Generator) -> NDArray[np.int64]:
    """Number of times each row is drawn when resampling clusters, of the coarsest clustering."""
    column = min(clusters.values(), key=lambda clustering: len(clustering.labels))
    number = len(column.labels)
    draws = np.bincount(rng.integers(0, number, number), minlength=number)
    return np.asarray(draws[column.codes], dtype=np.int64)


def _distribution(
    order: NDArray[np.int64],
    values: Floats,
    group: Groups,
    weight: Floats | None,
    clusters: Mapping[str, Column],
) -> Distribution:
    """The distribution of ordered rows, without rows of weight 0."""
    number, labels = len(group.labels), group.labels
    if weight is not None:
        weighted = weight[order] > 0
        order, values = order[weighted], values[weighted]
        weight = weight[order]
    codes = group.codes[order]
    path = steps(values, codes, number, weight)
    together = tuple(Column(column.codes[order], column.labels) for column in clusters.values())
    return Distribution(values, codes, labels, weight, None, path, None, together)


def evidence(
    targets: Targets,
    sensitive_features: Any,
    sample_weight: Any,
    rows: Any = None,
    cluster: Any = None,
    favorable: Label = None,
) -> Evidence:
    """Code every column once, without rows that are left out of all groups.

    Where `rows` is the number of rows of each line, labels are counted with it, and lines of
    numbers or of clusters are repeated.
    """
    group, weight, times = groups(sensitive_features), weights(sample_weight), line_counts(rows)
    together = clusters(cluster)
    _check_lengths(targets, len(group), weight, times, together)
    inside = group.codes < len(group.labels)
    if times is not None:
        inside &= times > 0
    kept: NDArray[Any] | None = None if inside.all() else inside
    if times is not None and (targets.are_numbers or together):
        kept, times = _repeated(inside, times), None
    group = Groups(_taken(group.codes, kept), group.labels, group.names, group.notes)
    weight = None if weight is None else _taken(weight, kept)
    together = {
        name: Column(_taken(column.codes, kept), column.labels) for name, column in together.items()
    }
    truth, predictions = targets.y_true, targets.predictions
    if targets.are_numbers:
        values = [_taken(finite(values, name), kept) for name, values in predictions.items()]
        truth = None if truth is None else _taken(finite(truth, "y_true"), kept)
        return Numbers(truth, tuple(values), group, weight, together)
    coded = {name: classes(values, name) for name, values in predictions.items()}
    if truth is not None:
        coded = {"y_true": classes(truth, "y_true"), **coded}
    shared = [
        Column(_taken(column.codes, kept), column.labels)
        for column in share_classes(coded, favorable).values()
    ]
    true_labels = shared.pop(0) if truth is not None else None
    times = None if times is None else _taken(times, kept)
    return Labels(true_labels, tuple(shared), group, weight, together, times)


def _repeated(inside: NDArray[np.bool_], times: NDArray[np.int64]) -> NDArray[np.intp]:
    """The positions of lines, each repeated by its number of rows."""
    used = np.flatnonzero(inside)
    if times[used].sum() > MOST_REPEATED:
        raise InputError(
            "Models that predict numbers, and rows in clusters, are compared row by row; "
            f"{times.sum():,} rows are more "
            f"than the {MOST_REPEATED:,} that lines can be repeated to."
        )
    return np.repeat(used, times[used])


def _check_lengths(
    targets: Targets, rows: int, weight: Any, times: Any, together: Mapping[str, Column]
) -> None:
    if not rows:
        raise InputError("There are no rows to compare on.")
    columns = {"y_true": targets.y_true, **targets.predictions}
    columns |= {"sample_weight": weight, "rows": times, **together}
    for name, column in columns.items():
        if column is not None and len(column) != rows:
            raise InputError(
                f"Models are compared on the same rows: there are {rows} rows of "
                f"sensitive_features, but {len(column)} of {name}."
            )


def _taken(values: NDArray[Any], rows: NDArray[Any] | None) -> NDArray[Any]:
    return values if rows is None else values[rows]
