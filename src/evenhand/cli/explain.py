"""The command `evenhand explain`: a file of decisions in, an account of the gap out."""

from __future__ import annotations

from typing import Any

import click

from evenhand._errors import InputError
from evenhand._kinds import check_roles
from evenhand._why import Account, explain
from evenhand.cli.answers import (
    answer,
    arguments_of,
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
def explain_(**options: Any) -> None:
    """Read, explain, print and write; its help is above."""
    answer(
        options,
        "Explaining …",
        lambda: account_of(options),
        lambda account: {
            "html": account.to_html,
            "json": account.to_json,
            "markdown": account.to_markdown,
            "png": lambda: picture(account),
        },
    )


def account_of(options: dict[str, Any]) -> Account:
    """The account of a request."""
    roles = {name: options[flag_of(name)] for name in ("y_true", "y_pred", "y_score")}
    if options["prediction"] is None and None in (options["score"], options["threshold"]):
        raise InputError(
            "Name the decisions by --prediction, or by --score and the --threshold that cuts it."
        )
    check_roles(**roles, sensitive_features=options["group"])
    shared = [name for name in (*roles.values(), *options["group"]) if name in options["by"]]
    if shared:
        raise InputError(
            f"The column {shared[0]!r} cannot explain a gap of its own: name by --by what was "
            "known before the decision."
        )
    arguments, by = arguments_of(options, COLUMNS, *options["by"])
    return explain(
        options["criterion"],
        **arguments,
        by=by or None,
        between=options["between"] or None,
        confidence=options["confidence"],
    )
