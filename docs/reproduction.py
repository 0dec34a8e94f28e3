"""The tables of the page on the paper's claims, from the results beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tables import listed, put  # which puts the root, where paper/ is, on the path

from evenhand.benchmark import Finding, Results, count_verdicts
from paper.findings import findings
from paper.report import stored_results
from paper.words import task_name

VERDICTS = ("agrees", "differs", "cannot tell")
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
        yield claim, count_verdicts(rows), "; ".join(_told(one) for one in rows)


def _told(one: Finding) -> str:
    told = f"{one.where} {one.mark} {one.value}"
    if one.interval:
        told += f" ({one.interval})"
    return told.replace(" ", "\N{NO-BREAK SPACE}")


def short(found: Sequence[Finding]) -> str:
    """How many verdicts there are of each kind, by question."""
    rows = [
        (name, *(str(sum(one.verdict == mark for one in some)) for mark in VERDICTS))
        for name, some in [
            *((name, [one for one in found if one.question == name]) for name in FILES),
            ("All", found),
        ]
    ]
    return listed(("Question", "Agrees", "Differs", "Cannot tell"), rows, (40, 20, 20, 20), "marks")


def times(results: Results) -> str:
    """Minutes of processor time of all runs, by method and task."""
    found = results.query("select problem, method, cpu_seconds / 60 as minutes from runs")
    found["task"] = [task_name(problem) for problem in found["problem"]]
    wide = found.pivot_table(
        index="method",
        columns="task",
        values="minutes",
        aggfunc="sum",
        margins=True,
        margins_name="All",
    )
    rows = [
        (
            str(method),
            *(
                "–" if value != value else f"{value:.2g}" if value < 10 else f"{value:.0f}"
                for value in row
            ),
        )
        for method, row in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    head = ("Method", *map(str, wide.columns))
    return listed(head, rows, (16, *[7] * wide.shape[1]), "times")


def write(folder: Path) -> None:
    """Write a table for each question of the paper, and one of all verdicts."""
    results = stored_results()
    found = findings(results)
    put(folder / "paper-times.md", times(results))
    put(folder / "paper-short.md", short(found))
    unknown = {one.question for one in found} - FILES.keys()
    if unknown:
        raise ValueError(f"No page shows the findings on {sorted(unknown)}.")
    for question, name in FILES.items():
        rows = claims([one for one in found if one.question == question])
        text = listed(("Claim", "Verdicts", "By data"), rows, (30, 14, 56), "claims")
        put(folder / f"paper-{name}.md", text)
