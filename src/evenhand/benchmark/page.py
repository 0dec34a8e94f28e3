"""A benchmark for people: one HTML file that opens anywhere, and its figures as files."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand._words import plural
from evenhand._writing import write_whole
from evenhand.benchmark._extras import require
from evenhand.benchmark.figures import drawn
from evenhand.benchmark.figures.drawing import Drawing
from evenhand.benchmark.store import Store

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

PACKAGES = ("evenhand", "numpy", "scipy", "scikit-learn", "matplotlib")
NOTHING = "There are no results yet."

Verdict = Literal["agrees", "differs", "cannot tell"]
MARKS: dict[Verdict, str] = {"agrees": "✓", "differs": "✗", "cannot tell": "?"}
VERDICTS: dict[Verdict, str] = {
    "agrees": "agree",
    "differs": "differ",
    "cannot tell": "cannot be told",
}


@dataclass(frozen=True)
class Finding:
    """A claim, whether the results bear it out, and the number that says so.

    Parameters
    ----------
    question : str
        What the claim is an answer to; findings are shown under their questions.
    claim : str
        What was claimed.
    where : str
        On which data.
    verdict : {"agrees", "differs", "cannot tell"}
        What the results say of it.
    number, low, high : float
        The number that decides and its interval; NaN where there is none.
    sentence : str
        The same in words.

    Examples
    --------
    >>> finding = Finding("Who wins?", "A", "people", "agrees", 0.81, 0.7, 0.9, "A wins.")
    >>> finding.mark, finding.interval
    ('✓', '0.70 to 0.90')

    """

    question: str
    claim: str
    where: str
    verdict: Verdict
    number: float
    low: float
    high: float
    sentence: str

    @property
    def mark(self) -> str:
        """The verdict as one character."""
        return MARKS[self.verdict]

    @property
    def value(self) -> str:
        """The number in words."""
        return _number(self.number)

    @property
    def interval(self) -> str:
        """Its interval in words; empty where there is none."""
        return "" if self.low != self.low else f"{_number(self.low)} to {_number(self.high)}"


def count_verdicts(findings: Iterable[Finding]) -> str:
    """How many verdicts there are of each kind, in words.

    Parameters
    ----------
    findings : iterable of Finding
        What is counted.

    Returns
    -------
    str
        Such as "3 agree, 1 differ".

    Examples
    --------
    >>> finding = Finding("Who wins?", "A", "people", "agrees", 0.81, 0.7, 0.9, "A wins.")
    >>> count_verdicts([finding, finding])
    '2 agree'

    """
    seen = Counter(finding.verdict for finding in findings)
    return ", ".join(f"{seen[one]} {word}" for one, word in VERDICTS.items() if seen[one])


@dataclass(frozen=True)
class Table:
    """A table in words.

    Parameters
    ----------
    name : str
        Its address on the page.
    title : str
        What it shows.
    head : tuple of str
        The names of the columns.
    rows : tuple of tuples of str
        The cells.
    note : str, default ""
        A sentence below it.
    numeric : frozenset of int, default frozenset()
        Which columns hold numbers.

    Examples
    --------
    >>> Table("sizes", "Sizes", ("Data", "Rows"), (("people", "300"),)).head
    ('Data', 'Rows')

    """

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page: text, findings, figures and tables, in this order.

    Parameters
    ----------
    name, title : str
        Its address on the page, and its heading.
    text : str, default ""
        What is said first.
    findings : tuple of Finding, default ()
        Shown under their questions, and these under their claims.
    opened : tuple of str, default ()
        Questions whose findings are shown at once; those of others are folded.
    figures : mapping of str to callable, default {}
        Functions from results to a `Drawing`, by name.
    tables : tuple of Table, default ()
        Shown one after another.

    Examples
    --------
    >>> Section("method", "Method", "Every method saw the same splits.").findings
    ()

    """

    name: str
    title: str
    text: str = ""
    findings: tuple[Finding, ...] = ()
    opened: tuple[str, ...] = ()
    figures: Mapping[str, Callable[[Results], Drawing]] | None = None
    tables: tuple[Table, ...] = ()


def usual_sections(results: Results) -> tuple[Section, ...]:
    """The sections of a page on any results: trade-offs of every criterion, and tables.

    Parameters
    ----------
    results : Results
        What the page is about.

    Returns
    -------
    tuple of Section
        For `write_report`, alone or beside sections of your own.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> [section.title for section in usual_sections(nothing)]
    ['Tables']

    """
    from evenhand.benchmark.figures import usual_figures

    figures = usual_figures(results)
    text = (
        "What every method gives up for what it gains. A line is a method, a point one value of "
        "its hyperparameter."
    )
    shown = (Section("figures", "Trade-offs", text, figures=figures),) if figures else ()
    tables = (data_sets(results), methods(results), run_times(results))
    kept = tuple(table for table in tables if table.rows) or tables[:1]
    return (*shown, Section("tables", "Tables", tables=kept))


