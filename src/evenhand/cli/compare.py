"""The command `evenhand compare`: a file with several models' predictions in, a ranking out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.bins import binned, cut
from evenhand._columns.encoding import numbers
from evenhand._compare import Comparison
from evenhand._compare import compare as compared
from evenhand._compare.compare import MEASURES
from evenhand._data.amounts import quantile_edges_of
from evenhand._data.counts import line_counts
from evenhand._data.group_by import Cells, GroupColumns
from evenhand._data.groups import Bins, Groups, Missing, groups
from evenhand._errors import InputError, require
from evenhand._files.files import check_outputs, connect, found_files, open_files
from evenhand._kinds import check_roles
from evenhand._words import did_you_mean
from evenhand._writing import write_all
from evenhand.cli import failures
from evenhand.cli.columns import role_options
from evenhand.cli.failures import failures_in_one_line, interruptible
from evenhand.cli.numbers import NumberRange
from evenhand.cli.options import bins_of, discount_given
from evenhand.cli.summary import drawn
from evenhand.cli.terminal import busy, complain, echoed

HELP = """Compare the predictions of several models in FILE, for the same rows.

Each --prediction names a column, or a model and its column: --prediction new=p_new. Printed are
the models by accuracy (or error) and by every criterion, the best first.
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Example:",
        "  evenhand compare scored.parquet --target hired --prediction old --prediction new \\",
        "      --group sex --html comparison.html",
    ]
)
FILE = click.Path(dir_okay=False, path_type=Path)


COLUMNS = (
    "y_true",
    "sensitive_features",
    "rows",
    "sample_weight",
    "cluster",
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
@click.argument("files", nargs=-1, metavar="FILE...", required=True)
@click.option(
    "--prediction",
    multiple=True,
    required=True,
    metavar="[MODEL=]COLUMN",
    help="Predictions of a model; repeatable.",
)
@click.option("--criterion", multiple=True, metavar="NAME", help="Ask this; repeatable.")
@click.option(
    "--measure", multiple=True, metavar="NAME", help="By this; repeatable; the first is drawn."
)
@click.option(
    "--confidence",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence of every interval.",
)
@click.option("--title", help="Title of the page.")
@click.option("--quiet", is_flag=True, help="Print nothing; write the files.")
@click.option("--html", type=FILE, metavar="PATH", help="Write the page, one file.")
@click.option("--json", type=FILE, metavar="PATH", help="Write every number.")
@click.option("--markdown", type=FILE, metavar="PATH", help="Write the tables as Markdown.")
def compare(**given: Any) -> None:
    """Read, compare, print and write; its help stands above."""
    outputs = {name: given[name] for name in ("json", "markdown", "html") if given[name]}
    with interruptible():
        with failures_in_one_line():
            check_outputs(outputs, found_files(given["files"]))
            with busy("Comparing …", quiet=given["quiet"]):
                found = comparison_of(given)
        failed = [] if given["quiet"] else echoed(drawn(found.document()))
        make = {"json": found.to_json, "markdown": found.to_markdown, "html": found.to_html}
        failed += write_all({path: make[name] for name, path in outputs.items()})
        complain(failed)
    click.get_current_context().exit(failures.UNWRITTEN if failed else failures.PASSED)


def comparison_of(given: dict[str, Any]) -> Comparison:
    """Compare the models of a request."""
    if given["html"]:
        require("jinja2", purpose="The page", extra="cli")
    models = dict(map(model_of, given["prediction"]))
    if len(models) < len(given["prediction"]):
        raise click.UsageError("Two models have the same name; write --prediction NAME=COLUMN.")
    for name in models.values():
        check_roles(y_true=given["target"], y_pred=name, sensitive_features=given["group"])
    single = [given["target"], given["weight"], given["rows"]]
    names = [*models.values(), *given["group"], *given["cluster"], *given["query"], *single]
    columns = columns_of_files(given["files"], [name for name in names if name is not None])
    rows = None if given["rows"] is None else columns[given["rows"]]
    return compared(
        None if given["target"] is None else columns[given["target"]],
        {model: columns[name] for model, name in models.items()},
        sensitive_features=people_of(
            {name: columns[name] for name in given["group"]},
            dict(map(bins_of, given["bins"])),
            given["missing"],
            line_counts(rows, repr(given["rows"])),
        ),
        rows=rows,
        sample_weight=None if given["weight"] is None else columns[given["weight"]],
        cluster={name: columns[name] for name in given["cluster"]} or None,
        query={name: columns[name] for name in given["query"]} or None,
        discount=discount_given(given["discount"]),
        top_k=given["top_k"],
        criteria=list(given["criterion"]) or None,
        measures=list(given["measure"]) or MEASURES,
        task=given["task"],
        favorable=given["favorable"],
        confidence=given["confidence"],
        title=given["title"] or f"Models in {', '.join(given['files'])}",
    )


def people_of(
    columns: Mapping[str, Any], bins: Bins, missing: Missing, times: NDArray[np.int64] | None
) -> Groups:
    """The group of every line; quantiles and notes are those of the rows that lines stand for."""
    if times is None or set(bins) - set(columns):  # unknown columns are refused there
        return groups(columns, bins=bins or None, missing=missing)
    coded = dict(columns)
    coded |= {name: _cut(name, columns[name], wanted, times) for name, wanted in bins.items()}
    cells = Cells({}, coded, times.astype(np.float64), {})
    return GroupColumns(tuple(columns), missing).of(cells)


def _cut(name: str, column: Any, wanted: int | Sequence[float], times: NDArray[np.int64]) -> Column:
    """Amounts between edges, or between the quantiles of all rows."""
    if not isinstance(wanted, int):
        return cut(column, wanted, name)
    amounts = numbers(column, name)
    known = np.isfinite(amounts) & (times > 0)
    return binned(amounts, quantile_edges_of(amounts[known], times[known], wanted))


def model_of(text: str) -> tuple[str, str]:
    """The name of a model and its column.

    >>> model_of("new=p_new"), model_of("p_old")
    (('new', 'p_new'), ('p_old', 'p_old'))
    """
    name, sign, column = text.partition("=")
    return (name, column) if sign and name and column else (text, text)


def columns_of_files(files: Sequence[str], wanted: Sequence[str]) -> dict[str, Any]:
    """The columns that are read, whole: models are compared row by row."""
    table = open_files(connect(), files, wanted)
    for name in wanted:
        if name not in table.columns:
            raise InputError(
                f"There is no column {name!r}; there are {list(table.columns)}."
                f"{did_you_mean(name, table.columns)}"
            )
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in dict.fromkeys(wanted))
    rows = table.project(quoted).to_arrow_table()
    return {name: rows.column(name) for name in rows.column_names}
