"""Reduction: the lottery is that of fairlearn, and of a linear program where one can be written."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, linprog
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from evenhand.datasets import load, split
from evenhand.mitigation import ReductionClassifier
from evenhand.mitigation.base_models import Refitting
from evenhand.mitigation.reduction import EVENTS, ReductionGame, ReductionProblem
from mitigation.people import featured, people

reductions = pytest.importorskip("fairlearn.reductions")

MOMENTS = {
    "statistical_parity": reductions.DemographicParity,
    "equalized_odds": reductions.EqualizedOdds,
    "equal_opportunity": reductions.TruePositiveRateParity,
    "predictive_equality": reductions.FalsePositiveRateParity,
}


def gaps(chance, y, group):
    """Expected accuracy, and the largest differences of SP and EO between the groups."""
    accuracy = np.where(y == 1, chance, 1 - chance).mean()
    events = [np.full(len(y), True), y == 0, y == 1]
    parity, *odds = (
        np.ptp([chance[event & (group == a)].mean() for a in np.unique(group)]) for event in events
    )
    return np.array([accuracy, parity, max(odds)])


def by_fairlearn(base, criterion, X, y, group, bound=0.01, **how):
    moment = MOMENTS[criterion](difference_bound=bound)
    fitted = reductions.ExponentiatedGradient(base, moment, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it grows pandas series in a deprecated way
        return fitted.fit(X, y, sensitive_features=group)._pmf_predict(X)[:, 1]


@pytest.mark.slow
@pytest.mark.parametrize("criterion", EVENTS)
def test_the_lottery_is_that_of_fairlearn(criterion):
    X, y, group = featured(rows=1000)
    base = LogisticRegression(max_iter=1000)
    theirs = by_fairlearn(base, criterion, X, y, group, bound=0.02)
    ours = ReductionClassifier(base, group=0, criterion=criterion, epsilon=0.02)
    chance = ours.fit(X, y).predict_proba(X)[:, 1]
    which = [0, 1] if criterion == "statistical_parity" else [0, 2]
    ours_and_theirs = gaps(chance, y, group)[which], gaps(theirs, y, group)[which]
    np.testing.assert_allclose(*ours_and_theirs, atol=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["statistical_parity", "equalized_odds"])
def test_on_adult_the_lottery_is_that_of_fairlearn(criterion):
    pd = pytest.importorskip("pandas")
    parts = split(load("adult"), seed=0).normalized()
    X = pd.get_dummies(parts.X_train, dtype=float)[:2000]
    group = X["sex_Male"].to_numpy()
    y = parts.y_train.to_numpy()[:2000]
    base = LogisticRegression(max_iter=1000)
    theirs = by_fairlearn(base, criterion, X.to_numpy(), y, group)
    ours = ReductionClassifier(base, group="sex_Male", criterion=criterion).fit(X, y)
    which = [0, 1] if criterion == "statistical_parity" else [0, 2]
    chance = ours.predict_proba(X)[:, 1]
    np.testing.assert_allclose(
        gaps(chance, y, group)[which], gaps(theirs, y, group)[which], atol=0.005
    )


@pytest.mark.slow
@given(st.sampled_from(sorted(EVENTS)), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_costs_are_the_slope_of_error_plus_multipliers_times_excess(name, groups, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(2 * groups)).reshape(2, groups)
    problem = ReductionProblem(shares, EVENTS[name], 0.01)
    multipliers = rng.random(problem.constraints)

    def lagrangian(flat):
        accepted = flat.reshape(shares.shape)
        return problem.error(accepted) + multipliers @ problem.excess(accepted)

    slope = approx_fprime(shares.ravel() / 2, lagrangian, 1e-6)
    np.testing.assert_allclose(problem.costs(multipliers).ravel(), slope, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(
        problem.costs(problem.netted(multipliers)), problem.costs(multipliers)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("seed", range(3))
def test_with_exact_answers_the_game_ends_at_the_best_lottery_of_all(name, seed):
    """With a few classifiers to choose from, the best lottery is a linear program."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(6)).reshape(2, 3)
    tables = shares * np.concatenate([rng.random((6, 2, 3)), np.zeros((1, 2, 3))])
    problem, budget = ReductionProblem(shares, EVENTS[name], 0.02), 20.0
    best = linprog(
        np.append(problem.error(tables), budget),
        A_ub=np.column_stack([problem.excess(tables).T, -np.ones(problem.constraints)]),
        b_ub=np.zeros(problem.constraints),
        A_eq=[[1.0] * 7 + [0.0]],
        b_eq=1.0,
    )
    game = ReductionGame(
        problem, lambda costs, _: (None, min(tables, key=lambda t: (t * costs).sum())), 20
    )
    lottery = game.play(50, rows=1e12)
    mixed = np.tensordot(lottery.chances, game.accepted[: len(lottery.chances)], axes=1)
    assert lottery.gap < 1e-6
    assert problem.error(mixed) + budget * max(problem.excess(mixed).max(), 0) == pytest.approx(
        best.fun, abs=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["statistical_parity", "equalized_odds"])