def write_report(
    results: Results,
    folder: str | Path,
    *,
    title: str = "Benchmark",
    subject: str = "",
    lede: str | None = None,
    sections: Sequence[Section] | None = None,
    store: Store | str | Path | None = None,
) -> Path:
    """Write report.html, figures and results into a folder, and say where the report is.

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
        Where the predictions are, so that the page names the runs that failed.

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
    failures = [] if store is None else store.failures().values()
    sections = usual_sections(results) if sections is None else sections
    drawings = drawings_of(results, sections)
    for name, drawing in drawings.items():
        save(drawing, folder / "figures", name)
    path = folder / "report.html"
    html = page_html(
        results,
        sections,
        drawings,
        title=title,
        subject=subject,
        lede=lede,
        failures=failures,
    )
    write_whole(path, html)
    results.write(folder / "results")
    return path


def drawings_of(results: Results, sections: Iterable[Section]) -> dict[str, Drawing]:
    """Every figure of these sections, drawn once."""
    figures = {name: make for part in sections for name, make in (part.figures or {}).items()}
    return dict(drawn(results, figures))


def page_html(
    results: Results,
    sections: Sequence[Section],
    drawings: Mapping[str, Drawing],
    *,
    title: str,
    subject: str = "",
    lede: str | None = None,
    failures: Iterable[Mapping[str, Any]] = (),
) -> str:
    """One HTML file with all of it, and nothing from elsewhere."""
    require("matplotlib", "jinja2")
    from evenhand.benchmark.figures.theme import PALETTE

    numbers = {name: at for at, name in enumerate(drawings, start=1)}
    shown = {name: _shown(name, numbers[name], drawing) for name, drawing in drawings.items()}
    text = (
        _environment()
        .get_template("benchmark.html")
        .render(
            title=title,
            subject=subject,
            lede=_extent(results) if lede is None else lede,
            tiles=_tiles(results),
            sections=[_prepared(section, shown) for section in sections],
            stand_ins=_stand_ins(results),
            failures=failure_counts(failures),
            versions=_versions(),
            fitted=_fitted_with(results),
            palette=PALETTE,
        )
    )
    return str(text.encode("utf-8", "replace").decode("utf-8"))


def _shown(name: str, number: int, drawing: Drawing) -> dict[str, Any]:
    from markupsafe import Markup

    from evenhand.benchmark.figures import inline

    svg = Markup(inline(drawing, f"f{number}"))
    return {"name": name, "number": number, "drawing": drawing, "svg": svg}


def _prepared(section: Section, shown: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": section.name,
        "title": section.title,
        "text": section.text,
        "questions": _by_question(section.findings),
        "opened": section.opened,
        "figures": [shown[name] for name in section.figures or ()],
        "tables": section.tables,
    }


Claims = list[tuple[str, list[Finding]]]


def _by_question(findings: Iterable[Finding]) -> list[tuple[str, str, Claims]]:
    """Findings under the claims they are about, and these under what they answer."""
    together: dict[str, dict[str, list[Finding]]] = {}
    for finding in findings:
        claims = together.setdefault(finding.question, {})
        claims.setdefault(finding.claim, []).append(finding)
    return [
        (
            question,
            count_verdicts(one for rows in claims.values() for one in rows),
            [*claims.items()],
        )
        for question, claims in together.items()
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


def _tiles(results: Results) -> list[tuple[str, str]]:
    """The extent of the benchmark in numbers."""
    counts = {**_counts(results), "scores": len(results.scores)}
    names = {"runs": "run", "problems": "problem", "methods": "method"}
    names |= {"bases": "base model", "splits": "split", "scores": "score"}
    told = [plural(counts[key], name).partition(" ") for key, name in names.items()]
    return [(number, label) for number, _, label in told]


def _stand_ins(results: Results) -> list[str]:
    """What must be said before any figure is believed."""
    rows = results.problems.to_pylist()
    return sorted({f"{row['problem']}: {row['provenance']}" for row in rows if row["is_stand_in"]})


def failure_counts(failures: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Why runs have no result, with how many there are of each kind."""
    told = (f"{one['method']} on {one['problem']}: {one['error']}" for one in failures)
    return Counter(told).most_common()


def _versions() -> list[tuple[str, str]]:
    """What scores and figures were made with."""
    versions = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            versions.append((name, version(name)))
        except PackageNotFoundError:
            versions.append((name, "not installed"))
    return versions


def _fitted_with(results: Results) -> list[str]:
    """The versions that the stored runs were fitted with, one text for each set of them."""
    rows = results.query("select distinct versions from runs where versions <> '' order by all")
    return [str(one) for one in rows["versions"]]


