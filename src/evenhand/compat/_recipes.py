"""Metrics that need only counts and sums, computed for all cells at once.

A recipe reads `Sums` and returns a value for each cell. If counts do not determine the metric (more
labels than it takes, weights with sum 0, …), it raises `NotCountable`, and the metric is called for
each cell instead.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import signature
from math import isnan, prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column
from evenhand._columns.encoding import encode
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand.compat import _base_metrics
from evenhand.compat._base_metrics import positive_label

Values = NDArray[np.float64]
Needs = Literal["rows", "labels", "numbers"]

MOST_LABELS = 1000
MOST_CELLS = 1 << 22  # of a dense table of truth, prediction and cell
HOMES = ("sklearn.metrics", "fairlearn.metrics")


class NotCountable(Exception):  # noqa: N818  it is not an error: the metric is called instead
    """Raised for rows whose counts do not determine a metric."""


class Recipe(NamedTuple):
    """How to compute a metric from counts; `settings` are its bound arguments."""

    read: Callable[..., Values]
    needs: Needs
    settings: Mapping[str, Any]


class Binary(NamedTuple):
    """Weights of true and false negatives and positives, for each cell."""

    tn: Values
    fp: Values
    fn: Values
    tp: Values


@dataclass(frozen=True)
class Sums:
    """Sums in each cell, with one set of weights."""

    tally: Tally
    weight: str  # the sum that counts the rows: "rows", or that of the weights

    def table(self, *axes: str, of: str) -> Values:
        """Totals along the named axes, with cells as the last axis."""
        if not {*axes} <= {axis.name for axis in self.tally.axes} or of not in self.tally.sums:
            raise NotCountable
        if prod(len(self.tally.labels(axis)) for axis in (*axes, "group")) > MOST_CELLS:
            raise NotCountable
        return self.tally.table(*axes, "group", of=of)

    def total(self) -> Values:
        """Weight of each cell, which must be positive."""
        total = self.table(of=self.weight)
        if not (total > 0).all():
            raise NotCountable
        return total

    def mean(self, column: str) -> Values:
        """Weighted mean of a column."""
        return self.table(of=name_of(column, self.weight)) / self.total()

    def predicted(self, label: Any) -> Values:
        """Share of the weight with this prediction."""
        table, labels = self.table("yhat", of=self.weight), self.tally.labels("yhat")
        selected = table[labels.index(label)] if label in labels else np.zeros(table.shape[-1])
        return selected / self.total()

    def confusion(self) -> Values:
        """Weight by truth, prediction and cell."""
        self.total()
        return self.table("y", "yhat", of=self.weight)

    def binary(self, label: Any) -> Binary:
        """Counts of at most two labels; the positive one need not occur."""
        counts, labels = self.confusion(), self.tally.labels("y")
        if len(labels) > 2:
            raise NotCountable
        yes = [at for at, name in enumerate(labels) if name == label]
        no = [at for at, name in enumerate(labels) if name != label]
        cells = ((no, no), (no, yes), (yes, no), (yes, yes))
        return Binary(*(counts[np.ix_(*at)].sum(axis=(0, 1)) for at in cells))


def recipe_of(metric: Any) -> Recipe | None:
    """The recipe of a known metric, alone or with arguments bound by functools.partial."""
    settings: Mapping[str, Any] = {}
    if isinstance(metric, partial) and not metric.args:
        metric, settings = metric.func, metric.keywords
    name = getattr(metric, "__name__", None)
    homes = [_base_metrics, *map(sys.modules.get, HOMES)]
    if name not in RECIPES or not any(getattr(home, name, None) is metric for home in homes):
        return None
    read, needs = RECIPES[name]
    accepted = set(signature(read).parameters) - {"sums"}
    return Recipe(read, needs, settings) if set(settings) <= accepted else None


def labels_of(values: NDArray[Any]) -> Column | None:
    """Values as labels; None if they are too many, or look like scores."""
    if values.ndim != 1 or not len(values):
        return None
    kind = values.dtype.kind
    if kind in "iuf":
        if not 0 <= float(values.max()) - float(values.min()) <= MOST_LABELS:  # so NaN is none
            return None
        if kind == "f" and (values != np.trunc(values)).any():
            return None
    elif kind == "O":
        if not all(isinstance(value, str) for value in values):
            return None
    elif kind not in "bU":
        return None
    column = encode(values)
    return column if len(column.labels) <= MOST_LABELS else None


def numbers_of(y_true: NDArray[Any], y_pred: NDArray[Any]) -> dict[str, Values]:
    """The columns that regression metrics sum, if there is one number per row."""
    if any(y.ndim != 1 or y.dtype.kind not in "biuf" for y in (y_true, y_pred)):
        return {}
    truth, predicted = y_true.astype(np.float64), y_pred.astype(np.float64)
    with np.errstate(all="ignore"):
        error = truth - predicted
        square = error * error
    if not np.isfinite(square).all():
        return {}
    return {"prediction": predicted, "absolute_error": abs(error), "squared_error": square}


def name_of(column: str, weight: str) -> str:
    """Name in the tally of the sum of a column with a set of weights."""
    return column if weight == "rows" else f"{column} × {weight}"


def _count(sums: Sums) -> Values:
    return sums.total()


def _selection_rate(sums: Sums, pos_label: Any = 1) -> Values:
    return sums.predicted(pos_label)


def _mean_of(column: str) -> Callable[..., Values]:
    def mean(sums: Sums) -> Values:
        return sums.mean(column)

    return mean


def _root_mean_squared_error(sums: Sums) -> Values:
    return np.sqrt(sums.mean("squared_error"))


def _accuracy_score(sums: Sums) -> Values:
    return np.asarray(np.trace(sums.confusion()) / sums.total())


def _zero_one_loss(sums: Sums) -> Values:
    return 1 - _accuracy_score(sums)


def _balanced_accuracy_score(sums: Sums) -> Values:
    counts = sums.confusion()
    recall = _ratio(np.einsum("iic->ic", counts), counts.sum(axis=1), np.nan)
    defined = ~np.isnan(recall)
    if (~defined & (counts.sum(axis=0) > 0)).any():
        warnings.warn("y_pred has labels that y_true lacks in some cells.", stacklevel=2)
    return np.asarray(np.where(defined, recall, 0).sum(axis=0) / defined.sum(axis=0))


def _rate_of(hits: str, misses: str) -> Callable[..., Values]:
    """The share of some counts among them and others; 0 if both are 0."""

    def rate(sums: Sums, pos_label: Any = None) -> Values:
        counts = _of_two_labels(sums, pos_label)
        part = getattr(counts, hits)
        return _ratio(part, part + getattr(counts, misses), 0)

    return rate


def _score_of(name: str, **others: int) -> Callable[..., Values]:
    """True positives over themselves plus multiples of others, as in scikit-learn."""

    def score(sums: Sums, pos_label: Any = 1, zero_division: Any = "warn") -> Values:
        counts = _of_known_label(sums, pos_label)
        part = sum(others.values()) * counts.tp
        total = sum((times * getattr(counts, other) for other, times in others.items()), part)
        return _or_zero_division(part, total, name, zero_division)

    return score


def _of_two_labels(sums: Sums, pos_label: Any) -> Binary:
    """Counts by the rates' own rule of what is positive."""
    sums.confusion()
    try:
        return sums.binary(positive_label(list(sums.tally.labels("y")), pos_label))
    except InputError:  # may hold for all rows together, but for no cell
        raise NotCountable from None


