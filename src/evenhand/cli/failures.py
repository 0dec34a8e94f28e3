"""Failures become one line and an exit status; these are all the statuses."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

import click

from evenhand._data.roles import ROLES
from evenhand.cli.terminal import tell

T = TypeVar("T")

SECONDS_BETWEEN_STOPS = 0.02
SECONDS_BETWEEN_LOOKS = 0.1
PASSED, VIOLATED, UNUSABLE, UNDECIDED, UNWRITTEN, INTERRUPTED = 0, 1, 2, 3, 4, 130
FAILED = 3  # of a benchmark: some runs have no result
BROKEN = 70  # a defect of ours, which must not look like a violated gate
STATUSES = {
    PASSED: "every gate passed, or there was none",
    VIOLATED: "a gate is violated: the whole interval lies beyond its bound",
    UNUSABLE: "the command or a file cannot be used (option, column, name, damaged file), "
    "or a gate has nothing to judge",
    UNDECIDED: "a gate is inconclusive: its bound is in the interval, or a group has no value",
    UNWRITTEN: "the gates passed, but an output could not be written",
    INTERRUPTED: "interrupted",
}

HALF_WRITTEN = "Interrupted; no output was left half written."
RESUMABLE = "Interrupted; what was done is kept. Run the same command to go on."
OPTIONS_FOR = {  # what reads otherwise at the command line; roles of columns are translated by name
    '(criteria=, measures=, depth=1, fewer columns, min_count=30, rare="merge")': "(--criterion, "
    "--measure, --depth 1, fewer --group, --min-count 30 --rare merge)",
    "Lower min_count, or merge them": "Lower --min-count, or --rare merge",
    "sample_weight=, and sums of weights into sums=": "--weight",
    ", or pass digits= to tally": "",
    'min_count=30, rare="merge"': "--min-count 30 --rare merge",
    "pass them as y_score=": "name them with --score",
    "pass their scores as y_score=": "name their scores with --score",
    "in query=": "with --query",
    "strata": "--stratum",
    "by=": "--by",
    "between=": "--between ",
}
ROLE_OPTIONS = {name: role.option for name, role in ROLES.items() if role.option}
VALUED = re.compile(rf"\b({'|'.join(ROLE_OPTIONS)})=(\"(\w+)\"|(?=[-\w\['(]))?")
NAMED = re.compile(rf"(?<!['\"\w])({'|'.join(name for name in ROLE_OPTIONS if '_' in name)})\b")


class Unusable(click.ClickException):
    """The caller's command or file cannot be used."""

    exit_code = UNUSABLE


class Lost(click.ClickException):
    """Some runs of a benchmark have no result."""

    exit_code = FAILED


@contextmanager
def interruptible(message: str = HALF_WRITTEN) -> Iterator[None]:
    """Turn Ctrl-C into one line and its own status."""
    try:
        yield
    except KeyboardInterrupt:
        tell(message, err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


@contextmanager
def failures_in_one_line(worded: Callable[[str], str] | None = None) -> Iterator[None]:
    """Turn faults of the caller's command or file into one message and status 2.

    It is `worded` in the options of the command by default.
    """
    say = worded or _one_line
    try:
        yield
    except BrokenExecutor as failure:
        raise Lost(
            "A worker process died, perhaps out of memory; what was done is kept. "
            "Run the same command to go on, with fewer --jobs."
        ) from failure
    except (ValueError, TypeError, OSError, ImportError) as failure:
        raise Unusable(say(str(failure))) from failure
    except Exception as failure:
        if _is_of_engine(failure, "InterruptException"):
            raise KeyboardInterrupt from failure
        if not _is_of_engine(failure, "Error"):
            raise
        raise Unusable(f"The file cannot be read: {say(str(failure))}") from failure


def done_unless_stopped(
    work: Callable[[], T], stop: Callable[[], None], look: Callable[[], None] | None = None
) -> T:
    """The result of work in a thread; Ctrl-C stops it at once.

    While it goes on, one may `look` how far it is. Between two queries there is nothing to stop, so
    the engine is interrupted repeatedly until the work ends.
    """
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(work)
        try:
            while look is not None and wait([job], timeout=SECONDS_BETWEEN_LOOKS).not_done:
                look()
            return job.result()
        except KeyboardInterrupt:
            while not job.done():
                stop()
                wait([job], timeout=SECONDS_BETWEEN_STOPS)
            raise


def _is_of_engine(failure: Exception, kind: str) -> bool:
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(failure, getattr(duckdb, kind))


def _one_line(message: str) -> str:
    """The gist of a message: without an engine's advice on its own options, and in our options."""
    gist = " ".join(message.split("\n\n")[0].split("\nPossible")[0].split())
    gist = re.sub(r"\bbins=\{'([^']+)': ([^}]+)\}", _bins_option, gist)
    gist = re.sub(
        r"stated=\{'reference': \{'([^']+)': '([^']+)'\}\}", r"--state 'reference=\1=\2'", gist
    )
    gist = re.sub(r"^(Invalid Input|IO|Conversion) Error: ", "", gist)
    for python, option in OPTIONS_FOR.items():
        gist = gist.replace(python, option)
    gist = VALUED.sub(_role_option, gist)
    gist = NAMED.sub(lambda match: ROLE_OPTIONS[match[1]], gist)
    return re.sub(r"(--[a-z-]+) (?=[ :,;]|[.](?!\w))", r"\1", gist)


def _role_option(match: re.Match[str]) -> str:
    option = ROLE_OPTIONS[match[1]]
    return option if match[2] is None else f"{option} {match[3] or ''}"


def _bins_option(match: re.Match[str]) -> str:
    return f"--bins {match[1]}={match[2].strip('[]').replace(', ', ',')}"
