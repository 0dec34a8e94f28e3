"""EqOdds: equal odds exactly, at the best point all groups can reach."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import evaluate, tally
from evenhand.mitigation import EqualizedOddsClassifier
from evenhand.mitigation.equalized_odds import equalizing_chances
from mitigation.aif import GROUPS, dataset
from mitigation.people import ReadsScores, people


def rates(mass, chances):
    """P(new label 1 | truth, group)."""
    share = mass / mass.sum(axis=1, keepdims=True)
    return np.einsum("yla,al->ya", share, chances)


def best_common_point(mass):
    """The largest TPR − FPR in the intersection of the groups' parallelograms, by its corners."""
    fpr, tpr = (mass / mass.sum(axis=1, keepdims=True))[:, 1]
    sides = []
    for f, t in zip(fpr, tpr, strict=True):
        corners = np.array([[0, 0], [f, t], [1, 1], [1 - f, 1 - t]])
        middle = corners.mean(axis=0)
        for one, two in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            normal = np.array([two[1] - one[1], one[0] - two[0]])
            normal = normal if normal @ (middle - one) <= 0 else -normal
            sides.append((normal, normal @ one))
    best = 0.0  # the diagonal is in every parallelogram
    for (n, b), (m, c) in combinations(sides, 2):
        if abs(n[0] * m[1] - n[1] * m[0]) > 1e-12:
            point = np.linalg.solve([n, m], [b, c])
            if all(normal @ point <= bound + 1e-9 for normal, bound in sides):
                best = max(best, point[1] - point[0])
    return best


@pytest.mark.slow
@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_odds_are_equal_at_the_best_corner_of_the_intersection(groups, seed):
    mass = np.random.default_rng(seed).integers(1, 30, (2, 2, groups)).astype(float)
    chances = equalizing_chances(mass)[0]
    assert ((chances >= 0) & (chances <= 1)).all()
    fpr, tpr = rates(mass, chances)
    np.testing.assert_allclose(np.ptp(fpr), 0, atol=1e-7)
    np.testing.assert_allclose(np.ptp(tpr), 0, atol=1e-7)
    assert tpr[0] - fpr[0] == pytest.approx(best_common_point(mass), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_chances_are_those_of_aif360(seed):
    _, y, group, p = people(rows=400, seed=seed)
    data, scored = dataset(y, group), dataset(y, group, p[:, 1])
    from aif360.algorithms.postprocessing import EqOddsPostprocessing

    theirs = EqOddsPostprocessing(**GROUPS).fit(data, scored).model_params.x
    mass = np.zeros((2, 2, 2))
    np.add.at(mass, (y, (p[:, 1] >= 0.5).astype(int), group), 1)
    kept, raised = equalizing_chances(mass)[0][:, ::-1].T
    np.testing.assert_allclose([kept[1], raised[1], kept[0], raised[0]], theirs, atol=1e-6)


def test_accuracy_is_never_lower_when_it_is_the_objective():
    _, y, group, p = people(rows=400, seed=1)
    mass = np.zeros((2, 2, 2))
    np.add.at(mass, (y, (p[:, 1] > 0.6).astype(int), group), np.where(y == 1, 1, 9))

    def accuracy(chances):
        fpr, tpr = rates(mass, chances)
        return ((1 - fpr) * mass[0].sum(axis=0) + tpr * mass[1].sum(axis=0)).sum() / mass.sum()

    balanced, accurate = (
        equalizing_chances(mass, objective)[0] for objective in ("balanced_accuracy", "accuracy")
    )
    assert accuracy(accurate) > accuracy(balanced)
    np.testing.assert_allclose(np.ptp(rates(mass, accurate), axis=1), 0, atol=1e-7)


@pytest.mark.slow
def test_expected_odds_are_equal_on_the_fitting_rows():
    X, y, group, _ = people(rows=300, groups=3)
    names = np.array(["no", "yes"])
    fitted = EqualizedOddsClassifier(
        ReadsScores(("no", "yes")), group=0, prefit=True, random_state=0
    ).fit(X, names[y])
    chances = fitted.predict_proba(X)
    counts = tally(names[y], chances, classes=fitted.classes_, sensitive_features=group)
    assert evaluate("equalized_odds", counts, measure="mpd") < 1e-7
    many = np.mean([fitted.set_params(random_state=i).predict(X) == "yes" for i in range(400)], 0)
    assert abs(many - chances[:, 1]).max() < 0.12


def test_a_useless_group_brings_everyone_to_the_diagonal_with_the_fewest_changes():
    """At level c of the diagonal, 9 − 2c labels of group 0 change and 10 |1 − 2c| of group 1."""
    mass = np.array([[[6, 5], [2, 5]], [[1, 5], [7, 5]]], dtype=float)
    np.testing.assert_allclose(equalizing_chances(mass)[0], [[0.5, 0.5], [0, 1]], atol=1e-6)


def test_a_group_without_positives_is_only_asked_for_its_false_positives():
    X, y, group, _ = people(rows=300)
    y = np.where(group == 0, 0, y)
    fitted = EqualizedOddsClassifier(ReadsScores(), group=0, prefit=True).fit(X, y)
    chance = fitted.predict_proba(X)[:, 1]
    false_alarms = [chance[(group == a) & (y == 0)].mean() for a in (0, 1)]
    assert false_alarms[0] == pytest.approx(false_alarms[1], abs=1e-7)
    assert fitted.notes_ == (
        "Group 0.0 has no rows of class 1, so nothing is required of it there.",
    )


def test_an_unknown_objective_is_refused():
    X, y, _, _ = people()
    with pytest.raises(ValueError, match="'balanced_accuracy' or 'accuracy', not 'f1'"):
        EqualizedOddsClassifier(group=0, objective="f1").fit(X, y)