def data_sets(results: Results, name: Callable[[str], str] = str) -> Table:
    """The problems and where their rows come from; those of one name share a row.

    Parameters
    ----------
    results : Results
        What the table is about.
    name : callable, default str
        From the name of a problem to what it is called.

    Returns
    -------
    Table
        Kind, rows, classes, groups and origin of each.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> problem = {"problem": "people", "kind": "regression", "train": 80, "test": 20}
    >>> found = Results.from_rows(runs=[], questions=[], problems=[problem], scores=[])
    >>> data_sets(found).rows[0][:3]
    ('people', 'regression', '100')

    """
    rows: dict[str, tuple[str, ...]] = {}
    groups: dict[str, list[int]] = {}
    for row in results.problems.to_pylist():
        called = name(row["problem"])
        groups.setdefault(called, []).append(row["n_groups"] or 0)
        rows.setdefault(called, _data_set(called, row))
    cells = tuple(
        (*row[:4], ", ".join(map(str, sorted(set(groups[called])))), *row[4:])
        for called, row in rows.items()
    )
    head = ("Data", "Task", "Rows", "Classes", "Groups", "Sensitive", "Where the rows come from")
    note = ""
    if results.stand_ins:
        note = "† marks a stand-in: rows that are not the official ones. † appears in figures too."
    return Table("data", "Data sets", head, cells, note, frozenset({2, 3, 4}))


def _data_set(called: str, row: dict[str, Any]) -> tuple[str, ...]:
    about = json.loads(row["about"] or "{}")
    rows = f"{about.get('rows') or (row['train'] or 0) + (row['test'] or 0):,}"
    classes = str(row["n_classes"]) if row["n_classes"] else "–"
    sensitive = ", ".join(about.get("sensitive", ()))
    mark = "†" if row["is_stand_in"] else ""
    return f"{called}{mark}", row["kind"] or "", rows, classes, sensitive, row["provenance"] or ""


def methods(results: Results) -> Table:
    """The methods, what they were told to meet, and the values tried."""
    runs = results.query(
        "select method, coalesce(\"constraint\", '') as told, coalesce(parameter, '') as name, "
        "list(distinct hyperparameter order by hyperparameter) as tried "
        "from runs group by method, told, name order by method <> 'Base', method, told"
    )
    rows = tuple(
        (
            row["method"],
            row["told"].replace("_", " ") or "–",
            row["name"] or "–",
            ", ".join(f"{value:g}" for value in row["tried"] if value == value) or "–",
        )
        for row in runs.to_dict("records")
    )
    head = ("Method", "Told to meet", "Parameter", "Values")
    note = "Base is the model underneath, as it is."
    return Table("methods", "Methods", head, rows, note)


def run_times(results: Results, name: Callable[[str], str] = str) -> Table:
    """Median processor seconds of a run, by method and problem.

    Parameters
    ----------
    results : Results
        What the table is about.
    name : callable, default str
        From the name of a problem to what it is called; those of one name share a column.

    Returns
    -------
    Table
        A row for each method, and one for all.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> run = {"key": "a", "problem": "people", "method": "Base", "cpu_seconds": 0.5}
    >>> found = Results.from_rows(runs=[run], questions=[], problems=[], scores=[])
    >>> run_times(found).rows
    (('Base', '0.5'), ('All runs together', '0.5'))

    """
    title = "Run times"
    runs = results.query("select problem, method, cpu_seconds from runs where cpu_seconds >= 0")
    if runs.empty:
        return Table("times", title, ("Method",), ())
    runs["called"] = [name(problem) for problem in runs["problem"]]
    wide = runs.pivot_table(
        index="method", columns="called", values="cpu_seconds", aggfunc="median"
    )
    rows = tuple(
        (str(method), *(_seconds(value) for value in values))
        for method, values in zip(wide.index, wide.to_numpy(), strict=True)
    )
    sums = runs.groupby("called")["cpu_seconds"].sum()[wide.columns]
    rows += (("All runs together", *(_seconds(value) for value in sums)),)
    total = float(runs["cpu_seconds"].sum())
    took = f"{total / 3600:.1f} hours" if total >= 3600 else f"{total:.3g} seconds"
    return Table(
        "times",
        title,
        ("Method", *map(str, wide.columns)),
        rows,
        "Median seconds of processor time of a run, over settings, splits and base models; for "
        f"Base the time to prepare the rows and fit the model. All {plural(len(runs), 'run')} "
        f"took {took}.",
        frozenset(range(1, 1 + wide.shape[1])),
    )


def _seconds(value: float) -> str:
    if value != value:
        return "–"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _number(value: float) -> str:
    """A number of a finding.

    >>> _number(0.8123), _number(0.00012), _number(float("nan"))
    ('0.81', '0.00012', '–')
    """
    if value != value:
        return "–"
    text = f"{value:.2f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
    return text.replace("-", "−")


@cache
def _environment() -> Any:
    """Templates of this report; the look is that of the audit's."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader("evenhand.benchmark"), PackageLoader("evenhand.report")]
    return Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
