import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from evenhand.mitigation import BoundedGroupLossRegressor
from evenhand.mitigation.group_loss import grams, lattice, spread
from mitigation.regressions import people


def one_hot(model):
    columns = (OneHotEncoder(sparse_output=False), ["group"])
    return make_pipeline(make_column_transformer(columns, remainder="passthrough"), model)


@pytest.mark.parametrize("weighted", [False, True])
def test_products_by_group_give_weighted_least_squares(weighted):
    X, y = people(200)
    X, group = 1000 * X[["skill", "luck"]].to_numpy() + 7, X["group"].to_numpy()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    sums = grams(X, y, group, weight, 3)
    points = np.vstack([lattice(3, 3)[1:4], [[0.2, 0.3, 0.5]]])
    lines = sums.solve(points)
    losses = sums.losses(*lines) * sums.scale[-1] ** 2
    for point, intercept, slopes, loss in zip(points, *lines, losses, strict=True):
        of_group = point * weight.sum() / np.bincount(group, weight)
        model = LinearRegression().fit(X, y, of_group[group] * weight)
        level, coefficients = sums.original(intercept, slopes)
        assert coefficients == pytest.approx(model.coef_)
        assert level == pytest.approx(model.intercept_)
        squares = (y - model.predict(X)) ** 2
        by_group = np.bincount(group, weight * squares) / np.bincount(group, weight)
        assert loss == pytest.approx(by_group)


