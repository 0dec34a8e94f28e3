"""A result on the terminal, in color if it is one, and the outcomes of gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from evenhand import report
from evenhand._audit.gate import Judgement
from evenhand._words import plain
from evenhand.cli.terminal import text_of

STYLES = {
    "title": "bold",
    "strong": "bold",
    "quiet": "dim",
    "caution": "yellow",
    "beyond": "red",
    "differs": "red",
    "within": "green",
    "alike": "green",
    "cannot tell": "yellow",
    "undefined": "dim",
    "violation": "red",
    "error": "red",
    "inconclusive": "yellow",
    "pass": "green",
}


def show(
    document: dict[str, Any],
    judgements: Sequence[Judgement],
    console: Console,
    *,
    full: bool = False,
    quiet: bool = False,
) -> None:
    """Print the summary; in full, all the tables too; quietly, no more than the gates."""
    if not quiet:
        for line in report.lines(document, width=console.width, full=full):
            _print(console, line.text, STYLES.get(line.style, ""))
    if judgements:
        _print(console, "Gates", STYLES["title"])
    for judgement in judgements:
        text = Text(f"  {plain(judgement.sentence)}", style=STYLES[judgement.outcome])
        console.print(text, overflow="fold")


def summary_text(document: dict[str, Any]) -> str:
    """The summary as it would be printed."""
    return text_of(lambda screen: show(document, (), screen))


def _print(console: Console, line: str, style: str) -> None:
    console.print(Text(line, style=style), no_wrap=True, overflow="ignore", crop=False)
