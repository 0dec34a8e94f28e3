"""Every claim about tests and intervals in designs that are hard, measured beside its bar.

python benchmarks/bars.py                        60 simulations of each design
python benchmarks/bars.py --simulations 400      as in docs/explanation/coverage.md: 20 CPU minutes
python benchmarks/bars.py --only auroc watch     claims whose names have one of these words
python benchmarks/bars.py --store FILE           what is in the file already is not simulated again

The designs are those of `adversarial.py`, and more of the same classes. Where all groups are alike,
the share of p-values of at most 5 % and 1 % is the type I error; elsewhere power is compared with
that of the textbook's test on the same rows. Bars are taken literally: a true 0.0125 shows as more
than 0.02 in one of ten runs of 400. What misses its bar is named at the end.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import statsmodels.api as sm
from adversarial import (
    Columns,
    Design,
    Rng,
    asked,
    calibrated,
    designs,
    lognormal,
    mixture,
    other_designs,
    rates,
    regression,
    repeated,
    summary,
    templates,
    zeros,
)
from scipy.stats import chi2, norm, ttest_1samp, ttest_ind

import evenhand as eh

BARS = {"at 5 %": 0.07, "at 1 %": 0.02, "below": 0.05, "test and low disagree": 0.0}
COVERAGE, POWER = 0.93, 0.95

# More designs of each class.


def hard_negatives(sizes: Any) -> Callable[[Rng], Columns]:
    """A fifth of the negatives is ranked as high as the positives."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        y = (rng.random(len(group)) < 0.3).astype(int)
        high = (y == 1) | (rng.random(len(group)) < 0.2)
        return {
            "y_true": y,
            "y_score": rng.standard_normal(len(group)) + 3.0 * high,
            "sensitive_features": group,
        }

    return draw


def binormal(sizes: Any, apart: Any, positives: float = 0.3) -> Callable[[Rng], Columns]:
    """Normal scores; those of positives are higher by so many standard deviations, by group."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        y = (rng.random(len(group)) < positives).astype(int)
        score = rng.standard_normal(len(group)) + np.asarray(apart)[group] * y
        return {"y_true": y, "y_score": score, "sensitive_features": group}

    return draw


def tailed_noise(sizes: Any, freedom: float = 4.0) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        x = rng.standard_normal(len(group))
        y = x + rng.standard_t(freedom, len(group)) / np.sqrt(2)
        return {"y_true": y, "y_pred": x, "sensitive_features": group}

    return draw


def outlying_noise(rng: Rng) -> Columns:
    """A few errors are ten times as large, and so are outliers of the truth as well."""
    group = repeated((300, 300))
    x = rng.standard_normal(len(group))
    error = 0.5 * rng.standard_normal(len(group)) * np.where(rng.random(len(group)) < 0.02, 10, 1)
    return {"y_true": x + error, "y_pred": x, "sensitive_features": group}


def rare_scores(rng: Rng) -> Columns:
    """Scores of a rare outcome, between 0.1 % and 20 %."""
    group = repeated((4000, 600, 300))
    score = np.exp(rng.uniform(np.log(0.001), np.log(0.2), len(group)))
    y = (rng.random(len(group)) < score).astype(int)
    return {"y_true": y, "y_score": score, "sensitive_features": group, "score_of": 1}


def ones(
    sizes: Any, share: float, high: float = 1.0, noise: float = 0.0
) -> Callable[[Rng], Columns]:
    """Numbers near 0 and a few that are high: a small group may have none, and shows no spread."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        value = high * (rng.random(len(group)) < share) + noise * rng.standard_normal(len(group))
        return {"y_pred": value, "sensitive_features": group}

    return draw


TAILS: dict[str, Callable[[Rng, int], np.ndarray]] = {  # of mean 0 and standard deviation 1
    "lognormal": lambda rng, n: (rng.lognormal(0, 1, n) - np.exp(0.5)) / 2.1612,
    "Pareto of 3": lambda rng, n: (rng.pareto(3, n) - 0.5) / 0.8660,
    "t of 3": lambda rng, n: rng.standard_t(3, n) / np.sqrt(3),
    "exponential": lambda rng, n: rng.exponential(1.0, n) - 1.0,
    "90 % zeros": lambda rng, n: ((rng.random(n) < 0.1) * rng.exponential(1.0, n) - 0.1) / 0.4359,
}