@pytest.mark.slow
def test_the_grid_agrees_with_fairlearn():
    reductions = pytest.importorskip("fairlearn.reductions", reason="fairlearn is the oracle")
    X, y = people(600, groups=2)
    y = (y - y.min()) / np.ptp(y)
    features, group = X[["skill", "luck"]], X["group"]
    loss = reductions.SquareLoss(-10, 10)  # wide, so that nothing is clipped
    theirs = reductions.GridSearch(
        LinearRegression(), reductions.BoundedGroupLoss(loss), grid_size=10, constraint_weight=0.8
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fairlearn's use of pandas is deprecated
        theirs.fit(features, y, sensitive_features=group)
    ours = BoundedGroupLossRegressor(group="group", sees_group=False, constraint_weight=0.8)
    ours.fit(X[["skill", "luck", "group"]], y)
    wanted = np.array(theirs.lambda_vecs_).T / 2
    order = np.argsort(wanted[:, 0])
    assert ours.grid_.weights[1:] == pytest.approx(wanted[order])
    theirs_losses = [
        [np.mean((y - one.predict(features))[group == g] ** 2) for g in (0, 1)]
        for one in theirs.predictors_
    ]
    assert ours.grid_.losses[1:] == pytest.approx(np.array(theirs_losses)[order])


def test_clipped_losses_are_those_of_clipped_values():
    X, y = people(600, groups=2)
    y = (y - y.min()) / np.ptp(y)
    columns = X[["skill", "luck", "group"]]
    plain = BoundedGroupLossRegressor(group="group", constraint_weight=0.8).fit(columns, y)
    clipped = BoundedGroupLossRegressor(group="group", constraint_weight=0.8, bounds=(0.3, 0.7))
    clipped.fit(columns, y)
    by_hand = np.clip(y, 0.3, 0.7) - np.clip(clipped.predict(columns), 0.3, 0.7)
    chosen = (clipped.grid_.weights == clipped.weights_).all(axis=1).argmax()
    expected = [np.mean(by_hand[X["group"] == g] ** 2) for g in (0, 1)]
    assert clipped.grid_.losses[chosen] == pytest.approx(np.array(expected))
    assert (clipped.grid_.losses < plain.grid_.losses).all()
    wide = BoundedGroupLossRegressor(group="group", constraint_weight=0.8, bounds=(-9.0, 9.0))
    assert wide.fit(columns, y).grid_.losses == pytest.approx(plain.grid_.losses)


def test_the_chosen_point_has_the_least_mixture_of_mean_and_worst_loss():
    X, y = people(300)
    for w in (0.0, 0.3, 0.9, 1.0):
        model = BoundedGroupLossRegressor(group="group", constraint_weight=w).fit(X, y)
        share = np.bincount(X["group"]) / len(y)
        losses = model.grid_.losses
        mixtures = (1 - w) * losses @ share + w * losses.max(axis=1)
        chosen = np.flatnonzero((model.grid_.weights == model.weights_).all(axis=1))[0]
        assert mixtures[chosen] == mixtures.min()


def test_without_a_constraint_it_is_the_base_model():
    X, y = people(300)
    model = BoundedGroupLossRegressor(group="group", constraint_weight=0).fit(X, y)
    assert model.predict(X) == pytest.approx(LinearRegression().fit(X, y).predict(X))


@pytest.mark.slow
def test_the_worst_group_loses_less_as_its_weight_grows():
    X, y = people(900)
    y = y + 3 * X["luck"] * (X["group"] == 2)
    features = X[["skill", "luck", "group"]]
    worst, mean = [], []
    for w in (0.0, 0.2, 0.5, 0.8, 1.0):
        model = BoundedGroupLossRegressor(group="group", constraint_weight=w, grid_size=45)
        squares = (model.fit(features, y).predict(features) - y) ** 2
        worst.append(squares.groupby(X["group"]).mean().max())
        mean.append(squares.mean())
    assert (np.diff(worst) <= 1e-12).all()
    assert (np.diff(mean) >= -1e-12).all()
    assert worst[-1] < 0.8 * worst[0]


@pytest.mark.slow
def test_a_group_of_no_weight_leaves_its_own_column_alone():
    X, y = people(400, groups=4)
    model = BoundedGroupLossRegressor(one_hot(LinearRegression()), group="group").fit(X, y)
    assert np.isfinite(model.grid_.losses).all()
    assert model.grid_.losses.max() < 20 * np.var(y)
    for w in (0.0, 0.5, 0.99, 1.0):
        model = clone(model).set_params(constraint_weight=w).fit(X, y)
        assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 2 * np.std(y)


def test_the_order_of_rows_does_not_matter():
    X, y = people(400, groups=4)
    shuffled = np.random.default_rng(0).permutation(len(y))
    model = BoundedGroupLossRegressor(group="group", constraint_weight=0.9)
    there = model.fit(X, y).predict(X)
    assert model.fit(X.iloc[shuffled], y[shuffled]).predict(X) == pytest.approx(there)


@pytest.mark.slow
@pytest.mark.parametrize("model", [Ridge(), HistGradientBoostingRegressor(max_iter=5)])
@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_any_weighted_regressor_will_do(model, loss):
    X, y = people(200)
    ours = BoundedGroupLossRegressor(model, group="group", constraint_weight=0.5, loss=loss)
    ours.fit(X, y)
    weight = ours.weights_[X["group"]] * len(y) / np.bincount(X["group"])[X["group"]]
    assert ours.predict(X) == pytest.approx(clone(model).fit(X, y, weight).predict(X))


def test_the_group_is_needed_at_fit_only():
    X, y = people(200)
    model = BoundedGroupLossRegressor(group="group", sees_group=False).fit(X, y)
    there = model.predict(X)
    assert (model.predict(X.drop(columns="group")) == there).all()
    assert np.isfinite(model.predict(X.assign(group=99))).all()


@pytest.mark.parametrize(
    ("groups", "size"), [(2, 10), (3, 10), (4, 10), (5, 10), (7, 10), (30, 10)]
)
def test_a_grid_has_no_favorite_and_reaches_for_every_group(groups, size):
    share = np.full(groups, 1 / groups)
    points = spread(share, size)
    assert points.sum(axis=1) == pytest.approx(np.ones(len(points)))
    assert points.min() >= 0
    assert points.mean(axis=0) == pytest.approx(share)
    assert len(np.unique(points[1:], axis=0)) == len(points) - 1
    assert (points.max(axis=0) >= 0.5).all()
    assert len(points) <= max(size, groups) + 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"constraint_weight": 3}, "constraint_weight of .* must be a number from 0 to 1, not 3"),
        ({"loss": "cube"}, "not 'cube'"),
    ],
)
def test_bad_settings_are_refused(wrong, words):
    X, y = people()
    with pytest.raises(ValueError, match=words):
        BoundedGroupLossRegressor(group="group", **wrong).fit(X, y)
