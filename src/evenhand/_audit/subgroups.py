"""Subgroups ranked by the lower bound on the number of people that a difference affects.

Every subgroup of every view is compared with everybody else in every statistic. All these
comparisons are one family. The stated error bounds either the probability that any bound is wrong
(Bonferroni), so that every flagged subgroup differs by at least its bound; or the expected share of
wrong bounds among the flagged, however the subgroups overlap (Benjamini and Yekutieli 2005,
doi:10.1198/016214504000001907).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand._audit.comparisons import Comparison, comparisons_of
from evenhand._audit.questions import Control
from evenhand._audit.views import View
from evenhand._columns import Label


@dataclass(frozen=True)
class Subgroup:
    """A subgroup compared with everybody else, in one statistic.

    Parameters
    ----------
    columns : tuple of str
        The sensitive columns of the view.
    label : label
        The subgroup.
    rows : int
        Its rows.
    statistic : str
        What is compared, such as "error rate".
    value, rest : float
        The statistic of the subgroup, and of all other rows.
    at_least : float
        The absolute difference is at least this; 0 where not even its sign is sure.
    counted : int
        The rows that the statistic is about: of a false positive rate, the negatives.
    effective, rest_effective : float
        How many rows of equal weight say as much, of the subgroup and of the others.
    rows_needed : float
        With this many counted rows the scan could show a difference of the margin (0.05 by default;
        of a mean, a tenth of its standard deviation). Where the others are too few for that, all
        are assumed to grow in proportion.
    error : float
        The error allowed to this one bound.
    comparisons : int
        How many comparisons the scan made.
    scale : float, default 1.0
        The unit of the statistic: 1 for a rate, the standard deviation for a mean.

    """

    columns: tuple[str, ...]
    label: Label
    rows: int
    statistic: str
    value: float
    rest: float
    at_least: float
    counted: int
    effective: float
    rest_effective: float
    rows_needed: float
    error: float
    comparisons: int
    scale: float = 1.0

    @property
    def difference(self) -> float:
        """Its value minus that of everybody else."""
        return self.value - self.rest

    @property
    def people(self) -> float:
        """Rows counted times `at_least`: the lower bound on the people affected, for a rate.

        For a mean it is a lower bound on the total difference, in the units of the mean.
        """
        return self.counted * self.at_least

    @property
    def flagged(self) -> bool:
        """Whether the difference is significant."""
        return self.at_least > 0

    @property
    def too_few(self) -> bool:
        """Whether the difference is not significant, and could not have been with so few rows."""
        return not self.flagged and self.counted < self.rows_needed


def ranked(
    views: Sequence[View],
    error: float,
    control: Control = "familywise",
    margin: float | None = None,
) -> list[Subgroup]:
    """All subgroups of all views, by the lower bound on the people affected.

    Parameters
    ----------
    views : sequence of View
        The groups of each combination of columns.
    error : float
        The error of all bounds together.
    control : {"familywise", "false_discovery"}, default "familywise"
        Whether `error` is the chance that any bound is wrong, or the expected share of wrong ones
        among the flagged.
    margin : float, optional
        The difference that enough rows would show; by default 0.05 of a rate and a tenth of the
        standard deviation of a mean.

    Returns
    -------
    list of Subgroup
        By the bound on people affected, then by the observed number; `too_few` ones at the end.

    """
    comparisons = [c for view in views for c in comparisons_of(view, margin)]
    questions = sum(comparison.questions for comparison in comparisons)
    single_error = error / max(questions, 1)
    if control == "false_discovery":
        single_error = _discovery_error(comparisons, error, questions)
    order = {comparison.name: i for i, comparison in enumerate(comparisons)}
    subgroups = [s for c in comparisons for s in _subgroups(c, single_error, questions)]
    return sorted(subgroups, key=lambda s: (*_place(s), order[s.statistic]))


def _place(subgroup: Subgroup) -> tuple[bool, float, float]:
    """Sort key: lower bounds first, in people or standard deviations, then observed differences."""
    observed = subgroup.counted * abs(subgroup.difference) / subgroup.scale
    return subgroup.too_few, -subgroup.people / subgroup.scale, -observed


def _discovery_error(comparisons: Sequence[Comparison], error: float, questions: int) -> float:
    """The error of each bound that controls the expected share of wrong bounds among the flagged.

    The largest k such that k of n questions are flagged when each has the share (1 + k / h) / (2 n)
    of the error, h = 1 + 1/2 + … + 1/n, found from above. Half of the error is spent as if one
    question were flagged, so that little is lost if few are (Blanchard and Roquain 2008,
    doi:10.1214/08-EJS180). As their lemma assumes nothing about the tests, the bounds of the
    flagged hold in this sense too, with the same error.
    """
    if not questions:
        return error
    harmonic = float((1 / np.arange(1, questions + 1)).sum())
    flagged = questions
    while True:
        single_error = error * (1 + flagged / harmonic) / (2 * questions)
        still_flagged = sum(comparison.flagged(single_error) for comparison in comparisons)
        if still_flagged >= flagged or flagged <= 1:
            return single_error
        flagged = max(still_flagged, 1)


def _subgroups(comparison: Comparison, error: float, questions: int) -> Iterator[Subgroup]:
    columns, groups = comparison.view.columns, comparison.view.evidence.groups
    rows = comparison.view.evidence.rows
    at_least, needed = comparison.at_least(error), comparison.rows_needed(error)
    for i in np.flatnonzero(comparison.comparable):
        yield Subgroup(
            columns=columns,
            label=groups[i],
            rows=int(rows[i]),
            statistic=comparison.name,
            value=float(comparison.value[i]),
            rest=float(comparison.rest[i]),
            at_least=float(at_least[i]),
            counted=int(comparison.counted[i]),
            effective=float(comparison.effective[i]),
            rest_effective=float(comparison.rest_effective[i]),
            rows_needed=float(needed[i]),
            error=error,
            comparisons=questions,
            scale=comparison.scale,
        )
