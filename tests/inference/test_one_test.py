"""Verdict and lower end are one test: groups differ exactly where intervals exclude equality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from lanes import one_in

pytestmark = pytest.mark.slow

FEW = {"max_examples": 4, "deadline": None}


def decisions(rng, group, gap):
    return {"y_pred": (rng.random(len(group)) < 0.3 + gap * (group == 0)).astype(int)}


def truths(rng, group, gap):
    truth = (rng.random(len(group)) < 0.5).astype(int)
    wrong = rng.random(len(group)) < 0.2 + gap * (group == 0)
    return {"y_true": truth, "y_pred": np.where(wrong, 1 - truth, truth)}


def amounts(rng, group, gap):
    return {"y_pred": rng.gamma(2.0, 1.0 + 2 * gap * (group == 0), len(group))}


def fitted(rng, group, gap):
    x = rng.standard_normal(len(group))
    return {
        "y_true": x + rng.standard_normal(len(group)) * (1 + 3 * gap * (group == 0)),
        "y_pred": x,
    }


def scores(rng, group, gap):
    score = rng.uniform(0.05, 0.95, len(group))
    chance = np.clip(score + gap * (group == 0), 0, 1)
    return {
        "y_true": (rng.random(len(group)) < chance).astype(int),
        "y_score": score,
        "score_of": 1,
    }


KINDS = {
    "statistical_parity": decisions,
    "selection_rate_ratio": decisions,
    "equalized_odds": truths,
    "performance_parity(f1)": truths,
    "treatment_equality": truths,
    "weak_parity": amounts,
    "strong_parity": amounts,
    "performance_parity(r2)": fitted,
    "performance_parity(auroc)": scores,
    "calibration_within_groups": scores,
}


def check(audit):
    """Every finding says that groups differ exactly where all its intervals exclude equality."""
    for finding in audit.findings:
        differs = finding.verdict == "differs"
        assert (finding.gap.low > 0) == differs, finding
        for name, value in finding.values.items():
            excluded = value.high < 1 if name == "ratio" else value.low > 0
            assert excluded == differs, (finding, value)


def drawn(kind, seed, groups, gap, how):
    """Columns of groups of a few to a few hundred rows."""
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(np.log(8), np.log(300), groups)).astype(int)
    group = np.repeat(np.arange(groups), sizes)
    columns = KINDS[kind](rng, group, gap) | {"sensitive_features": group}
    if how == "weighted":
        columns["sample_weight"] = rng.gamma(3.0, 1.0, len(group))
    if how == "clustered":
        columns["cluster"] = rng.integers(0, max(len(group) // 4, 2), len(group))
    return columns


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "how"), one_in(2, KINDS, ["plain", "weighted", "clustered"]))
@settings(**FEW)
@given(
    seed=st.integers(0, 10**6),
    groups=st.sampled_from([2, 3, 8, 30]),
    gap=st.sampled_from([0.0, 0.08, 0.15, 0.3]),
)
def test_groups_differ_exactly_where_intervals_exclude_equality(kind, how, seed, groups, gap):
    columns = drawn(kind, seed, groups, gap, how)
    y_true, y_pred = columns.pop("y_true", None), columns.pop("y_pred", None)
    check(eh.audit(y_true, y_pred, criteria=kind, **columns))


@pytest.mark.slow
@settings(**FEW)
@given(seed=st.integers(0, 10**6), gap=st.sampled_from([0.05, 0.1, 0.15]))
def test_beside_other_criteria_too(seed, gap):
    columns = drawn("equalized_odds", seed, 4, gap, "plain")
    check(eh.audit(columns.pop("y_true"), columns.pop("y_pred"), **columns))


@pytest.mark.slow
def test_many_small_groups_that_differ_have_a_gap_of_more_than_0():
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(60), 20)
        rate = rng.beta(12, 28, 60)[group]
        chosen = (rng.random(len(group)) < rate).astype(int)
        audit = eh.audit(y_pred=chosen, sensitive_features=group, criteria="statistical_parity")
        check(audit)
        found.append(audit.findings[0].verdict)
    assert found.count("differs") > 5


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_an_interval_excludes_0_where_the_audit_at_its_level_says_differs(confidence):
    for seed in range(10):
        columns = drawn("statistical_parity", seed, 12, 0.12, "plain")
        audit = eh.audit(confidence=confidence, criteria="statistical_parity", **columns)
        chosen = columns.pop("y_pred")
        found = eh.interval(
            "statistical_parity", None, chosen, measure="gini", confidence=confidence, **columns
        )
        assert (found.low > 0) == (audit.findings[0].verdict == "differs")
