import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from evenhand import evaluate
from evenhand.datasets import load, split
from evenhand.mitigation import METHODS, GivenScores
from mitigation.regressions import people

REGRESSIONS = {  # those with a model of their own have tests of their own
    name: method
    for name, method in METHODS.items()
    if method.task == "regression" and method.needs_base
}
BY_GROUP = [name for name, method in REGRESSIONS.items() if method.needs_group_at_predict]
QUICK = {"ParityReduction": {"max_iter": 5}, "ParityConstrained": {"support": 30}}


def made(name, base=None, **how):
    method = REGRESSIONS[name]
    seed = {"random_state": 0} if method.randomized else {}
    return method(base, group="group", **{**QUICK.get(name, {}), **seed, **how})


LOOSE_IS_LEAST = ("WassBC", "FairReg")
SETTINGS = [(name, criterion) for name, one in REGRESSIONS.items() for criterion in one.criteria]


def ends(name, criterion):
    """The loosest and the strictest setting of a method."""
    method = REGRESSIONS[name]
    chosen = {"criterion": criterion} if len(method.criteria) > 1 else {}
    least, most = min(method.grid[criterion]), max(method.grid[criterion])
    order = (least, most) if name in LOOSE_IS_LEAST else (most, least)
    return [made(name, **{method.hyperparameter: one}, **chosen) for one in order]


@pytest.mark.parametrize(("name", "criterion"), SETTINGS)
def test_the_loosest_setting_is_the_base_model_up_to_bins(name, criterion):
    X, y = people(600)
    base = LinearRegression().fit(X, y).predict(X)
    loose, _ = ends(name, criterion)
    away = np.abs(loose.fit(X, y).predict(X) - np.clip(base, y.min(), y.max()))
    assert away.max() < np.ptp(base) / 25


@pytest.mark.parametrize(("name", "criterion"), [one for one in SETTINGS if one[0] != "FairReg"])
def test_the_strictest_setting_is_more_equal_than_the_base_model(name, criterion):
    X, y = people(600)
    base = LinearRegression().fit(X, y).predict(X)
    _, strict = ends(name, criterion)
    before, after = (
        evaluate(criterion, None, values, sensitive_features=X["group"], measure="mpd")
        for values in (base, strict.fit(X, y).predict(X))
    )
    assert after < before / 3


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_GROUP)
def test_scores_may_be_given_fitted_before_or_fitted_inside(name):
    X, y = people(200)
    features = X[["skill", "luck", "group"]]
    people_of = {"row_id": "person"} if REGRESSIONS[name].randomized else {}  # else more columns,
    named = features.assign(person=range(200)) if people_of else features  # hence other lots
    inside = made(name, **people_of).fit(named, y).predict(named)
    before = LinearRegression().fit(features, y)
    ready = made(name, before, prefit=True, **people_of).fit(named, y)
    assert ready.predict(named) == pytest.approx(inside)
    given = named.assign(made_elsewhere=before.predict(features))
    read = made(name, GivenScores("made_elsewhere"), **people_of).fit(given, y)
    assert read.predict(given) == pytest.approx(inside)


def test_given_scores_must_be_there_and_finite():
    X, y = people(100)
    with pytest.raises(ValueError, match="X has no column 'rating'"):
        made("WassBC", GivenScores("rating")).fit(X, y)
    X.loc[3, "score"] = np.nan
    with pytest.raises(ValueError, match="scores 'score' has 1 value that is not finite"):
        made("WassBC", GivenScores("score")).fit(X, y)


@pytest.mark.parametrize("name", BY_GROUP)
def test_an_unseen_group_is_named_or_gets_the_base_prediction(name):
    X, y = people(200)
    later = X.assign(group=np.where(np.arange(200) < 5, 99, X["group"]))
    model = made(name, GivenScores("score")).fit(X, y)
    with pytest.raises(ValueError, match=r"not seen at fit: 99 \(seen: 0, 1, 2\)"):
        model.predict(later)
    values = model.set_params(unseen="base").predict(later)
    assert (values[:5] == X["score"][:5]).all()
    assert (values[5:] == model.predict(X)[5:]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSIONS)
