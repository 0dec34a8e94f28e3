"""The command `evenhand explain`: a file of decisions in, an account of the gap out."""

from __future__ import annotations

from typing import Any

import click

from evenhand._errors import InputError
from evenhand._kinds import check_roles
from evenhand._why import Account, explain
from evenhand.cli.answers import (
    answer,
    columns_asked,
    confidence_option,
    files_argument,
    output_options,
    picture,
)
from evenhand.cli.columns import flag_of, role_options

HELP = """Say why two groups in FILE differ: split their gap into parts that add up to it.

Without --by the parts come from different true outcomes and different decisions. With --by they are
composition (the groups differ in these columns) and within (a difference among people alike in
them).
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Example:",
        "  evenhand explain admissions.csv --prediction admitted --group sex \\",
        "      --by department --html why.html",
    ]
)
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


@role_options(COLUMNS, sensitive_features={"required": True})
@click.command("explain", help=HELP, epilog=EXAMPLES)
@files_argument
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
@confidence_option("Confidence of the intervals.")
@output_options(
    html="Write a page.",
    json="Write the account as data.",
    markdown="Write it as Markdown.",
    png="Draw the parts.",
)
def explain_(**given: Any) -> None:
    """Read, explain, print and write; its help stands above."""
    answer(
        given,
        "Explaining …",
        lambda: account_of(given),
        lambda found: {
            "html": found.to_html,
            "json": found.to_json,
            "markdown": found.to_markdown,
            "png": lambda: picture(found),
        },
    )


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
    asked, by = columns_asked(given, COLUMNS, *given["by"])
    return explain(
        given["criterion"],
        **asked,
        by=by or None,
        between=given["between"] or None,
        confidence=given["confidence"],
    )
