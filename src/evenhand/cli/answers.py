"""What commands share that read columns of files, print one result, and write it to files."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
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
from evenhand._errors import InputError
from evenhand._files.files import check_outputs, connect, found_files, open_files
from evenhand._words import did_you_mean
from evenhand._writing import write_all
from evenhand.cli import failures
from evenhand.cli.columns import flag_of
from evenhand.cli.failures import failures_in_one_line, interruptible
from evenhand.cli.numbers import NumberRange
from evenhand.cli.options import bins_of, discount_given
from evenhand.cli.summary import drawn
from evenhand.cli.terminal import busy, complain, echoed

FILE = click.Path(dir_okay=False, path_type=Path)
READ: dict[str, Callable[[Any], Any]] = {
    "discount": discount_given,
    "bins": lambda given: dict(map(bins_of, given)),
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
    """Options of files to write, by what each holds, and --quiet."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--quiet", is_flag=True, help="Print nothing; write the files.")(
            command
        )
        for name, help_text in reversed(about.items()):
            command = click.option(f"--{name}", type=FILE, metavar="PATH", help=help_text)(command)
        return command

    return add


def answer(
    given: Mapping[str, Any],
    doing: str,
    ask: Callable[[], Any],
    contents: Callable[[Any], Contents],
    text: Callable[[Any], str] = lambda found: drawn(found.document()),
) -> None:
    """Ask, print, write what was asked for, and leave with the exit status."""
    with interruptible():
        with failures_in_one_line():
            outputs = {name: path for name, path in given.items() if path and name in OUTPUTS}
            check_outputs(outputs, found_files(given["files"]))
            with busy(doing, quiet=given["quiet"]):
                found = ask()
                made = contents(found)
        failed = [] if given["quiet"] else echoed(text(found))
        failed += write_all({outputs[name]: made[name] for name in OUTPUTS if name in outputs})
        complain(failed)
    click.get_current_context().exit(failures.UNWRITTEN if failed else failures.PASSED)


OUTPUTS = ("csv", "json", "markdown", "png", "html")  # the page, which takes longest, comes last


def picture(found: Any) -> bytes:
    """The figure of a result as a PNG."""
    page = io.BytesIO()
    found.plot().savefig(page, dpi=150)
    return page.getvalue()


def columns_asked(
    given: Mapping[str, Any], roles: Collection[str], *more: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a request says by role, with the columns of its files, and further columns by name."""
    said = {name: given[flag_of(name)] for name in roles}
    said |= {name: read(said[name]) for name, read in READ.items() if name in said}
    named = [name for name in roles if ROLES[name].is_column]
    wanted = [column for name in named for column in listed(said[name])]
    columns = columns_of_files(given["files"], [*wanted, *more])
    for name in named:
        if ROLES[name].is_several:
            said[name] = {column: columns[column] for column in said[name]} or None
        elif said[name] is not None:
            said[name] = columns[said[name]]
    times = None
    if said.get("rows") is not None:
        times = line_counts(said["rows"], repr(given["rows"]))
    bins, missing = said.pop("bins"), said.pop("missing")
    if "sensitive_features" in said:
        said["sensitive_features"] = people_of(said["sensitive_features"], bins, missing, times)
    return said, {name: columns[name] for name in more}


def people_of(
    columns: Mapping[str, Any], bins: Bins, missing: Missing, times: NDArray[np.int64] | None
) -> Groups:
    """The group of every line; quantiles and notes are those of the rows that lines stand for."""
    if times is None or set(bins) - set(columns):  # unknown columns are refused there
        return groups(columns, bins=bins or None, missing=missing)
    coded = dict(columns)
    coded |= {name: _cut(name, columns[name], wanted, times) for name, wanted in bins.items()}
    cells = Cells({}, coded, times.astype(np.float64), {})
    return GroupColumns(tuple(columns), missing).groups_of(cells)


def _cut(name: str, column: Any, wanted: int | Sequence[float], times: NDArray[np.int64]) -> Column:
    """Amounts between edges, or between the quantiles of all rows."""
    if not isinstance(wanted, int):
        return cut(column, wanted, name)
    amounts = numbers(column, name)
    known = np.isfinite(amounts) & (times > 0)
    return binned(amounts, quantile_edges_of(amounts[known], times[known], wanted))


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
