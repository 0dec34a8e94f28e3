"""FairRR: the flips make the fair Bayes classifier, and no more of them than needed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from evenhand import UnboundWarning
from evenhand.mitigation import LabelFlippingClassifier
from evenhand.mitigation.label_flipping import RULES, Flips, thresholds
from mitigation.people import featured

AMONG = {"statistical_parity": (0, 1), "equal_opportunity": (1,), "predictive_equality": (0,)}


def disparity(predicted, y, group, criterion):
    asked = np.isin(y, AMONG[criterion])
    return np.ptp([predicted[asked & (group == a)].mean() for a in (0, 1)])


@pytest.mark.slow
@given(st.floats(0.01, 0.99), st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_cut_of_the_flipped_chances_at_one_half_is_a_cut_at_the_threshold(eta, down, up):
    """A flipped label is 1 with chance η (1 − down), or with η + (1 − η) up."""
    ahead, behind = thresholds(Flips(down, up))
    if abs(eta - ahead) > 1e-9:
        assert (eta * (1 - down) > 0.5) == (eta > ahead)
    if abs(eta - behind) > 1e-9:
        assert (eta + (1 - eta) * up > 0.5) == (eta > behind)


@pytest.mark.slow
@given(st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_the_thresholds_are_those_of_the_fair_bayes_classifier(strength, seed):
    """For parity they are ½ ± t / 2P(a); given the truth, they follow from a Lagrangian."""
    share = np.random.default_rng(seed).dirichlet(np.full(4, 5.0)).reshape(2, 2)
    for name, rule in RULES.items():
        t = strength * rule.most(share)
        flips = rule.flips(t, share)
        assert max(flips) <= 0.5 + 1e-12
        found = thresholds(flips)
        for column, sign, threshold in zip((0, 1), (1, -1), found, strict=True):
            tied = {
                "statistical_parity": 0.5 + sign * t / (2 * share[:, column].sum()),
                "equal_opportunity": 1 / (2 - sign * t / share[1, column]),
                "predictive_equality": _cut_among_negatives(sign * t / share[0, column]),
            }
            assert threshold == pytest.approx(tied[name], abs=1e-9)


def _cut_among_negatives(lean):
    """Where 2η − 1 = lean (1 − η)."""
    return (1 + lean) / (2 + lean)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", RULES)
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.12])
def test_the_disparity_on_the_fitting_rows_is_at_most_delta(criterion, epsilon):
    X, y, group = featured(rows=4000)
    fitted = LabelFlippingClassifier(group=0, criterion=criterion, epsilon=epsilon).fit(X, y)
    found = disparity(fitted.predict(X), y, group, criterion)
    assert found <= epsilon + 2e-3
    assert (found > epsilon) == any("No strength" in note for note in fitted.notes_)
    if epsilon:
        assert found > epsilon - 0.02  # no more than needed


def test_a_level_above_the_base_model_s_leaves_it_alone():
    X, y, _ = featured()
    fitted = LabelFlippingClassifier(LogisticRegression(), group=0, epsilon=0.9)
    with pytest.warns(UnboundWarning, match="changes nothing"):
        fitted.fit(X, y)
    base = LogisticRegression().fit(X, y)
    assert fitted.strength_ == 0
    np.testing.assert_allclose(fitted.predict_proba(X), base.predict_proba(X), atol=1e-6)


@pytest.mark.slow
def test_names_of_groups_and_labels_do_not_matter():
    X, y, _ = featured(rows=1500)
    base = LogisticRegression(tol=1e-10, max_iter=5000)
    swapped = X.copy()
    swapped[:, 0] = 1 - X[:, 0]
    one = LabelFlippingClassifier(base, group=0, sees_group=False).fit(X, y)
    two = LabelFlippingClassifier(base, group=0, sees_group=False).fit(swapped, y)
    assert one.strength_ == two.strength_
    assert (one.predict(X) == two.predict(swapped)).all()
    names = np.array(["yes", "no"])  # sorted the other way round
    other = LabelFlippingClassifier(base, group=0, sees_group=False).fit(X, names[y])
    assert np.mean(other.predict(X) == names[one.predict(X)]) > 0.99


@pytest.mark.slow
def test_flipping_by_lot_is_seeded_and_near_what_is_expected():
    X, y, _ = featured(rows=4000)
    how = {"group": 0, "epsilon": 0.05, "flips": "drawn"}
    one, again, other = (
        LabelFlippingClassifier(random_state=seed, **how).fit(X, y).predict_proba(X)
        for seed in (0, 0, 1)
    )
    assert (one == again).all()
    assert (one != other).any()
    expected = LabelFlippingClassifier(group=0, epsilon=0.05).fit(X, y).predict_proba(X)
    assert abs(one - expected).mean() < 0.05


@pytest.mark.slow
def test_it_works_with_trees_pipelines_frames_and_weights():
    pd = pytest.importorskip("pandas")
    X, y, group = featured(rows=1500)
    frame = pd.DataFrame(X, columns=["sex", "a", "b", "c"])
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    fitted = LabelFlippingClassifier(tree, group="sex", epsilon=0.1)
    fitted.fit(frame, y, sample_weight=np.ones(1500))
    assert disparity(fitted.predict(frame), y, group, "statistical_parity") < 0.2


def test_a_group_without_positives_leaves_equal_opportunity_without_a_question():
    X, y, group = featured()
    y = np.where(group == 0, 0, y)
    fitted = LabelFlippingClassifier(group=0, criterion="equal_opportunity").fit(X, y)
    assert fitted.strength_ == 0
    assert "Group 0.0 has no rows of class 1" in fitted.notes_[0]


def test_equalized_odds_is_refused_with_the_methods_that_can():
    X, y, _ = featured()
    with pytest.raises(ValueError, match=r"'equalized_odds', only.*ReductionClassifier.* can\."):
        LabelFlippingClassifier(group=0, criterion="equalized_odds").fit(X, y)
    with pytest.raises(ValueError, match="'expected' or 'drawn', not 'never'"):
        LabelFlippingClassifier(group=0, flips="never").fit(X, y)