@pytest.mark.parametrize("softness", [1e-4, 500.0])
def test_the_ends_of_the_paper_s_grid_do_not_overflow(criterion, softness):
    X, y, group = featured(rows=400)
    fitted = ReductionClassifier(group=0, criterion=criterion, softness=softness).fit(X, y)
    found = gaps(fitted.predict_proba(X)[:, 1], y, group)
    free = gaps(LogisticRegression(max_iter=1000).fit(X, y).predict(X), y, group)
    which = list(MOMENTS).index(criterion) + 1
    if softness == 500.0:  # there the criterion costs nothing
        assert found[0] >= free[0] - 0.005
    else:
        assert found[which] < free[which] / 2


@pytest.mark.slow
def test_the_bound_is_met_by_any_base_model():
    X, y, group = featured(rows=800)
    base = DecisionTreeClassifier(max_depth=4, random_state=0)
    for bound in (0.01, 0.05):
        fitted = ReductionClassifier(base, group=0, epsilon=bound).fit(X, y)
        chance = fitted.predict_proba(X)[:, 1]
        rates = [chance[group == a].mean() for a in (0, 1)]
        assert max(abs(rates - chance.mean())) <= bound + 0.002
        assert fitted.chances_.sum() == pytest.approx(1)


@pytest.mark.slow
def test_whole_weights_are_repeated_rows():
    X, y, _ = featured(rows=300)
    times = np.random.default_rng(0).integers(1, 3, 300)
    again = np.repeat(np.arange(300), times)
    base = DecisionTreeClassifier(max_depth=3, random_state=0)
    weighted = ReductionClassifier(base, group=0).fit(X, y, sample_weight=times)
    longer = ReductionClassifier(base, group=0).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.predict_proba(X), longer.predict_proba(X), atol=1e-6)


@pytest.mark.slow
def test_three_groups_one_without_positives():
    X, y, group, _ = people(rows=450, groups=3)
    y = np.where(group == 1, 0, y)
    fitted = ReductionClassifier(group=0, criterion="equalized_odds").fit(X, y)
    assert fitted.notes_ == (
        "Group 1.0 has no rows of class 1, so nothing is required of it there.",
    )
    assert np.isfinite(fitted.predict_proba(X)).all()


@pytest.mark.slow
def test_a_pipeline_s_transformers_are_fitted_once_and_give_the_same_lottery():
    X, y, group = featured(rows=600)
    plain = ReductionClassifier(LogisticRegression(max_iter=1000), group=0)
    piped = ReductionClassifier(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, C=1e6)), group=0
    )
    one, two = (
        gaps(fitted.fit(X, y).predict_proba(X)[:, 1], y, group) for fitted in (plain, piped)
    )
    np.testing.assert_allclose(one[:2], two[:2], atol=0.01)
    assert [name for name, _ in piped.estimators_[0].steps] == ["standardscaler", "model"]


def test_a_sparse_and_warm_fit_is_the_plain_fit():
    rng = np.random.default_rng(0)
    X = (rng.random((500, 20)) < 0.1).astype(float)
    y = (X @ rng.normal(size=20) + rng.normal(size=500) > 0).astype(int)
    weight = rng.random(500)
    base = LogisticRegression(tol=1e-10, max_iter=5000)
    refitting = Refitting.prepare(base, X, y)
    start = refitting.fit(1 - y, np.ones(500))
    warm = refitting.fit(y, weight, start)
    plain = base.fit(X, y, sample_weight=weight)
    assert not isinstance(refitting.X, np.ndarray)
    np.testing.assert_allclose(warm.coef_, plain.coef_, atol=1e-6)
    assert warm.warm_start is False


def test_rows_alike_are_one_row_of_their_weight_for_logistic_regression_only():
    X = np.array([[1.0, 0, 2], [0, 1, 0], [1, 0, 2], [1, 0, 2]])
    kind = np.array([0, 1, 0, 1])
    first, member = Refitting.prepare(LogisticRegression(), X, kind).alike(kind)
    assert sorted(first) == [0, 1, 3]
    assert member[0] == member[2] != member[3]
    first, member = Refitting.prepare(DecisionTreeClassifier(), X, kind).alike(kind)
    assert len(first) == len(set(member)) == 4


@pytest.mark.slow
def test_merging_rows_alike_changes_nothing():
    X, y, _ = featured(rows=200)
    X = X.round()
    base = LogisticRegression(tol=1e-9, max_iter=5000)
    merged = ReductionClassifier(base, group=0).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Refitting, "alike", lambda self, kind: (np.arange(200), np.arange(200)))
        apart = ReductionClassifier(base, group=0).fit(X, y)
    np.testing.assert_allclose(merged.predict_proba(X), apart.predict_proba(X), atol=1e-4)


def test_labels_that_are_the_groups_leave_nothing_at_stake_and_no_crash():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 8, axis=0)
    fitted = ReductionClassifier(group=0).fit(X, np.repeat([0, 1], 8))
    chance = fitted.predict_proba(X)[:, 1]
    assert abs(chance[:8].mean() - chance[8:].mean()) <= 0.02 + 1e-9


def test_a_model_without_sample_weights_is_refused():
    from sklearn.neighbors import KNeighborsClassifier

    X, y, _ = featured(rows=100)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample weights"):
        ReductionClassifier(KNeighborsClassifier(), group=0).fit(X, y)
