"""What is compared: predictions of many models for the same rows, coded and counted once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, combine
from evenhand._columns.encoding import classes, finite, numbers, weights
from evenhand._counting import moments, share_classes, tally
from evenhand._distributions import Distribution
from evenhand._distributions.distribution import ascending, steps
from evenhand._errors import InputError, InputTypeError
from evenhand._groups import Groups, columns_of, groups
from evenhand._tally import Axis, Tally, gathered
from evenhand.statistics.kinds import Source

Floats = NDArray[np.float64]
Sources = Mapping[str, tuple[Source, ...]]  # for each need, a source for each model

COUNTS_AT_A_TIME = 1 << 22


@dataclass(frozen=True, eq=False)
class Labels:
    """Predicted labels of each model, with the truth where it is known, and the groups."""

    truth: Column | None
    predicted: tuple[Column, ...]
    whom: Groups
    weight: Floats | None
    needs = ("predictions", "labels")

    def observed(self, needs: set[str]) -> Sources:
        """A tally for each model."""
        options: dict[str, Any] = {"sensitive_features": self.whom, "sample_weight": self.weight}
        found = tuple(tally(self.truth, one, **options) for one in self.predicted)
        return dict.fromkeys(needs, found)

    def worlds(self, needs: set[str], times: int, rng: np.random.Generator) -> Iterator[Sources]:
        """Tallies of rows drawn again from all rows, many worlds in a batch.

        A world is drawn from the joint table of truth, groups and all the predictions; rows that
        are weighted are drawn one by one.
        """
        cells, counts = self._joint()
        batch = max(1, COUNTS_AT_A_TIME // len(counts))
        for start in range(0, times, batch):
            shape = min(batch, times - start)
            drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=shape)
            yield dict.fromkeys(needs, tuple(self._marginals(cells, drawn)))

    def _joint(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Codes (columns, cells) of truth, each prediction and group, and rows in each cell."""
        columns = [column for column in (self.truth, *self.predicted) if column is not None]
        columns.append(Column(self.whom.codes, self.whom.labels))
        if self.weight is not None:
            whole = np.array([column.codes for column in columns], dtype=np.intp)
            return whole, np.ones(whole.shape[1], np.int64)
        codes, rows = combine([(column.codes, len(column.labels)) for column in columns])
        cells = np.array([column.codes[rows] for column in columns], dtype=np.intp)
        return cells, np.bincount(codes, minlength=len(rows))

    def _marginals(self, cells: NDArray[np.intp], drawn: NDArray[np.int64]) -> Iterator[Tally]:
        sums: dict[str, NDArray[Any]] = {"rows": drawn}
        if self.weight is not None:
            sums["weight"] = drawn * self.weight
        known = self.truth is not None
        names = ("y", "yhat", "group") if known else ("yhat", "group")
        for model, column in enumerate(self.predicted):
            axes = tuple(
                Axis(name, self.whom.labels if name == "group" else column.labels) for name in names
            )
            places = [0, model + 1, -1] if known else [model, -1]
            yield gathered(axes, cells[places], sums, ())


@dataclass(frozen=True, eq=False)
class Numbers:
    """Predicted numbers of each model, with the truth where it is known, and the groups."""

    truth: Floats | None
    predicted: tuple[Floats, ...]
    whom: Groups
    weight: Floats | None
    needs = ("moments", "steps")

    def observed(self, needs: set[str]) -> Sources:
        """The sums by group and the distributions of each model."""
        return self._sources(needs, self._sorted(needs), self.weight)

    def worlds(self, needs: set[str], times: int, rng: np.random.Generator) -> Iterator[Sources]:
        """Sums and distributions of rows drawn again from all rows, a world at a time."""
        ordered, rows = self._sorted(needs), len(self.whom)
        weight = np.ones(rows) if self.weight is None else self.weight
        for _ in range(times):
            drawn = np.bincount(rng.integers(0, rows, rows), minlength=rows)
            yield self._sources(needs, ordered, drawn * weight)

    def _sorted(self, needs: set[str]) -> list[tuple[NDArray[np.int64], Floats]]:
        return [ascending(one) for one in self.predicted] if "steps" in needs else []

    def _sources(
        self,
        needs: set[str],
        ordered: list[tuple[NDArray[np.int64], Floats]],
        weight: Floats | None,
    ) -> Sources:
        found: dict[str, tuple[Source, ...]] = {}
        if "steps" in needs:
            found["steps"] = tuple(_distribution(*one, self.whom, weight) for one in ordered)
        if "moments" in needs:
            options: dict[str, Any] = {"sensitive_features": self.whom, "sample_weight": weight}
            found["moments"] = tuple(moments(self.truth, one, **options) for one in self.predicted)
        return found


