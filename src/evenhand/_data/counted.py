"""Evidence from an existing tally of labels, or of sums of predicted values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand._columns import Bin
from evenhand._data.evidence import Evidence, check_any, check_names
from evenhand._data.roles import Columns
from evenhand._data.summaries import Source, with_favorable
from evenhand._data.tallies import Tally, gathered
from evenhand._data.tasks import check_task, favorable_label, task_of_labels
from evenhand._errors import InputError
from evenhand._kinds import check_columns, check_kinds


def from_tally(counts: Tally, roles: Columns) -> Evidence:
    """Evidence from counts, of which the sensitive features name the columns of the groups."""
    check_kinds(min_count=roles.min_count, rare=roles.rare, task=roles.task)
    task, favorable = check_task(roles.task), roles.favorable
    axes = [axis.name for axis in counts.whole.axes]
    if "group" not in axes or counts.sums["rows"].ndim > 1:
        raise InputError(f"{counts} cannot be audited: it is not one count by group.")
    if (counts.sums["rows"] % 1 != 0).any():
        raise InputError(f"{counts} cannot be audited: its rows are expected ones, not whole.")
    counts = counts.settle_rare(roles.min_count, roles.rare)
    columns = names_of(counts, roles.sensitive_features)
    check_any(counts.groups)
    check_names(columns, counts.groups)
    if "yhat" in axes and set(axes) <= {"y", "yhat", "stratum", "group"}:
        if task == "regression":
            raise InputError('task="regression", but the tally counts labels.')
        counts = with_favorable(counts, favorable)
        labels = counts.labels("yhat")
        good = favorable_label(labels, favorable, required=False)
        return Evidence(
            task_of_labels(labels, task),
            columns,
            _label_sources(counts, axes),
            labels,
            good,
            assumed=good is not None and favorable is None,
            notes=counts.notes,
        )
    if axes == ["group"] and {"yhat", "yhat²"} <= counts.sums.keys():
        if task not in (None, "regression"):
            raise InputError(f"task={task!r}, but the tally has sums of values and no labels.")
        return Evidence("regression", columns, {"moments": counts}, notes=counts.notes)
    if axes == ["group"] and "exposure" in counts.sums:
        if task not in (None, "ranking"):
            raise InputError(f"task={task!r}, but the tally has sums of a ranking.")
        return Evidence("ranking", columns, {"lists": counts}, notes=counts.notes)
    raise InputError(
        f"{counts} cannot be audited: it has neither predicted labels (an axis 'yhat') nor sums "
        "'yhat' and 'yhat²' of predicted values, as for task='regression'. Criteria read it one by "
        "one: evenhand.interval(criterion, counts)."
    )


def names_of(counts: Tally, sensitive_features: Any) -> tuple[str, ...]:
    """Names of the columns of the groups; a label of crossed groups has a part for each."""
    crossed = {
        len(label)
        for label in counts.groups
        if isinstance(label, tuple) and not isinstance(label, Bin)
    }
    number = crossed.pop() if len(crossed) == 1 else 1
    if sensitive_features is None:
        return ("group",) if number == 1 else tuple(f"column {i}" for i in range(number))
    check_columns(sensitive_features=sensitive_features)
    names = [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
    if len(names) != number:
        raise InputError(
            f"sensitive_features names {list(names)}, but the groups of the tally, such as "
            f"{counts.groups[0]!r}, are made of {number} column{'s' if number > 1 else ''}."
        )
    return tuple(names)


def _label_sources(counts: Tally, axes: list[str]) -> dict[str, Source]:
    """Counts by truth and prediction, and by stratum and prediction, where available."""
    label_axes = [axis.name for axis in counts.axes if axis.name != "stratum"]
    by_label = _along(counts, label_axes)
    sources: dict[str, Source] = {"predictions": by_label}
    if "y" in axes:
        sources["labels"] = by_label
    if "stratum" in axes:
        sources["strata"] = _along(counts, ["yhat", "stratum", *counts.clusters, "group"])
    return sources


def _along(counts: Tally, names: list[str]) -> Tally:
    """The counts summed to some of the axes."""
    axes = [axis.name for axis in counts.axes]
    if names == axes:
        return counts
    cells = counts.cells[[axes.index(name) for name in names]]
    summed = gathered(tuple(counts.axis(name) for name in names), cells, counts.sums, ())
    return replace(summed, notes=counts.notes, scale=counts.scale)
