"""What the paper says of single curves: Rejection's for EO, and what the transform does to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scipy.stats import kendalltau

from evenhand.benchmark.sections import Finding
from paper.findings.estimates import at_least, estimate
from paper.findings.ranks import DIGITS, LEAST
from paper.findings.values import by_seed, part
from paper.words import name_of

EO, S_EO = "equalized_odds.mpd", "average_odds.pq"
MSE, MSE_EXP = "performance_parity.pq g=mse", "performance_parity.pq transform=exp g=mse"
COMPARED = (
    ("compas", "logistic", "odds", "LinearPost", S_EO, f"{S_EO} transform=exp"),
    ("compas", "logistic", "odds", "Rejection", S_EO, f"{S_EO} transform=exp"),
    ("law_school", "linear", "all", "LinearPost_R", MSE, MSE_EXP),
    ("law_school", "targets", "all", "LinearPost_R", MSE, MSE_EXP),
)


def intuitive(wide: Any) -> Iterator[Finding]:
    """Whether accuracy rises with S-EO along Rejection's curve more than with EO."""
    here = part(wide, "adult", "logistic", "odds")
    here = here[here["method"] == "Rejection"].dropna(subset=["accuracy", EO, S_EO])
    pairs = [
        [_tau(rows["accuracy"], rows[question]) for question in (EO, S_EO)]
        for _, rows in here.groupby("seed")
        if len(rows) >= LEAST
    ]
    if not pairs:
        return
    by_mpd, by_pq = (estimate(side, bounds=(-1, 1)) for side in zip(*pairs, strict=True))
    gain = estimate([after - before for before, after in pairs])
    told = (
        "Kendall’s τ between accuracy and the criterion along the curve, 1 for a trade-off "
        f"without exception, is {by_mpd.text} by MPD and {by_pq.text} by PQ."
    )
    claim = "Rejection’s curve is more intuitive by S-EO than by EO"
    yield Finding("Q1", claim, name_of("adult"), at_least(gain, 0.0), *gain, sentence=told)


def consistent(wide: Any) -> Iterator[Finding]:
    """Whether splits agree more on the order of a method's settings after the transform."""
    for problem, base, family, method, raw, exp in COMPARED:
        here = part(wide, problem, base, family)
        here = here[here["method"] == method]
        before, after = (_with_others(here, question) for question in (raw, exp))
        if not before or len(before) != len(after):
            continue
        gain = estimate([y - x for x, y in zip(before, after, strict=True)])
        told = (
            f"Kendall’s τ between a split’s order of the settings and that of the other splits’ "
            f"mean is {estimate(before, bounds=(-1, 1)).text} as it is and "
            f"{estimate(after, bounds=(-1, 1)).text} with the transform."
        )
        claim = f"The exponential transform makes S-EO of {method} more consistent over splits"
        where = f"{name_of(problem)}{', on the true targets' if base == 'targets' else ''}"
        yield Finding("Positivity", claim, where, at_least(gain, 0.0), *gain, sentence=told)


def _with_others(here: Any, question: str) -> list[float]:
    """τ of each split with the mean of the others."""
    wide = by_seed(here, question).dropna()
    if len(wide) < LEAST or wide.shape[1] < 3:
        return []
    return [_tau(wide[seed], wide.drop(columns=seed).mean(axis=1)) for seed in wide.columns]


def _tau(a: Any, b: Any) -> float:
    return float(kendalltau(a.round(DIGITS), b.round(DIGITS)).statistic)


QUESTIONS = (EO, S_EO, f"{S_EO} transform=exp", MSE, MSE_EXP)
