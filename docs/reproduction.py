"""The tables of the page on the paper's claims, from the results beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tables import listed

from evenhand.benchmark import read_results
from evenhand.benchmark.findings import Finding, findings
from evenhand.benchmark.page.rendering import MARKS, counted, number

RESULTS = Path(__file__).parent / "paper" / "report" / "results"
FILES = {
    "Q1": "q1",
    "Q2": "q2",
    "Positivity": "positivity",
    "Performance metric": "statistics",
    "PQ orders": "orders",
    "Gini index": "gini",
    "Aggregation": "aggregation",
    "Q1, on gradient boosting": "boosting",
    "Base model": "base-models",
}


def claims(found: list[Finding]) -> Iterator[tuple[str, str, str]]:
    """A row for each claim: how its verdicts are spread, and the number for each data set."""
    together: dict[str, list[Finding]] = {}
    for one in found:
        together.setdefault(one.claim, []).append(one)
    for claim, rows in together.items():
        yield claim, counted(rows), "; ".join(_told(one) for one in rows)


def _told(one: Finding) -> str:
    told = f"{one.where} {MARKS[one.verdict]} {number(one.number)}"
    if one.low == one.low:
        told += f" ({number(one.low)} to {number(one.high)})"
    return told.replace(" ", "\N{NO-BREAK SPACE}")


def write(folder: Path) -> None:
    """Write a table for each question of the paper."""
    found = findings(read_results(RESULTS))
    unknown = {one.question for one in found} - FILES.keys()
    if unknown:
        raise ValueError(f"No page shows the findings on {sorted(unknown)}.")
    for question, name in FILES.items():
        rows = claims([one for one in found if one.question == question])
        text = listed(("Claim", "Verdicts", "By data"), rows, (30, 14, 56), "claims")
        (folder / f"paper-{name}.md").write_text(text, encoding="utf-8")
