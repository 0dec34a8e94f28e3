"""Reweight: group and label become independent, and nothing else changes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from sklearn.linear_model import LogisticRegression

from evenhand.mitigation import ReweightingClassifier
from evenhand.mitigation.reweighting import independence_weights
from mitigation.aif import GROUPS, dataset
from mitigation.people import featured, people
from strategies import classified


def codes(values):
    return np.unique(values, return_inverse=True)[1]


@pytest.mark.slow
@given(classified())
def test_group_and_label_are_independent_under_the_weights(rows):
    y, group = codes(rows.y_true), codes(rows.group)
    weight = independence_weights(y, group, rows.weight)
    joint, original = np.zeros((2, y.max() + 1, group.max() + 1))
    np.add.at(joint, (y, group), weight)
    np.add.at(original, (y, group), rows.weight)
    if original.all():
        expected = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / joint.sum()
        np.testing.assert_allclose(joint, expected)
        np.testing.assert_allclose(joint.sum(axis=0), original.sum(axis=0))
        np.testing.assert_allclose(joint.sum(axis=1), original.sum(axis=1))


def test_the_weights_are_those_of_aif360():
    _, y, group = featured()
    data = dataset(y, group)
    from aif360.algorithms.preprocessing import Reweighing

    theirs = Reweighing(**GROUPS).fit_transform(data).instance_weights
    np.testing.assert_allclose(independence_weights(y, group), theirs)


def test_the_model_is_the_base_model_with_these_weights():
    X, y, group = featured()
    weight = np.zeros(len(y))
    for label, a in product((0, 1), repeat=2):
        here = (y == label) & (group == a)
        weight[here] = (y == label).mean() * (group == a).mean() / here.mean()
    by_hand = LogisticRegression().fit(X, y, sample_weight=weight)
    ours = ReweightingClassifier(LogisticRegression(), group=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)
    assert (ours.predict(X) == by_hand.predict(X)).all()


def test_whole_weights_are_repeated_rows():
    X, y, _ = featured(rows=120)
    times = np.random.default_rng(0).integers(1, 4, 120)
    repeated = np.repeat(np.arange(120), times)
    base = LogisticRegression(tol=1e-8)
    weighted = ReweightingClassifier(base, group=0).fit(X, y, sample_weight=times)
    longer = ReweightingClassifier(base, group=0).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.predict_proba(X), longer.predict_proba(X), atol=1e-5)


def test_many_classes_and_groups_and_an_empty_cell():
    X, y, group, _ = people(rows=300, classes=3, groups=4)
    kept = (group != 2) | (y != 1)
    names = np.array(["low", "middle", "high"])
    fitted = ReweightingClassifier(group=0).fit(X[kept], names[y[kept]])
    assert np.isfinite(fitted.predict_proba(X)).all()
    assert set(fitted.predict(X)) <= set(names)


def test_the_group_is_not_needed_to_predict_where_the_model_does_not_see_it():
    pd = pytest.importorskip("pandas")
    X, y, _ = featured()
    frame = pd.DataFrame(X, columns=["sex", "a", "b", "c"])
    fitted = ReweightingClassifier(group="sex", sees_group=False).fit(frame, y)
    with_group, without = fitted.predict(frame), fitted.predict(frame.drop(columns="sex"))
    assert (with_group == without).all()
