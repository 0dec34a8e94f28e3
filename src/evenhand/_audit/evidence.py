"""What an audit reads: the summaries of the rows, by what statistics need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._errors import InputError
from evenhand._tally import Tally
from evenhand._tasks import Task
from evenhand.statistics.kinds import Source

MOST_THRESHOLDS = 200


@dataclass(frozen=True, eq=False)
class Evidence:
    """Summaries by need ("labels", "moments", "steps", …), and what the groups are.

    `thresholds` counts (score bin, truth, group), where a score decides between two classes;
    `decided_at` is the score from which the decisions are favorable, where there is one.
    """

    task: Task
    columns: tuple[str, ...]
    sources: Mapping[str, Source]
    classes: tuple[Label, ...] = ()
    favorable: Label = None
    thresholds: Tally | None = None
    decided_at: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def counted(self) -> Tally:
        """A tally that knows the groups and their rows."""
        return next(source for source in self.sources.values() if isinstance(source, Tally))

    @property
    def groups(self) -> tuple[Label, ...]:
        """The groups, in the order of every table."""
        return self.counted.groups

    @property
    def rows(self) -> NDArray[np.float64]:
        """Rows of each group."""
        return self.counted.table("group", of="rows")

    def regrouped(self, target: NDArray[np.intp], labels: tuple[Label, ...]) -> Evidence:
        """The same with every group moved to one of the new labels."""
        moved = {need: source.regrouped(target, labels) for need, source in self.sources.items()}
        curve = self.thresholds
        curve = None if curve is None else curve.regrouped(target, labels)
        return replace(self, sources=moved, thresholds=curve)


def check_several(labels: tuple[Label, ...]) -> None:
    """Refuse to compare one group with nobody."""
    if len(labels) < 2:
        raise InputError(
            f"There is one group only, {labels[0]!r}: nothing to compare it with. "
            "Check the sensitive column, or the filter before it."
        )


def threshold_behind(least_selected: float, most_rejected: float) -> float | None:
    """The threshold that explains decisions, if one does: a half, or the least score selected.

    >>> threshold_behind(0.7, 0.3), threshold_behind(0.4, 0.3), threshold_behind(0.4, 0.6)
    (0.5, 0.4, None)
    """
    if most_rejected >= least_selected:
        return None
    return 0.5 if most_rejected < 0.5 <= least_selected else least_selected
