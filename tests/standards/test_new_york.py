"""Published audits of New York: the table of the page follows from its script."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/new_york.py"


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("new_york", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_tables_of_the_page_follow_from_the_script(script):
    text = script.PAGE.read_text(encoding="utf-8")
    sums = script.study(pd.read_csv(script.BESIDE))
    assert script.written(text, sums) == text
    assert script.shown(sums, script.RATIOS) in text
    assert script.shown(sums, script.PEOPLE) in text


def test_a_ratio_that_does_not_follow_from_its_rates_is_not_reproduced(script):
    audits = pd.read_csv(script.BESIDE).query("audit_id == 'adp_adp_blds_llc_2023_audit_1'")
    audits.loc[audits.impact_ratio == 0.986, "impact_ratio"] = 0.95
    sums = script.study(audits)
    assert sums.loc["sex", "by included"] == 1
    assert sums.loc["intersectional", "by included"] == 10
    assert sums.loc["intersectional", "by all"] == 0


def test_of_ratios_below_four_fifths_those_of_few_people_may_be_chance(script):
    lines = {"audit_id": "x", "selection_or_scoring_rate": "Selection", "sex": "Total"}
    for people, found in ((40, 0), (4000, 1)):
        audits = pd.DataFrame(
            {
                **lines,
                "protected_char_group": "race/ethnicity",
                "race_ethnicity": ["a", "b"],
                "number_of_applications": people,
                "result": [0.5, 0.35],
                "impact_ratio": [1.0, 0.7],
            }
        )
        sums = script.study(audits)
        assert (sums.loc["all", "below"], sums.loc["all", "significant"]) == (1, found)


def test_the_lowest_ratio_is_bounded_by_any_category_of_the_unknown(script):
    known = pd.DataFrame(
        {
            "race_ethnicity": "Total",
            "sex": ["a", "b"],
            "number_of_applications": [200, 200],
            "result": [0.5, 0.45],
        }
    )
    low, high = script.lowest_ratio(known, 40)  # 19 of the unknown are selected, 21 are not
    assert low == pytest.approx((90 / 221) / (119 / 219))
    assert high == 1
    low, high = script.lowest_ratio(known, 2)  # one is selected
    assert low == pytest.approx((90 / 201) / (101 / 201))
    assert high == pytest.approx((91 / 201) / (100 / 201))
