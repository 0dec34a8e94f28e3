"""A finding: one criterion by one measure, with how sure one can be, and who carries it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._groups import show
from evenhand._uncertainty.multiplicity import verdict

Verdict = Literal[
    "disparity",
    "within noise",
    "undefined",
    "not tested",
    "exceeds",
    "within tolerance",
    "inconclusive",
]


class Pair(NamedTuple):
    """The groups furthest apart, and their values."""

    high: Label
    high_value: float
    low: Label
    low_value: float


@dataclass(frozen=True, eq=False)
class GroupValues:
    """The statistic of every group in every cell (cells, groups), with intervals."""

    criterion: str
    formula: str
    statistic: str
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
class Finding:
    """A value with its full specification, its uncertainty, and the groups and cells behind it.

    `estimate` is corrected for noise; `floor` is the mean value of fair models with groups of
    these sizes, and `chance_high` the value that one in twenty of them exceeds.
    """

    criterion: str
    measure: str
    aggregate: str
    transform: str | None
    value: float
    estimate: float
    low: float
    high: float
    floor: float
    chance_high: float
    p_value: float
    worst_cell: Label
    pair: Pair | None
    cells: tuple[Label, ...]
    cell_values: NDArray[np.float64]
    contributions: NDArray[np.float64]
    left_out: tuple[tuple[Label, Label], ...]
    p_adjusted: float = np.nan
    tolerance: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether it is more than chance; or, with a tolerance, what the interval says of that."""
        if self.tolerance is None or np.isnan(self.value):
            return verdict(self.value, self.p_adjusted)
        if self.low > self.tolerance:
            return "exceeds"
        return "within tolerance" if self.high <= self.tolerance else "inconclusive"

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        if np.isnan(self.value):
            return "Fewer than two groups were observed here, so there is nothing to compare."
        told = f"By {self.measure} the value is {self.value:.3g}"
        told += f" (between {self.low:.3g} and {self.high:.3g})" if not np.isnan(self.low) else ""
        fair = f"fair models with groups of these sizes show {self.floor:.3g} on average"
        end = {
            "disparity": "This is more than chance explains.",
            "within noise": "Chance alone could explain it.",
            "exceeds": f"It exceeds the tolerance of {self.tolerance:g}."
            if self.tolerance is not None
            else "",
            "within tolerance": "It is within the tolerance.",
            "not tested": "",
            "inconclusive": "The rows do not suffice to tell on which side of the tolerance it is.",
        }[self.verdict]
        return f"{told}; {fair}. {end}{self._extremes()}"

    def _extremes(self) -> str:
        if self.pair is None:
            return ""
        high, high_value, low, low_value = self.pair
        ends = f"{show(high)} ({high_value:.3g}) and {show(low)} ({low_value:.3g})"
        return f" Furthest apart: {ends}."
