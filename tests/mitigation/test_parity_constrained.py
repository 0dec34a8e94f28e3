import numpy as np
import pytest

from evenhand import evaluate
from evenhand.measures import gini, mpd, pq, resolve
from evenhand.mitigation import GivenScores, ParityConstrainedRegressor, TransportRegressor
from evenhand.mitigation.transport.parity import Bound, corridor, strong_parity, weak_parity
from mitigation.couplings import bounded, histograms, least_by_cvxpy, supply_of
from mitigation.regressions import people

ORDERS = [(0.5, 2), (0.5, 1), (1, 3), (0.5, 1.5)]


def first_asked(supply, tau=0.05):
    return int(np.searchsorted(supply.share @ supply.cdfs[:, :-1], tau))


def check_against_cvxpy(bound, groups, values, seed):
    pytest.importorskip("cvxpy", reason="cvxpy is the oracle")
    points, (mass, share) = np.linspace(0, 1, values), histograms(groups, values, seed)
    supply = supply_of(points, mass, share)
    first = 0 if bound.is_width else first_asked(supply)
    found = strong_parity(supply, bound, tau=0.05)
    how = (bound.measure.name.partition("(")[0], bound.epsilon, first, *bound.measure.orders)
    least = least_by_cvxpy(points, mass, share, *how)
    assert supply.cost(found.cdfs) == pytest.approx(least, abs=2e-6)
    assert found.gap <= 2e-7
    assert np.max(bound.measure(found.cdfs.T[first:-1])) <= bound.epsilon + 1e-12
    assert (np.diff(found.cdfs, axis=1, prepend=0) >= 0).all()
    assert least > 1e-4  # the bound binds


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "values"), [(2, 8), (3, 10), (4, 12)])
@pytest.mark.parametrize(("measure", "epsilon"), [("pq", 0.01), ("gini", 0.03), ("mpd", 0.05)])
def test_distributions_agree_with_cvxpy(measure, epsilon, groups, values):
    check_against_cvxpy(Bound(resolve(measure), epsilon), groups, values, seed=groups)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), ORDERS)
def test_any_orders_of_pq_agree_with_cvxpy(p, q):
    check_against_cvxpy(Bound(resolve("pq", p, q), 0.01), groups=3, values=8, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bound",
    [
        Bound(resolve("mpd"), 0.3),
        Bound(resolve("gini"), 0.03),
        Bound(resolve("pq"), 0.01),
        Bound(resolve("pq", 0.5, 3), 0.01),
    ],
)
@pytest.mark.parametrize("groups", [2, 5])
def test_means_agree_with_cvxpy(bound, groups):
    cp = pytest.importorskip("cvxpy", reason="cvxpy is the oracle")
    random = np.random.default_rng(groups)
    means, share = np.linspace(0.5, 3, groups), random.dirichlet(np.full(groups, 3))
    w = cp.Variable(groups, nonneg=True)
    name = bound.measure.name.partition("(")[0]
    rule = bounded(w, groups, name, bound.epsilon, *bound.measure.orders)
    cost = cp.sum(cp.multiply(share, cp.square(w - means)))
    least = cp.Problem(cp.Minimize(cost), [rule]).solve(solver=cp.CLARABEL)
    found = weak_parity(means, share, bound)
    assert share @ (found.means - means) ** 2 == pytest.approx(least, abs=3e-6)
    assert found.gap <= 2e-6
    assert bound.measure(found.means) <= bound.epsilon + 1e-12
    assert least > 1e-3


def test_the_gap_bounds_what_another_feasible_plan_saves():
    points, (mass, share) = np.linspace(0, 1, 30), histograms(3, 30, seed=9)
    supply = supply_of(points, mass, share)
    found = strong_parity(supply, Bound(resolve("pq"), 0.005), tau=0.05)
    cost = supply.cost(found.cdfs)
    equal = corridor(supply, 0.0)
    for part in np.linspace(0, 1, 11):
        mixed = (1 - part) * found.cdfs + part * equal
        assert supply.cost(mixed) >= cost - found.gap
    assert 0 <= found.gap < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["pq", "gini"])
def test_the_criterion_holds_on_the_expected_distributions(measure):
    X, y = people(1000)
    model = ParityConstrainedRegressor(
        GivenScores("score"), group="group", measure=measure, epsilon=0.01, support=60
    ).fit(X, y)
    lots = (np.arange(200) + 0.5) / 200
    values = np.concatenate([model.predict_quantile(X, lot) for lot in lots])
    groups = np.tile(X["group"], len(lots))
    how = {"sensitive_features": groups, "measure": measure, "tau": 0.05}
    reached = evaluate("strong_parity", None, values, **how)
    assert 0.009 < reached <= 0.0105


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["pq", "gini", "mpd"])
def test_the_weak_criterion_holds_exactly_and_predicts_without_lots(measure):
    X, y = people()
    model = ParityConstrainedRegressor(
        GivenScores("score"),
        group="group",
        measure=measure,
        epsilon=0.005,
        criterion="weak_parity",
    ).fit(X, y)
    values = model.predict(X)
    means = np.array([values[X["group"] == one].mean() for one in range(3)])
    assert {"pq": pq, "gini": gini, "mpd": mpd}[measure](means) == pytest.approx(0.005, abs=1e-6)
    assert np.mean((values - X["score"]) ** 2) == pytest.approx(model.cost_)
    assert (model.predict_quantile(X, 0.1) == values).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::evenhand.UnboundWarning")
@pytest.mark.parametrize("measure", ["pq", "gini", "mpd"])
@pytest.mark.parametrize("criterion", ["strong_parity", "weak_parity"])
def test_the_cost_falls_as_epsilon_grows(measure, criterion):
    X, y = people(600)
    costs = [
        ParityConstrainedRegressor(
            group="group", measure=measure, epsilon=epsilon, criterion=criterion, support=40
        )
        .fit(X, y)
        .cost_
        for epsilon in (0.0, 0.003, 0.01, 0.05, 0.2, 10.0)
    ]
    assert (np.diff(costs) <= 1e-6).all()
    assert costs[0] > 0.01
    assert costs[-1] == pytest.approx(0, abs=1e-12)


def test_by_mpd_it_is_the_transport_regressor():
    X, y = people()
    how = {"group": "group", "support": 80, "random_state": 0}
    ours = ParityConstrainedRegressor(measure="mpd", epsilon=0.1, **how).fit(X, y)
    theirs = TransportRegressor(epsilon=0.1, **how).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"measure": "ratio"}, "not on 'ratio'"),
        ({"epsilon": -1}, "epsilon of .* must be a number of at least 0, not -1"),
        ({"criterion": "parity"}, "cannot meet the criterion 'parity', only 'strong_parity'"),
        ({"measure": "pq", "p": 2, "q": 3}, "not 2, 3"),
    ],
)
def test_bad_settings_are_refused(wrong, words):
    X, y = people()
    with pytest.raises(ValueError, match=words):
        ParityConstrainedRegressor(group="group", **wrong).fit(X, y)


def test_ratios_of_negative_means_are_refused():
    X, y = people()
    X["score"] -= 100
    asked = {"criterion": "weak_parity", "measure": "pq"}
    model = ParityConstrainedRegressor(GivenScores("score"), group="group", **asked)
    with pytest.raises(ValueError, match=r"at least 0.*use measure='mpd'"):
        model.fit(X, y)
    model.set_params(measure="mpd", epsilon=0.1).fit(X, y)
