"""Base models: any estimator of scikit-learn's kind, seeded from the split."""

import warnings
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmark.designs import design
from evenhand.benchmark import BASES, Base, Problem, Study, Treatment, treatment
from evenhand.benchmark.design import importing
from evenhand.benchmark.design.from_file import read_design
from evenhand.benchmark.design.studies import Design
from evenhand.benchmark.running.preparation import Prepared

CLASSIFIERS = {
    "sklearn.ensemble:RandomForestClassifier": {"n_estimators": 10},
    "sklearn.ensemble:HistGradientBoostingClassifier": {"max_iter": 10},
    "sklearn.tree:DecisionTreeClassifier": {},
    "sklearn.svm:SVC": {},
    "sklearn.linear_model:SGDClassifier": {},
    "sklearn.naive_bayes:GaussianNB": {},
    "sklearn.neighbors:KNeighborsClassifier": {},
    "sklearn.neural_network:MLPClassifier": {"max_iter": 20, "hidden_layer_sizes": [5]},
    "lightgbm:LGBMClassifier": {"n_estimators": 10, "verbose": -1},
}
REGRESSORS = {
    "sklearn.ensemble:RandomForestRegressor": {"n_estimators": 10},
    "sklearn.ensemble:HistGradientBoostingRegressor": {"max_iter": 10},
    "sklearn.tree:DecisionTreeRegressor": {},
    "sklearn.svm:SVR": {},
    "sklearn.linear_model:SGDRegressor": {},
    "sklearn.neighbors:KNeighborsRegressor": {},
    "lightgbm:LGBMRegressor": {"n_estimators": 10, "verbose": -1},
}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A table with texts, truths, gaps and numbers, as they come."""
    rng = np.random.default_rng(0)
    n = 240
    table = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "city": rng.choice(["x", "y", None], n),
            "owns": rng.random(n) < 0.5,
            "score": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        }
    )
    chance = 1 / (1 + np.exp(-table["score"].fillna(0) - (table["sex"] == "m")))
    table["hired"] = np.where(rng.random(n) < chance, "yes", "no")
    table["pay"] = table["score"].fillna(0) * 2 + rng.normal(size=n)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    table.to_csv(path, index=False)
    return path


def problem(people, target="hired"):
    return Problem("people", str(people), target=target, sensitive=("sex",))


def scores(people, base, seed=0, target="hired"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Prepared(problem(people, target).load(), base, seed).scores().scores


def skip_unless_installed(path):
    package = path.partition(":")[0].partition(".")[0]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


@pytest.mark.slow
@pytest.mark.parametrize("path", CLASSIFIERS)
def test_any_classifier_gives_probabilities_and_the_same_ones_again(people, path):
    skip_unless_installed(path)
    base = Base("own", path, settings=CLASSIFIERS[path])
    first, again = scores(people, base), scores(people, base)
    assert first.shape == (240, 2)
    np.testing.assert_allclose(first.sum(axis=1), 1)
    np.testing.assert_array_equal(first, again)


@pytest.mark.slow
@pytest.mark.parametrize("path", REGRESSORS)
def test_any_regressor_gives_values_and_the_same_ones_again(people, path):
    skip_unless_installed(path)
    base = Base("own", path, settings=REGRESSORS[path])
    assert base.kinds == ("regression",)
    first, again = (scores(people, base, target="pay") for _ in range(2))
    assert first.shape == (240, 1)
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, again)


FOREST, BOOSTED = "sklearn.ensemble:RandomForestClassifier", "lightgbm:LGBMClassifier"


@pytest.mark.parametrize(
    ("path", "encoding"),
    [
        *((FOREST, encoding) for encoding in ("onehot", "dense", "ordinal")),
        *((BOOSTED, encoding) for encoding in ("onehot", "none")),  # a forest reads numbers only
    ],
)
def test_an_encoding_is_as_one_says(people, path, encoding):
    skip_unless_installed(path)
    base = Base("own", path, encoding, CLASSIFIERS[path])
    ready = Prepared(problem(people).load(), base, 0)
    kinds = {"onehot": "csr_array", "none": "DataFrame"}
    assert type(ready.matrix).__name__ == kinds.get(encoding, "ndarray")
    width = {"none": 5, "ordinal": 5}  # pay is a feature as well
    assert ready.matrix.shape[1] == width.get(encoding, 6)
    X, group = ready.featured
    assert X.shape[1] == ready.matrix.shape[1] + 1
    column = X[group] if encoding == "none" else X[:, [group]]
    assert np.unique(column.toarray() if encoding == "onehot" else column).tolist() == [0, 1]
    assert np.isfinite(scores(people, base)).all()


def test_the_seed_of_a_model_is_that_of_the_split():
    forest = Base("forest", RandomForestClassifier)
    assert forest.estimator("classification", seed=5).random_state == 5
    deep = Base("deep", make_pipeline(StandardScaler(), RandomForestClassifier(max_depth=2)))
    made = deep.estimator("classification", seed=5)
    assert made[-1].get_params()["random_state"] == 5
    assert made[-1].max_depth == 2
    fixed = Base("fixed", RandomForestClassifier, settings={"random_state": 1})
    assert fixed.estimator("classification", seed=5).random_state == 1
    assert BASES["boosting"].estimator("regression", seed=5).random_state == 5


def test_the_group_is_hidden_from_a_blind_model_and_methods_can_learn_it_still(people):
    seeing = Base("own", LogisticRegression, encoding="none")
    blind = replace(seeing, is_blind=True)
    dataset = problem(people).load()
    ready = Prepared(dataset, blind, 0)
    assert set(ready.matrix.columns) == set(Prepared(dataset, seeing, 0).matrix.columns) - {"sex"}
    X, group = ready.featured
    assert sorted(set(X[group])) == [0, 1]
    assert blind.fingerprint != seeing.fingerprint


def test_a_design_names_a_blind_model_by_true(tmp_path):
    text = "[problems.simulated]\n[methods.Reweight]\n"
    text += (
        "[bases.blind]\nestimator = 'sklearn.svm:SVC'\ntune = {{ C = [0.1, 1] }}\nis_blind = {}\n"
    )
    path = tmp_path / "blind.toml"
    path.write_text(text.format("true"), "utf-8")
    (blind,) = read_design(path).studies[0].bases
    assert (blind.is_blind, blind.tune) == (True, {"C": [0.1, 1]})
    path.write_text(text.format("'no'"), "utf-8")
    with pytest.raises(ValueError, match=r"\[bases.blind\] is_blind is 'no'; give true or false"):
        read_design(path)


def test_a_model_is_tuned_on_the_rows_it_is_fitted_to(people):
    dataset, grid = problem(people).load(), [1e-6, 1.0]
    base = Base("tuned", LogisticRegression, encoding="onehot", tune={"C": grid})
    ready = Prepared(dataset, base, 0, held_out=0.4)
    fits = ready.scores().fits
    learned = np.flatnonzero(~fits[: ready.fitted])
    X, y = ready.matrix[learned], ready.y[learned]
    loss = [
        -cross_val_score(LogisticRegression(C=C), X, y, scoring="neg_log_loss").mean() for C in grid
    ]
    assert len(learned) < ready.fitted
    assert grid[int(np.argmin(loss))] == ready.model.C
    fixed = Base("fixed", LogisticRegression, encoding="onehot", settings={"C": ready.model.C})
    expected = Prepared(dataset, fixed, 0, held_out=0.4).scores().scores
    np.testing.assert_array_equal(ready.scores().scores, expected)
    assert base.fingerprint != replace(base, tune={}).fingerprint


def test_what_has_no_probabilities_is_tuned_beneath_its_calibration(people):
    base = Base("svm", LinearSVC, encoding="onehot", tune={"C": [0.01, 1.0]})
    assert Prepared(problem(people).load(), base, 0).model.estimator.C in {0.01, 1.0}


@pytest.mark.parametrize(
    ("tune", "settings", "message"),
    [
        ({"C": 3}, {}, r"tune C over 3; give a list"),
        ({"C": []}, {}, r"tune C over \[\]; give a list"),
        ({"C": "ab"}, {}, r"tune C over 'ab'; give a list"),
        (["C"], {}, r"tune \['C'\]; give a table"),
        ({"C": [1.0]}, {"C": 1.0}, r"has C among its settings and among what to tune"),
    ],
)
def test_what_cannot_be_tuned_is_refused(tune, settings, message):
    with pytest.raises(ValueError, match=message):
        Base("svm", LinearSVC, settings=settings, tune=tune)


def test_a_parameter_that_is_not_there_is_not_tuned(people):
    base = Base("own", LogisticRegression, tune={"depth": [1, 2]})
    with pytest.raises(ValueError, match=r"LogisticRegression has no parameter 'depth' to tune"):
        Prepared(problem(people).load(), base, 0).model


def test_splits_differ_and_so_do_their_models(people):
    base = Base("forest", RandomForestClassifier, settings={"n_estimators": 5})
    assert (scores(people, base, 0) != scores(people, base, 1)).any()


def test_a_model_without_probabilities_is_calibrated(people):
    base = Base("svm", "sklearn.svm:SVC")
    ready = Prepared(problem(people).load(), base, 0)
    assert isinstance(ready.model.estimator, SVC)
    assert len(np.unique(scores(people, base))) > 50


class Blunt(ClassifierMixin, BaseEstimator):
    """Says yes to everyone, and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.ones(X.shape[0], int)


