"""CalEqOdds: the cheaper group pays until costs are equal, and not beyond."""

import numpy as np
import pytest

from evenhand.mitigation import CalibratedOddsClassifier
from evenhand.mitigation.calibrated_odds import COSTS, withholding
from mitigation.aif import GROUPS, dataset
from mitigation.people import ReadsScores, people


def fitted(X, y, **how):
    return CalibratedOddsClassifier(ReadsScores(), group=0, prefit=True, **how).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("seed", range(4))
def test_the_chances_are_those_of_aif360_kept_to_0_and_1(cost, seed):
    X, y, group, p = people(rows=400, seed=seed)
    data, scored = dataset(y, group), dataset(y, group, p[:, 1])
    from aif360.algorithms.postprocessing import CalibratedEqOddsPostprocessing

    theirs = CalibratedEqOddsPostprocessing(**GROUPS, cost_constraint=cost).fit(data, scored)
    expected = np.clip([theirs.unpriv_mix_rate, theirs.priv_mix_rate], 0, 1)
    np.testing.assert_allclose(fitted(X, y, criterion=cost).withheld_, expected, atol=1e-12)


@pytest.mark.parametrize("cost", COSTS)
def test_expected_costs_are_equal_after_withholding(cost):
    X, y, group, p = people(rows=400, seed=2, gap=0.2)
    made = fitted(X, y, criterion=cost)
    assert 0 < made.withheld_.max() < 1
    mixed = p[:, 1] + made.withheld_[group] * (made.base_rates_[group] - p[:, 1])
    costs = []
    for a in (0, 1):
        of_negatives = mixed[(group == a) & (y == 0)].mean()
        of_positives = 1 - mixed[(group == a) & (y == 1)].mean()
        rate = y[group == a].mean()
        both = 0.5 * (of_negatives * (1 - rate) + of_positives * rate)
        costs.append({"weighted": both, "fpr": of_negatives, "fnr": of_positives}[cost])
    assert costs[0] == pytest.approx(costs[1])


def test_the_decision_is_by_lot_between_the_score_and_the_base_rate():
    X, y, group, p = people(rows=400, seed=2, gap=0.2)
    made = fitted(X, y, criterion="fnr")
    chance = made.predict_proba(X)[:, 1]
    for a in (0, 1):
        alone, rate = made.withheld_[a], made.base_rates_[a] >= 0.5
        np.testing.assert_allclose(
            chance[group == a], np.where(p[group == a, 1] >= 0.5, 1 - alone, 0) + alone * rate
        )


def test_a_cost_beyond_the_trivial_predictor_is_withheld_fully_and_noted():
    scores = np.array([[0.9, 0.1], [0.2, 0.8]])[[0, 1, 0, 1, 0, 1]]
    bad = np.array([[0.05, 0.95], [0.95, 0.05]])[[0, 1, 0, 1, 0, 1]]
    X = np.column_stack([np.repeat([0, 1], 6), np.vstack([scores, bad])])
    made = fitted(X, np.tile([0, 1], 6))
    assert made.withheld_.tolist() == [1.0, 0.0]
    assert made.notes_ == ("Even withholding all scores of group 0.0 leaves its cost lower.",)


def test_no_better_than_trivial_means_nothing_to_withhold():
    half = np.full((8, 2), 0.5)
    X = np.column_stack([np.repeat([0, 1], 4), half])
    assert fitted(X, np.tile([0, 1], 4)).withheld_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("cost", COSTS)
def test_a_group_without_positives_is_no_obstacle(cost):
    X, y, group, _ = people(rows=300)
    made = fitted(X, np.where(group == 0, 0, y), criterion=cost)
    assert np.isfinite(made.predict_proba(X)).all()
    assert "Group 0.0 has no rows of class 1" in made.notes_[0]
    assert cost != "fnr" or not made.withheld_.any()


def test_weights_count_as_rows():
    mass, score = np.array([[6, 5], [4, 5]]), np.array([[1.2, 2.0], [3.2, 3.0]])
    np.testing.assert_allclose(withholding(mass, score), withholding(3 * mass, 3 * score))


def test_three_classes_are_refused_with_the_methods_that_take_them():
    X, y, _, _ = people(classes=3)
    with pytest.raises(ValueError, match=r"3 classes \(0, 1, 2\).*ProjectionClassifier"):
        CalibratedOddsClassifier(group=0).fit(X, y)


def test_three_groups_are_refused_with_the_methods_that_take_them():
    X, y, _, _ = people(groups=3)
    with pytest.raises(ValueError, match=r"3 groups.*EqualizedOddsClassifier"):
        CalibratedOddsClassifier(group=0).fit(X, y)


def test_an_unknown_cost_is_refused():
    X, y, _, _ = people()
    with pytest.raises(ValueError, match="only 'weighted', 'fpr', 'fnr'"):
        CalibratedOddsClassifier(group=0, criterion="ppv").fit(X, y)
