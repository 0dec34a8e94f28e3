"""The command `evenhand sql`: the query that counts rows in a database, so that none leaves it."""

from __future__ import annotations

from typing import Any

import click

from evenhand._data.sql import DIALECTS, count_query
from evenhand.cli.columns import flag_of, role_options
from evenhand.cli.failures import failures_in_one_line
from evenhand.cli.numbers import WholeRange

HELP = """Print the query that counts the rows of TABLE in a database.

Run it there, and audit its result: only counts leave the database, and no row about a person.
Names are quoted, so write them as the database shows them (in Snowflake usually in capitals).
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Examples:",
        "  evenhand sql people --dialect postgres --target hired --prediction decision \\",
        "      --group sex --group race > counts.sql",
        "  psql --csv --file counts.sql > counts.csv",
        "  evenhand audit counts.csv --rows n --target hired --prediction decision \\",
        "      --group sex --group race",
    ]
)


ROLES_ASKED = (
    *("y_true", "y_pred", "sensitive_features", "y_score", "score_of", "threshold"),
    *("sample_weight", "strata", "rows", "task", "min_count"),
)
OVERRIDES: dict[str, dict[str, Any]] = {  # where options differ from those of a file
    "sensitive_features": {"required": True},
    "score_of": {"help": "The label that the score is for, 1 or 0, if not 1."},
    "threshold": {"help": "Select scores of at least this, as the column selected."},
    "sample_weight": {"help": "Count by the weights of the rows, too."},
    "strata": {"help": "Count by this column too; repeatable."},
    "rows": {"default": "n", "help": "Name of the column of counts."},
    "task": {
        "type": click.Choice(["binary", "multiclass", "regression"]),
        "help": "For regression, sums of values in place of counts by label.",
    },
    "min_count": {"metavar": "NUMBER", "help": "Leave out cells of fewer rows."},
}


@role_options(ROLES_ASKED, **OVERRIDES)
@click.command("sql", help=HELP, epilog=EXAMPLES)
@click.argument("table")
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    default="duckdb",
    show_default=True,
    help="Whose SQL; tsql is that of SQL Server.",
)
@click.option(
    "--digits",
    type=WholeRange(0, 9),
    metavar="NUMBER",
    help="Count the score too, rounded to this many decimals.",
)
@click.option("--person", metavar="COLUMN", help="Leave out cells of fewer different people.")
def sql(**options: Any) -> None:
    """Print the query; its help is above."""
    arguments = {name: options[flag_of(name)] for name in ROLES_ASKED}
    for name in ("sensitive_features", "strata"):
        arguments[name] = list(arguments[name]) or None
    with failures_in_one_line():
        settings = {name: options[name] for name in ("dialect", "digits", "person")}
        query = count_query(options["table"], **arguments, **settings)
    click.echo(f"{query};")  # noqa: TID251 - names in it are printable, or refused
