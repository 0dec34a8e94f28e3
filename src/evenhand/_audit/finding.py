"""A finding: whether groups differ in one respect, and by how much, by every measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._errors import InputError
from evenhand._groups import show
from evenhand._uncertainty.estimates import Estimates
from evenhand._uncertainty.interval import ConfidenceInterval
from evenhand._uncertainty.multiplicity import Conclusion, verdict
from evenhand._uncertainty.needed import Needed, needed
from evenhand._words import did_you_mean, number

Judged = Literal["exceeds", "within tolerance", "inconclusive"]


class Pair(NamedTuple):
    """Two groups, and their values in the cell where they were compared."""

    high: Label
    high_value: float
    low: Label
    low_value: float
    cell: Label = None


class Obstacle(NamedTuple):
    """Why no bound can be passed; an error where more rows of this kind would not help."""

    reason: str
    is_error: bool


@dataclass(frozen=True, eq=False)
class GroupValues:
    """The statistic of every group in every cell (cells, groups), with intervals."""

    criterion: str
    formula: str
    statistic: str
    asks: str
    is_not: str
    range: str
    bounds: tuple[float, float]
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    overall: NDArray[np.float64]
    rows: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Measured:
    """A criterion's value by one measure, with its interval, and the cells behind it.

    Attributes
    ----------
    criterion, measure, aggregate, transform : str
        What was computed.
    value : float
        What the rows show; 0 is equal.
    low, high : float
        The interval that holds the true value.
    worst_cell : label
        The class, stratum or bin where the inequality is largest.
    cells : tuple of labels
        All of them.
    cell_values : array
        The inequality of each.
    contributions : array
        The share of each group in the inequality of the worst cell.
    left_out : tuple
        The cells and groups that have no value.
    tolerance : float or None
        The largest value that is tolerated.
    obstacle : Obstacle or None
        Why no tolerance can be met here, if anything is in the way.

    """

    criterion: str
    measure: str
    aggregate: str
    transform: str | None
    value: float
    low: float
    high: float
    worst_cell: Label
    cells: tuple[Label, ...]
    cell_values: NDArray[np.float64]
    contributions: NDArray[np.float64]
    left_out: tuple[tuple[Label, Label], ...]
    tolerance: float | None = None
    obstacle: Obstacle | None = None

    @property
    def judged(self) -> Judged | None:
        """What the interval says of the tolerance, if there is one."""
        if self.tolerance is None:
            return None
        if np.isnan(self.value):
            return "inconclusive"
        if self.low > self.tolerance:
            return "exceeds"
        met = self.high <= self.tolerance and self.obstacle is None
        return "within tolerance" if met else "inconclusive"

    @property
    def sentence(self) -> str:
        """The value in plain words."""
        if np.isnan(self.value):
            return "Fewer than two groups were observed here, so there is nothing to compare."
        words = f"By {self.measure} the value is {number(self.value)}"
        if not np.isnan(self.low):
            words += f" (between {number(self.low)} and {number(self.high)})"
        bound = "" if self.tolerance is None else number(self.tolerance)
        ends = {
            None: ".",
            "exceeds": f". It exceeds the tolerance of {bound}.",
            "within tolerance": f". It is within the tolerance of {bound}.",
            "inconclusive": f". These rows cannot tell on which side of {bound} it is"
            + (f": {self.obstacle.reason}." if self.obstacle else "."),
        }
        return words + ends[self.judged]


@dataclass(frozen=True, eq=False)
class Finding:
    """What is found of one criterion: whether groups differ, and by how much, by every measure.

    Attributes
    ----------
    criterion : str
        Its name.
    p_value : float
        Of all groups being alike in the criterion's statistic; it depends on no measure.
    p_adjusted : float
        The same, allowing for every criterion and view that was asked (Holm).
    values : mapping of str to Measured
        The value by each measure, with `low` and `high`; `finding["mpd"]` is one of them.
    gap : ConfidenceInterval
        The largest difference between two groups, in units of the statistic.
    margin : float or None
        Differences up to this count as alike; None where none was stated.
    pair : Pair or None
        The two groups that are most surely apart, and their values.
    level : float
        Of the test: 1 − confidence.
    tests : int
        The hypotheses that p_adjusted allows for.
    estimates : Estimates or None
        What is known of every group, from which `needed` is computed.

    """

    criterion: str
    p_value: float
    values: Mapping[str, Measured]
    gap: ConfidenceInterval
    margin: float | None
    pair: Pair | None
    level: float
    p_adjusted: float = np.nan
    tests: int = 1
    estimates: Estimates | None = field(default=None, repr=False)

    def __getitem__(self, measure: str) -> Measured:
        if measure not in self.values:
            hint = did_you_mean(measure, self.values)
            raise InputError(
                f"{self.criterion} was not measured by {measure!r}, only by "
                f"{list(self.values)}.{hint}"
            )
        return self.values[measure]

    @property
    def verdict(self) -> Conclusion:
        """The groups differ; are alike within the margin; or these rows cannot tell."""
        known = verdict(self.gap.value, self.p_adjusted, self.level)
        if known == "cannot tell" and self.margin is not None and self.gap.high <= self.margin:
            return "alike"
        return known

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        if self.verdict == "undefined":
            return "Fewer than two groups were observed here, so there is nothing to compare."
        low, high = number(self.gap.low), number(self.gap.high)
        sentences = {
            "differs": f"The groups differ, by at least {low}."
            if self.gap.low > 0
            else "The groups differ.",
            "alike": f"The groups are alike within {number(self.margin or 0.0)}: "
            f"they differ by at most {high}.",
            "not tested": f"The groups are up to {number(self.gap.value)} apart.",
            "cannot tell": f"These rows cannot tell: the groups may be alike, or up to {high} "
            "apart.",
        }
        return sentences[self.verdict] + self._apart() + self._lacking()

    def _apart(self) -> str:
        if self.pair is None:
            return ""
        high, high_value, low, low_value, _ = self.pair
        ends = f"{show(high)} ({number(high_value)}) and {show(low)} ({number(low_value)})"
        return f" Most surely apart: {ends}."

    @cached_property
    def needed(self) -> Needed | None:
        """How many times these rows would tell, and of which groups; None where that is unknown.

        Of a test that allows for all the others by Bonferroni, so it is the most that is needed.
        """
        if self.estimates is None or self.verdict != "cannot tell":
            return None
        return needed(self.estimates, self.level, self.margin, tests=self.tests)

    def _lacking(self) -> str:
        return f" {self.needed.sentence}".rstrip() if self.needed is not None else ""
