"""A benchmark as values: a design is a tuple of studies, a study stands for many runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from evenhand._errors import InputError
from evenhand._words import did_you_mean
from evenhand.benchmark.design.fingerprints import (
    fingerprint,
    own_fingerprint,
    source_fingerprint,
)
from evenhand.benchmark.design.importing import imported
from evenhand.benchmark.design.problems import Extent, Problem
from evenhand.benchmark.design.questions import QUESTIONS, Questions
from evenhand.datasets.task import Kind
from evenhand.mitigation.methods import METHODS, Method

PREPARATION = "evenhand.benchmark.running.preparation"
FITTING = "evenhand.benchmark.running.fitting"
BASE = "Base"

Encoding = Literal["indicators", "codes"]


@dataclass(frozen=True)
class Base:
    """A base model by name: an estimator for each kind of task, and how it reads the columns.

    Parameters
    ----------
    name : str
        What it is called in results and figures.
    estimators : mapping of str to str
        For "classification" and "regression" the import path `package.module:Class`, so that a
        base model is a value that can be written down. A kind that is not there is skipped.
    encoding : {"indicators", "codes"}, default "indicators"
        Categories as 0/1 columns, or as numbers that the estimator is told are categories.
    settings : mapping, default {}
        Parameters of the estimator.
    is_truth : bool, default False
        The true targets stand in for a model: published code of some regression methods adjusts
        them, also those of the test rows.

    Examples
    --------
    >>> forest = Base(
    ...     "forest",
    ...     {"classification": "sklearn.ensemble:RandomForestClassifier"},
    ...     settings={"n_estimators": 50},
    ... )
    >>> forest.estimator("classification")
    RandomForestClassifier(n_estimators=50)

    """

    name: str
    estimators: Mapping[Kind, str]
    encoding: Encoding = "indicators"
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_truth: bool = False

    def estimator(self, kind: Kind, is_category: Any = None) -> Any:
        """A new estimator, not fitted."""
        make = imported(self.estimators[kind])
        special = {"categorical_features": is_category} if self.encoding == "codes" else {}
        return make(**{**special, **self.settings})

    @cached_property
    def fingerprint(self) -> str:
        """What its scores depend on, for given rows: its settings, your code, and ours."""
        value = [dict(self.estimators), self.encoding, dict(self.settings), self.is_truth]
        modules = sorted({path.partition(":")[0] for path in self.estimators.values()})
        own = [source for source in map(own_fingerprint, modules) if source is not None]
        return fingerprint([value, source_fingerprint(PREPARATION), *own])


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


@dataclass(frozen=True, kw_only=True)
class Treatment:
    """A method with one constraint, over a grid; without a method, the base model as it is.

    `treatment` makes one from the name of a method.

    Parameters
    ----------
    name : str, default "Base"
        What it is called in results and figures.
    method : Method, optional
        The method; None for the base model as it is.
    constraint : str, optional
        What the method is told to meet.
    grid : tuple of float, default (None,)
        Values of the method's hyperparameter; (None,) for its default.
    settings : mapping, default {}
        Further parameters of the method's estimator.
    fit_rows : int, optional
        Fit the method (not the base model) to a sample of that many training rows.

    Examples
    --------
    >>> Treatment().name
    'Base'

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

    def thinned(self, most: int) -> Treatment:
        """The same with at most so many values of its grid, evenly chosen, with both ends.

        >>> Treatment(grid=(1.0, 2.0, 3.0, 4.0, 5.0)).thinned(3).grid
        (1.0, 3.0, 5.0)
        """
        if len(self.grid) <= most:
            return self
        step = (len(self.grid) - 1) / max(most - 1, 1)
        return replace(self, grid=tuple(self.grid[round(i * step)] for i in range(most)))

    @cached_property
    def fingerprint(self) -> str:
        """What its answers depend on, for given scores: settings and source code."""
        if self.method is None:
            return BASE
        method, settings = self.method, {**self.method.settings, **self.settings}
        source = source_fingerprint(method.estimator.__module__)
        use = [method.hyperparameter, method.stage, method.randomized]
        return fingerprint([method.estimator.__qualname__, settings, use, source])


