"""WassBC (Chzhen et al. 2020): the predictions of every group go to their common barycenter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evenhand._columns.codes import smallest_unsigned
from evenhand._data.distributions import ascending
from evenhand._data.groups import show
from evenhand.mitigation._fields import Share
from evenhand.mitigation.amount_rule import AmountRule, broken_lines
from evenhand.mitigation.estimators import GroupRegressor
from evenhand.mitigation.group_reader import Codes, Floats, PathFitter, Rows, shares

NEAR = 1e-12  # levels that differ by rounding alone are the same level


class BarycenterRegressor(PathFitter, GroupRegressor):
    """Sends each prediction to the quantile of equal rank of the groups' W2 barycenter.

    f(x, a) = Σ_b π_b F_b⁻¹(F_a(base(x))): the predictor nearest to the base one, in mean square,
    whose predictions have the same distribution in all groups. It needs no labels beyond those
    of the base model. Between the fitted values of a group the map is linear, beyond them level,
    so that full predictions stay within the range of the fitted ones. Equal predictions of a
    group stay equal (they take their middle rank), which keeps it from parity where the base
    model has few distinct values.

    Parameters
    ----------
    fraction : float, default 1.0
        How far along the geodesic from the base model (0) to the full barycenter (1). This is no
        bound: the W2 distances between the groups shrink to 1 − fraction of what they were.
    halves : bool, default False
        Learn the ranks from one random half of the rows and the quantiles from the other, as the
        original does for its proofs; by default all rows serve both.
    random_state : int, Generator, RandomState or None, default None
        For the halves.

    Attributes
    ----------
    estimator_ : estimator
        The base model.
    known_ : Ordered
        The fitted predictions of each group, in order.
    images_ : ndarray
        Where each of them goes when `fraction` is 1.
    rule_ : AmountRule
        The map of each group, for other languages: `to_sql`, `to_onnx`, `to_python`, `explain`.

    References
    ----------
    Chzhen, Denis, Hebiri, Oneto and Pontil (2020), "Fair regression with Wasserstein barycenters",
    NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import BarycenterRegressor, GivenScores
    >>> X = np.array([[0, 1.0], [0, 2.0], [1, 5.0], [1, 8.0]])
    >>> BarycenterRegressor(GivenScores(1), group=0).fit(X, X[:, 1]).predict(X)
    array([3., 5., 3., 5.])

    """

    criteria: ClassVar[tuple[str, ...]] = ("strong_parity",)
    hyperparameter: ClassVar[str | None] = "fraction"
    fraction: Share = 1.0
    halves: bool = False
    draw: bool = field(default=True, init=False)
    row_id: Any = field(default=None, init=False)

    def _path(self, rows: Rows, grid: Iterable[float]) -> Iterator[Self]:
        self._fit(rows)
        for fraction in grid:
            model = copy(self).set_params(fraction=fraction)
            model._check_values()
            yield model

    @property
    def rule_(self) -> AmountRule:
        """The new value of a base prediction, as lines that can be exported."""
        check_is_fitted(self)
        sample, fraction = self.known_, self.fraction
        images = (1 - fraction) * sample.values + fraction * self.images_
        lines = [
            (sample.values[start:end], images[start:end], 1 - fraction, 1 - fraction)
            for start, end in zip(sample.starts, sample.ends, strict=True)
        ]
        return AmountRule(broken_lines(lines, self._grouping()))

    def _fit(self, rows: Rows) -> None:
        scores, share = self._fit_base(rows), shares(rows.group, rows.weight)
        parts = self._halved(rows) if self.halves else (np.arange(len(scores)),)
        samples = [
            ordered(scores[part], rows.group[part], rows.weight[part], len(share)) for part in parts
        ]
        self.known_ = samples[0]
        middle = (self.known_.below + self.known_.upto) / 2
        self.images_ = barycentric_quantiles(samples[-1], share, middle)

    def _regress(self, X: Any, group: Codes) -> Floats:
        scores = self._base(X)
        moved = self.known_.interpolated(self.images_, scores, group)
        return np.asarray(scores + self.fraction * (moved - scores))

    def _halved(self, rows: Rows) -> tuple[Codes, Codes]:
        """A random half of the rows of each group, and the other; a single row is in both."""
        group = rows.group
        order = np.lexsort((self._lots(rows.X, " halves"), group))
        sizes = np.bincount(group)
        place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = np.empty(len(group), dtype=bool)
        first[order] = place % 2 == 0
        alone = sizes == 1
        if alone.any():
            names = ", ".join(show(self.sensitive_.labels[i]) for i in np.flatnonzero(alone))
            self.notes_ += (f"one row only, used for ranks and quantiles alike: {names}",)
        return np.flatnonzero(first), np.flatnonzero(~first | alone[group])


@dataclass(frozen=True, eq=False)
class Ordered:
    """The distinct values of each group, ascending, one group after the other.

    `below` and `upto` are the parts of a group's weight before a value and with it; `ends` is
    where each group ends, and `keys` put group and rank into one ascending number.
    """

    values: Floats
    below: Floats
    upto: Floats
    ends: Codes
    pooled: Floats
    keys: Codes

    @property
    def starts(self) -> Codes:
        """Where each group starts."""
        return np.append(0, self.ends[:-1])

    def interpolated(self, images: Floats, values: Floats, group: Codes) -> Floats:
        """The line through the images of a group's values, level beyond the outermost.

        In ascending order all searches walk through memory; at random they would jump.
        """
        order, ascending_values = ascending(values)
        groups = group[order]
        rank = np.searchsorted(self.pooled, ascending_values, side="right")
        last = np.searchsorted(self.keys, groups * (len(self.pooled) + 1) + rank, side="right") - 1
        left = np.maximum(last, self.starts[groups])
        right = np.minimum(left + 1, self.ends[groups] - 1)
        gap = self.values[right] - self.values[left]
        part = np.clip(
            (ascending_values - self.values[left]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0
        )
        answers = np.empty_like(ascending_values)
        answers[order] = images[left] + part * (images[right] - images[left])
        return answers


def ordered(values: Floats, group: Codes, weight: Floats, groups: int) -> Ordered:
    """Put the values of every group in order, each distinct value once.

    >>> two = ordered(np.array([3.0, 1.0, 3.0]), np.array([0, 1, 0]), np.ones(3), groups=2)
    >>> two.values, two.upto, two.ends
    (array([3., 1.]), array([1., 1.]), array([1, 2]))
    """
    order, pooled = ascending(values)
    new = np.append(True, pooled[1:] != pooled[:-1])
    distinct, span = pooled[new], int(new.sum()) + 1
    by_group = np.argsort(group[order].astype(smallest_unsigned(groups)), kind="stable")
    order = order[by_group]
    keys = group[order] * span + np.cumsum(new)[by_group]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    mass, keys = np.add.reduceat(weight[order], first), keys[first]
    ends = np.searchsorted(keys, np.arange(1, groups + 1) * span)
    below, upto = _levels(mass, ends)
    return Ordered(distinct[keys % span - 1], below, upto, ends, distinct, keys)


def _levels(mass: Floats, ends: Codes) -> tuple[Floats, Floats]:
    """The parts of its group's mass before each value, and with it."""
    grown = np.append(0.0, np.cumsum(mass))
    starts = np.append(0, ends[:-1])
    before = np.repeat(grown[starts], ends - starts)
    total = np.repeat(grown[ends], ends - starts) - before
    return (grown[:-1] - before) / total, (grown[1:] - before) / total


def barycentric_quantiles(sample: Ordered, share: Floats, levels: Floats) -> Floats:
    """Quantiles of the W2 barycenter: those of the groups, averaged by share.

    A group's quantile jumps by the gap to its next value, so the average is one running sum of
    all gaps in the order of their levels; on a jump it is the middle.

    >>> two = ordered(np.array([0.0, 4.0, 10.0]), np.array([0, 0, 1]), np.ones(3), groups=2)
    >>> barycentric_quantiles(two, np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    array([5., 7.])
    """
    gaps = np.diff(sample.values, append=0.0) * np.repeat(share, sample.ends - sample.starts)
    gaps[sample.ends - 1] = 0.0
    order = np.argsort(sample.upto)
    grown = np.append(0.0, np.cumsum(gaps[order]))
    below, upto = (np.searchsorted(sample.upto[order], levels + near) for near in (-NEAR, NEAR))
    return np.asarray(share @ sample.values[sample.starts] + (grown[below] + grown[upto]) / 2)
