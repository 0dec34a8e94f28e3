"""The audit as a whole: what it asks, what it says, and the forms it takes."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression

import evenhand as eh
from evenhand._audit.subgroups import ranked
from evenhand._audit.views import views_of
from evenhand._uncertainty.homogeneity import holm

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    n = 3000
    sex, race = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n)
    score = np.clip(rng.beta(2, 3, n) + 0.15 * (sex == "M"), 0, 1)
    y = (rng.random(n) < score).astype(int)
    return pd.DataFrame(
        {"sex": sex, "race": race, "score": score, "y": y, "p": (score > 0.5).astype(int)}
    )


@pytest.fixture(scope="module")
def found(people):
    return eh.audit(
        people["y"],
        people["p"],
        y_score=people["score"],
        sensitive_features=people[["sex", "race"]],
        title="A test",
    )


def test_a_real_disparity_is_called_one_and_equal_groups_are_not(people, found):
    assert found.finding("statistical_parity").verdict == "differs"
    options = {"sensitive_features": people["race"], "measures": ["gini"]}
    fair = eh.audit(people["y"], people["p"], **options)
    assert {finding.verdict for finding in fair.findings} == {"cannot tell"}
    options["criteria"] = ["statistical_parity"]
    wide = eh.audit(people["y"], people["p"], margin=0.2, **options)
    assert wide.findings[0].verdict == "alike"
    assert wide.findings[0].sentence.startswith("The groups are alike within 20 percentage points")


def test_values_are_those_of_evaluate(people, found):
    options = {"sensitive_features": people[["sex", "race"]]}
    for one in found.measured:
        if one.criterion in eh.CRITERIA and one.criterion not in ("strong_parity",):
            asked = eh.CRITERIA[one.criterion]
            columns = {"y_score": people["score"]} if "calib" in one.criterion else {}
            predicted = people["score"] if asked.across == "integral" else people["p"]
            value = asked(people["y"], predicted, measure=one.measure, **options, **columns)
            assert one.value == pytest.approx(value), one.criterion


def test_statistics_below_zero_are_measured_by_every_measure(people):
    options = {"sensitive_features": people["sex"], "y_score": people["score"]}
    asked = "performance_parity(log_likelihood)"
    finding = eh.audit(people["y"], people["p"], criteria=[asked], **options).findings[0]
    assert {name: one.transform for name, one in finding.values.items()} == {
        "mpd": None,
        "gini": "exp",
        "pq": "exp",
    }


def test_every_interval_holds_its_value(found):
    for one in found.measured:
        assert 0 <= one.low <= one.value <= one.high, one.criterion
    for finding in found.findings:
        assert finding.p_value <= finding.p_adjusted <= 1
        assert (finding.gap.low > 0) <= (finding.p_value < 0.06), finding.criterion


def test_criteria_that_state_the_same_hypothesis_count_once_and_measures_never(people):
    options = {"sensitive_features": people["race"], "criteria": ["accuracy_parity"]}
    alone = eh.audit(people["y"], people["p"], **options).findings[0]
    assert alone.p_adjusted == alone.p_value
    options["criteria"] = ["accuracy_parity", "error_parity"]
    both = eh.audit(people["y"], people["p"], **options)
    assert {finding.p_adjusted for finding in both.findings} == {alone.p_value}
    options |= {"criteria": ["accuracy_parity", "statistical_parity"]}
    two = eh.audit(people["y"], people["p"], **options)
    least = min(two.findings, key=lambda finding: finding.p_value)
    assert least.p_adjusted == pytest.approx(min(2 * least.p_value, 1.0))


def test_the_worst_pair_and_the_contributions_are_of_the_worst_cell(people, found):
    pair = found.finding("statistical_parity").pair
    rates = people.groupby(["sex", "race"])["p"].mean()
    assert (pair.high[0], pair.low[0]) == ("M", "F")
    assert pair.high_value == pytest.approx(rates[pair.high])
    for each in found.measured:
        if each.value > 0 and each.worst_cell is not None:
            assert np.nansum(each.contributions) == pytest.approx(1)


def test_a_pair_is_told_with_the_cell_where_it_is_apart():
    """A tiny group makes one rate look worst; the surest pair is in another."""
    group = np.repeat(["large", "other", "tiny"], [2000, 2000, 8])
    y = np.concatenate([np.zeros(4000), np.tile([0, 1], 4)]).astype(int)
    y[[0, 1, 2000, 2001]] = 1
    p = np.concatenate([np.arange(2000) < 600, np.arange(2000) < 900, y[4000:]]).astype(int)
    p[[0, 2000]] = 0
    found = eh.audit(y, p, sensitive_features=group, criteria=["equalized_odds"])
    pair = found.finding("equalized_odds").pair
    table = found.by_group_frame("equalized_odds").set_index(["cell", "group"])["values"]
    cell = found.document()["findings"][0]["pair"]["cell"]
    assert cell != found.document()["findings"][0]["worst_cell"]
    assert pair.high_value == table[cell, pair.high]
    assert pair.low_value == table[cell, pair.low]


def test_a_tiny_group_does_not_lead_because_chance_threw_it_far():
    group = np.repeat(["large", "other", "tiny"], [2000, 2000, 4])
    p = np.concatenate([np.arange(2000) < 600, np.arange(2000) < 900, np.ones(4)]).astype(int)
    found = eh.audit(None, p, sensitive_features=group).finding("statistical_parity")
    assert {found.pair.high, found.pair.low} == {"large", "other"}
    assert found.verdict == "differs"


def test_the_groups_intervals_of_rates_are_exact(people, found):
    of_rates = {"statistical_parity", "equal_opportunity", "accuracy_parity", "equalized_odds"}
    asked = [one for one in found.group_values if one.criterion in of_rates]
    assert len(asked) == len(of_rates)
    for one in asked:
        numbers = (np.broadcast_to(x, one.values.shape).ravel() for x in (one.values, one.rows))
        exact = [
            stats.binomtest(round(rate * rows), int(rows)).proportion_ci(method="exact")
            for rate, rows in zip(*numbers, strict=True)
        ]
        np.testing.assert_allclose(one.low.ravel(), [each.low for each in exact])
        np.testing.assert_allclose(one.high.ravel(), [each.high for each in exact])


def test_weighted_rates_are_as_sure_as_their_effective_rows(people):
    weight = np.where(people["y"] == 1, 3.0, 1.0)
    options = {"sensitive_features": people["sex"], "criteria": ["statistical_parity"]}
    found = eh.audit(people["y"], people["p"], sample_weight=weight, **options)
    one = next(found.by_group_frame("statistical_parity").query("cell == '1'").itertuples())
    mine = people["sex"] == one.group
    own, apart = weight[mine], people["p"][mine] - one.values
    variance = (own**2 * apart**2).sum() / own.sum() ** 2
    size = one.values * (1 - one.values) / variance
    hits = one.values * size
    assert one.low == pytest.approx(stats.beta.ppf(0.025, hits, size - hits + 1), rel=0.01)
    assert one.high == pytest.approx(stats.beta.ppf(0.975, hits + 1, size - hits), rel=0.01)


def test_the_interval_of_a_mean_of_two_rates_is_about_that_of_their_variances(people, found):
    rates = people.groupby(["sex", "race", "y"])["p"].agg(["mean", "size"])
    variance = rates["mean"] * (1 - rates["mean"]) / rates["size"]
    spread = np.sqrt(variance.unstack("y").sum(axis=1)) / 2
    (one,) = (each for each in found.group_values if each.criterion == "average_odds")
    width = dict(zip(one.groups, (one.high - one.low)[list(one.cells).index(1)], strict=True))
    for group, expected in (2 * 1.96 * spread).items():
        assert width[group] == pytest.approx(expected, rel=0.15), group


def test_holm_is_that_of_the_step_down_by_hand():
    given = [0.01, 0.04, np.nan, 0.03, 0.005]
    assert holm(given).tolist()[:2] == pytest.approx([0.03, 0.06])
    assert np.isnan(holm(given)[2])
    assert holm(given)[3:] == pytest.approx([0.06, 0.02])


def test_a_tolerance_is_judged_by_the_interval(people):
    tolerances = {
        "statistical_parity.mpd": 0.0,
        "statistical_parity.gini": 0.45,
        "statistical_parity.pq": None,
    }
    options = {"sensitive_features": people["sex"], "criteria": ["statistical_parity"]}
    first = eh.audit(people["y"], people["p"], **options)
    tolerances["statistical_parity.pq"] = first.finding("statistical_parity", "pq").value
    found = eh.audit(people["y"], people["p"], **options, fail_if=tolerances)
    verdicts = [found.finding("statistical_parity", m).judged for m in ("mpd", "gini", "pq")]
    assert verdicts == ["exceeds", "within tolerance", "inconclusive"]


def test_several_columns_are_audited_alone_and_together(people, found):
    assert [view.columns for view in found.views] == [("sex",), ("race",), ("sex", "race")]
    by_sex = found.views[0].findings[0]
    counts = eh.tally(people["y"], people["p"], sensitive_features=people["sex"])
    value = eh.evaluate(by_sex.criterion, counts, measure="gini")
    assert by_sex.values["gini"] == pytest.approx(value)
    assert by_sex.verdict == "differs"


def test_more_columns_than_the_depth_are_combined_up_to_it(people):
    rng = np.random.default_rng(0)
    frame = people.assign(age=rng.integers(0, 3, len(people)), town=rng.integers(0, 2, len(people)))
    columns = ["sex", "race", "age", "town"]
    options = {"depth": 2, "criteria": ["statistical_parity"]}
    found = eh.audit(frame["y"], frame["p"], sensitive_features=frame[columns], **options)
    assert len(found.views) == 4 + 6
    assert found.choices == 10
    assert "sex" in found.evidence.columns
    assert "the one of 10 combinations" in " ".join(found.notes)


def test_subgroups_that_are_flagged_truly_differ(people, found):
    flagged = [one for one in found.subgroups if one.flagged]
    assert {"F", "M"} <= {one.label for one in flagged}
    assert not {"a", "b", "c"} & {one.label for one in flagged}
    first = next(one for one in flagged if one.label == "M" and "selection" in one.statistic)
    rates = people.groupby("sex")["p"].mean()
    assert first.value == pytest.approx(rates["M"])
    assert first.rest == pytest.approx(rates["F"])
    assert 0 < first.at_least < rates["M"] - rates["F"]


def test_fair_subgroups_are_flagged_in_one_audit_of_twenty_at_most():
    rng = np.random.default_rng(0)
    flagged = 0
    for _ in range(60):
        columns = {"one": rng.integers(0, 4, 800), "two": rng.integers(0, 5, 800)}
        evidence = eh.Data(None, rng.integers(0, 2, 800), sensitive_features=columns).counted
        subgroups = ranked(list(views_of(evidence, depth=2)), 0.05)
        flagged += any(subgroup.flagged for subgroup in subgroups)
    assert flagged <= 60 * 0.05 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_threshold_curves_are_the_criteria_of_each_decision(people, found):
    curve = next(
        one
        for one in found.thresholds.curves
        if (one.criterion, one.measure) == ("equalized_odds", "gini")
    )
    for at in (5, 90, 180):
        decided = (people["score"] >= found.thresholds.at[at]).astype(int)
        counts = eh.tally(people["y"], decided, sensitive_features=people[["sex", "race"]])
        value = eh.evaluate("equalized_odds", counts, measure="gini")
        assert curve.values[at] == pytest.approx(value)


def test_levels_are_the_share_of_rows_below(people, found):
    levels = found.levels
    at = levels.at[100]
    group = people[(people["sex"] == "F") & (people["race"] == "b")]
    row = levels.groups.index(("F", "b"))
    assert levels.levels[row, 100] == pytest.approx((group["score"] <= at).mean())


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_frame_is_of_the_users_kind(people, make):
    columns = make({name: people[name].tolist() for name in ("sex", "y", "p")})
    options = {"sensitive_features": columns[["sex"]], "criteria": ["statistical_parity"]}
    found = eh.audit(columns["y"], columns["p"], **options)
    frame = found.to_frame()
    assert isinstance(frame, make)
    assert list(frame.columns)[:2] == ["criterion", "measure"]
    assert len(frame) == len(found.measured) == 3


def test_the_document_is_strict_json_of_a_named_schema(found):
    document = json.loads(found.to_json())
    assert document["schema"] == "evenhand.audit/4"
    assert document["rows"] == 3000
    assert len(document["findings"]) == len(found.measured)
    assert {one["criterion"] for one in document["findings"]} == {
        one["name"] for one in document["criteria"]
    }


def test_files_are_written_whole(found, tmp_path):
    for name, write in {"a.json": found.to_json, "a.md": found.to_markdown}.items():
        text = write(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text
    page = found.to_html(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page
    assert len(list(tmp_path.iterdir())) == 3


def test_the_same_seed_gives_the_same_audit(people):
    """With a question of every kind: labels, bins, ranks, losses and whole distributions."""
    asked = ["statistical_parity", "equalized_odds", "calibration_parity", "strong_parity"]
    asked += ["performance_parity(auroc)", "performance_parity(cross_entropy)"]
    some = people[:300]
    one, two = (
        eh.audit(
            some["y"],
            some["p"],
            y_score=some["score"],
            sensitive_features=some["sex"],
            criteria=asked,
            measures=["gini"],
        )
        for _ in range(2)
    )
    assert one.to_json() == two.to_json()


def test_a_fitted_estimator_is_audited(people):
    X = people.assign(female=people["sex"].eq("F").astype(float))
    model = LogisticRegression().fit(X[["score", "female"]], X["y"])

    class OnFrame:
        classes_ = model.classes_

        def predict(self, frame):
            return model.predict(frame[["score", "female"]])

        def predict_proba(self, frame):
            return model.predict_proba(frame[["score", "female"]])

    found = eh.audit(
        X["y"], OnFrame(), data=X, sensitive_features="sex", criteria=["calibration_parity"]
    )
    assert found.evidence.task == "binary"
    assert found.finding("calibration_parity", "mpd").value > 0
    line = LinearRegression().fit(X[["score", "female"]], X["score"])
    asked = {"sensitive_features": "female", "criteria": ["weak_parity"]}
    found = eh.audit(X["score"], line, data=X[["score", "female"]], **asked)
    assert found.evidence.task == "regression"


def test_regression_is_audited(people):
    rng = np.random.default_rng(0)
    sex = people["sex"][:800]
    y = rng.normal(size=len(sex))
    found = eh.audit(y, y + 0.5 * (sex == "F"), sensitive_features=sex)
    assert found.evidence.task == "regression"
    assert found.finding("performance_parity(mse)").verdict == "differs"
    assert found.levels.of == "prediction"
    assert {"strong_parity", "wasserstein_parity", "weak_parity"} <= {
        one.criterion for one in found.findings
    }


def test_negative_means_are_made_positive_and_it_is_said(people):
    y = np.linspace(-3, -1, len(people))
    found = eh.audit(y, y.copy(), sensitive_features=people["sex"])
    assert found.finding("weak_parity", "gini").transform == "exp"
    assert found.finding("weak_parity", "mpd").transform is None


def test_many_classes_are_audited(people):
    rng = np.random.default_rng(0)
    y = rng.choice(["x", "y", "z"], len(people))
    p = np.where((people["sex"] == "F") & (rng.random(len(people)) < 0.3), "x", y)
    found = eh.audit(y, p, sensitive_features=people["sex"])
    assert found.evidence.task == "multiclass"
    one = found.finding("statistical_parity", "gini")
    assert found.finding("statistical_parity").verdict == "differs"
    assert len(one.cell_values) == 3


def test_without_the_truth_only_selection_is_audited(people):
    found = eh.audit(None, people["p"], sensitive_features=people["sex"])
    assert {one.criterion for one in found.findings} == {
        "statistical_parity",
        "selection_rate_ratio",
    }


def test_text_labels_need_a_favorable_one_for_questions_about_one(people):
    words = people["p"].map({0: "no", 1: "yes"})
    truth = people["y"].map({0: "no", 1: "yes"})
    options = {"sensitive_features": people["sex"], "measures": ["mpd"]}
    found = eh.audit(truth, words, **options)
    assert "favorable=" in " ".join(found.notes)
    options["criteria"] = ["equal_opportunity"]
    named = eh.audit(truth, words, favorable="yes", **options)
    assert named.finding("equal_opportunity", "mpd").value == pytest.approx(
        eh.audit(people["y"], people["p"], **options).finding("equal_opportunity", "mpd").value
    )
