"""FairProj: the dual is solved, the primal is met, whatever the classes, groups and weights."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq

from evenhand.mitigation import ProjectionClassifier
from evenhand.mitigation.groups import cell_masses
from evenhand.mitigation.projection import (
    Dual,
    Ratios,
    _newton,
    _quadratic,
    cross_entropy,
    fit_prices,
    project,
    smoothed,
)
from later import Later
from mitigation.people import ReadsScores, people

cvxpy = Later("cvxpy")  # an independent solver for the programs

SIZES = [(2, 2), (3, 2), (3, 4)]


def constraint_rows(p, y, group, criterion, epsilon):
    """G of shape (rows, classes, constraints), written out entry by entry as in the paper."""
    n, classes = p.shape
    columns = []
    for k in range(classes):
        for a in range(group.max() + 1):
            for sign in (1, -1):
                column = np.zeros((n, classes))
                mine = (group == a).astype(float)
                if criterion == "statistical_parity":
                    column[:, k] = sign * (mine / mine.mean() - 1) - epsilon
                else:
                    here, whole = ((group == a) & (y == k)).mean(), (y == k).mean()
                    apart = sign * (mine / here - 1 / whole) - epsilon / whole
                    column[:, k] = p[:, k] * apart
                columns.append(column)
    return np.stack(columns, axis=2)


def dual_by_cvxpy(p, rows, divergence, ridge, as_published):
    """The regularized dual, solved as a cone program with G stored whole."""
    n, classes, count = rows.shape
    multipliers = cvxpy.Variable(count, nonneg=True)
    v = cvxpy.reshape(rows.reshape(n * classes, count) @ multipliers, (n, classes), order="C")
    if divergence == "kl":
        best = cvxpy.sum(cvxpy.log_sum_exp(np.log(p) - v, axis=1))
    else:
        z = cvxpy.Variable((n, 1))
        shifted = v + z @ np.ones((1, classes))
        best = cvxpy.sum(z) - n - cvxpy.sum(cvxpy.multiply(p, cvxpy.log(shifted)))
    pulled = np.log(p) - v if as_published else v
    loss = best / n + ridge / 2 * (cvxpy.sum_squares(pulled) / n + cvxpy.sum_squares(multipliers))
    cvxpy.Problem(cvxpy.Minimize(loss)).solve(solver="CLARABEL")
    if divergence == "kl":
        tilted = p * np.exp(-v.value)
        return tilted / tilted.sum(axis=1, keepdims=True)
    return p / (v.value + z.value)


def ours(p, y, group, criterion, epsilon, weight=None, **how):
    mass = cell_masses(y, group, p.shape[1], group.max() + 1, weight)
    ratios = Ratios.of(criterion, mass, epsilon)
    prices = fit_prices(p.T.copy(), group, ratios, weight, **how)
    return project(p.T.copy(), group, prices, ratios, how.get("divergence", "kl"))


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "groups"), SIZES)
@pytest.mark.parametrize("criterion", ProjectionClassifier.criteria)
@pytest.mark.parametrize("divergence", ["kl", "ce"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_projection_is_that_of_the_dual_solved_by_others(
    classes, groups, criterion, divergence, epsilon
):
    _, y, group, p = people(rows=120, classes=classes, groups=groups)
    rows = constraint_rows(p, y, group, criterion, epsilon)
    theirs = dual_by_cvxpy(p, rows, divergence, 120**-0.5, as_published=False)
    found = ours(p, y, group, criterion, epsilon, divergence=divergence)
    np.testing.assert_allclose(found, theirs, atol=2e-4)


def test_the_published_slip_can_be_had():
    _, y, group, p = people(rows=120)
    rows = constraint_rows(p, y, group, "statistical_parity", 0.05)
    theirs = dual_by_cvxpy(p, rows, "kl", 120**-0.5, as_published=True)
    found = ours(p, y, group, "statistical_parity", 0.05, as_published=True)
    np.testing.assert_allclose(found, theirs, atol=2e-4)
    assert abs(found - ours(p, y, group, "statistical_parity", 0.05)).max() > 1e-3


@pytest.mark.parametrize("criterion", ProjectionClassifier.criteria)
@pytest.mark.parametrize("divergence", ["kl", "ce"])
def test_with_hardly_any_ridge_it_is_the_nearest_point_that_meets_the_constraints(
    criterion, divergence
):
    _, y, group, p = people(rows=100, classes=3, groups=2)
    rows = constraint_rows(p, y, group, criterion, 0.1)
    h = cvxpy.Variable(p.shape, nonneg=True)
    apart = cvxpy.sum(cvxpy.kl_div(h, p) if divergence == "kl" else cvxpy.kl_div(p, h))
    means = [cvxpy.sum(cvxpy.multiply(rows[:, :, j], h)) <= 0 for j in range(rows.shape[2])]
    cvxpy.Problem(cvxpy.Minimize(apart), [cvxpy.sum(h, axis=1) == 1, *means]).solve(
        solver="CLARABEL"
    )
    found = ours(p, y, group, criterion, 0.1, divergence=divergence, ridge=1e-9)
    np.testing.assert_allclose(found, h.value, atol=2e-4)
    assert np.einsum("iyj,iy->j", rows, found).max() / 100 < 1e-6


@pytest.mark.parametrize("divergence", ["kl", "ce"])
@pytest.mark.parametrize("criterion", ProjectionClassifier.criteria)
def test_slope_and_curvature_are_those_of_finite_differences(divergence, criterion):
    _, y, group, p = people(rows=60, classes=3, groups=3)
    order = np.argsort(group)
    ratios = Ratios.of(criterion, cell_masses(y, group, 3, 3), 0.1)
    weight = np.random.default_rng(0).dirichlet(np.ones(60))
    dual = Dual(p[order].T.copy(), group[order], weight, ratios, divergence, 0.1, False)
    at = np.random.default_rng(1).random((2, 3, 3)) / 20
    here = dual.expand(at)
    slope = approx_fprime(at.ravel(), lambda x: dual.expand(x.reshape(at.shape)).value, 1e-7)
    np.testing.assert_allclose(here.gradient.ravel(), slope, atol=1e-5)
    towards = np.random.default_rng(2).normal(size=at.shape)
    bent = np.einsum("yza,za->ya", here.by_price, ratios.prices(towards))
    curved = ratios.multiplied(bent) + 0.1 * towards
    moved = [dual.expand(at + step * towards).gradient for step in (1e-5, -1e-5)]
    np.testing.assert_allclose(curved, (moved[0] - moved[1]) / 2e-5, rtol=1e-4, atol=1e-5)


def test_the_quadratic_and_newton_find_the_root_a_bracketing_search_finds():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.3, 0.3], 50).T.clip(1e-4)
    p /= p.sum(axis=0)
    v = rng.normal(size=p.shape) * 3
    exact = [
        brentq(lambda z, i=i: (p[:, i] / (z + v[:, i])).sum() - 1, 1e-9 - v[:, i].min(), 100.0)
        for i in range(50)
    ]
    np.testing.assert_allclose(_quadratic(p, v), exact, atol=1e-8)
    np.testing.assert_allclose(_newton(p, v), exact, atol=1e-8)
    np.testing.assert_allclose(cross_entropy(p, v)[1].sum(axis=0), 1)


@pytest.mark.parametrize("divergence", ["kl", "ce"])
def test_whole_weights_are_repeated_rows(divergence):
    _, y, group, p = people(rows=80, classes=3)
    times = np.random.default_rng(0).integers(1, 4, 80)
    again = np.repeat(np.arange(80), times)
    weighted = ours(
        p, y, group, "statistical_parity", 0.05, times.astype(float), divergence=divergence
    )
    longer = ours(
        p[again], y[again], group[again], "statistical_parity", 0.05, divergence=divergence
    )
    np.testing.assert_allclose(weighted[again], longer, atol=1e-8)


@pytest.mark.parametrize("divergence", ["kl", "ce"])
def test_a_loose_bound_leaves_the_probabilities_alone(divergence):
    X, y, _, p = people(rows=100, gap=0.2)
    fitted = ProjectionClassifier(
        ReadsScores(), group=0, epsilon=1.0, divergence=divergence, prefit=True
    ).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X), smoothed(p).T)
    assert (fitted.predict(X) == p.argmax(axis=1)).all()


def test_a_group_without_a_class_is_under_no_constraint_there():
    X, y, group, _ = people(rows=400, classes=3, groups=3)
    y = np.where((group == 2) & (y == 1), 0, y)
    fitted = ProjectionClassifier(
        ReadsScores((0, 1, 2)), group=0, criterion="mean_equalized_odds", epsilon=0, prefit=True
    ).fit(X, y)
    assert fitted.notes_ == (
        "Group 2.0 has no rows of class 1, so nothing is required of it there.",
    )
    assert np.isfinite(fitted.predict_proba(X)).all()


@pytest.mark.slow
def test_the_paper_s_grid_brings_expected_rates_together_monotonically():
    X, y, group, _ = people(rows=2000, classes=3, groups=3)
    gaps = []
    for epsilon in (1.0, 0.3, 0.1, 0.01, 0.0):
        fitted = ProjectionClassifier(
            ReadsScores((0, 1, 2)), group=0, epsilon=epsilon, regularization=1e-6, prefit=True
        ).fit(X, y)
        chances = fitted.predict_proba(X)
        rates = np.array([chances[group == a].mean(axis=0) for a in range(3)])
        gaps.append(abs(rates / chances.mean(axis=0) - 1).max())
        assert gaps[-1] <= epsilon + 1e-4
    assert gaps == sorted(gaps, reverse=True)


def test_string_labels_and_drawn_labels():
    X, y, _, _ = people(rows=200, classes=3)
    names = np.array(["high", "low", "middle"])
    fitted = ProjectionClassifier(
        ReadsScores(tuple(names)), group=0, prefit=True, draw=True, random_state=0
    ).fit(X, names[y])
    assert set(fitted.predict(X)) == set(names)
    assert (fitted.predict(X) == fitted.predict(X)).all()


def test_an_unseen_group_is_refused_or_gets_the_base_decision():
    X, y, _, _ = people(rows=100)
    stranger = np.array([[7.0, 0.3, 0.7]])
    fitted = ProjectionClassifier(ReadsScores(), group=0, prefit=True).fit(X, y)
    with pytest.raises(ValueError, match=r"not seen at fit: 7.*seen: 0.*1"):
        fitted.predict(stranger)
    assert fitted.set_params(unseen="base").predict_proba(stranger).tolist() == [[0.0, 1.0]]


def test_other_constraints_and_divergences_are_refused():
    X, y, _, _ = people()
    with pytest.raises(ValueError, match=r"cannot meet the criterion 'equalized_odds'.*can\."):
        ProjectionClassifier(group=0, criterion="equalized_odds").fit(X, y)
    with pytest.raises(ValueError, match="'kl' or 'ce', not 'tv'"):
        ProjectionClassifier(group=0, divergence="tv").fit(X, y)
