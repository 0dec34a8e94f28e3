"""The screens of the page, from the report's templates and a few for the questions."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from evenhand import __version__
from evenhand._audit import Audit
from evenhand._data.sql import DIALECTS
from evenhand._errors import InputError
from evenhand.app.desk import Work
from evenhand.app.questions import Interview
from evenhand.app.saved import query_of
from evenhand.report import report_of
from evenhand.report.rendering import data, environment, filled
from evenhand.standards import STANDARDS

STATIC = {"app.css": "text/css", "app.js": "text/javascript", "page.js": "text/javascript"}
STATIC |= {"explore.js": "text/javascript"}
WIDEST = 60  # columns of a table whose heads a phone shows next to the values


def home(files: Sequence[tuple[str, str]], suffixes: Sequence[str]) -> str:
    """The first page."""
    return _filled("home.html", files=files, suffixes=suffixes)


def file(
    key: str,
    interview: Interview,
    query: str,
    audit: Audit | None = None,
    counts: Mapping[str, Any] | None = None,
    failure: str = "",
) -> str:
    """The questions about a file, its counts, and the audit if there is one."""
    choices = interview.choices
    return _filled(
        "file.html",
        key=key,
        opened=interview.opened,
        interview=interview,
        query=query,
        report=None if audit is None else report_of(audit.document()),
        counts=None if counts is None else data(counts),
        command=None if choices is None else choices.command("--html", "report.html"),
        python=None if choices is None else choices.python,
        standards=STANDARDS.values(),
        deciding=counts is not None and counts["score"] is not None,
        dialects=DIALECTS,
        failure=failure,
    )


def tests(audit: Audit) -> str:
    """The audit by itself, with its contents."""
    return _filled("tests.html", report=report_of(audit.document()))


def problem(text: str) -> str:
    """A page about an error."""
    return _filled("problem.html", text=text)


@cache
def static(name: str) -> tuple[str, str] | None:
    """A style sheet or a script, and its kind; None if there is no such file."""
    if name not in STATIC:
        return None
    return _filled(name, widest=WIDEST), STATIC[name]


def reopened(work: Work, body: bytes) -> dict[str, list[str]]:
    """The answers in a file of saved choices."""
    try:
        content = tomllib.loads(body.decode("utf-8"))
        options, about = content["audit"], content["file"]
        sha256 = str(about["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError) as failure:
        raise InputError("This file has no saved choices.") from failure
    if not isinstance(options, Mapping):
        raise InputError("This file has no saved choices.")
    with work.turn("Looking at the columns"):
        return query_of(work.table, options, sha256)


def _filled(template: str, **context: Any) -> str:
    return filled(environment("evenhand.app"), template, version=__version__, **context)