def treatment(
    method: str | Method,
    constraint: str | None = None,
    *,
    grid: Sequence[float] | None = None,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
    fit_rows: int | None = None,
) -> Treatment:
    """A method with one constraint, over its own grid or another.

    Parameters
    ----------
    method : str or Method
        A name of `evenhand.mitigation.METHODS`, or a method of your own.
    constraint : str, optional
        What the method is told to meet; by default the first that it can.
    grid : sequence of float, optional
        Values of the method's hyperparameter; by default those that the method declares.
    name : str, optional
        What it is called in results and figures; by default the method's name.
    settings : mapping, optional
        Further parameters of the method's estimator.
    fit_rows : int, optional
        Fit the method to a sample of that many training rows.

    Returns
    -------
    Treatment
        A value to put into a `Study`.

    Raises
    ------
    ValueError
        If there is no method of that name.

    Examples
    --------
    >>> treatment("LinearPost", "equalized_odds", grid=[0.01, 0.1]).grid
    (0.01, 0.1)

    """
    if isinstance(method, str):
        if method not in METHODS:
            raise InputError(
                f"There is no method {method!r}.{did_you_mean(method, METHODS)} "
                f"There are {', '.join(METHODS)}."
            )
        method = METHODS[method]
    constraint = constraint or next(iter(method.criteria), None)
    values: tuple[float | None, ...] = tuple(
        method.grid.get(constraint or "", ()) if grid is None else grid
    )
    return Treatment(
        name=name or method.name,
        method=method,
        constraint=constraint,
        grid=values if method.hyperparameter and values else (None,),
        settings=dict(settings or {}),
        fit_rows=fit_rows,
    )


@dataclass(frozen=True, kw_only=True)
class Run:
    """One fit: on which problem and split, which method, with which constraint and value.

    `Design.runs` makes them.

    Parameters
    ----------
    problem : Problem
        Whose rows are split.
    base : Base
        The model underneath.
    treatment : Treatment
        The method and what it is told to meet.
    hyperparameter : float or None
        One value of the treatment's grid.
    seed : int
        Of the split, and of all draws.

    Examples
    --------
    >>> run = Run(
    ...     problem=Problem("people", "simulated", rows=300),
    ...     base=BASES["logistic"],
    ...     treatment=Treatment(),
    ...     hyperparameter=None,
    ...     seed=0,
    ... )
    >>> run.value["problem"], run.value["method"], len(run.key)
    ('people', 'Base', 24)

    """

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
                "base": self.base.fingerprint,
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


@dataclass(frozen=True, kw_only=True)
class Study:
    """Every treatment on every problem it can do, on every base model, for each seed.

    Parameters
    ----------
    name : str
        What the study is about.
    problems : tuple of Problem
        The data.
    bases : tuple of Base
        The models underneath, such as those of `BASES`.
    treatments : tuple of Treatment
        The methods; `Treatment()` is the base model as it is.
    seeds : tuple of int
        One split of each problem for each seed.

    Examples
    --------
    >>> study = Study(
    ...     name="a first look",
    ...     problems=(Problem("people", "simulated"),),
    ...     bases=(BASES["logistic"],),
    ...     treatments=(Treatment(), treatment("LinearPost", grid=[0.01, 0.1])),
    ...     seeds=(0, 1),
    ... )
    >>> len(list(study.runs()))
    6

    """

    name: str
    problems: tuple[Problem, ...]
    bases: tuple[Base, ...]
    treatments: tuple[Treatment, ...]
    seeds: tuple[int, ...]

    def runs(self) -> Iterator[Run]:
        """The runs, those that share a base fit together.

        Yields
        ------
        Run
            One fit.

        """
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
    """All studies of a benchmark, and what is asked of their predictions.

    Parameters
    ----------
    name : str
        The name of the benchmark.
    studies : tuple of Study
        What is run.
    questions : mapping of str to tuple of Question, optional
        For "classification" and "regression" what is asked; by default `QUESTIONS`.

    Examples
    --------
    >>> study = Study(
    ...     name="base models",
    ...     problems=(Problem("people", "simulated"),),
    ...     bases=(BASES["logistic"], BASES["boosting"]),
    ...     treatments=(Treatment(),),
    ...     seeds=(0,),
    ... )
    >>> len(Design("mine", (study, study)).runs())
    2

    """

    name: str
    studies: tuple[Study, ...]
    questions: Questions = field(default_factory=lambda: QUESTIONS)

    def runs(self) -> dict[str, Run]:
        """All runs by key; a run that two studies share is there once."""
        return {run.key: run for study in self.studies for run in study.runs()}
