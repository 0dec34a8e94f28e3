"""The page on the paper: its claims with verdicts, its figures, our additions, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import pyarrow as pa

from evenhand.benchmark import (
    Finding,
    Results,
    Section,
    Store,
    count_verdicts,
    read_results,
    write_report,
)
from paper.design import PAPER
from paper.figures import FIGURES, IN_PAPER
from paper.findings import findings
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
    "where Kendall’s τ is at least 0.6, four of five pairs."
)
STORED = Path(__file__).parents[1] / "docs" / "paper" / "report" / "results"


def stored_results() -> Results:
    """The full run, as it is kept beside the documentation, in today's names of parameters."""
    results = read_results(STORED)
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


def write(
    results: Results,
    folder: str | Path,
    *,
    store: Store | str | Path | None = None,
    formats: Sequence[str] = ("svg", "pdf", "png"),
) -> Path:
    """Write the report; with the predictions, figures show noise floors too."""
    if store is not None:
        results = with_floors(results, store)
    verdicts = findings(results)
    return write_report(
        results,
        folder,
        title=TITLE,
        subject=SUBJECT,
        lede=lede(verdicts),
        sections=sections(results, verdicts),
        store=store,
        formats=formats,
    )


def sections(
    results: Results, verdicts: Sequence[Finding], figures: Collection[str] = tuple(FIGURES)
) -> tuple[Section, ...]:
    """Findings, the paper's figures, ours, and tables."""
    counted = count_verdicts(verdicts)
    told = tuple(
        replace(one, question=QUESTIONS.get(one.question, one.question)) for one in verdicts
    )
    chosen = {name: make for name, make in FIGURES.items() if name in figures}
    return (
        Section(
            "findings",
            "Findings",
            f"{HOW} Of all claims below, {counted}." if counted else HOW,
            findings=told,
            opened=tuple(QUESTIONS.values()),
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
    compared = [one for one in verdicts if one.question == "Q1" and " by PQ order" in one.claim]
    if not compared:
        return "There are no results yet."
    seen = Counter(one.verdict for one in compared)
    start = f"In {len(compared)} comparisons of a criterion by MPD with the same by PQ"
    if seen["cannot tell"] == len(compared):
        middle = median(one.number for one in compared)
        return f"{start}, Kendall’s τ is {middle:.2f} in the middle; more splits would settle it."
    return (
        f"{start}, the two order settings of methods alike in {seen['agrees']} and differently "
        f"in {seen['differs']}; {seen['cannot tell']} cannot be told from these splits."
    )
