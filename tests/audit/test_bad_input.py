"""Bad input gets one clear sentence, and odd input an audit."""

import numpy as np
import pytest

import evenhand as eh

Y, P, A = [0, 1, 0, 1], [0, 1, 1, 1], ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_pred": [0, 1]}, "differ in length"),
        ({"y_pred": [0, 1, np.nan, 1]}, "y_pred has 1 missing label"),
        ({"y_true": [0, None, 1, 1]}, "y_true has 1 missing label"),
        ({"sensitive_features": ["a"] * 4}, "only one group, 'a'"),
        ({"sensitive_features": ["a", None, "b", "b"]}, "no value of 'group'"),
        ({"y_pred": None}, "Pass y_pred"),
        ({"y_score": [0.1, np.nan, 0.2, 0.3]}, "not finite"),
        ({"y_score": [0.1, np.inf, 0.2, 0.3]}, "not finite"),
        ({"sample_weight": [1, -1, 1, 1]}, "negative"),
        ({"favorable": "yes"}, "'yes' is not among the labels"),
        ({"criteria": ["equal_odds"]}, "Did you mean 'equalized_odds'"),
        ({"criteria": ["strong_parity"]}, "strong_parity cannot be asked here: it needs y_score"),
        ({"measures": ["theil"]}, "There is no measure 'theil'"),
        ({"fail_if": {"statistical_parity.qp": 1}}, "There is no measure 'qp'"),
        ({"fail_if": {"statistical_parity.pq": -1}}, "at least 0"),
        ({"task": "clustering"}, "'binary', 'multiclass', 'regression' or 'ranking'"),
        ({"confidence": 95}, "between 0 and 1"),
        ({"depth": 0}, "depth"),
    ],
)
def test_it_is_refused_in_one_sentence(arguments, message):
    given = {"y_true": Y, "y_pred": P, "sensitive_features": A} | arguments
    with pytest.raises(ValueError, match=message):
        eh.audit(given.pop("y_true"), given.pop("y_pred"), **given)


@pytest.mark.parametrize("criterion", ["error_parity", "calibration_parity", "treatment_equality"])
def test_a_criterion_of_labels_is_not_asked_of_numbers(criterion):
    needed = "it needs labels to predict, and the task is 'regression'"
    with pytest.raises(eh.InputError, match=needed):
        eh.audit([0.5, 1, 2, 3], [1.5, 2, 3, 4], sensitive_features=A, criteria=[criterion])


def test_scores_given_as_predictions_of_labels_are_refused():
    with pytest.raises(ValueError, match="pass them as y_score="):
        eh.audit(Y, [0.2, 0.8, 0.4, 0.9], sensitive_features=A)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "", "🦄", "a|b\n\\*_", "&amp;"])
def test_group_names_are_data(name, tmp_path):
    rng = np.random.default_rng(0)
    group = np.where(rng.random(200) < 0.5, name, "other")
    y = rng.integers(0, 2, 200)
    found = eh.audit(y, y.copy(), sensitive_features=group, criteria=["equalized_odds"])
    page = found.to_html(tmp_path / "page.html")
    assert "<script>alert(1)</script>" not in page
    assert "<script>alert" not in found.to_markdown()
    assert "<script>alert" not in found._repr_html_()
    assert found.document()["groups"][0]["label"] in (name, "other")


@pytest.mark.slow
def test_all_of_one_class_and_constant_scores_are_audited():
    rng = np.random.default_rng(0)
    group, ones = rng.integers(0, 3, 300), np.ones(300, dtype=int)
    found = eh.audit(ones, ones.copy(), sensitive_features=group, y_score=np.full(300, 0.5))
    assert found.finding("statistical_parity", "pq").value == 0
    assert "favorable" in " ".join(found.notes)
    assert found.to_json()


@pytest.mark.long
def test_ten_thousand_groups_are_audited(monkeypatch):
    monkeypatch.setattr(
        "evenhand._uncertainty.monte_carlo.DRAWS", 200
    )  # a p-value so rough will do
    rng = np.random.default_rng(0)
    group, p = rng.integers(0, 10_000, 40_000), rng.integers(0, 2, 40_000)
    found = eh.audit(
        None, p, sensitive_features=group, criteria=["statistical_parity"], measures=["mpd", "gini"]
    )
    assert {one.verdict for one in found.findings} == {"cannot tell"}
    assert len(found.to_html()) < 5_000_000


@pytest.mark.slow
def test_a_group_seen_once_is_not_lost():
    y, p = [0, 1] * 50 + [1], [0, 1] * 50 + [0]
    found = eh.audit(y, p, sensitive_features=["a", "b"] * 50 + ["lonely"])
    assert "lonely" in [one["label"] for one in found.document()["groups"]]
    left = found.finding("predictive_equality", "gini").left_out
    assert (1, "lonely") in left
