"""Every method is a scikit-learn estimator, to the letter."""

import pickle
import re
from importlib.util import find_spec
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from evenhand import InputError
from evenhand.mitigation import METHODS as LISTED

pytestmark = [
    pytest.mark.filterwarnings("ignore::evenhand.UnboundWarning"),  # bounds by PQ
    pytest.mark.usefixtures("few_folds"),
]

# Without PyTorch its methods are listed, but cannot be fitted; CI has it.
METHODS = {
    name: method
    for name, method in LISTED.items()
    if method.extra is None or find_spec(method.extra) is not None
}
CLASSIFIERS = [name for name, one in METHODS.items() if one.task == "classification"]
GROUP_READERS = [name for name, one in METHODS.items() if one.needs_group_at_predict]

BY_ROWS = "the bins of the group column are quantiles of rows, as in evenhand.groups, not of weight"
WEIGHED = ("FairReg", "EqOdds", "CalEqOdds")  # for these the bins come out alike all the same
if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7):  # which checks other rows
    WEIGHED = ("FairReg",)


EACH = {method.estimator: name for name, method in METHODS.items()}  # one name a class
# Conventions do not ask for many rounds, nor for exact optima.
CHEAP = {
    "draw": False,
    "levels": 9,
    "max_iter": 3,
    "support": 20,
    "tolerance": 1e-4,
    "rate_error": 0.05,
}
NETWORK = {"max_epochs": 15, "hidden": (), "learning_rate": 0.3, "strength": 0.1}
NETWORK |= {"device": "cpu", "random_state": 0, "progress": False}
FOLDED = (
    "Frontier",
)  # cross-fitted: folds of repeated rows are others than those of weighted rows
BATCHES = "batches of repeated rows are others than those of weighted rows"


def made(name, **parameters):
    """The method's estimator, cheap, which draws no lots where it can be told not to."""
    names = signature(METHODS[name].estimator).parameters
    cheap = CHEAP if METHODS[name].needs_base else NETWORK
    steady = {key: value for key, value in cheap.items() if key in names}
    return METHODS[name](**{"group": "sex", **steady, **parameters})


def expected_failures(estimator):
    """The checks a method is not meant to pass, each with the reason."""
    if any(isinstance(estimator, METHODS[name].estimator) for name in WEIGHED):
        return {}
    why = BATCHES if "batch_size" in estimator.get_params() else BY_ROWS
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in kinds}


# Methods read X, y and groups in a few ways: one of each way meets every check, the others those
# of what they compute themselves.
HEADS = ("Reweight", "LinearPost", "Penalty", "WassBC", "LinearPost_R", "Penalty_R")
OWN = ("invariance", "idempotent", "unchanged", "overwrite", "pickle", "one_label", "classes_train")


def checks():
    """Checks of every estimator, each once, with the reason where it is not meant to pass."""
    estimators = [made(name, group=-1, bins=2) for name in EACH.values()]
    mark = parametrize_with_checks(estimators, expected_failed_checks=expected_failures).mark
    heads = tuple(METHODS[name].estimator for name in HEADS if name in METHODS)
    for case in mark.args[1]:
        estimator, check = getattr(case, "values", case)
        if "array_api" in check.func.__name__:  # which no method claims to read
            continue
        if isinstance(estimator, heads) or any(word in check.func.__name__ for word in OWN):
            yield pytest.param(
                estimator,
                check,
                marks=getattr(case, "marks", ()),
                id=f"{type(estimator).__name__}-{check.func.__name__}",
            )


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    try:
        check(estimator)
    except AssertionError:
        expected = expected_failures(estimator).get(check.func.__name__)
        if expected is None:
            raise
        raise AssertionError(expected) from None  # pytest would spend half a second on a traceback


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.normal(size=120), "hours": random.normal(size=120)})
    X["sex"] = np.where(random.random(120) < 0.5, "F", "M")
    value = X["age"] + X["hours"] + (X["sex"] == "M") + random.logistic(size=120)
    return X, value


def target(name, value):
    return np.where(value > 0.5, "yes", "no") if name in CLASSIFIERS else value.to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_dataframes_of_any_library_give_the_same_answers(name, people):
    X, value = people
    y = target(name, value)
    model = made(name, sees_group=False).fit(X, y)
    assert list(model.feature_names_in_) == ["age", "hours", "sex"]
    answers = model.predict(X)
    assert set(answers) <= {"no", "yes"} or answers.dtype == float
    polars = pl.from_pandas(X)
    again = made(name, sees_group=False).fit(polars, pl.Series(y)).predict(polars)
    np.testing.assert_array_equal(answers, again)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_copy_and_a_pickle_answer_alike(name, people):
    X, value = people
    model = made(name, sees_group=False).fit(X, target(name, value))
    assert clone(model).get_params().keys() == model.get_params().keys()
    assert not hasattr(clone(model), "sensitive_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n, one in METHODS.items() if one.needs_base and n not in FOLDED]
)
def test_weights_count_like_repeated_rows_where_the_groups_are_given(name, people):
    X, value = people
    y, times = target(name, value), np.random.default_rng(1).integers(0, 4, len(X))
    weighted = made(name, sees_group=False).fit(X, y, sample_weight=times)
    repeated = made(name, sees_group=False).fit(
        X.loc[X.index.repeat(times)].reset_index(drop=True), y.repeat(times)
    )
    answer = "predict_proba" if name in CLASSIFIERS else "predict"
    one, two = (getattr(model, answer)(X) for model in (weighted, repeated))
    np.testing.assert_allclose(one, two, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_it_stands_at_the_end_of_a_pipeline_and_in_cross_validation(name, people):
    X, value = people
    array = np.column_stack([X[["age", "hours"]], X["sex"] == "M"])
    whole = make_pipeline(StandardScaler(), made(name, group=2))
    predicted = cross_val_predict(whole, array, target(name, value), cv=3)
    assert len(predicted) == len(array)
    assert len(set(predicted)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, one in METHODS.items() if one.hyperparameter])
