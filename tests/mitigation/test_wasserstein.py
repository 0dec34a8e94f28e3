"""Wasserstein parity: the integral of the range of CDFs, against a program over couplings."""

import numpy as np
import pytest

from evenhand import InputError
from evenhand.criteria import wasserstein_parity as criterion
from evenhand.mitigation import GivenScores, ParityConstrainedRegressor
from evenhand.mitigation.transport import wasserstein
from evenhand.mitigation.transport.plan import Supply
from evenhand.mitigation.transport.wasserstein import integral_of_range, wasserstein_parity
from lanes import one_in
from later import Later

cp = Later("cvxpy")


def supply_of(seed):
    random = np.random.default_rng(seed)
    groups, points = random.integers(2, 5), random.integers(3, 8)
    mass = random.dirichlet(np.full(points, 0.7), groups)
    mass[0, random.integers(points)] = 0
    cdfs = np.cumsum(mass / mass.sum(axis=1, keepdims=True), axis=1).clip(max=1)
    cdfs[:, -1] = 1
    values = np.sort(random.normal(size=points))
    return Supply(values, cdfs, random.dirichlet(np.ones(groups)))


def cheapest_by_couplings(supply, epsilon):
    """The least squared move over all couplings, by an interior-point solver."""
    count, far = len(supply.points), (supply.points[:, None] - supply.points) ** 2
    plans = [cp.Variable((count, count), nonneg=True) for _ in supply.share]
    mass = np.diff(supply.cdfs, axis=1, prepend=0)
    moves = sum(
        share * cp.sum(cp.multiply(plan, far))
        for share, plan in zip(supply.share, plans, strict=True)
    )
    kept = [cp.sum(plan, axis=1) == own for plan, own in zip(plans, mass, strict=True)]
    levels = [cp.cumsum(cp.sum(plan, axis=0)) for plan in plans]
    apart = sum(
        width * (cp.maximum(*(each[j] for each in levels)) - cp.minimum(*(e[j] for e in levels)))
        for j, width in enumerate(np.diff(supply.points))
    )
    program = cp.Problem(cp.Minimize(moves), [*kept, apart <= epsilon])
    return program.solve(solver="CLARABEL")


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "part"), one_in(3, range(12), [0.0, 0.1, 0.5, 0.9]))
def test_no_coupling_is_cheaper(seed, part):
    supply = supply_of(seed)
    epsilon = part * integral_of_range(supply.points, supply.cdfs)
    found = wasserstein_parity(supply, epsilon)
    assert integral_of_range(supply.points, found.cdfs) <= epsilon + 1e-12
    assert (np.diff(found.cdfs, axis=1) >= -1e-12).all()
    assert found.gap <= 1e-9
    assert supply.cost(found.cdfs) == pytest.approx(
        cheapest_by_couplings(supply, epsilon), abs=1e-6
    )


def test_quantiles_that_are_looked_up_give_the_same_plan(monkeypatch):
    supply = supply_of(3)
    kept = wasserstein_parity(supply, 0.1)
    monkeypatch.setattr(wasserstein, "MOST_QUANTILES", 0)
    assert np.array_equal(kept.cdfs, wasserstein_parity(supply, 0.1).cdfs)


@pytest.mark.slow
def test_the_estimator_meets_the_bound_of_the_criterion():
    random = np.random.default_rng(0)
    group = random.integers(0, 3, 3000)
    X = np.column_stack([random.normal(group), group])
    model = ParityConstrainedRegressor(
        GivenScores(0),
        group=1,
        criterion="wasserstein_parity",
        measure="mpd",
        epsilon=0.4,
        support="exact",
        random_state=0,
    ).fit(X, X[:, 0])
    value = criterion(None, model.predict(X), measure="mpd", sensitive_features=group)
    assert value == pytest.approx(0.4, abs=0.03)  # ties at the ends are drawn
    loose = model.set_params(epsilon=5.0).fit(X, X[:, 0])
    assert loose.cost_ == 0


def test_another_measure_is_refused():
    X = np.array([[0.0, 0], [1.0, 1]])
    asked = {"criterion": "wasserstein_parity", "measure": "pq"}
    model = ParityConstrainedRegressor(GivenScores(0), group=1, **asked)
    with pytest.raises(InputError, match="mpd"):
        model.fit(X, X[:, 0])