def tail_in_one(tail: str, sizes: Any, gap: float = 0.0) -> Callable[[Rng], Columns]:
    """Normal groups, and a last one with a tail."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        value = rng.standard_normal(len(group))
        last = group == len(sizes) - 1
        value[last] = TAILS[tail](rng, int(last.sum())) + gap
        return {"y_pred": value, "sensitive_features": group}

    return draw


def squares_in_one(rng: Rng) -> Columns:
    """Squared errors of one size: of Student's t in 200 rows, normal in 2,000 and 500."""
    group = repeated((2000, 500, 200))
    y = rng.standard_normal(len(group))
    y[group == 2] = rng.standard_t(5, 200) / np.sqrt(5 / 3)
    return {"y_true": y, "y_pred": np.zeros(len(group)), "sensitive_features": group}


def amounts(sizes: Any, gap: float, weights: float = 0.0) -> Callable[[Rng], Columns]:
    """Normal amounts; the first group's are higher by the gap."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        value = rng.standard_normal(len(group)) + gap * (group == 0)
        columns = {"y_pred": value, "sensitive_features": group}
        if weights:
            columns["sample_weight"] = np.exp(weights * rng.standard_normal(len(group)))
        return columns

    return draw


def shifted(draw: Callable[[Rng], Columns], gap: float) -> Callable[[Rng], Columns]:
    """The same with more in the first group."""

    def more(rng: Rng) -> Columns:
        columns = draw(rng)
        return columns | {"y_pred": columns["y_pred"] + gap * (columns["sensitive_features"] == 0)}

    return more


def heavy_rows(sizes: Any, weight: float, number: int) -> Callable[[Rng], Columns]:
    """A few rows of the last group weigh as much as many."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        each = np.ones(len(group))
        each[len(group) - sizes[-1] :][:number] = weight
        value = rng.standard_normal(len(group))
        return {"y_pred": value, "sensitive_features": group, "sample_weight": each}

    return draw


def weights_by(power: float, tail: str, sizes: Any) -> Callable[[Rng], Columns]:
    """Weights that grow or fall with a positive value."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        value = rng.lognormal(0, 0.7, len(group)) if tail else rng.gamma(2.0, 1.0, len(group))
        weight = (0.1 + value) ** power
        return {"y_pred": value, "sensitive_features": group, "sample_weight": weight}

    return draw


def matched(pairs: int, gap: float, is_rate: bool = False) -> Callable[[Rng], Columns]:
    """Pairs of one row of each of two groups, that go together."""

    def draw(rng: Rng) -> Columns:
        level = np.repeat(rng.standard_normal(pairs), 2)
        group, pair = np.tile([0, 1], pairs), np.repeat(np.arange(pairs), 2)
        value = level + 0.7 * rng.standard_normal(2 * pairs) + gap * (group == 0)
        columns = {"y_pred": value, "sensitive_features": group, "cluster": pair}
        if is_rate:
            columns |= {"y_pred": (value > 0).astype(int), "favorable": 1}
        return columns

    return draw


def shared_values(clusters: int, groups: int, rows: int, spread: float) -> Callable[[Rng], Columns]:
    """Clusters with so many rows of every group, whose levels have this standard deviation."""

    def draw(rng: Rng) -> Columns:
        size = groups * rows
        cluster = np.repeat(np.arange(clusters), size)
        level = spread * rng.standard_normal(clusters)
        return {
            "y_pred": level[cluster] + rng.standard_normal(len(cluster)),
            "sensitive_features": np.tile(np.arange(size) % groups, clusters),
            "cluster": cluster,
        }

    return draw


def scenarios(rng: Rng) -> Columns:
    """70 scenarios × 135 answers in logits; women's are higher by 0.147, as in discrim-eval."""
    scenario = np.repeat(np.arange(70), 135)
    sex = np.tile(np.arange(135) % 3, 70)
    level = rng.normal(0, 1.5, 70)[scenario] + rng.normal(0, 0.1, (70, 3))[scenario, sex]
    value = level + rng.normal(0, 0.4, len(scenario)) + 0.147 * (sex == 1)
    return {"y_pred": value, "sensitive_features": sex, "cluster": scenario}


def crossed_survey(rng: Rng) -> Columns:
    """Interviewers crossed with districts, weights beside."""
    rows = 1200
    one, two = rng.integers(0, 25, rows), rng.integers(0, 40, rows)
    group = (rng.random(rows) < 0.4).astype(int)
    level = rng.normal(0, 0.7, 25)[one] + rng.normal(0, 0.7, 40)[two]
    return {
        "y_pred": level + rng.standard_normal(rows),
        "sensitive_features": group,
        "cluster": {"interviewer": one, "district": two},
        "sample_weight": rng.uniform(0.5, 2.0, rows),
    }


