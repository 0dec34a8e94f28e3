"""The command `evenhand compare`: a file with several models' predictions in, a ranking out."""

from __future__ import annotations

from typing import Any

import click

from evenhand._compare import Comparison
from evenhand._compare import compare as compared
from evenhand._compare.compare import MEASURES
from evenhand._errors import require
from evenhand._kinds import check_roles
from evenhand.cli.answers import (
    answer,
    arguments_of,
    confidence_option,
    files_argument,
    output_options,
)
from evenhand.cli.columns import role_options

HELP = """Compare the predictions of several models in FILE, for the same rows.

Each --prediction names a column, or a model and its column: --prediction new=p_new; --score does
the same for scores. Prints the models by accuracy (or error) and by every criterion, best first.
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Example:",
        "  evenhand compare scored.parquet --target hired --prediction old --prediction new \\",
        "      --group sex --html comparison.html",
    ]
)

COLUMNS = (
    "y_true",
    "sensitive_features",
    "rows",
    "sample_weight",
    "score_of",
    "threshold",
    "strata",
    "cluster",
    "replicate_weights",
    "replicate_method",
    "query",
    "discount",
    "top_k",
    "favorable",
    "task",
    "bins",
    "missing",
)


@role_options(COLUMNS, sensitive_features={"required": True})
@click.command("compare", help=HELP, epilog=EXAMPLES)
@files_argument
@click.option(
    "--prediction",
    multiple=True,
    metavar="[MODEL=]COLUMN",
    help="Predictions of a model; repeatable.",
)
@click.option(
    "--score",
    multiple=True,
    metavar="[MODEL=]COLUMN",
    help="Scores of a model, which decide where there are no predictions; repeatable.",
)
@click.option("--criterion", multiple=True, metavar="NAME", help="A criterion to ask; repeatable.")
@click.option(
    "--measure",
    multiple=True,
    metavar="NAME",
    help="A measure to use; repeatable; the first is drawn.",
)
@confidence_option()
@click.option("--title", help="Title of the page.")
@output_options(
    html="Write the page, one file.",
    json="Write every number.",
    markdown="Write the tables as Markdown.",
)
def compare(**options: Any) -> None:
    """Read, compare, print and write; its help is above."""
    answer(
        options,
        "Comparing …",
        lambda: comparison_of(options),
        lambda comparison: {
            "json": comparison.to_json,
            "markdown": comparison.to_markdown,
            "html": comparison.to_html,
        },
    )


def comparison_of(options: dict[str, Any]) -> Comparison:
    """Compare the models of a request."""
    if options["html"]:
        require("jinja2", purpose="The page", extra="cli")
    models, scores = (models_of(options, option) for option in ("prediction", "score"))
    if not models and not scores:
        raise click.UsageError("Name the models: --prediction [MODEL=]COLUMN, or --score.")
    for name in models.values():
        check_roles(y_true=options["target"], y_pred=name, sensitive_features=options["group"])
    arguments, columns = arguments_of(options, COLUMNS, *models.values(), *scores.values())
    predicted, scored = (
        {model: columns[name] for model, name in named.items()} or None
        for named in (models, scores)
    )
    return compared(
        arguments.pop("y_true"),
        predicted,
        y_score=scored,
        **arguments,
        criteria=list(options["criterion"]) or None,
        measures=list(options["measure"]) or MEASURES,
        confidence=options["confidence"],
        title=options["title"] or f"Models in {', '.join(options['files'])}",
    )


def models_of(options: dict[str, Any], option: str) -> dict[str, str]:
    """The columns of an option by the name of the model."""
    models = dict(map(model_of, options[option]))
    if len(models) < len(options[option]):
        raise click.UsageError(f"Two models have the same name; write --{option} NAME=COLUMN.")
    return models


def model_of(text: str) -> tuple[str, str]:
    """The name of a model and its column.

    >>> model_of("new=p_new"), model_of("p_old")
    (('new', 'p_new'), ('p_old', 'p_old'))
    """
    name, sign, column = text.partition("=")
    return (name, column) if sign and name and column else (text, text)
