"""The tables of the report, from the registries and the results."""

from __future__ import annotations

from typing import Any

from evenhand.benchmark import Results, Table
from evenhand.benchmark.tables import data_sets, run_times
from evenhand.criteria import CRITERIA
from paper.findings.properties import PROPERTIES, checked
from paper.theme import THEME
from paper.words import IN_PAPER, MEASURES, task_name


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
    """The criteria of the registry with their formulas, the paper's first and by its names."""
    places = {name: place for place, name in enumerate(IN_PAPER)}
    known = sorted(CRITERIA.values(), key=lambda one: places.get(one.name, len(places)))
    rows = tuple(
        (
            IN_PAPER.get(one.name, "not in the paper"),
            one.name.replace("_", " "),
            one.formula,
            one.is_not,
        )
        for one in known
    )
    head = ("In the paper", "Criterion", "Formula", "What it is not")
    note = "S is any measure: MPD gives the literature’s criterion, Gini or PQ the sparse one."
    return Table("criteria", "Criteria", head, rows, note)


def hyperparameters(results: Results) -> Table:
    """The methods that were run, what each was told to meet, and the values tried."""
    tried = results.query(
        "select method, coalesce(\"constraint\", '') as aim, max(parameter) as parameter, "
        "list(distinct hyperparameter order by hyperparameter) as tried from runs "
        "where method <> 'Base' group by all order by method, aim"
    )
    rows = [
        (
            THEME.label(one.method),
            one.aim.replace("_", " ") or "–",
            one.parameter if isinstance(one.parameter, str) else "–",
            ", ".join(f"{value:g}" for value in one.tried if value == value) or "–",
        )
        for one in tried.itertuples()
    ]
    head = ("Method", "Constraint", "Parameter", "Values that were run")
    note = "From the runs themselves. Names without “(evenhand)” are the paper’s methods."
    return Table("hyperparameters", "Methods and hyperparameters", head, tuple(rows), note)


def all_tables(results: Results) -> tuple[Table, ...]:
    """Properties, criteria, data, hyperparameters and run times."""
    return (
        properties(),
        criteria(),
        data_sets(results, task_name),
        hyperparameters(results),
        run_times(results, task_name),
    )
