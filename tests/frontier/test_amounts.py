"""The frontier of predicted amounts: what is expected, what is proved, and rules in use."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.criteria import strong_parity, wasserstein_parity
from evenhand.mitigation import BarycenterRegressor, GivenScores


def people(rows=3000, seed=0):
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2])
    predicted = random.gamma(3.0, 1 + 0.5 * (group == "b") + 0.2 * (group == "c"), rows)
    return predicted + random.normal(size=rows), predicted, group


def traced(criterion, rows=3000, **options):
    y, predicted, group = people(rows)
    options = {"values": 5} | options
    return eh.frontier(y, predicted, sensitive_features=group, criterion=criterion, **options)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["strong_parity", "wasserstein_parity"])
def test_expected_values_and_errors_are_those_of_lots_that_are_drawn(criterion):
    y, predicted, group = people(20_000)
    found = eh.frontier(y, predicted, sensitive_features=group, criterion=criterion, values=5)
    columns = found.to_dict()
    question = {"strong_parity": strong_parity, "wasserstein_parity": wasserstein_parity}[criterion]
    for place in (0, 2):
        rule = found.rule(columns["bound"][place])
        moved = rule.predict(predicted, group, ids=np.arange(20_000), key=place)
        value = question(None, moved, measure="mpd", sensitive_features=group)
        error = np.sqrt(np.mean((y - moved) ** 2))
        assert value == pytest.approx(columns["value"][place], abs=0.03)
        assert error == pytest.approx(columns["error"][place], abs=0.02)
        assert rule.value == pytest.approx(columns["value"][place])


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["strong_parity", "wasserstein_parity", "weak_parity"])
def test_no_part_of_the_way_to_the_barycenter_lies_below_the_curve(criterion):
    y, predicted, group = people()
    X = pd.DataFrame({"p": predicted, "group": group})
    full = BarycenterRegressor(GivenScores("p"), group="group")
    for model in full.fit_path(X, y, [0.2, 0.5, 0.8, 1.0]):
        moved = model.predict(X)
        value = eh.evaluate(criterion, y, moved, measure="mpd", sensitive_features=group)
        found = traced(criterion, values=[float(value)]).to_dict()
        assert found["cost"][0] <= np.mean((moved - predicted) ** 2) + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["strong_parity", "wasserstein_parity", "weak_parity"])
def test_the_curve_meets_its_bounds_and_test_rows_are_judged_apart(criterion):
    found = traced(criterion, test=people(2000, seed=1))
    columns = found.to_dict()
    assert (np.array(columns["value"]) <= np.array(columns["bound"]) + 1e-9).all()
    assert np.all(np.diff(columns["cost"]) <= 1e-9)
    assert columns["test_value"] != columns["value"]
    assert np.isfinite(columns["test_error"]).all()


@pytest.mark.slow
def test_test_rows_may_lack_a_group():
    y, predicted, group = people(1000, seed=2)
    some = group != "c"
    found = traced("strong_parity", test=(y[some], predicted[some], group[some]))
    alone = traced("weak_parity", test=(y[some], predicted[some], group[some]))
    assert np.isfinite(found.to_dict()["test_value"]).all()
    assert np.isfinite(alone.to_dict()["test_error"]).all()
    with pytest.raises(eh.InputError, match="Group d"):
        traced("strong_parity", test=([1.0], [1.0], ["d"]))


@pytest.mark.slow
def test_rows_are_held_out_and_what_is_about_classes_is_refused():
    found = traced("strong_parity", held_out=0.3)
    assert len(found.to_dict()["test_value"]) == 5
    with pytest.raises(eh.InputError, match="capacity= is about classes"):
        traced("strong_parity", capacity=3)


def test_without_truth_moves_are_known_and_errors_are_not():
    _, predicted, group = people(500)
    found = eh.frontier(
        None, predicted, sensitive_features=group, criterion="wasserstein_parity", values=3
    )
    assert np.isnan(found.to_dict()["error"]).all()
    assert found.to_dict()["cost"][0] > 0


@pytest.mark.slow
@pytest.mark.parametrize("draw", [True, False])
def test_a_rule_of_amounts_predicts_alike_in_a_database(draw):
    _, predicted, group = people(1000, seed=3)
    rule = traced("wasserstein_parity").rule(0.4, draw=draw)
    new = pd.DataFrame({"p": predicted, "group": group, "id": np.arange(1000)})
    how = {"row_id": "id", "key": 7} if draw else {}
    with duckdb.connect() as connection:
        connection.register("people", new)
        answers = connection.execute(rule.to_sql(amount="p", **how)).df()
    answers = answers.set_index("id").loc[new["id"], "prediction"]
    ours = rule.predict(predicted, group, ids=new["id"], key=7)
    assert np.allclose(answers, ours, atol=1e-6)
    assert rule.explain().startswith("Group a: ")


def test_bins_of_ages_are_groups_of_rules_too():
    random = np.random.default_rng(0)
    age = random.uniform(18, 80, 800)
    predicted = random.normal(age / 40)
    whom = eh.groups({"age": age}, bins={"age": [18, 40, 80]})
    found = eh.frontier(None, predicted, sensitive_features=whom, criterion="weak_parity")
    query = found.rule(0.1).to_sql(amount="p")
    new = pd.DataFrame({"age": age, "p": predicted})
    with duckdb.connect() as connection:
        connection.register("people", new)
        answers = connection.execute(query).df()
    assert np.allclose(answers["prediction"], found.rule(0.1).predict(predicted, whom))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["strong_parity", "weak_parity", "wasserstein_parity"])
def test_other_rows_have_intervals_of_predictions_drawn_once(criterion):
    random = np.random.default_rng(5)
    group = random.integers(0, 3, 4000)
    truth = random.normal(group / 3)
    options = {"sensitive_features": group, "criterion": criterion, "held_out": 0.5, "values": 3}
    curve = eh.frontier(truth, truth + random.normal(size=4000), **options).to_dict()
    low, value, high = (np.array(curve[f"test_{name}"]) for name in ("low", "value", "high"))
    assert (low < high).all()
    assert ((low - 0.01 <= value) & (value <= high + 0.01)).all()
    assert low[-1] > 0.1
    narrow = eh.frontier(truth, truth.copy(), **options, confidence=0.5).to_dict()
    assert narrow["test_high"][-1] - narrow["test_low"][-1] < high[-1] - low[-1]


@pytest.mark.parametrize("criterion", ["strong_parity", "wasserstein_parity", "weak_parity"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sensitive_features": ["a"] * 100}, "compares several"),
        ({"y_score": np.full(100, 1e300)}, "cannot be squared"),
        ({"sample_weight": [0, 1] * 50, "sensitive_features": ["b", "a"] * 50}, "have weight 0"),
        ({"values": [np.nan, 0.1]}, "not finite"),
        ({"values": 1}, "at least 2 points"),
    ],
)
def test_amounts_that_cannot_be_compared_are_refused(criterion, wrong, message):
    random = np.random.default_rng(0)
    y = random.random(100)
    given = {"y_true": y, "y_score": y.copy(), "sensitive_features": ["a", "b"] * 50} | wrong
    with pytest.raises(eh.InputError, match=message):
        eh.frontier(criterion=criterion, **given)
