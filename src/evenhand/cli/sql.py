"""The command `evenhand sql`: the query that counts rows in a database, so that none leaves it."""

from __future__ import annotations

from typing import Any

import click

from evenhand._data.sql import DIALECTS, count_query
from evenhand.cli.failures import failures_in_one_line
from evenhand.cli.numbers import Number, WholeRange

HELP = """Print the query that counts the rows of TABLE in a database.

Run it there, and audit what comes out: only counts leave the database, and no row about a person.
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


@click.command("sql", help=HELP, epilog=EXAMPLES)
@click.argument("table")
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    default="duckdb",
    show_default=True,
    help="Whose SQL; tsql is that of SQL Server.",
)
@click.option("--target", metavar="COLUMN", help="The truth: labels or values.")
@click.option("--prediction", metavar="COLUMN", help="What the model predicted.")
@click.option("--score", metavar="COLUMN", help="The score or probability.")
@click.option(
    "--score-of", metavar="LABEL", help="The label that the score is for, 1 or 0, if not 1."
)
@click.option(
    "--threshold",
    type=Number(),
    metavar="NUMBER",
    help="Select scores of at least this, as the column selected.",
)
@click.option(
    "--digits",
    type=WholeRange(0, 9),
    metavar="NUMBER",
    help="Count the score too, rounded to this many decimals.",
)
@click.option(
    "--group", multiple=True, required=True, metavar="COLUMN", help="Groups; repeat to cross them."
)
@click.option("--weight", metavar="COLUMN", help="Count by the weights of the rows, too.")
@click.option("--stratum", multiple=True, metavar="COLUMN", help="Count by these; repeatable.")
@click.option(
    "--task",
    type=click.Choice(["binary", "multiclass", "regression"]),
    help="For regression, sums of values in place of counts by label.",
)
@click.option(
    "--rows", default="n", show_default=True, metavar="COLUMN", help="Name of the counts."
)
@click.option(
    "--min-count",
    type=WholeRange(0),
    default=0,
    metavar="NUMBER",
    help="Leave out cells of fewer rows.",
)
@click.option("--person", metavar="COLUMN", help="Leave out cells of fewer different people.")
def sql(**given: Any) -> None:
    """Print the query; its help stands above."""
    with failures_in_one_line():
        query = count_query(
            given["table"],
            y_true=given["target"],
            y_pred=given["prediction"],
            sensitive_features=list(given["group"]),
            dialect=given["dialect"],
            y_score=given["score"],
            score_of=given["score_of"],
            threshold=given["threshold"],
            digits=given["digits"],
            sample_weight=given["weight"],
            strata=list(given["stratum"]) or None,
            task=given["task"],
            rows=given["rows"],
            min_count=given["min_count"],
            person=given["person"],
        )
    click.echo(f"{query};")  # noqa: TID251 - names in it are printable, or refused
