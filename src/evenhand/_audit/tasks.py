"""Which questions an audit asks, by task; each is a criterion, its statistic and measures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenhand._tasks import Task
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.measures import resolve as resolve_measure

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
