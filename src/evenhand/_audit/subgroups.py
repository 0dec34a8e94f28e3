"""Subgroups ranked by how many people a difference surely touches.

Every subgroup of every view is compared with everybody else. The bounds of all the comparisons hold
at once (Bonferroni; exact binomial bounds for rates), so a subgroup that is flagged differs, and it
differs at least so much, however many subgroups were looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.evidence import Evidence
from evenhand._audit.views import View
from evenhand._columns import Label
from evenhand._groups import show
from evenhand._tally import Tally
from evenhand._uncertainty.models import effective_rows
from evenhand._uncertainty.multiplicity import rate_bounds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Subgroup:
    """A subgroup against everybody else; `at_least` bounds the absolute difference from below."""

    columns: tuple[str, ...]
    label: Label
    rows: int
    statistic: str
    value: float
    rest: float
    at_least: float

    @property
    def difference(self) -> float:
        """Its value minus that of everybody else."""
        return self.value - self.rest

    @property
    def people(self) -> float:
        """Rows times the sure difference: how many people it touches at least, for a rate."""
        return self.rows * self.at_least

    @property
    def flagged(self) -> bool:
        """Whether it surely differs."""
        return self.at_least > 0


class _Sums(NamedTuple):
    """Of each group: how many rows vary, the mean, and the variance; a rate has no variance."""

    name: str
    sizes: Floats
    mean: Floats
    variance: Floats | None


def ranked(views: Sequence[View], error: float) -> list[Subgroup]:
    """All subgroups of all views; those surely furthest from the rest, and largest, first."""
    asked = [(view, sums) for view in views for sums in _asked(view.evidence)]
    tests = sum(len(sums.sizes) for _, sums in asked)
    found = [one for view, sums in asked for one in _compared(view, sums, error / max(tests, 1))]
    order = {sums.name: i for i, (_, sums) in enumerate(asked)}
    return sorted(found, key=lambda one: (-one.people, order[one.statistic], -abs(one.difference)))


def _asked(evidence: Evidence) -> list[_Sums]:
    if evidence.task == "regression":
        sums = evidence.sources["moments"]
        assert isinstance(sums, Tally)
        known = [("yhat", "mean prediction"), ("squared_error", "mean squared error")]
        return [_mean(sums, of, name) for of, name in known if of in sums.sums]
    counts = evidence.counted
    predicted = counts.table("yhat", "group")
    kept = [c for c in evidence.classes if evidence.favorable in (None, c)]
    rates = [
        _rate(counts, predicted[counts.labels("yhat").index(c)], f"selection rate of {show(c)}")
        for c in kept
    ]
    if "labels" not in evidence.sources:
        return rates
    correct = np.einsum("iig->g", counts.table("y", "yhat", "group"))
    return [*rates, _rate(counts, counts.table("group") - correct, "error rate")]


def _rate(counts: Tally, hits: Floats, name: str) -> _Sums:
    weight = counts.table("group")
    return _Sums(name, _sizes(counts, weight), hits / weight, None)


def _mean(sums: Tally, of: str, name: str) -> _Sums:
    weight = sums.table("group")
    mean = sums.table("group", of=of) / weight
    square = sums.table("group", of=f"{of}²") / weight
    return _Sums(name, _sizes(sums, weight), mean, np.maximum(square - mean**2, 0.0))


def _sizes(counts: Tally, weight: Floats) -> Floats:
    if "weight²" not in counts.sums:
        return weight
    return effective_rows(weight, counts.table("group", of="weight²"))


def _compared(view: View, sums: _Sums, error: float) -> list[Subgroup]:
    rest = _rest(sums)
    ours, theirs = _bounds(sums, error / 2), _bounds(rest, error / 2)
    at_least = np.maximum(0.0, np.maximum(ours[0] - theirs[1], theirs[0] - ours[1]))
    rows = view.evidence.rows
    return [
        Subgroup(view.columns, label, int(n), sums.name, float(m), float(r), float(d))
        for label, n, m, r, d in zip(
            view.evidence.groups, rows, sums.mean, rest.mean, at_least, strict=True
        )
    ]


def _rest(sums: _Sums) -> _Sums:
    """Everybody but the group, for each group."""
    sizes = sums.sizes.sum() - sums.sizes
    total = (sums.mean * sums.sizes).sum()
    mean = (total - sums.mean * sums.sizes) / sizes
    if sums.variance is None:
        return _Sums(sums.name, sizes, mean, None)
    squares = (sums.variance + sums.mean**2) * sums.sizes
    variance = (squares.sum() - squares) / sizes - mean**2
    return _Sums(sums.name, sizes, mean, np.maximum(variance, 0.0))


def _bounds(sums: _Sums, error: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's for rates, Student's for means; both tails together err so often."""
    if sums.variance is None:
        return rate_bounds(sums.mean, sums.sizes, error)
    from scipy.special import stdtrit

    free = np.maximum(sums.sizes - 1, 1)
    reach = -stdtrit(free, error / 2) * np.sqrt(sums.variance / free)
    reach = np.where(sums.sizes > 1, reach, np.inf)
    return sums.mean - reach, sums.mean + reach
