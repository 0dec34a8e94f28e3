"""The ratio is the one measure by which larger is more even; every door knows that."""

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand._audit.gate import gate_of, judge

RATES = {"a": 0.5, "b": 0.18}


@pytest.fixture
def rows():
    """Group b is selected 0.36 times as often as a."""
    group = np.repeat(["a", "b"], 500)
    y = np.concatenate([np.arange(500) < 500 * rate for rate in RATES.values()]).astype(int)
    return y, group


def test_the_selection_rate_ratio_is_the_lowest_rate_over_the_highest(rows):
    y, group = rows
    options = {"sensitive_features": group}
    assert eh.evaluate("selection_rate_ratio", None, y, **options) == pytest.approx(0.36)
    assert eh.evaluate("four_fifths", None, y, **options) == pytest.approx(0.36)
    short = eh.evaluate("selection_rate_ratio", None, y, measure="shortfall", **options)
    assert short == pytest.approx(0.64)


def test_groups_that_are_never_selected_are_equal():
    never, group = [0, 0], ["a", "b"]
    assert eh.evaluate("selection_rate_ratio", [0, 1], never, sensitive_features=group) == 1
    with pytest.warns(eh.UndefinedWarning):  # nothing says that there is another label
        assert np.isnan(eh.evaluate("selection_rate_ratio", None, never, sensitive_features=group))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["calibrated", "guaranteed"])
@pytest.mark.parametrize("criterion", ["selection_rate_ratio", "equalized_odds", "strong_parity"])
def test_an_interval_of_the_ratio_is_that_of_the_shortfall_mirrored(rows, method, criterion):
    y, group = rows
    if criterion == "strong_parity":
        y = y + 0.5
    options = {"sensitive_features": group, "method": method}
    ratio = eh.interval(criterion, y, y, measure="ratio", **options)
    short = eh.interval(criterion, y, y, measure="shortfall", **options)
    assert (ratio.value, ratio.low, ratio.high) == (
        1 - short.value,
        1 - short.high,
        1 - short.low,
    )
    assert ratio.low <= ratio.value <= ratio.high


def test_chance_alone_makes_ratios_less_than_one(rows):
    y, group = rows
    known = eh.chance("selection_rate_ratio", None, y, sensitive_features=group)
    assert known.value == pytest.approx(0.36)
    assert known.value < known.high < known.floor < 1
    assert known.p_value < 0.01
    even = eh.chance("selection_rate_ratio", None, [0, 1] * 500, sensitive_features=group)
    assert even.p_value == 1


def test_of_several_classes_the_smallest_ratio_counts():
    group, y = ["a"] * 10 + ["b"] * 10, [0] * 5 + [1] * 5 + [0] * 4 + [1] * 6
    reading = eh.CRITERIA["statistical_parity"].read(
        None, y, sensitive_features=group, measure="ratio"
    )
    assert reading.value == pytest.approx(0.8)
    assert reading.cell_values == pytest.approx([0.8, 5 / 6])
    assert reading.worst_cell == 0


@pytest.mark.parametrize(
    ("criterion", "options"),
    [("wasserstein_parity", {}), ("statistical_parity", {"aggregate": "total"})],
)
def test_ratios_are_not_added_up(criterion, options):
    with pytest.raises(ValueError, match="'worst' or 'mean'"):
        eh.evaluate(
            criterion, None, [0, 1, 1, 1], sensitive_features=[*"aabb"], measure="ratio", **options
        )


@pytest.mark.parametrize(
    ("tolerance", "judged"),
    [(0.9, "falls short"), (0.2, "within tolerance"), (0.36, "inconclusive")],
)
def test_an_audit_tolerates_ratios_from_below(rows, tolerance, judged):
    y, group = rows
    found = eh.audit(
        None,
        y,
        sensitive_features=group,
        criteria="selection_rate_ratio",
        fail_if={"selection_rate_ratio.ratio": tolerance},
    )
    value = found.finding("selection_rate_ratio", "ratio")
    assert value.judged == judged
    assert value.value == pytest.approx(0.36)
    assert value.low < 0.36 < value.high
    assert f"{value.value:.2f} times the highest" in found.to_markdown()
    (document,) = found.document()["findings"]
    assert (document["value"], document["measure"]) == (pytest.approx(0.36), "ratio")
    impact = found.document()["summary"]["impact_ratio"]
    assert (impact["low"], impact["high"]) == (value.low, value.high)


