import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from evenhand import evaluate
from evenhand.datasets import load
from evenhand.mitigation import LinearPostClassifier
from evenhand.mitigation.optimal import Scores, known_groups, problem, solve
from mitigation.programs import known, rows_of, whole_program


def solved(probabilities, group, criterion, epsilon, measure="mpd", tolerance=1e-6, **options):
    weight = np.ones(len(group))
    population = known_groups(probabilities, group, weight, group.max() + 1)
    return solve(problem(population, criterion, measure, epsilon, **options), tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["statistical_parity", "equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize(("classes", "groups"), [(2, 2), (2, 5), (3, 3), (4, 4)])
@pytest.mark.parametrize("epsilon", [0.0, 0.03])
def test_the_cost_is_that_of_the_whole_linear_program(criterion, classes, groups, epsilon):
    rows = rows_of(100, classes, groups, seed=classes)
    found = solved(*rows, criterion, epsilon)
    assert found.cost == pytest.approx(whole_program(known(*rows), criterion, epsilon), abs=1e-6)
    assert found.gap <= 1e-5
    assert found.value <= epsilon + 1e-9


@pytest.mark.slow
def test_a_thousand_rows_agree_too():
    rows = rows_of(1000, 3, 3)
    found = solved(*rows, "statistical_parity", 0.01)
    least = whole_program(known(*rows), "statistical_parity", 0.01)
    assert found.cost == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_ties_are_met_by_mixing_rules_not_by_noise(classes):
    rows = rows_of(200, classes, 3, decimals=1)
    found = solved(*rows, "statistical_parity", 0.0)
    assert found.cost == pytest.approx(
        whole_program(known(*rows), "statistical_parity", 0.0), abs=1e-6
    )
    chances = found.rule.probabilities(*rows)
    rates = [chances[rows[1] == a].mean(axis=0) for a in range(3)]
    assert np.ptp(rates, axis=0).max() <= 1e-9
    assert (chances.max(axis=1) < 1).any()


@pytest.mark.slow
def test_any_cost_of_errors_may_be_given():
    rows = rows_of(200, 3, 2)
    cost = np.array([[0, 5.0, 1], [2, 0, 9], [1, 1, -3]])
    found = solved(*rows, "equalized_odds", 0.05, cost=cost)
    least = whole_program(known(*rows), "equalized_odds", 0.05, cost)
    assert found.cost == pytest.approx(least, abs=1e-5)
    assert 0 <= least - (found.cost - found.gap) <= 1e-5


@pytest.mark.slow
def test_weights_count_like_repeated_rows():
    probabilities, group = rows_of(150, 3, 2)
    times = np.random.default_rng(1).integers(1, 4, size=150)
    population = known_groups(probabilities, group, times.astype(float), 2)
    weighted = solve(problem(population, "statistical_parity", "mpd", 0.02))
    repeated = solved(
        probabilities.repeat(times, 0), group.repeat(times), "statistical_parity", 0.02
    )
    assert weighted.cost == pytest.approx(repeated.cost, abs=2e-6)


@pytest.mark.slow
@given(st.integers(0, 999), st.integers(2, 4), st.integers(2, 4), st.floats(0, 0.3))
@settings(max_examples=5, deadline=None)
def test_the_numbers_of_groups_and_classes_mean_nothing(seed, classes, groups, epsilon):
    probabilities, group = rows_of(50, classes, groups, seed)
    random = np.random.default_rng(seed)
    columns, names = random.permutation(classes), random.permutation(groups)
    one = solved(probabilities, group, "equalized_odds", epsilon)
    two = solved(probabilities[:, columns], names[group], "equalized_odds", epsilon)
    assert one.cost == pytest.approx(two.cost, abs=2e-6)


@pytest.mark.slow
@given(st.integers(0, 999), st.sampled_from(["statistical_parity", "equalized_odds"]))
@settings(max_examples=3, deadline=None)
def test_a_looser_bound_costs_no_more_and_none_costs_nothing(seed, criterion):
    rows = rows_of(50, 3, 3, seed)
    costs = [solved(*rows, criterion, epsilon).cost for epsilon in (0, 0.01, 0.1, 1000)]
    assert np.all(np.diff(costs) <= 2e-6)
    assert costs[-1] == pytest.approx(1 - rows[0].max(axis=1).mean())
    free = solved(*rows, criterion, 1000).rule.probabilities(*rows)
    np.testing.assert_array_equal(free.argmax(axis=1), rows[0].argmax(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["statistical_parity", "equalized_odds"])
@pytest.mark.parametrize("classes", [2, 3])
def test_where_the_group_is_not_known_the_program_goes_by_its_probability(criterion, classes):
    random = np.random.default_rng(3)
    joint = random.dirichlet(np.full(2 * classes, 0.7), size=100).reshape(100, 2, classes)
    population = Scores.blind(joint.reshape(100, -1), np.ones(100), 2)
    found = solve(problem(population, criterion, "mpd", 0.02))
    assert found.cost == pytest.approx(whole_program(joint, criterion, 0.02), abs=1e-6)
    assert found.value <= 0.02 + 1e-9


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    sex = random.choice(["F", "M"], 2000, p=[0.4, 0.6])
    X = pd.DataFrame({"age": random.normal(40, 10, 2000), "sex": (sex == "M") * 1.0})
    X["hours"] = random.normal(38 + 4 * X["sex"], 6)
    score = (X["hours"] - 40) / 6 + (X["age"] - 40) / 20 + 0.5 * X["sex"]
    return X, np.where(score + random.logistic(size=2000) > 0.5, "yes", "no")


def test_the_fitted_rates_are_within_epsilon(people):
    X, y = people
    post = LinearPostClassifier(group="sex", epsilon=0.02).fit(X, y)
    chances = post.predict_proba(X)[:, 1]
    assert abs(chances[X["sex"] == 0].mean() - chances[X["sex"] == 1].mean()) <= 0.02 + 1e-9
    assert post.value_ <= 0.02 + 1e-9
    base = LogisticRegression(max_iter=1000).fit(X, y)
    assert post.objective_ >= (1 - base.predict_proba(X).max(axis=1)).mean()


@pytest.mark.slow
def test_the_group_is_not_needed_later_where_it_is_estimated(people):
    X, y = people
    for criterion in ("statistical_parity", "equalized_odds"):
        post = LinearPostClassifier(
            group="sex",
            criterion=criterion,
            epsilon=0.02,
            group_estimator=LogisticRegression(),
            sees_group=False,
            draw=False,
        ).fit(X, y)
        without = X.drop(columns="sex")
        np.testing.assert_array_equal(post.predict_proba(X), post.predict_proba(without))
        assert post.gap_ <= 1e-5


@pytest.mark.slow
def test_the_estimated_group_lowers_the_disparity_of_the_true_one(people):
    X, y = people
    options = {"group": "sex", "sees_group": False, "group_estimator": LogisticRegression()}
    gaps = []
    for epsilon in (0.0, 1000):
        chances = LinearPostClassifier(**options, epsilon=epsilon).fit(X, y).predict_proba(X)[:, 1]
        gaps.append(abs(chances[X["sex"] == 0].mean() - chances[X["sex"] == 1].mean()))
    assert gaps[0] < 0.05 < gaps[1]


@pytest.mark.slow
def test_a_path_gives_what_single_fits_give(people):
    X, y = people
    post = LinearPostClassifier(RandomForestClassifier(20, random_state=0), group="sex")
    grid = (0.0, 0.05, 1000)
    for epsilon, one in zip(grid, post.fit_path(X, y, grid), strict=True):
        alone = LinearPostClassifier(
            RandomForestClassifier(20, random_state=0), group="sex", epsilon=epsilon
        ).fit(X, y)
        assert one.epsilon == epsilon
        assert one.objective_ == pytest.approx(alone.objective_, abs=2e-6)
        assert one.value_ <= epsilon + 1e-9


def test_a_class_that_a_group_lacks_is_left_out_and_noted():
    probabilities = np.array([[0.5, 0.5, 0.0], [0.3, 0.7, 0.0], [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    found = solved(probabilities, np.array([0, 0, 1, 1]), "equalized_odds", 0.1)
    assert np.isnan(found.rates[6:, 0]).all()
    assert np.isfinite(found.cost)
    assert found.value <= 0.1 + 1e-9


@pytest.mark.slow
def test_adult_is_within_epsilon_by_our_own_criterion():
    adult = load("adult")
    X, y = adult.X[[*adult.numeric, "sex"]].assign(sex=adult.X["sex"] == "Male"), adult.y
    post = LinearPostClassifier(group="sex", epsilon=0.01, random_state=0)
    post.set_params(estimator=LogisticRegression(max_iter=5000, solver="newton-cholesky"))
    found = evaluate(
        "statistical_parity",
        y,
        post.fit(X, y).predict(X),
        sensitive_features=X["sex"],
        measure="mpd",
    )
    assert post.gap_ <= 1e-5
    assert found <= 0.01 + 4 * np.sqrt(0.25 / 16000)
