"""The commands `evenhand criteria` and `evenhand measures`: what there is, and what it is not."""

from __future__ import annotations

import inspect
import json
from typing import Any

import click
from rich.text import Text

from evenhand.cli.terminal import columns, console
from evenhand.criteria import CRITERIA
from evenhand.measures import MEASURES, is_scale_free

FORMULAS = {
    "mpd": ("max w − min w", "0 to the range of the statistic"),
    "gini": ("Σᵢⱼ |wᵢ − wⱼ| / (2 d Σᵢ wᵢ)", "0 to 1 − 1/d"),
    "pq": ("1 − mean(w) / √mean(w²)", "0 to 1 − 1/√d"),
    "shortfall": ("1 − min w / max w", "0 to 1"),
}
NOT = {
    "mpd": "It sees two groups only, and grows with the number of groups by chance alone.",
    "gini": "It is relative: rates of 0.1 and 0.2 are as unequal as 0.4 and 0.8.",
    "pq": "It is relative, and near 0 even for visible gaps: compare it with its noise floor.",
    "shortfall": "It sees two groups only, and one empty group makes it 1.",
}
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.command("criteria", epilog="Example: evenhand criteria --json | jq '.[].name'")
@as_json
def criteria(as_json: bool) -> None:
    """List the criteria: which statistic of the groups should be equal."""
    known = [
        {
            "name": one.name,
            "formula": one.formula,
            "measure": one.measure,
            "range": one.range,
            "is_not": one.is_not,
            "reads": one.statistic.needs,
        }
        for one in CRITERIA.values()
    ]
    _show(known, as_json)


@click.command("measures", epilog="Example: evenhand measures")
@as_json
def measures(as_json: bool) -> None:
    """List the measures: how unequal a vector w of d groups is."""
    known = [
        {
            "name": name,
            "formula": FORMULAS[name][0],
            "range": FORMULAS[name][1],
            "what": (inspect.getdoc(measure) or "").partition("\n")[0],
            "scale_free": is_scale_free(measure),
            "is_not": NOT[name],
        }
        for name, measure in MEASURES.items()
    ]
    _show(known, as_json)


def _show(known: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(known, ensure_ascii=False, indent=2))
        return
    table = columns("name", "formula, and what it is not")
    for one in known:
        table.add_row(
            Text(one["name"], style="bold"),
            Text.assemble(one["formula"], "\n", (one["is_not"], "dim"), "\n"),
        )
    console().print(table)
