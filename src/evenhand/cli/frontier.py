"""The command `evenhand frontier`: a file with scores in, the price of less disparity out."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand._errors import InputError
from evenhand._files.files import check_outputs, found_files
from evenhand._kinds import check_roles
from evenhand._words import plain
from evenhand._writing import write_all
from evenhand.cli import failures
from evenhand.cli.columns import role_options
from evenhand.cli.compare import columns_of_files, people_of
from evenhand.cli.failures import failures_in_one_line, interruptible
from evenhand.cli.numbers import Number, NumberRange, WholeRange
from evenhand.cli.options import bins_of
from evenhand.cli.summary import drawn
from evenhand.cli.terminal import busy, complain, echoed

if TYPE_CHECKING:
    from evenhand._frontier import Frontier, RegressionFrontier

    Traced = Frontier | RegressionFrontier

HELP = """Say what less disparity would cost, over every rule on the scores in FILE.

Printed are sentences and the curve: for each disparity the least cost, which no rule is below. With
--rule, the rule for that disparity in words.
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Example:",
        "  evenhand frontier scored.parquet --target hired --score p --group sex \\",
        "      --held-out 0.3 --rule 0.05 --csv curve.csv --png curve.png",
    ]
)
FILE = click.Path(dir_okay=False, path_type=Path)


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


@role_options(COLUMNS, sensitive_features={"required": True}, y_score={"required": True})
@click.command("frontier", help=HELP, epilog=EXAMPLES)
@click.argument("files", nargs=-1, metavar="FILE...", required=True)
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
@click.option("--points", type=WholeRange(2), default=20, show_default=True, help="How many.")
@click.option(
    "--held-out",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    help="The share of rows that judge the rules instead of fitting them.",
)
@click.option(
    "--recalibrate",
    is_flag=True,
    help="Map the scores by group to what the labels make of them; the rule holds the maps.",
)
@click.option(
    "--rising/--no-rising",
    default=True,
    show_default=True,
    help="Whether, within a group, a higher score is never worse in the rules.",
)
@click.option("--capacity", type=Number(), help="How many are selected, or if below 1 which share.")
@click.option("--reference", metavar="GROUP", help="The group beside which others are measured.")
@click.option("--rule", type=NumberRange(0), help="Print the rule for this disparity.")
@click.option("--csv", type=FILE, metavar="PATH", help="Write the curve.")
@click.option("--json", type=FILE, metavar="PATH", help="Write the rule; needs --rule.")
@click.option("--png", type=FILE, metavar="PATH", help="Draw the curve.")
@click.option("--quiet", is_flag=True, help="Print nothing; write the files.")
def frontier_(**given: Any) -> None:
    """Read, trace, print and write; its help stands above."""
    outputs = {name: given[name] for name in ("csv", "json", "png") if given[name]}
    with interruptible():
        with failures_in_one_line():
            check_outputs(outputs, found_files(given["files"]))
            if given["json"] and given["rule"] is None:
                raise InputError("--json writes a rule: say for which disparity by --rule.")
            with busy("Tracing …", quiet=given["quiet"]):
                found = frontier_of(given)
                if given["rule"] is not None:
                    _rule(found, given["rule"])
                contents = {name: content_of(name, found, given["rule"]) for name in outputs}
        failed = [] if given["quiet"] else echoed(text_of_frontier(found, given["rule"]))
        failed += write_all({path: contents[name] for name, path in outputs.items()})
        complain(failed)
    click.get_current_context().exit(failures.UNWRITTEN if failed else failures.PASSED)


def frontier_of(given: dict[str, Any]) -> Traced:
    """Trace the frontier of a request."""
    from evenhand._frontier import frontier

    check_roles(
        y_true=given["target"],
        y_pred=given["prediction"],
        y_score=given["score"],
        sensitive_features=given["group"],
    )
    single = [given[name] for name in ("target", "score", "prediction", "weight")]
    names = [name for name in (*single, *given["group"]) if name is not None]
    columns = columns_of_files(given["files"], names)

    def column(option: str) -> Any:
        return None if given[option] is None else columns[given[option]]

    capacity = given["capacity"]
    return frontier(
        column("target"),
        column("score"),
        sensitive_features=people_of(
            {name: columns[name] for name in given["group"]},
            dict(map(bins_of, given["bins"])),
            given["missing"],
            None,
        ),
        y_pred=column("prediction"),
        sample_weight=column("weight"),
        criterion=given["criterion"],
        measure=given["measure"],
        values=given["points"],
        held_out=given["held_out"],
        recalibrate=given["recalibrate"],
        rising=given["rising"],
        capacity=int(capacity) if capacity is not None and capacity.is_integer() else capacity,
        reference=given["reference"],
        favorable=given["favorable"],
        score_of=given["score_of"],
    )


def content_of(kind: str, found: Traced, value: float | None) -> Callable[[], str | bytes]:
    """What makes the content of a file."""
    if kind == "csv":
        return lambda: _csv(found.to_dict())
    if kind == "png":
        return lambda: _picture(found)
    return lambda: _rule(found, value or 0.0).to_json() + "\n"


def _picture(found: Traced) -> bytes:
    page = io.BytesIO()
    found.plot().savefig(page, dpi=150)
    return page.getvalue()


def text_of_frontier(found: Traced, value: float | None) -> str:
    """The sentences, the curve, and the rule if one was asked for."""
    said = drawn(found.document())
    if value is None:
        return said
    lines = ["", f"The rule for {value:g}:", *_rule(found, value).explain().splitlines()]
    return said + "".join(f"{plain(line) if line else ''}\n" for line in lines)


def _rule(found: Traced, value: float) -> Any:
    return found.rule(value)


def _csv(columns: dict[str, list[float]]) -> str:
    rows = [",".join(columns)]
    rows += [",".join(map(repr, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(rows) + "\n"
