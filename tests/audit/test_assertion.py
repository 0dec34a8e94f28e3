"""`assert_even`: gates as assertions, which fail wherever the rows cannot tell."""

import numpy as np
import pandas as pd
import pytest

import evenhand as eh

GROUP = np.repeat(["a", "b"], 2000)
EVEN = np.tile([0, 1], 2000)
UNEVEN = np.where(GROUP == "b", 0, EVEN)


def test_even_decisions_pass_and_give_the_audit():
    found = eh.assert_even(None, EVEN, sensitive_features=GROUP, fail_if="demographic_parity > 0.1")
    assert isinstance(found, eh.Audit)
    assert [finding.criterion for finding in found.findings] == ["statistical_parity"]


def test_a_violated_gate_fails_with_its_words_and_the_summary():
    gates = ["demographic_parity > 0.1", "selection_rate_ratio < 0.8"]
    with pytest.raises(AssertionError) as raised:
        eh.assert_even(None, UNEVEN, sensitive_features=GROUP, fail_if=gates)
    told = str(raised.value)
    assert "statistical_parity.mpd > 0.1: FAILED: the interval" in told
    assert "selection_rate_ratio.ratio < 0.8: FAILED" in told
    assert "50%" in told
    assert "4,000 rows" in told


def test_rows_that_cannot_tell_fail_unless_the_caller_lets_them_pass():
    few = {"sensitive_features": GROUP[1980:2020], "fail_if": "demographic_parity > 0.1"}
    with pytest.raises(AssertionError, match=r"inconclusive: 0\.\d+ lies in the interval"):
        eh.assert_even(None, EVEN[1980:2020], **few)
    eh.assert_even(None, EVEN[1980:2020], **few, inconclusive="pass")


def test_a_gate_with_nothing_to_judge_fails_in_any_case():
    same = {"sensitive_features": GROUP, "fail_if": "demographic_parity > 0.1"}
    with pytest.raises(AssertionError, match="cannot be judged"):
        eh.assert_even(None, np.zeros(4000, int), **same, favorable=0, inconclusive="pass")


def test_only_what_passes_is_left_out_of_the_message():
    gates = ["demographic_parity > 0.1", "demographic_parity > 0.9"]
    with pytest.raises(AssertionError) as raised:
        eh.assert_even(None, UNEVEN, sensitive_features=GROUP, fail_if=gates)
    assert "> 0.9" not in str(raised.value)


def test_a_gate_is_about_every_combination_of_the_columns():
    """Selection differs by neither column alone, only by both together."""
    people = pd.DataFrame({"one": GROUP, "two": np.tile(["x", "x", "y", "y"], 1000)})
    people["three"] = np.tile(np.repeat(["u", "v"], 4), 500)
    odd = (people["one"] == "a") ^ (people["two"] == "x") ^ (people["three"] == "u")
    gate = "demographic_parity > 0.3"
    with pytest.raises(AssertionError, match="FAILED"):
        eh.assert_even(None, odd.astype(int), sensitive_features=people, fail_if=gate)
    eh.assert_even(None, odd.astype(int), sensitive_features=people[["one"]], fail_if=gate)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fail_if": []}, "There is no gate"),
        ({"fail_if": "parity"}, "A gate has the form"),
        ({"fail_if": "demographic_parity > 0.1", "inconclusive": "warn"}, "'fail' or 'pass'"),
        ({"fail_if": "demographic_parity > 0.1", "failif": 1}, "has no argument 'failif'"),
        ({"fail_if": "demographic_parity > 5"}, "could never fail"),
    ],
)
def test_a_gate_that_cannot_be_used_is_an_error_and_no_failed_test(options, message):
    with pytest.raises(eh.EvenhandError, match=message):
        eh.assert_even(None, EVEN, sensitive_features=GROUP, **options)


def test_pytest_shows_the_line_of_the_test_and_not_ours():
    try:
        eh.assert_even(None, UNEVEN, sensitive_features=GROUP, fail_if="demographic_parity > 0.1")
    except AssertionError as raised:
        frames, at = [], raised.__traceback__
        while at is not None:
            if not at.tb_frame.f_locals.get("__tracebackhide__"):
                frames.append(at.tb_frame.f_code.co_filename)
            at = at.tb_next
    assert frames == [__file__]
