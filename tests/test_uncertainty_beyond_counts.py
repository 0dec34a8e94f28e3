"""Means, areas, distributions, calibration and weights: the test is valid, the interval holds."""

import numpy as np
import pytest

import evenhand as eh
from evenhand._data.summaries import Rows, summarize
from lanes import one_in


def rows(rng, groups=6, size=150, apart=0.0):
    """Groups of one size; the last is further up by `apart`."""
    group = np.repeat(np.arange(groups), size)
    up = apart * (group == groups - 1)
    y = rng.gamma(2.0, 1.0, len(group))
    yhat = y + rng.normal(size=len(group)) + up
    score = np.clip(rng.beta(2, 3, len(group)) + up / 5, 0, 1)
    hit = (rng.random(len(group)) < np.clip(score - up / 5, 0, 1)).astype(int)
    weight = rng.gamma(3.0, 1 / 3, len(group))
    return {"group": group, "y": y, "yhat": yhat, "score": score, "hit": hit, "weight": weight}


def source(name, drawn):
    whom = {"sensitive_features": drawn["group"]}
    if name == "weighted":
        selected = drawn["score"] > 0.4
        return eh.tally(None, selected, sample_weight=drawn["weight"], **whom)
    if name in ("moments", "steps"):
        return summarize(name, Rows(drawn["y"], drawn["yhat"], **whom))
    return summarize(name, Rows(drawn["hit"], None, y_score=drawn["score"], **whom))


CASES = {
    "weighted": ("statistical_parity", {}),
    "moments": ("weak_parity", {}),
    "mse": ("performance_parity", {"g": "mse"}),
    "ranks": ("performance_parity", {"g": "auroc"}),
    "losses": ("performance_parity", {"g": "cross_entropy"}),
    "steps": ("strong_parity", {}),
    "integral": ("wasserstein_parity", {}),
    "bins": ("calibration_parity", {}),
}
NEEDS = {"mse": "moments", "integral": "steps"}


ASKED = [(case, "mpd") for case in CASES]
ASKED += [
    (case, measure) for case in ("weighted", "moments", "steps") for measure in ("gini", "pq")
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", one_in(3, ASKED), ids=str)
def test_the_p_value_is_uniform_or_conservative_under_fairness(asked):
    case, measure = asked
    rng = np.random.default_rng(7)
    criterion, options = CASES[case]
    values = np.array(
        [
            eh.chance(
                criterion,
                source(NEEDS.get(case, case), rows(rng)),
                measure=measure,
                replicates=199,
                random_state=rng,
                **options,
            ).p_value
            for _ in range(100)
        ]
    )
    assert np.mean(values <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
    assert np.mean(values <= 0.2) <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 100)
    assert np.median(values) > 0.35


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_real_difference_is_found(case):
    rng = np.random.default_rng(1)
    criterion, options = CASES[case]
    drawn = rows(rng, size=2000, apart=0.8)
    if case in ("ranks", "losses"):
        last = drawn["group"] == 5
        drawn["hit"] = np.where(last, rng.permutation(drawn["hit"]), drawn["hit"])
    if case == "bins":
        drawn["hit"] = np.where(drawn["group"] == 5, 0, drawn["hit"])
    counted, options = source(NEEDS.get(case, case), drawn), {"measure": "mpd", **options}
    found = eh.chance(criterion, counted, random_state=0, **options)
    assert found.p_value < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "apart"), one_in(2, ["mpd", "gini", "pq"], [0.0, 0.6]))
def test_intervals_of_means_hold_the_truth(apart, measure):
    """True means are 2, and 2 + apart in the last group; 40 worlds."""
    rng = np.random.default_rng(5)
    means = np.append(np.full(7, 2.0), 2.0 + apart)
    true = float(eh.MEASURES[measure](means))
    held = 0
    for _ in range(40):
        sums = source("moments", rows(rng, groups=8, size=100, apart=apart))
        found = eh.interval("weak_parity", sums, measure=measure)
        held += found.low - 1e-9 <= true <= found.high + 1e-9
    assert held >= 36


@pytest.mark.slow
@pytest.mark.parametrize("apart", one_in(2, [0.6, 0.0]))
def test_intervals_of_the_largest_gap_of_distributions_hold_the_truth(apart):
    """The exact gap of two distributions is had from a hundred thousand rows."""
    rng = np.random.default_rng(6)
    many = source("steps", rows(rng, groups=2, size=200_000, apart=apart))
    true = eh.evaluate("strong_parity", many, measure="mpd") if apart else 0.0
    held = 0
    for _ in range(40):
        scores = source("steps", rows(rng, groups=2, size=300, apart=apart))
        found = eh.interval("strong_parity", scores, measure="mpd")
        held += found.low <= true <= found.high
    assert held >= 36


@pytest.mark.parametrize("rows", [20, 40, 200])
def test_perfect_calibration_in_few_rows_may_hide_what_they_cannot_exclude(rows):
    y, group = np.tile([0, 1], rows), np.repeat(["a", "b"], rows)
    found = eh.interval(
        "calibration_within_groups",
        y,
        y_score=y.astype(float),
        sensitive_features=group,
        measure="mpd",
    )
    unseen = 1 - 0.05 ** (1 / rows)  # an error rate that shows no error in 5 % of such groups
    assert found.low == 0
    assert unseen <= found.high < 3 * unseen


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4, 1e8])
def test_relative_measures_of_means_near_zero_have_finite_limits_at_any_scale(scale):
    rng = np.random.default_rng(0)
    predicted, group = rng.normal(size=200) * scale, rng.choice([*"abc"], 200)
    found = eh.audit(predicted * 1.1, predicted, sensitive_features=group)
    for measured in found.finding("weak_parity").values.values():
        assert 0 <= measured.low <= measured.value <= measured.high < np.inf
