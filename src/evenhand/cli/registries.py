"""The commands `evenhand criteria`, `measures` and `standards`: what there is, and is not."""

from __future__ import annotations

import inspect
import json
from typing import Any

import click
from rich.text import Text

from evenhand.cli.terminal import columns, console
from evenhand.criteria import CRITERIA
from evenhand.measures import MEASURES, Measure
from evenhand.standards import STANDARDS

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.command("criteria", epilog="Example: evenhand criteria --json | jq '.[].name'")
@as_json
def criteria(as_json: bool) -> None:
    """List the criteria: the question each one asks, its formula, and what it is not."""
    rows = [
        {
            "name": criterion.name,
            "asks": criterion.asks,
            "formula": criterion.formula,
            "measure": criterion.measure,
            "range": criterion.range,
            "is_not": criterion.is_not,
            "also_called": list(criterion.also_called),
            "reads": criterion.statistic.needs,
        }
        for criterion in CRITERIA.values()
    ]
    _show(rows, as_json)


@click.command("measures", epilog="Example: evenhand measures")
@as_json
def measures(as_json: bool) -> None:
    """List the measures: ways to put a number on how unequal the groups are."""
    _show([_described(measure) for measure in MEASURES.values()], as_json)


@click.command("standards", epilog="Example: evenhand standards --json")
@as_json
def standards(as_json: bool) -> None:
    """List the standards: the rule, its sources, when it was reviewed, and what can be stated."""
    if as_json:
        rows = [
            {
                "name": standard.name,
                "title": standard.title,
                "about": standard.about,
                "sources": [source.citation for source in standard.sources],
                "reviewed": standard.reviewed.isoformat(),
                "review_by": standard.review_by.isoformat(),
                "options": {option.name: option.help for option in standard.options},
            }
            for standard in STANDARDS.values()
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))  # noqa: TID251
        return
    table = columns("name", "what it is, its sources, and what can be stated")
    for standard in STANDARDS.values():
        stated = [f"  {option.name}: {option.help}" for option in standard.options]
        sources = "; ".join(source.citation for source in standard.sources)
        dates = f"Reviewed {standard.reviewed}, to be reviewed by {standard.review_by}."
        table.add_row(
            Text(standard.name, style="bold"),
            Text("\n".join([standard.about, sources, dates, *stated, ""])),
        )
    console().print(table)


def _described(measure: Measure) -> dict[str, Any]:
    """The description of a measure."""
    return {
        "name": measure.name,
        "formula": measure.formula,
        "range": measure.range,
        "what": (inspect.getdoc(measure.function) or "").partition("\n")[0],
        "scale_free": measure.is_relative,
        "is_not": measure.is_not,
    }


def _show(entries: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(entries, ensure_ascii=False, indent=2))  # noqa: TID251
        return
    table = columns("name", "what it is, its formula, and what it is not")
    for entry in entries:
        description = entry.get("asks") or entry["what"]
        table.add_row(
            Text(entry["name"], style="bold"),
            Text.assemble(
                description, "\n", entry["formula"], "\n", (entry["is_not"], "dim"), "\n"
            ),
        )
    console().print(table)
