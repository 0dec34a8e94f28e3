"""Metrics by cell and overall: from one tally for known metrics, else by calling them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column
from evenhand._columns.encoding import HEAVIEST
from evenhand._data.counting import count, share_classes
from evenhand._data.groups import Groups
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, refusing
from evenhand.compat._features import Cells, Feature, cells_of, pandas
from evenhand.compat._recipes import (
    NotCountable,
    Recipe,
    Sums,
    Values,
    labels_of,
    name_of,
    numbers_of,
    recipe_of,
)

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric, the columns it takes in addition to truth and prediction, and any recipe."""

    name: str
    function: Callable[..., Any]
    columns: Mapping[str, NDArray[Any]]
    recipe: Recipe | None
    weight: str = "rows"  # name of its weights in the tally

    def __call__(self, y_true: NDArray[Any], y_pred: NDArray[Any], rows: Any) -> Any:
        """Call the function with these rows of every column."""
        columns = {name: _stacked(values[rows]) for name, values in self.columns.items()}
        with refusing(f"{self.name} has no answer for these columns"):
            return self.function(_stacked(y_true[rows]), _stacked(y_pred[rows]), **columns)


class Disaggregated(NamedTuple):
    """Metrics by cell (a dataframe) and overall (a series, or a dataframe by control features)."""

    by_group: Any
    overall: Any


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows, with their metrics and features."""

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    metrics: Sequence[Metric]
    control: Sequence[Feature]
    sensitive: Sequence[Feature]

    @cached_property
    def labels(self) -> Mapping[str, Column]:
        """Truth and prediction as labels, if they are labels and a metric needs them."""
        if not self._is_needed("labels"):
            return {}
        labels = {"y": labels_of(self.y_true), "yhat": labels_of(self.y_pred)}
        columns = {axis: column for axis, column in labels.items() if column is not None}
        text = {isinstance(column.labels[0], str) for column in columns.values()}
        return share_classes(columns) if len(text) == 1 else {}

    @cached_property
    def sums(self) -> Mapping[str, Values]:
        """The columns to sum: weights, and numbers with each set of weights."""
        numbers = numbers_of(self.y_true, self.y_pred) if self._is_needed("numbers") else {}
        sums = dict(numbers)
        for metric in self.metrics:
            if metric.recipe and metric.weight != "rows" and metric.weight not in sums:
                weight = sums[metric.weight] = metric.columns["sample_weight"].astype(np.float64)
                sums |= {name_of(name, metric.weight): y * weight for name, y in numbers.items()}
        return sums

    def disaggregate(self, rows: Rows | None = None) -> Disaggregated:
        """All metrics by cell and overall, of these rows or of all."""
        cells = cells_of([*self.control, *self.sensitive], rows)
        block = cells.leading(len(self.control))
        tally = self._tally(cells, rows)
        by_block_tally = tally.regrouped(block, tuple(range(block[-1] + 1)))
        by_cell, by_block = {}, {}
        for metric in self.metrics:
            try:
                by_cell[metric.name] = _from_counts(metric, tally)
                by_block[metric.name] = _from_counts(metric, by_block_tally)
            except NotCountable:
                by_cell[metric.name] = self._called(metric, cells.codes, len(cells), rows)
                blocks = np.asarray(block)[cells.codes]
                by_block[metric.name] = self._called(metric, blocks, block[-1] + 1, rows)
        by_group = _framed(by_cell, cells)
        if self.control:
            return Disaggregated(by_group, _framed(by_block, cells_of(self.control, rows)))
        return Disaggregated(by_group, _row({name: value[0] for name, value in by_block.items()}))

    def _tally(self, cells: Cells, rows: Rows | None) -> Tally:
        chosen = slice(None) if rows is None else rows
        columns = {
            axis: Column(column.codes[chosen], column.labels)
            for axis, column in self.labels.items()
        }
        sums = {name: values[chosen] for name, values in self.sums.items()}
        return count(columns, Groups(cells.codes, tuple(range(len(cells))), ()), sums=sums)

    def _called(
        self, metric: Metric, codes: NDArray[Any], cells: int, rows: Rows | None
    ) -> list[Any]:
        """Call the metric once for each cell, with its rows in their order."""
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=cells))[:-1]
        parts = np.split(order if rows is None else rows[order], ends)
        return [metric(self.y_true, self.y_pred, part) for part in parts]

    def _is_needed(self, kind: str) -> bool:
        return any(metric.recipe and metric.recipe.needs == kind for metric in self.metrics)


def read_metrics(metrics: Any, sample_params: Any, rows: int) -> list[Metric]:
    """The metrics by name, each with its own columns."""
    params = {} if sample_params is None else sample_params
    if not isinstance(params, dict):
        raise InputError(
            "Sample parameters must be a dictionary",
            f"sample_params must be a dict, not a {type(params).__name__}.",
        )
    if not isinstance(metrics, dict):
        return [_metric(_name_of(metrics), metrics, params, rows, {})]
    unknown = set(params) - set(metrics)
    if unknown:
        raise InputError(
            "Keys in 'sample_params' do not match those in 'metric'",
            f"sample_params is for {sorted(unknown)}, but the metrics are {list(metrics)}.",
        )
    weights: dict[int, str] = {}
    return [
        _metric(name, function, params.get(name, {}), rows, weights)
        for name, function in metrics.items()
    ]


def _metric(name: str, function: Any, params: Any, rows: int, weights: dict[int, str]) -> Metric:
    if not callable(function):
        raise InputError(
            "Object passed as metric function not callable",
            f"The metric {name!r} is {function!r}, which cannot be called.",
        )
    if not isinstance(params, dict):
        raise InputError(
            "Sample parameters must be a dictionary",
            f"sample_params of {name!r} must be a dict of columns, not a {type(params).__name__}.",
        )
    present = {key: values for key, values in params.items() if values is not None}
    columns = {key: np.asarray(values) for key, values in present.items()}
    for key, values in columns.items():
        if values.shape != (rows,):
            raise InputError(
                f"sample_params has {key!r} of shape {values.shape} for {name!r}; there are "
                f"{rows} rows."
            )
    recipe = recipe_of(function)
    if not columns or recipe is None:
        return Metric(name, function, columns, recipe)
    weight = columns.get("sample_weight")
    if set(columns) > {"sample_weight"} or weight is None or recipe.needs == "rows":
        return Metric(name, function, columns, None)
    if weight.dtype.kind not in "biuf" or not (np.abs(weight.astype(np.float64)) <= HEAVIEST).all():
        return Metric(name, function, columns, None)
    weight_name = weights.setdefault(id(present["sample_weight"]), f"weight {len(weights)}")
    return Metric(name, function, columns, recipe, weight_name)


def _name_of(metric: Any) -> str:
    if metric is None:
        raise InputError(
            "Found 'None' instead of metric function",
            "metrics is None; pass a function, or a dict of functions by name.",
        )
    if hasattr(metric, "__name__"):
        return str(metric.__name__)
    warnings.warn(
        "The metric has no __name__ and is called 'metric'; pass {name: metric} to name it.",
        stacklevel=4,
    )
    return "metric"


def _from_counts(metric: Metric, tally: Tally) -> Any:
    if metric.recipe is None:
        raise NotCountable
    values = metric.recipe.read(Sums(tally, metric.weight), **metric.recipe.settings)
    return values.astype(np.int64) if metric.recipe.needs == "rows" else values


def _framed(columns: Mapping[str, Any], cells: Cells) -> Any:
    """A row for each entry of the index; NaN for empty cells."""
    pd = pandas()
    if all(isinstance(values, np.ndarray) for values in columns.values()):
        are_integers = {values.dtype for values in columns.values()} == {np.dtype(np.int64)}
        frame = pd.DataFrame(
            {
                name: values if are_integers else values.astype(float)
                for name, values in columns.items()
            },
            index=cells.index if len(cells.features) == 1 else cells.index[cells.where],
        )
    else:
        # Values of any type: let pandas decide how to store a series for each group.
        levels = {
            feature.name: feature.levels.take(places)
            for feature, places in zip(cells.features, cells.members, strict=True)
        }
        rows = [
            _row(dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ]
        frame = (
            pd.DataFrame(levels)
            .groupby(list(levels))
            .apply(lambda part: rows[part.index[0]], include_groups=False)
        )
    return frame if len(cells.features) == 1 else frame.reindex(cells.index)


def _row(values: Mapping[str, Any]) -> Any:
    pd = pandas()
    return pd.Series(values) if values else pd.Series(dtype=float)


def _stacked(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as an array of their own type, as metrics expect."""
    return np.stack(list(values)) if values.dtype == object else values
