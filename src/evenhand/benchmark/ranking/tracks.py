"""Which results may be compared: tracks by task, groups, access to the group, and output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

TWO, MANY, CROSSED = "two groups", "many groups", "intersections"
BINARY, MULTICLASS, REGRESSION = "binary", "multi-class", "regression"
TASKS = (BINARY, MULTICLASS, REGRESSION)
GROUPS = (TWO, MANY, CROSSED)
KNOWN, UNKNOWN = "group known", "group not known"
DECISIONS, PROBABILITIES = "decisions", "probabilities"


def task_track(problem: Mapping[str, Any]) -> str:
    """Binary, multi-class or regression.

    Parameters
    ----------
    problem : mapping
        A row of `Results.problems`.

    Returns
    -------
    str
        The task's part of a track.

    Examples
    --------
    >>> task_track({"kind": "classification", "n_classes": 5})
    'multi-class'

    """
    if problem["kind"] == "regression":
        return REGRESSION
    return BINARY if (problem["n_classes"] or 2) <= 2 else MULTICLASS


def group_track(problem: Mapping[str, Any]) -> str:
    """Two groups, many groups of one column, or intersections of several columns.

    Parameters
    ----------
    problem : mapping
        A row of `Results.problems`.

    Returns
    -------
    str
        The groups' part of a track.

    Examples
    --------
    >>> group_track({"n_groups": 6, "about": '{"sensitive": ["sex", "race"]}'})
    'intersections'

    """
    sensitive = json.loads(problem.get("about") or "{}").get("sensitive", ())
    if (problem["n_groups"] or 2) <= 2:
        return TWO
    return CROSSED if len(sensitive) > 1 else MANY


def track_of(problem: Mapping[str, Any]) -> str:
    """The track in words, as problems are ranked together.

    Examples
    --------
    >>> track_of({"kind": "classification", "n_classes": 2, "n_groups": 2})
    'binary, two groups'

    """
    return f"{task_track(problem)}, {group_track(problem)}"


def track_order(track: str) -> tuple[int, int]:
    """Sort key of a track: the simplest first.

    Examples
    --------
    >>> sorted(["regression, two groups", "binary, many groups"], key=track_order)
    ['binary, many groups', 'regression, two groups']

    """
    task, _, groups = track.partition(", ")
    return TASKS.index(task), GROUPS.index(groups)
