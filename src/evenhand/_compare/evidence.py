"""What is compared: predictions of many models for the same rows, coded and counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label, combine
from evenhand._columns.encoding import classes, finite, weights
from evenhand._compare.lists import Lists
from evenhand._compare.moved import Moved
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
    """Predicted labels of each model, with the truth where it is known, and the groups."""

    truth: Column | None
    predicted: tuple[Column, ...]
    groups: Groups
    weight: Floats | None
    clusters: Mapping[str, Column] = field(default_factory=dict)
    times: NDArray[np.int64] | None = None  # how many rows each line stands for, where not one
    about = "labels"

    @property
    def number(self) -> int:
        """How many rows there are."""
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

    def moved(
        self, criterion: Criterion, sources: Sequence[Any], favorable: Label
    ) -> Callable[[int, int], Moved]:
        """By how much rows move a criterion's statistic of two models."""
        each = [_influences(source.whole, criterion, favorable) for source in sources]
        return lambda first, second: self._moved(first, second, (each[first], each[second]))

    def _moved(self, first: int, second: int, whole: tuple[Floats, Floats]) -> Moved:
        """By how much rows move two models' statistics, alike rows together."""
        columns = [*(self.predicted[m] for m in (first, second)), *self.clusters.values()]
        columns.append(Column(self.groups.codes, self.groups.labels))
        if self.truth is not None:
            columns.append(self.truth)
        line, shown = combine([(column.codes, len(column.labels)) for column in columns])
        codes = [column.codes[shown] for column in columns]
        truth: Any = np.zeros(len(shown), np.intp) if self.truth is None else codes.pop()
        owner = codes.pop().astype(np.intp)
        # A row that moves neither model's estimate, whatever is predicted, is not asked about.
        asked = np.any([(abs(each) > 0).any(axis=1) for each in whole], axis=0)
        typical = 1.0
        if self.weight is not None:
            typical = np.sqrt(np.average(self.weight**2, weights=self.times))
        one, two = (typical * np.ptp(each, axis=(0, 1)) for each in whole)
        return Moved(
            owner,
            (whole[0][truth, codes[0], :, owner].T, whole[1][truth, codes[1], :, owner].T),
            asked[truth, :, owner].T,
            _powers(self.weight, self.times, line, len(shown)),
            {
                name: Column(codes[2 + at], column.labels)
                for at, (name, column) in enumerate(self.clusters.items())
            },
            (one, two),
        )

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[Sources]:
        """Tallies of rows drawn again from all rows, many replicates in a batch.

        A replicate is drawn from the joint table of truth, groups and all the predictions; rows
        that are weighted are drawn one by one, and clusters as a whole.
        """
        cells, counts = self._joint()
        batch = max(1, COUNTS_AT_A_TIME // len(counts))
        for start in range(0, replicates, batch):
            shape = min(batch, replicates - start)
            if self.clusters:
                drawn = np.array([_drawn_clusters(self.clusters, rng) for _ in range(shape)])
            else:
                drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=shape)
            yield dict.fromkeys(needs, tuple(self._marginals(cells, drawn)))

    def _joint(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Codes (columns, cells) of truth, each prediction and group, and rows in each cell."""
        columns = [column for column in (self.truth, *self.predicted) if column is not None]
        columns.append(Column(self.groups.codes, self.groups.labels))
        if self.weight is not None or self.clusters:
            whole = np.array([column.codes for column in columns], dtype=np.intp)
            return whole, np.ones(whole.shape[1], np.int64) if self.times is None else self.times
        codes, rows = combine([(column.codes, len(column.labels)) for column in columns])
        cells = np.array([column.codes[rows] for column in columns], dtype=np.intp)
        counts = np.bincount(codes, self.times, minlength=len(rows))
        return cells, counts.astype(np.int64, copy=False)

    def _marginals(self, cells: NDArray[np.intp], drawn: NDArray[np.int64]) -> Iterator[Tally]:
        sums: dict[str, NDArray[Any]] = {"rows": drawn}
        if self.weight is not None:
            sums["weight"] = drawn * self.weight
        known = self.truth is not None
        names = ("y", "yhat", "group") if known else ("yhat", "group")
        for model, column in enumerate(self.predicted):
            axes = tuple(
                Axis(name, self.groups.labels if name == "group" else column.labels)
                for name in names
            )
            places = [0, model + 1, -1] if known else [model, -1]
            yield gathered(axes, cells[places], sums, ())


@dataclass(frozen=True, eq=False)
class Numbers:
    """Predicted numbers of each model, with the truth where it is known, and the groups."""

    truth: Floats | None
    predicted: tuple[Floats, ...]
    groups: Groups
    weight: Floats | None
    clusters: Mapping[str, Column] = field(default_factory=dict)
    about = "numbers"

    @property
    def number(self) -> int:
        """How many rows there are."""
        return len(self.groups)

    def observed(self, needs: set[str]) -> Sources:
        """The sums by group and the distributions of each model."""
        return self._sources(needs, self._sorted(needs), self.weight)

    def moved(
        self,
        criterion: Criterion,
        sources: Sequence[Any],
        favorable: Label,  # noqa: ARG002
    ) -> Callable[[int, int], Moved] | None:
        """By how much rows move a statistic of two models; None of distributions."""
        if criterion.kind.is_swept:
            return None
        return lambda first, second: self._moved(criterion, first, second, sources)

    def _moved(
        self, criterion: Criterion, first: int, second: int, sources: Sequence[Any]
    ) -> Moved:
        owner, number = self.groups.codes.astype(np.intp), self.number
        each, axis = [], Axis("group", tuple(range(number)))
        for model in (first, second):
            sums = {"rows": np.ones(number)} | moment_columns(self.truth, self.predicted[model])
            alone = Tally((axis,), np.arange(number)[None], sums)
            each.append(criterion.statistic.influence(alone, owner, sources[model].whole))
        powers = _powers(self.weight, None, np.arange(number), number)
        concerned = np.isfinite(each[0]) & np.isfinite(each[1])
        return Moved(owner, (each[0], each[1]), concerned, powers, self.clusters)

    def resampled(
        self, needs: set[str], replicates: int, rng: np.random.Generator
    ) -> Iterator[Sources]:
        """Sums and distributions of rows drawn again from all rows, one replicate at a time."""
        ordered, rows = self._sorted(needs), len(self.groups)
        weight = np.ones(rows) if self.weight is None else self.weight
        for _ in range(replicates):
            if self.clusters:
                drawn = _drawn_clusters(self.clusters, rng)
            else:
                drawn = np.bincount(rng.integers(0, rows, rows), minlength=rows)
            yield self._sources(needs, ordered, drawn * weight)

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
    """How much one row of each truth and prediction (first two axes) moves the statistic."""
    statistic, predicted = criterion.statistic, source.axis("yhat").size
    kept = places(statistic.read(source), criterion.table(source, favorable))
    moved = row_influences(source, statistic)[:, kept]
    return moved.reshape(-1, predicted, *moved.shape[1:])


def _powers(
    weight: Floats | None, times: NDArray[np.int64] | None, line: NDArray[Any], lines: int
) -> tuple[Floats, ...]:
    """Sums over the rows of each line of powers of their weights, from the 0th on."""
    often = np.ones(len(line)) if times is None else times.astype(np.float64)
    known = [often] if weight is None else [often * weight**power for power in range(5)]
    return tuple(np.bincount(line, each, lines).astype(np.float64) for each in known)


def _drawn_clusters(clusters: Mapping[str, Column], rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each row is drawn, if clusters are drawn again as a whole: the fewest ones."""
    column = min(clusters.values(), key=lambda one: len(one.labels))
    number = len(column.labels)
    drawn = np.bincount(rng.integers(0, number, number), minlength=number)
    return np.asarray(drawn[column.codes], dtype=np.int64)


def _distribution(
    order: NDArray[np.int64],
    values: Floats,
    group: Groups,
    weight: Floats | None,
    clusters: Mapping[str, Column],
) -> Distribution:
    """The distribution of rows already in order; rows of no weight are not there."""
    number, labels = len(group.labels), group.labels
    if weight is not None:
        kept = weight[order] > 0
        order, values = order[kept], values[kept]
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
    """Code every column once; rows left out of all groups are gone from here on.

    Where `rows` says how many rows each line stands for, labels are counted so often, and lines of
    numbers, or of rows that go together, are repeated.
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
    """The places of lines, each as often as it has rows."""
    kept = np.flatnonzero(inside)
    if times[kept].sum() > MOST_REPEATED:
        raise InputError(
            "Models that predict numbers, and rows in clusters, are compared row by row; "
            f"{times.sum():,} rows are more "
            f"than the {MOST_REPEATED:,} that lines can be repeated to."
        )
    return np.repeat(kept, times[kept])


def _check_lengths(
    targets: Targets, rows: int, weight: Any, times: Any, together: Mapping[str, Column]
) -> None:
    if not rows:
        raise InputError("There are no rows to compare on.")
    given = {"y_true": targets.y_true, **targets.predictions}
    given |= {"sample_weight": weight, "rows": times, **together}
    for name, column in given.items():
        if column is not None and len(column) != rows:
            raise InputError(
                f"Models are compared on the same rows: there are {rows} rows of "
                f"sensitive_features, but {len(column)} of {name}."
            )


def _taken(values: NDArray[Any], kept: NDArray[Any] | None) -> NDArray[Any]:
    return values if kept is None else values[kept]
