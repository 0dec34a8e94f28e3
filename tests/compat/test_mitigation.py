"""fairlearn's mitigation by its names, beside fairlearn itself: the same calls, close results."""

import inspect

import fairlearn.postprocessing
import fairlearn.reductions
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

import evenhand as eh
from evenhand.compat import fairlearn as ours

LIBRARIES = {"fairlearn": fairlearn.reductions, "evenhand": ours}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fairlearn itself
ESTIMATORS = ("ThresholdOptimizer", "ExponentiatedGradient", "GridSearch")
CONSTRAINTS = (
    "DemographicParity",
    "EqualizedOdds",
    "TruePositiveRateParity",
    "FalsePositiveRateParity",
    "ErrorRateParity",
    "BoundedGroupLoss",
    "SquareLoss",
    "AbsoluteLoss",
)


def theirs(name):
    return getattr(fairlearn.reductions, name, None) or getattr(fairlearn.postprocessing, name)


@pytest.fixture(scope="module")
def people():
    """Groups a and b, whose scores and base rates differ."""
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 2000)
    X = pd.DataFrame({"x": rng.normal((group == "b") * 1.0), "z": rng.normal(size=2000)})
    y = (X.x + 0.5 * X.z + rng.normal(size=2000) > 0.5).astype(int)
    return X, y, pd.Series(group, name="group")


def shares(chance, y, group, label=None):
    kept = np.ones(len(y), bool) if label is None else np.asarray(y) == label
    return [chance[kept & (np.asarray(group) == one)].mean() for one in "ab"]


@pytest.mark.parametrize("name", [*ESTIMATORS, *CONSTRAINTS])
def test_constructors_take_the_arguments_of_fairlearn(name):
    def shape(thing):
        parameters = inspect.signature(thing).parameters.values()
        return [(p.name, p.kind, p.default) for p in parameters]

    assert shape(getattr(ours, name)) == shape(theirs(name))


@pytest.mark.parametrize(
    ("constraint", "label"),
    [
        ("demographic_parity", None),
        ("true_positive_rate_parity", 1),
        ("false_positive_rate_parity", 0),
    ],
)
@pytest.mark.parametrize("form", ["frame", "array"])
def test_thresholds_equal_rates_at_the_accuracy_of_fairlearn(people, constraint, label, form):
    X, y, group = people
    X = X if form == "frame" else X.to_numpy()
    found = {}
    for library in (ours, fairlearn.postprocessing):
        asked = {"estimator": LogisticRegression(), "constraints": constraint}
        model = library.ThresholdOptimizer(**asked, predict_method="predict_proba")
        model.fit(X, y, sensitive_features=group)
        chance = model._pmf_predict(X, sensitive_features=group)[:, 1]
        right = np.where(y == 1, chance, 1 - chance).mean()
        found[library] = right, np.ptp(shares(chance, y, group, label))
        drawn = model.predict(X, sensitive_features=group, random_state=3)
        assert set(np.unique(drawn)) == {0, 1}
        assert abs(drawn.mean() - chance.mean()) < 0.04
    (here, gap), (there, _) = found[ours], found[fairlearn.postprocessing]
    assert gap < (1e-6 if label is None else 0.04)  # labels are the model's belief
    assert abs(here - there) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constraint", "label"), [("DemographicParity", None), ("TruePositiveRateParity", 1)]
)
def test_the_reduction_keeps_its_bound_at_the_error_of_fairlearn(people, constraint, label):
    X, y, group = people
    found = []
    for library in LIBRARIES.values():
        bound = getattr(library, constraint)(difference_bound=0.02)
        model = library.ExponentiatedGradient(LogisticRegression(), bound)
        model.fit(X, y, sensitive_features=group)
        chance = model._pmf_predict(X)[:, 1]
        right = np.where(y == 1, chance, 1 - chance).mean()
        found.append((right, np.ptp(shares(chance, y, group, label))))
        assert model.predict(X, random_state=1).shape == (2000,)
        assert np.isclose(sum(model.weights_), 1)
    (there, their_gap), (here, gap) = found
    assert gap < 0.05
    assert abs(gap - their_gap) < 0.03
    assert abs(here - there) < 0.01


def test_the_grid_favors_the_worst_group_as_fairlearns_does():
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], [300, 100])
    X = rng.uniform(-1, 1, (400, 1))
    y = np.where(group == 1, -1.0, 1.0) * X[:, 0] + 0.1 * rng.normal(size=400)
    worst = []
    for library in LIBRARIES.values():
        bound = library.BoundedGroupLoss(library.SquareLoss(-2, 2), upper_bound=0.1)
        model = library.GridSearch(LinearRegression(), bound, constraint_weight=1.0, grid_size=9)
        model.fit(X, y, sensitive_features=group)
        loss = (model.predict(X) - y) ** 2
        worst.append(max(loss[group == one].mean() for one in (0, 1)))
    plain = (LinearRegression().fit(X, y).predict(X) - y) ** 2
    assert worst[1] <= worst[0] + 0.02
    assert worst[1] < plain[group == 1].mean() - 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ours.ErrorRateParity(), "ErrorRateParity has no counterpart"),
        (lambda: ours.DemographicParity(ratio_bound=0.8), "bounds differences of rates, not"),
        (lambda: ours.BoundedGroupLoss("square"), "must be a SquareLoss"),
        (lambda: fitted(ours.ThresholdOptimizer(constraints="x")), "constraints is 'x'"),
        (
            lambda: fitted(ours.ThresholdOptimizer(objective="selection_rate")),
            "evenhand maximizes one of",
        ),
        (lambda: fitted(ours.ThresholdOptimizer(predict_method="predict")), "predict_proba"),
        (lambda: fitted(ours.ExponentiatedGradient(None, "parity")), "constraints is 'parity'"),
        (
            lambda: fitted(ours.ExponentiatedGradient(None, ours.EqualizedOdds(), eta0=1.0)),
            "eta0=1.0 means nothing here",
        ),
        (lambda: fitted(ours.GridSearch(None, ours.EqualizedOdds())), "ExponentiatedGradient"),
    ],
)
def test_what_evenhand_does_not_do_is_refused_in_words(make, message):
    with pytest.raises(eh.InputError, match=message):
        make()


def fitted(model):
    return model.fit(np.eye(4), [0, 1, 0, 1], sensitive_features=list("aabb"))


def test_labels_and_groups_that_are_unknown_are_refused(people):
    X, y, group = people
    model = ours.ThresholdOptimizer(estimator=LogisticRegression())
    with pytest.raises(eh.InputError, match=r"0 and 1, both"):
        model.fit(X, y + 1, sensitive_features=group)
    clone(model).fit(X, y, sensitive_features=group)
    model.fit(X, y, sensitive_features=group)
    with pytest.raises(eh.InputError, match=r"not seen at fit: \['c'\]"):
        model.predict(X[:2], sensitive_features=["a", "c"])
