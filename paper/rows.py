"""Rows that the catalogue of data sets does not have, because they should not be learned from."""

from __future__ import annotations

from dataclasses import replace

from evenhand.datasets import TASKS, Dataset, Origin, load

COLUMN = "dnn_bar_pass_prediction"


def law_school_with_prediction() -> Dataset:
    """LawSchool with the output of somebody's model as a feature, as in published notebooks."""
    task = TASKS["law_school"]
    return load(replace(task, origins=tuple(_with_column(one) for one in task.origins)))


def _with_column(origin: Origin) -> Origin:
    others = tuple(name for name in origin.extra if name != COLUMN)
    return replace(origin, columns={**origin.columns, COLUMN: COLUMN}, extra=others)
