import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from evenhand import UnboundWarning, gini, measures, pq
from evenhand.mitigation import RateConstrainedClassifier
from evenhand.mitigation.optimal import DecisionRule, known_groups, problem, solve
from mitigation.programs import convex_program, known, rates_of, rows_of, whole_program

MEASURES = {"mpd": measures.mpd, "gini": gini, "pq": pq}
CRITERIA = ["statistical_parity", "equal_opportunity", "equalized_odds", "average_odds"]
ORDERS = [(1, 2), (0.5, 2), (0.5, 1), (1, 3), (0.3, 1.5)]


def solved(probabilities, group, criterion, measure, epsilon, tolerance=1e-6, **orders):
    population = known_groups(probabilities, group, np.ones(len(group)), group.max() + 1)
    return solve(problem(population, criterion, measure, epsilon, **orders), tolerance)


def criterion_of(chances, probabilities, group, criterion, measure):
    """The criterion of decisions by lot, from the definition."""
    cells = rates_of(known(probabilities, group), criterion)
    return max(measure(weights @ chances[:, y]) for y, weights in cells)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("classes", "groups"), [(2, 2), (2, 4), (3, 3)])
def test_gini_and_pq_agree_with_cvxpy(criterion, classes, groups):
    pytest.importorskip("cvxpy", reason="cvxpy is the oracle")
    rows = rows_of(60, classes, groups, seed=groups)
    for measure, epsilon in (("gini", 0.02), ("pq", 0.002)):
        found = solved(*rows, criterion, measure, epsilon)
        least = convex_program(known(*rows), criterion, measure, epsilon)
        assert found.cost == pytest.approx(least, abs=1e-5)
        assert found.gap <= 1e-5
        assert found.value <= epsilon + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), ORDERS)
def test_every_order_of_pq_agrees_with_cvxpy(p, q):
    pytest.importorskip("cvxpy", reason="cvxpy is the oracle")
    rows = rows_of(60, 2, 3, seed=5)
    found = solved(*rows, "statistical_parity", "pq", 0.003, p=p, q=q)
    least = convex_program(known(*rows), "statistical_parity", "pq", 0.003, p, q)
    assert found.cost == pytest.approx(least, abs=1e-5)
    assert found.gap <= 1e-5
    chances = found.rule.probabilities(*rows)
    own = criterion_of(chances, *rows, "statistical_parity", lambda w: pq(w, p, q))
    assert own <= 0.003 + 1e-9


@pytest.mark.slow
def test_mpd_of_average_odds_agrees_with_the_whole_linear_program():
    rows = rows_of(200, 3, 3)
    found = solved(*rows, "average_odds", "mpd", 0.02)
    least = whole_program(known(*rows), "average_odds", 0.02)
    assert found.cost == pytest.approx(least, abs=1e-6)


@pytest.mark.slow
@given(
    st.integers(0, 10_000),
    st.integers(2, 4),
    st.integers(2, 6),
    st.sampled_from(CRITERIA),
    st.sampled_from(sorted(MEASURES)),
    st.sampled_from([0.0, 1e-5, 1e-3, 0.03, 0.4, 1.0]),
)
@settings(max_examples=15, deadline=None)
def test_the_criterion_is_met_on_the_fitting_rows(
    seed, classes, groups, criterion, measure, epsilon
):
    rows = rows_of(60, classes, groups, seed, decimals=2 if seed % 2 else None)
    found = solved(*rows, criterion, measure, epsilon)
    chances = found.rule.probabilities(*rows)
    assert found.gap <= 1e-5
    assert criterion_of(chances, *rows, criterion, MEASURES[measure]) <= epsilon + 1e-9
    expected = ((1 - rows[0]) * chances).sum(axis=1).mean()
    assert found.cost == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


@pytest.mark.slow
@given(st.integers(0, 999), st.sampled_from(sorted(MEASURES)))
@settings(max_examples=3, deadline=None)
def test_a_looser_bound_costs_no_more_and_none_is_the_base_model(seed, measure):
    rows = rows_of(40, 3, 3, seed)
    costs = [
        solved(*rows, "statistical_parity", measure, epsilon).cost for epsilon in (0, 1e-4, 0.02, 1)
    ]
    assert np.all(np.diff(costs) <= 2e-6)
    assert costs[-1] == pytest.approx(1 - rows[0].max(axis=1).mean())


@pytest.mark.slow
@given(st.integers(0, 999), st.sampled_from(sorted(MEASURES)), st.sampled_from(CRITERIA))
@settings(max_examples=3, deadline=None)
def test_the_numbers_of_groups_and_classes_mean_nothing(seed, measure, criterion):
    probabilities, group = rows_of(50, 3, 4, seed)
    random = np.random.default_rng(seed)
    columns, names = random.permutation(3), random.permutation(4)
    one = solved(probabilities, group, criterion, measure, 0.01)
    two = solved(probabilities[:, columns], names[group], criterion, measure, 0.01)
    assert one.cost == pytest.approx(two.cost, abs=2e-6)


