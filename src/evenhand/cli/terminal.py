"""Text on a terminal: colored and as wide as it, or plain elsewhere."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from evenhand._words import number, plain, read_number, unheeded

PLAIN_WIDTH = 100
MOST_WIDTH = 10_000
NARROW = 96


def console(*, stderr: bool = False) -> Console:
    """A console that colors on a terminal only, and is 100 columns wide elsewhere."""
    wished = os.environ.get("COLUMNS", "")
    if not (wished.isascii() and wished.isdigit()):
        os.environ.pop("COLUMNS", None)  # rich would try to read it
    screen = Console(stderr=stderr, highlight=False, emoji=False)
    if screen.is_terminal:
        return screen
    width = int(os.environ.get("COLUMNS", PLAIN_WIDTH))
    width = min(max(width, 40), MOST_WIDTH)
    return Console(stderr=stderr, highlight=False, emoji=False, width=width)


def text_of(draw: Callable[[Console], None]) -> str:
    """The output for stdout as one text, so that writing it can fail in one place only."""
    screen, page = console(), io.StringIO()
    draw(
        Console(
            file=page,
            force_terminal=screen.is_terminal,
            width=screen.width,
            highlight=False,
            emoji=False,
        )
    )
    return page.getvalue()


def tell(line: str = "", *, bold: bool = False, err: bool = False) -> None:
    """Print a line of a message: the one way to a terminal, without control characters."""
    click.secho(plain(line) if line else "", bold=bold or None, err=err)  # noqa: TID251


def complain(failed: Iterable[str]) -> None:
    """Print each failure."""
    for line in failed:
        tell(f"Error: {line}", err=True)


def echoed(text: str) -> list[str]:
    """Print a text; if the reader has left or the disk is full, say so and go on."""
    try:
        click.echo(unheeded(text), nl=False)  # noqa: TID251
    except OSError as failure:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return [f"The table was not printed: {failure.strerror}."]
    return []


@contextmanager
def busy(message: str, *, quiet: bool = False) -> Iterator[None]:
    """A spinner on stderr while something takes long; nothing where that is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with console(stderr=True).status(message):
        yield


@contextmanager
def progress(message: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time left on stderr, updated by a callback; on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(message, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def columns(*heads: str, right: tuple[int, ...] = (), unwrapped: tuple[int, ...] = ()) -> Table:
    """A table without lines; columns `right` are right-aligned, columns `unwrapped` never wrap."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for at, head in enumerate(heads):
        side: Literal["left", "right"] = "right" if at in right else "left"
        table.add_column(head, justify=side, overflow="fold", no_wrap=at in (*right, *unwrapped))
    return table


def cell(label: str | None) -> Text:
    """A short name of a cell.

    >>> str(cell("0.047684389817325666")), str(cell("1")), str(cell("1 × 0"))
    ('0.048', '1', '1 × 0')
    """
    text = plain(label or "–")
    try:
        return Text(text if len(text) <= 5 else number(read_number(text)))
    except ValueError:
        return Text(text)
