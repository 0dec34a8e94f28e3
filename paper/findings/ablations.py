"""What the paper says of its ablations: orders, aggregates, statistics, base models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import spearmanr

from evenhand.benchmark.sections import Finding, Verdict
from paper.findings.alike import ALIKE
from paper.findings.criteria import ASKED, OURS, problems_of
from paper.findings.estimates import at_least, estimate
from paper.findings.ranks import agreement
from paper.findings.theorems import MEAN_AND_SUM
from paper.findings.values import SETTING, part
from paper.words import name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

P, Q = (0.1, 0.3, 0.5, 0.7, 0.9), (1.1, 1.5, 2.0, 2.5)
ORDERS = {(p, q): f"statistical_parity.pq p={p} q={q}" for p in P for q in Q}
AGGREGATES = {"mean": "mean", "total": "sum"}
AS_BASE = 0.01  # of the RMSE
ALWAYS = 0.95  # of the settings
ENDS = ("min", "max")


def orders(_: Results, wide: Any) -> Iterator[Finding]:
    """Closer orders give smaller values, and smaller standard errors."""
    apart = [q - p for p, q in ORDERS]
    for problem in ("adult", "compas"):
        rows = part(wide, problem, "logistic", "parity")
        rows = rows[rows["method"] == "LinearPost"].dropna(subset=list(ORDERS.values()))
        if rows.empty:
            continue
        means = rows.groupby("seed")[list(ORDERS.values())].mean()
        ties = estimate([spearmanr(apart, row).statistic for row in means.to_numpy()])
        told = (
            "Spearman’s ρ between q − p and the mean S-SP of LinearPost over its grid is "
            f"{ties.text}."
        )
        claim = "The closer p and q, the smaller the values"
        verdict = at_least(ties, 0.9)
        yield Finding("PQ orders", claim, name_of(problem), verdict, *ties, sentence=told)
        yield from _errors(rows, apart, name_of(problem))


def _errors(rows: Any, apart: list[float], where: str) -> Iterator[Finding]:
    by_setting = rows.groupby(SETTING)[list(ORDERS.values())]
    error, mean = by_setting.std().mean().to_numpy(), by_setting.mean().mean().to_numpy()
    if np.isnan(error).any():
        return
    rho = float(spearmanr(apart, error).statistic)
    relative = error / mean
    close, far = relative[-len(Q) :].mean(), relative[: len(Q)].mean()
    told = (
        f"Spearman’s ρ between q − p and the standard deviation over splits is {rho:.2f}. Relative "
        f"to the value the deviation is {close:.0%} with p = {P[-1]} and {far:.0%} with p = {P[0]}."
    )
    if close >= 0.9 * far:
        told += " The scale shrinks, the relative uncertainty does not."
    verdict: Verdict = "agrees" if rho >= 0.9 else "differs"
    claim = "The closer p and q, the smaller the standard errors"
    yield Finding(
        "PQ orders", claim, where, verdict, rho, float("nan"), float("nan"), sentence=told
    )


def aggregates(_: Results, wide: Any) -> Iterator[Finding]:
    """Mean or sum over the classes instead of the worst class change no pattern."""
    for asked in (one for one in ASKED if one.kind == "classification"):
        for problem in ("adult", "enem"):
            here = part(wide, problem, "logistic", asked.family)
            for name, word in AGGREGATES.items():
                both = agreement(here, asked.pq, f"{asked.pq} aggregate={name}")
                if both is None:
                    continue
                told = f"Kendall’s τ with the maximum is {both.tau.text}."
                claim = f"S-{asked.name} with the {word} over classes has the same pattern"
                yield Finding(
                    "Aggregation",
                    claim,
                    name_of(problem),
                    at_least(both.tau, ALIKE),
                    *both.tau,
                    sentence=f"{told} {MEAN_AND_SUM}" if name == "total" else told,
                )


def unconstrained(results: Results, wide: Any) -> Iterator[Finding]:
    """FairReg always reduces to the unconstrained model, that is at all of its settings."""
    for problem in problems_of(results, "regression"):
        rows = part(wide, problem, "linear", "all")
        base = rows[rows["method"] == "Base"].set_index("seed")["rmse"]
        own = rows[rows["method"] == "FairReg"]
        if own.empty or base.empty:
            continue
        away = abs(own["rmse"] / own["seed"].map(base) - 1)
        found = estimate((away <= AS_BASE).groupby(own["seed"]).mean(), bounds=(0, 1))
        nearest, furthest = (getattr(away.groupby(own["seed"]), end)().mean() for end in ENDS)
        told = (
            f"{found.value:.0%} of its settings are within {AS_BASE:.0%} of the RMSE of Base; the "
            f"nearest is off it by {nearest:.2%} and the furthest by {furthest:.2%}."
        )
        claim = "FairReg always reduces to the unconstrained model"
        verdict = at_least(found, ALWAYS)
        yield Finding("Q1", claim, name_of(problem), verdict, *found, sentence=told)


def base_models(results: Results, wide: Any) -> Iterator[Finding]:
    """Whether gradient boosting underneath leaves the order of settings as it is."""
    for asked in (one for one in ASKED if one.kind == "classification"):
        for problem in problems_of(results, "classification"):
            both = [part(wide, problem, base, asked.family) for base in ("logistic", "boosting")]
            keys = [*SETTING, "seed"]
            rows = both[0].merge(both[1], on=keys, suffixes=("", " boosting"))
            told = agreement(rows, asked.pq, f"{asked.pq} boosting")
            if told is None:
                continue
            claim = f"S-{asked.name} orders settings alike on logistic regression and on boosting"
            sentence = f"Kendall’s τ is {told.tau.text} over {told.settings} settings."
            verdict = at_least(told.tau, ALIKE)
            where = name_of(problem)
            yield Finding(
                "Base model", claim, where, verdict, *told.tau, sentence=sentence, source=OURS
            )


QUESTIONS = (
    *ORDERS.values(),
    *(f"{asked.pq} aggregate={name}" for asked in ASKED[:2] for name in AGGREGATES),
)
