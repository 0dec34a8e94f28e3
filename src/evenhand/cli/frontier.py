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
    arguments_of,
    files_argument,
    output_options,
    picture,
)
from evenhand.cli.columns import probable_groups, probable_options, role_options
from evenhand.cli.numbers import Number, NumberRange, WholeRange
from evenhand.cli.summary import summary_text

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
def frontier_(**options: Any) -> None:
    """Read, trace, print and write; its help is above."""

    def contents(traced: Traced) -> Contents:
        rule = None if options["rule"] is None else traced.rule(options["rule"])
        return {
            "csv": lambda: _csv(traced.to_dict()),
            "png": lambda: picture(traced),
            "json": lambda: f"{rule.to_json()}\n" if rule is not None else "",
        }

    answer(
        options,
        "Tracing …",
        lambda: frontier_of(options),
        contents,
        lambda traced: text_of_frontier(traced, options["rule"]),
    )


def frontier_of(options: dict[str, Any]) -> Traced:
    """Trace the frontier of a request."""
    from evenhand._frontier import frontier

    if options["json"] and options["rule"] is None:
        raise InputError("--json writes a rule: say for which disparity by --rule.")
    check_roles(
        y_true=options["target"],
        y_pred=options["prediction"],
        y_score=options["score"],
        sensitive_features=options["group"],
    )
    membership = probable_groups(options)
    if membership is None:
        arguments, _ = arguments_of(options, COLUMNS)
    else:
        others = [name for name in COLUMNS if name != "sensitive_features"]
        arguments, columns = arguments_of(options, others, *membership.names)
        import pyarrow

        arguments["sensitive_features"] = membership.read(pyarrow.table(columns))
    capacity = options["capacity"]
    return frontier(
        arguments.pop("y_true"),
        arguments.pop("y_score"),
        **arguments,
        criterion=options["criterion"],
        measure=options["measure"],
        values=options["points"],
        held_out=options["held_out"],
        recalibrate=options["recalibrate"],
        rising=options["rising"],
        capacity=int(capacity) if capacity is not None and capacity.is_integer() else capacity,
        reference=options["reference"],
    )


def text_of_frontier(traced: Traced, value: float | None) -> str:
    """The sentences, the curve, and the rule if requested."""
    text = summary_text(traced.document())
    if value is None:
        return text
    rule: Any = traced.rule(value)
    lines = ["", f"The rule for {value:g}:", *rule.explain().splitlines()]
    return text + "".join(f"{plain(line) if line else ''}\n" for line in lines)


def _csv(columns: dict[str, list[float]]) -> str:
    rows = [",".join(columns)]
    rows += [",".join(map(repr, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(rows) + "\n"
