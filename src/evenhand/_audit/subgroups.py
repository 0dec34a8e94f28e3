"""Subgroups ranked by how many people a difference touches at least.

Every subgroup of every view is compared with everybody else in every statistic. All those
comparisons are one family. Either the chance that any bound is wrong is at most the stated error
(Bonferroni), so that a subgroup that is flagged differs, and by at least so much, however many
were looked at; or the expected share of wrong bounds among the flagged is, however the subgroups
overlap (Benjamini and Yekutieli 2005, doi:10.1198/016214504000001907).
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
    """A subgroup against everybody else, in one statistic.

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
        are taken to grow alike.
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
        """Rows counted times the sure difference: how many people it touches at least, in a rate.

        Of a mean it is the total by which the rows are clearly apart, in the units of the mean.
        """
        return self.counted * self.at_least

    @property
    def flagged(self) -> bool:
        """Whether the difference is significant."""
        return self.at_least > 0

    @property
    def too_few(self) -> bool:
        """Whether nothing is sure, and its rows could not have shown a difference that matters."""
        return not self.flagged and self.counted < self.rows_needed


def ranked(
    views: Sequence[View],
    error: float,
    control: Control = "familywise",
    margin: float | None = None,
) -> list[Subgroup]:
    """All subgroups of all views; first those of which most is sure, last those of too few rows.

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
        By people touched at least, then by people apart in these rows; `too_few` ones at the end.

    """
    comparisons = [c for view in views for c in comparisons_of(view, margin)]
    questions = sum(comparison.questions for comparison in comparisons)
    each = error / max(questions, 1)
    if control == "false_discovery":
        each = _discovery_error(comparisons, error, questions)
    order = {comparison.name: i for i, comparison in enumerate(comparisons)}
    subgroups = [s for c in comparisons for s in _subgroups(c, each, questions)]
    return sorted(subgroups, key=lambda s: (*_place(s), order[s.statistic]))


def _place(subgroup: Subgroup) -> tuple[bool, float, float]:
    """What is sure comes first, in people or standard deviations; then what is seen."""
    apart = subgroup.counted * abs(subgroup.difference) / subgroup.scale
    return subgroup.too_few, -subgroup.people / subgroup.scale, -apart


def _discovery_error(comparisons: Sequence[Comparison], error: float, questions: int) -> float:
    """The error of each bound when that of all is the expected share of wrong ones among k flagged.

    The largest k at which k of n questions are flagged with an error of (1 + k / h) / (2 n) of the
    whole, h = 1 + 1/2 + … + 1/n, found from above. Half of the error is spent as if one question
    were flagged, so that little is lost where few are (Blanchard and Roquain 2008,
    doi:10.1214/08-EJS180). As their lemma asks nothing of the tests, the bounds of the flagged hold
    in that sense too, with the same error.
    """
    if not questions:
        return error
    harmonic = float((1 / np.arange(1, questions + 1)).sum())
    flagged = questions
    while True:
        each = error * (1 + flagged / harmonic) / (2 * questions)
        fewer = sum(comparison.flagged(each) for comparison in comparisons)
        if fewer >= flagged or flagged <= 1:
            return each
        flagged = max(fewer, 1)


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
