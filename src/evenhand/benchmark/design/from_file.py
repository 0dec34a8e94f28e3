"""A design in a TOML file: data, methods, base models and seeds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from evenhand._errors import InputError
from evenhand._toml import read_toml
from evenhand._words import did_you_mean
from evenhand.benchmark.design.bases import BASES, Base
from evenhand.benchmark.design.importing import entry_point, imported, is_import_path
from evenhand.benchmark.design.problems import Problem
from evenhand.benchmark.design.questions import Question, Questions, add_questions
from evenhand.benchmark.design.studies import Design, Study
from evenhand.benchmark.design.treatments import Treatment, find_method, own_method, treatment
from evenhand.datasets import TASKS
from evenhand.mitigation.methods import Method

TOP = (
    *("name", "extends", "tasks", "seeds", "held_out", "stored"),
    *("bases", "problems", "methods", "questions"),
)
OWN = ("stage", "task", "randomized", "hyperparameter", "classes", "groups", "needs_sample_weight")
OF_METHOD = ("constraints", "grid", "settings", "fit_rows", "method", "estimator", *OWN)
OF_BASE = ("name", "estimator", "settings", "tune", "encoding", "is_blind")
OF_QUESTION = tuple(field.name for field in fields(Question))
OF_PROBLEM = tuple(field.name for field in fields(Problem) if field.name != "name")
BASE_ENTRY_POINTS = "evenhand.bases"


class DesignError(InputError):
    """What is wrong with a design file, and where."""


def read_design(path: str | Path) -> Design:
    r"""The design that a TOML file describes; files it names are looked for next to it.

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
        If the file has an unknown or invalid entry, with the table and the key.

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
    content = read_toml(path, DesignError)
    _check("the design", content, TOP)
    name = str(content.get("name", path.stem))
    additional = list(_questions(content.get("questions", [])))
    if "extends" in content:
        design = replace(_extended(content, path), name=name)
        questions: Questions = {
            kind: tuple(dict.fromkeys([*usual, *(q for q in additional if q.kind == kind)]))
            for kind, usual in design.questions.items()
        }
    else:
        design = Design(name, (_study(name, content, path.parent),))
        questions = add_questions(additional)
    stored = content.get("stored", design.stored)
    return replace(
        design, questions=questions, stored=None if stored is None else str(path.parent / stored)
    )


def _study(name: str, content: Mapping[str, Any], folder: Path) -> Study:
    """The study of a design that extends no other."""
    if "tasks" in content:
        raise DesignError("tasks chooses from another design; say which one with extends.")
    return Study(
        name=name,
        problems=tuple(_problems(_tables(content, "problems"), folder)),
        bases=_bases(content),
        treatments=(Treatment(), *_treatments(_tables(content, "methods"))),
        seeds=_seeds(content.get("seeds", 3)),
        held_out=_share(content.get("held_out", 0.0)),
    )


def _extended(content: Mapping[str, Any], path: Path) -> Design:
    """Another design, with the settings of this one and further methods."""
    design = _other(str(content["extends"]), path)
    if "tasks" in content:
        design = design.only(*_listed(content["tasks"]))
    changes: dict[str, Any] = {}
    if "problems" in content:
        changes["problems"] = tuple(_problems(_tables(content, "problems"), path.parent))
    if "bases" in content:
        changes["bases"] = _bases(content)
    if "seeds" in content:
        changes["seeds"] = _seeds(content["seeds"])
    if "held_out" in content:
        changes["held_out"] = _share(content["held_out"])
    studies = tuple(replace(study, **changes) for study in design.studies)
    methods = _treatments(_tables(content, "methods")) if "methods" in content else ()
    return replace(design, studies=studies).plus(*methods)


def _other(name: str, path: Path) -> Design:
    """The design that is extended: a file next to this one, or package.module:DESIGN."""
    if not is_import_path(name):
        return read_design(path.parent / name)
    design = imported(name)
    if not isinstance(design, Design):
        raise DesignError(f"extends names {name}, a {type(design).__name__} and not a Design.")
    return design


def _questions(tables: Any) -> Iterator[Question]:
    """Questions in addition to the usual ones, as tables [[questions]]."""
    for table in tables if isinstance(tables, list) else [tables]:
        _check("[[questions]]", table, OF_QUESTION)
        if not {"criterion", "measure"} <= table.keys():
            raise DesignError("[[questions]] needs a criterion and a measure.")
        question = Question(**table)
        question.check()
        yield question


