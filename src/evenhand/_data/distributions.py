"""Ordered scores with their groups: all that questions about distributions need.

The distribution of a score in every group is exact: the pooled values in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import (
    Codes,
    Column,
    Label,
    chunks,
    positions,
    smallest_unsigned,
    union,
)
from evenhand._columns.encoding import check_lengths, check_order, classes, finite, weights
from evenhand._data.groups import clusters, groups, joined
from evenhand._data.once import Immutable
from evenhand._data.surveys import SurveyWeights
from evenhand._errors import InputError
from evenhand._signatures import suggests_names
from evenhand._words import plural

Floats = NDArray[np.float64]
LEVELS_AT_A_TIME = 1 << 18


@suggests_names
def distribution(
    values: Any,
    *,
    sensitive_features: Any,
    y_true: Any = None,
    sample_weight: Any = None,
    squared_weight: Any = None,
    cluster: Any = None,
) -> Distribution:
    """Order the values of a score once, for any question about its distribution by group.

    Parameters
    ----------
    values : array-like
        Scores, probabilities or predicted values.
    sensitive_features : array-like or dataframe
        The column or columns that name the groups, or what `groups` made of them.
    y_true : array-like, optional
        True labels, where a criterion asks for the area under the ROC curve.
    sample_weight : array-like, optional
        Weights of the rows. If a value represents several rows, the sum of their weights.
    squared_weight : array-like, optional
        If a value represents several rows, the sum of their squared weights.
    cluster : array-like or dataframe, optional
        Which rows go together: decisions on one person, pupils of one school.

    Returns
    -------
    Distribution
        Ask "strong_parity" or "wasserstein_parity" of it.

    Raises
    ------
    InputError
        If a value is not finite, or columns differ in length.

    Examples
    --------
    >>> from evenhand.criteria import strong_parity
    >>> scores = distribution([0.9, 0.1, 0.4], sensitive_features=["a", "b", "a"])
    >>> scores.values
    array([0.1, 0.4, 0.9])
    >>> strong_parity(scores, measure="mpd")
    1.0

    """
    check_order(
        values=values,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        y_true=y_true,
        cluster=cluster,
    )
    group = groups(sensitive_features)
    score = finite(values, "the score")
    survey = sample_weight if isinstance(sample_weight, SurveyWeights) else None
    weight = weights(sample_weight) if survey is None else survey.weight
    truth = None if y_true is None else classes(y_true, "y_true")
    together = clusters(cluster)
    check_lengths(
        score=score, sensitive_features=group, sample_weight=weight, y_true=truth, **together
    )
    squares = weights(squared_weight)
    check_lengths(score=score, squared_weight=squares)
    if survey is not None and survey.left is not None:
        squares = survey.weight**2 * survey.left
    cluster_columns = tuple(together.values())
    return _ordered(
        score, group.codes, group.labels, weight, truth, squares, cluster_columns, survey
    )


@dataclass(frozen=True, eq=False)
class Distribution(Immutable):
    """Pooled values in ascending order, each with its group, and its weight and truth if known.

    Made by `distribution`. Distributions of parts add up to that of all rows, group by group.

    Attributes
    ----------
    values : ndarray
        The scores of all groups, ascending.
    codes : ndarray of unsigned integers
        For each value the place of its group in `groups`.
    groups : tuple of labels
        The groups.
    weights : ndarray or None
        The weight of each value.
    truth : Column or None
        The true label of each value.
    steps : Steps
        How the distribution functions of the groups rise along the values.
    squares : ndarray or None
        Where an entry stands for several rows, the sum of their squared weights: how much the rows
        vary.
    clusters : tuple of Column
        The cluster of each value, where rows go together.
    survey : SurveyWeights or None
        The weights of each value, where they came with replicates.

    """

    values: Floats
    codes: Codes
    groups: tuple[Label, ...]
    weights: Floats | None
    truth: Column | None
    steps: Steps
    squares: Floats | None = None
    clusters: tuple[Column, ...] = ()
    survey: SurveyWeights | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        groups = plural(len(self.groups), "group")
        return f"<Distribution of {plural(len(self), 'value')} in {groups}>"

    @property
    def row_weights(self) -> Floats:
        """The weight of every value: 1 where there are no weights."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def squared_weights(self) -> Floats:
        """The squared weight of every value, or the sum over the rows that it represents."""
        if self.squares is not None:
            return self.squares
        return self.row_weights**2

    def __add__(self, other: Distribution) -> Distribution:
        if not isinstance(other, Distribution):
            return NotImplemented
        if self.survey is not None or other.survey is not None:
            raise InputError(
                "Cannot add distributions of surveys; order all of their rows at once."
            )
        if self._parts != other._parts:
            raise InputError(
                "Cannot add distributions when only one has weights, true labels or clusters."
            )
        labels = joined(self.groups, other.groups)
        codes = [positions(part.groups, labels)[part.codes] for part in (self, other)]
        truth = None
        if self.truth is not None and other.truth is not None:
            truth = _stacked(self.truth, other.truth)
        values = np.concatenate([self.values, other.values])
        weight, squares = (
            _concatenated(self.weights, other.weights),
            _concatenated(self.squares, other.squares),
        )
        clusters = tuple(map(_stacked, self.clusters, other.clusters))
        return _ordered(values, np.concatenate(codes), labels, weight, truth, squares, clusters)

    @property
    def _parts(self) -> tuple[bool, bool, bool, int]:
        missing = (self.weights is None, self.truth is None, self.squares is None)
        return (*missing, len(self.clusters))

    def regrouped(self, target: NDArray[np.intp], labels: tuple[Label, ...]) -> Distribution:
        """Each group becomes the group `target` of the new labels.

        Parameters
        ----------
        target : ndarray of int
            For each group its new place.
        labels : tuple of labels
            The new groups.

        Returns
        -------
        Distribution
            The same values in the new groups.

        """
        codes = target.astype(smallest_unsigned(len(labels)))[self.codes]
        path = steps(self.values, codes, len(labels), self.weights)
        unchanged = (self.weights, self.truth, path, self.squares, self.clusters, self.survey)
        return Distribution(self.values, codes, labels, *unchanged)

    def __radd__(self, zero: int) -> Distribution:
        return self if zero == 0 else NotImplemented

    @property
    def turned(self) -> Distribution:
        """The same rows with negated values: the score of the other label."""
        back = slice(None, None, -1)
        values, codes = -self.values[back], self.codes[back]
        weight = None if self.weights is None else self.weights[back]
        truth = None if self.truth is None else Column(self.truth.codes[back], self.truth.labels)
        path = steps(values, codes, len(self.groups), weight)
        squares = None if self.squares is None else self.squares[back]
        clusters = tuple(Column(column.codes[back], column.labels) for column in self.clusters)
        survey = None if self.survey is None else self.survey[np.arange(len(self))[back]]
        return Distribution(
            values, codes, self.groups, weight, truth, path, squares, clusters, survey
        )


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of the groups' CDFs: at each, the F of one group goes from `before` to `after`.

    `cuts` are the last steps at each distinct value, where all the CDFs are complete.
    """

    codes: NDArray[Any]
    before: Floats
    after: Floats
    cuts: NDArray[np.intp]
    observed: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def groups(self) -> int:
        """Number of groups with rows."""
        return len(self.observed)

    def levels(self, places: NDArray[np.intp]) -> Iterator[tuple[slice, Floats]]:
        """F of every group before each of the given steps (ascending), in chunks."""
        now, start = np.zeros(self.groups), 0
        for chunk in chunks(len(places), max(1, LEVELS_AT_A_TIME // self.groups)):
            spans = np.diff(places[chunk], prepend=start)
            moved = slice(start, places[chunk][-1])
            cells = np.repeat(np.arange(len(spans)) * self.groups, spans) + self.codes[moved]
            moves = self.after[moved] - self.before[moved]
            grown = np.bincount(cells, moves, minlength=len(spans) * self.groups)
            levels = now + np.cumsum(grown.reshape(len(spans), self.groups), axis=0)
            yield chunk, levels
            now, start = levels[-1], moved.stop

    def power_sums(self, powers: Sequence[float], transform: str | None) -> list[Floats]:
        """Σ over groups of F^power, or of exp(F)^power, after each step."""
        low, high, base = self.before, self.after, 0
        if transform == "exp":
            low, high, base = np.exp(low), np.exp(high), self.groups
        sums = [np.cumsum(high**power - low**power) for power in powers]
        return [base + power_sum for power_sum in sums] if base else sums


def steps(values: Floats, codes: NDArray[Any], groups: int, weights: Floats | None = None) -> Steps:
    """Read ascending values, with their groups and weights, as steps of the groups' CDFs."""
    counts = np.bincount(codes, minlength=groups)
    places = np.argsort(codes, kind="stable")
    if weights is None or (weights == 1).all():
        low, high = _unweighted(counts)
    else:
        low, high = _weighted(weights[places], counts)
    before, after = np.empty_like(low), np.empty_like(high)
    before[places], after[places] = low, high
    cuts = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    observed = np.flatnonzero(counts)
    if len(observed) < groups:
        codes = (np.cumsum(counts > 0) - 1)[codes]
    return Steps(codes, before, after, cuts, observed)


