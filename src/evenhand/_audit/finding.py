"""A finding: whether groups differ in one respect, and by how much, by every measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._kinds import check_names
from evenhand._uncertainty import ConfidenceInterval
from evenhand._uncertainty.curves import Estimates
from evenhand._uncertainty.homogeneity import Conclusion, verdict
from evenhand._uncertainty.needed import Needed, needed
from evenhand._uncertainty.pooling import levels_of, pooled
from evenhand._words import (
    capitalized,
    did_you_mean,
    extent,
    gap_points,
    name,
    number,
    p_value,
    percents,
    plural,
    points,
    points_up,
)
from evenhand.criteria.compared import INDICES
from evenhand.measures import measure_named, resolve

Judged = Literal["exceeds", "falls short", "within tolerance", "inconclusive"]


class Pair(NamedTuple):
    """Two groups, with their values in the cell of the comparison."""

    high: Label
    high_value: float
    low: Label
    low_value: float
    cell: Label = None


class Obstacle(NamedTuple):
    """Why no bound can be passed; an error if more such rows would not help."""

    reason: str
    is_error: bool


@dataclass(frozen=True, eq=False)
class GroupValues:
    """The statistic of every group in every cell (cells, groups), with intervals.

    `estimates` are those of the groups, and `columns` is the number of their columns.
    """

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
    columns: int = 1
    estimates: Estimates | None = field(default=None, repr=False)

    @cached_property
    def pooled(self) -> NDArray[np.float64]:
        """The values, shrunken toward the effects of the groups' columns; not used in verdicts.

        With one column they are shrunken toward the mean. NaN where groups have no errors.
        """
        if self.estimates is None:
            return np.full(self.values.shape, np.nan)
        return pooled(self.estimates, levels_of(self.groups, self.columns))


@dataclass(frozen=True, eq=False)
class Measured:
    """A criterion's value by one measure, with its interval, and the cells behind it.

    Attributes
    ----------
    criterion, measure, aggregate, transform : str
        What was computed.
    value : float
        What the rows show; 0 is equal, but 1 by the ratio.
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
        The largest value that is tolerated; of a ratio, the smallest.
    greatest : float
        The most that the measure can be with this number of groups (of a ratio, the least): no
        tolerance as large can ever be exceeded.
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
    greatest: float = np.inf
    obstacle: Obstacle | None = None

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.contributions)

    def __repr__(self) -> str:
        ends = extent(self.low, self.high)
        return f"<Measured: {self.criterion} by {self.measure} {number(self.value)} ({ends})>"

    def maybe_equal(self) -> Measured:
        """The same value with an interval extended to equality."""
        if resolve(self.measure).falls:
            return replace(self, high=max(self.high, 1.0))
        return replace(self, low=min(self.low, 0.0))

    @property
    def judged(self) -> Judged | None:
        """Outcome of comparing the interval with the tolerance, if there is one."""
        if self.tolerance is None:
            return None
        if np.isnan(self.value):
            return "inconclusive"
        if resolve(self.measure).falls:
            beyond, within = self.high < self.tolerance, self.low >= self.tolerance > self.greatest
        else:
            beyond, within = self.low > self.tolerance, self.high <= self.tolerance < self.greatest
        if beyond:
            return "falls short" if resolve(self.measure).falls else "exceeds"
        return "within tolerance" if within and self.obstacle is None else "inconclusive"

    @property
    def sentence(self) -> str:
        """The value in plain words."""
        if np.isnan(self.value):
            return "Fewer than two groups were observed here, so there is nothing to compare."
        words = f"By {self.measure} the value is {number(self.value)}"
        if not np.isnan(self.low):
            words += f" (between {extent(self.low, self.high, 'and')})"
        bound = "" if self.tolerance is None else number(self.tolerance)
        ends = {
            None: ".",
            "exceeds": f". It exceeds the tolerance of {bound}.",
            "falls short": f". It falls short of the {bound} that is tolerated.",
            "within tolerance": f". It is within the tolerance of {bound}.",
            "inconclusive": f". {self._undecided(bound)}.",
        }
        return words + ends[self.judged]

    def _undecided(self, bound: str) -> str:
        if self.tolerance is not None and resolve(self.measure).falls:
            if self.tolerance <= self.greatest:
                least_ratio = f"no ratio is less than {number(self.greatest)}"
                return f"Nothing can fall short of the {bound} that is tolerated, for {least_ratio}"
        elif self.tolerance is not None and self.tolerance >= self.greatest:
            largest = f"{plural(self.groups, 'group')} can show {number(self.greatest)} at most"
            return f"The tolerance of {bound} cannot be exceeded, for {largest}"
        reason = f": {self.obstacle.reason}" if self.obstacle else ""
        return f"These rows do not show on which side of {bound} it is{reason}"


