"""The command `evenhand audit`: a file of predictions in, a verdict and reports out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from evenhand._audit import Audit, Evidence, PartialAudit, audit_evidence, audit_unknown
from evenhand._audit.api import MEASURES
from evenhand._audit.examination import Progress
from evenhand._audit.gate import Judgement, judge
from evenhand._audit.questions import answerable
from evenhand._data.data import Data
from evenhand._data.probable import Probable
from evenhand._files.files import check_outputs, collected, connect, found_files, open_files
from evenhand._files.passes import LABELS, SCORES, Passes
from evenhand._words import plain
from evenhand._writing import write_all
from evenhand.cli import failures
from evenhand.cli.failures import (
    STATUSES,
    done_unless_stopped,
    failures_in_one_line,
    interruptible,
)
from evenhand.cli.junit import junit
from evenhand.cli.options import OPTIONS_FILE, PARAMETERS, Request, request_of
from evenhand.cli.summary import show
from evenhand.cli.terminal import complain, echoed, progress, text_of
from evenhand.report import page
from evenhand.standards.tables import as_csv

HELP = """Audit the predictions in FILE: CSV, Parquet, Arrow, JSON lines or Excel.

Several files or patterns of one kind are read as one table. Rows are counted where they are, so a
file may be larger than memory. Options can also be set in [tool.evenhand.audit] of pyproject.toml;
options on the command line take precedence.

Where a line of FILE represents many rows, --rows names the column of their number; evenhand
sql prints the query that makes such a table.

A gate, --fail-if 'CRITERION.MEASURE > BOUND' (or >=; < or <= of a ratio), is judged by the interval
of the true value. Without a measure it is about the criterion's own: mpd, or ratio.

