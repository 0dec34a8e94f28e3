"""Methods of other libraries: what their own code gives, in thirty lines each."""

import ast
import inspect
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from evenhand.benchmark import treatment
from evenhand.benchmark.adapters import ADAPTERS
from evenhand.benchmark.adapters.columns import features_and_group
from evenhand.mitigation import GivenProbabilities

MOST_LINES = 30


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 600
    group = rng.integers(0, 2, n)
    x = rng.normal(0.6 * group)
    y = (x + rng.normal(size=n) > 0.3).astype(int)
    X = np.column_stack([x, rng.normal(size=n), group])
    scores = LogisticRegression().fit(X[:, :2], y).predict_proba(X[:, :2])
    frame = pd.DataFrame(scores, columns=["score 0", "score 1"])
    return X, frame.assign(group=pd.Categorical(np.array(["f", "m"])[group])), y, group


def skip_unless_installed(name):
    package = name.partition(".")[0]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def fitted(name, rows):
    skip_unless_installed(name)
    X, scores, y, _ = rows
    method = ADAPTERS[name]
    if method.stage == "post":
        given = GivenProbabilities(["score 0", "score 1"])
        return method(given, group="group").fit(scores, y), scores
    base = LogisticRegression() if method.needs_base else None
    return method(base, group=2).fit(X, y), X


def gap(values, group):
    return abs(values[group == 0].mean() - values[group == 1].mean())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_decides_for_everyone(rows, name):
    model, X = fitted(name, rows)
    *_, y, _ = rows
    labels = model.predict(X)
    assert labels.shape == y.shape
    assert set(labels) <= {0, 1}
    assert model.classes_.tolist() == [0, 1]
    if ADAPTERS[name].randomized:
        chances = model.predict_proba(X)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert abs(labels.mean() - chances[:, 1].mean()) < 0.06


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        "fairlearn.ExponentiatedGradient",
        "fairlearn.ThresholdOptimizer",
        "aif360.RejectOptionClassifierCV",
        "oxonfair.FairPredictor",
        "fairret.NormLoss",
    ],
)
def test_a_method_for_parity_brings_parity(rows, name):
    model, X = fitted(name, rows)
    _, scores, _, group = rows
    before = gap(scores["score 1"].to_numpy() > 0.5, group)
    randomized = ADAPTERS[name].randomized
    after = model.predict_proba(X)[:, 1] if randomized else model.predict(X)
    assert gap(after, group) < before / 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_thresholds_are_those_of_fairlearn(rows):
    model, X = fitted("fairlearn.ThresholdOptimizer", rows)
    from fairlearn.postprocessing import ThresholdOptimizer

    *_, y, _ = rows
    given = GivenProbabilities(["score 0", "score 1"])
    other = ThresholdOptimizer(estimator=given, prefit=True, predict_method="predict_proba").fit(
        X, y, sensitive_features=X["group"]
    )
    expected = other._pmf_predict(X, sensitive_features=X["group"])
    np.testing.assert_allclose(model.predict_proba(X), expected)


@pytest.mark.slow
def test_fairret_is_fitted_though_some_batches_hold_no_positive_row():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=600), np.arange(600) % 2])
    y = np.zeros(600, dtype=int)
    y[:6] = 1
    chosen = {"group": 1, "criterion": "equalized_odds", "max_epochs": 2}
    model = ADAPTERS["fairret.NormLoss"].estimator(**chosen).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_weights_of_aif360_are_those_of_ours(rows):
    from evenhand.mitigation import ReweightingClassifier

    model, X = fitted("aif360.Reweighing", rows)
    *_, y, _ = rows
    ours = ReweightingClassifier(LogisticRegression(), group=2, sees_group=False).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), ours.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize(
    "adapter", {one.estimator for one in ADAPTERS.values()}, ids=lambda one: one.__name__
)
def test_an_adapter_takes_thirty_lines(adapter):
    tree = ast.parse(inspect.getsource(adapter))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    assert len(ast.unparse(tree).splitlines()) <= MOST_LINES


def test_a_library_that_is_missing_is_named_with_the_way_out(monkeypatch):
    monkeypatch.setattr("evenhand._errors.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"'oxonfair.FairPredictor' needs .*: pip install oxon"):
        treatment("oxonfair.FairPredictor")


def test_a_dataframe_is_taken_apart_by_name():
    frame = pd.DataFrame({"x": [1.0, 2.0], "group": pd.Categorical(["f", "m"])})
    features, group = features_and_group(frame, "group")
    assert list(features.columns) == ["x"]
    assert group.tolist() == ["f", "m"]
