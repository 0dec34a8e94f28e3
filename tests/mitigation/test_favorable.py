"""Which label is the favorable one: asked for where it matters, and nowhere else."""

import numpy as np
import pytest

from evenhand.mitigation import (
    CalibratedOddsClassifier,
    LabelFlippingClassifier,
    LinearPostClassifier,
    RateConstrainedClassifier,
    ReductionClassifier,
    RejectOptionClassifier,
)
from mitigation.people import featured

MATTERS = [
    (CalibratedOddsClassifier, "fpr"),
    (CalibratedOddsClassifier, "fnr"),
    (LabelFlippingClassifier, "equal_opportunity"),
    (LabelFlippingClassifier, "predictive_equality"),
    (LinearPostClassifier, "equal_opportunity"),
    (RateConstrainedClassifier, "predictive_equality"),
    (ReductionClassifier, "equal_opportunity"),
    (ReductionClassifier, "predictive_equality"),
    (RejectOptionClassifier, "equal_opportunity"),
]
INDIFFERENT = [
    (CalibratedOddsClassifier, "weighted"),
    (LabelFlippingClassifier, "statistical_parity"),
    (LinearPostClassifier, "statistical_parity"),
    (ReductionClassifier, "statistical_parity"),
    (ReductionClassifier, "equalized_odds"),
    (RejectOptionClassifier, "statistical_parity"),
    (RejectOptionClassifier, "average_odds"),
]


@pytest.mark.parametrize(("estimator", "criterion"), MATTERS)
def test_it_is_asked_for_where_it_matters(estimator, criterion):
    X, y, _ = featured(rows=150)
    names = np.array(["no", "yes"])[y]
    with pytest.raises(ValueError, match=r"Which of the labels \['no', 'yes'\].*favorable="):
        estimator(group=0, criterion=criterion).fit(X, names)


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "criterion"), MATTERS)
def test_other_names_for_the_labels_change_nothing(estimator, criterion):
    X, y, _ = featured(rows=150)
    numbers = estimator(group=0, criterion=criterion).fit(X, y)
    for names in (["no", "yes"], ["yes", "no"]):
        renamed = estimator(group=0, criterion=criterion, favorable=names[1])
        renamed.fit(X, np.array(names)[y])
        place = renamed.classes_.tolist().index(names[1])
        np.testing.assert_allclose(
            renamed.predict_proba(X)[:, place], numbers.predict_proba(X)[:, 1], atol=1e-6
        )


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "criterion"), INDIFFERENT)
def test_where_it_does_not_matter_both_answers_are_one(estimator, criterion):
    X, y, _ = featured(rows=150)
    names = np.array(["no", "yes"])[y]
    models = [
        estimator(group=0, criterion=criterion, favorable=label).fit(X, names)
        for label in (None, "no", "yes")
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.predict_proba(X), models[0].predict_proba(X), atol=1e-6)
