"""What an audit reads: the summaries of the rows, by what statistics need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._distributions import Distribution, RankedScores
from evenhand._groups import show
from evenhand._tally import Tally
from evenhand._tasks import Task
from evenhand.statistics.kinds import Source

MOST_THRESHOLDS = 200
DECISIONS = ("predictions", "labels", "strata")  # sources that count decisions


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

    def sameness(self, needs: str) -> str | None:
        """That all rows that weigh anything have one prediction or score, in words, if they do."""
        if needs in DECISIONS:
            counts = self.sources["predictions"]
            assert isinstance(counts, Tally)
            seen = np.flatnonzero(counts.table("yhat"))
            if len(seen) != 1:
                return None
            label = show(counts.labels("yhat")[seen[0]])
            return f"every row has the prediction {label}: there is nothing to audit"
        source = self.sources.get("steps", self.sources.get("ranks"))
        values = [_values(scores) for scores in _distributions(source)]
        if not values or any(len(each) == 0 or each[0] < each[-1] for each in values):
            return None
        value = " and ".join(f"{each[0]:g}" for each in values)
        if self.task == "regression":
            return f"every row has the prediction {value}: there is nothing to audit"
        return f"every row has the score {value}: there is nothing to audit in scores"

    def regrouped(self, target: NDArray[np.intp], labels: tuple[Label, ...]) -> Evidence:
        """The same with every group moved to one of the new labels."""
        moved = {need: source.regrouped(target, labels) for need, source in self.sources.items()}
        curve = self.thresholds
        curve = None if curve is None else curve.regrouped(target, labels)
        return replace(self, sources=moved, thresholds=curve)


def _distributions(source: Source | None) -> tuple[Distribution, ...]:
    if isinstance(source, RankedScores):
        return source.scores
    return (source,) if isinstance(source, Distribution) else ()


def _values(scores: Distribution) -> NDArray[np.float64]:
    """The values of the rows that weigh anything, ascending."""
    return scores.values if scores.weights is None else scores.values[scores.weights > 0]