Evidence = Labels | Numbers


def _distribution(
    order: NDArray[np.int64], values: Floats, whom: Groups, weight: Floats | None
) -> Distribution:
    """The distribution of rows already in order; rows of no weight are not there."""
    codes, groups = whom.codes[order], len(whom.labels)
    if weight is None:
        return Distribution(values, codes, whom.labels, None, None, steps(values, codes, groups))
    weight = weight[order]
    kept = weight > 0
    values, codes, weight = values[kept], codes[kept], weight[kept]
    path = steps(values, codes, groups, weight)
    return Distribution(values, codes, whom.labels, weight, None, path)


Task = Literal["classification", "regression"]
Kind = Literal["text", "whole numbers", "numbers"]


def named_predictions(predictions: Any) -> dict[str, Any]:
    """Predictions by the name of the model, from a mapping or a dataframe."""
    if not isinstance(predictions, Mapping) and not hasattr(predictions, "columns"):
        raise InputTypeError(
            f"predictions is a {type(predictions).__name__}; it must name the models: pass "
            '{"model": y_pred, …} or a dataframe with a column for each model.'
        )
    found = {str(name): column for name, column in columns_of(predictions).items()}
    if not found:
        raise InputError("There are no models to compare: predictions is empty.")
    return found


def evidence(
    y_true: Any, predicted: Mapping[str, Any], whom: Any, sample_weight: Any, task: Task
) -> Evidence:
    """Code every column once; rows left out of all groups are gone from here on."""
    who, weight = groups(whom), weights(sample_weight)
    _check_lengths(y_true, predicted, len(who), weight)
    kept = None if (who.codes < len(who.labels)).all() else who.codes < len(who.labels)
    who = Groups(_taken(who.codes, kept), who.labels, who.names, who.notes)
    weight = None if weight is None else _taken(weight, kept)
    if task == "regression":
        truth = None if y_true is None else _taken(finite(y_true, "y_true"), kept)
        values = [_taken(finite(one, _called(name)), kept) for name, one in predicted.items()]
        return Numbers(truth, tuple(values), who, weight)
    coded = {_called(name): classes(one, _called(name)) for name, one in predicted.items()}
    if y_true is not None:
        coded = {"y_true": classes(y_true, "y_true"), **coded}
    shared = [Column(_taken(one.codes, kept), one.labels) for one in share_classes(coded).values()]
    truth_column = shared.pop(0) if y_true is not None else None
    return Labels(truth_column, tuple(shared), who, weight)


def task_of(y_true: Any, predicted: Mapping[str, Any]) -> Task:
    """Labels or numbers? Where the columns contradict each other, say which do."""
    kinds = {name: _kind(column) for name, column in predicted.items()}
    real = [name for name, kind in kinds.items() if kind == "numbers"]
    truth = None if y_true is None else _kind(y_true)
    if truth == "numbers" and "text" not in kinds.values():
        return "regression"
    if not real and truth != "numbers":
        return "classification"
    other = next((name for name in kinds if name not in real), None)
    if other is None and truth != "text" and (y_true is None or len(np.unique(y_true)) > 2):
        return "regression"
    whom = f"those of {other!r}" if other is not None else "y_true"
    odd = f"The predictions of {real[0]!r}" if real else "The values of y_true"
    raise InputError(
        f"{odd} are numbers such as {_fraction(predicted[real[0]] if real else y_true):g}, and "
        f"{whom} {'are' if other is not None else 'holds'} labels. Compare labels with labels "
        'and numbers with numbers; if all are numbers, pass task="regression".'
    )


def _called(name: str) -> str:
    return f"predictions[{name!r}]"


def _kind(column: Any) -> Kind:
    try:
        values = numbers(column)
    except TypeError:
        return "text"
    return "numbers" if _fractions(values).any() else "whole numbers"


def _fractions(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(values) & (values != np.rint(values)))


def _fraction(column: Any) -> float:
    values = numbers(column)
    return float(values[np.argmax(_fractions(values))])


def _check_lengths(y_true: Any, predicted: Mapping[str, Any], rows: int, weight: Any) -> None:
    if not rows:
        raise InputError("There are no rows to compare on.")
    given = {"y_true": y_true, "sample_weight": weight}
    given |= {f"the predictions of {name!r}": column for name, column in predicted.items()}
    for name, column in given.items():
        if column is not None and len(column) != rows:
            raise InputError(
                f"Models are compared on the same rows: there are {rows} rows of "
                f"sensitive_features, but {len(column)} of {name}."
            )


def _taken(values: NDArray[Any], kept: NDArray[np.bool_] | None) -> NDArray[Any]:
    return values if kept is None else values[kept]
