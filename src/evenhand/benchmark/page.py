"""A benchmark's report: one HTML file that opens anywhere, and its figures as files."""

from __future__ import annotations

import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._errors import require
from evenhand._words import plural
from evenhand._writing import write_whole
from evenhand.benchmark.design.fingerprints import fingerprint
from evenhand.benchmark.figures import drawn
from evenhand.benchmark.figures.drawing import FORMATS, Drawing
from evenhand.benchmark.progress import tracked
from evenhand.benchmark.scoring.floors import with_floors
from evenhand.benchmark.sections import (
    Finding,
    Section,
    count_verdicts,
    main_questions,
    usual_sections,
)
from evenhand.benchmark.store import Store
from evenhand.benchmark.tables.contents import failure_table

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

PACKAGES = ("evenhand", "numpy", "scipy", "scikit-learn", "matplotlib")
NOTHING = "There are no results yet."


def write_report(
    results: Results,
    folder: str | Path,
    *,
    title: str = "Benchmark",
    subject: str = "",
    lede: str | None = None,
    sections: Sequence[Section] | None = None,
    store: Store | str | Path | None = None,
    design: str | None = None,
    formats: Sequence[str] = FORMATS,
) -> Path:
    """Write report.html, figures and results into a folder, and return the path of the report.

    Parameters
    ----------
    results : Results
        What the report is about.
    folder : str or Path
        Made if it is not there: report.html, a folder `figures` with each figure as .svg, .pdf,
        .png and .csv, and a folder `results` that `read_results` reads.
    title, subject : str
        The page's heading, and a line below it.
    lede : str, optional
        The gist in a sentence; by default what was run.
    sections : sequence of Section, optional
        The page's parts; by default `usual_sections`.
    store : Store, str or Path, optional
        Where the predictions are, so that the page names every run that failed, and figures
        shade noise floors.
    design : str, optional
        The text of the design, which the page shows.
    formats : sequence of {"svg", "pdf", "png"}, default all
        Which files of each figure are written; the page has its own.

    Returns
    -------
    Path
        The file report.html.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> with TemporaryDirectory() as folder:
    ...     write_report(nothing, folder, title="My methods").name
    'report.html'

    """
    require("matplotlib", "jinja2", "duckdb")
    from evenhand.benchmark.figures import save

    folder = Path(folder)
    if isinstance(store, str | Path):
        store = Store(Path(store))
    failures = [] if store is None else list(store.failures().values())
    if sections is None:
        if store is not None:
            results = with_floors(results, store, main_questions(results))
        sections = usual_sections(results)
    drawings = drawings_of(results, sections)
    for name, drawing in drawings.items():
        save(drawing, folder / "figures", name, formats)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    html = page_html(
        results,
        sections,
        drawings,
        title=title,
        subject=subject,
        lede=lede,
        failures=failures,
        design=design,
    )
    write_whole(path, html)
    results.write(folder / "results")
    return path


def drawings_of(results: Results, sections: Iterable[Section]) -> dict[str, Drawing]:
    """Every figure of these sections, drawn once."""
    figures = {name: make for part in sections for name, make in (part.figures or {}).items()}
    return dict(tracked(drawn(results, figures), len(figures), "figures drawn"))


def page_html(
    results: Results,
    sections: Sequence[Section],
    drawings: Mapping[str, Drawing],
    *,
    title: str,
    subject: str = "",
    lede: str | None = None,
    failures: Sequence[Mapping[str, Any]] = (),
    design: str | None = None,
) -> str:
    """One HTML file with all of it, and nothing from elsewhere."""
    require("matplotlib", "jinja2")
    from evenhand.benchmark.figures.theme import PALETTE

    numbers = {name: at for at, name in enumerate(drawings, start=1)}
    figures = {name: _picture(name, numbers[name], drawing) for name, drawing in drawings.items()}
    text = (
        environment()
        .get_template("benchmark.html")
        .render(
            title=title,
            subject=subject,
            lede=_extent(results) if lede is None else lede,
            tiles=tiles(results),
            sections=[_prepared(section, figures) for section in sections],
            stand_ins=stand_ins(results),
            failures=failure_counts(failures),
            failure_table=failure_table(failures),
            design=design,
            versions=made_with(),
            fitted=fitted_with(results),
            palette=PALETTE,
        )
    )
    return str(text.encode("utf-8", "replace").decode("utf-8"))


def _picture(name: str, number: int, drawing: Drawing) -> dict[str, Any]:
    from markupsafe import Markup

    from evenhand.benchmark.figures.saving import inline

    svg = Markup(inline(drawing, f"f{number}"))
    return {
        "name": name,
        "number": number,
        "drawing": drawing,
        "svg": svg,
        "methods": methods_in(drawing),
    }


