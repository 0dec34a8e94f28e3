"""Where a score decides: the threshold that was given, a half, or the one behind the decisions."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

from evenhand._columns import Label
from evenhand._errors import InputError, InputTypeError
from evenhand._groups import show


class Cut(NamedTuple):
    """The score from which rows are selected, where no predictions were given."""

    at: float
    is_given: bool

    def note(self, favorable: Label) -> str:
        """Where the cut is, and why, in words.

        >>> Cut(5.0, True).note(1)
        'Selected: score at least 5, the given threshold. Such rows count as predicted 1.'
        """
        unasked = "for want of predictions and of a threshold"
        return (
            f"Selected: score at least {self.at:.10g}, "
            f"{'the given threshold' if self.is_given else unasked}. "
            f"Such rows count as predicted {show(favorable)}."
        )


def check_threshold(threshold: Any, *, decided: bool, scored: bool) -> float | None:
    """The threshold as a number; refuse one beside predictions, and one without a score."""
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise InputTypeError(
            f"threshold= must be a number, the least score that is selected, not {threshold!r}."
        )
    at = float(threshold)
    if not math.isfinite(at):
        raise InputError(f"threshold= must be a finite number, not {at}.")
    if decided:
        raise InputError(f"Which one decides, y_pred or threshold={at:g}? Pass one of them.")
    if not scored:
        raise InputError(f"threshold={at:g} needs y_score, the score that it cuts.")
    return at


def cut_of(low: float, high: float, threshold: float | None, name: str) -> Cut:
    """Where to cut scores from `low` to `high`; only probabilities are cut at a half unasked."""
    if threshold is not None:
        return Cut(threshold, is_given=True)
    if not are_probabilities(low, high):
        raise InputError(
            f"{name} runs from {low:g} to {high:g}, so it is no probability that could be cut at "
            "0.5. Pass threshold=, the least score that is selected, or y_pred, the predictions."
        )
    return Cut(0.5, is_given=False)


def are_probabilities(low: float, high: float) -> bool:
    """Whether scores from `low` to `high` can be probabilities."""
    return low >= 0 and high <= 1


def no_probability_note(low: float, high: float, name: str) -> str:
    """Which criteria were left out for want of probabilities, in words."""
    return (
        f"{name} runs from {low:g} to {high:g}, so it is no probability: calibration and "
        "cross-entropy were left out."
    )


def threshold_behind(least_selected: float, most_rejected: float) -> float | None:
    """The threshold that explains decisions, if one does: a half, or the least score selected.

    >>> threshold_behind(0.7, 0.3), threshold_behind(0.4, 0.3), threshold_behind(0.4, 0.6)
    (0.5, 0.4, None)
    """
    if most_rejected >= least_selected:
        return None
    return 0.5 if most_rejected < 0.5 <= least_selected else least_selected
