"""Evidence of labels from a table: one group-by of truth, decision, stratum and group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.audit.cells import Cells, Whom, columns_as_keys, counted, crossed
from evenhand.audit.evidence import Evidence, favourable_of
from evenhand.audit.tasks import Task
from evenhand.columns import Column, Label
from evenhand.counting import share_classes
from evenhand.sources import Source


@dataclass(frozen=True)
class Names:
    """Which column of a table plays which part."""

    y_true: str | None
    y_pred: str | None
    y_score: str | None
    sample_weight: str | None
    strata: tuple[str, ...]
    whom: Whom

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        one = (self.y_true, self.y_pred, self.y_score, self.sample_weight)
        return list(dict.fromkeys([*filter(None, one), *self.strata, *self.whom.columns]))


def from_labels(table: Any, names: Names, favourable: Label) -> Evidence:
    """Evidence of labels: one group-by of truth, decision, stratum and group."""
    import narwhals as nw

    keys = columns_as_keys([*names.strata, *names.whom.columns])
    keys |= {"y": nw.col(names.y_true)} if names.y_true else {}
    score = nw.col(names.y_score).cast(nw.Float64) if names.y_score else nw.lit(0.0)
    keys["yhat"] = nw.col(names.y_pred) if names.y_pred else score >= 0.5
    ends = {"least": score, "most": score} if names.y_score else {}
    cells, whom = names.whom.find(counted(table, keys, ends, names.sample_weight))
    columns = _labels(cells, names, favourable)
    labels = columns["yhat"].labels
    good = favourable_of(labels, written(favourable, labels))
    task: Task = "binary" if len(labels) <= 2 else "multiclass"
    decided = _decided_at(cells, columns["yhat"], good) if ends else None
    sources = _sources(cells, columns | {"group": Column(whom.codes, whom.labels)}, names)
    return Evidence(task, whom.names, sources, labels, good, None, decided, whom.notes)


def _sources(cells: Cells, columns: dict[str, Column], names: Names) -> dict[str, Source]:
    counts = cells.tally(columns)
    sources: dict[str, Source] = {"predictions": counts}
    if names.y_true:
        sources["labels"] = counts
    if names.strata:
        stratum, _ = crossed(cells, names.strata, "error")
        within = {"yhat": columns["yhat"], "stratum": stratum, "group": columns["group"]}
        sources["strata"] = cells.tally(within)
    return sources


def _decided_at(cells: Cells, decision: Column, good: Label) -> float | None:
    """The threshold that explains the decisions, if one does: a half, or the least selected."""
    if good is None:
        return None
    selected = decision.codes == decision.labels.index(good)
    if selected.all() or not selected.any():
        return None
    least = float(cells.totals["least"][selected].min())
    most = float(cells.totals["most"][~selected].max())
    if most >= least:
        return None
    return 0.5 if most < 0.5 <= least else least


def _labels(cells: Cells, names: Names, favourable: Label) -> dict[str, Column]:
    """Truth and decision with shared labels; a score alone decides for the favourable label."""
    found = {"y": cells.labels("y", names.y_true)} if names.y_true else {}
    if names.y_pred:
        return share_classes(found | {"yhat": cells.labels("yhat", names.y_pred)})
    labels = found["y"].labels if found else ()
    if len(labels) != 2:
        raise ValueError(
            f"A score alone decides between two known labels; here are {list(labels)}. "
            "Name the column of the predictions."
        )
    good = favourable_of(labels, written(favourable, labels))
    if good is None:
        raise ValueError(f"Which of {list(labels)} does the score favour? Say favourable.")
    at = labels.index(good)
    chosen = np.where(cells.keys["yhat"].astype(bool), at, 1 - at).astype(np.uint8)
    return found | {"yhat": Column(chosen, labels)}


def written(favourable: Label, labels: Sequence[Label]) -> Label:
    """The label that is written so, where it is not itself a label.

    >>> written("1", (0, 1)), written("yes", ("no", "yes")), written("2", (0, 1))
    (1, 'yes', '2')
    """
    if favourable is None or favourable in labels:
        return favourable
    return next((label for label in labels if str(label) == str(favourable)), favourable)
