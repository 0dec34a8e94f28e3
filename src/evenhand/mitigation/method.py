"""A mitigation method as a value: what it is called, what it can do, and over which grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Stage = Literal["pre", "in", "post"]
Task = Literal["classification", "regression"]
Extent = Literal["two", "any"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method by the name the field gives it, and the estimator that does it.

    The first of `constraints` is the default; `grid` holds the values of `hyperparameter` that
    the paper tries for each of them. `settings` are what sets this method apart from others of
    the same estimator. `constraint_parameter` names the parameter that takes the constraint; it
    is None where there is nothing to choose.
    """

    name: str
    estimator: type[Any]
    stage: Stage
    task: Task
    constraints: tuple[str, ...]
    classes: Extent = "any"
    groups: Extent = "any"
    needs_group_at_predict: bool
    randomised: bool
    hyperparameter: str | None = None
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    constraint_parameter: str | None = "constraint"
    citation: str

    def __call__(self, estimator: Any = None, **parameters: Any) -> Any:
        """The estimator of this method, with its settings and these parameters."""
        return self.estimator(estimator, **{**self.settings, **parameters})

    def constraint_of(self, estimator: Any) -> str:
        """The constraint that an estimator of this method was told to meet."""
        return str(getattr(estimator, self.constraint_parameter or "", self.constraints[0]))
