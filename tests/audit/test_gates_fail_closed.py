"""Bad inputs × gates, in Python: none is within tolerance where nothing can be known."""

import warnings

import numpy as np
import pytest

import evenhand as eh
from evenhand._audit.gate import gate_of, judge

ROWS = 80
HALF, GROUPS = np.tile([0, 1], ROWS // 2), np.repeat(["a", "b"], ROWS // 2)
RNG = np.random.default_rng(0)
COIN, SCORE, VALUE = RNG.integers(0, 2, ROWS), RNG.random(ROWS), RNG.normal(size=ROWS)

LOOSE = {"mpd": 0.999, "gini": 0.499, "pq": 0.292}  # what two groups may just exceed
LABELS = (
    *("statistical_parity", "equalized_odds", "average_odds", "equal_opportunity"),
    *("predictive_equality", "predictive_parity", "false_omission_rate_parity", "accuracy_parity"),
    *("error_parity", "treatment_equality", "performance_parity(f1)"),
)
SCORES = ("performance_parity(auroc)", "performance_parity(cross_entropy)", "strong_parity")
NUMBERS = ("weak_parity", "performance_parity(mse)", "performance_parity(mae)", "strong_parity")

INPUTS = {
    "two rows": ((["a", "b"], [0, 1], [1, 1]), LABELS),
    "four rows": ((list("aabb"), [0, 1, 0, 1], [0, 1, 1, 0]), LABELS),
    "a row of each group": ((list("ab"), [0, 1], [0, 1]), LABELS),
    "all decisions 1": ((GROUPS, HALF, np.ones(ROWS, int)), LABELS),
    "all decisions 0": ((GROUPS, HALF, np.zeros(ROWS, int)), LABELS),
    "all outcomes 1": ((GROUPS, np.ones(ROWS, int), COIN), LABELS[1:]),
    "everything 1": ((GROUPS, np.ones(ROWS, int), np.ones(ROWS, int)), LABELS[:1]),
    "a group without positives": ((GROUPS, np.where(GROUPS == "a", HALF, 0), COIN), LABELS[1:4]),
    "one group": ((np.repeat("a", ROWS), HALF, COIN), LABELS),
    "no rows": (([], [], []), LABELS),
    "a NaN label": ((GROUPS, np.where(np.arange(ROWS) == 3, np.nan, HALF), COIN), LABELS),
    "labels of which none is favorable": (
        (GROUPS, np.where(HALF, "good", "bad"), np.where(COIN, "good", "bad")),
        LABELS[3:7],
    ),
    "a group for each row": ((np.arange(ROWS).astype(str), HALF, COIN), LABELS),
    "perfect numbers": ((GROUPS, VALUE, VALUE), NUMBERS[1:3]),
    "numbers that are all off by one": ((GROUPS, VALUE, VALUE + 1), NUMBERS[1:3]),
    "all numbers alike": ((GROUPS, np.full(ROWS, 0.5), np.full(ROWS, 0.5)), NUMBERS),
    "two numbers": ((["a", "b"], [0.5, 1.5], [0.25, 1.25]), NUMBERS),
}
SCORED = {
    "scores that are all alike": np.full(ROWS, 0.5),
    "scores of which one is NaN": np.where(np.arange(ROWS) == 3, np.nan, SCORE),
    "scores that are not probabilities, undecided": SCORE * 10,
    "losses that are all alike": np.where(COIN, 0.9, 0.1),
}


def outcomes(criteria, group, y, p, **more):
    """What becomes of the loosest gates on these criteria; nothing where the audit is refused."""
    named = {"performance_parity(mse)", "performance_parity(mae)", "weak_parity"}
    bounds = {
        f"{criterion}.{measure}": 1e6
        if measure == "mpd" and (criterion in named or criterion == "treatment_equality")
        else LOOSE[measure]
        for criterion in criteria
        for measure in LOOSE
    }
    if "performance_parity(cross_entropy).mpd" in bounds:
        bounds["performance_parity(cross_entropy).mpd"] = 1e6
    try:
        report = eh.audit(
            y,
            p,
            sensitive_features=group,
            criteria=list(criteria),
            measures=list(LOOSE),
            fail_if=bounds,
            **more,
        )
    except eh.InputError:
        return {}
    gates = [gate_of(f"{name} > {bound}") for name, bound in bounds.items()]
    judged = {f"{one.criterion}.{one.measure}": one.judged for one in report.measured}
    return {
        str(verdict.gate): (verdict.outcome, judged[verdict.gate.name])
        for verdict in judge(gates, report.measured)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_no_gate_passes_where_nothing_can_be_known(name):
    columns, criteria = INPUTS[name]
    task = {"task": "regression"} if set(criteria) & set(NUMBERS[1:3]) else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = outcomes(criteria, *columns, **task)
    assert "pass" not in {outcome for outcome, _ in found.values()}, found
    assert "within tolerance" not in {judged for _, judged in found.values()}, found


@pytest.mark.parametrize("name", SCORED)
def test_no_gate_passes_on_scores_that_say_nothing(name):
    decided = None if name.endswith("undecided") else COIN
    criteria = SCORES[1:2] if "losses" in name else SCORES
    truth = COIN if "losses" in name else HALF
    found = outcomes(criteria, GROUPS, truth, decided, y_score=SCORED[name])
    assert "pass" not in {outcome for outcome, _ in found.values()}, found
    assert "within tolerance" not in {judged for _, judged in found.values()}, found


@pytest.mark.parametrize("rows", [10, 20, 50])
@pytest.mark.parametrize(
    "criterion",
    ["predictive_equality", "equal_opportunity", "predictive_parity", "accuracy_parity"],
)
def test_an_interval_reaches_what_so_many_rows_cannot_exclude(rows, criterion):
    """None of n in both groups: a rate of 1 − 0.05^(1/n) in one is not yet excluded."""
    y = np.tile([0, 1], 2 * rows)
    group = np.repeat(["a", "b"], 2 * rows)
    found = eh.audit(y, y.copy(), sensitive_features=group, criteria=[criterion], measures="mpd")
    value = found.finding(criterion, "mpd")
    n = 2 * rows if criterion == "accuracy_parity" else rows
    assert value.value == value.low == 0
    assert value.high > 0.5 * (1 - 0.05 ** (1 / n))
