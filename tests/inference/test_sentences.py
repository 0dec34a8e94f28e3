"""What power and needed rows say in words, with numbers that other tests have checked."""

import numpy as np
import pytest

import evenhand as eh
from evenhand._uncertainty.homogeneity import holm, verdict
from evenhand._uncertainty.needed import Needed, lacking, limiting, times
from evenhand._uncertainty.power import Power

POWERS = {
    "one of four apart": {"sizes": [30, 200, 150, 120], "rate": 0.4, "difference": 0.2},
    "another apart": {"sizes": [30, 200, 150], "rate": 0.9, "difference": 0.25, "apart": "group 2"},
    "least": {"sizes": {"a": 80, "b": 300}, "rate": 0.25},
    "alike": {"sizes": [900, 700, 800], "rate": 0.3, "margin": 0.1},
}
SAID = {
    "one of four apart": (
        "If the rate of group 1 is 0.600 and that of all others 0.400, 500 rows like these show "
        "that the groups differ in 41% of samples. For 80% it takes 2.3 times these rows: group 1 "
        "69, group 2 456, group 3 342, group 4 274; or at least 77 rows of every group. More "
        "rows of group 1 (30) and group 4 (120) are needed most. If only group 1 (30 rows) "
        "differs, differences of 0.300 or more are shown in 80%."
    ),
    "another apart": (
        "If the rate of group 2 is 0.650 and that of all others 0.900, 380 rows like these show "
        "that the groups differ in 100% of samples. For 80% it takes 0.28 times these rows: "
        "group 1 9, group 2 56, group 3 42. If only group 2 (200 rows) differs, differences of "
        "0.073 or more are shown in 80%."
    ),
    "least": (
        "If the rates lie between 0.250 and 0.415, 380 rows like these show that the groups differ "
        "in 80% of samples. If only a (80 rows) differs, differences of 0.165 or more are shown "
        "in 80%."
    ),
    "alike": (
        "If all groups have the same rate, 2,400 rows like these show that they are alike within "
        "0.100 in 95% of samples. For 80% it takes 0.74 times these rows: group 1 669, group 2 "
        "520, group 3 594. In 80% they show it within 0.086."
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_power_says_what_rows_show_and_how_many_would_do(name):
    assert eh.power(**POWERS[name]).summary == SAID[name]


def test_power_says_when_no_number_of_rows_would_do():
    assert "No number of rows would." in eh.power([100, 100], [0.3, 0.3]).summary
    alone = eh.power({"a": 1000, "b": 1}, rate=0.3).summary
    assert alone.endswith("No difference of b (1 row) from the others has that power.")


def answered(groups, **others):
    """An answer of `power` about so many groups, with made-up numbers."""
    names = [f"g{i}" for i in range(groups)]
    whole = {
        "question": "differ",
        "rows": dict.fromkeys(names, 50),
        "values": dict.fromkeys(names, 0.3),
        "power": 0.5,
        "target": 0.8,
        "difference": 0.2,
        "factor": 1.5,
        "sizes": dict.fromkeys(names, 75.0),
        "at_least": 75.0,
        "apart": "g0",
        "limiting": (),
        "confidence": 0.95,
        "margin": None,
    }
    return Power(**{**whole, **others})


def test_needed_rows_are_listed_for_six_groups_at_most():
    each = ", ".join(f"g{i} 75" for i in range(6))
    every = "or at least 75 rows of every group."
    assert answered(6)._needed() == f" For 80% it takes 1.5 times these rows: {each}; {every}"
    assert answered(7)._needed() == f" For 80% it takes 1.5 times these rows; {every}"


def test_fewer_rows_that_would_do_ask_for_no_more_of_any_group():
    said = answered(7, factor=0.5, limiting=("g1",))._needed()
    assert said == " For 80% it takes 0.50 times these rows."
    said = answered(7, limiting=("g1",), at_least=np.inf)._needed()
    assert said == " For 80% it takes 1.5 times these rows. More rows of g1 (50) are needed most."


def test_power_near_its_target_needs_no_other_rows():
    assert answered(3, power=0.791)._needed() == ""
    assert answered(3, power=0.8101)._needed() != ""
    assert answered(3, power=0.8, factor=np.inf)._needed() == " No number of rows would."


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        (
            Needed(2.04, np.nan, (), None),
            "About 2.0 times as many rows would show the observed difference, if it is real.",
        ),
        (
            Needed(1.01, np.nan, (), None),
            "Slightly more rows would show the observed difference, if it is real.",
        ),
        (
            Needed(np.inf, 1.0, (), 0.05),
            "This many rows usually show that groups are alike within 0.050, if they are.",
        ),
        (
            Needed(np.inf, 26.2, (("a", 12.0), ("b", None)), 0.05, is_share=True),
            "About 26 times as many rows would show that the groups are alike within 5 percentage "
            "points, if they are. More rows of a (12) and b are needed most.",
        ),
        (
            Needed(3.0, 1001.0, (), 0.1),
            "About 3.0 times as many rows would show the observed difference, if it is real; more "
            "than 1,000 times as many would show that the groups are alike within 0.100, if they "
            "are.",
        ),
        (Needed(np.inf, np.nan, (), None), ""),
    ],
)
def test_rows_that_are_needed_are_told(needed, said):
    assert needed.sentence == said


def test_factors_are_told_to_two_digits():
    told = [times(factor) for factor in (0.994, 0.995, 1.0, 9.94, 9.95, 1000.0, 1000.1)]
    assert told == [
        *("0.99 times", "1.0 times", "1.0 times", "9.9 times", "10 times", "1000 times"),
        "more than 1,000 times",
    ]


def test_the_widest_groups_lack_rows_unless_most_are_as_wide():
    assert limiting(np.array([1.0, 5.0, 2.4, 1.2, 2.6])) == [1, 4]
    assert limiting(np.array([1.0, 2.0, 1.9])) == []
    assert limiting(np.array([np.nan, 4.0, 1.0, 1.0, np.nan])) == [1]
    assert limiting(np.array([9.0, 8.0, 7.0, 6.0, *[1.0] * 9])) == [0, 1, 2]
    assert limiting(np.array([4.0, 1.0])) == [0]


def test_who_lacks_rows_is_listed():
    assert lacking(()) == ""
    assert lacking([("a", 1200.0)]) == " More rows of a (1,200) are needed most."
    some = [("a", 1.0), ("b", None), ("c", 3.0)]
    assert lacking(some) == " More rows of a (1), b and c (3) are needed most."


def test_holms_p_values_rise_with_the_given_ones_and_end_at_1():
    assert holm([0.01, 0.02, 0.03, 0.5]).tolist() == pytest.approx([0.04, 0.06, 0.06, 0.5])
    assert holm([0.9, 0.02, 0.6]).tolist() == pytest.approx([1.0, 0.06, 1.0])
    assert holm([]).tolist() == []
    assert np.isnan(holm([np.nan, 0.2])).tolist() == [True, False]


def test_a_verdict_at_the_level_itself_is_that_groups_differ():
    assert verdict(0.1, 0.05) == "differs"
    assert verdict(0.1, 0.0501) == "cannot tell"
    assert verdict(0.1, 0.08, 0.1) == "differs"
    assert verdict(0.1, np.nan) == "not tested"
    assert verdict(np.nan, np.nan) == "undefined"
