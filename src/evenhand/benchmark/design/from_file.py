"""A design in a TOML file: whose data, which methods, on which base models, for which seeds."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from evenhand._errors import InputError
from evenhand._words import did_you_mean
from evenhand.benchmark.design.importing import imported, is_import_path
from evenhand.benchmark.design.problems import Problem
from evenhand.benchmark.design.questions import Question, add_questions
from evenhand.benchmark.design.studies import BASES, Base, Design, Study, Treatment, treatment
from evenhand.datasets import TASKS
from evenhand.mitigation.methods import METHODS, Method

TOP = ("name", "seeds", "bases", "problems", "methods", "questions")
OWN = ("estimator", "stage", "task", "randomized", "hyperparameter", "classes", "groups")
OF_METHOD = ("constraints", "grid", "settings", "fit_rows", "method", *OWN)
OF_QUESTION = tuple(field.name for field in fields(Question))
OF_PROBLEM = tuple(field.name for field in fields(Problem) if field.name != "name")


class DesignError(InputError):
    """What is wrong with a design file, and where."""


def read_design(path: str | Path) -> Design:
    r"""The design that a TOML file describes; files it names are looked for beside it.

    Parameters
    ----------
    path : str or Path
        The file; `evenhand bench --help` shows one.

    Returns
    -------
    Design
        For `run`, `status` and `results`.

    Raises
    ------
    DesignError
        Where the file says something that nobody understands, with the table and the key.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.toml"
    ...     _ = path.write_text("seeds = 2\n[problems.simulated]\n[methods.Reweight]\n")
    ...     design = read_design(path)
    >>> design.name, len(design.runs())
    ('mine', 4)

    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as failure:
        raise DesignError(f"{path} cannot be read as TOML: {failure}") from failure
    _check("the design", content, TOP)
    problems = tuple(_problems(_tables(content, "problems"), path.parent))
    treatments = (Treatment(), *_treatments(_tables(content, "methods")))
    study = Study(
        name=str(content.get("name", path.stem)),
        problems=problems,
        bases=_bases(content, problems),
        treatments=treatments,
        seeds=_seeds(content.get("seeds", 3)),
    )
    return Design(study.name, (study,), add_questions(_questions(content.get("questions", []))))


def _questions(tables: Any) -> Iterator[Question]:
    """What is asked beside the usual, as tables [[questions]]."""
    for table in tables if isinstance(tables, list) else [tables]:
        _check("[[questions]]", table, OF_QUESTION)
        if not {"criterion", "measure"} <= table.keys():
            raise DesignError("[[questions]] needs a criterion and a measure.")
        question = Question(**table)
        question.check()
        yield question


def _check(where: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse a key that nobody reads."""
    for key in table:
        if key not in known:
            raise DesignError(
                f"{where} has the key {key!r}.{did_you_mean(key, known)} "
                f"There are {', '.join(sorted(known))}."
            )


def _tables(content: Mapping[str, Any], name: str) -> Mapping[str, Mapping[str, Any]]:
    tables = content.get(name)
    if not isinstance(tables, Mapping) or not tables:
        raise DesignError(f"The design needs at least one table [{name}.NAME].")
    for key, value in tables.items():
        if not isinstance(value, Mapping):
            raise DesignError(f"{name}.{key} should be a table: write [{name}.{key}].")
    return tables


def _problems(tables: Mapping[str, Mapping[str, Any]], folder: Path) -> Iterator[Problem]:
    for name, table in tables.items():
        _check(f"[problems.{name}]", table, OF_PROBLEM)
        values = {**table, "source": table.get("source", name)}
        values["sensitive"] = tuple(_listed(table.get("sensitive", ())))
        problem = Problem(name, **values)
        if problem.is_file:
            problem = replace(problem, source=str(folder / problem.source))
            if not Path(problem.source).is_file():
                raise DesignError(f"[problems.{name}] names {problem.source}, which is not there.")
        elif not is_import_path(problem.source) and problem.source not in TASKS:
            raise DesignError(
                f"[problems.{name}] has the source {problem.source!r}, which is no task "
                f"({', '.join(TASKS)}), no .parquet or .csv file and no package.module:function."
            )
        yield problem


def _bases(content: Mapping[str, Any], problems: tuple[Problem, ...]) -> tuple[Base, ...]:
    """The base models by name, or package.module:Class; by default linear ones."""
    kinds = {problem.extent.kind for problem in problems}
    usual = [name for name in ("logistic", "linear") if kinds & BASES[name].estimators.keys()]
    return tuple(_base(name) for name in _listed(content.get("bases", usual)))


def _base(name: str) -> Base:
    if is_import_path(name):
        imported(name)
        return Base(name.partition(":")[2], {"classification": name, "regression": name})
    if name not in BASES:
        raise DesignError(f"There is no base model {name!r}; there are {', '.join(BASES)}.")
    return BASES[name]


def _treatments(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[Treatment]:
    for name, table in tables.items():
        where = f"[methods.{name}]"
        _check(where, table, OF_METHOD)
        method = _method(name, table, where)
        constraints = _listed(table.get("constraints", method.criteria[:1] or (None,)))
        for constraint in constraints:
            if constraint is not None and constraint not in method.criteria:
                raise DesignError(
                    f"{where} has the constraint {constraint!r}; {method.name} takes "
                    f"{', '.join(method.criteria)}."
                )
            yield treatment(
                method,
                constraint,
                name=name,
                grid=table.get("grid"),
                settings=table.get("settings"),
                fit_rows=table.get("fit_rows"),
            )


def _method(name: str, table: Mapping[str, Any], where: str) -> Method:
    """A method of the catalogue, an imported `Method`, or one made of an estimator."""
    if "estimator" in table:
        return _own(name, table)
    wanted = table.get("method", name)
    if is_import_path(wanted):
        method = imported(wanted)
        if isinstance(method, Method):
            return method
        raise DesignError(f"{where}: {wanted} is a {type(method).__name__}, not a Method.")
    if wanted not in METHODS:
        raise DesignError(
            f"{where}: there is no method {wanted!r}; there are {', '.join(METHODS)}. "
            "For one of your own, say estimator = 'package.module:Class'."
        )
    return METHODS[wanted]


def _own(name: str, table: Mapping[str, Any]) -> Method:
    given = {key: table[key] for key in OWN if key in table}
    estimator = imported(given.pop("estimator"))
    values: dict[str, Any] = {"stage": "in", "task": "classification", "randomized": False, **given}
    return Method(
        name=name,
        estimator=estimator,
        criteria=tuple(_listed(table.get("constraints", ()))),
        needs_group_at_predict=True,
        citation=f"{estimator.__module__}.{estimator.__qualname__}",
        **values,
    )


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value)


def _seeds(value: Any) -> tuple[int, ...]:
    """A number of seeds, or the seeds themselves."""
    seeds = tuple(range(value)) if isinstance(value, int) else tuple(value)
    if not seeds or any(not isinstance(seed, int) or seed < 0 for seed in seeds):
        raise DesignError(f"seeds is {value!r}; give how many, or a list of numbers from 0.")
    return seeds
