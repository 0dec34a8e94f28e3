"""A measure of one's own, with a gradient, is bounded and trained for like those that are known.

Known measures under another name, of which nothing is said but gradient and convexity, go the
general way; what they give is compared with the cones of their own.
"""

import numpy as np
import pytest

import evenhand as eh
from evenhand.measures import MEASURES, Measure
from evenhand.mitigation import (
    GivenProbabilities,
    GivenScores,
    ParityConstrainedRegressor,
    RateConstrainedClassifier,
)

EPSILON = {"mpd": 0.05, "gini": 0.05, "pq": 0.01, "shortfall": 0.2}


def disguised(name, **known):
    measure = MEASURES[name]
    options = {"slope": measure.slope, "convex": True, **known}
    return Measure(lambda values: measure(values), name=f"own {name}", **options)


def scores(classes, groups, rows=400):
    random, group = np.random.default_rng(3), np.arange(rows) % groups
    raw = random.normal(size=(rows, classes)) + random.normal(size=(groups, classes))[group]
    proba = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    return np.column_stack([group, proba]), proba.argmax(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "groups"), [(2, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("name", EPSILON)
def test_a_measure_with_a_gradient_is_bounded_at_the_same_cost_as_by_its_cone(
    name, classes, groups
):
    X, y = scores(classes, groups)
    options = {
        "group": 0,
        "epsilon": EPSILON[name],
        "estimator": GivenProbabilities(range(1, classes + 1)),
        "rising": False,
    }
    known = RateConstrainedClassifier(measure=name, **options).fit(X, y)
    own = RateConstrainedClassifier(measure=disguised(name), **options).fit(X, y)
    assert known.objective_ > 1.001 * (1 - X[:, 1:].max(axis=1)).mean()  # the bound binds
    assert own.objective_ == pytest.approx(known.objective_, abs=5e-6)
    assert own.value_ <= EPSILON[name] + 1e-9
    assert own.gap_ <= 5e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gini", pytest.param("pq", marks=pytest.mark.slow)])
def test_its_frontier_is_that_of_its_cone(name):
    X, y = scores(2, 3, rows=60)
    options = {"sensitive_features": X[:, 0].astype(int), "values": 3, "truth": "labels"}
    options["rate_error"] = None  # without rows left out
    curves = [
        eh.frontier(y, X[:, 2], measure=measure, **options).to_frame()
        for measure in (name, disguised(name))
    ]
    np.testing.assert_allclose(curves[1]["cost"], curves[0]["cost"], atol=5e-6)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["strong_parity", "weak_parity"])
@pytest.mark.parametrize("name", ["gini", "pq"])
def test_distributions_and_means_are_bounded_at_the_same_cost_as_by_its_cone(name, criterion):
    group = np.arange(300) % 3
    X = np.column_stack([group, np.abs(np.random.default_rng(0).normal(2 + group, 1))])
    options = {"group": 0, "epsilon": EPSILON[name] / 2, "criterion": criterion, "support": 12}
    costs = [
        ParityConstrainedRegressor(GivenScores(1), measure=measure, **options).fit(X, X[:, 1])
        for measure in (name, disguised(name))
    ]
    assert costs[1].cost_ == pytest.approx(costs[0].cost_, rel=1e-4)
    assert costs[1].cost_ > 0


@pytest.mark.parametrize(
    "lacking", [{"convex": False}, {"slope": None}], ids=["convexity", "a gradient"]
)
def test_a_measure_that_lacks_what_a_bound_takes_is_refused(lacking):
    X, y = scores(2, 2)
    with pytest.raises(eh.InputError, match="needs a gradient and convex level sets"):
        RateConstrainedClassifier(group=0, measure=disguised("gini", **lacking)).fit(X, y)
    with pytest.raises(eh.InputError, match="needs a gradient and convex level sets"):
        eh.frontier(y, X[:, 2], sensitive_features=X[:, 0], measure=disguised("pq", **lacking))


@pytest.mark.parametrize("name", ["gini", "pq", "mpd", "shortfall"])
def test_a_penalty_by_it_has_the_value_and_gradient_of_the_known_one(name):
    torch = pytest.importorskip("torch", reason="penalties need PyTorch")
    from evenhand.torch import Penalty

    group = torch.arange(60) % 4
    start = torch.rand(60, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    outcome = []
    for measure in (name, disguised(name)):
        chances = start.clone().requires_grad_()
        penalty = Penalty("statistical_parity", measure, groups=5, noise=None)
        value = penalty(chances, group=group)
        value.backward()
        outcome.append((value.item(), chances.grad))
    assert outcome[0][0] == pytest.approx(outcome[1][0], rel=1e-12)
    torch.testing.assert_close(outcome[0][1], outcome[1][1], rtol=1e-8, atol=1e-14)


def test_a_penalty_without_a_gradient_is_refused():
    pytest.importorskip("torch", reason="penalties need PyTorch")
    from evenhand.torch import Penalty

    with pytest.raises(eh.InputError, match="has no gradient to train by"):
        Penalty(measure=disguised("gini", slope=None), groups=2, noise=None)
