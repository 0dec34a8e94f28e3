"""Q1: whether criteria by PQ put methods in the same order as those by MPD."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.sections import Finding, Verdict
from paper.findings.criteria import ASKED, BASE_OF, OURS, Asked, groups_of, problems_of
from paper.findings.estimates import at_least, at_most
from paper.findings.ranks import Agreement, Level, agreement
from paper.findings.theorems import theorem
from paper.findings.values import part
from paper.words import Kind, name_of, splits

if TYPE_CHECKING:
    from evenhand.benchmark import Results

ALIKE = 0.6  # τ: four of five pairs of settings in the same order
IDENTICAL = 0.9  # τ: nineteen of twenty pairs
FEW = 0.1  # of the pairs change places


Agreements = list[tuple[str, Asked, dict[str, Agreement | None]]]
PAIRS = ("MPD and PQ", "MPD and Gini", "Gini and PQ", "plain and exp")
LEVELS: dict[Kind, Level] = {
    "classification": Level("accuracy", 0.005),
    "regression": Level("rmse", 0.01, is_share=True),
}


def agreements(
    results: Results,
    wide: Any,
    base: str | None = None,
    pairs: Sequence[str] = PAIRS,
    *,
    is_matched: bool = False,
) -> Agreements:
    """Every problem and criterion, with τ of pairs of measures, and of raw and exp.

    Matched, only settings are compared that perform alike.
    """
    return [
        (
            problem,
            asked,
            _pairs(
                part(wide, problem, base or BASE_OF[asked.kind], asked.family),
                asked,
                pairs,
                LEVELS[asked.kind] if is_matched else None,
            ),
        )
        for asked in ASKED
        for problem in problems_of(results, asked.kind)
    ]


def _pairs(
    here: Any, asked: Asked, wanted: Sequence[str], level: Level | None
) -> dict[str, Agreement | None]:
    questions = {
        "MPD and PQ": (asked.mpd, asked.pq),
        "MPD and Gini": (asked.mpd, asked.gini),
        "Gini and PQ": (asked.gini, asked.pq),
        "plain and exp": (asked.plain, asked.exp),
    }
    return {name: agreement(here, *questions[name], level) for name in wanted}


def alike(
    results: Results, found: Agreements, question: str = "Q1", source: str = ""
) -> Iterator[Finding]:
    """A finding for each problem and criterion: MPD against PQ."""
    for problem, asked, pairs in found:
        both = pairs["MPD and PQ"]
        if both is None:
            continue
        claim = f"{asked.name} by MPD and S-{asked.name} by PQ order the settings alike"
        why = theorem(asked, asked.mpd, asked.pq, groups_of(results, problem))
        told = " ".join(filter(None, [_told(both), why]))
        made = _finding(question, claim, problem, both, at_least(both.tau, ALIKE), told)
        yield replace(made, is_theorem=bool(why), source=source)


def _told(both: Agreement) -> str:
    share = f"{1 - both.swapped.value:.0%}"
    told = (
        f"Kendall’s τ is {both.tau.text} over {both.settings} settings and {splits(both.seeds)}; "
        f"{share} of the pairs are not in opposite orders."
    )
    if both.again.value == both.again.value:
        again = f"{both.again.value:.2f}".replace("-", "−")
        told += f" MPD agrees with itself between two splits with τ = {again}."
    return told


def identical(results: Results, found: Agreements) -> Iterator[Finding]:
    """The paper's remark that Gini and PQ have almost identical patterns."""
    for problem, asked, pairs in found:
        both = pairs["Gini and PQ"]
        if both is not None:
            claim = f"S-{asked.name} by Gini and by PQ have the same pattern"
            told = f"Kendall’s τ is {both.tau.text} over {both.settings} settings."
            why = theorem(asked, asked.gini, asked.pq, groups_of(results, problem))
            told = " ".join(filter(None, [told, why]))
            verdict = at_least(both.tau, IDENTICAL)
            made = _finding("Gini index", claim, problem, both, verdict, told)
            yield replace(made, is_theorem=bool(why))


def transformed(found: Agreements) -> Iterator[Finding]:
    """How often the exponential transform changes the order of two settings."""
    for problem, asked, pairs in found:
        both = pairs["plain and exp"]
        if both is not None:
            swapped = both.swapped
            share = f"{swapped.value:.1%}"
            claim = f"The exponential transform keeps the order of settings by S-{asked.name}"
            told = f"It puts {share} of the pairs of {both.settings} settings in the other order."
            verdict = at_most(swapped, FEW)
            made = _finding("Positivity", claim, problem, both, verdict, told)
            value, low, high = swapped
            yield replace(made, number=value, low=low, high=high, source=OURS)


def _finding(
    question: str, claim: str, problem: str, both: Agreement, verdict: Verdict, told: str
) -> Finding:
    where = name_of(problem)
    return Finding(question, claim, where, verdict, *both.tau, sentence=told)
