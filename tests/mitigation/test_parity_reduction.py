import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from evenhand.mitigation import ParityReductionRegressor
from evenhand.mitigation.parity_reduction import OutcomeLevels
from mitigation.regressions import distance, people


def excess_of(values, group, thresholds):
    """|P(f ≥ z | a) − P(f ≥ z)| at its greatest, from the definition."""
    above = values[:, None] >= thresholds
    return max(np.abs(above[group == one].mean(0) - above.mean(0)).max() for one in set(group))


def test_the_best_level_is_the_one_of_least_loss_and_toll():
    random = np.random.default_rng(0)
    levels, share = OutcomeLevels.between(0.0, 1.0, 6), np.array([0.2, 0.3, 0.5])
    prices = random.normal(scale=0.05, size=(3, 5))
    best = levels.best(prices, share)
    for group in range(3):
        for true in range(6):
            costs = []
            for level in range(6):
                tolls = [prices[group, j] / share[group] - prices[:, j].sum() for j in range(level)]
                costs.append((levels.values[true] - levels.values[level]) ** 2 + sum(tolls))
            assert best[group, true] == np.argmin(costs)


def test_tails_count_who_is_above_each_threshold():
    random = np.random.default_rng(1)
    levels, group = random.integers(5, size=300), random.integers(3, size=300)
    weight = random.uniform(size=300)
    tails = OutcomeLevels.between(0, 1, 5).tails(levels, group, weight, 3)
    for one in range(3):
        for z in range(1, 5):
            mine = group == one
            wanted = weight[mine & (levels >= z)].sum() / weight[mine].sum()
            assert tails[one, z - 1] == pytest.approx(wanted)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::evenhand.UnboundWarning")
@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.3])
def test_the_mixture_keeps_its_promise_on_the_fitting_rows(epsilon):
    X, y = people(600, groups=2)
    model = ParityReductionRegressor(group="group", epsilon=epsilon, max_iter=30).fit(X, y)
    each, group = model.predict_each(X), X["group"].to_numpy()
    thresholds = model.levels_.values[1:]
    above = (each[:, :, None] >= thresholds).transpose(2, 0, 1) @ model.weights_
    gaps = [np.abs(above[:, group == one].mean(1) - above.mean(1)).max() for one in (0, 1)]
    assert max(gaps) == pytest.approx(model.excess_, abs=1e-12)
    assert max(gaps) <= epsilon + 1e-9
    drawn = [
        excess_of(model.set_params(random_state=s).predict(X), group, thresholds) for s in range(5)
    ]
    assert np.mean(drawn) <= epsilon + 0.05


@pytest.mark.slow
def test_the_mixture_is_the_best_of_the_models_by_another_program():
    X, y = people(400, groups=2)
    model = ParityReductionRegressor(group="group", epsilon=0.1, max_iter=30).fit(X, y)
    each, group = model.predict_each(X), X["group"].to_numpy()
    losses = np.mean((each - y[:, None]) ** 2, axis=0)
    above = each[:, None, :] >= model.levels_.values[1:, None]
    gaps = above[group == 0].mean(0) - above.mean(0)
    other = above[group == 1].mean(0) - above.mean(0)
    found = linprog(
        losses,
        A_ub=np.vstack([gaps, -gaps, other, -other]),
        b_ub=np.full(4 * len(gaps), 0.1),
        A_eq=np.ones((1, len(losses))),
        b_eq=[1],
    )
    assert model.loss_ == pytest.approx(found.fun, abs=1e-8)
    assert model.loss_ == pytest.approx(losses @ model.weights_)


def test_a_loose_epsilon_gives_the_base_model_on_levels():
    X, y = people(500)
    model = ParityReductionRegressor(group="group", epsilon=1, levels=201, max_iter=3).fit(X, y)
    base = LinearRegression().fit(X, y).predict(X)
    width = np.diff(model.levels_.values[:2])[0]
    inside = (base > y.min()) & (base < y.max())
    assert np.abs(model.predict(X) - base)[inside].max() <= 0.7 * width


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::evenhand.UnboundWarning")
def test_loss_is_traded_for_parity():
    X, y = people(800, groups=2)
    losses = [
        ParityReductionRegressor(group="group", epsilon=epsilon, max_iter=40).fit(X, y).loss_
        for epsilon in (0.02, 0.1, 0.2, 0.5)
    ]
    assert (np.diff(losses) < 0.01 * losses[0]).all()  # the oracle is a heuristic
    assert losses[0] > 1.05 * losses[-1]
    assert losses[0] < np.var(y)  # better than the constant


def test_without_draws_it_is_the_mean_of_the_mixture():
    X, y = people(300)
    model = ParityReductionRegressor(group="group", epsilon=0.1, max_iter=10, random_state=0)
    model.fit(X, y)
    each = model.predict_each(X)
    assert (model.predict(X)[:, None] == each).any(axis=1).all()
    assert model.set_params(draw=False).predict(X) == pytest.approx(each @ model.weights_)


@pytest.mark.slow
def test_the_group_is_needed_at_fit_only_and_other_models_will_do():
    X, y = people(300)
    base = HistGradientBoostingRegressor(max_iter=5)
    model = ParityReductionRegressor(base, group="group", sees_group=False, max_iter=4)
    model.set_params(random_state=0).fit(X, y, np.ones(len(y)))
    assert (model.predict(X.drop(columns="group")) == model.predict(X)).all()


def test_predictions_are_levels_within_the_bounds():
    X, y = people(300)
    model = ParityReductionRegressor(group="group", bounds=(2.0, 4.0), levels=5, max_iter=5)
    values = model.fit(X, y).predict(100 * X)
    assert set(values) <= {2.0, 2.5, 3.0, 3.5, 4.0}


@pytest.mark.slow
def test_it_is_more_equal_than_the_base_model():
    X, y = people(1000, groups=2)
    group = X["group"].to_numpy()
    model = ParityReductionRegressor(group="group", epsilon=0.05, random_state=0).fit(X, y)
    base = LinearRegression().fit(X, y).predict(X)
    assert distance(model.predict(X), group) < 0.15 < distance(base, group)


def test_bad_settings_are_refused():
    X, y = people()
    with pytest.raises(
        ValueError, match=r"levels of .* must be a whole number of at least 2, not 1"
    ):
        ParityReductionRegressor(group="group", levels=1).fit(X, y)
