"""Small designs of every kind, and what inference answers about them.

    PYTHONPATH=src:tests python -m inference.answers      writes answers.json anew

That the answers are right is for other tests to say: coverage by simulation, other libraries, brute
force, and the bootstrap and permutations in `test_answers.py`. Here a change of any of them is seen
at once, so the file is written anew only after a change of the method that those tests have passed.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import evenhand as eh
from evenhand._uncertainty.curves import DISTANCES
from evenhand._uncertainty.differences import Binomials, sure_difference
from evenhand._uncertainty.estimates import Estimates, estimates_of
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.needed import needed
from evenhand._uncertainty.normal_design import NormalModel
from evenhand._uncertainty.pooling import levels_of, pooled
from evenhand.criteria.criterion import Criterion

PLACE = Path(__file__).with_name("answers.json")
MEASURES = ("mpd", "gini", "pq", "ratio")


@cache
def labels(name: str) -> dict[str, Any]:
    """Columns of labels: groups of these sizes, and rates that differ."""
    sizes = {
        "two": [40, 60],
        "small": [4, 12, 40, 90],
        "crowd": [20] * 14 + [35] * 6,
        "large": [4000, 9000, 2500],
        "one apart": [60, *[40] * 24],
        "none selected": [12, 30, 9],
    }.get(name, [60, 90, 50])
    rng = np.random.default_rng(len(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    steep = (group + 1) / (len(sizes) + 1)
    score = np.clip(0.25 + 0.5 * steep + 0.25 * rng.standard_normal(len(group)), 0.01, 0.99)
    if name == "three classes":
        y, p = (np.digitize(score + 0.2 * rng.standard_normal(len(group)), [0.4, 0.65]),) * 2
        p = np.where(rng.random(len(group)) < 0.3, rng.integers(0, 3, len(group)), p)
    else:
        y, p = (rng.random(len(group)) < score).astype(int), (score > 0.5).astype(int)
        p = np.where(rng.random(len(group)) < 0.15, 1 - p, p)
    if name == "small":
        y[group == 0], p[group == 0] = 0, 0  # of whom none is selected, nor qualifies
    if name == "one apart":
        p = np.where(group == 0, rng.random(len(group)) < 0.95, rng.random(len(group)) < 0.35) * 1
    if name == "none selected":
        p = np.where(group == 1, rng.random(len(group)) < 0.1, False) * 1
    columns = {"y_true": y, "y_pred": p, "sensitive_features": group}
    if "weighted" in name:
        columns["sample_weight"] = np.round(0.4 + rng.exponential(1.0, len(group)), 2)
    if "clustered" in name:
        columns["cluster"] = rng.integers(0, 45, len(group))
    if "few clusters" in name:  # each with its own habit
        columns["cluster"] = rng.integers(0, 5, len(group))
        columns["y_pred"] = np.where(columns["cluster"] == 1, 1, p)
    if name == "survey":
        columns["sample_weight"] = surveyed(rng, group)
    if name == "strata":
        columns["strata"] = (rng.random(len(group)) < 0.4).astype(int)
    return columns | ({"y_score": score.round(2)} if name.startswith("scores") else {})


@cache
def numbers(name: str) -> dict[str, Any]:
    """Columns of numbers: groups whose means and losses differ."""
    sizes = {"few": [8, 30, 22], "seventy": [6] * 70}.get(name, [50, 80, 40, 30])
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(len(sizes)), sizes)
    y = 3 + 0.4 * group + rng.gamma(2.0, 0.7, len(group))
    columns = {"y_true": y, "y_pred": y + (0.3 + 0.2 * group) * rng.standard_normal(len(group))}
    columns["sensitive_features"] = group
    if name == "ties":
        columns["y_pred"] = np.round(2 * columns["y_pred"] - 0.1 * group) / 2
    if name == "below 0":
        columns["y_pred"] = columns["y_pred"] - 4.5
    if "weighted" in name:
        columns["sample_weight"] = np.round(0.4 + rng.exponential(1.0, len(group)), 2)
    if "clustered" in name:
        columns["cluster"] = rng.integers(0, 40, len(group))
    if "few clusters" in name:
        columns["cluster"] = rng.integers(0, 6, len(group))
    if name == "survey":
        columns["sample_weight"] = surveyed(rng, group)
    return columns


def surveyed(rng: np.random.Generator, group: Any) -> Any:
    """Weights of people in 25 places, which are left out one at a time."""
    weight, place = rng.uniform(0.5, 2.0, len(group)), rng.integers(0, 25, len(group))
    repeated = np.where(place[:, None] == np.arange(25), 0.0, weight[:, None] * 25 / 24)
    return eh.survey_weights(weight, replicate_weights=repeated, method="jackknife")


ASKED = {  # the design, the criterion and its statistic
    "two rates": (labels, "two", "statistical_parity", None),
    "rates of small groups": (labels, "small", "statistical_parity", None),
    "odds of small groups": (labels, "small", "equalized_odds", None),
    "rates of twenty groups": (labels, "crowd", "statistical_parity", None),
    "rates of many rows": (labels, "large", "equal_opportunity", None),
    "one group apart": (labels, "one apart", "statistical_parity", None),
    "hardly anyone": (labels, "none selected", "selection_rate_ratio", None),
    "three classes": (labels, "three classes", "statistical_parity", None),
    "odds of three classes": (labels, "three classes", "equalized_odds", None),
    "precision": (labels, "three", "predictive_parity", None),
    "accuracy": (labels, "three", "accuracy_parity", None),
    "error odds": (labels, "three", "treatment_equality", None),
    "average odds": (labels, "three", "average_odds", None),
    "f1": (labels, "three", "performance_parity", "f1"),
    "rates in strata": (labels, "strata", "conditional_statistical_parity", None),
    "weighted rates": (labels, "weighted", "statistical_parity", None),
    "weighted odds": (labels, "weighted", "equalized_odds", None),
    "weighted f1": (labels, "weighted", "performance_parity", "f1"),
    "clustered rates": (labels, "clustered", "statistical_parity", None),
    "clustered precision": (labels, "clustered", "predictive_parity", None),
    "rates of few clusters": (labels, "few clusters", "statistical_parity", None),
    "weighted odds of clusters": (labels, "weighted clustered", "equalized_odds", None),
    "f1 of clusters": (labels, "clustered", "performance_parity", "f1"),
    "average odds of clusters": (labels, "clustered", "average_odds", None),
    "rates of a survey": (labels, "survey", "statistical_parity", None),
    "precision of a survey": (labels, "survey", "predictive_parity", None),
    "areas of clusters": (labels, "scores clustered", "performance_parity", "auroc"),
    "weighted areas": (labels, "scores weighted", "performance_parity", "auroc"),
    "weighted calibration": (labels, "scores weighted", "calibration_parity", None),
    "areas": (labels, "scores", "performance_parity", "auroc"),
    "cross entropy": (labels, "scores", "performance_parity", "cross_entropy"),
    "calibration": (labels, "scores", "calibration_parity", None),
    "calibration errors": (labels, "scores", "calibration_within_groups", None),
    "means": (numbers, "four", "weak_parity", None),
    "means of few": (numbers, "few", "weak_parity", None),
    "weighted means": (numbers, "weighted", "weak_parity", None),
    "clustered means": (numbers, "clustered", "weak_parity", None),
    "means of few clusters": (numbers, "few clusters", "weak_parity", None),
    "means of a survey": (numbers, "survey", "weak_parity", None),
    "squared errors of a survey": (numbers, "survey", "performance_parity", "mse"),
    "means below 0": (numbers, "below 0", "weak_parity", None),
    "likelihood": (numbers, "four", "performance_parity", "gaussian_log_likelihood"),
    "squared errors": (numbers, "four", "performance_parity", "mse"),
    "root of squared errors": (numbers, "four", "performance_parity", "rmse"),
    "variance explained": (numbers, "four", "performance_parity", "r2"),
    "absolute errors": (numbers, "weighted", "performance_parity", "mae"),
    "distributions": (numbers, "four", "strong_parity", None),
    "weighted distributions": (numbers, "weighted", "strong_parity", None),
    "clustered distributions": (numbers, "clustered", "strong_parity", None),
    "distributions with ties": (numbers, "ties", "strong_parity", None),
    "distributions of seventy groups": (numbers, "seventy", "strong_parity", None),
    "areas between distributions": (numbers, "few", "wasserstein_parity", None),
}


@cache
def known(name: str) -> tuple[Criterion, Any, Estimates]:
    """The criterion, the summary of the rows, and what is known of the groups."""
    make, design, criterion, g = ASKED[name]
    asked = eh.CRITERIA[criterion].with_statistic(g)
    source = asked.read(**make(design)).source
    return asked, source, estimates_of(source, asked)


def intervals(name: str, method: str) -> Iterator[float]:
    """Ends by every measure, at two levels of confidence by Gini."""
    asked, source, estimates = known(name)
    for measure in MEASURES:
        if measure == "ratio" and asked.across == "integral":
            continue
        for confidence in (0.8, 0.99) if measure == "gini" else (0.95,):
            options = {"measure": measure, "confidence": confidence, "method": method}
            if measure != "mpd" and (estimates.values < 0).any():
                options["transform"] = "exp"
            found = eh.interval(asked, source, **options)
            yield from (found.value, found.low, found.high)


def spread(values: Any) -> Any:
    """A measure of one's own."""
    return np.std(values, axis=-1)


