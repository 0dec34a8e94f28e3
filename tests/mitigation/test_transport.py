import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from evenhand.mitigation import GivenScores, TransportRegressor
from evenhand.mitigation.transport.parity import corridor
from evenhand.mitigation.transport.plan import Plan, Support
from evenhand.mitigation.transport.transport_regressor import noisy, repaired
from mitigation.couplings import histograms, least_by_highs, supply_of
from mitigation.regressions import distance, people


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.03, 0.2, 1.0])
@pytest.mark.parametrize(("groups", "values", "seed"), [(2, 7, 0), (3, 12, 1), (4, 15, 2)])
def test_the_corridor_costs_as_little_as_the_best_of_all_couplings(groups, values, seed, epsilon):
    points = np.sort(np.random.default_rng(seed).normal(size=values))
    mass, share = histograms(groups, values, seed)
    supply = supply_of(points, mass, share)
    after = corridor(supply, epsilon)
    assert supply.cost(after) == pytest.approx(
        least_by_highs(points, mass, share, epsilon), abs=1e-9
    )
    assert np.ptp(after, axis=0).max() <= epsilon + 1e-12
    assert (np.diff(after, axis=1, prepend=0) >= 0).all()
    assert (after[:, -1] == 1).all()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(2, 4), st.integers(2, 8), st.floats(0, 1), st.integers(0, 10_000))
def test_any_corridor_agrees_with_linear_programming(groups, values, epsilon, seed):
    points = np.sort(np.random.default_rng(seed).uniform(-5, 5, size=values))
    mass, share = histograms(groups, values, seed, empty=0.5)
    supply = supply_of(points, mass, share)
    least = least_by_highs(points, mass, share, epsilon)
    assert supply.cost(corridor(supply, epsilon)) == pytest.approx(least, abs=1e-6)


def test_the_cost_of_a_plan_is_the_squared_distance_between_quantiles():
    points = np.array([0.0, 1.0, 4.0, 6.0])
    mass, share = histograms(3, 4, seed=5)
    supply = supply_of(points, mass, share)
    after = corridor(supply, 0.05)
    levels = (np.arange(200_000) + 0.5) / 200_000
    moved = [
        points[np.searchsorted(new, levels)] - points[np.searchsorted(old, levels)]
        for old, new in zip(supply.cdfs, after, strict=True)
    ]
    assert supply.cost(after) == pytest.approx(share @ np.mean(np.square(moved), axis=1), rel=1e-4)


@pytest.mark.slow
def test_a_smaller_alpha_costs_more():
    points, (mass, share) = np.linspace(0, 1, 40), histograms(4, 40, seed=3)
    supply = supply_of(points, mass, share)
    costs = [supply.cost(corridor(supply, epsilon)) for epsilon in np.linspace(0, 1, 30)]
    assert (np.diff(costs) <= 1e-15).all()
    assert costs[0] > 100 * costs[-1]


