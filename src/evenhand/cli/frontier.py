"""The command `evenhand frontier`: a file with scores in, the price of less disparity out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenhand._errors import InputError
from evenhand._kinds import check_roles
from evenhand._words import plain
from evenhand.cli.answers import (
    Contents,
    answer,
    columns_asked,
    files_argument,
    output_options,
    picture,
)
from evenhand.cli.columns import probable_given, probable_options, role_options
from evenhand.cli.numbers import Number, NumberRange, WholeRange
from evenhand.cli.summary import drawn

if TYPE_CHECKING:
    from evenhand._frontier import Frontier, RegressionFrontier

    Traced = Frontier | RegressionFrontier

HELP = """Say what less disparity would cost, over every rule on the scores in FILE.

Prints sentences and the curve: the least cost for each disparity. No rule can do better. With
--rule, also prints the rule for that disparity in words.
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Example:",
        "  evenhand frontier scored.parquet --target hired --score p --group sex \\",
        "      --held-out 0.3 --rule 0.05 --csv curve.csv --png curve.png",
    ]
)

COLUMNS = (
    "y_true",
    "y_pred",
    "sensitive_features",
    "y_score",
    "score_of",
    "sample_weight",
    "favorable",
    "bins",
    "missing",
)


@probable_options
@role_options(COLUMNS, y_score={"required": True})
@click.command("frontier", help=HELP, epilog=EXAMPLES)
@files_argument
@click.option(
    "--criterion",
    metavar="NAME",
    default="statistical_parity",
    show_default=True,
    help="The criterion whose rates are compared.",
)
@click.option(
    "--measure",
    metavar="NAME",
    help="How unequal they are: mpd (the default), gini, pq or shortfall.",
)
@click.option(
    "--points",
    type=WholeRange(2),
    default=20,
    show_default=True,
    help="How many points the curve has.",
)
@click.option(
    "--held-out",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    help="The share of rows that judge the rules instead of fitting them.",
)
@click.option(
    "--recalibrate",
    is_flag=True,
    help="Map each group's scores to how often its labels are true; the rule contains the maps.",
)
@click.option(
    "--rising/--no-rising",
    default=True,
    show_default=True,
    help="Recommend only rules in which a higher score is never worse within a group.",
)
@click.option("--capacity", type=Number(), help="How many people to select; below 1, which share.")
@click.option("--reference", metavar="GROUP", help="The group with which others are compared.")
@click.option("--rule", type=NumberRange(0), help="Print the rule for this disparity.")
@output_options(csv="Write the curve.", json="Write the rule; needs --rule.", png="Draw the curve.")
def frontier_(**given: Any) -> None:
    """Read, trace, print and write; its help stands above."""

    def contents(found: Traced) -> Contents:
        rule = None if given["rule"] is None else found.rule(given["rule"])
        return {
            "csv": lambda: _csv(found.to_dict()),
            "png": lambda: picture(found),
            "json": lambda: f"{rule.to_json()}\n" if rule is not None else "",
        }

    answer(
        given,
        "Tracing …",
        lambda: frontier_of(given),
        contents,
        lambda found: text_of_frontier(found, given["rule"]),
    )


def frontier_of(given: dict[str, Any]) -> Traced:
    """Trace the frontier of a request."""
    from evenhand._frontier import frontier

    if given["json"] and given["rule"] is None:
        raise InputError("--json writes a rule: say for which disparity by --rule.")
    check_roles(
        y_true=given["target"],
        y_pred=given["prediction"],
        y_score=given["score"],
        sensitive_features=given["group"],
    )
    whom = probable_given(given)
    if whom is None:
        asked, _ = columns_asked(given, COLUMNS)
    else:
        rest = [name for name in COLUMNS if name != "sensitive_features"]
        asked, columns = columns_asked(given, rest, *whom.names)
        import pyarrow

        asked["sensitive_features"] = whom.read(pyarrow.table(columns))
    capacity = given["capacity"]
    return frontier(
        asked.pop("y_true"),
        asked.pop("y_score"),
        **asked,
        criterion=given["criterion"],
        measure=given["measure"],
        values=given["points"],
        held_out=given["held_out"],
        recalibrate=given["recalibrate"],
        rising=given["rising"],
        capacity=int(capacity) if capacity is not None and capacity.is_integer() else capacity,
        reference=given["reference"],
    )


def text_of_frontier(found: Traced, value: float | None) -> str:
    """The sentences, the curve, and the rule if one was asked for."""
    said = drawn(found.document())
    if value is None:
        return said
    rule: Any = found.rule(value)
    lines = ["", f"The rule for {value:g}:", *rule.explain().splitlines()]
    return said + "".join(f"{plain(line) if line else ''}\n" for line in lines)


def _csv(columns: dict[str, list[float]]) -> str:
    rows = [",".join(columns)]
    rows += [",".join(map(repr, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(rows) + "\n"
