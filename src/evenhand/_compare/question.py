"""A criterion with the choices one makes about it, asked of every model at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import measures
from evenhand._columns import Label
from evenhand._compare.evidence import Evidence, Sources, Task
from evenhand._compare.paired import order_of
from evenhand._errors import InputError
from evenhand._uncertainty import Chance, chance
from evenhand._uncertainty.multiplicity import LEVEL
from evenhand.criteria import Criterion
from evenhand.criteria.criterion import name_of
from evenhand.criteria.evaluation import named
from evenhand.measures import Measure

Floats = NDArray[np.float64]

BY_TASK = {
    "classification": ("statistical_parity", "equalized_odds", "accuracy_parity"),
    "regression": ("strong_parity", "wasserstein_parity", "weak_parity", "performance_parity"),
}
WITHOUT_TRUTH = ("statistical_parity", "strong_parity", "wasserstein_parity", "weak_parity")


@dataclass(frozen=True, eq=False)
class Question:
    """A criterion, a measure, and how both are used."""

    criterion: Criterion
    measure: str | Measure
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def needs(self) -> str:
        """What it reads of the rows."""
        return self.criterion.statistic.needs

    @property
    def measure_name(self) -> str:
        """The measure, with the orders it was given."""
        return name_of(self.measure)

    @property
    def order(self) -> int:
        """Whether the measure is linear or quadratic in small deviations."""
        return order_of(measures.resolve(self.measure))

    @property
    def asked(self) -> dict[str, Any]:
        """The options of `Criterion.read`, `chance` and `interval`."""
        return {"measure": self.measure, **self.options}

    def with_options(self, **changed: Any) -> Question:
        """The same question, asked in another way."""
        measure = changed.pop("measure", self.measure)
        return replace(self, measure=measure, options={**self.options, **changed})

    def values(self, sources: Sources) -> Floats:
        """Its value for each model (last axis), after any batch axis."""
        found = [self.criterion(source, **self.asked) for source in sources[self.needs]]
        return np.stack([np.asarray(one, dtype=np.float64) for one in found], axis=-1)

    def values_if_any(self, sources: Sources) -> Floats:
        """The same, but NaN where the measure refuses: Gini and PQ of a negative mean."""
        try:
            return self.values(sources)
        except ValueError:
            return np.full(len(sources[self.needs]), np.nan)


def questions(
    criteria: Sequence[str | Criterion] | None,
    asked_measures: Sequence[str | Measure],
    evidence: Evidence,
    task: Task,
    *,
    g: str | None = None,
    transform: str | None = None,
    favorable: Label = None,
) -> list[Question]:
    """Every criterion by every measure; refuse what these predictions cannot answer."""
    for measure in asked_measures:
        measures.resolve(measure)
    wanted = BY_TASK[task] if criteria is None else criteria
    if criteria is None and evidence.truth is None:
        wanted = [name for name in wanted if name in WITHOUT_TRUTH]
    options = {"transform": transform, "favorable": favorable}
    chosen = [_chosen(one, evidence, task, g) for one in wanted]
    return [Question(one, measure, options) for one in chosen for measure in asked_measures]


def _chosen(asked: str | Criterion, evidence: Evidence, task: Task, g: str | None) -> Criterion:
    criterion = named(asked)
    if criterion.takes_g and (g or task == "regression"):
        criterion = criterion.with_statistic(g or "mse")
    if criterion.statistic.needs not in evidence.needs:
        kind, about = "labels" if task == "classification" else "numbers", criterion.kind.about
        lacking = f"predicted {about}" if about in ("labels", "numbers") else about
        raise InputError(
            f"{criterion.name} cannot be asked of predicted {kind}: it needs {lacking}. "
            f"For {task} there are {list(BY_TASK[task])}, among others."
        )
    if evidence.truth is None and _reads_truth(criterion):
        raise InputError(f"{criterion.name} compares with the truth: pass y_true, not None.")
    return criterion


def _reads_truth(criterion: Criterion) -> bool:
    of = getattr(criterion.statistic, "of", "yhat")
    return criterion.statistic.needs == "labels" or of not in ("yhat", ("yhat",))


def noise(
    asked: Question,
    sources: Sources,
    replicates: int,
    random_state: int | np.random.Generator | None,
) -> list[Chance]:
    """For each model, its value beside what fair models show."""
    options: dict[str, Any] = {"replicates": replicates, "random_state": random_state}
    return [
        chance(source, asked.criterion, **options, **asked.asked) for source in sources[asked.needs]
    ]


def enough(replicates: int, claims: int) -> int:
    """Refuse so few fair models that no claim among so many could ever reach the level."""
    if replicates + 1 < claims / LEVEL:
        raise InputError(
            f"{replicates} replicates cannot show a disparity among {claims} models: the smallest "
            f"p-value is too large. Pass replicates={round(2 * claims / LEVEL)}, or 0 for none."
        )
    return replicates