def test_labels_stand_for_probabilities_where_there_is_nothing_else(people):
    np.testing.assert_array_equal(scores(people, Base("blunt", Blunt)), [[0, 1]] * 240)


@pytest.mark.slow
def test_a_class_a_path_and_a_value_are_the_same_model():
    ways = (
        LogisticRegression,
        "sklearn.linear_model:LogisticRegression",
        {"classification": "sklearn.linear_model:LogisticRegression"},
    )
    keys = {Base("own", one, settings={"C": 2.0}).fingerprint for one in ways}
    assert len(keys) == 1
    assert Base("own", LogisticRegression(C=2.0)).estimator("classification").C == 2.0
    other = Base("own", LogisticRegression(C=3.0)).fingerprint
    assert Base("own", LogisticRegression(C=2.0)).fingerprint != other


@pytest.mark.slow
def test_methods_skip_models_without_weights_and_networks_skip_numbered_categories():
    neighbors = Base("neighbors", "sklearn.neighbors:KNeighborsClassifier", encoding="ordinal")
    study = Study(
        name="weights",
        problems=(Problem("people", "simulated"),),
        bases=(neighbors, BASES["logistic"]),
        treatments=(Treatment(), *map(treatment, ("Reweight", "EqOdds", "Penalty"))),
        seeds=(0, 1),
    )
    wanted = Design("weights", (study,))
    assert len(wanted.runs()) == 2 * (2 + 3 + 6)  # a setting each, but six of the network
    assert [skipped.reason for skipped in wanted.skipped()] == [
        "Reweight weighs rows, and neighbors takes no weights",
        "Penalty trains a network, and neighbors numbers its categories",
    ]


