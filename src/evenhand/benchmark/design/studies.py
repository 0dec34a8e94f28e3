"""A benchmark as values: a design is a tuple of studies, each a set of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from evenhand._errors import InputError
from evenhand._words import did_you_mean
from evenhand.benchmark.design.bases import BASES, Base
from evenhand.benchmark.design.fingerprints import fingerprint, is_own, source_fingerprint
from evenhand.benchmark.design.problems import Problem
from evenhand.benchmark.design.questions import QUESTIONS, Questions
from evenhand.benchmark.design.treatments import BASE as BASE
from evenhand.benchmark.design.treatments import Treatment, treatment
from evenhand.mitigation.methods import Method

FITTING = "evenhand.benchmark.running.fitting"
USUAL = {"classification": (BASES["logistic"],), "regression": (BASES["linear"],)}


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
        The method and its constraint.
    hyperparameter : float or None
        One value of the treatment's grid.
    seed : int
        Of the split, and of all draws.
    held_out : float, default 0.0
        The share of the training rows that a post-processor is fitted to, and its base model not.

    Examples
    --------
    >>> from evenhand.benchmark import BASES
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
    held_out: float = 0.0

    @cached_property
    def key(self) -> str:
        """The address of its result: a fingerprint of everything that the result depends on."""
        return fingerprint(
            {
                "version": self.version,
                "split": self.split_key,
                "constraint": self.treatment.constraint,
                "hyperparameter": self.hyperparameter,
                "fit_rows": self.treatment.fit_rows,
                "held_out": self.held_out,
            }
        )

    @cached_property
    def version(self) -> str:
        """A fingerprint of the code and settings of its base model and method, and of ours."""
        ours = source_fingerprint(FITTING)
        return fingerprint([ours, self.base.fingerprint, self.treatment.fingerprint])

    @cached_property
    def code(self) -> str:
        """The same, less the versions of other packages: that of the code and settings alone."""
        ours = source_fingerprint(FITTING)
        return fingerprint([ours, self.base.code, self.treatment.code])

    @cached_property
    def base_key(self) -> str:
        """The address of the base model's scores, which many runs share."""
        return fingerprint([self.split_key, self.base.fingerprint, self.held_out])

    @property
    def has_own_code(self) -> bool:
        """Whether its model or method is neither evenhand's nor an installed package's."""
        method = self.treatment.method
        things = [] if method is None else [method.estimator.__module__]
        things += [] if self.base.is_truth else [self.base.module(self.problem.extent.kind)]
        return any(map(is_own, things))

    @property
    def group_known(self) -> bool:
        """Whether a decision may depend on the person's group: the model sees it, or the method."""
        task, method = self.problem.task, self.treatment.method
        sees = (task is None or task.model_sees_sensitive) and not self.base.is_blind
        return sees or (method is not None and method.needs_group_at_predict)

    @cached_property
    def split_key(self) -> str:
        """The address of the truth and groups of its test rows."""
        return fingerprint([self.problem.fingerprint, self.seed])

    @property
    def value(self) -> dict[str, Any]:
        """The run as a row of a table."""
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
            "held_out": self.held_out,
        }


class Skipped(NamedTuple):
    """A method that cannot do a problem on a base model, and why.

    Parameters
    ----------
    problem, base, method : str
        Their names.
    reason : str
        What the method or base model would have to be able to do.

    Examples
    --------
    >>> Skipped("people", "logistic", "FairRR", "FairRR takes two groups, and there are 3").method
    'FairRR'

    """

    problem: str
    base: str
    method: str
    reason: str


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
        The models underneath, such as those of `BASES`; () for the linear one of each problem.
    treatments : tuple of Treatment
        The methods; `Treatment()` is the base model as it is.
    seeds : tuple of int
        One split of each problem for each seed.
    held_out : float, default 0.0
        What post-processors are fitted to: 0 for the base model's predictions of the rows it was
        fitted to itself, which flatter it; a share of the training rows, such as 0.3, for rows
        that are kept from the base model underneath. Other methods have all training rows.

    Examples
    --------
    >>> from evenhand.benchmark import BASES
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
    held_out: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1:
            raise InputError(
                f"held_out is {self.held_out}; give a share of the training rows, such as 0.3, or "
                "0 for training predictions."
            )

    def runs(self) -> Iterator[Run]:
        """The runs, those that share a base fit together.

        Yields
        ------
        Run
            One fit.

        """
        for problem, seed, base, candidate in self._combinations():
            if candidate.takes(problem.extent, base):
                for value in candidate.grid:
                    yield Run(
                        problem=problem,
                        base=base,
                        treatment=candidate,
                        hyperparameter=value,
                        seed=seed,
                        held_out=self.held_out if candidate.is_post else 0.0,
                    )

    def skipped(self) -> Iterator[Skipped]:
        """What cannot be done, and why.

        Yields
        ------
        Skipped
            Problem, base model and method, and the reason.

        """
        for problem, seed, base, candidate in self._combinations():
            reason = candidate.obstacle(problem.extent, base)
            if reason is not None and seed == self.seeds[0]:
                yield Skipped(problem.name, base.name, candidate.name, reason)

    def _combinations(self) -> Iterator[tuple[Problem, int, Base, Treatment]]:
        for problem in self.problems:
            for seed in self.seeds:
                for base in self.bases or USUAL[problem.extent.kind]:
                    for candidate in self.treatments:
                        yield problem, seed, base, candidate

    def _fresh(self) -> Study:
        """The same without cached values: code and files may have changed since."""
        return replace(
            self,
            problems=tuple(map(replace, self.problems)),
            bases=tuple(map(replace, self.bases)),
            treatments=tuple(map(replace, self.treatments)),
        )


