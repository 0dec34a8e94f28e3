"""Shared by commands that read columns of files, print one result, and write it to files."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Column
from evenhand._columns.bins import binned, cut
from evenhand._columns.encoding import numbers
from evenhand._data.amounts import quantile_edges_of
from evenhand._data.counts import line_counts
from evenhand._data.group_by import Cells, GroupColumns, listed
from evenhand._data.groups import Bins, Groups, Missing, groups
from evenhand._data.roles import ROLES
from evenhand._data.surveys import replicate_scales, survey_weights
from evenhand._errors import InputError
from evenhand._files.files import check_outputs, connect, found_files, open_files
from evenhand._files.text_files import sql_name
from evenhand._words import did_you_mean
from evenhand._writing import write_all
from evenhand.cli import failures
from evenhand.cli.columns import flag_of
from evenhand.cli.failures import failures_in_one_line, interruptible
from evenhand.cli.numbers import NumberRange
from evenhand.cli.options import bins_of, discount_of
from evenhand.cli.summary import summary_text
from evenhand.cli.terminal import busy, complain, echoed

FILE = click.Path(dir_okay=False, path_type=Path)
READ: dict[str, Callable[[Any], Any]] = {
    "discount": discount_of,
    "bins": lambda texts: dict(map(bins_of, texts)),
}

Contents = Mapping[str, Callable[[], str | bytes]]
Option = Callable[[Callable[..., Any]], Callable[..., Any]]
files_argument = click.argument("files", nargs=-1, metavar="FILE...", required=True)


def confidence_option(about: str = "Confidence of every interval.") -> Option:
    """The option --confidence."""
    return click.option(
        "--confidence",
        type=NumberRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help=about,
    )


def output_options(**about: str) -> Option:
    """Options of output files, by content, and --quiet."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--quiet", is_flag=True, help="Print nothing; write the files.")(
            command
        )
        for name, help_text in reversed(about.items()):
            command = click.option(f"--{name}", type=FILE, metavar="PATH", help=help_text)(command)
        return command

    return add


def answer(
    options: Mapping[str, Any],
    doing: str,
    ask: Callable[[], Any],
    contents: Callable[[Any], Contents],
    text: Callable[[Any], str] = lambda result: summary_text(result.document()),
) -> None:
    """Compute and print a result, write the requested files, and exit with the status."""
    with interruptible():
        with failures_in_one_line():
            outputs = {name: path for name, path in options.items() if path and name in OUTPUTS}
            check_outputs(outputs, found_files(options["files"]))
            with busy(doing, quiet=options["quiet"]):
                result = ask()
                by_output = contents(result)
        failed = [] if options["quiet"] else echoed(text(result))
        failed += write_all({outputs[name]: by_output[name] for name in OUTPUTS if name in outputs})
        complain(failed)
    click.get_current_context().exit(failures.UNWRITTEN if failed else failures.PASSED)


OUTPUTS = ("csv", "json", "markdown", "png", "html")  # the page, which takes longest, comes last


def picture(result: Any) -> bytes:
    """The figure of a result as a PNG."""
    page = io.BytesIO()
    result.plot().savefig(page, dpi=150)
    return page.getvalue()


def arguments_of(
    options: Mapping[str, Any], roles: Collection[str], *extra: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments by role, with the columns of the files, and further columns by name."""
    arguments = {name: options[flag_of(name)] for name in roles}
    arguments |= {name: read(arguments[name]) for name, read in READ.items() if name in arguments}
    column_roles = [name for name in roles if ROLES[name].is_column]
    needed = [column for name in column_roles for column in listed(arguments[name])]
    replicates = {}
    if arguments.get("replicate_weights") or arguments.get("replicate_method"):
        replicates = replicate_scales(
            SimpleNamespace(**{name: arguments.get(name) or None for name in ROLES})
        )
        needed.remove(arguments["replicate_weights"])
    columns = columns_of_files(options["files"], [*needed, *replicates, *extra])
    for name in column_roles:
        if name == "replicate_weights":
            continue
        if ROLES[name].is_several:
            arguments[name] = {column: columns[column] for column in arguments[name]} or None
        elif arguments[name] is not None:
            arguments[name] = columns[arguments[name]]
    if replicates:
        arguments["sample_weight"] = survey_weights(
            arguments["sample_weight"],
            replicate_weights=np.column_stack([columns[name] for name in replicates]),
            scale=list(replicates.values()),
        )
    for name in ("replicate_weights", "replicate_method"):
        arguments.pop(name, None)
    times = None
    if arguments.get("rows") is not None:
        times = line_counts(arguments["rows"], repr(options["rows"]))
    bins, missing = arguments.pop("bins"), arguments.pop("missing")
    if "sensitive_features" in arguments:
        arguments["sensitive_features"] = groups_of_lines(
            arguments["sensitive_features"], bins, missing, times
        )
    return arguments, {name: columns[name] for name in extra}


def groups_of_lines(
    columns: Mapping[str, Any], bins: Bins, missing: Missing, times: NDArray[np.int64] | None
) -> Groups:
    """The group of every line; quantiles and notes are of the rows that lines represent."""
    if times is None or set(bins) - set(columns):  # unknown columns are refused there
        return groups(columns, bins=bins or None, missing=missing)
    coded = dict(columns)
    coded |= {
        name: _cut(name, columns[name], bins_of_column, times)
        for name, bins_of_column in bins.items()
    }
    cells = Cells({}, coded, times.astype(np.float64), {})
    return GroupColumns(tuple(columns), missing).groups_of(cells)


def _cut(name: str, column: Any, bins: int | Sequence[float], times: NDArray[np.int64]) -> Column:
    """Amounts between edges, or between the quantiles of all rows."""
    if not isinstance(bins, int):
        return cut(column, bins, name)
    amounts = numbers(column, name)
    counted = np.isfinite(amounts) & (times > 0)
    return binned(amounts, quantile_edges_of(amounts[counted], times[counted], bins))


def columns_of_files(files: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """The columns in memory: models are compared row by row."""
    table = open_files(connect(), files, names)
    for name in names:
        if name not in table.columns:
            raise InputError(
                f"There is no column {name!r}; there are {list(table.columns)}."
                f"{did_you_mean(name, table.columns)}"
            )
    rows = table.project(", ".join(map(sql_name, dict.fromkeys(names)))).to_arrow_table()
    return {name: rows.column(name) for name in rows.column_names}
