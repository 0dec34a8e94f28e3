"""The columns of a table by role, and the roles of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evenhand._columns import Label
from evenhand._data.group_by import GroupColumns
from evenhand._data.tasks import scored_label


@dataclass(frozen=True)
class ColumnNames:
    """The columns of a table by role."""

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
        """Names of all columns that are read, without repeats."""
        single = (self.y_true, self.y_pred, self.y_score, self.sample_weight, self.rows)
        several = (*self.strata.names, *self.cluster, *self.replicates, *self.groups.names)
        return list(dict.fromkeys(name for name in (*single, *several) if name is not None))


class LabelRoles(NamedTuple):
    """The favorable label and the label of the score, where the caller named them.

    `classes` exist even if no row has them.
    """

    favorable: Label = None
    score_of: Label = None
    classes: tuple[Label, ...] = ()

    def scored(self, labels: Sequence[Label]) -> Label:
        """The label that the score is of."""
        return scored_label(labels, self.score_of, self.favorable)