With --standard, --html, --json and --csv write the page that a rule asks for; evenhand standards
lists the rules, and what you can state on their pages with --state.
"""
EXAMPLES = "\n".join(
    [
        "\b",
        "Examples:",
        "  evenhand audit scored.parquet --target hired --prediction decision --group sex",
        "  evenhand audit scored.csv --target y --prediction p --score s --group sex \\",
        "      --group race --html report.html --fail-if 'equalized_odds.mpd > 0.1'",
        "  evenhand audit 'parts/*.parquet' --config fairness.toml --junit gates.xml",
        "  evenhand audit counts.csv --rows n --target hired --prediction decision --group sex",
        "  evenhand audit scored.csv --target y --prediction p --probable Black=p_black \\",
        "      --probable white=p_white --fail-if 'equal_opportunity > 0.1'",
        "  evenhand audit counts.csv --rows n --prediction decision --group sex --group race \\",
        "      --standard nyc-ll144 --state data_kind=historical --html page.html --csv page.csv",
        "",
        "\b",
        "Exit status:",
        *(f"  {status:<3}  {meaning}" for status, meaning in STATUSES.items()),
    ]
)


@click.command("audit", params=PARAMETERS, help=HELP, epilog=EXAMPLES)
def audit(**options: Any) -> None:
    """Count, audit, judge, print and write; its help is above."""
    started = time.monotonic()
    with interruptible():
        with failures_in_one_line():
            request = request_of(options)
            check_outputs(request.outputs, read_files(request))
            quiet = request.printing["quiet"]
            report, judgements = answered(request, quiet=quiet)
            filled = None
            if request.standard is not None and isinstance(report, Audit):
                name = request.standard.name
                filled = report.document(standard=name, stated=request.stated)
        failed = published(report, judgements, request, time.monotonic() - started, filled)
    click.get_current_context().exit(status_of(judgements, failed))


def answered(
    request: Request, *, quiet: bool = False
) -> tuple[Audit | PartialAudit, Sequence[Judgement]]:
    """The audit, and the outcomes of the gates."""
    if request.is_unknown:
        with progress("Auditing …", quiet=quiet) as update:
            unknown = audited_unknown(request, update)
        return unknown, unknown.judgements
    with progress("Counting …", quiet=quiet) as update:
        evidence = evidence_of(request, update)
    with progress("Auditing …", quiet=quiet) as update:
        report = audited(evidence, request, update)
    return report, judge(request.gates, report.measured)


def read_files(request: Request) -> list[Path]:
    """The input files: those of the rows, and that of the options."""
    options: Path | None = click.get_current_context().meta.get(OPTIONS_FILE)
    return [*found_files(request.files), *([options] if options else [])]


def evidence_of(request: Request, update: Progress | None = None) -> Evidence:
    """Count the rows of the files, with progress."""
    return read(request, lambda data: data.counted, update)


Answer = TypeVar("Answer")


def read(
    request: Request, answer: Callable[[Data], Answer], update: Progress | None = None
) -> Answer:
    """An answer from the rows of the files, with progress while they are read."""
    database = connect()
    passes = Passes(SCORES if request.columns.get("y_score") else LABELS)

    def done() -> Answer:
        table = open_files(database, request.files, request.column_names)
        if isinstance(request.columns["sensitive_features"], Probable):  # looked at row by row
            table = collected(table, request.column_names)
        return answer(Data(data=table, **request.columns, **request.reading))

    def look() -> None:
        if update is not None and hasattr(database, "query_progress"):  # not in DuckDB 1.1
            update(round(1000 * passes.done(database.query_progress())), 1000)

    return done_unless_stopped(done, database.interrupt, look)


def audited_unknown(request: Request, update: Progress | None = None) -> PartialAudit:
    """Audit files whose groups are uncertain, with whatever else the gates need."""
    measures = [*(request.measures or ("mpd",)), *(gate.measure for gate in request.gates)]
    gates = [str(gate) for gate in request.gates]
    options = {
        "criteria": request.criteria or None,
        "measures": list(dict.fromkeys(measures)),
        "fail_if": gates,
        **request.auditing,
    }
    return read(request, lambda data: audit_unknown(data, **options), update)


def audited(evidence: Evidence, request: Request, update: Progress | None = None) -> Audit:
    """Audit the counts, with whatever else the gates need."""
    measures = [*(request.measures or MEASURES), *(gate.measure for gate in request.gates)]
    measures = list(dict.fromkeys(measures))
    usual, _ = answerable(evidence, request.criteria or None, measures)
    names = [question.name for question in usual]
    extra = [gate.criterion for gate in request.gates if gate.criterion not in names]
    return audit_evidence(
        evidence,
        criteria=[*names, *dict.fromkeys(extra)] if request.criteria or extra else None,
        measures=measures,
        fail_if=[str(gate) for gate in request.gates],
        progress=update,
        **request.auditing,
    )


def published(
    report: Audit | PartialAudit,
    judgements: Sequence[Judgement],
    request: Request,
    seconds: float,
    filled: dict[str, Any] | None = None,
) -> list[str]:
    """Print the audit, then write the requested files; return the failures.

    If a standard is requested, `filled` is its document.
    """
    failed = printed(report, judgements, **request.printing)
    if filled is not None and not request.printing["quiet"]:
        failed += echoed("\n".join(["", *map(plain, _standard_lines(filled)), ""]))
    make = {
        "html": lambda: report.to_html() if filled is None else page(filled),
        "json": lambda: _json(filled or report.document(), judgements),
        "csv": lambda: as_csv(filled["tables"] if filled else []),
        "markdown": report.to_markdown,
        "junit": lambda: junit(judgements, report.title or "audit", seconds),
    }
    for name, path in request.outputs.items():
        failed += write_all({path: make[name]})
    complain(failed)
    return failed


def _standard_lines(filled: dict[str, Any]) -> list[str]:
    """The first sentences of a standard's page, and the review date of its profile."""
    return [f"{filled['standard']}:", *filled["shows"], filled["review"]["sentence"]]


def _json(document: dict[str, Any], judgements: Sequence[Judgement]) -> str:
    """The document of the audit or of a standard's page, and the outcomes of the gates."""
    gates = [judgement.document() for judgement in judgements]
    return json.dumps({**document, "gates": gates}, ensure_ascii=False, allow_nan=False)


def printed(
    report: Audit | PartialAudit,
    judgements: Sequence[Judgement],
    *,
    full: bool = False,
    quiet: bool = False,
) -> list[str]:
    """Print the audit; return the failures."""
    document = {**report.document(), "gates": []}  # printed by themselves, below
    return echoed(
        text_of(lambda screen: show(document, judgements, screen, full=full, quiet=quiet))
    )


def status_of(judgements: Sequence[Judgement], failed: Sequence[str]) -> int:
    """The exit status: from the gates first, then from failed outputs."""
    outcomes = {judgement.outcome for judgement in judgements}
    if "violation" in outcomes:
        return failures.VIOLATED
    if "error" in outcomes:
        return failures.UNUSABLE
    if "inconclusive" in outcomes:
        return failures.UNDECIDED
    return failures.UNWRITTEN if failed else failures.PASSED
