"""What the paper says of post-processors of regressions: their fit, and S-EO."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.benchmark.sections import Finding
from paper.findings.ablations import AS_BASE
from paper.findings.areas import BASE, LOSS, areas_of
from paper.findings.criteria import OURS, problems_of
from paper.findings.estimates import at_least, estimate
from paper.findings.values import part
from paper.words import name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

POSTPROCESSORS = ("LinearPost_R", "WassBC")
S_EO = "performance_parity.pq transform=exp g=mse"
SOME = 0.01  # of the S-EO of Base
QUESTIONS = (S_EO,)


def disregard(results: Results, wide: Any) -> Iterator[Finding]:
    """Whether the curves of post-processors stay away from the unconstrained model's fit."""
    for problem in problems_of(results, "regression"):
        base = _base(wide, problem)
        for method in POSTPROCESSORS:
            for underneath, where in (("linear", ""), ("targets", ", on the true targets")):
                rows = part(wide, problem, underneath, "all")
                own = rows[rows["method"] == method].dropna(subset=["rmse"])
                own = own[own["seed"].isin(base.index)]
                if own.empty:
                    continue
                away = own["rmse"] / own["seed"].map(base) - 1
                nearest = away.abs().groupby(own["seed"]).min()
                least, most = away.groupby(own["seed"]).min(), away.groupby(own["seed"]).max()
                found = estimate(nearest, bounds=(0, np.inf))
                told = (
                    f"Its closest setting is off the RMSE of the linear model by "
                    f"{found.value:.2%}; all of them lie between {_percent(least.mean())} and "
                    f"{_percent(most.mean())}."
                )
                yield Finding(
                    "Q1",
                    f"{method} disregards the fit of the unconstrained model",
                    f"{name_of(problem)}{where}",
                    at_least(found, AS_BASE),
                    *found,
                    sentence=told,
                    source=OURS if underneath == "targets" else "",
                )


def reaches(results: Results, wide: Any) -> Iterator[Finding]:
    """Whether LinearPost_R, which aims at parity, lowers S-EO at an RMSE that one can accept."""
    for problem in problems_of(results, "regression"):
        if _base(wide, problem).empty:
            continue
        own = {area.method: area for area in areas_of(results, problem, "linear", "all", S_EO)}
        if "LinearPost_R" not in own:
            continue
        area = own["LinearPost_R"]
        removed = estimate(area.removed - own[BASE].removed)  # split by split
        told = (
            f"With settings chosen on other splits it removes {removed.text} of the S-EO of Base, "
            f"on average over losses of up to {LOSS:.0%} of RMSE, and loses "
            f"{_percent(area.lost.mean())} for it."
        )
        claim = "LinearPost_R has points with the desired RMSE and S-EO"
        verdict = at_least(removed, SOME)
        yield Finding("Q1", claim, name_of(problem), verdict, *removed, sentence=told)


def _base(wide: Any, problem: str) -> Any:
    """RMSE of the linear model by split."""
    rows = part(wide, problem, "linear", "all")
    rows = rows[rows["method"] == "Base"].dropna(subset=["rmse"])
    return rows.drop_duplicates("seed").set_index("seed")["rmse"]


def _percent(share: float) -> str:
    """A share of RMSE with its sign.

    >>> _percent(-0.031), _percent(0.2)
    ('−3.1%', '+20.0%')
    """
    return f"{share:+.1%}".replace("-", "−")
