"""Accuracy and error beside fairness: numbers, intervals and paired tests."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, mean_absolute_error, root_mean_squared_error

import evenhand as eh
from comparing.models import labeled, numbered, rows

ASK = {"criteria": "statistical_parity", "measures": "mpd"}
ASK_NUMBERS = {"criteria": "weak_parity", "measures": "mpd"}


@pytest.mark.parametrize("weighted", [False, True])
def test_accuracy_is_that_of_scikit_learn_within_its_interval(weighted):
    y, made, group = labeled()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    found = eh.compare(y, made, sensitive_features=group, sample_weight=weight, **ASK)
    for row in rows(found.performance):
        expected = accuracy_score(y, made[row["model"]], sample_weight=weight)
        assert row["value"] == pytest.approx(expected)
        assert row["low"] < row["value"] < row["high"]
        assert row["metric"] == "accuracy"


def test_the_interval_of_an_unweighted_accuracy_is_clopper_and_pearsons():
    y, made, group = labeled()
    found = eh.compare(y, made, sensitive_features=group, **ASK)
    for row in rows(found.performance):
        right = int((y == made[row["model"]]).sum())
        ends = stats.binomtest(right, len(y)).proportion_ci(0.95, "exact")
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), abs=1e-9)


@pytest.mark.slow
def test_errors_of_numbers_are_those_of_scikit_learn():
    y, made, group = numbered()
    found = eh.compare(y, made, sensitive_features=group, **ASK_NUMBERS)
    metrics = {"rmse": root_mean_squared_error, "mae": mean_absolute_error}
    assert [row["metric"] for row in rows(found.performance)] == ["rmse"] * 3 + ["mae"] * 3
    for row in rows(found.performance):
        assert row["value"] == pytest.approx(metrics[row["metric"]](y, made[row["model"]]))
        assert row["low"] < row["value"] < row["high"]


def test_two_accuracies_on_the_same_rows_are_compared_by_mcnemars_test():
    y, made, group = labeled(models=2)
    found = eh.compare(y, made, sensitive_features=group, **ASK)
    one, two = (prediction == y for prediction in made.values())
    expected = stats.binomtest(int((~one & two).sum()), int((one ^ two).sum())).pvalue
    (row,) = rows(found.to_frame(table="performance_differences"))
    assert row["p_value"] == pytest.approx(expected)
    assert row["difference"] == pytest.approx(one.mean() - two.mean())


def test_two_errors_on_the_same_rows_are_compared_by_the_paired_t_test():
    y, made, group = numbered(models=2)
    found = eh.compare(y, made, sensitive_features=group, **ASK_NUMBERS)
    one, two = ((prediction - y) ** 2 for prediction in made.values())
    (row,) = rows(found.to_frame(table="performance_differences"), metric="rmse")
    assert row["p_value"] == pytest.approx(stats.ttest_rel(one, two).pvalue)


def test_models_that_are_right_on_the_same_rows_do_not_differ_in_accuracy():
    y, made, group = labeled(models=1)
    twins = {"one": made["model 0"], "two": made["model 0"]}
    found = eh.compare(y, twins, sensitive_features=group, **ASK)
    (row,) = rows(found.to_frame(table="performance_differences"))
    assert (row["difference"], row["p_value"], row["beyond_chance"]) == (0, 1, False)


def test_without_the_truth_there_is_no_accuracy():
    _, made, group = labeled()
    found = eh.compare(None, made, sensitive_features=group, **ASK)
    assert len(found.performance) == 0
    assert "accuracy" not in str(found)
    assert list(found.by_model.columns[:2]) == ["model", "statistical_parity"]


@pytest.mark.slow
def test_the_first_table_has_accuracy_beside_every_criterion():
    y, made, group = labeled()
    found = eh.compare(y, made, sensitive_features=group)
    table = found.by_model.set_index("model")
    for row in rows(found.values, measure="mpd"):
        for key, end in (("value", ""), ("low", "_low"), ("high", "_high")):
            assert table.loc[row["model"], row["criterion"] + end] == pytest.approx(row[key])
    assert list(table.columns[:3]) == ["accuracy", "accuracy_low", "accuracy_high"]


@pytest.mark.slow
def test_means_below_zero_have_no_gini_and_a_note_says_so():
    y, made, group = numbered()
    lower = {name: values - 5 for name, values in made.items()}
    options = {"sensitive_features": group, "criteria": "weak_parity", "replicates": 5}
    found = eh.compare(y - 5, lower, **options)
    assert set(found.values["measure"]) == {"mpd"}
    assert any(note.startswith("weak_parity by gini is left out") for note in found.notes)
    with pytest.raises(eh.InputError, match="need values of at least 0"):
        eh.compare(y - 5, lower, **options, measures=["mpd", "gini"])


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(40, 10, 300), "sex": rng.choice(["F", "M"], 300)})
    y = (X["age"] + 10 * (X["sex"] == "M") + rng.normal(0, 5, 300) > 45).astype(int)
    return X, y


class OnAge:
    """An estimator that reads one column of a dataframe."""

    def __init__(self, model, X, y):
        self.model = model.fit(X[["age"]], y)

    def __getattr__(self, name):
        return getattr(self.model, name)

    def predict(self, X):
        return self.model.predict(X[["age"]])


def test_estimators_are_compared_as_their_predictions_are(people):
    X, y = people
    model = OnAge(LogisticRegression(), X, y)
    by_estimator = eh.compare(
        y, {"fitted": model, "even": y * 0}, data=X, sensitive_features="sex", **ASK
    )
    by_columns = eh.compare(
        y, {"fitted": model.predict(X), "even": y * 0}, sensitive_features=X[["sex"]], **ASK
    )
    assert by_estimator.to_markdown() == by_columns.to_markdown()
    assert by_estimator.evidence.groups.names == ("sex",)
    listed = eh.compare(y, {"fitted": model}, data=X, sensitive_features=["sex"], **ASK)
    assert listed.evidence.groups.names == ("sex",)


def test_an_estimator_without_classes_is_a_regressor(people):
    X, _ = people
    whole = (X["age"]).round()
    model = OnAge(LinearRegression(), X, whole)
    options = {"data": X, "sensitive_features": "sex", **ASK_NUMBERS}
    assert eh.compare(whole, {"fitted": model}, **options).task == "regression"


def test_an_estimator_without_rows_to_predict_for_is_refused(people):
    X, y = people
    model = LogisticRegression().fit(X[["age"]], y)
    with pytest.raises(TypeError, match=r"'fitted'\] is an estimator.*pass data="):
        eh.compare(y, {"fitted": model}, sensitive_features=X["sex"])