@dataclass(frozen=True, eq=False)
class Finding:
    """Finding on one criterion: whether groups differ, and by how much, by every measure.

    Attributes
    ----------
    criterion : str
        Its name.
    p_value : float
        For equality of all groups in the criterion's statistic; the same for all measures.
    p_error : float
        Its Monte Carlo standard error; 0 where the p-value does not come from random draws.
    p_adjusted : float
        The same, allowing for every criterion and view that was asked (Holm).
    values : mapping of str to Measured
        The value by each measure, with `low` and `high`; `finding["mpd"]` is one of them.
    gap : ConfidenceInterval
        The largest difference between two groups, in units of the statistic.
    margin : float or None
        Differences up to this count as alike; None where none was stated.
    pair : Pair or None
        The two groups furthest apart of those shown to differ, and their values.
    level : float
        Of the test: 1 − confidence.
    is_rate : bool
        Whether the statistic is a share, so that differences are percentage points.
    tests : int
        The hypotheses that p_adjusted allows for.
    estimates : Estimates or None
        What is known of every group, from which `needed` is computed.
    sameness : str or None
        Why there is nothing to compare, where all rows share one decision, truth or score.

    """

    criterion: str
    p_value: float
    values: Mapping[str, Measured]
    gap: ConfidenceInterval
    margin: float | None
    pair: Pair | None
    level: float
    is_rate: bool = False
    p_error: float = 0.0
    p_adjusted: float = np.nan
    tests: int = 1
    estimates: Estimates | None = field(default=None, repr=False)
    sameness: str | None = None

    def __getitem__(self, measure: str) -> Measured:
        check_names(measure=measure)
        resolved = measure_named(measure)
        if resolved is not None and resolved.name in self.values:
            return self.values[resolved.name]
        if measure not in self.values:
            hint = did_you_mean(measure, self.values)
            raise InputError(
                f"{self.criterion} was not measured by {measure!r}, only by "
                f"{list(self.values)}.{hint}"
            )
        return self.values[measure]

    def __repr__(self) -> str:
        ends = extent(self.gap.low, self.gap.high)
        p = p_value(self.p_adjusted)
        return f"<Finding on {self.criterion}: {self.verdict}; largest gap {ends}, adjusted p {p}>"

    def concluded(self, p_value: float, p_adjusted: float, tests: int) -> Finding:
        """The finding with its adjusted p-value; if not significant, intervals include equality.

        So a finding says "differs" exactly where its intervals exclude equality.
        """
        finding = replace(self, p_value=p_value, p_adjusted=p_adjusted, tests=tests)
        if not p_adjusted > self.level:
            return finding
        values = {name: value.maybe_equal() for name, value in self.values.items()}
        return replace(finding, values=values, gap=replace(self.gap, low=min(self.gap.low, 0.0)))

    @property
    def verdict(self) -> Conclusion:
        """Whether the groups differ, are alike within the margin, or the rows are inconclusive.

        If all rows share one decision there is nothing to compare, so "alike" is not concluded.
        """
        conclusion = verdict(self.gap.value, self.p_adjusted, self.level, self.sameness)
        if conclusion == "cannot tell" and self.margin is not None and self.gap.high <= self.margin:
            return "alike"
        return conclusion

    @property
    def is_share(self) -> bool:
        """Whether the values are shares of rows, which are written in percent."""
        return self.is_rate and self.criterion not in INDICES

    @property
    def gap_is_share(self) -> bool:
        """Whether a gap is one of shares: of rates, or of CDFs at one cut point."""
        swept = self.estimates is None
        cells = (value.worst_cell for value in self.values.values())
        return self.is_share or (swept and any(isinstance(cell, float) for cell in cells))

    @property
    def at_least(self) -> str:
        """The gap's lower bound in words; empty if no gap is significant."""
        low = number(self.gap.low, toward=-1)
        if not self.gap.low > 0 or low.startswith("<"):
            return ""
        return points(self.gap.low) if self.gap_is_share else low

    @property
    def at_most(self) -> str:
        """The gap's upper bound in words."""
        return points_up(self.gap.high) if self.gap_is_share else number(self.gap.high, toward=1)

    def written(self, *values: float) -> list[str]:
        """Values of groups as people write them: shares in percent."""
        share = self.is_share or self.estimates is None
        if share and all(0 <= value <= 1 for value in values):
            return percents(*values)
        return [number(value) for value in values]

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        if self.verdict == "undefined":
            if self.sameness is not None:
                return f"{capitalized(self.sameness)}."
            return "Fewer than two groups were observed here, so there is nothing to compare."
        share, margin = self.gap_is_share, self.margin or 0.0
        observed = gap_points(self.gap.value) if share else number(self.gap.value)
        sentences = {
            "differs": f"The groups differ, by at least {self.at_least}."
            if self.at_least
            else "The groups differ.",
            "alike": f"The groups are alike within {points_up(margin) if share else number(margin)}"
            f": they differ by at most {self.at_most}.",
            "not tested": f"The largest observed gap is {observed}.",
            "cannot tell": f"Inconclusive: the true gap may be anything from 0 to {self.at_most}."
            if np.isfinite(self.gap.high)
            else "Inconclusive: the true gap may be anything.",
        }
        return sentences[self.verdict] + self._pair_sentence() + self._lacking()

    def _pair_sentence(self) -> str:
        if self.pair is None or self.verdict != "differs":
            return ""  # no pair differs significantly
        high, high_value, low, low_value, _ = self.pair
        texts = self.written(high_value, low_value)
        ends = f"{name(show(high))} ({texts[0]}) and {name(show(low))} ({texts[1]})"
        cell, where = self.pair.cell, ""
        if self.estimates is None and isinstance(cell, float):
            where = f", in the share of values at or below {number(cell)}"
        return f" Furthest apart{where}: {ends}."

    @cached_property
    def needed(self) -> Needed | None:
        """The factor by which rows must grow, and of which groups; None if unknown.

        It is for a test corrected for all others by Bonferroni, so an upper bound.
        """
        if self.estimates is None or self.verdict != "cannot tell":
            return None
        growth = needed(self.estimates, self.level, self.margin, tests=self.tests)
        return growth if growth is None else replace(growth, is_share=self.is_share)

    def _lacking(self) -> str:
        return f" {self.needed.sentence}".rstrip() if self.needed is not None else ""
