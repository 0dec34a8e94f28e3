"""Faults seen in other libraries, and bad input: one clear error each, or the right answer."""

import numpy as np
import pandas as pd
import pytest

import evenhand as eh

A, B = ["a", "a", "b", "b"], ["x", "y", "x", "y"]


class TestFaultsSeenElsewhere:
    def test_a_perfect_classifier_is_fair_though_one_group_has_no_positives(self):
        """Counting 0/0 as a rate of 0 would make it look worst."""
        y = [1, 0, 0, 0]
        with pytest.warns(eh.UndefinedWarning, match="b at 1"):
            assert np.isnan(eh.evaluate("equal_opportunity", y, y, sensitive_features=A))
        assert eh.evaluate("equalized_odds", y, y, sensitive_features=A, measure="mpd") == 0
        three = [*A, "c", "c"]
        reading = eh.CRITERIA["equal_opportunity"].read(
            [*y, 1, 0], [*y, 1, 0], sensitive_features=three
        )
        assert float(reading) == 0
        assert reading.left_out == ((1, "b"),)

    def test_an_undefined_result_is_nan_and_names_who_was_not_observed(self):
        with pytest.warns(eh.UndefinedWarning, match=r"predictive_parity = nan .*b at 1"):
            found = eh.evaluate(
                "predictive_parity", [1, 1, 1, 0], [1, 1, 0, 0], sensitive_features=A
            )
        assert np.isnan(found)

    def test_nothing_is_cached_past_a_change_of_labels(self):
        y_pred = np.array([1, 1, 0, 0])
        options = {"sensitive_features": A, "measure": "mpd"}
        before = eh.evaluate("statistical_parity", None, y_pred, **options)
        y_pred[:] = [1, 0, 1, 0]
        assert (before, eh.evaluate("statistical_parity", None, y_pred, **options)) == (1.0, 0.0)

    def test_the_rows_are_encoded_once_however_many_groups_and_criteria(self, monkeypatch):
        from evenhand._columns import encoding

        seen = []
        original = encoding._encode_integers
        monkeypatch.setattr(
            encoding, "_encode_integers", lambda values: seen.append(values) or original(values)
        )
        rng = np.random.default_rng(0)
        y, group = rng.integers(0, 2, 5000), rng.integers(0, 500, 5000)
        counts = eh.tally(y, y, sensitive_features=group)
        for name in ("statistical_parity", "equalized_odds", "accuracy_parity"):
            eh.evaluate(name, counts, measure="gini")
        assert len(seen) == 3

    def test_products_of_counts_do_not_overflow(self):
        counts = eh.tally([1, 0, 1, 0], [1, 1, 0, 0], sensitive_features=A)
        huge = eh.Tally(counts.axes, counts.cells, {"rows": counts.sums["rows"] * 10**12})
        for name in ("statistical_parity", "equalized_odds", "average_odds"):
            assert eh.evaluate(name, huge) == pytest.approx(eh.evaluate(name, counts))

    def test_a_group_with_a_strange_name_is_a_group(self):
        names = ["<script>alert(1)</script>", "", "🙂", "a × b"]
        counts = eh.tally([1, 0, 1, 0], [1, 1, 0, 0], sensitive_features=names)
        assert set(counts.groups) == set(names)


