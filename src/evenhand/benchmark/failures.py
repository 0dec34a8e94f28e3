"""What goes wrong with a benchmark becomes one line and an exit status."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager

import click

UNUSABLE, FAILED, INTERRUPTED = 2, 3, 130


class Unusable(click.ClickException):
    """The caller's command or design cannot be used."""

    exit_code = UNUSABLE


class Lost(click.ClickException):
    """Some runs have no result."""

    exit_code = FAILED


@contextmanager
def failures_in_one_line() -> Iterator[None]:
    """Turn what is wrong with the command or the design into one message and status 2."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("Interrupted; what was done is kept. Run the same command to go on.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BrokenExecutor as failure:
        raise Lost(
            "A worker process died, perhaps for want of memory; what was done is kept. "
            "Run the same command to go on, with fewer --jobs."
        ) from failure
    except (ValueError, TypeError, OSError, ImportError) as failure:
        raise Unusable(str(failure)) from failure
