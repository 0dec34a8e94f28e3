"""What an audit reads: the summaries of the rows, by what statistics need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.tasks import Task
from evenhand._columns import Label
from evenhand._errors import InputError
from evenhand._tally import Tally
from evenhand.statistics.kinds import Source

MOST_THRESHOLDS = 200


@dataclass(frozen=True, eq=False)
class Evidence:
    """Summaries by need ("labels", "moments", "steps", …), and what the groups are.

    `thresholds` counts (score bin, truth, group), where a score decides between two classes.
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
        return next(one for one in self.sources.values() if isinstance(one, Tally))

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
        moved = {need: one.regrouped(target, labels) for need, one in self.sources.items()}
        curve = self.thresholds
        curve = None if curve is None else curve.regrouped(target, labels)
        return replace(self, sources=moved, thresholds=curve)


def favorable_of(labels: tuple[Label, ...], favorable: Label) -> Label:
    """The favorable label, where it was named or goes without saying; else None."""
    if favorable is None:
        return labels[1] if labels in ((0, 1), (-1, 1)) else None
    if favorable not in labels:
        raise InputError(
            f"The favorable label {favorable!r} is not among the labels {list(labels)}."
        )
    return favorable