def test_tiny_groups_constant_scores_and_constant_targets_are_served(name):
    X, y = people(60)
    tiny = X.assign(group=np.where(np.arange(60) == 0, 7, X["group"].clip(0, 1)))
    assert np.isfinite(made(name).fit(tiny, y).predict(tiny)).all()
    constant = made(name).fit(X, np.full(60, 4.0)).predict(X)
    assert constant == pytest.approx(np.full(60, 4.0))


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSIONS)
def test_rows_of_no_weight_are_not_there(name):
    X, y = people(200)
    more = X.assign(group=99, score=1e6, skill=-1e6)
    everyone = X.iloc[np.r_[0:200, 0:50]].reset_index(drop=True)
    everyone.loc[200:] = more.iloc[:50].to_numpy()
    weight = np.r_[np.ones(200), np.zeros(50)]
    model = made(name)
    there = model.fit(X, y, np.ones(200)).predict(X)
    assert model.fit(everyone, np.r_[y, y[:50]], weight).predict(X) == pytest.approx(there)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSIONS)
def test_weights_count_like_repeated_rows(name):
    X, y = people(150)
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    model = made(name, **({"draw": False} if REGRESSIONS[name].randomized else {}))
    weighted = model.fit(X, y, times).predict(X)
    repeated = model.fit(X.loc[X.index.repeat(times)], np.repeat(y, times)).predict(X)
    assert np.isclose(weighted, repeated).mean() > 0.97  # rounding may put a row into the next bin


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSIONS)
def test_frames_clones_and_pickles_agree(name):
    X, y = people(150)
    model = made(name)
    there = clone(model).fit(X, y).predict(X)
    polars = pl.DataFrame({column: X[column].to_numpy() for column in X})
    assert clone(model).fit(polars, y).predict(polars) == pytest.approx(there)
    by_place = clone(model).set_params(group=2).fit(X.to_numpy(), y)
    assert by_place.predict(X.to_numpy()) == pytest.approx(there)
    assert pickle.loads(pickle.dumps(model.fit(X, y))).predict(X) == pytest.approx(there)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSIONS)
def test_model_selection_takes_it(name):
    X, y = people(150)
    method = REGRESSIONS[name]
    model = made(name)
    assert np.isfinite(cross_val_predict(model, X, y, cv=3)).all()
    grid = method.grid[method.criteria[0]]
    search = GridSearchCV(model, {method.hyperparameter: [grid[0], grid[-1]]}, cv=2)
    assert search.fit(X, y).best_score_ > -1


FILES = {"communities": "communities_crime.parquet", "law_school": "law_school_bar_pass.parquet"}


@pytest.fixture(params=FILES)
def real_people(request, data_file):
    """The parts of a data set, its group columns, and a base model that sees them one-hot."""
    data_file(FILES[request.param])
    data = load(request.param)
    columns = (OneHotEncoder(sparse_output=False), list(data.categorical))
    encoded = make_column_transformer(columns, remainder="passthrough")
    base = make_pipeline(encoded, LinearRegression())
    return split(data, seed=0).normalized(), list(data.sensitive), base


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSIONS)
def test_real_people_get_finite_predictions_that_trade_error_for_parity(name, real_people):
    parts, group, base = real_people
    values = [
        model.set_params(estimator=base, group=group)
        .fit(parts.X_train, parts.y_train)
        .predict(parts.X_test)
        for model in ends(name, REGRESSIONS[name].criteria[0])
    ]
    errors = [np.sqrt(np.mean((one - parts.y_test) ** 2)) for one in values]
    assert max(errors) < 0.25  # the reference of FairReg reaches 1e11 on law_school
    if name != "FairReg":
        how = {"sensitive_features": parts.X_test[group], "measure": "mpd"}
        loose, strict = (evaluate("strong_parity", None, one, **how) for one in values)
        assert strict < 0.3 < 0.6 < loose
