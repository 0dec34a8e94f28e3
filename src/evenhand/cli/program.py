"""The command `evenhand`: one group, whose commands are modules next to this one."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from evenhand._words import visible

UNUSABLE = 2  # as in failures.py, which needs click; 1 would be a violated gate
LONGEST = 200  # letters of a sentence
HELP = """Find out whether a model treats groups differently, by how much, and why.

For what a command does and its exit statuses, run it with --help.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; without arguments, the ones the program was called with."""
    try:
        import click
        import rich  # noqa: F401
    except ImportError as missing:
        print(
            f'The command line needs {missing.name}: pip install "evenhand[cli]"', file=sys.stderr
        )
        sys.exit(UNUSABLE)
    from evenhand.cli.failures import INTERRUPTED
    from evenhand.cli.terminal import tell

    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        status = _group().main(arguments, prog_name="evenhand", standalone_mode=False)
    except click.ClickException as failure:
        _printable(failure).show()
        status = failure.exit_code
    except (KeyboardInterrupt, click.Abort):  # click's own status would be 1, a violated gate's
        tell("Interrupted.", err=True)
        status = INTERRUPTED
    except Exception as failure:  # nor must a defect look like a violated gate
        status = _status_of(failure)
    sys.exit(status or 0)


def _printable(failure: Any) -> Any:
    """A failure without control characters in its message, whatever names it holds."""
    import click

    from evenhand._words import plain

    message = plain(" ".join(_message(failure).split()))
    if isinstance(failure, click.UsageError):
        return click.UsageError(message, failure.ctx)
    return click.ClickException(message)


def _message(failure: Any) -> str:
    """The message of a failure; for an unknown option, with a suggestion."""
    import click

    if not isinstance(failure, click.NoSuchOption) or failure.ctx is None:
        return str(failure.format_message())
    from evenhand._words import did_you_mean
    from evenhand.cli.columns import synonyms_of

    options = [option for parameter in failure.ctx.command.params for option in parameter.opts]
    hint = did_you_mean(failure.option_name, options, synonyms_of(options))
    return f"No such option: {failure.option_name}.{hint}"


def _open_closed_streams() -> None:
    """Replace streams that the caller closed.

    Else the next file that is opened would get their number, and what a library prints.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _status_of(failure: BaseException) -> int:
    """The exit status: interrupted, if that caused it, since a cut import raises its own error."""
    from evenhand.cli.failures import BROKEN, INTERRUPTED

    chain: list[BaseException | None] = [failure]
    for error in chain:  # which grows; a chain of failures can be a circle
        if isinstance(error, KeyboardInterrupt):
            print("Interrupted.", file=sys.stderr)
            return INTERRUPTED
        if error is not None:
            chain += [cause for cause in (error.__cause__, error.__context__) if cause not in chain]
    print(visible("".join(traceback.format_exception(failure))), end="", file=sys.stderr)
    return BROKEN


def _group() -> Any:
    import click

    from evenhand.cli.app import app
    from evenhand.cli.audit import audit
    from evenhand.cli.benchmark import bench
    from evenhand.cli.compare import compare
    from evenhand.cli.datasets import datasets
    from evenhand.cli.demo import demo
    from evenhand.cli.explain import explain_
    from evenhand.cli.frontier import frontier_
    from evenhand.cli.registries import criteria, measures, standards
    from evenhand.cli.sql import sql
    from evenhand.cli.watch import watch

    about = (criteria, datasets, demo, measures, standards)
    every = (app, audit, bench, compare, explain_, frontier_, sql, watch, *about)
    commands = {command.name or "": command for command in every}
    group = click.Group("evenhand", help=HELP, commands=commands)
    _list_in_full(group)
    return click.version_option(package_name="evenhand", message="%(prog)s %(version)s")(group)


def _list_in_full(group: Any) -> None:
    """List every command of a group by its first sentence, which click would cut at 45 letters."""
    for command in group.commands.values():
        command.short_help = command.get_short_help_str(limit=LONGEST)
        if hasattr(command, "commands"):
            _list_in_full(command)
