"""Adversarial designs: type I error, coverage and power where rows are skewed, weighted or paired.

python benchmarks/adversarial.py                        60 simulations of each design
python benchmarks/adversarial.py --simulations 400      as in docs/explanation/coverage.md
python benchmarks/adversarial.py --only auroc weights   designs whose names have one of these words
python benchmarks/adversarial.py --search 40            and random shapes
python benchmarks/adversarial.py --seed 2               other draws

Every design draws its rows and says what is true of them: the largest difference between groups.
Where that is 0, the share of p-values of at most 5 % (and 1 %) is the type I error; elsewhere it
is power. Coverage is that of the 95 % interval of the largest difference, and `below` is how often
its upper end is below the truth. With `--store FILE` designs that are done already are not run
again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.interval import interval_of
from evenhand.criteria.evaluation import named

Columns = dict[str, Any]
Rng = np.random.Generator


class Design(NamedTuple):
    """A criterion, how rows are drawn, and the largest true difference between groups."""

    name: str
    criterion: str
    draw: Callable[[Rng], Columns]
    truth: float = 0.0
    g: str | None = None


class Outcome(NamedTuple):
    """What one simulation says."""

    p_value: float
    low: float
    high: float


def asked(design: Design, rng: Rng) -> Outcome:
    """The p-value and the interval of the largest difference, of rows drawn anew."""
    columns = design.draw(rng)
    y_true, y_pred = columns.pop("y_true", None), columns.pop("y_pred", None)
    favorable = columns.pop("favorable", None)
    criterion = named(design.criterion)
    reading = criterion.read(
        y_true, y_pred, measure="mpd", g=design.g, favorable=favorable, **columns
    )
    criterion = criterion.with_statistic(design.g)
    estimates = estimates_of(reading.source, criterion, favorable)
    p_value = homogeneity(reading.source, criterion, estimates).p_value
    known = interval_of(estimates, reading.settings, reading, reading.source, 0.95, p_value)
    return Outcome(p_value, known.low, known.high)


def repeated(sizes: Any) -> np.ndarray:
    return np.repeat(np.arange(len(sizes)), sizes)


# Areas: a rare class of which some are easy and some as hard as the others.


def mixture(sizes: Any, positives: float = 0.1, easy: float = 0.6) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        y = (rng.random(len(group)) < positives).astype(int)
        score = rng.standard_normal(len(group)) + np.where(rng.random(len(group)) < easy, 4, 0) * y
        return {"y_true": y, "y_score": score, "sensitive_features": group}

    return draw


def weighted_scores(rng: Rng) -> Columns:
    columns = mixture((800, 300), 0.3, 0.5)(rng)
    return columns | {"sample_weight": np.exp(columns["y_score"])}


# Explained variance: predictors with heavy tails.


def regression(sizes: Any, tails: float) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        x = rng.standard_t(tails, len(group)) if tails else _contaminated(rng, len(group))
        y = x + rng.standard_normal(len(group))
        return {"y_true": y, "y_pred": x, "sensitive_features": group}

    return draw


def _contaminated(rng: Rng, rows: int) -> np.ndarray:
    return rng.standard_normal(rows) * np.where(rng.random(rows) < 0.05, 6.0, 1.0)


# Calibration: scores of a few levels, and scores that are equally wrong in all groups.


def calibrated(sizes: Any, levels: int, power: float = 1.0) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        score = rng.uniform(0.02, 0.98, len(group))
        if levels:
            score = (np.floor(score * levels) + 0.5) / levels
        y = (rng.random(len(group)) < score**power).astype(int)
        return {"y_true": y, "y_score": score, "sensitive_features": group, "score_of": 1}

    return draw


# Means: many zeros, long tails, and weights that follow the value.


def zeros(sizes: Any, share: float = 0.95) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        amount = rng.lognormal(0, 1, len(group)) * (rng.random(len(group)) > share)
        return {"y_pred": amount, "sensitive_features": group}

    return draw


def lognormal(sizes: Any, scale: float = 1.0) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        return {"y_pred": rng.lognormal(0, scale, len(group)), "sensitive_features": group}

    return draw


def follows(draw: Callable[[Rng], Columns]) -> Callable[[Rng], Columns]:
    def weighted(rng: Rng) -> Columns:
        columns = draw(rng)
        return columns | {"sample_weight": np.abs(columns["y_pred"])}

    return weighted


def uneven_spread(rng: Rng) -> Columns:
    group = repeated((1000, 50))
    return {
        "y_pred": rng.normal(0, np.where(group == 0, 1.0, 3.0)),
        "sensitive_features": group,
    }


def heavy_row(rng: Rng) -> Columns:
    group = repeated((400, 40))
    weight = np.ones(440)
    weight[400] = 200.0
    return {
        "y_pred": rng.standard_normal(440),
        "sensitive_features": group,
        "sample_weight": weight,
    }


def heavy_rate(rng: Rng) -> Columns:
    columns = heavy_row(rng)
    return columns | {"y_pred": (columns["y_pred"] > 0.5).astype(int), "favorable": 1}


# Clusters across groups: every template is asked of every group.


def templates(
    clusters: int, answers: int, gap: float, groups: int = 2, icc: float = 0.3, rate: float = 0.5
) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        spread = np.sqrt(icc / (1 - icc))
        level = rng.normal(0, 1.0 if icc == 0 else spread * 1.6, clusters)
        cluster = np.repeat(np.arange(clusters), groups * answers)
        group = np.tile(np.repeat(np.arange(groups), answers), clusters)
        odds = np.log(rate / (1 - rate)) + level[cluster] * (icc > 0) + 4 * gap * (group == 0)
        hit = rng.random(len(group)) < 1 / (1 + np.exp(-odds))
        return {
            "y_pred": hit.astype(int),
            "sensitive_features": group,
            "cluster": cluster,
            "favorable": 1,
        }

    return draw


def crossed(rng: Rng) -> Columns:
    """Raters by items, both with effects that all groups share."""
    rater, item = np.repeat(np.arange(30), 40), np.tile(np.arange(40), 30)
    group = rng.integers(0, 2, len(item))
    level = rng.normal(0, 1, 30)[rater] + rng.normal(0, 1, 40)[item]
    return {
        "y_pred": level + rng.standard_normal(len(item)),
        "sensitive_features": group,
        "cluster": {"rater": rater, "item": item},
    }


def inside(clusters: int, groups: int) -> Callable[[Rng], Columns]:
    """Clusters of uneven sizes inside of groups."""

    def draw(rng: Rng) -> Columns:
        size = rng.integers(2, 30, clusters * groups)
        cluster = np.repeat(np.arange(clusters * groups), size)
        level = rng.normal(0, 1, clusters * groups)
        hit = rng.random(len(cluster)) < 1 / (1 + np.exp(-level[cluster]))
        return {
            "y_pred": hit.astype(int),
            "sensitive_features": cluster // clusters,
            "cluster": cluster,
            "favorable": 1,
        }

    return draw


def rates(sizes: Any, rate: float, top: float = 0.0) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group = repeated(sizes)
        hit = rng.random(len(group)) < np.where(group == 0, rate + top, rate)
        return {"y_pred": hit.astype(int), "sensitive_features": group, "favorable": 1}

    return draw


# The same classes in other shapes, on which nothing was tuned.


def uneven_classes(rng: Rng) -> Columns:
    """The rare class is three times as rare in the small group; scores have six levels."""
    group = repeated((1200, 300))
    y = (rng.random(len(group)) < np.where(group == 0, 0.3, 0.1)).astype(int)
    score = np.clip(np.round(rng.normal(0.0 + 1.2 * y, 1.0)), -2, 3)
    return {"y_true": y, "y_score": score, "sensitive_features": group}


def exponential_scores(rng: Rng) -> Columns:
    """Scores with a long tail in six groups, one of them of 60 rows."""
    group = repeated((300, 300, 300, 300, 150, 60))
    y = (rng.random(len(group)) < 0.25).astype(int)
    score = rng.exponential(1.0, len(group)) ** 2 + 2.0 * y * (rng.random(len(group)) < 0.7)
    return {"y_true": y, "y_score": score, "sensitive_features": group}


def tailed_errors(rng: Rng) -> Columns:
    """Errors that grow with the predictor, in three groups."""
    group = repeated((600, 150, 80))
    x = rng.gamma(1.0, 1.0, len(group))
    y = x + rng.standard_t(4, len(group)) * (0.3 + 0.4 * x)
    return {"y_true": y, "y_pred": x, "sensitive_features": group}


def lognormal_fit(rng: Rng) -> Columns:
    group = repeated((500, 120))
    x = rng.lognormal(0, 0.8, len(group))
    y = x + rng.standard_normal(len(group))
    return {"y_true": y, "y_pred": x, "sensitive_features": group}


def extreme_scores(rng: Rng) -> Columns:
    """Scores near 0 and 1, too sure of themselves in every group alike."""
    group = repeated((900, 250, 100))
    score = rng.beta(0.3, 0.3, len(group))
    chance = 1 / (1 + np.exp(-0.6 * np.log((score + 1e-9) / (1 - score + 1e-9))))
    y = (rng.random(len(group)) < chance).astype(int)
    return {"y_true": y, "y_score": score, "sensitive_features": group, "score_of": 1}


def few_levels(rng: Rng) -> Columns:
    group = repeated((2000, 150))
    score = np.array([0.01, 0.1, 0.9])[rng.choice(3, len(group), p=[0.7, 0.2, 0.1])]
    y = (rng.random(len(group)) < score**1.5).astype(int)
    return {"y_true": y, "y_score": score, "sensitive_features": group, "score_of": 1}


def rare_claims(rng: Rng) -> Columns:
    """2 % of the rows have an amount of about 50."""
    group = repeated((1500, 120, 120))
    amount = rng.gamma(4.0, 12.5, len(group)) * (rng.random(len(group)) < 0.02)
    return {"y_pred": amount, "sensitive_features": group}


def steep_gamma(rng: Rng) -> Columns:
    group = repeated((1200, 80))
    return {"y_pred": rng.gamma(0.15, 1.0, len(group)), "sensitive_features": group}


def sampled_by_value(rng: Rng) -> Columns:
    """Weights that undo a sampling by the value, of rates and of amounts."""
    group = repeated((600, 150))
    value = rng.gamma(1.0, 1.0, len(group))
    return {"y_pred": value, "sensitive_features": group, "sample_weight": 1 / (0.15 + value)}


def sampled_by_outcome(rng: Rng) -> Columns:
    group = repeated((700, 90, 90))
    hit = (rng.random(len(group)) < 0.4).astype(int)
    weight = np.exp(0.8 * rng.standard_normal(len(group))) * np.where(hit, 0.3, 1.0)
    return {"y_pred": hit, "sensitive_features": group, "sample_weight": weight, "favorable": 1}


def raters(rng: Rng) -> Columns:
    """20 raters, each of a few people of four groups, unequally many."""
    rater = np.repeat(np.arange(20), rng.integers(6, 40, 20))
    group = rng.choice(4, len(rater), p=[0.55, 0.25, 0.15, 0.05])
    value = rng.normal(0, 1, 20)[rater] + rng.exponential(1.0, len(rater))
    return {"y_pred": value, "sensitive_features": group, "cluster": rater}


def repeated_scores(rng: Rng) -> Columns:
    """People who are scored several times, of one group each; AUROC."""
    person = np.repeat(np.arange(120), rng.integers(2, 9, 120))
    group = (person >= 80).astype(int)
    y = (rng.random(120) < 0.35).astype(int)[person]
    score = rng.normal(0, 1, 120)[person] + y + rng.standard_normal(len(person))
    return {"y_true": y, "y_score": score, "sensitive_features": group, "cluster": person}


def other_designs() -> Iterator[Design]:
    areas, within = "performance_parity", "calibration_within_groups"
    yield Design("auroc, other base rates and ties", areas, uneven_classes, g="auroc")
    yield Design("auroc, long tails, six groups", areas, exponential_scores, g="auroc")
    yield Design("auroc, repeated people", areas, repeated_scores, g="auroc")
    yield Design("r2, errors grow with x", areas, tailed_errors, g="r2")
    yield Design("r2, lognormal x", areas, lognormal_fit, g="r2")
    yield Design("calibration, extreme scores", within, extreme_scores)
    yield Design("calibration, three levels", within, few_levels)
    yield Design("mean of rare claims", "weak_parity", rare_claims)
    yield Design("mean, steep gamma", "weak_parity", steep_gamma)
    yield Design("mean, sampled by the value", "weak_parity", sampled_by_value)
    yield Design("distribution, sampled by the value", "strong_parity", sampled_by_value)
    yield Design("rate, sampled by the outcome", "statistical_parity", sampled_by_outcome)
    yield Design("means, 20 raters of four groups", "weak_parity", raters)
    of = templates(16, 5, 0.0, groups=4, rate=0.2)
    yield Design("16 templates of 4 groups, rate .2", "statistical_parity", of)
    yield Design("8 clusters inside of each of 3 groups", "statistical_parity", inside(8, 3))
    of = rates((3000, 40, 15, 10, 5), 0.01)
    yield Design("rates, sparser", "statistical_parity", of)


def designs() -> Iterator[Design]:
    for sizes in ((1500, 500), (3000, 1000), (400,) * 5):
        yield Design(
            f"auroc of a mixture, {sizes}", "performance_parity", mixture(sizes), g="auroc"
        )
    rare = mixture((1500, 500), 0.02)
    yield Design("auroc of a mixture, 2 % positive", "performance_parity", rare, g="auroc")
    yield Design(
        "auroc, weights follow the score", "performance_parity", weighted_scores, g="auroc"
    )
    for tails in (3.0, 5.0, 0.0):
        for sizes in ((300, 300), (1000, 200)):
            of = regression(sizes, tails)
            yield Design(
                f"r2, {tails or 'contaminated'}, {sizes}", "performance_parity", of, g="r2"
            )
    within = "calibration_within_groups"
    yield Design("calibration, 8 levels", within, calibrated((1000, 400), 8))
    yield Design("calibration, equally wrong", within, calibrated((400,) * 5, 0, 2.0))
    yield Design("calibration, equally wrong, 3000, 300", within, calibrated((3000, 300), 0, 2.0))
    for sizes in ((2000, 50), (500, 100, 100), (2000, 20)):
        yield Design(f"mean of 95 % zeros, {sizes}", "weak_parity", zeros(sizes))
    for scale, sizes in ((1.0, (1000, 50)), (1.5, (1000, 50)), (1.0, (200, 200))):
        yield Design(f"lognormal mean, {scale} {sizes}", "weak_parity", lognormal(sizes, scale))
    yield Design("mean, spread of the small group 3 times", "weak_parity", uneven_spread)
    yield Design("mean, weights follow the value", "weak_parity", follows(lognormal((800, 200))))
    steps = follows(lognormal((800, 200)))
    yield Design("distribution, weights follow the value", "strong_parity", steps)
    yield Design("mean, one row of weight 200 of 40", "weak_parity", heavy_row)
    yield Design("rate, one row of weight 200 of 40", "statistical_parity", heavy_rate)
    for answers, gap in ((1, 0.0), (6, 0.0), (6, 0.09)):
        name = f"40 templates of every group, {answers} answers, gap {gap}"
        yield Design(name, "statistical_parity", templates(40, answers, gap), np.nan if gap else 0)
    of = templates(12, 10, 0.0, groups=3)
    yield Design("12 templates of 3 groups", "statistical_parity", of)
    yield Design("means, crossed clusters", "weak_parity", crossed)
    yield Design("15 clusters inside of each of 2 groups", "statistical_parity", inside(15, 2))
    yield Design("40 clusters inside of each of 4 groups", "statistical_parity", inside(40, 4))
    yield Design("rates, sparse", "statistical_parity", rates((1500, 400, 12, 8), 0.02))
    yield Design("rates, sixty of 20", "statistical_parity", rates((20,) * 60, 0.3))
    yield Design("rates, two", "statistical_parity", rates((200, 100), 0.3, 0.15), 0.15)


SHAPES: tuple[Callable[[Rng, int], np.ndarray], ...] = (
    lambda rng, n: rng.standard_normal(n),
    lambda rng, n: rng.exponential(1.0, n),
    lambda rng, n: rng.lognormal(0, 1.2, n),
    lambda rng, n: rng.standard_t(3, n),
    lambda rng, n: (rng.random(n) < 0.04) * rng.exponential(1.0, n),
    lambda rng, n: np.where(rng.random(n) < 0.1, 8.0, 0.0) + rng.standard_normal(n),
    lambda rng, n: rng.integers(0, 3, n).astype(float),
)


def searched(number: int) -> Iterator[Design]:
    """Random shapes: means of 2 to 30 groups of 15 to 2,000 rows, some weighted or in clusters."""
    for seed in range(number):
        rng = np.random.default_rng([seed, 7])
        sizes = np.exp(rng.uniform(np.log(15), np.log(2000), rng.choice([2, 3, 6, 30]))).astype(int)
        shape, how = int(rng.integers(len(SHAPES))), int(rng.integers(4))

        def draw(rng: Rng, sizes: Any = sizes, shape: int = shape, how: int = how) -> Columns:
            group = repeated(sizes)
            value = SHAPES[shape](rng, len(group))
            columns = {"y_pred": value, "sensitive_features": group}
            if how == 1:
                columns["sample_weight"] = np.exp(0.5 * rng.standard_normal(len(group)))
            if how == 2:
                columns["sample_weight"] = 0.1 + np.abs(value)
            if how == 3:
                columns["cluster"] = np.arange(len(group)) % (len(group) // 4)
            return columns

        weights = ("plain", "weights", "weights that follow", "clusters across groups")[how]
        name = f"search {seed}: shape {shape}, {weights}, {len(sizes)} groups of {min(sizes)} up"
        yield Design(name, "weak_parity", draw)


def summary(design: Design, simulations: int, seed: int) -> dict[str, Any]:
    """How often the test rejects and the interval holds the truth."""
    found = [asked(design, np.random.default_rng([i, seed])) for i in range(simulations)]
    p, low, high = (np.array(part) for part in zip(*found, strict=True))
    rejected = {"at 5 %": (p <= 0.05).mean(), "at 1 %": (p <= 0.01).mean()}
    held = (
        {}
        if np.isnan(design.truth)
        else {
            "coverage": 1 - ((low > design.truth) | (high < design.truth)).mean(),
            "below": (high < design.truth).mean(),
        }
    )
    apart = {"test and low disagree": ((p <= 0.05) != (low > 0)).mean()}
    return {
        "design": design.name,
        "simulations": simulations,
        **{name: round(float(value), 4) for name, value in (rejected | held | apart).items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=60)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--search", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    done: dict[str, Any] = {}
    if options.store and options.store.exists():
        done = json.loads(options.store.read_text())
    for design in [*designs(), *other_designs(), *searched(options.search)]:
        if options.only and not any(word in design.name for word in options.only):
            continue
        key = f"{design.name}; {options.simulations} of {options.seed}"
        if key not in done:
            done[key] = summary(design, options.simulations, options.seed)
            if options.store:
                options.store.write_text(json.dumps(done, indent=1))
        print("  ".join(f"{name}: {value}" for name, value in done[key].items()), flush=True)


if __name__ == "__main__":
    main()
