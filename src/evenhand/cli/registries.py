"""The commands `evenhand criteria` and `evenhand measures`: what there is, and what it is not."""

from __future__ import annotations

import inspect
import json
from typing import Any

import click
from rich.text import Text

from evenhand.cli.terminal import columns, console
from evenhand.criteria import CRITERIA
from evenhand.measures import DESCRIPTIONS, MEASURES, Description, Measure, is_scale_free

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.command("criteria", epilog="Example: evenhand criteria --json | jq '.[].name'")
@as_json
def criteria(as_json: bool) -> None:
    """List the criteria: the question each one asks, its formula, and what it is not."""
    known = [
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
    _show(known, as_json)


@click.command("measures", epilog="Example: evenhand measures")
@as_json
def measures(as_json: bool) -> None:
    """List the measures: ways to put a number on how unequal the groups are."""
    _show([_described(name, measure) for name, measure in MEASURES.items()], as_json)


def _described(name: str, measure: Measure) -> dict[str, Any]:
    """What there is to say of a measure; one that was registered bare has its docstring alone."""
    what = (inspect.getdoc(measure) or "").partition("\n")[0]
    known = DESCRIPTIONS.get(name, Description(what, "", ""))
    return {
        "name": name,
        "formula": known.formula,
        "range": known.range,
        "what": what,
        "scale_free": is_scale_free(measure),
        "is_not": known.is_not,
    }


def _show(known: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(known, ensure_ascii=False, indent=2))
        return
    table = columns("name", "what it is, its formula, and what it is not")
    for entry in known:
        what = entry.get("asks") or entry["what"]
        table.add_row(
            Text(entry["name"], style="bold"),
            Text.assemble(what, "\n", entry["formula"], "\n", (entry["is_not"], "dim"), "\n"),
        )
    console().print(table)
