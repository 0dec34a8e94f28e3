"""Which questions an audit asks, by task; each is a criterion, its statistic and measures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenhand._columns import encode
from evenhand._columns.encoding import numbers
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.measures import resolve as resolve_measure

Task = Literal["binary", "multiclass", "regression"]

TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression")
MOST_CLASSES = 100

CLASSIFICATION = (
    "statistical_parity",
    "equalized_odds",
    "average_odds",
    "equal_opportunity",
    "predictive_equality",
    "predictive_parity",
    "false_omission_rate_parity",
    "accuracy_parity",
    "error_parity",
)
DEFAULTS: dict[Task, tuple[str, ...]] = {
    "binary": (
        *CLASSIFICATION[:1],
        "selection_rate_ratio",
        *CLASSIFICATION[1:],
        "treatment_equality",
        "conditional_statistical_parity",
        "calibration_parity",
        "calibration_within_groups",
        "performance_parity(auroc)",
        "performance_parity(cross_entropy)",
        "strong_parity",
        "wasserstein_parity",
    ),
    "multiclass": (
        *CLASSIFICATION,
        "conditional_statistical_parity",
        "performance_parity(auroc)",
        "performance_parity(cross_entropy)",
    ),
    "regression": (
        "strong_parity",
        "wasserstein_parity",
        "weak_parity",
        "performance_parity(mse)",
        "performance_parity(mae)",
    ),
}


@dataclass(frozen=True)
class Ask:
    """One criterion, by the name people give it, with its statistic and measures."""

    name: str
    criterion: Criterion
    measures: tuple[str, ...]


def asks(names: Iterable[str | Criterion], measures: Sequence[str]) -> list[Ask]:
    """Resolve names such as "equalized_odds" and "performance_parity(f1)".

    >>> [one.criterion.statistic.formula for one in asks(["performance_parity(f1)"], ["gini"])]
    ['2 tp / (2 tp + fp + fn)']
    """
    for measure in measures:
        resolve_measure(measure)
    return [_ask(name, tuple(measures)) for name in names]


def _ask(name: str | Criterion, measures: tuple[str, ...]) -> Ask:
    if isinstance(name, Criterion):
        return Ask(name.name, name, measures)
    found = re.fullmatch(r"(\w+)\((\w+)\)", name)
    criterion = named(found[1] if found else name).with_statistic(found[2] if found else None)
    only = (criterion.measure,) if criterion.measure == "shortfall" else measures
    return Ask(name, criterion, only)


def task_of(y_true: Any, y_pred: Any) -> Task:
    """Tell classification from regression by the labels.

    >>> task_of([0, 1, 1], [1, 0, 1]), task_of([0.5, 2.0], [0.1, 0.3])
    ('binary', 'regression')
    """
    known = [column for column in (y_true, y_pred) if column is not None]
    if any(_is_continuous(column) for column in known):
        return "regression"
    labels = {label for column in known for label in encode(column, "y").labels}
    if len(labels) > MOST_CLASSES and all(isinstance(label, int | float) for label in labels):
        return "regression"
    return "binary" if len(labels) <= 2 else "multiclass"


def _is_continuous(column: Any) -> bool:
    """Numbers of which some are not whole."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind in "biuSU":
        return False
    if kind != "f" and not isinstance(_first(column), float):
        return False
    values = numbers(column, "y")
    values = values[np.isfinite(values)]
    return bool((values != np.rint(values)).any())


def _first(column: Any) -> Any:
    return next(iter(column), None)