def more_designs() -> Iterator[tuple[str, Design]]:
    """Classes and more designs of them."""
    areas, within, means = "performance_parity", "calibration_within_groups", "weak_parity"
    for name, draw in (
        ("of a mixture, 600, 150", mixture((600, 150), 0.2, 0.3)),
        ("of a mixture, 5 % of 1000, 50", mixture((1000, 50), 0.05)),
        ("of a mixture, ten of 120", mixture((120,) * 10, 0.3)),
        ("of hard negatives, 800, 100", hard_negatives((800, 100))),
        ("of 0.97, 500, 60", binormal((500, 60), (2.7, 2.7))),
        ("of 30 groups of 40", binormal((40,) * 30, (1.0,) * 30)),
    ):
        yield "AUROC", Design(f"auroc {name}", areas, draw, g="auroc")
    for name, draw in (
        ("t of 4, ten of 150", regression((150,) * 10, 4.0)),
        ("t of 3, 2000, 60", regression((2000, 60), 3.0)),
        ("noise of t of 4, 400, 100", tailed_noise((400, 100))),
        ("noise of t of 3, 500, 200", tailed_noise((500, 200), 3.0)),
        ("2 % of errors ten times as large, 300, 300", outlying_noise),
        ("t of 3, thirty of 3", regression((3,) * 30, 3.0)),
        ("t of 3, thirty of 8", regression((8,) * 30, 3.0)),
    ):
        yield "R²", Design(f"r2, {name}", areas, draw, g="r2")
    for name, draw in (
        ("8 levels, equally wrong, five of 400", calibrated((400,) * 5, 8, 2.0)),
        ("4 levels, 500, 60", calibrated((500, 60), 4)),
        ("ten of 200", calibrated((200,) * 10, 0)),
        ("rare scores", rare_scores),
    ):
        yield "calibration", Design(f"calibration, {name}", within, draw)
    for name, draw in (
        ("99 % zeros, 5000, 200", zeros((5000, 200), 0.99)),
        ("90 % zeros, 300, 30", zeros((300, 30), 0.9)),
        ("80 % zeros, ten of 60", zeros((60,) * 10, 0.8)),
        ("5 % ones, 2000, 50", ones((2000, 50), 0.05)),
        ("2 % ones, 1000, 200", ones((1000, 200), 0.02)),
        ("5 % near 8, eight of 60", ones((60,) * 8, 0.05, 8.0, 0.5)),
        ("lognormal, 2000, 20", lognormal((2000, 20))),
        ("lognormal, ten of 60", lognormal((60,) * 10)),
        ("lognormal 0.5, 40, 15", lognormal((40, 15), 0.5)),
    ):
        yield "means with tails", Design(f"mean, {name}", means, draw)
    for tail, small in (
        ("lognormal", 50),
        ("lognormal", 20),
        ("Pareto of 3", 50),
        ("t of 3", 30),
        ("exponential", 25),
        ("90 % zeros", 60),
    ):
        draw = tail_in_one(tail, (1000, small))
        yield "a tail in one group", Design(f"mean, {tail} in {small} alone", means, draw)
    draw = tail_in_one("lognormal", (800, 300, 40))
    yield "a tail in one group", Design("mean, lognormal in 40 of three groups", means, draw)
    of = Design("squared errors, t of 5 in 200 alone", areas, squares_in_one, g="mse")
    yield "a tail in one group", of
    for name, draw in (
        ("weights grow with a gamma", weights_by(1.0, "", (500, 120))),
        ("weights fall with a lognormal", weights_by(-1.0, "lognormal", (400, 100, 60))),
        ("weights fall with a gamma", weights_by(-1.5, "", (300, 300))),
    ):
        yield "weights follow the value", Design(f"mean, {name}", means, draw)
    draw = weights_by(1.0, "", (500, 120))
    yield (
        "weights follow the value",
        Design("distribution, weights grow with a gamma", "strong_parity", draw),
    )
    for name, draw in (
        ("one row of 200 among 40 of three groups", heavy_rows((400, 100, 40), 200.0, 1)),
        ("one row of 50 among 20", heavy_rows((200, 20), 50.0, 1)),
        ("three rows of 60 among 60", heavy_rows((300, 60), 60.0, 3)),
        ("lognormal weights", amounts((400, 60), 0.0, 1.2)),
    ):
        yield "a few heavy rows", Design(f"mean, {name}", means, draw)
    for name, draw in (
        ("60 templates of 3 groups", templates(60, 1, 0.0, groups=3)),
        ("40 templates, ICC .6, rate .15", templates(40, 4, 0.0, icc=0.6, rate=0.15)),
    ):
        yield "clusters across groups", Design(name, "statistical_parity", draw)
    for name, draw in (
        ("50 clusters of six rows of 2 groups", shared_values(50, 2, 3, 1.0)),
        ("40 clusters of four rows of 2 groups, ICC .9", shared_values(40, 2, 2, 3.0)),
        ("80 clusters of ten rows of 5 groups", shared_values(80, 5, 2, 1.0)),
    ):
        of = Design(f"distribution, {name}", "strong_parity", draw)
        yield "clusters across groups", of
    for pairs in (15, 60):
        name = f"means, {pairs} matched pairs"
        yield "clusters across groups", Design(name, means, matched(pairs, 0.0))
    of = Design("rates, 80 matched pairs", "statistical_parity", matched(80, 0.0, is_rate=True))
    yield "clusters across groups", of
    yield "clusters across groups", Design("70 scenarios × 135 answers", means, scenarios, 0.147)
    yield "crossed clusters", Design("means, crossed survey clusters", means, crossed_survey)
    for name, draw in (
        ("2000, 300, 10, 10, 6 at 0.01", rates((2000, 300, 10, 10, 6), 0.01)),
        ("900, 30, 5 at 0.05", rates((900, 30, 5), 0.05)),
        ("40 groups of 6 to 45 at 0.1", rates(np.arange(6, 46), 0.1)),
    ):
        yield "rates, sparse or many", Design(f"rates, {name}", "statistical_parity", draw)