def test_grid_search_varies_the_hyperparameter(name, people):
    X, value = people
    method = METHODS[name]
    grid = {method.hyperparameter: list(method.grid[method.criteria[0]][1:3])}
    search = GridSearchCV(made(name, sees_group=False), grid, cv=2).fit(X, target(name, value))
    assert search.best_params_[method.hyperparameter] in grid[method.hyperparameter]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_chances_add_up_and_the_same_seed_draws_the_same_lots(name, people):
    X, value = people
    lots = {"draw": True, "random_state": 7} if METHODS[name].randomized else {}
    model = made(name, sees_group=False, **lots).fit(X, target(name, value))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUP_READERS)
def test_a_group_not_seen_at_fit_is_refused_or_gets_the_base_decision(name, people):
    X, value = people
    strange = X.assign(sex="X")
    model = made(name, sees_group=False).fit(X, target(name, value))
    with pytest.raises(ValueError, match=r"not seen at fit: X \(seen: F, M\)"):
        model.predict(strange)
    model.set_params(unseen="base")
    base = model.estimator_.predict(X[["age", "hours"]])
    answers = model.predict(strange)
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(answers, base)
    else:
        np.testing.assert_allclose(answers, base)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_what_a_method_cannot_do_is_refused_in_a_sentence_that_names_who_can(name, people):
    X, value = people
    three = {"classes": (X, pd.cut(value, 3, labels=list("abc")).astype(str))}
    three["groups"] = (X.assign(sex=np.arange(120) % 3), target(name, value))
    for quantity, rows in three.items():
        model = made(name, sees_group=False)
        if getattr(METHODS[name], quantity) == "any":
            model.fit(*rows)
        else:
            with pytest.raises(ValueError, match=r"supported.* there are 3.*LinearPostClassifier"):
                model.fit(*rows)


@pytest.mark.parametrize("name", METHODS)
def test_the_catalogue_tells_the_truth(name):
    method = METHODS[name]
    model = made(name)
    parameters = model.get_params()
    assert method.name == name
    assert method.needs_group_at_predict == model._asks_group()
    assert {*method.settings} <= set(parameters)
    if method.hyperparameter:
        assert method.hyperparameter in parameters
        assert set(method.grid) <= set(method.criteria)
        assert all(len(values) > 1 for values in method.grid.values())
    assert method.criterion_of(model) == method.criteria[0]
    if len(method.criteria) > 1:
        assert "criterion" in parameters
    if method.task == "classification":
        limits = {"classes": method.classes, "groups": method.groups}
        assert set(model._needs_two) == {what for what, extent in limits.items() if extent == "two"}
    assert method.citation


ENCODED = (make_pipeline, make_column_transformer, OneHotEncoder)
ENCODED += (LinearRegression, LogisticRegression)


TRAINED = ("Penalty", "Penalty_R")  # networks, which take long


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in TRAINED else ())
        for name in EACH.values()
    ],
)
def test_text_that_the_base_model_cannot_read_is_named_with_ways_out_that_work(name, people):
    X, value = people
    y = target(name, value)
    model = made(name)
    with pytest.raises(InputError, match=r"X has text in 'sex', .*: pass sees_group=False") as told:
        model.fit(X, y)
    for table in (pl.from_pandas(X), X.to_numpy()):
        where = {"group": 2} if isinstance(table, np.ndarray) else {}
        with pytest.raises(InputError, match=r"X has text in ('sex'|2), .*sees_group=False"):
            clone(model).set_params(**where).fit(table, y)
    clone(model).set_params(sees_group=False).fit(X, y)
    way = re.search(r"estimator=(make_pipeline.*)\.$", str(told.value))
    if METHODS[name].needs_base:
        assert (
            clone(model)
            .set_params(estimator=eval(way[1], {word.__name__: word for word in ENCODED}))
            .fit(X, y)
        )
    else:
        assert "OrdinalEncoder" in str(told.value)
        clone(model).fit(X.assign(sex=(X["sex"] == "M").astype(int)), y)


def test_text_in_other_columns_is_not_said_to_be_the_group(people):
    X, value = people
    with pytest.raises(InputError, match=r"text in 'town', .*\['town'\]") as told:
        made("Reweight", sees_group=False).fit(X.assign(town="Bonn"), value > 0)
    assert "sees_group" not in str(told.value)


def test_what_a_base_model_refuses_for_other_reasons_is_said_in_its_words(people):
    X, value = people
    coded = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["sex"])), LogisticRegression(C=-1)
    )
    with pytest.raises(InputError, match=r"base model, cannot be fitted.*'C'") as told:
        made("Reweight", estimator=coded).fit(X, value > 0)
    assert "text" not in str(told.value)


@pytest.mark.parametrize("fit", ["fit_path", "partial_fit"])
def test_other_ways_to_fit_say_the_same_of_text(fit, people):
    X, value = people
    model = made("LinearPost" if fit == "fit_path" else "Penalty")
    with pytest.raises(InputError, match="pass sees_group=False"):
        list(model.fit_path(X, value > 0, [0.1])) if fit == "fit_path" else model.partial_fit(
            X, value > 0
        )
