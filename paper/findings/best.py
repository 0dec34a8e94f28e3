"""Which method has the best trade-off, by MPD and by PQ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binomtest

from evenhand.benchmark.sections import Finding
from paper.design import OWN, PUBLISHED
from paper.findings.areas import BASE, LOSS, areas_of
from paper.findings.criteria import ASKED, BASE_OF, Asked, problems_of
from paper.findings.estimates import Estimate, at_least
from paper.findings.values import part
from paper.words import name_of, splits

if TYPE_CHECKING:
    from evenhand.benchmark import Results

SLACK = 0.01  # of accuracy that a method may lose against Base


def best(results: Results, wide: Any) -> Iterator[Finding]:
    """Whether LinearPost wins by PQ, and whether both measures name the same winner."""
    for asked in (one for one in ASKED if one.kind == "classification"):
        for problem in problems_of(results, "classification"):
            here = part(wide, problem, BASE_OF["classification"], asked.family)
            if here["method"].nunique() >= 3:
                yield from _winners(here, asked, name_of(problem))
    yield from _largest(results)


def _winners(here: Any, asked: Asked, where: str) -> Iterator[Finding]:
    paper = here[~here["method"].isin(OWN)]
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


def _largest(results: Results) -> Iterator[Finding]:
    """Whether LinearPost has the largest area under the curve, not only at one allowed loss."""
    for asked in (one for one in ASKED if one.kind == "classification"):
        for problem in problems_of(results, "classification"):
            own = areas_of(results, problem, BASE_OF["classification"], asked.family, asked.pq)
            others = {BASE, *OWN, *PUBLISHED}
            paper = {one.method: one for one in own if one.method not in others}
            if "LinearPost" not in paper or len(paper) < 2:
                continue
            by_split = np.array([one.removed for one in paper.values()])
            names = [list(paper)[at] for at in by_split.argmax(axis=0)]
            wins = [name == "LinearPost" for name in names]
            means = {name: float(one.removed.mean()) for name, one in paper.items()}
            first = max(means, key=means.__getitem__)
            told = (
                f"Up to a loss of {LOSS:.0%} of accuracy, LinearPost removes "
                f"{means['LinearPost']:.0%} of the S-{asked.name} of Base on average over all "
                f"losses, more than any other of the paper’s methods on {sum(wins)} of "
                f"{splits(len(wins))}; the most is {means[first]:.0%}, by {first}."
            )
            claim = f"LinearPost has the largest area under the trade-off curve for S-{asked.name}"
            yield _share("Q1", claim, name_of(problem), wins, told)


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
