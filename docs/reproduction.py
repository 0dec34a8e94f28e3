"""The tables of the page on the paper's claims, from the results next to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tables import listed, put  # which puts the root, where paper/ is, on the path

from evenhand.benchmark import Results
from evenhand.benchmark.sections import Finding, count_verdicts
from paper.findings import findings
from paper.findings.criteria import OURS
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
    "Q1, at matched accuracy": "matched",
    "Q1, with evenhand’s methods": "with-ours",
    "Q1, on gradient boosting": "boosting",
    "Base model": "base-models",
    "Noise": "noise",
    "Published and repaired": "published",
}


def claims(found: list[Finding]) -> Iterator[tuple[str, str, str]]:
    """A row for each claim: how its verdicts are spread, and the number for each data set."""
    together: dict[str, list[Finding]] = {}
    for one in found:
        together.setdefault(f"{one.claim} ({one.source})" if one.source else one.claim, []).append(
            one
        )
    for claim, rows in together.items():
        yield claim, count_verdicts(rows), "; ".join(_told(one) for one in rows)


def _told(one: Finding) -> str:
    told = f"{one.where} {'∎' if one.is_theorem else one.mark} {one.value}"
    if one.interval:
        told += f" ({one.interval})"
    return told.replace(" ", "\N{NO-BREAK SPACE}")


def short(found: Sequence[Finding]) -> str:
    """How many verdicts there are of each kind, by question: the paper's claims, then ours."""
    rows = []
    for title, source in (("The paper’s claims", ""), ("Ours", OURS)):
        some = [one for one in found if one.source == source]
        for name in FILES:
            own = [one for one in some if one.question == name]
            if own:
                rows.append((name if not source else f"{name} (ours)", *_numbers(own)))
        rows.append((f"**{title}, together**", *_numbers(some)))
    head = ("Question", "Agrees", "Differs", "Cannot tell", "By theorem")
    return listed(head, rows, (36, 16, 16, 16, 16), "marks")


def _numbers(found: Sequence[Finding]) -> list[str]:
    """Verdicts of each kind, and those that could not fail apart."""
    open_ones = [one.verdict for one in found if not one.is_theorem]
    counted = [open_ones.count(mark) for mark in VERDICTS]
    return [str(number) for number in (*counted, len(found) - len(open_ones))]


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
