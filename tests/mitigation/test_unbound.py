"""A bound that binds nothing is told by every method that has one."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand import mitigation

CLASSIFIERS = {
    "LabelFlippingClassifier": {},
    "ProjectionClassifier": {},
    "RateConstrainedClassifier": {},
    "ReductionClassifier": {"max_iter": 5},
    "RejectOptionClassifier": {},
}
REGRESSORS = {
    "ParityConstrainedRegressor": {},
    "ParityReductionRegressor": {"max_iter": 4},
}


def rows(apart):
    """Groups whose rates and means differ by about so much, and never by nothing."""
    rng = np.random.default_rng(5)
    group = np.arange(600) % 2
    X = np.column_stack([group, rng.normal(size=600) + apart * group])
    return X, (X[:, 1] + rng.normal(size=600) > 0.3).astype(int)


def fitted(name, options, apart, epsilon):
    X, y = rows(apart)
    base = {} if name in REGRESSORS else {"estimator": LogisticRegression()}
    target = X[:, 1] if name in REGRESSORS else y
    model = getattr(mitigation, name)(group=0, epsilon=epsilon, **base, **options)
    return model.fit(X, target)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSORS])
def test_a_bound_that_binds_nothing_is_told_with_what_is_there_without_it(name):
    options = (CLASSIFIERS | REGRESSORS)[name]
    with pytest.warns(eh.UnboundWarning, match=r"epsilon=0.9 changes nothing: without it, .* is 0"):
        model = fitted(name, options, apart=0.2, epsilon=0.9)
    assert any("changes nothing" in note for note in model.notes_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", eh.UnboundWarning)
        model = fitted(name, options, apart=2.0, epsilon=0.01)
    assert not any("changes nothing" in note for note in model.notes_)


@pytest.mark.parametrize("name", ["PenalizedClassifier", "PenalizedRegressor"])
def test_a_bound_that_never_pushes_a_network_is_told(name):
    pytest.importorskip("torch")
    X, y = rows(1.0)
    criterion = "statistical_parity" if name == "PenalizedClassifier" else "weak_parity"
    target = y if name == "PenalizedClassifier" else X[:, 1]
    options = {"criterion": criterion, "max_epochs": 3, "hidden": (8,), "random_state": 0}
    made = getattr(mitigation, name)
    with pytest.warns(
        eh.UnboundWarning, match=rf"bound=0.99 changes .*{criterion}\.mpd.* is 0\.\d"
    ):
        made(group=0, measure="mpd", bound=0.99, **options).fit(X, target)
    with warnings.catch_warnings():
        warnings.simplefilter("error", eh.UnboundWarning)
        assert not made(group=0, measure="mpd", bound=0.001, **options).fit(X, target).notes_


def test_a_bound_that_changes_nothing_is_not_said_to_leave_the_base_model_as_it_is():
    """With costs of one's own the rule moves, and only the bound does nothing."""
    X, y = rows(0.2)
    model = mitigation.RateConstrainedClassifier(
        LogisticRegression(), group=0, epsilon=0.9, cost=[[0, 5], [1, 0]]
    )
    with pytest.warns(eh.UnboundWarning, match="without it") as told:
        model.fit(X, y)
    assert "base model" not in str(told[0].message)
