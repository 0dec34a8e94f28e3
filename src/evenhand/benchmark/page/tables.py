"""The tables of the report, from the registries and the results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.findings.criteria import sizes_of
from evenhand.benchmark.findings.properties import PROPERTIES, checked
from evenhand.benchmark.findings.words import MEASURES, name_of
from evenhand.criteria import CRITERIA
from evenhand.mitigation.methods import METHODS

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

STAGES = {"pre": "before", "in": "in training", "post": "after"}


@dataclass(frozen=True)
class Table:
    """A table in words: what it is, its head, its rows, and which columns hold numbers."""

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    numeric: frozenset[int] = frozenset()


def properties() -> Table:
    """Which of the six properties each measure has, with a vector where it fails."""
    rows = tuple(
        (MEASURES.get(measure, measure), *(_held(w) for w in found.values()))
        for measure, found in checked().items()
    )
    return Table(
        "properties",
        "The six properties, by machine",
        ("Measure", *PROPERTIES),
        rows,
        "✓: held for each of some hundred random vectors. Otherwise a vector where it fails.",
    )


def _held(w: Any) -> str:
    return "✓" if w is None else f"fails at ({', '.join(f'{x:.3g}' for x in w)})"


def criteria() -> Table:
    """The criteria of the registry with their formulas."""
    rows = tuple((one.name.replace("_", " "), one.formula, one.is_not) for one in CRITERIA.values())
    note = "S is any measure: MPD gives the literature’s criterion, Gini or PQ the sparse one."
    return Table("criteria", "Criteria", ("Criterion", "Formula", "What it is not"), rows, note)


def data_sets(results: Results) -> Table:
    """The problems, and where their rows come from; one row for a task of many sizes."""
    seen: dict[str, tuple[str, ...]] = {}
    groups: dict[str, list[int]] = {}
    for row in results.problems.to_pylist():
        task = sizes_of(row["problem"])[0]
        groups.setdefault(task, []).append(row["n_groups"] or 0)
        seen.setdefault(task, _data_set(task, row))
    rows = tuple((*one[:4], _numbers(groups[task]), *one[4:]) for task, one in seen.items())
    head = ("Data", "Task", "Rows", "Classes", "Groups", "Sensitive", "Where the rows come from")
    note = "† marks a stand-in: rows that are not the official ones. † appears in figures too."
    return Table("data", "Data sets", head, rows, note, frozenset({2, 3, 4}))


def _data_set(task: str, row: dict[str, Any]) -> tuple[str, ...]:
    about = json.loads(row["about"] or "{}")
    name = f"{name_of(task)}{'†' if row['is_stand_in'] else ''}"
    rows = f"{about.get('rows') or (row['train'] or 0) + (row['test'] or 0):,}"
    classes = str(row["n_classes"]) if row["n_classes"] else "–"
    whom = ", ".join(about.get("sensitive", ()))
    return name, row["kind"], rows, classes, whom, row["provenance"] or ""


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(set(values))))


def hyperparameters() -> Table:
    """The methods of the catalogue, what they can be told to meet, and the values tried."""
    rows = [
        (
            method.name,
            STAGES[method.stage],
            constraint.replace("_", " "),
            method.hyperparameter or "–",
            ", ".join(f"{value:g}" for value in method.grid.get(constraint, ())) or "–",
            method.citation,
        )
        for method in METHODS.values()
        for constraint in method.criteria
    ]
    head = ("Method", "Stage", "Constraint", "Parameter", "Values", "Source")
    return Table("hyperparameters", "Methods and hyperparameters", head, tuple(rows))


def run_times(results: Results) -> Table:
    """Median processor seconds of a run, by method and problem."""
    found = results.query("select problem, method, cpu_seconds from runs where cpu_seconds >= 0")
    found["task"] = [name_of(sizes_of(problem)[0]) for problem in found["problem"]]
    wide = found.pivot_table(index="method", columns="task", values="cpu_seconds", aggfunc="median")
    rows = tuple(
        (str(method), *(_seconds(value) for value in values))
        for method, values in zip(wide.index, wide.to_numpy(), strict=True)
    )
    by_task = found.groupby("task")["cpu_seconds"].sum()[wide.columns]
    rows += (("All runs together", *(_seconds(value) for value in by_task)),)
    total = float(found["cpu_seconds"].sum())
    return Table(
        "times",
        "Run times",
        ("Method", *map(str, wide.columns)),
        rows,
        f"Median seconds of processor time of a run, over settings, splits and base models; for "
        f"Base the time to prepare the rows and fit the model. All {len(found):,} runs took "
        f"{total / 3600:.1f} hours.",
        frozenset(range(1, 1 + wide.shape[1])),
    )


def _seconds(value: float) -> str:
    if value != value:
        return "–"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def all_tables(results: Results) -> list[Table]:
    """Properties, criteria, data, hyperparameters and run times."""
    return [
        properties(),
        criteria(),
        data_sets(results),
        hyperparameters(),
        run_times(results),
    ]
