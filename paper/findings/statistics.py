"""What the paper says of other statistics g in S-EO."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.sections import Finding
from paper.findings.alike import ALIKE
from paper.findings.criteria import about, problems_of
from paper.findings.estimates import Estimate, at_least, at_most, estimate
from paper.findings.ranks import agreement
from paper.findings.values import part
from paper.words import G, name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

QUESTION = "Performance metric"
ODDS = "average_odds.pq"
S_EO = "performance_parity.pq"
CLASSIFIED = {g: f"{S_EO} g={g}" for g in ("accuracy", "f1", "auroc", "cross_entropy")}
REGRESSED = {g: f"{S_EO} transform=exp g={g}" for g in ("mse", "mae", "r2")}
EVEN = 1e-4  # S-EO up to which the paper calls a base model fair
SEARCHING = ("LinearPost_R", "WassBC", "WassBC-Geodesic")
QUESTIONS = (ODDS, *CLASSIFIED.values(), *REGRESSED.values())


def of_classifiers(results: Results, wide: Any) -> Iterator[Finding]:
    """Whether settings are in the order of S-EO by any statistic; it may be even already."""
    for problem in problems_of(results, "classification"):
        here = part(wide, problem, "logistic", "odds")
        if len(about(results, problem).get("classes", ())) > 2:  # type: ignore[arg-type]
            continue
        for g, question in CLASSIFIED.items():
            both = agreement(here, ODDS, question)
            if both is None:
                continue
            claim = f"Trade-offs are preserved with g = {G[g]}"
            told = (
                f"Kendall’s τ with S-EO by average odds is {both.tau.text} over "
                f"{both.settings} settings. {_base(here, question)}"
            )
            verdict = at_least(both.tau, ALIKE)
            yield Finding(QUESTION, claim, name_of(problem), verdict, *both.tau, sentence=told)


def _base(here: Any, question: str) -> str:
    base = here[here["method"] == "Base"][question].mean()
    is_even = "even already" if base <= EVEN else "not even"
    return f"Base has {base:.1e}, {is_even} by the paper’s bound of 10⁻⁴."


def of_regressors(results: Results, wide: Any) -> Iterator[Finding]:
    """MAE gives the curves of MSE; R² only those of methods that search the fair optimum."""
    for problem in problems_of(results, "regression"):
        here = part(wide, problem, "linear", "all")
        searching = here["method"].isin(SEARCHING)
        cases = (
            ("mae", here, "S-EO with g = MAE follows S-EO with g = MSE", False),
            ("r2", here[searching], "g = R² follows g = MSE for LinearPost and WassBC", False),
            ("r2", here[here["method"] == "FairReg"], "g = R² leaves g = MSE for FairReg", True),
        )
        for g, rows, claim, apart in cases:
            both = agreement(rows, REGRESSED["mse"], REGRESSED[g])
            if both is None:
                continue
            told = f"Kendall’s τ is {both.tau.text} over {both.settings} settings."
            verdict = (at_most if apart else at_least)(both.tau, ALIKE)
            yield Finding(QUESTION, claim, name_of(problem), verdict, *both.tau, sentence=told)


def already_even(wide: Any) -> Iterator[Finding]:
    """HSLS: the base model is even already where g is AUROC."""
    rows = part(wide, "hsls", "logistic", "odds")
    rows = rows[rows["method"] == "Base"].dropna(subset=[CLASSIFIED["auroc"]])
    if rows.empty:
        return
    found: Estimate = estimate(rows[CLASSIFIED["auroc"]], bounds=(0, float("inf")))
    told = f"S-EO with g = AUROC of Base is {found.value:.1e}, at most {found.high:.1e}."
    claim = "By AUROC the base model is even already (S-EO ≤ 10⁻⁴)"
    verdict = at_most(found, EVEN)
    yield Finding(QUESTION, claim, name_of("hsls"), verdict, *found, sentence=told)