CLASSES = {  # of the designs of `adversarial.py`, by the beginning of their names
    "auroc": "AUROC",
    "r2": "R²",
    "calibration": "calibration",
    "mean, weights": "weights follow the value",
    "mean, sampled": "weights follow the value",
    "distribution": "weights follow the value",
    "rate, sampled": "weights follow the value",
    "mean, one row": "a few heavy rows",
    "rate, one row": "a few heavy rows",
    "mean": "means with tails",
    "lognormal": "means with tails",
    "means, crossed": "crossed clusters",
    "means, 20 raters": "clusters across groups",
    "rates": "rates, sparse or many",
}


def class_of(name: str) -> str:
    if "clusters inside" in name:
        return "clusters inside"
    fitting = [start for start in CLASSES if name.startswith(start)]
    return CLASSES[max(fitting, key=len)] if fitting else "clusters across groups"


# Power beside the textbook's tests.


class Contest(NamedTuple):
    """A design whose groups differ, and the textbook's test of its rows."""

    design: Design
    textbook: Callable[[Columns], float]


def welch(columns: Columns) -> float:
    value, group = columns["y_pred"], columns["sensitive_features"]
    return float(ttest_ind(value[group == 0], value[group == 1], equal_var=False).pvalue)


def paired(columns: Columns) -> float:
    value, group = columns["y_pred"], columns["sensitive_features"]
    cells = [
        np.bincount(columns["cluster"][group == a], value[group == a])
        / np.bincount(columns["cluster"][group == a])
        for a in (0, 1)
    ]
    return float(ttest_1samp(cells[0] - cells[1], 0.0).pvalue)


def mcnemar(columns: Columns) -> float:
    one, two = columns["y_pred"].reshape(-1, 2).T
    more, less = int((one > two).sum()), int((one < two).sum())
    return float(chi2.sf((more - less) ** 2 / max(more + less, 1), 1))


