"""Criteria as scorers in scikit-learn's model selection."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.svm import LinearSVC

import evenhand as eh


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    sex, x = rng.integers(0, 2, 400), rng.normal(size=400)
    y = (x + 0.8 * sex + rng.normal(size=400) > 0.4).astype(int)
    return pd.DataFrame({"x": x, "sex": sex, "old": rng.integers(0, 2, 400)}), y


def test_a_scorer_is_minus_the_criterion_on_the_predictions(people):
    X, y = people
    model = LogisticRegression().fit(X, y)
    scorer = eh.make_scorer("equalized_odds", sensitive_features="sex", measure="gini")
    expected = eh.evaluate(
        "equalized_odds", y, model.predict(X), sensitive_features=X["sex"], measure="gini"
    )
    assert scorer(model, X, y) == -expected
    assert expected > 0


@pytest.mark.parametrize("measure", eh.MEASURES)
@pytest.mark.parametrize(
    ("criterion", "options"),
    [
        ("statistical_parity", {}),
        ("equal_opportunity", {}),
        ("performance_parity", {"g": "auroc"}),
        ("performance_parity", {"g": "cross_entropy"}),
        ("calibration_within_groups", {}),
    ],
)
def test_any_criterion_by_any_measure_cross_validates(people, criterion, measure, options):
    X, y = people
    scorer = eh.make_scorer(
        criterion, sensitive_features=["sex", "old"], measure=measure, **options
    )
    scores = cross_validate(LogisticRegression(), X, y, cv=3, scoring=scorer, error_score="raise")
    best = 1 if measure == "ratio" else 0
    assert (scores["test_score"] <= best).all()
    assert (scores["test_score"] >= 0).all() or measure != "ratio"
    assert np.isfinite(scores["test_score"]).all()


@pytest.mark.slow
def test_a_grid_search_picks_the_most_even_model(people):
    X, y = people
    scorer = eh.make_scorer("statistical_parity", sensitive_features="sex", measure="mpd")
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [1e-6, 1.0]},
        scoring={"accuracy": "accuracy", "parity": scorer},
        refit="parity",
    ).fit(X, y)
    assert search.best_params_ == {"C": 1e-6}
    assert search.cv_results_["mean_test_parity"][0] > search.cv_results_["mean_test_parity"][1]


def test_a_regressor_is_scored(people):
    X, _ = people
    y = X["x"] + X["sex"]
    scorer = eh.make_scorer("strong_parity", sensitive_features="sex", measure="mpd")
    assert scorer(LinearRegression().fit(X, y), X, y) < -0.3


def test_the_group_may_be_a_position_of_an_array_or_a_column_of_polars(people):
    X, y = people
    model = LogisticRegression().fit(X.to_numpy(), y)
    by_name = eh.make_scorer("statistical_parity", sensitive_features="sex")
    by_place = eh.make_scorer("statistical_parity", sensitive_features=1)
    assert by_place(model, X.to_numpy(), y) == pytest.approx(
        by_name(LogisticRegression().fit(pl.from_pandas(X), y), pl.from_pandas(X), y)
    )


def test_a_classifier_without_probabilities_is_ranked_by_its_decisions(people):
    X, y = people
    scorer = eh.make_scorer(
        "performance_parity", sensitive_features="sex", g="auroc", measure="mpd"
    )
    assert -1 <= scorer(LinearSVC().fit(X, y), X, y) <= 0


def test_scorers_pickle(people):
    X, y = people
    scorer = eh.make_scorer("statistical_parity", sensitive_features="sex", measure=eh.gini)
    model = LogisticRegression().fit(X, y)
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == scorer(model, X, y)


def test_a_wrong_column_is_named(people):
    X, y = people
    scorer = eh.make_scorer("statistical_parity", sensitive_features="gender")
    with pytest.raises(
        ValueError, match=r"no column 'gender'; its columns are \['x', 'sex', 'old'\]"
    ):
        scorer(LogisticRegression().fit(X, y), X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measur": "gini"}, "make_scorer has no argument 'measur'. Did you mean 'measure'?"),
        ({"measure": "ginni"}, "There is no measure 'ginni'"),
        ({"aggregate": "wurst"}, "There is no aggregate 'wurst'"),
        ({"transform": "log"}, "There is no transform 'log'"),
        ({"g": "f1"}, "g= is for 'performance_parity'"),
        ({"tau": 0.1}, "tau is for 'strong_parity'"),
    ],
)
def test_a_scorer_refuses_what_it_does_not_know_when_it_is_made(options, message):
    with pytest.raises(eh.EvenhandError, match=re.escape(message)):
        eh.make_scorer("statistical_parity", sensitive_features="sex", **options)


def test_strata_are_columns_of_x_too(people):
    X, y = people
    model = LogisticRegression().fit(X, y)
    scorer = eh.make_scorer(
        "conditional_statistical_parity", sensitive_features="sex", strata="old"
    )
    options = {"sensitive_features": X["sex"], "strata": X["old"]}
    within = eh.evaluate("conditional_statistical_parity", None, model.predict(X), **options)
    assert scorer(model, X, y) == -within


def test_numbers_are_cut_and_rare_groups_settled_as_everywhere(people):
    X, y = people
    model, policy = LogisticRegression().fit(X, y), {"bins": {"x": [-9, 0, 2, 9]}, "min_count": 20}
    scorer = eh.make_scorer("statistical_parity", sensitive_features="x", rare="merge", **policy)
    columns = {"sensitive_features": X[["x"]], "rare": "merge", **policy}
    expected = eh.evaluate("statistical_parity", y, model.predict(X), **columns)
    assert scorer(model, X, y) == -expected
    with pytest.raises(eh.InputError, match="'mrege'"):
        eh.make_scorer("statistical_parity", sensitive_features="sex", rare="mrege")(model, X, y)


def test_a_scorer_shows_how_it_was_made():
    scorer = eh.make_scorer("strong_parity", sensitive_features=["sex"], tau=0.1)
    assert repr(scorer) == "FairnessScorer('strong_parity', sensitive_features=['sex'], tau=0.1)"


def test_weights_reach_the_criterion(people):
    X, y = people
    model = LogisticRegression().fit(X, y)
    weight = np.where(X["sex"] == 1, 2.0, 1.0) * np.arange(400)
    scorer = eh.make_scorer("statistical_parity", sensitive_features="sex")
    expected = eh.evaluate(
        "statistical_parity",
        y,
        model.predict(X),
        sensitive_features=X["sex"],
        sample_weight=weight,
    )
    assert scorer(model, X, y, sample_weight=weight) == -expected


def test_the_group_may_be_a_column_of_a_sparse_matrix():
    from scipy import sparse

    X = np.array([[0.0, 3], [1, 0], [0, 3], [1, 1]])
    y = np.array([0, 1, 1, 0])
    dense, thin = (
        eh.make_scorer("statistical_parity", sensitive_features=0, measure="mpd")(model, rows, y)
        for model, rows in ((Threshold(), X), (Threshold(), sparse.csr_array(X)))
    )
    assert dense == thin == -1.0


class Threshold:
    """Predicts 1 where the second column is above 1.5, of any kind of matrix."""

    def predict(self, X):
        column = X[:, [1]]
        return (np.ravel(column.toarray() if hasattr(column, "toarray") else column) > 1.5) * 1