def test_a_ratio_that_cannot_be_tolerated_is_refused(rows):
    y, group = rows
    with pytest.raises(ValueError, match="a ratio is at most 1"):
        eh.audit(None, y, sensitive_features=group, fail_if={"selection_rate_ratio.ratio": 80})


def test_a_gate_on_the_ratio_is_judged_by_its_interval(rows):
    y, group = rows
    found = eh.audit(None, y, sensitive_features=group, criteria="selection_rate_ratio")
    gates = [gate_of(f"selection_rate_ratio < {bound}") for bound in (0.8, 0.2, 0.36)]
    outcomes = [judgement.outcome for judgement in judge(gates, found.measured)]
    assert outcomes == ["violation", "pass", "inconclusive"]


def test_nobody_selected_passes_no_gate_on_the_ratio():
    truth, group = [0, 0, 1, 1] * 25, ["a", "b"] * 50
    found = eh.audit(truth, [0] * 100, sensitive_features=group)
    (judgement,) = judge([gate_of("selection_rate_ratio < 0.8")], found.measured)
    assert judgement.outcome == "error"


def test_models_are_ranked_by_larger_ratios(rows):
    y, group = rows
    even = np.tile([1, 0], 500)
    options = {"sensitive_features": group, "criteria": ["selection_rate_ratio"]}
    found = eh.compare(None, {"uneven": y, "even": even}, **options)
    assert found.values["measure"].tolist() == ["ratio", "ratio"]
    assert found.values.set_index("model")["rank"].to_dict() == {"uneven": 2, "even": 1}
    (difference,) = found.differences.to_dict("records")
    assert difference["difference"] == pytest.approx(0.36 - 1)
    assert difference["low"] < difference["difference"] < difference["high"] < 0
    short = eh.compare(
        None,
        {"uneven": y, "even": even},
        sensitive_features=group,
        criteria=["statistical_parity"],
        measures=["shortfall", "ratio"],
    )
    by_short, by_ratio = short.differences.to_dict("records")
    assert (by_ratio["low"], by_ratio["high"]) == (-by_short["high"], -by_short["low"])
    assert by_ratio["p_value"] == by_short["p_value"]
    assert "even 1 > uneven 0.36" in str(found)


def test_a_scorer_takes_the_ratio_as_it_is(rows):
    y, group = rows
    X = pd.DataFrame({"group": group, "y": y})

    class Given:
        def predict(self, X):
            return X["y"]

    for measure in (None, "ratio", eh.measures.ratio):
        scorer = eh.make_scorer("selection_rate_ratio", sensitive_features="group", measure=measure)
        assert scorer(Given(), X, y) == pytest.approx(0.36)
    scorer = eh.make_scorer("selection_rate_ratio", sensitive_features="group", measure="shortfall")
    assert scorer(Given(), X, y) == pytest.approx(-0.64)


@pytest.mark.slow
@pytest.mark.parametrize("measures", ["ratio", ["mpd", "ratio"]])
def test_an_audit_by_ratios_leaves_out_what_would_add_them_up(measures):
    rng = np.random.default_rng(0)
    score, group = rng.random(300), rng.choice(["a", "b"], 300)
    y = (rng.random(300) < score).astype(int)
    options = {"y_score": score, "sensitive_features": group, "threshold": 0.5}
    found = eh.audit(y, **options, measures=measures)
    assert "ratio" in found.finding("strong_parity").values
    asked = [finding for finding in found.findings if finding.criterion == "wasserstein_parity"]
    assert [list(finding.values) for finding in asked] == ([] if measures == "ratio" else [["mpd"]])
    with pytest.raises(eh.InputError, match="cannot be added up"):
        eh.audit(y, **options, criteria="wasserstein_parity", measures="ratio")