def methods_in(drawing: Drawing) -> list[str]:
    """Which methods' results a figure shows; ["*"] for all of them, of one that sums them up."""
    if "method" in drawing.data:
        return sorted(map(str, drawing.data["method"].unique()))
    return ["*"] if "problem" in drawing.data else []


def _prepared(section: Section, figures: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": section.name,
        "title": section.title,
        "text": section.text,
        "questions": _by_question(section.findings),
        "opened": section.opened,
        "figures": [figures[name] for name in section.figures or ()],
        "tables": section.tables,
    }


Claims = list[tuple[str, list[Finding]]]


def _by_question(findings: Iterable[Finding]) -> list[tuple[str, str, Claims]]:
    """Findings by claim, and claims by question."""
    by_question: dict[str, dict[str, list[Finding]]] = {}
    for finding in findings:
        claims = by_question.setdefault(finding.question, {})
        claims.setdefault(finding.claim, []).append(finding)
    return [
        (
            question,
            count_verdicts(row for rows in claims.values() for row in rows),
            [*claims.items()],
        )
        for question, claims in by_question.items()
    ]


def _extent(results: Results) -> str:
    counts = _counts(results)
    if not counts["runs"]:
        return NOTHING
    methods = plural(counts["methods"], "method")
    return (
        f"{methods[0].upper()}{methods[1:]} on {plural(counts['problems'], 'problem')}, each on "
        f"the same {plural(counts['splits'], 'split')}."
    )


def _counts(results: Results) -> dict[str, int]:
    row = results.query(
        "select count(*) as runs, count(distinct problem) as problems, "
        "count(distinct method) as methods, count(distinct base) as bases, "
        "count(distinct seed) as splits from runs"
    ).iloc[0]
    return {str(name): int(number) for name, number in row.items()}


def tiles(results: Results) -> list[tuple[str, str]]:
    """The extent of the benchmark in numbers."""
    counts = {**_counts(results), "scores": len(results.scores)}
    names = {"runs": "run", "problems": "problem", "methods": "method"}
    names |= {"bases": "base model", "splits": "split", "scores": "score"}
    tiles = [plural(counts[key], name).partition(" ") for key, name in names.items()]
    return [(number, label) for number, _, label in tiles]


def stand_ins(results: Results) -> list[str]:
    """The caution about stand-in data, to be read before any figure."""
    rows = results.problems.to_pylist()
    return sorted({f"{row['problem']}: {row['provenance']}" for row in rows if row["is_stand_in"]})


def failure_counts(failures: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Errors of runs without a result, with their numbers."""
    sentences = (f"{run['method']} on {run['problem']}: {run['error']}" for run in failures)
    return Counter(sentences).most_common()


def made_with() -> list[tuple[str, str]]:
    """The date, versions and commit that scores and figures are made with."""
    facts = [("date", datetime.now(UTC).date().isoformat()), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            facts.append((name, version(name)))
        except PackageNotFoundError:
            facts.append((name, "not installed"))
    commit = _commit()
    return [*facts, ("commit", commit)] if commit else facts


def _commit() -> str | None:
    """The commit of the checkout of this file, with a + where files were changed since."""
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        ls = ["git", "-C", str(folder), "ls-files", "--error-unmatch", Path(__file__).name]
        subprocess.run(ls, check=True, capture_output=True, timeout=10)
        answer = subprocess.run(command, check=True, capture_output=True, timeout=10, text=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def fitted_with(results: Results) -> list[str]:
    """The versions and days of the stored runs, one text for each combination.

    The code is a fingerprint of that of all these methods and base models; runs of before such
    were kept have none.
    """
    rows = results.query(
        "select versions, count(*) as runs, min(date) as first, max(date) as last, "
        "string_agg(distinct code, ' ' order by code) as codes from runs where versions <> '' "
        "group by versions, date is null, code is null order by first nulls first, versions"
    )
    return [
        f"{plural(int(runs), 'run')} {_days(first, last)}with {versions}"
        + (f", code {fingerprint(codes)[:12]}" if isinstance(codes, str) else "")
        for versions, runs, first, last, codes in rows.itertuples(index=False, name=None)
    ]


def _days(first: Any, last: Any) -> str:
    if not isinstance(first, str):
        return ""
    return f"on {first}, " if first == last else f"from {first} to {last}, "


@cache
def environment() -> Any:
    """Templates of reports on benchmarks; the look is that of the audit’s."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader("evenhand.benchmark"), PackageLoader("evenhand.report")]
    return Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
