"""The tables of the report, from the registries and the results."""

from __future__ import annotations

from typing import Any

from evenhand.benchmark import Results, Table
from evenhand.benchmark.tables import data_sets, run_times
from evenhand.criteria import CRITERIA
from evenhand.mitigation import METHODS
from paper.findings.properties import PROPERTIES, checked
from paper.words import MEASURES, task_name

STAGES = {"pre": "before", "in": "in training", "post": "after"}


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


def all_tables(results: Results) -> tuple[Table, ...]:
    """Properties, criteria, data, hyperparameters and run times."""
    return (
        properties(),
        criteria(),
        data_sets(results, task_name),
        hyperparameters(),
        run_times(results, task_name),
    )