def _of_known_label(sums: Sums, pos_label: Any) -> Binary:
    """Counts by scikit-learn's rule: the positive label must occur."""
    sums.confusion()
    if pos_label not in sums.tally.labels("y"):
        raise NotCountable
    return sums.binary(pos_label)


def _ratio(part: Values, total: Values, undefined: float) -> Values:
    return np.divide(part, total, out=np.full_like(total, undefined), where=total != 0)


def _or_zero_division(part: Values, total: Values, name: str, zero_division: Any) -> Values:
    """A ratio; 0/0 as in scikit-learn: the bound value, or 0 with a warning."""
    if zero_division != "warn":
        if zero_division not in (0, 1) and not isnan(zero_division):
            raise NotCountable
        return _ratio(part, total, zero_division)
    undefined = np.count_nonzero(total == 0)
    if undefined:
        from sklearn.exceptions import UndefinedMetricWarning

        warnings.warn(
            f"{name} is 0/0 in {undefined} of {len(total)} cells, and was set to 0 there. Bind "
            "zero_division=numpy.nan by functools.partial to see which.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    return _ratio(part, total, 0)


RECIPES: dict[str, tuple[Callable[..., Values], Needs]] = {
    "count": (_count, "rows"),
    "selection_rate": (_selection_rate, "labels"),
    "true_positive_rate": (_rate_of("tp", "fn"), "labels"),
    "false_positive_rate": (_rate_of("fp", "tn"), "labels"),
    "true_negative_rate": (_rate_of("tn", "fp"), "labels"),
    "false_negative_rate": (_rate_of("fn", "tp"), "labels"),
    "accuracy_score": (_accuracy_score, "labels"),
    "zero_one_loss": (_zero_one_loss, "labels"),
    "balanced_accuracy_score": (_balanced_accuracy_score, "labels"),
    "precision_score": (_score_of("precision_score", fp=1), "labels"),
    "recall_score": (_score_of("recall_score", fn=1), "labels"),
    "f1_score": (_score_of("f1_score", fp=1, fn=1), "labels"),
    "mean_prediction": (_mean_of("prediction"), "numbers"),
    "mean_absolute_error": (_mean_of("absolute_error"), "numbers"),
    "mean_squared_error": (_mean_of("squared_error"), "numbers"),
    "root_mean_squared_error": (_root_mean_squared_error, "numbers"),
}
