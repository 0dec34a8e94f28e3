"""Sample sizes that would turn "cannot tell" into an answer, and the groups that limit it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._uncertainty.curves import Estimates, Floats
from evenhand._uncertainty.normal_design import NormalModel
from evenhand._words import listing, number, points_up

LIMITING = 3  # groups named at most
MOST_TIMES = 1000.0
HARDLY = 1.05  # up to this factor it is "slightly more" rows
STEPS = 18


@dataclass(frozen=True)
class Needed:
    """The multiples of an audit's rows that would reach a conclusion with a power of 0.8.

    Attributes
    ----------
    differ : float
        To show that groups differ, if they differ as observed; infinite if they look equal.
    alike : float
        To show that they are alike within the margin, if they are equal; NaN without a margin, and
        1 if these rows would usually have shown it.
    lacking : tuple of (group, rows)
        The groups whose own intervals are widest; the rows are None where unknown.
    margin : float or None
        Differences up to this count as alike.
    is_share : bool
        Whether the margin is a difference of shares, to be written in percentage points.

    """

    differ: float
    alike: float
    lacking: tuple[tuple[Label, float | None], ...]
    margin: float | None
    is_share: bool = False

    @property
    def sentence(self) -> str:
        """The required sample size in plain words."""
        conclusion = (
            points_up(self.margin) if self.is_share and self.margin else number(self.margin)
        )
        parts, within = [], f"alike within {conclusion}"
        if np.isfinite(self.differ):
            conclusion = "the observed difference, if it is real"
            factor = "slightly more" if self.differ < HARDLY else f"{about(self.differ)} as many"
            parts.append(f"{factor} rows would show {conclusion}")
        if self.alike > 1:
            rows = "" if parts else " rows"
            conclusion = f"that the groups are {within}, if they are"
            parts.append(f"{about(self.alike)} as many{rows} would show {conclusion}")
        elif self.alike == 1:
            parts.append(f"this many rows usually show that groups are {within}, if they are")
        if not parts:
            return ""
        words = "; ".join(parts)
        return f"{words[0].upper()}{words[1:]}.{lacking(self.lacking)}"


def needed(
    estimates: Estimates, level: float, margin: float | None, tests: int = 1, target: float = 0.8
) -> Needed | None:
    """The multiples of the rows that would reach a conclusion, by a fast normal approximation.

    None for distributions, which have a different test.
    """
    model = NormalModel.of_estimates(estimates)
    if model is None:
        return None
    largest = 1.1 * MOST_TIMES
    differ, alike_factor = np.inf, np.nan
    if any((np.abs(part.shift) > 1e-9).any() for some in model.questions for part in some):
        differ = min(
            crossing(model.detector(level / tests), target, (1.0, largest), steps=9), largest
        )
    if margin is not None and margin > 0:
        alike_factor = 1.0
        for _ in range(3):  # intervals shrink about as the root of the rows
            end = float(np.quantile(model.upper_ends(1 - level, alike_factor), target))
            alike_factor = float(np.clip(alike_factor * (end / margin) ** 2, 1.0, largest))
    worst = int(np.nanargmax(np.nanmax(np.nan_to_num(model.errors), axis=1)))
    rows = None if estimates.counts is None else estimates.sizes[worst]
    narrow = tuple(
        (estimates.groups[group], None if rows is None else float(rows[group]))
        for group in limiting(model.errors[worst])
    )
    return Needed(differ, alike_factor, narrow, margin)


def crossing(
    chance: Callable[[float], float], target: float, ends: tuple[float, float], steps: int = STEPS
) -> float:
    """The point at which a rising function reaches the target, by bisection on a log scale."""
    low, high = ends
    if chance(high) < target:
        return np.inf
    for _ in range(steps):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if chance(middle) >= target else (middle, high)
    return high


def limiting(errors: Floats) -> list[int]:
    """The groups whose own intervals are widest, widest first; none if most are about as wide."""
    finite = np.flatnonzero(np.isfinite(errors))
    wide = finite[errors[finite] >= errors[finite].max(initial=0.0) / 2]
    if len(wide) > len(finite) / 2:
        return []
    return [int(i) for i in wide[np.argsort(-errors[wide], kind="stable")][:LIMITING]]


def lacking(groups: Sequence[tuple[Label, float | None]]) -> str:
    """A sentence, after a space, that names the groups that need more rows."""
    if not groups:
        return ""
    names = [show(group) + ("" if rows is None else f" ({rows:,.0f})") for group, rows in groups]
    return f" More rows of {listing(names)} are needed most."


def about(factor: float) -> str:
    """An approximate factor in words.

    >>> about(26.2), about(1e5)
    ('about 26 times', 'more than 1,000 times')
    """
    return times(factor) if factor > MOST_TIMES else f"about {times(factor)}"


def times(factor: float) -> str:
    """A factor in words, to two digits.

    >>> times(0.4321), times(1.84), times(26.2), times(1e5)
    ('0.43 times', '1.8 times', '26 times', 'more than 1,000 times')
    """
    if factor > MOST_TIMES:
        return "more than 1,000 times"
    digits = 2 if factor < 0.995 else 1 if factor < 9.95 else 0
    return f"{factor:.{digits}f} times"