@dataclass(frozen=True)
class Design:
    """All studies of a benchmark, and the questions about their predictions.

    Parameters
    ----------
    name : str
        The name of the benchmark.
    studies : tuple of Study
        What is run.
    questions : mapping of str to tuple of Question, optional
        Questions for "classification" and "regression"; by default `QUESTIONS`.
    stored : str, optional
        A folder of predictions that someone else has made: what it has of the design is taken from
        there by `run`, and not fitted.

    Examples
    --------
    >>> from evenhand.benchmark import BASES
    >>> study = Study(
    ...     name="base models",
    ...     problems=(Problem("people", "simulated"),),
    ...     bases=(BASES["logistic"], BASES["boosting"]),
    ...     treatments=(Treatment(),),
    ...     seeds=(0,),
    ... )
    >>> design = Design("mine", (study, study))
    >>> len(design.runs()), len(design.plus("Reweight").runs())
    (2, 4)

    """

    name: str
    studies: tuple[Study, ...]
    questions: Questions = field(default_factory=lambda: QUESTIONS)
    stored: str | None = None

    def runs(self) -> dict[str, Run]:
        """All runs by key; a run that two studies share is listed once."""
        runs: dict[str, Run] = {}
        names: dict[str, str] = {}
        for study in self.studies:
            for run in study._fresh().runs():
                earlier = runs.setdefault(run.key, run)
                namesake = runs[names.setdefault(fingerprint(run.value), run.key)]
                _refuse_confusion(run, earlier, namesake)
        return runs

    def skipped(self) -> list[Skipped]:
        """What cannot be done: which method on which problem and base model, and why."""
        return list(dict.fromkeys(skipped for study in self.studies for skipped in study.skipped()))

    def plus(self, *methods: Treatment | Method | type[Any] | str) -> Design:
        """The same design with more methods in every study.

        Parameters
        ----------
        *methods : Treatment, Method, class or str
            Each as `treatment` takes it.

        Returns
        -------
        Design
            Runs that both have, have the same key, and are not done again.

        """
        new = [method if isinstance(method, Treatment) else treatment(method) for method in methods]
        return self._with(lambda study: {"treatments": (*study.treatments, *new)})

    def only(self, *problems: str) -> Design:
        """The part of the design about some problems.

        Parameters
        ----------
        *problems : str
            Names of problems, or of the tasks they are about.

        Returns
        -------
        Design
            Studies that have none of them are left out.

        Raises
        ------
        ValueError
            If the design has no such problem.

        """
        available = [problem for study in self.studies for problem in study.problems]
        names = {name for problem in available for name in _names(problem)}
        for name in problems:
            if name not in names:
                raise InputError(
                    f"{self.name} has no problem {name!r}.{did_you_mean(name, names)} "
                    f"There are {', '.join(sorted(names))}."
                )
        part = self._with(
            lambda study: {
                "problems": tuple(
                    problem
                    for problem in study.problems
                    if not set(problems).isdisjoint(_names(problem))
                )
            }
        )
        return replace(part, studies=tuple(study for study in part.studies if study.problems))

    def _with(self, changes: Callable[[Study], Mapping[str, Any]]) -> Design:
        studies = (replace(study, **changes(study)) for study in self.studies)
        return replace(self, studies=tuple(studies))


def _names(problem: Problem) -> set[str]:
    return {problem.name, problem.source} | ({problem.task.name} if problem.task else set())


def _refuse_confusion(run: Run, earlier: Run, namesake: Run) -> None:
    """Refuse one thing under two names, and two under one: tables would confuse them."""
    if earlier.value != run.value:
        first, second = _title(earlier), _title(run)
        raise InputError(
            f"The design has the same runs under two names: {first}, and {second}. Leave one out."
        )
    if namesake.key != run.key:
        raise InputError(
            f"The design has two different runs called {_title(run)}: the data, the base models or "
            "the methods differ. Give one of them another name."
        )


def _title(run: Run) -> str:
    return f"{run.treatment.name} on {run.problem.name} with {run.base.name}"