def other_intervals(name: str) -> Iterator[float]:
    """Ends by other aggregates, transforms and measures."""
    asked, source, _ = known(name)
    ways: list[dict[str, Any]] = [{"measure": spread}]
    if asked.across == "worst" and name != "distributions":
        ways += [{"aggregate": "mean"}, {"aggregate": "total", "measure": "pq"}]
        ways += [{"measure": "gini", "transform": "exp"}, {"measure": "shortfall"}]
    else:
        ways += [{"measure": "gini", "transform": "raw", "tau": 0.2}]
    for way in ways:
        found = eh.interval(asked, source, **way)
        yield from (found.value, found.low, found.high)


def chances(name: str) -> Iterator[float]:
    """The noise floor by two measures."""
    asked, source, estimates = known(name)
    exp = "exp" if (estimates.values < 0).any() else None
    for measure in ("mpd", "gini"):
        options = {"transform": exp, "replicates": 150}
        found = eh.chance(asked, source, measure=measure, **options)
        yield from (found.value, found.floor, found.high)


def tests(name: str) -> Iterator[float]:
    """The p-value that all groups are alike."""
    asked, source, estimates = known(name)
    yield homogeneity(source, asked, estimates)


def estimated(name: str) -> Iterator[float]:
    """Single limits, shrunken values, and rows that would tell."""
    *_, estimates = known(name)
    for end in estimates.single(0.9):
        yield from end.ravel()[:12]
    yield from pooled(estimates, levels_of(estimates.groups, 1)).ravel()[:12]
    crossed = np.stack(
        [np.arange(len(estimates.groups)) // 2, np.arange(len(estimates.groups)) % 2]
    )
    yield from pooled(estimates, crossed).ravel()[:12]
    more = needed(estimates, 0.05, 0.1, tests=2)
    if more is not None:
        yield from (more.differ, more.alike, float(len(more.lacking)))


def digest(numbers: Any) -> Iterator[float]:
    """Two numbers that change with any of many: how many are finite, and a sum of all these."""
    every = np.asarray(numbers, float).ravel()
    finite = np.isfinite(every)
    yield float(finite.sum())
    yield float(np.where(finite, every, 0.0) @ (1.5 + np.cos(np.arange(len(every)))))


def details(name: str) -> Iterator[float]:
    """All that is known of the groups: curves near and far, exact bounds, sizes and strata."""
    *_, estimates = known(name)
    near = np.abs(DISTANCES) < 3
    parts = [estimates.values, estimates.sizes, estimates.strata, estimates.looks]
    parts += [estimates.curves[near], estimates.curves[~near], *(estimates.counts or ())]
    for error in (0.1, 1e-4):
        parts += [*estimates.exact(error), *estimates.all_at_once(error)]
    for part in parts:
        yield from digest(part)
    if estimates.counts is not None:
        yield float(estimates.is_weighted)


def normal_noise(name: str) -> Iterator[float]:
    """The same groups by normal noise: how far apart, how well known, and where limits end."""
    *_, estimates = known(name)
    model = NormalModel.of_estimates(estimates)
    if model is None:
        return
    for stratum in (part for question in model.questions for part in question):
        for part in (stratum.shift, stratum.weight, *stratum.null(50), *stratum.drawn(3.0)):
            yield from digest(part)
        yield float(stratum.free)
    for part in (model.values, model.errors, model.upper_ends(0.9, 2.0)):
        yield from digest(part)


def beside(name: str) -> Iterator[float]:
    """Groups beside a reference."""
    asked, source, estimates = known(name)
    for to in ("best", "overall", estimates.groups[1]):
        for by in ("difference", "ratio"):
            found = eh.contrasts(asked, source, to=to, by=by)
            yield from (part for one in found[:6] for part in one[2:])
        for measure in ("mpd", "ratio"):
            limits = eh.interval(asked, source, to=to, measure=measure)
            yield from (limits.low, limits.high)


POWERS: dict[str, dict[str, Any]] = {
    "two rates": {"sizes": [60, 90], "rates": [0.3, 0.5]},
    "one of four apart": {"sizes": [30, 200, 150, 120], "rate": 0.4, "difference": 0.2},
    "another apart": {"sizes": [30, 200, 150], "rate": 0.9, "difference": 0.25, "apart": "group 2"},
    "rare": {"sizes": [90, 400], "rates": [0.0005, 0.03]},
    "certain": {"sizes": [25, 40, 18], "rates": [1.0, 0.8, 1.0], "confidence": 0.8},
    "many groups": {"sizes": [30] * 12, "rate": 0.2, "difference": 0.3, "apart": "group 3"},
    "least": {"sizes": {"a": 80, "b": 300}, "rate": 0.25},
    "alike": {"sizes": [900, 700, 800], "rate": 0.3, "margin": 0.1},
    "means": {"sizes": [40, 60, 30], "means": [1.0, 1.4, 1.1], "sd": 0.9},
    "means alike": {"sizes": [90, 60], "means": [1.0, 1.1], "sd": [0.5, 0.8], "margin": 0.6},
    "means of one and two rows": {"sizes": [1, 2, 30], "means": [1.0, 2.0, 1.2], "sd": 0.5},
    "strict": {"sizes": [500, 800], "rates": [0.1, 0.16], "confidence": 0.99, "power": 0.9},
}


def powers(name: str) -> Iterator[float]:
    found = eh.power(**POWERS[name])
    yield from (found.power, found.difference, found.factor, found.at_least)
    yield from (*found.sizes.values(), float(len(found.limiting)))


def sure_differences(name: str) -> Iterator[float]:
    """How far pairs of rates surely are apart, with rows of equal and of unequal weight."""
    rng = np.random.default_rng(len(name))
    sizes = rng.integers(3, 200, (2, 12)).astype(float)
    hits = np.floor(sizes * np.clip([[0.15], [0.8]] + 0.1 * rng.standard_normal((2, 12)), 0, 1))
    odds = np.ones((2, 12)) if name == "rows" else rng.exponential(1.0, (2, 12)) + 0.2
    pairs = [Binomials(*part) for part in zip(hits, sizes, odds, strict=True)]
    for error in (0.2, 1e-4):
        yield from sure_difference(pairs[0], pairs[1], error)
        yield from sure_difference(pairs[1], pairs[0], error)


def compared(name: str) -> Iterator[float]:
    """Two models on the same rows: their differences by every measure."""
    make, design, criterion, _ = ASKED[name]
    columns = dict(make(design))
    p = columns.pop("y_pred")
    rng = np.random.default_rng(3)
    if make is labels:
        other = np.where(rng.random(len(p)) < 0.25, rng.permutation(p), p)
    else:
        other = p + 0.3 * rng.standard_normal(len(p)) - 0.2 * columns["sensitive_features"]
    asked = {"criteria": [criterion], "measures": ["mpd", "gini", "pq", "shortfall"]}
    found = eh.compare(columns.pop("y_true"), {"m": p, "n": other}, **columns, **asked)
    for row in found.differences.to_dict("records"):
        yield from (value for value in row.values() if isinstance(value, float))


FEW = [name for name in ASKED if "seventy" not in name and "ties" not in name]  # which are slow
OTHERS = ["odds of small groups", "three classes", "means of few", "distributions"]
BESIDE = ["rates of small groups", "three classes", "precision", "weighted rates", "means"]
COMPARED = ["two rates", "odds of small groups", "three classes", "weighted rates", "means"]
ANSWERS: dict[str, Callable[[], Iterator[float]]] = {
    f"{kind}: {name}": lambda function=function, name=name, more=more: function(name, *more)
    for kind, function, names, more in [
        ("calibrated interval", intervals, FEW, ("calibrated",)),
        ("guaranteed interval", intervals, FEW, ("guaranteed",)),
        ("other interval", other_intervals, OTHERS, ()),
        ("chance", chances, ASKED, ()),
        ("test", tests, ASKED, ()),
        ("estimates", estimated, ASKED, ()),
        ("details", details, ASKED, ()),
        ("normal noise", normal_noise, ASKED, ()),
        ("reference", beside, BESIDE, ()),
        ("power", powers, POWERS, ()),
        ("sure difference", sure_differences, ("rows", "weighted rows"), ()),
        ("comparison", compared, COMPARED, ()),
    ]
    for name in names
}


def rounded(value: float) -> float:
    """To twelve decimals, or to six digits of what is smaller than that shows."""
    return round(value, 12) if abs(value) > 1e-6 else float(f"{value:.6g}")


def main() -> None:
    """Write them all."""
    found = {name: [rounded(float(v)) for v in answer()] for name, answer in ANSWERS.items()}
    lines = (f" {json.dumps(name)}: {json.dumps(values)}" for name, values in found.items())
    PLACE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
