"""The page on the paper: its claims with verdicts, its figures, our additions, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.benchmark import Results, Store, read_results, write_report
from evenhand.benchmark.sections import Finding, Section, count_verdicts
from paper.design import PAPER
from paper.figures import FIGURES, IN_PAPER
from paper.findings import findings
from paper.findings.criteria import OURS
from paper.findings.floors import with_floors
from paper.tables import all_tables

TITLE = "The paper’s experiments, run again"
SUBJECT = (
    "Zhecheng Sheng, Jiawei Zhang, Enmao Diao: Toward Unifying Group Fairness Evaluation from a "
    "Sparsity Perspective"
)
QUESTIONS = {
    "Q1": "Q1: do criteria by PQ align with those by MPD?",
    "Q2": "Q2: where do they part?",
}
HOW = (
    "Each claim is a value computed from the results: a number over the splits with a 95 % "
    "interval that knows that splits share rows. Claims about rankings call two orders alike "
    "where Kendall’s τ is at least 0.6, four of five pairs. A verdict by theorem (∎) could not "
    "have come out otherwise, is no evidence, and is counted apart."
)
IDENTITY = ["problem", "base", "method", "constraint", "hyperparameter", "seed"]
NONE = {"constraint": "", "hyperparameter": -1.0}
COLUMNS = ["key", "question", "lot", "value"]
SCORES = pa.schema([(name, pa.string()) for name in COLUMNS[:-1]] + [("value", pa.float64())])
FORMATS = ("svg", "pdf", "png")
STORED = Path(__file__).parents[1] / "docs" / "paper" / "report" / "results"


def stored_results(folder: str | Path = STORED) -> Results:
    """The full run, as it is kept beside the documentation, in today's names of parameters."""
    results = read_results(folder)
    today = {
        treatment.name: treatment.method.hyperparameter
        for study in PAPER.studies
        for treatment in study.treatments
        if treatment.method is not None
    }
    names = [today.get(method) for method in results.runs["method"].to_pylist()]
    column = results.runs.column_names.index("parameter")
    runs = results.runs.set_column(column, "parameter", pa.array(names, pa.string()))
    return replace(results, runs=runs)


def joined(results: Results, more: Results) -> Results:
    """Results with further runs of the same design; of a run that both have, the first's."""
    theirs, ours = more.runs.to_pandas(), results.runs.to_pandas()
    known = set(ours[IDENTITY].fillna(NONE).itertuples(index=False, name=None))
    fresh = [
        run not in known for run in theirs[IDENTITY].fillna(NONE).itertuples(index=False, name=None)
    ]
    runs = more.runs.filter(pa.array(fresh, pa.bool_()))
    scores = more.scores.filter(pc.is_in(more.scores["key"].cast("string"), runs["key"]))
    return Results(
        runs=pa.concat_tables([results.runs, runs.select(results.runs.column_names)]),
        questions=_below(results.questions, more.questions, "name"),
        problems=_below(results.problems, more.problems, "problem"),
        scores=pa.concat_tables(
            [one.select(COLUMNS).cast(SCORES) for one in (results.scores, scores)]
        ),
    )


def _below(first: pa.Table, second: pa.Table, key: str) -> pa.Table:
    """Two tables below each other, without what the first has already."""
    new = second.filter(pc.invert(pc.is_in(second[key], first[key])))
    return pa.concat_tables([first, new.select(first.column_names).cast(first.schema)])


def write(
    results: Results,
    folder: str | Path,
    *,
    store: Store | str | Path | None = None,
    formats: Sequence[str] = FORMATS,
) -> Path:
    """Write the report; with the predictions, figures show noise floors too.

    That of a quick run, one of a single split, says so in its title and first sentence.
    """
    if store is not None:
        results = with_floors(results, store)
    verdicts, warning = findings(results), quick(results)
    return write_report(
        results,
        folder,
        title=f"{TITLE}: a quick look" if warning else TITLE,
        subject=SUBJECT,
        lede=f"{warning} {lede(verdicts)}".strip(),
        sections=sections(results, verdicts),
        store=store,
        formats=formats,
    )


def add(results: Results, folder: str | Path, *, store: Store | str | Path) -> Path:
    """Write a report anew, with runs that it lacks; of those that it has, its own scores stay."""
    kept = stored_results(Path(folder) / "results")
    return write(joined(kept, with_floors(results, store)), folder, formats=())


def quick(results: Results) -> str:
    """What must be said of results of a single split, in which nothing can be settled."""
    most = results.query(
        "select count(distinct seed) as splits, max(settings) as settings, max(rows) as rows from "
        "(select seed, count(distinct hyperparameter) over (partition by problem, base, method, "
        '"constraint", seed) as settings, train + test as rows from runs join problems '
        "using (problem))"
    )
    if most["splits"].iloc[0] != 1:
        return ""
    settings, rows = int(most["settings"].iloc[0]), int(most["rows"].iloc[0])
    return (
        f"This is a quick run, to see that everything works: one split, at most {settings} points "
        f"of each grid, and at most {rows:,} rows. It settles none of the claims."
    )


def sections(
    results: Results, verdicts: Sequence[Finding], figures: Collection[str] = tuple(FIGURES)
) -> tuple[Section, ...]:
    """Findings, the paper's figures, ours, and tables."""
    told = [replace(one, question=QUESTIONS.get(one.question, one.question)) for one in verdicts]
    claims = tuple(one for one in told if one.source != OURS)
    own = tuple(replace(one, source="") for one in told if one.source == OURS)
    counted = count_verdicts(claims)
    chosen = {name: make for name, make in FIGURES.items() if name in figures}
    return (
        Section(
            "findings",
            "Findings",
            f"{HOW} Of the paper’s claims below, {counted}." if counted else HOW,
            findings=claims,
            opened=tuple(QUESTIONS.values()),
        ),
        Section(
            "ours",
            "Findings that are not the paper’s",
            f"What we asked beyond the paper: {count_verdicts(own)}." if own else "",
            findings=own,
        ),
        Section(
            "paper",
            "Figures of the paper",
            figures={name: make for name, make in chosen.items() if name in IN_PAPER},
        ),
        Section(
            "beyond",
            "Beyond the paper",
            figures={name: make for name, make in chosen.items() if name not in IN_PAPER},
        ),
        Section("tables", "Tables", tables=all_tables(results)),
    )


def lede(verdicts: Sequence[Finding]) -> str:
    """The answer to the paper's first question in one sentence.

    >>> lede([])
    'There are no results yet.'
    """
    asked = [one for one in verdicts if one.question == "Q1" and " by PQ order" in one.claim]
    compared = [one for one in asked if not one.is_theorem]
    if not compared:
        return "There are no results yet."
    seen = Counter(one.verdict for one in compared)
    settled = len(asked) - len(compared)
    apart = f", apart from {settled} that a theorem settles" if settled else ""
    start = f"In {len(compared)} comparisons of a criterion by MPD with the same by PQ{apart}"
    if seen["cannot tell"] == len(compared):
        middle = median(one.number for one in compared)
        return f"{start}, Kendall’s τ is {middle:.2f} in the middle; more splits would settle it."
    return (
        f"{start}, the two order settings of methods alike in {seen['agrees']} and differently "
        f"in {seen['differs']}; {seen['cannot tell']} are inconclusive on these splits."
    )
