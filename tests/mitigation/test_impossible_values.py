"""Parameters, base models and rows that nothing can be done with are refused in our words."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import evenhand as eh
from evenhand.mitigation import (
    METHODS,
    EqualizedOddsClassifier,
    LabelFlippingClassifier,
    LinearPostClassifier,
    ReductionClassifier,
    ReweightingClassifier,
)

ESTIMATORS = sorted(  # those with a model of their own have tests of their own
    {method.estimator for method in METHODS.values() if method.needs_base},
    key=lambda one: one.__name__,
)
OWN_AFFAIR = {  # read by others, who refuse what they cannot use
    *("estimator", "group", "bins", "random_state", "favorable", "cost", "group_estimator"),
    "privileged",
}
NEVER = ("eror", np.nan, -1.0, [], {}, object(), np.array([2.0, 1.0]), 1j, b"error", (1.0, np.nan))
RNG = np.random.default_rng(0)
GROUP = RNG.integers(0, 2, 80)
X = np.column_stack([GROUP, RNG.normal(size=(80, 2))])
Y = (X[:, 1] + GROUP + RNG.normal(size=80) > 0.5).astype(int)


CHECKED = [
    (one, name)
    for one in ESTIMATORS
    for name in signature(one).parameters
    if name not in OWN_AFFAIR
]


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "name"), CHECKED)
def test_an_impossible_value_is_refused_at_fit(estimator, name):
    for bad in NEVER:
        with pytest.raises(eh.EvenhandError):
            estimator(**{"group": 0, name: bad}).fit(X, Y)


LOOK_AGAIN = [one for one in ESTIMATORS if "unseen" in signature(one).parameters]  # at the group


@pytest.mark.parametrize("estimator", LOOK_AGAIN, ids=lambda one: one.__name__)
@pytest.mark.usefixtures("few_folds")
def test_a_value_that_becomes_impossible_after_fit_is_refused(estimator):
    model = estimator(group=0).fit(X, Y).set_params(unseen="eror")
    with pytest.raises(eh.InputError, match=r"unseen of .* must be 'error' or 'base', not 'eror'"):
        model.predict(X)


class Broken(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are all the same."""

    def __init__(self, value=np.nan):
        self.value = value

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), self.value)

    def predict(self, X):
        return np.zeros(len(X), int)


NO_PROBABILITIES = (EqualizedOddsClassifier, LabelFlippingClassifier, ReductionClassifier)
CLASSIFIERS = [  # those that read probabilities of their base model
    one for one in ESTIMATORS if hasattr(one, "predict_proba") and one not in NO_PROBABILITIES
]


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.5])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda one: one.__name__)
def test_probabilities_that_are_none_decide_nothing(estimator, value):
    with pytest.raises(eh.InputError, match="Broken gives row 0 the probabilities"):
        estimator(Broken(value), group=0).fit(X, Y).predict(X)


def test_an_array_after_a_dataframe_is_refused_in_a_sentence():
    frame = pd.DataFrame(X, columns=["sex", "u", "v"])
    model = LinearPostClassifier(group="sex", sees_group=False).fit(frame, Y)
    with pytest.raises(eh.InputError, match=r"fitted on a dataframe.*'sex'"):
        model.predict(X)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


PIPELINES = {
    "scaled": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "selected": lambda: make_pipeline(VarianceThreshold(), LogisticRegression()),
    "nested": lambda: make_pipeline(StandardScaler(), make_pipeline(LogisticRegression())),
}


@pytest.mark.parametrize("kind", PIPELINES)
@pytest.mark.parametrize("estimator", [ReweightingClassifier, LinearPostClassifier])
def test_weights_reach_the_end_of_a_pipeline_with_metadata_routing_and_without(
    kind, estimator, routing
):
    weight = RNG.uniform(1, 2, len(Y))
    routed = estimator(PIPELINES[kind](), group=0).fit(X, Y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=False):
        plain = estimator(PIPELINES[kind](), group=0).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(routed.predict_proba(X), plain.predict_proba(X))
