"""A benchmark as values: a design is a tuple of studies, a study stands for many runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from evenhand.benchmark.design.bases import Base
from evenhand.benchmark.design.fingerprints import fingerprint, source_fingerprint
from evenhand.benchmark.design.problems import Extent, Problem
from evenhand.benchmark.design.questions import QUESTIONS, Questions
from evenhand.mitigation.methods import Method

PREPARATION = "evenhand.benchmark.running.preparation"
FITTING = "evenhand.benchmark.running.fitting"
BASE = "Base"


@dataclass(frozen=True, kw_only=True)
class Treatment:
    """A method with one constraint, over a grid; without a method, the base model as it is.

    `settings` are further parameters of the estimator. `fit_rows` limits the rows that the
    method (not the base model) is fitted to; it is stored with the result.
    """

    name: str = BASE
    method: Method | None = None
    constraint: str | None = None
    grid: tuple[float | None, ...] = (None,)
    settings: Mapping[str, Any] = field(default_factory=dict)
    fit_rows: int | None = None

    def takes(self, extent: Extent, base: Base) -> bool:
        """Whether the method can do this problem at all, on this base model."""
        if extent.kind not in base.estimators:
            return False
        if self.method is None:
            return True
        return (
            self.method.task == extent.kind
            and (self.method.classes == "any" or extent.classes <= 2)
            and (self.method.groups == "any" or extent.groups <= 2)
            and (self.method.stage == "post" or not base.is_truth)
        )

    @cached_property
    def fingerprint(self) -> str:
        """What its answers depend on, for given scores: settings and source code."""
        if self.method is None:
            return BASE
        method, settings = self.method, {**self.method.settings, **self.settings}
        source = source_fingerprint(method.estimator.__module__)
        use = [method.hyperparameter, method.stage, method.randomized]
        return fingerprint([method.estimator.__qualname__, settings, use, source])


@dataclass(frozen=True, kw_only=True)
class Run:
    """One fit: on which problem and split, which method, with which constraint and value."""

    problem: Problem
    base: Base
    treatment: Treatment
    hyperparameter: float | None
    seed: int

    @cached_property
    def key(self) -> str:
        """The address of its result: a fingerprint of everything that the result depends on."""
        return fingerprint(
            {
                "fitting": source_fingerprint(FITTING),
                "split": self.split_key,
                "base": base_fingerprint(self.base),
                "method": self.treatment.fingerprint,
                "constraint": self.treatment.constraint,
                "hyperparameter": self.hyperparameter,
                "fit_rows": self.treatment.fit_rows,
            }
        )

    @cached_property
    def split_key(self) -> str:
        """The address of the truth and groups of its test rows."""
        return fingerprint([self.problem.fingerprint, self.seed])

    @property
    def value(self) -> dict[str, Any]:
        """Itself as a row of a table."""
        treatment, method = self.treatment, self.treatment.method
        return {
            "problem": self.problem.name,
            "base": self.base.name,
            "method": treatment.name,
            "constraint": treatment.constraint,
            "parameter": method.hyperparameter if method else None,
            "hyperparameter": self.hyperparameter,
            "seed": self.seed,
            "fit_rows": treatment.fit_rows,
        }


def base_fingerprint(base: Base) -> str:
    """What the scores of a base model depend on, for given rows."""
    value = [dict(base.estimators), base.encoding, dict(base.settings), base.is_truth]
    return fingerprint([value, source_fingerprint(PREPARATION)])


@dataclass(frozen=True, kw_only=True)
class Study:
    """Every treatment on every problem it can do, on every base model, for each seed."""

    name: str
    problems: tuple[Problem, ...]
    bases: tuple[Base, ...]
    treatments: tuple[Treatment, ...]
    seeds: tuple[int, ...]

    def runs(self) -> Iterator[Run]:
        """The runs, those that share a base fit together."""
        for problem in self.problems:
            extent = problem.extent
            for seed in self.seeds:
                for base in self.bases:
                    for treatment in self.treatments:
                        if treatment.takes(extent, base):
                            for value in treatment.grid:
                                yield Run(
                                    problem=problem,
                                    base=base,
                                    treatment=treatment,
                                    hyperparameter=value,
                                    seed=seed,
                                )


@dataclass(frozen=True)
class Design:
    """All studies of a benchmark, and what is asked of their predictions."""

    name: str
    studies: tuple[Study, ...]
    questions: Questions = field(default_factory=lambda: QUESTIONS)

    def runs(self) -> dict[str, Run]:
        """All runs by key; a run that two studies share is there once."""
        return {run.key: run for study in self.studies for run in study.runs()}