def placements(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """An area under the ROC curve and DeLong's variance of it."""
    high, low = scores[y == 1], scores[y == 0]
    wins = (high[:, None] > low).astype(float) + 0.5 * (high[:, None] == low)
    each = (wins.mean(axis=part) for part in (1, 0))
    return float(wins.mean()), float(sum(part.var(ddof=1) / len(part) for part in each))


def delong(columns: Columns) -> float:
    group, y = columns["sensitive_features"], columns["y_true"]
    (one, first), (two, second) = (
        placements(columns["y_score"][group == a], y[group == a]) for a in (0, 1)
    )
    return float(2 * norm.sf(abs(one - two) / np.sqrt(first + second)))


def by_regression(columns: Columns) -> float:
    """Least squares with robust errors: by cluster where there are any."""
    of = sm.add_constant(columns["sensitive_features"].astype(float))
    model = sm.WLS(columns["y_pred"], of, weights=columns.get("sample_weight", 1.0))
    if "cluster" not in columns:
        return float(model.fit(cov_type="HC1").pvalues[1])
    cluster = columns["cluster"]
    groups = np.column_stack([*cluster.values()]) if isinstance(cluster, dict) else cluster
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    return float(fitted.pvalues[1])


def pearson(columns: Columns) -> float:
    hit, group = columns["y_pred"], columns["sensitive_features"]
    rows, hits = np.bincount(group), np.bincount(group, hit)
    share = hits.sum() / rows.sum()
    square = ((hits - rows * share) ** 2 / (rows * share * (1 - share))).sum()
    return float(chi2.sf(square, len(rows) - 1))


def inside_apart(rng: Rng) -> Columns:
    """25 clusters of each of two groups, whose means differ."""
    cluster = np.repeat(np.arange(50), rng.integers(3, 12, 50))
    group = (cluster >= 25).astype(int)
    value = rng.normal(0, 0.5, 50)[cluster] + rng.standard_normal(len(cluster)) + 0.6 * (group == 0)
    return {"y_pred": value, "sensitive_features": group, "cluster": cluster}


def crossed_apart(rng: Rng) -> Columns:
    columns = crossed_survey(rng)
    shift = 0.25 * (columns["sensitive_features"] == 0)
    return columns | {"y_pred": columns["y_pred"] + shift}


def contests() -> Iterator[Contest]:
    areas, means, chosen = "performance_parity", "weak_parity", "statistical_parity"
    for name, draw in (
        ("auroc, 600, 300", binormal((600, 300), (1.0, 1.5))),
        ("auroc, 300, 80", binormal((300, 80), (0.8, 1.7))),
        ("auroc, 300, 80, the small group lower", binormal((300, 80), (1.7, 0.8))),
        ("auroc of a mixture, 1500, 500", _easier),
    ):
        yield Contest(Design(name, areas, draw, np.nan, "auroc"), delong)
    for name, draw in (
        ("means, 200, 60", amounts((200, 60), 0.42)),
        ("means, 25, 15", amounts((25, 15), 1.0)),
        ("means of 95 % zeros, 2000, 400", shifted(zeros((2000, 400)), 0.09)),
        ("lognormal means, 500, 200", shifted(lognormal((500, 200)), 0.5)),
        ("lognormal means, 200, 500", shifted(lognormal((200, 500)), 0.5)),
        ("means, a tail in 50 above", tail_in_one("lognormal", (1000, 50), 0.45)),
    ):
        yield Contest(Design(name, means, draw, np.nan), welch)
    of = Design("weighted means, 400, 100", means, amounts((400, 100), 0.45, 0.7), np.nan)
    yield Contest(of, by_regression)
    for name, draw in (
        ("means, 40 matched pairs", matched(40, 0.5)),
        ("means, 12 matched pairs", matched(12, 0.95)),
        ("means, 40 templates", lambda rng: _logits(rng, 40, 0.25)),
    ):
        yield Contest(Design(name, means, draw, np.nan), paired)
    of = Design("rates, 40 templates", chosen, templates(40, 6, 0.22), np.nan)
    yield Contest(of, paired)
    for pairs, gap in ((80, 0.45), (300, 0.22)):
        draw = matched(pairs, gap, is_rate=True)
        yield Contest(Design(f"rates, {pairs} matched pairs", chosen, draw, np.nan), mcnemar)
    yield Contest(Design("means, clusters inside", means, inside_apart, np.nan), by_regression)
    yield Contest(Design("means, crossed clusters", means, crossed_apart, np.nan), by_regression)
    for name, draw in (
        ("rates, 200, 100", rates((200, 100), 0.3, 0.18)),
        ("rates, 400, 300, 200", rates((400, 300, 200), 0.3, 0.13)),
    ):
        yield Contest(Design(name, chosen, draw, np.nan), pearson)


def _easier(rng: Rng) -> Columns:
    columns = mixture((1500, 500))(rng)
    more = (columns["sensitive_features"] == 0) & (rng.random(2000) < 0.5)
    return columns | {"y_score": columns["y_score"] + 3.0 * more * columns["y_true"]}


def _logits(rng: Rng, clusters: int, gap: float) -> Columns:
    cluster, group = np.repeat(np.arange(clusters), 6), np.tile([0, 1], 3 * clusters)
    value = rng.normal(0, 1, clusters)[cluster] + 0.8 * rng.standard_normal(len(cluster))
    return {"y_pred": value + gap * (group == 0), "sensitive_features": group, "cluster": cluster}


def contest(of: Contest, simulations: int, seed: int) -> dict[str, Any]:
    """How often either test rejects at 5 % and 1 %."""
    found = []
    for i in range(simulations):
        columns = of.design.draw(np.random.default_rng([i, seed]))
        theirs = of.textbook(columns)
        found.append((asked(of.design, np.random.default_rng([i, seed])).p_value, theirs))
    ours, theirs = np.transpose(found)
    return {
        "design": of.design.name,
        "textbook": of.textbook.__name__,
        **{
            f"{who} at {level:.0%}": float((p <= level).mean())
            for level in (0.05, 0.01)
            for who, p in (("ours", ours), ("theirs", theirs))
        },
    }


# Claims of other kinds: what was measured, the bar, and whether it is met.

Found = tuple[str, str, bool]


def familywise(draw: Callable[[Rng], Columns]) -> Callable[[int], Found]:
    def measured(simulations: int) -> Found:
        false = []
        for i in range(simulations):
            columns = draw(np.random.default_rng([i, 5]))
            audit = eh.audit(columns.pop("y_true"), columns.pop("y_pred"), **columns)
            false.append(min(f.p_adjusted for f in audit.findings if f.p_adjusted == f.p_adjusted))
        share = [float((np.array(false) <= level).mean()) for level in (0.05, 0.01)]
        text = f"{share[0]:.3f} at 5 %, {share[1]:.3f} at 1 %"
        return text, "≤ .07, ≤ .02", share[0] <= 0.07 and share[1] <= 0.02

    return measured


def claims_of(sizes: Any, zero: float) -> Callable[[Rng], Columns]:
    """A regression on amounts of which most are 0."""

    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        risk = rng.gamma(2.0, 0.5, len(group))
        amount = (rng.random(len(group)) > zero) * rng.lognormal(0, 1, len(group)) * risk
        return {"y_true": amount, "y_pred": risk * (1 - zero), "sensitive_features": group}

    return draw


def zero_predictions(rng: Rng) -> Columns:
    columns = claims_of((2000, 50), 0.95)(rng)
    return columns | {"y_pred": columns["y_pred"] * (rng.random(2050) > 0.95)}


def widths_beside(draw: Callable[[Rng], Columns], groups: tuple[int, int]) -> Callable[..., Found]:
    """The half-width of two groups' difference, beside that of a cluster-robust regression."""

    def measured(simulations: int) -> Found:
        ratios = []
        for i in range(min(simulations, 20)):
            columns = draw(np.random.default_rng([i, 6]))
            kept = np.isin(columns["sensitive_features"], groups)
            columns = {
                name: {k: v[kept] for k, v in each.items()}
                if isinstance(each, dict)
                else each[kept]
                for name, each in columns.items()
            }
            columns["sensitive_features"] = (columns["sensitive_features"] == groups[1]).astype(int)
            of = sm.add_constant(columns["sensitive_features"].astype(float))
            cluster = columns["cluster"]
            both = np.column_stack([*cluster.values()]) if isinstance(cluster, dict) else cluster
            model = sm.WLS(columns["y_pred"], of, weights=columns.get("sample_weight", 1.0))
            theirs = model.fit(cov_type="cluster", cov_kwds={"groups": both}).bse[1] * 1.96
            value = columns.pop("y_pred")
            (ours,) = [
                each
                for each in eh.contrasts("weak_parity", None, value, to=0, **columns)
                if each.group == 1
            ]
            ratios.append((ours.high - ours.low) / 2 / theirs)
        middle = float(np.median(ratios))
        return f"{middle:.2f} of statsmodels' half-width", "≤ 1.15", middle <= 1.15

    return measured


def sparse_table(_: int) -> Found:
    group = np.repeat([*"abcd"], [1500, 400, 12, 8])
    hit = np.concatenate(
        [np.arange(n) < k for n, k in ((1500, 30), (400, 8), (12, 2), (8, 2))]
    ).astype(int)
    p = eh.audit(y_pred=hit, sensitive_features=group, criteria="statistical_parity", favorable=1)
    found = p.findings[0].p_value
    return f"p = {found:.4f}", ".0014 by permutations", 0.0005 <= found <= 0.004


def differs_and_low(simulations: int) -> Found:
    wrong = differ = 0
    for i in range(max(simulations // 8, 20)):
        rng = np.random.default_rng([i, 7])
        group = np.repeat(np.arange(60), 20)
        chosen = (rng.random(1200) < rng.beta(12, 28, 60)[group]).astype(int)
        audit = eh.audit(y_pred=chosen, sensitive_features=group, criteria="statistical_parity")
        differs = audit.findings[0].verdict == "differs"
        wrong += (audit.findings[0].gap.low > 0) != differs
        differ += differs
    return f"{wrong} of {differ} that differ", "0", wrong == 0


def unchanged(more: Callable[[Columns, Rng], Columns]) -> Callable[[int], Found]:
    """Of every class some designs: p-values and limits, asked again in another way."""

    def measured(_: int) -> Found:
        moved, number = [], 0
        for design in (*designs(), *other_designs()):
            first = asked(design, np.random.default_rng([0, 8]))

            def again(rng: Rng, draw: Any = design.draw) -> Columns:
                return more(draw(rng), np.random.default_rng(9))

            second = asked(design._replace(draw=again), np.random.default_rng([0, 8]))
            number += 1
            if not np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True):
                moved.append(design.name)
        return f"{len(moved)} of {number} moved {moved or ''}".strip(), "0", not moved

    return measured


def renamed(columns: Columns, rng: Rng) -> Columns:
    group = columns["sensitive_features"]
    names = rng.permutation(np.unique(group).size)
    return columns | {"sensitive_features": np.array([f"g{i}" for i in names])[group]}


def reordered(columns: Columns, rng: Rng) -> Columns:
    order = rng.permutation(len(columns["sensitive_features"]))
    return {
        name: {k: v[order] for k, v in each.items()}
        if isinstance(each, dict)
        else each[order]
        if isinstance(each, np.ndarray)
        else each
        for name, each in columns.items()
    }


def with_ones(columns: Columns, _: Rng) -> Columns:
    return {"sample_weight": np.ones(len(columns["sensitive_features"]))} | columns


def with_own_clusters(columns: Columns, _: Rng) -> Columns:
    return {"cluster": np.arange(len(columns["sensitive_features"]))} | columns


def compared(leave_out: bool, gap: float, table: str = "differences") -> Callable[[int], Found]:
    """A model that is fair and one with a gap, in two large groups beside three groups of ten.

    By MPD, whose largest gap may be that of a group of ten, or by the gaps between two groups.
    """

    def measured(simulations: int) -> Found:
        found, number = 0, min(simulations, 60 if gap else 200)
        for i in range(number):
            rng = np.random.default_rng([i, 10])
            group = np.repeat([*"abcde"], [2000, 2000, 10, 10, 10])
            fair = (rng.random(len(group)) < 0.3).astype(int)
            more = (group == "a") & (fair == 0) & (rng.random(len(group)) < gap / 0.7)
            same = rng.random(len(group)) < 0.9
            other = np.where(same, fair, (rng.random(len(group)) < 0.3).astype(int))
            kept = np.isin(group, [*"ab"]) if leave_out else np.ones(len(group), bool)
            models = {"fair": other[kept], "gap": np.where(more, 1, fair)[kept]}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                comparison = eh.compare(
                    None,
                    models,
                    sensitive_features=group[kept],
                    criteria="statistical_parity",
                    favorable=1,
                )
            rows = comparison.to_frame(table=table)
            if table == "differences":
                rows = rows[rows["measure"] == "mpd"]
            found += bool((rows["p_adjusted"] <= 0.05).any())
        if gap:
            return f"{found} of {number}", "≥ .8", found >= 0.8 * number
        return f"{found} of {number}", "≤ .07", found <= 0.07 * number

    return measured


def watched(gap: float, drifts: bool) -> Callable[[int], Found]:
    """120 days of two groups; the bound of 0.1 and changes are looked at on thirty of them."""

    def measured(simulations: int) -> Found:
        wrong, kept, number = 0, 0, max(min(simulations // 20, 20), 3)
        for i in range(number):
            rng = np.random.default_rng([i, 11])
            watch = eh.Watch(
                "statistical_parity",
                fail_if={"statistical_parity.mpd": 0.1},
                measures="mpd",
                favorable=1,
            )
            alarmed = False
            for day in range(120):
                place = day / 120 if drifts else 0.4
                group = (rng.random(600) < 0.1 + 0.8 * place).astype(int)
                rate = 0.1 + 0.5 * place + gap * (group == 0)
                chosen = (rng.random(600) < rate).astype(int)
                counts = eh.tally(None, chosen, sensitive_features=group)
                watch.update(counts, part=str(day), at=date.fromordinal(739_000 + day))
                if day % 4 == 3:
                    status = watch.status()
                    alarmed |= status.judgements[0].outcome == "violation"
                    alarmed |= any(change.changed for change in status.changes)
            wrong += alarmed
            kept += status.judgements[0].outcome == "pass"
        text = f"{wrong} of {number} alarm, {kept} keep the bound"
        return text, "≤ .05 alarm, all keep", wrong <= 0.05 * number and kept == number

    return measured


CLAIMS: dict[str, Callable[[int], Found]] = {
    "familywise, regression with 95 % zeros, 2000, 50": familywise(claims_of((2000, 50), 0.95)),
    "familywise, regression with 95 % zeros, 500, 100, 100": familywise(
        claims_of((500, 100, 100), 0.95)
    ),
    "familywise, regression with 80 % zeros, five": familywise(
        claims_of((600, 200, 100, 60, 40), 0.8)
    ),
    "familywise, predictions of 95 % zeros too": familywise(zero_predictions),
    "70 scenarios × 135 answers, width": widths_beside(scenarios, (0, 1)),
    "crossed survey clusters, width": widths_beside(crossed_survey, (0, 1)),
    "30, 8, 2, 2 of 1500, 400, 12, 8": sparse_table,
    "differs exactly where the interval excludes 0": differs_and_low,
    "groups renamed": unchanged(renamed),
    "rows in another order": unchanged(reordered),
    "sample_weight all 1": unchanged(with_ones),
    "clusters of one row": unchanged(with_own_clusters),
    "compare, a gap of .10 beside three groups of ten": compared(False, 0.1),
    "compare, the same without the groups of ten": compared(True, 0.1),
    "compare, no gap beside three groups of ten": compared(False, 0.0),
    "compare by gaps, one of .10 beside three groups of ten": compared(False, 0.1, "gaps"),
    "compare by gaps, one of .03 beside three groups of ten": compared(False, 0.03, "gaps"),
    "compare by gaps, none beside three groups of ten": compared(False, 0.0, "gaps"),
    "watch, drift of mix and rate": watched(0.0, drifts=True),
    "watch, drift and a steady gap of .05, bound .10": watched(0.05, drifts=True),
    "watch, a steady gap of .05, bound .10": watched(0.05, drifts=False),
}


def misses_of(known: dict[str, Any]) -> list[str]:
    """What of a design is beyond a bar."""
    over = [name for name, bar in BARS.items() if known.get(name, 0.0) > bar + 1e-12]
    if known.get("coverage", 1.0) < COVERAGE:
        over.append("coverage")
    return over


class Printed:
    """Lines of a table in Markdown, and what misses its bar."""

    def __init__(self, store: Path | None) -> None:
        self.store, self.missed = store, list[str]()
        self.done: dict[str, Any] = {}
        if store and store.exists():
            self.done = json.loads(store.read_text())

    def known(self, key: str, call: Callable[[], Any]) -> Any:
        if key not in self.done:
            self.done[key] = call()
            if self.store:
                self.store.write_text(json.dumps(self.done, indent=1))
        return self.done[key]

    def line(self, name: str, cells: list[Any], missed: list[str]) -> None:
        shown = [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells]
        print(f"| {' | '.join([name, *shown, 'MISS' if missed else ''])} |", flush=True)
        if missed:
            self.missed.append(f"{name}: {', '.join(missed)}")


def heads(*names: str) -> None:
    print(f"\n| {' | '.join(names)} |\n|{' --- |' * len(names)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=60)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    printed, times = Printed(options.store), options.simulations

    def wanted(*names: str) -> bool:
        return not options.only or any(word in name for word in options.only for name in names)

    plain = [(class_of(each.name), each) for each in (*designs(), *other_designs())]
    null = [(of, each) for of, each in (*plain, *more_designs()) if not np.isnan(each.truth)]
    heads("class", "design", "at 5 %", "at 1 %", "held", "below", "disagree", "bar")
    for of, design in sorted(null, key=lambda pair: pair[0]):
        if wanted(of, design.name):
            key = f"{design.name}; {times} of {options.seed}"
            known = printed.known(key, lambda d=design: summary(d, times, options.seed))
            if design.truth:  # groups that differ
                known = {k: v for k, v in known.items() if not k.startswith("at ")}
            names = ("at 5 %", "at 1 %", "coverage", "below", "test and low disagree")
            cells = [design.name, *(known.get(name, "–") for name in names)]
            printed.line(of, cells, misses_of(known))
    heads("power", "textbook", "ours", "theirs", "ratio", "ours at 1 %", "theirs at 1 %", "bar")
    for each in contests():
        if wanted("power", each.design.name):
            key = f"power: {each.design.name}; {times} of {options.seed}"
            known = printed.known(key, lambda c=each: contest(c, times, options.seed))
            part = known["ours at 5%"] / max(known["theirs at 5%"], 1e-9)
            both = [known[f"{who} at 1%"] for who in ("ours", "theirs")]
            cells = [known["textbook"], known["ours at 5%"], known["theirs at 5%"], part, *both]
            printed.line(each.design.name, cells, ["power"] if part < POWER else [])
    heads("claim", "measured", "wanted", "bar")
    for name, measured in CLAIMS.items():
        if wanted(name):
            text, bar, met = printed.known(f"{name}; {times}", lambda m=measured: m(times))
            printed.line(name, [text, bar], [] if met else [text])
    print(f"\n{len(printed.missed)} miss their bar.", *printed.missed, sep="\n")


if __name__ == "__main__":
    main()
