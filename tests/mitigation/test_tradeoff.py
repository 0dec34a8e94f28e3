import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from evenhand import evaluate
from evenhand.mitigation import METHODS, LinearPostClassifier, RateConstrainedClassifier, tradeoff

pytestmark = pytest.mark.usefixtures("few_folds")


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=600), "sex": random.integers(0, 2, 600)})
    y = np.where(X["x"] + X["sex"] + random.logistic(size=600) > 0, "yes", "no")
    return X, y


class Counted(LogisticRegression):
    """A base model that remembers how often any of its kind was fitted."""

    fits = 0

    def fit(self, *arguments, **named):
        Counted.fits += 1
        return super().fit(*arguments, **named)


VARIED = [
    name
    for name, one in METHODS.items()
    if one.stage == "post" and one.task == "classification" and one.hyperparameter
]
CROSS_FITTED = ("Frontier",)  # the base model is fitted without each fold, too
PATHS = [name for name, one in METHODS.items() if hasattr(one.estimator, "fit_path")]


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIED)
def test_the_base_model_is_fitted_no_oftener_for_the_whole_grid_than_for_one_value(people, name):
    method = METHODS[name]
    grid = method.grid[method.criteria[0]]
    fits = []
    for values in (grid[-3:], grid[-1:]):
        Counted.fits = 0
        tradeoff(method(Counted(), group="sex"), *people, grid=values)
        fits.append(Counted.fits)
    assert fits[0] == fits[1]
    assert fits[0] == 1 or name in CROSS_FITTED


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_what_fits_one_by_one_would_give(people, name):
    X, y = people
    method = METHODS[name]
    if method.task == "regression":
        y = X["x"] + X["sex"] + np.linspace(0, 1, len(X)) * (X["sex"] == 0)
    grid = method.grid[method.criteria[0]][:3]
    model = method(group="sex", random_state=0) if method.randomized else method(group="sex")
    for value, fitted in zip(grid, model.fit_path(X, y, grid), strict=True):
        alone = clone(model).set_params(**{method.hyperparameter: value}).fit(X, y)
        assert fitted.get_params()[method.hyperparameter] == value
        answer = "predict" if method.task == "regression" else "predict_proba"
        one, two = (getattr(found, answer)(X).mean(axis=0) for found in (fitted, alone))
        np.testing.assert_allclose(one, two, atol=1e-4)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_search_over_group_weights_is_done_once_for_all_of_the_grid(people):
    X, _ = people

    class Fits(LinearRegression):
        fits = 0

        def fit(self, *arguments, **named):
            Fits.fits += 1
            return super().fit(*arguments, **named)

    model = METHODS["FairReg"](Fits(), group="sex", loss="absolute")
    points = tradeoff(model, X, 9 + X["x"] + X["sex"], grid=[0.0, 0.5, 1.0]).points
    assert (len(points), Fits.fits) == (3, 11)


@pytest.mark.slow
def test_the_values_are_those_of_each_fit_alone(people):
    X, y = people
    curve = tradeoff(
        LinearPostClassifier(group="sex"), X, y, grid=[0.01, 0.1], criteria=["statistical_parity"]
    )
    for point in curve.points:
        alone = LinearPostClassifier(group="sex", epsilon=point["epsilon"]).fit(X, y)
        chances = alone.predict_proba(X)
        right = chances[np.arange(len(y)), (y == "yes").astype(int)]
        assert point["accuracy"] == pytest.approx(right.mean(), abs=5e-3)
        assert point["statistical_parity mpd"] == pytest.approx(point["epsilon"], abs=1e-6)


def test_a_method_without_lots_is_judged_by_its_labels(people):
    X, y = people
    curve = tradeoff(METHODS["Reweight"](group="sex"), X, y, criteria=["statistical_parity"])
    labels = METHODS["Reweight"](group="sex").fit(X, y).predict(X)
    [point] = curve.points
    assert point["accuracy"] == pytest.approx((labels == y).mean())
    assert point["statistical_parity gini"] == pytest.approx(
        evaluate("statistical_parity", y, labels, sensitive_features=X["sex"], measure="gini")
    )


def test_test_rows_are_judged_beside_the_fitting_rows(people):
    X, y = people
    post = RateConstrainedClassifier(group="sex", measure="gini")
    curve = tradeoff(post, X[:400], y[:400], grid=[0.0, 0.1], test=(X[400:], y[400:]))
    frame = curve.to_frame("polars")
    assert frame["rows"].to_list() == ["fit", "test"] * 2
    assert frame["epsilon"].to_list() == [0.0, 0.0, 0.1, 0.1]
    assert frame.filter(frame["rows"] == "fit")["accuracy"].is_sorted()


def test_a_question_about_one_class_asks_which_of_two(people):
    X, y = people
    how = {"grid": [1000.0], "criteria": ["equal_opportunity"], "measures": ["mpd"]}
    with pytest.raises(ValueError, match=r"Which of the labels \['no', 'yes'\] is the favorable"):
        tradeoff(LinearPostClassifier(group="sex"), X, y, **how)
    named = tradeoff(LinearPostClassifier(group="sex"), X, y, favorable="yes", **how)
    post = LinearPostClassifier(group="sex", criterion="equal_opportunity", favorable="yes")
    curve = tradeoff(post, X, y, **how)
    assert named.points == curve.points
    labels = LogisticRegression(max_iter=1000).fit(X, y).predict(X)
    assert curve.points[0]["equal_opportunity mpd"] == pytest.approx(
        evaluate(
            "equal_opportunity",
            y,
            labels,
            sensitive_features=X["sex"],
            favorable="yes",
            measure="mpd",
        )
    )


def test_regressions_have_curves_too():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=200), "sex": random.integers(0, 2, 200)})
    y = X["x"] + X["sex"] + random.normal(size=200)
    name = next(one.name for one in METHODS.values() if one.task == "regression")
    curve = tradeoff(METHODS[name](group="sex"), X, y)
    assert all(point["rmse"] > 0 for point in curve.points)


def test_an_estimator_that_is_no_method_is_refused(people):
    with pytest.raises(TypeError, match="LogisticRegression is none of the methods"):
        tradeoff(LogisticRegression(), *people)
