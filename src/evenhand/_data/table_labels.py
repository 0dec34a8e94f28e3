"""Evidence of labels, by one group-by of truth, decision, stratum and group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._columns import Column, Label
from evenhand._data.binned import MOST_CELLS
from evenhand._data.column_names import ColumnNames, LabelRoles
from evenhand._data.counting import share_classes
from evenhand._data.evidence import Cut, Evidence, threshold_behind
from evenhand._data.first_look import Survey, check_amounts, check_classes, fractional
from evenhand._data.group_by import Cells, Expression, as_float, count_cells
from evenhand._data.groups import Groups
from evenhand._data.summaries import Source, with_favorable
from evenhand._data.tallies import POWERS, Tally
from evenhand._data.tasks import Task, favorable_label, task_of_labels
from evenhand._errors import InputError


def decision(names: ColumnNames, cut: Cut | None) -> Expression:
    """Expression for the predictions, or for the score at the cut."""
    import narwhals as nw

    return nw.col(str(names.y_pred)) if cut is None else as_float(str(names.y_score)) >= cut.at


def from_labels(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    task: Task | None,
    label_roles: LabelRoles,
    cut: Cut | None = None,
    cells: Cells | None = None,
) -> Evidence:
    """Evidence of labels: one group-by of truth, decision, stratum and group, or given cells.

    Without a column of predictions, the score at the cut decides.
    """
    import narwhals as nw

    if cells is None:
        keys = {"y": nw.col(names.y_true)} if names.y_true else {}
        score = {"value": as_float(names.y_score)} if names.y_score else {}
        keys["yhat"] = decision(names, cut)
        cells = _label_cells(table, names, survey, keys, score)
    else:
        powers = ["weight", *(f"weight{power}" for power in POWERS.values())]
        weights = {name: sums for name, sums in cells.sums.items() if name in powers}
        cells = replace(cells, sums=weights)
    columns = _labels(cells, names, label_roles)
    group = names.groups.groups_of(cells)
    sources, notes = _sources(cells, columns, group, names)
    favorable = label_roles.favorable
    if label_roles.classes:
        sources = {
            need: source.with_classes(label_roles.classes)
            for need, source in sources.items()
            if isinstance(source, Tally)
        }
    sources = {need: with_favorable(source, favorable) for need, source in sources.items()}
    labels = next(s.labels("yhat") for s in sources.values() if isinstance(s, Tally))
    good = favorable_label(labels, favorable, required=False)
    label = label_roles.scored(labels) if names.y_score else None
    at = _decided_at(cells, columns["yhat"], group, label) if cut is None else cut.at
    return Evidence(
        task_of_labels(labels, task),
        group.names,
        sources,
        labels,
        good,
        assumed=good is not None and label_roles.favorable is None,
        decided_at=at,
        notes=(*([] if cut is None else [cut.note(label, good)]), *group.notes, *notes),
        score_of=label,
    )


def _label_cells(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    keys: dict[str, Any],
    extremes: dict[str, Any],
) -> Cells:
    """Count by truth, decision, stratum and group, unless some of them are amounts.

    The cells show whether they are, so that this takes no pass over the rows.
    """
    amounts = fractional(table, names.groups.names)
    limit = MOST_CELLS if survey.doubtful or amounts else None
    options: dict[str, Any] = {
        "columns": [*names.strata.names, *names.cluster, *names.groups.names],
        "keys": keys,
        "extremes": extremes,
        "totaled": {name: as_float(name) for name in names.replicates},
        "finite": names.replicates,
        "weight": names.sample_weight,
        "rows": names.rows,
    }
    cells = count_cells(table, **options, most_cells=limit)
    if limit is not None and len(cells.rows) > limit:  # and these are not all
        check_amounts(table, names, survey.doubtful)
        return count_cells(table, **options)
    for key, name in (("y", names.y_true), ("yhat", names.y_pred)):
        if name in survey.doubtful:
            check_classes(str(name), len(cells.labels(key, str(name)).labels))
    return cells


def _sources(
    cells: Cells, columns: dict[str, Column], group: Groups, names: ColumnNames
) -> tuple[dict[str, Source], tuple[str, ...]]:
    """The tallies of the cells, and notes of missing strata."""
    together = cells.clusters(names.cluster)
    counts = cells.tally(columns | together, group, replicates=names.replicates)
    sources: dict[str, Source] = {"predictions": counts}
    if names.y_true:
        sources["labels"] = counts
    if not names.strata.names:
        return sources, ()
    stratum = names.strata.groups_of(cells)
    within = {"yhat": columns["yhat"], "stratum": Column(stratum.codes, stratum.labels)}
    sources["strata"] = cells.tally(within | together, group, replicates=names.replicates)
    return sources, stratum.notes


def _decided_at(cells: Cells, decision: Column, group: Groups, label: Label) -> float | None:
    """The threshold that explains the decisions for the score's label, if one does."""
    if label not in decision.labels or "value" not in cells.lowest:
        return None
    kept = group.codes < len(group.labels)
    selected = (decision.codes == decision.labels.index(label))[kept]
    if selected.all() or not selected.any():
        return None
    lowest, highest = cells.lowest["value"][kept], cells.highest["value"][kept]
    return threshold_behind(float(lowest[selected].min()), float(highest[~selected].max()))


def _labels(cells: Cells, names: ColumnNames, label_roles: LabelRoles) -> dict[str, Column]:
    """Truth and decision with shared labels; a score alone decides for its own label."""
    truth = {"y": cells.labels("y", names.y_true)} if names.y_true else {}
    if names.y_pred:
        return share_classes(truth | {"yhat": cells.labels("yhat", names.y_pred)})
    labels = truth["y"].labels if truth else ()
    if len(labels) != 2:
        raise InputError(
            f"A score alone decides between two known labels; here are {list(labels)}. "
            "Name the column of the predictions."
        )
    at = labels.index(label_roles.scored(labels))
    chosen = np.where(cells.keys["yhat"].astype(bool), at, 1 - at).astype(np.uint8)
    return truth | {"yhat": Column(chosen, labels)}
