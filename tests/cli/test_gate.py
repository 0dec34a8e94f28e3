"""A gate is judged by the whole interval."""

import math
import operator
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand._audit.gate import Gate, gate_of, judge, tolerances

ends = st.floats(0, 2, allow_nan=False)
BEYOND = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
signs = st.sampled_from([*BEYOND])


@pytest.mark.slow
@given(ends, ends, ends, signs)
def test_a_gate_is_violated_only_if_every_value_of_the_interval_violates_it(one, two, bound, sign):
    low, high = sorted((one, two))
    inside = [low, high, (low + high) / 2]
    beyond = [BEYOND[sign](value, bound) for value in inside]
    outcome = Gate("statistical_parity", "pq", sign, bound).outcome(low, high)
    assert (outcome == "violation") == all(beyond)
    assert (outcome == "pass") == (not any(beyond))


@pytest.mark.slow
@given(ends, ends, ends, ends, signs)
def test_a_narrower_interval_never_turns_a_pass_into_a_violation(one, two, bound, step, sign):
    low, high = sorted((one, two))
    gate = Gate("statistical_parity", "pq", sign, bound)
    wide, narrow = gate.outcome(low, high + step), gate.outcome(low, high)
    assert wide in (narrow, "inconclusive")


@pytest.mark.parametrize(
    ("low", "high", "sign", "outcome"),
    [
        (0.06, 0.09, ">", "violation"),
        (0.05, 0.09, ">", "inconclusive"),
        (0.05, 0.09, ">=", "violation"),
        (0.01, 0.05, ">", "pass"),
        (0.01, 0.05, ">=", "inconclusive"),
        (0.04, 0.09, ">", "inconclusive"),
        (math.nan, math.nan, ">", "inconclusive"),
        (math.nan, 0.01, ">", "inconclusive"),
    ],
)
def test_the_bound_itself_passes_a_strict_gate_only(low, high, sign, outcome):
    assert Gate("statistical_parity", "pq", sign, 0.05).outcome(low, high) == outcome


@pytest.mark.parametrize(
    "text",
    ["equalized_odds.mpd>=.1", " equalized_odds . mpd >= 1e-1 ", "equalized_odds.mpd >= 0.1"],
)
def test_spaces_do_not_matter(text):
    assert gate_of(text) == Gate("equalized_odds", "mpd", ">=", 0.1)
    assert str(gate_of(text)) == "equalized_odds.mpd >= 0.1"


def test_a_gate_may_name_the_statistic_of_performance_parity():
    gate = gate_of("performance_parity(f1).gini > 0.2")
    assert gate.name == "performance_parity(f1).gini"


def test_a_gate_without_a_finding_is_an_error_that_names_what_there_is():
    finding = SimpleNamespace(criterion="statistical_parity", measure="pq", low=0.0, high=0.1)
    with pytest.raises(ValueError, match=r"no finding 'equalized_odds\.pq'; it has \['stat"):
        judge([gate_of("equalized_odds.pq > 0.9")], [finding])


def test_the_strictest_of_several_bounds_is_the_tolerance():
    gates = [gate_of(f"statistical_parity.pq > {bound}") for bound in (0.3, 0.1, 0.2)]
    assert tolerances(gates) == {"statistical_parity.pq": 0.1}
    ratios = [gate_of(f"selection_rate_ratio < {bound}") for bound in (0.7, 0.8, 0.6)]
    assert tolerances(ratios) == {"selection_rate_ratio.ratio": 0.8}


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("selection_rate_ratio < 0.8", "selection_rate_ratio.ratio < 0.8"),
        ("four_fifths<=.8", "selection_rate_ratio.ratio <= 0.8"),
        ("selection_rate_ratio.shortfall > 0.2", "selection_rate_ratio.shortfall > 0.2"),
        ("equalized_odds.ratio < 0.8", "equalized_odds.ratio < 0.8"),
        ("equalized_odds >= 0.1", "equalized_odds.mpd >= 0.1"),
        ("performance_parity(f1) > 0.1", "performance_parity(f1).mpd > 0.1"),
    ],
)
def test_a_gate_without_a_measure_is_about_the_criterions_own(text, full):
    assert str(gate_of(text)) == full


@pytest.mark.parametrize(
    ("low", "high", "sign", "outcome"),
    [
        (0.5, 0.7, "<", "violation"),
        (0.5, 0.8, "<", "inconclusive"),
        (0.5, 0.8, "<=", "violation"),
        (0.8, 0.9, "<", "pass"),
        (0.8, 0.9, "<=", "inconclusive"),
        (math.nan, 0.9, "<", "inconclusive"),
    ],
)
def test_a_ratio_fails_below_its_bound(low, high, sign, outcome):
    assert Gate("selection_rate_ratio", "ratio", sign, 0.8).outcome(low, high) == outcome
