"""Rejection: the fast grid is the slow one, and the choice is AIF360's where one is feasible."""

import numpy as np
import pytest

from evenhand.mitigation import RejectOptionClassifier
from evenhand.mitigation.reject_option import DISPARITIES, search_grid
from mitigation.aif import GROUPS, dataset
from mitigation.people import ReadsScores, featured, people

METRICS = {
    "statistical_parity": "Statistical parity difference",
    "average_odds": "Average odds difference",
    "equal_opportunity": "Equal opportunity difference",
}
SIZE = {"thresholds": 30, "margins": 12}


def slow_grid(score, y, privileged, weight, criterion):
    """Every threshold and margin decided row by row, as the method is described."""
    for tau in np.linspace(0.01, 0.99, SIZE["thresholds"]):
        for margin in np.linspace(0, min(tau, 1 - tau), SIZE["margins"]):
            accepted = score > tau
            band = (score > tau - margin) & (score <= tau + margin)
            accepted = np.where(band, ~privileged, accepted)

            def rate(who, accepted=accepted):
                return np.average(accepted[who], weights=weight[who])

            def gap(who, rate=rate):
                return rate(who & ~privileged) - rate(who & privileged)

            balanced = (rate(y == 1) + 1 - rate(y == 0)) / 2
            gaps = {
                "statistical_parity": gap(y >= 0),
                "average_odds": (gap(y == 0) + gap(y == 1)) / 2,
                "equal_opportunity": gap(y == 1),
            }
            yield tau, margin, balanced, gaps[criterion]


@pytest.mark.slow
@pytest.mark.parametrize("criterion", DISPARITIES)
def test_the_grid_is_what_deciding_row_by_row_gives(criterion):
    _, y, group, p = people(rows=80)
    score = p[:, 1].round(2)  # so that some scores lie on a threshold
    weight = np.random.default_rng(1).integers(1, 4, 80).astype(float)
    grid = search_grid(score, y, group == 1, weight, criterion=criterion, **SIZE)
    slow = np.array(list(slow_grid(score, y, group == 1, weight, criterion))).T
    fast = grid.threshold, grid.margin, grid.balanced_accuracy, grid.disparity
    for ours, theirs in zip(fast, slow, strict=True):
        np.testing.assert_allclose(ours.ravel(), theirs, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", DISPARITIES)
def test_the_choice_is_that_of_aif360(criterion):
    _, y, group, p = people(rows=120, seed=3)
    data, scored = dataset(y, group), dataset(y, group, p[:, 1])
    from aif360.algorithms.postprocessing import RejectOptionClassification

    theirs = RejectOptionClassification(
        **GROUPS,
        num_class_thresh=SIZE["thresholds"],
        num_ROC_margin=SIZE["margins"],
        metric_name=METRICS[criterion],
        metric_ub=0.05,
        metric_lb=-0.05,
    ).fit(data, scored)
    choice = search_grid(p[:, 1], y, group == 1, criterion=criterion, **SIZE).best(0.05)
    assert choice.threshold == pytest.approx(theirs.classification_threshold)
    assert choice.margin == pytest.approx(theirs.ROC_margin)
    assert abs(choice.disparity) <= 0.05


@pytest.mark.slow
def test_labels_are_those_of_aif360():
    X, y, group, p = people(rows=60, seed=4)
    data, scored = dataset(y, group), dataset(y, group, p[:, 1])
    from aif360.algorithms.postprocessing import RejectOptionClassification

    theirs = RejectOptionClassification(
        **GROUPS, num_class_thresh=100, num_ROC_margin=50, metric_ub=0.1, metric_lb=-0.1
    ).fit_predict(data, scored)
    ours = RejectOptionClassifier(ReadsScores(), group=0, epsilon=0.1, prefit=True).fit(X, y)
    assert ours.privileged_ == 1
    assert (ours.predict(X) == theirs.labels.ravel()).all()


def test_one_grid_serves_all_bounds():
    X, y, _ = featured()
    bounds = [0.01, 0.05, 0.2, 2.0]
    model = RejectOptionClassifier(group=0)
    for epsilon, copy in zip(bounds, model.fit_path(X, y, bounds), strict=True):
        alone = RejectOptionClassifier(group=0, epsilon=epsilon).fit(X, y)
        assert copy.epsilon == epsilon
        assert copy.choice_ == alone.choice_
        assert (copy.predict(X) == alone.predict(X)).all()
    assert model.epsilon == 0.05
    assert not hasattr(model, "grid_")


def test_a_tighter_bound_never_has_a_better_balanced_accuracy():
    X, y, _ = featured(seed=2)
    path = RejectOptionClassifier(group=0).fit_path(X, y, [0.001, 0.01, 0.1, 2.0])
    accuracies = [one.choice_.balanced_accuracy for one in path if not one.notes_]
    assert accuracies == sorted(accuracies)
    assert len(accuracies) >= 3


def test_the_privileged_group_is_where_the_favorable_label_is_frequent():
    X, y, group = featured()
    names = np.array(["repaid", "defaulted"])[y]
    ahead = int(np.argmax([y[group == a].mean() for a in (0, 1)]))
    by_default = RejectOptionClassifier(group=0).fit(X, names)
    other = RejectOptionClassifier(group=0, favorable="defaulted").fit(X, names)
    assert by_default.classes_[by_default.favorable_] == "repaid"
    assert (by_default.privileged_, other.privileged_) == (1 - ahead, ahead)
    told = RejectOptionClassifier(group=0, privileged=0).fit(X, y)
    assert told.privileged_ == 0


def test_an_unreachable_bound_is_noted_and_the_least_disparity_taken():
    X, y, _, _ = people(rows=61, seed=9)
    fitted = RejectOptionClassifier(ReadsScores(), group=0, epsilon=0.0, prefit=True).fit(X, y)
    assert "No threshold keeps statistical_parity within 0;" in fitted.notes_[0]
    assert abs(fitted.choice_.disparity) == abs(fitted.grid_.disparity).min()


def test_a_group_without_positives_is_under_no_constraint_among_them():
    X, y, group, _ = people(rows=200)
    y = np.where(group == 0, 0, y)
    fitted = RejectOptionClassifier(
        ReadsScores(), group=0, criterion="equal_opportunity", prefit=True
    ).fit(X, y)
    alone = "Group 0.0 has no rows of class 1, so nothing is required of it there."
    assert fitted.notes_[0] == alone
    assert fitted.choice_.disparity == 0


def test_labels_that_do_not_exist_are_refused():
    X, y, _ = featured()
    with pytest.raises(ValueError, match=r"favorable label 'yes' is not among the labels \[0, 1\]"):
        RejectOptionClassifier(group=0, favorable="yes").fit(X, y)
    with pytest.raises(ValueError, match=r"privileged='men' is none of 0.0, 1.0"):
        RejectOptionClassifier(group=0, privileged="men").fit(X, y)
