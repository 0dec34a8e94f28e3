"""The commands `evenhand datasets list`, `describe` and `fetch`."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.table import Table
from rich.text import Text

from evenhand.cli.failures import RESUMABLE, failures_in_one_line, interruptible
from evenhand.cli.terminal import console, tell
from evenhand.datasets.catalogue import TASKS
from evenhand.datasets.fetch import data_dir, fetch, is_here
from evenhand.datasets.loader import find, load
from evenhand.datasets.task import Origin, Task

EXAMPLES = """\b
Examples:
  evenhand datasets list
  evenhand datasets describe compas
  evenhand datasets fetch compas
"""


@click.group(epilog=EXAMPLES)
def datasets() -> None:
    """List, describe and download the data sets."""


@datasets.command("list", epilog="Example: evenhand datasets list")
def list_() -> None:
    """List every task, and whether its rows are on this computer."""
    with failures_in_one_line():
        table = Table("task", "kind", "classes", "groups", "rows", box=None, pad_edge=False)
        for task in TASKS.values():
            classes = str(len(task.classes)) if task.classes else "–"
            name = Text(task.name, style="bold")
            table.add_row(name, task.kind, classes, task.group_choices, _state(task))
        console().print(table)


@datasets.command(epilog="Example: evenhand datasets describe acs_income")
@click.argument("name")
def describe(name: str) -> None:
    """Say what the task NAME is, where its rows come from, and under which license."""
    with failures_in_one_line():
        table = Table(show_header=False, box=None, pad_edge=False)
        for label, text in _facts(find(name)):
            table.add_row(Text(label, style="bold"), Text(text))
        console().print(table)


@datasets.command("fetch", epilog="Example: evenhand datasets fetch compas_two_years")
@click.argument("name")
def fetch_(name: str) -> None:
    """Download the official files of the task NAME, verify them, and keep them.

    They go to the folder in EVENHAND_DATA, or else to the platform's cache. An interrupted
    download is resumed by running the command again.
    """
    with interruptible(RESUMABLE), failures_in_one_line():
        task = find(name)
        packaged = any(file.packaged for origin in task.origins for file in origin.files)
        if task.official is None or packaged:
            tell(f"{name} needs no download: its rows are {_state(task)}.")
            return
        for file in task.official.files:
            tell(str(fetch(file)))
        rows = load(name, origin=task.official.name).n_rows
        tell(f"Verified: {rows:,} rows.")


def _facts(task: Task) -> Iterator[tuple[str, str]]:
    yield "task", task.name
    yield "kind", task.kind
    yield "target", " or ".join(task.targets)
    yield "classes", ", ".join(task.classes) or "–"
    yield "sensitive", ", ".join(task.sensitive)
    yield "groups", task.group_choices if task.group_counts else ", ".join(task.groups)
    yield "rows", _state(task)
    yield "description", task.description
    yield "source", task.source
    yield "license", task.license
    yield "citation", task.citation
    for origin in task.origins:
        yield f"origin {origin.name}", _files(origin)
    if task.official is not None:
        yield "folder", str(data_dir())


def _files(origin: Origin) -> str:
    """Describe an origin: its files, how they are verified, and whether they are a stand-in."""
    if not origin.files:
        return "simulated"
    first = origin.files[0]
    remainder = f" and {len(origin.files) - 1} more" if len(origin.files) > 1 else ""
    check = f"sha256 {first.sha256}" if first.sha256 else "no checksum known: counts are checked"
    address = f" from {first.url} ({check})" if first.url else ""
    stand_in = f"; stand-in: {origin.stand_in}" if origin.is_stand_in else ""
    return f"{first.name}{remainder}{address}{stand_in}"


def _state(task: Task) -> str:
    origin = next((origin for origin in task.origins if is_here(origin)), None)
    if origin is None:
        return "to download"
    if origin.simulate is not None:
        return "simulated"
    if origin.files[0].packaged:
        return "packaged with evenhand"
    return "here, a stand-in" if origin.is_stand_in else "here"
