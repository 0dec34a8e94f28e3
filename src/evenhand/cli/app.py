"""The command `evenhand app`: an audit in the browser, on this machine alone."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from evenhand._errors import require
from evenhand.cli.failures import done_unless_stopped, failures_in_one_line
from evenhand.cli.numbers import WholeRange
from evenhand.cli.terminal import progress, tell

if TYPE_CHECKING:
    from evenhand.app.desk import Desk

HELP = """Open a page in the browser to audit FILE without programming.

CSV, Parquet, Arrow, JSON lines or Excel. The page is served on this machine alone, at an address
that no other can reach, and nothing leaves it. Stop it with Ctrl-C.
"""


@click.command("app", help=HELP, epilog="Example: evenhand app scored.csv")
@click.argument("file", required=False)
@click.option(
    "--port",
    type=WholeRange(0, 65535),
    default=0,
    help="Port to serve the page on; by default any free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the link without opening a browser.")
def app(file: str | None, port: int, no_browser: bool) -> None:
    """Serve the page; its help is above."""
    with failures_in_one_line():
        require("starlette", "uvicorn", purpose="The page", extra="app")
        from evenhand.app.server import serve

        def reading(read: Callable[[], str], desk: Desk) -> str:
            with progress("Reading …") as update:

                def look() -> None:
                    update(round(1000 * (desk.progress().get("share") or 0)), 1000)

                return done_unless_stopped(read, desk.stop, look)

        def announce(link: str) -> None:
            tell(f"The page is at {link}")
            tell("It works on this machine alone. Stop it with Ctrl-C.")
            if not no_browser:
                webbrowser.open(link)

        with suppress(KeyboardInterrupt):
            serve(file, port, reading, announce)
        tell("Stopped; the files that were dropped on the page are deleted.")