def test_draws_follow_the_plan():
    points, (mass, share) = np.arange(6.0), histograms(2, 6, seed=8)
    supply = supply_of(points, mass, share)
    plan = Plan(Support(points), supply, corridor(supply, 0.1))
    random = np.random.default_rng(0)
    codes = random.integers(2, size=200_000)
    scores = np.array([random.choice(6, size=len(codes), p=mass[one]) for one in (0, 1)], float)
    sent = plan.send(scores[codes, np.arange(len(codes))], codes, 1 - random.random(len(codes)))
    for one in (0, 1):
        wanted = np.diff(plan.after[one], prepend=0)
        assert wasserstein_distance(sent[codes == one], points, None, wanted) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("support", [200, "exact"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_fitted_predictions_are_within_epsilon(support, epsilon):
    X, y = people(3000)
    model = TransportRegressor(group="group", epsilon=epsilon, support=support, random_state=0)
    values = model.fit(X, y).predict(X)
    noise = 0 if support == "exact" else 0.03  # one draw for each row of a bin
    assert distance(values, X["group"].to_numpy()) <= epsilon + noise + 0.002
    assert np.ptp(model.plan_.after, axis=0).max() <= epsilon + 1e-12


def test_alpha_of_one_only_bins():
    X, y = people()
    model = TransportRegressor(GivenScores("score"), group="group", epsilon=1, support=50).fit(X, y)
    width = np.ptp(X["score"]) / 50
    assert np.abs(model.predict(X) - X["score"]).max() <= width / 2 + 1e-9
    exact = TransportRegressor(GivenScores("score"), group="group", epsilon=1, support="exact")
    assert (exact.fit(X, y).predict(X) == X["score"]).all()
    assert (exact.predict_quantile(X, 1.0) == X["score"]).all()


def test_a_score_on_an_edge_belongs_to_one_bin_whatever_the_lot():
    X = np.column_stack([np.tile([0, 1], 50), np.repeat(np.arange(50.0), 2)])
    how = {"group": 0, "epsilon": 1, "support": 49, "random_state": 0}
    drawn, sure = (TransportRegressor(GivenScores(1), draw=draw, **how) for draw in (True, False))
    values = sure.fit(X, X[:, 1]).predict(X)
    assert np.abs(values - X[:, 1]).max() <= 0.5
    assert (drawn.fit(X, X[:, 1]).predict(X) == values).all()


@pytest.mark.slow
def test_without_draws_the_answer_is_a_function_of_x_and_nearly_as_equal():
    X, y = people(3000)
    model = TransportRegressor(GivenScores("score"), group="group", support=50, draw=False)
    values = model.fit(X, y).predict(X)
    assert (values == model.predict(X)).all()
    by_row = np.concatenate([model.predict(X.iloc[[row]]) for row in range(50)])
    assert (by_row == values[:50]).all()
    assert distance(values, X["group"].to_numpy()) < 0.05


@pytest.mark.slow
def test_the_mean_of_the_draws_would_not_be_as_equal():
    X, y = people(3000)
    model = TransportRegressor(GivenScores("score"), group="group", support=8, draw=False)
    values = model.fit(X, y).predict(X)
    mean = np.mean([model.predict_quantile(X, level) for level in np.linspace(0.01, 1, 100)], 0)
    group = X["group"].to_numpy()
    assert distance(values, group) < 0.1 < 0.2 < distance(mean, group)


def test_a_seed_gives_the_same_draws():
    X, y = people()
    model = TransportRegressor(group="group", support=10, random_state=3).fit(X, y)
    assert (model.predict(X) == model.predict(X)).all()
    other = TransportRegressor(group="group", support=10, random_state=4).fit(X, y)
    assert (model.predict(X) != other.predict(X)).any()


def test_predictions_stay_on_the_support_and_keep_the_order_of_quantiles():
    X, y = people()
    far = X.assign(score=X["score"] * 1000)
    model = TransportRegressor(GivenScores("score"), group="group", support=20, bounds=(0.0, 6.0))
    model.set_params(random_state=0).fit(X, y)
    assert set(model.predict(far)) <= set(model.plan_.support.points)
    low, high = (model.predict_quantile(X, level) for level in (0.1, 0.9))
    assert (low <= high).all()


def test_little_noise_changes_nothing_and_much_noise_still_gives_distributions():
    X, y = people(2000)
    settings = {"group": "group", "support": 20, "bounds": (-2.0, 9.0), "random_state": 0}
    plain = TransportRegressor(GivenScores("score"), **settings).fit(X, y)
    discreet = TransportRegressor(GivenScores("score"), privacy=1e9, **settings).fit(X, y)
    assert discreet.plan_.after == pytest.approx(plain.plan_.after, abs=1e-6)
    private = TransportRegressor(GivenScores("score"), privacy=0.1, **settings).fit(X, y)
    cdfs = private.plan_.supply.cdfs
    assert (np.diff(cdfs, axis=1, prepend=0) >= 0).all()
    assert np.abs(cdfs - plain.plan_.supply.cdfs).max() > 0.001
    assert np.isfinite(private.predict(X)).all()


def test_noise_has_the_scale_of_two_over_epsilon_rows():
    counts = np.full((2, 50_000), 3.0)
    noise = noisy(counts, 0.5, np.random.RandomState(0)) - counts / counts.sum()
    assert np.abs(noise).mean() == pytest.approx(2 / (0.5 * counts.sum()), rel=0.02)


def test_noisy_sums_are_repaired_as_little_as_possible():
    random = np.random.default_rng(4)
    mass = random.dirichlet(np.ones(8), size=1) + random.normal(scale=0.05, size=(1, 8))
    mass /= mass.sum()
    sums = np.cumsum(mass)
    order = np.eye(8)[:-1] - np.eye(8, k=1)[:-1]
    away = np.hstack([np.vstack([np.eye(8), -np.eye(8)]), -np.ones((16, 1))])
    found = linprog(
        np.append(np.zeros(8), 1.0),
        A_ub=np.vstack([away, np.hstack([order, np.zeros((7, 1))])]),
        b_ub=np.concatenate([sums, -sums, np.zeros(7)]),
        bounds=[(None, None)] * 9,
    )
    _, cdfs = repaired(mass)
    assert np.abs(cdfs - np.clip(sums, 0, 1))[:, :-1].max() <= found.fun + 1e-12
    assert found.fun > 0.001


@pytest.mark.parametrize(
    "wrong", [{"bounds": None}, {"support": "exact"}, {"sample_weight": True}, {"privacy": 0}]
)
def test_privacy_refuses_what_would_leak(wrong):
    X, y = people()
    weight = np.ones(len(y)) if wrong.pop("sample_weight", False) else None
    how = {"bounds": (0.0, 1.0), "privacy": 1.0, **wrong}
    with pytest.raises(ValueError, match=r"privacy"):
        TransportRegressor(group="group", **how).fit(X, y, weight)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": 2}, "epsilon is 2"),
        ({"support": 0}, "whole number of at least 1 or 'exact', not 0"),
        ({"bounds": (1.0, 0.0)}, "two numbers, the second above the first"),
    ],
)
def test_bad_settings_are_refused(wrong, words):
    X, y = people()
    with pytest.raises(ValueError, match=words):
        TransportRegressor(group="group", **wrong).fit(X, y)
