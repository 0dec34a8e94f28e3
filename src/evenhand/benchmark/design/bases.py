"""The models underneath: what is fitted once for each split, and shared by all methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.benchmark.design.importing import imported
from evenhand.datasets.task import Kind

Encoding = Literal["indicators", "codes"]


@dataclass(frozen=True)
class Base:
    """A base model by name: an estimator for each kind of task, and how it reads the columns.

    `estimators` holds import paths, so that a base model is a value that can be written down.
    The truth itself may stand in for a model (`is_truth`): published code of some regression
    methods adjusts the true targets, also of the test rows.
    """

    name: str
    estimators: Mapping[Kind, str]
    encoding: Encoding = "indicators"
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_truth: bool = False

    def estimator(self, kind: Kind, is_category: Any = None) -> Any:
        """A new estimator, not fitted."""
        found = imported(self.estimators[kind])
        special = {"categorical_features": is_category} if self.encoding == "codes" else {}
        return found(**{**special, **self.settings})


BASES: dict[str, Base] = {
    base.name: base
    for base in (
        Base(
            "logistic",
            {"classification": "sklearn.linear_model:LogisticRegression"},
            settings={"max_iter": 1000},
        ),
        Base("linear", {"regression": "sklearn.linear_model:LinearRegression"}),
        Base(
            "boosting",
            {
                "classification": "sklearn.ensemble:HistGradientBoostingClassifier",
                "regression": "sklearn.ensemble:HistGradientBoostingRegressor",
            },
            encoding="codes",
            settings={"random_state": 0},
        ),
        Base("targets", {"regression": "none"}, is_truth=True),
    )
}
