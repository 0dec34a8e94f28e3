"""The distribution of a score in every group, exactly: the pooled values in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns.column import Column, Label, positions, union
from evenhand.columns.validation import check_lengths, classes, finite, weights
from evenhand.columns.words import Codes, smallest_unsigned
from evenhand.distributions.ordering import ascending
from evenhand.distributions.steps import Steps, steps
from evenhand.groups import groups

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Distribution:
    """Pooled values in ascending order with the group of each, and its weight and truth if known.

    Distributions of parts add up to that of the whole, group by group. Where an entry stands for
    several rows, `squares` is the sum of their squared weights: how much the rows vary.
    """

    values: Floats
    codes: Codes
    groups: tuple[Label, ...]
    weights: Floats | None
    truth: Column | None
    steps: Steps
    squares: Floats | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __add__(self, other: Distribution) -> Distribution:
        if not isinstance(other, Distribution):
            return NotImplemented
        if [self.weights is None, self.truth is None, self.squares is None] != [
            other.weights is None,
            other.truth is None,
            other.squares is None,
        ]:
            raise ValueError("Cannot add distributions when only one has weights or true labels.")
        labels = union(self.groups, other.groups)
        codes = [positions(part.groups, labels)[part.codes] for part in (self, other)]
        truth = None
        if self.truth is not None and other.truth is not None:
            truth = _stacked(self.truth, other.truth)
        values = np.concatenate([self.values, other.values])
        weight, squares = _both(self.weights, other.weights), _both(self.squares, other.squares)
        return _ordered(values, np.concatenate(codes), labels, weight, truth, squares)

    def regrouped(self, target: NDArray[np.intp], labels: tuple[Label, ...]) -> Distribution:
        """Each group becomes the group `target` of the new labels."""
        codes = target.astype(smallest_unsigned(len(labels)))[self.codes]
        path = steps(self.values, codes, len(labels), self.weights)
        rest = (self.weights, self.truth, path, self.squares)
        return Distribution(self.values, codes, labels, *rest)

    def __radd__(self, zero: int) -> Distribution:
        return self if zero == 0 else NotImplemented


def distribution(
    values: Any,
    *,
    sensitive_features: Any,
    y_true: Any = None,
    sample_weight: Any = None,
    squared_weight: Any = None,
) -> Distribution:
    """Order the values of a score once, for any question about its distribution by group.

    Where a value stands for several rows, `sample_weight` is the sum of their weights, and
    `squared_weight` that of the squares.

    >>> distribution([0.9, 0.1, 0.4], sensitive_features=["a", "b", "a"]).values
    array([0.1, 0.4, 0.9])
    """
    whom = groups(sensitive_features)
    score = finite(values, "the score")
    weight = weights(sample_weight)
    truth = None if y_true is None else classes(y_true, "y_true")
    check_lengths(score=score, sensitive_features=whom, sample_weight=weight, y_true=truth)
    squares = weights(squared_weight)
    return _ordered(score, whom.codes, whom.labels, weight, truth, squares)


def _ordered(
    values: Floats,
    codes: NDArray[Any],
    labels: tuple[Label, ...],
    weight: Floats | None,
    truth: Column | None,
    squares: Floats | None,
) -> Distribution:
    order, values = ascending(values)
    out = codes >= len(labels)
    if weight is not None:
        out |= weight == 0  # such rows are not there: their values are no cut points
    if out.any():
        kept = ~out[order]
        order, values = order[kept], values[kept]
    codes = codes[order].astype(smallest_unsigned(len(labels)), copy=False)
    weight = None if weight is None else weight[order]
    truth = None if truth is None else Column(truth.codes[order], truth.labels)
    squares = None if squares is None else squares[order]
    path = steps(values, codes, len(labels), weight)
    return Distribution(values, codes, labels, weight, truth, path, squares)


def _both(one: Floats | None, two: Floats | None) -> Floats | None:
    return None if one is None or two is None else np.concatenate([one, two])


def _stacked(one: Column, two: Column) -> Column:
    labels = union(one.labels, two.labels)
    codes = [positions(part.labels, labels)[part.codes] for part in (one, two)]
    return Column(np.concatenate(codes).astype(smallest_unsigned(len(labels))), labels)