@pytest.mark.slow
def test_no_bound_on_differences_beats_the_bound_on_pq_itself():
    rows = rows_of(1000, 2, 6)
    by_pq = solved(*rows, "statistical_parity", "pq", 0.01)
    for bound in np.linspace(0.02, 0.4, 8):
        other = solved(*rows, "statistical_parity", "mpd", bound)
        chances = other.rule.probabilities(*rows)
        if criterion_of(chances, *rows, "statistical_parity", pq) <= 0.01:
            assert other.cost >= by_pq.cost - 1e-6


@pytest.mark.slow
def test_five_hundred_groups_are_no_trouble():
    rows = rows_of(6_000, 2, 500)
    found = solved(*rows, "statistical_parity", "mpd", 0.05, tolerance=1e-5)
    assert found.gap <= 2e-5
    assert found.value <= 0.05 + 1e-9


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=900), "race": random.choice(list("abc"), 900)})
    y = random.choice(["high", "low", "mid"], 900)
    y[(X["x"] > 0.3) & (X["race"] == "a")] = "high"
    base = LogisticRegression()
    options = {"group": "race", "sees_group": False, "measure": "gini", "epsilon": 0.02}
    return RateConstrainedClassifier(base, **options, random_state=0).fit(X, y), X


def test_the_exported_rule_reproduces_the_probabilities(fitted):
    model, X = fitted
    scores = model.estimator_.predict_proba(X[["x"]])
    codes = model.sensitive_.codes(X)
    again = DecisionRule.from_json(model.rule_.to_json())
    np.testing.assert_array_equal(again.probabilities(scores, codes), model.predict_proba(X))


def test_the_exported_rule_can_be_applied_without_us(fitted):
    model, X = fitted
    chances = np.zeros((len(X), 3))
    scores, codes = model.estimator_.predict_proba(X[["x"]]), model.sensitive_.codes(X)
    for rule in json.loads(model.rule_.to_json())["rules"]:
        rows = np.flatnonzero(codes == rule["pool"])
        decided = np.argmin(scores[rows] @ np.array(rule["prices"]), axis=1)
        chances[rows, decided] += rule["share"]
    np.testing.assert_allclose(chances, model.predict_proba(X), atol=1e-12)


def test_a_rule_in_another_format_is_refused():
    with pytest.raises(ValueError, match="not an 'evenhand decision rule 1'"):
        DecisionRule.from_json("{}")


def test_draws_follow_the_probabilities(fitted):
    model, X = fitted
    shares = (model.predict(X)[:, None] == model.classes_).mean(axis=0)
    np.testing.assert_allclose(shares, model.predict_proba(X).mean(axis=0), atol=0.05)
    np.testing.assert_array_equal(model.predict(X), model.predict(X))


def test_without_the_solver_for_cones_pq_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match=r'pip install "evenhand\[mitigation\]"'):
        solved(*rows_of(40, 2, 2), "statistical_parity", "pq", 0.001)
    assert solved(*rows_of(40, 2, 2), "statistical_parity", "gini", 0.01).gap <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": -0.1}, "at least 0"),
        ({"measure": "variance"}, "There is no measure 'variance'"),
        ({"criterion": "calibration_parity"}, "cannot meet the criterion 'calibration_parity'"),
        ({"measure": "pq", "p": 2, "q": 3}, "0 < p ≤ 1 ≤ q"),
        ({"cost": [[0, 1], [1, 0]]}, "3 × 3"),
        ({"favorable": "best", "criterion": "equal_opportunity"}, "'best' is not among"),
    ],
)
def test_a_bad_parameter_is_named(fitted, wrong, message):
    model, X = fitted
    with pytest.raises(ValueError, match=message):
        RateConstrainedClassifier(group="race", sees_group=False, **wrong).fit(X, model.predict(X))


def lenders(rows=6000, seed=0):
    """Two groups of which a model selects about 7 and 15 percent."""
    random = np.random.default_rng(seed)
    group = random.integers(0, 2, rows)
    X = np.column_stack([group, random.normal(0.5 * group)])
    y = (X[:, 1] + random.normal(scale=0.5, size=rows) > 1.6).astype(int)
    return X, y, group


def test_five_hundredths_are_five_points_between_groups():
    X, y, group = lenders()
    base = LogisticRegression().fit(X, y)
    chosen = base.predict(X)
    gap = abs(chosen[group == 1].mean() - chosen[group == 0].mean())
    assert gap > 0.06
    fair = RateConstrainedClassifier(base, group=0, epsilon=0.05, prefit=True).fit(X, y)
    chance = fair.predict_proba(X)[:, 1]
    left = abs(chance[group == 1].mean() - chance[group == 0].mean())
    assert left == pytest.approx(0.05, abs=1e-6)
    assert not fair.notes_


def test_a_bound_that_changes_nothing_is_told_with_the_value_and_the_measure():
    X, y, _ = lenders()
    model = RateConstrainedClassifier(group=0, measure="pq", epsilon=0.3)
    words = r"epsilon=0.3 changes nothing: without it, statistical_parity\.pq is 0\.\d+.*'mpd'"
    with pytest.warns(UnboundWarning, match=words):
        model.fit(X, y)
    assert "changes nothing" in model.notes_[0]
    loose = RateConstrainedClassifier(group=0, epsilon=1.0).fit(X, y)  # means to bound nothing
    assert "changes nothing" in loose.notes_[0]
