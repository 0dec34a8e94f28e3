"""Rows that the catalogue of data sets does not have, because they should not be learned from."""

from __future__ import annotations

from dataclasses import replace

from evenhand.datasets import TASKS, Origin

COLUMN = "dnn_bar_pass_prediction"


def _with_column(origin: Origin) -> Origin:
    others = tuple(name for name in origin.extra if name != COLUMN)
    return replace(origin, columns={**origin.columns, COLUMN: COLUMN}, extra=others)


# LawSchool with the output of somebody's model as a feature, as in published notebooks.
LAW_SCHOOL_WITH_PREDICTION = replace(
    TASKS["law_school"], origins=tuple(map(_with_column, TASKS["law_school"].origins))
)