class TestBadInput:
    def test_lengths_that_differ_are_listed(self):
        with pytest.raises(
            ValueError, match=r"differ in length: \{'y': 3, 'yhat': 4, 'group': 4\}"
        ):
            eh.tally([1, 0, 1], [1, 0, 1, 1], sensitive_features=A)
        with pytest.raises(ValueError, match="'sample_weight': 1"):
            eh.tally([1, 0, 1, 1], [1, 0, 1, 1], sensitive_features=A, sample_weight=[1.0])
        with pytest.raises(ValueError, match="'y_true': 1, 'y_pred': 2"):
            eh.tally([1.0], [1.0, 2.0], sensitive_features=["a", "b"], task="regression")

    def test_no_rows_are_refused(self):
        with pytest.raises(ValueError, match="no rows"):
            eh.tally([], [], sensitive_features=[])

    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
    def test_missing_labels_are_refused(self, missing):
        with pytest.raises(ValueError, match="y_true has 1 missing labels"):
            eh.tally(["a", missing, "b", "b"], B, sensitive_features=A)

    def test_scores_in_place_of_labels_are_recognised(self):
        with pytest.raises(ValueError, match=r"y_pred holds 0\.2.*looks like a score"):
            eh.evaluate("statistical_parity", [1, 0], [0.9, 0.2], sensitive_features=["a", "b"])

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_scores_that_are_not_finite_are_counted(self, bad):
        with pytest.raises(
            ValueError, match=rf"1 value that is not finite, the first {bad} in row 1"
        ):
            eh.evaluate("strong_parity", None, [0.1, bad], sensitive_features=["a", "b"])

    def test_one_group_alone_is_undefined_not_fair(self):
        with pytest.warns(eh.UndefinedWarning):
            found = eh.evaluate("statistical_parity", [1, 0], [1, 0], sensitive_features=["a", "a"])
        assert np.isnan(found)

    def test_negative_weights_are_refused(self):
        with pytest.raises(ValueError, match="negative values, such as -1"):
            eh.tally([1, 0], [1, 0], sensitive_features=["a", "b"], sample_weight=[1, -1])

    def test_labels_of_two_kinds_are_refused(self):
        with pytest.raises(TypeError, match=r"mix text and numbers: \['0', '1', '0'"):
            eh.tally([0, 1], ["0", "1"], sensitive_features=["a", "b"])

    def test_an_unknown_criterion_suggests_the_nearest(self):
        with pytest.raises(ValueError, match="Did you mean 'equalized_odds'"):
            eh.evaluate("equal_odds", [1], [1], sensitive_features=["a"])

    def test_two_labels_without_order_need_a_favorable_one(self):
        with pytest.raises(ValueError, match=r"Which of the labels \['no', 'yes'\]"):
            eh.evaluate(
                "equal_opportunity", ["no", "yes"], ["no", "yes"], sensitive_features=[*"ab"]
            )
        options = {"sensitive_features": A, "favorable": "yes", "measure": "mpd"}
        y, p = ["yes", "yes", "yes", "yes"], ["yes", "no", "yes", "yes"]
        assert eh.evaluate("equal_opportunity", y, p, **options) == 0.5

    def test_a_favorable_label_that_never_occurs_is_named(self):
        with pytest.raises(ValueError, match=r"'yes' is not among the labels \[0, 1\]"):
            eh.evaluate(
                "equal_opportunity", [0, 1], [0, 1], sensitive_features=[*"ab"], favorable="yes"
            )

    def test_g_is_for_performance_parity_and_must_exist(self):
        with pytest.raises(ValueError, match="g= is for 'performance_parity'"):
            eh.evaluate("equalized_odds", [1, 0], [1, 0], sensitive_features=[*"ab"], g="f1")
        with pytest.raises(ValueError, match="no statistic g='f2'"):
            eh.evaluate("performance_parity", [1, 0], [1, 0], sensitive_features=[*"ab"], g="f2")

    def test_negative_statistics_name_the_transform(self):
        options = {"sensitive_features": A, "g": "r2", "measure": "pq"}
        with pytest.raises(ValueError, match='transform="exp"'):
            eh.evaluate("performance_parity", [1.0, 2, 1, 2], [2.0, 1, 1, 2], **options)

    @pytest.mark.parametrize(
        ("criterion", "needed"),
        [
            ("equalized_odds", "y_true"),
            ("conditional_statistical_parity", "strata"),
            ("calibration_parity", "y_true"),
        ],
    )
    def test_what_a_criterion_needs_is_named(self, criterion, needed):
        with pytest.raises(ValueError, match=f"needs {needed}"):
            eh.evaluate(criterion, None, [1, 0], sensitive_features=["a", "b"])

    def test_groups_are_needed(self):
        with pytest.raises(ValueError, match="Pass sensitive_features"):
            eh.evaluate("statistical_parity", [1, 0], [1, 0])

    def test_a_summary_of_the_wrong_kind_is_refused(self):
        counts = eh.tally([1, 0], [1, 0], sensitive_features=["a", "b"])
        with pytest.raises(TypeError, match="strong_parity reads a Distribution, not a Tally"):
            eh.evaluate("strong_parity", counts)
        with pytest.raises(ValueError, match="no sum 'squared_error'"):
            eh.evaluate("performance_parity", counts, g="mse")

    def test_scores_must_match_the_classes(self):
        y, options = [0, 1, 2, 0], {"sensitive_features": A, "g": "auroc"}
        with pytest.raises(ValueError, match=r"3 columns, but y_true takes \[0, 1\]"):
            eh.evaluate("performance_parity", [0, 1, 1, 0], y_score=np.ones((4, 3)), **options)
        with pytest.raises(ValueError, match="needs y_score"):
            eh.evaluate("performance_parity", y, y, **options)

    def test_probabilities_lie_between_zero_and_one(self):
        options = {"sensitive_features": A, "g": "cross_entropy"}
        with pytest.raises(ValueError, match="predict_proba, not decision_function"):
            eh.evaluate(
                "performance_parity", [0, 1, 1, 0], y_score=[-1.0, 2.0, 0.5, 0.5], **options
            )

    def test_calibration_is_about_one_class(self):
        with pytest.raises(ValueError, match="about one class"):
            eh.evaluate(
                "calibration_parity",
                [0, 1, 2, 0],
                y_score=np.ones((4, 3)) / 3,
                sensitive_features=A,
            )

    def test_what_a_criterion_does_not_know_is_refused(self):
        y, options = [1, 0, 1, 0], {"sensitive_features": A}
        with pytest.raises(ValueError, match="tau is for 'strong_parity'"):
            eh.evaluate("statistical_parity", y, y, tau=0.1, **options)
        with pytest.raises(ValueError, match="no transform 'log'"):
            eh.evaluate("statistical_parity", y, y, transform="log", measure="mpd", **options)
        with pytest.raises(TypeError, match="sensitive_feature"):
            eh.CRITERIA["statistical_parity"](y, y, sensitive_feature=A)

    def test_dropping_everybody_is_refused(self):
        with pytest.raises(ValueError, match="nobody would be left"):
            eh.groups(A, min_count=9, rare="drop")

    def test_a_supremum_has_no_mean(self):
        with pytest.raises(ValueError, match="'worst' or 'integral', not 'mean'"):
            eh.evaluate(
                "strong_parity", None, [0.1, 0.2], sensitive_features=[*"ab"], aggregate="mean"
            )