def _check(where: str, table: Mapping[str, Any], valid: Collection[str]) -> None:
    """Refuse an unknown key."""
    for key in table:
        if key not in valid:
            raise DesignError(
                f"{where} has the key {key!r}.{did_you_mean(key, valid)} "
                f"There are {', '.join(sorted(valid))}."
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
            source = (folder / problem.source).absolute()  # workers may run in another folder
            problem = replace(problem, source=str(source))
            if not Path(problem.source).is_file():
                raise DesignError(f"[problems.{name}] names {problem.source}, which is not there.")
        elif not is_import_path(problem.source) and problem.source not in TASKS:
            raise DesignError(
                f"[problems.{name}] has the source {problem.source!r}, which is not a task "
                f"({', '.join(TASKS)}), no .parquet or .csv file and no package.module:name."
            )
        yield problem


def _bases(content: Mapping[str, Any]) -> tuple[Base, ...]:
    """The base models, as a list of names and tables or as tables; none if none are named."""
    bases = content.get("bases", [])
    if isinstance(bases, Mapping):
        tables = _tables(content, "bases")
        return tuple(_base(name, table) for name, table in tables.items())
    pairs = ((b, {}) if isinstance(b, str) else (_name(b), b) for b in _listed(bases))
    return tuple(_base(name, table) for name, table in pairs)


def _name(table: Any) -> str:
    if not isinstance(table, Mapping) or "name" not in table:
        raise DesignError(f"bases holds {table!r}; give a name, or a table with a name.")
    return str(table["name"])


def _base(name: str, table: Mapping[str, Any]) -> Base:
    """A known base model, an estimator by import path, or a table that describes one."""
    where = f"[bases.{name}]"
    _check(where, table, OF_BASE)
    options = {key: table[key] for key in OF_BASE[2:] if key in table}
    if not isinstance(options.get("is_blind", False), bool):
        raise DesignError(f"{where} is_blind is {options['is_blind']!r}; give true or false.")
    if "estimator" in table:
        return Base(name, table["estimator"], **options)
    if is_import_path(name):
        return Base(name.partition(":")[2], name, **options)
    base = BASES.get(name) or entry_point(BASE_ENTRY_POINTS, name)
    if base is None:
        raise DesignError(
            f"There is no base model {name!r}.{did_you_mean(name, BASES)} "
            f"There are {', '.join(BASES)}; for another, say "
            f"{where} estimator = 'package.module:Class'."
        )
    if not isinstance(base, Base):
        return Base(name, base, **options)
    if "settings" in options:
        options["settings"] = {**base.settings, **options["settings"]}
    return replace(base, **options)


def _treatments(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[Treatment]:
    for name, table in tables.items():
        where = f"[methods.{name}]"
        _check(where, table, OF_METHOD)
        method = _method(name, table, where)
        constraints = _listed(table.get("constraints", method.criteria[:1])) or [None]
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
    """A method by name, an imported `Method`, or one made of an estimator."""
    declared = {key: table[key] for key in OWN if key in table}
    if "estimator" in table:
        criteria = tuple(_listed(table.get("constraints", ())))
        return own_method(imported(table["estimator"]), name=name, criteria=criteria, **declared)
    if declared:
        raise DesignError(
            f"{where} has the key {next(iter(declared))!r}, which is for an estimator of your "
            "own; say which with estimator = 'package.module:Class'."
        )
    name_or_path = str(table.get("method", name))
    if not is_import_path(name_or_path):
        try:
            return find_method(name_or_path)
        except InputError as failure:
            text = str(failure)
            raise DesignError(f"{where}: {text[0].lower()}{text[1:]}") from None
    method = imported(name_or_path)
    if isinstance(method, Method):
        return method
    raise DesignError(f"{where}: {name_or_path} is a {type(method).__name__}, not a Method.")


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value)


def _seeds(value: Any) -> tuple[int, ...]:
    """A number of seeds, or the seeds themselves."""
    seeds = tuple(range(value)) if isinstance(value, int) else tuple(value)
    if not seeds or any(not isinstance(seed, int) or seed < 0 for seed in seeds):
        raise DesignError(f"seeds is {value!r}; give how many, or a list of numbers from 0.")
    return seeds


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DesignError(f"held_out is {value!r}; give a share of the training rows, such as 0.3.")
    return float(value)