def ascending(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Row numbers in ascending order of finite values, and the values in that order.

    The top bits of each value and its row number fit into one integer; sorting these integers uses
    vector instructions, where an argsort chases indices. Few values differ only in the bits that
    were cut off, and a merge of runs puts them in order.

    >>> ascending(np.array([0.5, -1.0, 0.25]))
    (array([1, 2, 0]), array([-1.  ,  0.25,  0.5 ]))
    """
    keys = _sortable(values)
    row_bits = np.int64((1 << len(values).bit_length()) - 1)
    keys &= ~row_bits
    keys |= np.arange(len(values))
    keys.sort()
    keys &= row_bits
    placed = values[keys]
    if (placed[1:] < placed[:-1]).any():
        repair = np.argsort(placed, kind="stable")
        keys, placed = keys[repair], placed[repair]
    return keys, placed


def _ordered(
    values: Floats,
    codes: NDArray[Any],
    labels: tuple[Label, ...],
    weight: Floats | None,
    truth: Column | None,
    squares: Floats | None,
    clusters: tuple[Column, ...] = (),
    survey: SurveyWeights | None = None,
) -> Distribution:
    order, values = ascending(values)
    out = codes >= len(labels)
    if weight is not None:
        out |= weight == 0  # such rows do not count: their values are no cut points
    if out.any():
        kept = ~out[order]
        order, values = order[kept], values[kept]
    codes = codes[order].astype(smallest_unsigned(len(labels)), copy=False)
    weight = None if weight is None else weight[order]
    truth = None if truth is None else Column(truth.codes[order], truth.labels)
    squares = None if squares is None else squares[order]
    clusters = tuple(Column(column.codes[order], column.labels) for column in clusters)
    path = steps(values, codes, len(labels), weight)
    survey = None if survey is None or not survey.scale else survey[order]
    return Distribution(values, codes, labels, weight, truth, path, squares, clusters, survey)


def _concatenated(left: Floats | None, right: Floats | None) -> Floats | None:
    return None if left is None or right is None else np.concatenate([left, right])


def _stacked(left: Column, right: Column) -> Column:
    labels = union(left.labels, right.labels)
    codes = [positions(part.labels, labels)[part.codes] for part in (left, right)]
    return Column(np.concatenate(codes).astype(smallest_unsigned(len(labels))), labels)


def _unweighted(counts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """F before and after each row, group by group."""
    size = np.repeat(counts.astype(np.float64), counts)
    rank = np.arange(len(size), dtype=np.float64)
    rank -= np.repeat((np.cumsum(counts) - counts).astype(np.float64), counts)
    return rank / size, (rank + 1) / size


def _weighted(weights: Floats, counts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """F before and after each row of weights, group by group."""
    group = np.repeat(np.arange(len(counts)), counts)
    total = np.bincount(group, weights, minlength=len(counts))
    # Running sums of shares, as a light group's weights would drown in those of heavy ones.
    grown = np.append(0.0, np.cumsum(weights / total[group]))
    ends = np.cumsum(counts)
    base = np.repeat(grown[ends - counts], counts)
    after = (grown[1:] - base) / (np.repeat(grown[ends], counts) - base)
    before = np.append(0.0, after[:-1])
    before[(ends - counts)[counts > 0]] = 0.0
    return before, after


def _sortable(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of the numbers: the bits of negative floats count backwards."""
    bits = np.ascontiguousarray(values).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))
