"""The command `evenhand explain`: a file of decisions in, an account of the gap out."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evenhand._errors import InputError
from evenhand._files.files import check_outputs, found_files
from evenhand._kinds import check_roles
from evenhand._why import Account, explain
from evenhand._writing import write_all
from evenhand.cli import failures
from evenhand.cli.columns import flag_of, role_options
from evenhand.cli.compare import columns_of_files, people_of
from evenhand.cli.failures import failures_in_one_line, interruptible
from evenhand.cli.numbers import NumberRange
from evenhand.cli.options import bins_of
from evenhand.cli.summary import drawn
from evenhand.cli.terminal import busy, complain, echoed

HELP = """Say why two groups in FILE differ: their gap in parts that add up to it.

Without --by the parts are from different true outcomes and different decisions; with it, from
composition and from within: people alike in these columns.
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Example:",
        "  evenhand explain admissions.csv --prediction admitted --group sex \\",
        "      --by department --html why.html",
    ]
)
FILE = click.Path(dir_okay=False, path_type=Path)
COLUMNS = (
    "y_true",
    "y_pred",
    "y_score",
    "score_of",
    "threshold",
    "sensitive_features",
    "sample_weight",
    "cluster",
    "favorable",
    "task",
    "bins",
    "missing",
)
OUTPUTS = ("html", "json", "markdown", "png")


@role_options(COLUMNS, sensitive_features={"required": True})
@click.command("explain", help=HELP, epilog=EXAMPLES)
@click.argument("files", nargs=-1, metavar="FILE...", required=True)
@click.option(
    "--by", metavar="COLUMN", multiple=True, help="A column that may explain the gap; repeatable."
)
@click.option(
    "--criterion",
    metavar="NAME",
    default="statistical_parity",
    show_default=True,
    help="The criterion whose gap is explained.",
)
@click.option(
    "--between",
    metavar="GROUP GROUP",
    nargs=2,
    help="The two groups; by default those with the highest and the lowest value.",
)
@click.option(
    "--confidence",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@click.option("--html", type=FILE, metavar="PATH", help="Write a page.")
@click.option("--json", type=FILE, metavar="PATH", help="Write the account as data.")
@click.option("--markdown", type=FILE, metavar="PATH", help="Write it as Markdown.")
@click.option("--png", type=FILE, metavar="PATH", help="Draw the parts.")
@click.option("--quiet", is_flag=True, help="Print nothing; write the files.")
def explain_(**given: Any) -> None:
    """Read, explain, print and write; its help stands above."""
    outputs = {name: given[name] for name in OUTPUTS if given[name]}
    with interruptible():
        with failures_in_one_line():
            check_outputs(outputs, found_files(given["files"]))
            with busy("Explaining …", quiet=given["quiet"]):
                found = account_of(given)
                contents = {name: content_of(name, found) for name in outputs}
        failed = [] if given["quiet"] else echoed(drawn(found.document()))
        failed += write_all({path: contents[name] for name, path in outputs.items()})
        complain(failed)
    click.get_current_context().exit(failures.UNWRITTEN if failed else failures.PASSED)


def account_of(given: dict[str, Any]) -> Account:
    """The account of a request."""
    roles = {name: given[flag_of(name)] for name in ("y_true", "y_pred", "y_score")}
    if given["prediction"] is None and None in (given["score"], given["threshold"]):
        raise InputError(
            "Name the decisions by --prediction, or by --score and the --threshold that cuts it."
        )
    check_roles(**roles, sensitive_features=given["group"])
    taken = [name for name in (*roles.values(), *given["group"]) if name in given["by"]]
    if taken:
        raise InputError(
            f"The column {taken[0]!r} cannot explain a gap of its own: name by --by what was known "
            "before the decision."
        )
    single = [given[name] for name in ("target", "prediction", "score", "weight")]
    several = [*given["group"], *given["cluster"], *given["by"]]
    names = dict.fromkeys(name for name in (*single, *several) if name is not None)
    columns = columns_of_files(given["files"], list(names))

    def column(option: str) -> Any:
        return None if given[option] is None else columns[given[option]]

    def columns_named(option: str) -> Any:
        return {name: columns[name] for name in given[option]} or None

    whom = people_of(
        {name: columns[name] for name in given["group"]},
        dict(map(bins_of, given["bins"])),
        given["missing"],
        None,
    )
    return explain(
        given["criterion"],
        column("target"),
        column("prediction"),
        y_score=column("score"),
        score_of=given["score_of"],
        threshold=given["threshold"],
        sensitive_features=whom,
        sample_weight=column("weight"),
        cluster=columns_named("cluster"),
        favorable=given["favorable"],
        task=given["task"],
        by=columns_named("by"),
        between=given["between"] or None,
        confidence=given["confidence"],
    )


def content_of(kind: str, found: Account) -> Callable[[], str | bytes]:
    """What makes the content of a file."""
    if kind == "png":
        return lambda: _picture(found)
    return {"html": found.to_html, "json": found.to_json, "markdown": found.to_markdown}[kind]


def _picture(found: Account) -> bytes:
    page = io.BytesIO()
    found.plot().savefig(page, dpi=150)
    return page.getvalue()
