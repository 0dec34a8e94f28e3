"""The rules of the frontier as an estimator, and how they do on new rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import evenhand as eh
from evenhand.mitigation import FrontierClassifier, GivenProbabilities, RateConstrainedClassifier


def people(sizes, seed=0, shift=0.5):
    """Rows with calibrated scores of groups of these sizes, each better off than the last."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    merit = random.normal(size=len(group)) + shift * group / max(len(sizes) - 1, 1)
    score = 1 / (1 + np.exp(-2 * merit))
    y = (random.random(len(group)) < score).astype(int)
    return pd.DataFrame({"group": group, "no": 1 - score, "yes": score, "merit": merit}), y


GIVEN = GivenProbabilities(["no", "yes"])


def gap(model, X, y, criterion="statistical_parity", measure="mpd"):
    chances = model.predict_proba(X)
    counts = eh.tally(y, chances, classes=[0, 1], sensitive_features=X["group"])
    return float(eh.evaluate(criterion, counts, measure=measure, favorable=1))


@pytest.mark.parametrize(
    ("criterion", "measure", "sizes"),
    [
        pytest.param("statistical_parity", "mpd", (500, 400, 60, 25), marks=pytest.mark.slow),
        ("statistical_parity", "gini", (300, 200)),
        pytest.param("equalized_odds", "mpd", (300, 200), marks=pytest.mark.slow),
    ],
)
@pytest.mark.usefixtures("few_folds")
def test_it_decides_as_the_rule_that_the_frontier_recommends(criterion, measure, sizes):
    X, y = people(sizes)
    curve = eh.frontier(
        y,
        X["yes"],
        sensitive_features=X["group"],
        criterion=criterion,
        measure=measure,
        favorable=1,
        values=[0.0, 0.03],
        random_state=3,
    )
    model = FrontierClassifier(
        GIVEN, group="group", criterion=criterion, measure=measure, epsilon=0.03, favorable=1,
        random_state=3,
    ).fit(X, y)  # fmt: skip
    rule = curve.rule(0.03)
    assert model.fitted_to_ == curve.fitted_to
    np.testing.assert_allclose(
        model.predict_proba(X), rule.predict_proba(X["yes"], X["group"]), atol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("favorable", [0, 1])
@pytest.mark.parametrize("criterion", ["statistical_parity", "equal_opportunity", "equalized_odds"])
@pytest.mark.usefixtures("few_folds")
def test_the_bound_holds_on_the_fitting_rows_by_what_it_was_fitted_to(criterion, favorable):
    X, y = people((700, 500, 300), shift=1.5)
    X["yes"], X["no"] = X["yes"] ** 3, 1 - X["yes"] ** 3  # not calibrated: labels are believed
    model = FrontierClassifier(
        GIVEN, group="group", criterion=criterion, epsilon=0.04, favorable=favorable, random_state=0
    ).fit(X, y)
    assert model.fitted_to_ == "labels"
    chances = model.predict_proba(X)
    counts = eh.tally(y, chances, classes=[0, 1], sensitive_features=X["group"])
    value = eh.evaluate(criterion, counts, measure="mpd", favorable=favorable)
    assert value <= 0.04 + 1e-6
    assert model.value_ == pytest.approx(value, abs=1e-6)


@pytest.mark.slow
def test_a_base_model_that_knows_its_rows_by_heart_does_not_mislead_it():
    X, y = people((1500, 1500), shift=1.5)
    new, truth = people((4000, 4000), seed=1, shift=1.5)
    base = RandomForestClassifier(30, random_state=0)
    own = {"group": "group", "criterion": "equal_opportunity", "epsilon": 0.02}
    columns = ["group", "merit"]
    told, plain = (
        kind(base, **own).fit(X[columns], y)
        for kind in (FrontierClassifier, RateConstrainedClassifier)
    )
    sure, unsure = (gap(model, new[columns], truth, "equal_opportunity") for model in (told, plain))
    assert sure < unsure / 2


@pytest.mark.long
def test_small_groups_are_decided_in_part_by_lot_and_are_evener_on_new_rows():
    sizes = (900, 900, 40, 40, 30, 30, 20, 20)
    X, y = people(sizes)
    new, truth = people(sizes, seed=1)
    own = {"group": "group", "epsilon": 0.02, "random_state": 0}
    told = FrontierClassifier(GIVEN, **own).fit(X, y)
    plain = RateConstrainedClassifier(GIVEN, **own).fit(X, y)
    assert (told.lot_[:2] < told.lot_[2:].min()).all()
    assert gap(told, new, truth) < 0.8 * gap(plain, new, truth)
    assert not FrontierClassifier(GIVEN, **own, rate_error=None).fit(X, y).lot_.any()


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_within_a_group_a_higher_score_is_never_worse():
    X, y = people((300, 200, 20))
    model = FrontierClassifier(GIVEN, group="group", criterion="equalized_odds", epsilon=0.0)
    chances = model.set_params(random_state=0).fit(X, y).predict_proba(X)[:, 1]
    for _, rows in X.assign(chance=chances).sort_values("yes").groupby("group"):
        assert (np.diff(rows["chance"]) >= -1e-12).all()


@pytest.mark.parametrize("rate_error", [0.0, -1, "some", True])
def test_a_standard_error_that_is_none_is_refused(rate_error):
    X, y = people((50, 50))
    with pytest.raises(eh.InputError, match="rate_error"):
        FrontierClassifier(GIVEN, group="group", rate_error=rate_error).fit(X, y)