@pytest.mark.slow
def test_an_installed_package_may_offer_base_models_and_methods(tmp_path, monkeypatch):
    from evenhand.mitigation import EqualizedOddsClassifier

    class Offer:
        def __init__(self, thing):
            self.load = lambda: thing

    offers = {
        ("evenhand.bases", "theirs"): DummyClassifier,
        ("evenhand.methods", "Theirs"): EqualizedOddsClassifier,
    }

    def entry_points(group, name):
        return [Offer(offers[group, name])] if (group, name) in offers else []

    monkeypatch.setattr(importing, "entry_points", entry_points)
    path = tmp_path / "mine.toml"
    path.write_text("seeds = 1\nbases = ['theirs']\n[problems.simulated]\n[methods.Theirs]\n")
    runs = read_design(path).runs().values()
    assert {(one.base.name, one.treatment.name) for one in runs} == {
        ("theirs", "Base"),
        ("theirs", "Theirs"),
    }


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (lambda: Base("own", LogisticRegression, encoding="hot"), "encoding 'hot'; there are auto"),
        (lambda: Base("own", LogisticRegression, settings={"c": 1}).kinds, "cannot be made with"),
        (lambda: Base("own", LogisticRegression(), settings={"c": 1}).kinds, "cannot be made with"),
        (lambda: Base("own", 3).kinds, "is a int; give a scikit-learn estimator"),
        (lambda: Base("own", dict).kinds, "dict has no get_params"),
        (lambda: Base("own", "sklearn.svm:SVX").kinds, "has no 'SVX'"),
    ],
)
def test_what_is_no_base_model_is_refused_with_the_way_out(base, message):
    with pytest.raises((ValueError, TypeError), match=message):
        base()


@pytest.mark.slow
def test_two_things_of_one_name_are_refused():
    two = (Base("same", LogisticRegression), Base("same", DummyClassifier))
    study = design(Treatment()).studies[0]
    with pytest.raises(ValueError, match="two different runs called Base on small with same"):
        Design("mine", (Study(**{**vars(study), "bases": two}),)).runs()
    with pytest.raises(ValueError, match="the same runs under two names"):
        design(treatment("EqOdds"), treatment("EqOdds", name="other")).runs()
