"""Which columns of a table are read, for what, and what their labels mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evenhand._columns import Label
from evenhand._data.group_by import GroupColumns
from evenhand._data.tasks import scored_label


@dataclass(frozen=True)
class ColumnNames:
    """Which column of a table plays which part."""

    y_true: str | None
    y_pred: str | None
    y_score: str | None
    sample_weight: str | None
    strata: GroupColumns
    groups: GroupColumns
    cluster: tuple[str, ...] = ()
    rows: str | None = None
    replicates: Mapping[str, float] = field(default_factory=dict)

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        single = (self.y_true, self.y_pred, self.y_score, self.sample_weight, self.rows)
        several = (*self.strata.names, *self.cluster, *self.replicates, *self.groups.names)
        return list(dict.fromkeys(name for name in (*single, *several) if name is not None))


class Meant(NamedTuple):
    """The favorable label, and the one that a score is of, where the caller named them.

    `classes` are known to exist, whether a row has them or not.
    """

    favorable: Label = None
    score_of: Label = None
    classes: tuple[Label, ...] = ()

    def scored(self, labels: Sequence[Label]) -> Label:
        """Of which of the labels the score is."""
        return scored_label(labels, self.score_of, self.favorable)
