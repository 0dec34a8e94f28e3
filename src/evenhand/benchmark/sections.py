"""What a report holds: sections of findings, figures and tables, and the usual ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand._words import plural

if TYPE_CHECKING:
    from evenhand.benchmark.figures import Drawing
    from evenhand.benchmark.scoring.results import Results

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
