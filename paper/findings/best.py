"""Which method has the best trade-off, by MPD and by PQ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scipy.stats import binomtest

from evenhand.benchmark import Finding
from paper.findings.criteria import ASKED, BASE_OF, Asked, problems_of
from paper.findings.estimates import Estimate, at_least
from paper.findings.values import part
from paper.words import name_of, splits

if TYPE_CHECKING:
    from evenhand.benchmark import Results

SLACK = 0.01  # of accuracy that a method may lose against Base
OURS = ("RateConstrained", "RateConstrained-Gini")


def best(results: Results, wide: Any) -> Iterator[Finding]:
    """Whether LinearPost wins by PQ, and whether both measures name the same winner."""
    for asked in (one for one in ASKED if one.kind == "classification"):
        for problem in problems_of(results, "classification"):
            here = part(wide, problem, BASE_OF["classification"], asked.family)
            if here["method"].nunique() >= 3:
                yield from _winners(here, asked, name_of(problem))


def _winners(here: Any, asked: Asked, where: str) -> Iterator[Finding]:
    paper = here[~here["method"].isin(OURS)]
    by_mpd, by_pq = winners(paper, asked.mpd), winners(paper, asked.pq)
    both = sorted(by_mpd.keys() & by_pq.keys())
    if not both:
        return
    wins = [by_pq[seed] == "LinearPost" for seed in both]
    most = max(sorted(set(by_pq.values())), key=list(by_pq.values()).count)
    claim = f"LinearPost has the best trade-off for S-{asked.name}"
    told = (
        f"Among the paper’s methods that lose at most {SLACK:.0%} of accuracy against Base, "
        f"LinearPost has the lowest S-{asked.name} on {sum(wins)} of {splits(len(wins))}; "
        f"{most} has it most often. With evenhand’s own methods it is {_all(here, asked.pq)}."
    )
    yield _share("Q1", claim, where, wins, told)
    same = [by_mpd[seed] == by_pq[seed] for seed in both]
    claim = f"{asked.name} by MPD and S-{asked.name} by PQ name the same best method"
    told = f"They do on {sum(same)} of {splits(len(same))}."
    yield _share("Q1", claim, where, same, told)


def _all(here: Any, question: str) -> str:
    named = list(winners(here, question).values())
    return max(sorted(set(named)), key=named.count)


def winners(here: Any, question: str, slack: float = SLACK) -> dict[int, str]:
    """By split, the method with the lowest score among settings that keep accuracy."""
    base = here[here["method"] == "Base"].set_index("seed")["accuracy"]
    kept = here[here["accuracy"] >= here["seed"].map(base) - slack].dropna(subset=[question])
    chosen = kept.loc[kept.groupby("seed")[question].idxmin()]
    return dict(zip(chosen["seed"].astype(int), chosen["method"], strict=True))


def _share(question: str, claim: str, where: str, hits: list[bool], told: str) -> Finding:
    share = sum(hits) / len(hits)
    ends = binomtest(sum(hits), len(hits)).proportion_ci()
    found = Estimate(share, float(ends.low), float(ends.high))
    return Finding(question, claim, where, at_least(found, 0.5), *found, sentence=told)