def test_a_single_column_of_scores_is_that_of_the_label_it_is_said_to_be_of():
    y, score = ["no", "yes", "no", "yes", "yes", "no"], [0.9, 0.2, 0.8, 0.3, 0.7, 0.6]
    options = {"sensitive_features": [*"aabbbb"], "g": "auroc", "measure": "mpd"}
    of_no = eh.evaluate(
        "performance_parity", y, y_score=score, favorable="no", score_of="no", **options
    )
    of_yes = eh.evaluate("performance_parity", y, y_score=score, favorable="yes", **options)
    assert of_no == pytest.approx(1 - 0.75)
    assert of_yes == pytest.approx(0.25)


def test_a_reading_says_what_it_is():
    reading = eh.CRITERIA["statistical_parity"].read(
        None, [1, 1, 0, 1], sensitive_features=A, measure="gini", transform="exp"
    )
    assert str(reading) == "statistical_parity = 0.1225 (gini, exp transform, worst)"


def test_the_favorable_label_keeps_to_its_cells():
    y, p = [1, 1, 0, 0, 1, 1, 0, 0], [1, 0, 0, 0, 1, 1, 1, 0]
    options = {"sensitive_features": [*"aaaabbbb"], "measure": "gini"}
    reading = eh.CRITERIA["equalized_odds"].read(y, p, favorable=1, **options)
    assert reading.cells == ((0, 1), (1, 1))
    assert eh.evaluate("accuracy_parity", y, p, favorable=1, **options) == eh.evaluate(
        "accuracy_parity", y, p, **options
    )


def test_a_reading_of_a_batch_says_what_it_is():
    counts = eh.tally(None, [1, 0, 1], sensitive_features=["a", "b", "b"])
    batch = eh.Tally(counts.axes, counts.cells, {"rows": np.array([[1, 1, 1], [2, 0, 0]])})
    reading = eh.CRITERIA["statistical_parity"].read(batch, measure="mpd")
    assert "[0.5 nan]" in str(reading)
    assert str(reading).endswith("left out: a at 0, a at 1")
