"""Searches of geometry, paths and pairs beside brute force, general solvers and hand arithmetic."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq, minimize
from scipy.stats import chi2, ncx2, norm

import evenhand as eh
from evenhand._uncertainty.curves import DISTANCES, rate_curves
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.geometry import (
    Cloud,
    EvennessSearch,
    _nearest,
    _priced,
    _relaxed,
    _stacked,
    _typical,
    clipped,
    curved_tail,
    evenest,
    fused,
    located_at_once,
    lower_limit,
    most_uneven,
    shrunk,
    upper_limit,
    upper_limits,
)
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.paired import (
    BOX,
    Sample,
    _p_value,
    _read,
    _with_error,
    correlated,
    difference,
    most_uneven_within,
    reach_of,
)
from evenhand._uncertainty.paths import Path, _as_normal, path_of
from evenhand._uncertainty.paths import _priced as priced_path

MEASURES = ("mpd", "gini", "pq", "shortfall")
GINI, PQ = eh.MEASURES["gini"], eh.MEASURES["pq"]
MPD, SHORTFALL = eh.MEASURES["mpd"], eh.MEASURES["shortfall"]


def straight(values, errors):
    """Groups whose curves are lines: every value is normal with its standard error."""
    values, errors = np.asarray(values, float), np.broadcast_to(errors, np.shape(values))
    return Cloud(values, values + errors * DISTANCES[:, None])


def sphere(groups, number, seed=0):
    """Directions of length 1."""
    points = np.random.default_rng(seed).standard_normal((number, groups))
    return points / np.sqrt((points**2).sum(axis=1, keepdims=True))


# Extremes between bounds


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(8))
def test_the_most_uneven_values_are_at_corners_of_their_bounds(measure, seed):
    rng, function = np.random.default_rng(seed), eh.MEASURES[measure]
    low = rng.random(5)
    high = low + rng.random(5) * rng.integers(0, 2, 5)
    if seed == 0:  # one group is both the highest and the lowest that can be
        low, high = np.array([0.4, 0.1, 0.45, 0.5, 0.42]), np.array([0.5, 0.9, 0.6, 0.55, 0.43])
    ends = zip(low, high, strict=True)
    expected = max(float(function(np.array(corner))) for corner in product(*ends))
    assert most_uneven(low, high, function) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_bounds_that_share_a_value_may_be_even_and_others_are_not(measure):
    function = eh.MEASURES[measure]
    low, high = np.array([0.1, 0.5, 0.3]), np.array([0.5, 0.6, 0.9])
    assert evenest(low, high, function) == 0.0
    least = evenest(low, high - [0.1, 0.0, 0.0], function)
    assert least == pytest.approx(float(function(np.array([0.4, 0.5, 0.45]))), rel=0.2)
    assert least > 0


def highest_ratio(low, high):
    """The largest Σx² / (Σx)² on the lines between corners, on a fine grid."""
    order = np.argsort(-(low + high))
    corners = [np.where(np.isin(np.arange(len(low)), order[:k]), high, low) for k in range(16)]
    sums = np.array([corner.sum() for corner in corners])
    squares = np.array([(corner**2).sum() for corner in corners])
    grid = np.unique(np.concatenate([sums, np.linspace(sums[0], sums[-1], 200_001)]))
    return min(float((np.interp(grid, sums, squares) / grid**2).max()), 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_many_groups_is_the_largest_ratio_on_lines_between_corners(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0.1, 0.5, 15)
    high = low + rng.uniform(0.0, [0.02, 0.4, 3.0][seed % 3], 15)
    if seed == 5:
        low, high = np.full(15, 0.3), np.append(np.full(14, 0.3), 0.9)
    share = highest_ratio(low, high)
    assert _relaxed(low, high, PQ) == pytest.approx(1 - 1 / np.sqrt(15 * share), abs=1e-8)
    variation = np.sqrt(15 * share - 1)
    expected = min(variation * np.sqrt((15**2 - 1) / 3) / 15, 1 - 1 / 15)
    assert _relaxed(low, high, GINI) == pytest.approx(expected, abs=1e-8)
    unit = [_relaxed(c * low, c * high, PQ) for c in (1e-6, 1e6)]
    assert unit == pytest.approx([_relaxed(low, high, PQ)] * 2)


def test_one_wide_group_among_many_makes_the_bound_of_pq_exact():
    low, high = np.full(15, 0.3), np.append(np.full(14, 0.3), 0.9)
    assert _relaxed(low, high, PQ) == pytest.approx(float(PQ(high)))
    assert _relaxed(low, low, PQ) == pytest.approx(0.0, abs=1e-12)
    assert _relaxed(low, low, GINI) == pytest.approx(0.0, abs=1e-6)
    assert _relaxed(0 * low, 0 * low, GINI) == 0.0


# Clouds


def test_a_stack_of_cells_is_read_as_each_of_them_alone():
    rng = np.random.default_rng(2)
    clouds = []
    for groups in (3, 2, 3, 5, 3):
        sizes = rng.integers(4, 60, groups).astype(float)
        hits = rng.binomial(sizes.astype(int), 0.4).astype(float)
        clouds.append(Cloud(hits / sizes, np.maximum.accumulate(rate_curves(hits, sizes), axis=0)))
    together = located_at_once(clouds)
    for cloud, other in zip(clouds, together, strict=True):
        assert (other.pooled, other.heterogeneity) == pytest.approx(
            (cloud.pooled, cloud.heterogeneity), rel=1e-12
        )
    places = [place for part, _ in _stacked(clouds, 1) for place in part]
    assert sorted(places) == list(range(5))
    for measure in MEASURES:
        function = eh.MEASURES[measure]
        alone = [upper_limit(cloud, function, 1.5) for cloud in clouds]
        np.testing.assert_allclose(upper_limits(clouds, function, 1.5), alone, rtol=1e-12)


def test_the_common_value_of_normal_groups_is_their_weighted_mean():
    values, errors = np.array([1.0, 2.0, 4.0, 2.2]), np.array([0.5, 0.3, 1.0, 0.1])
    weight = errors**-2 / (errors**-2).sum()
    common = float((weight * values).sum())
    square = float((((values - common) / errors) ** 2).sum())
    cloud = straight(values, errors)
    assert cloud.pooled == pytest.approx(common, rel=1e-5)
    assert cloud.heterogeneity == pytest.approx(square, rel=1e-8)
    (other,) = located_at_once([cloud])
    assert (other.pooled, other.heterogeneity) == pytest.approx((common, square), rel=1e-5)
    even = straight([2.0, 2.0], [0.5, 1.0])
    assert (even.pooled, even.heterogeneity) == (2.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("reach", [0.8, 2.0])
def test_an_upper_limit_of_normal_groups_is_the_largest_on_their_sphere(measure, reach):
    values, errors = np.array([1.0, 1.2, 1.5]), np.array([0.05, 0.12, 0.08])
    points = values + reach * errors * sphere(3, 200_000)
    function = eh.MEASURES[measure]
    expected = float(function(points).max())
    cloud = straight(values, errors)
    assert upper_limit(cloud, function, reach) == pytest.approx(expected, rel=6e-3)
    assert upper_limit(cloud, function, reach) <= expected * (1 + 1e-3)
    within = most_uneven_within(cloud, function, np.array([reach]))[0]
    assert within == pytest.approx(expected, rel=6e-3)
    assert within <= expected * (1 + 1e-3)


@pytest.mark.parametrize("measure", ["mpd", "shortfall"])
@pytest.mark.parametrize("part", [0.9, 0.5, 0.1])
def test_the_nearest_groups_of_a_gap_are_clipped_to_the_best_interval(measure, part):
    values, errors = np.array([1.0, 1.3, 2.0, 1.9]), np.array([0.2, 0.1, 0.3, 0.15])
    cloud, function = straight(values, errors), eh.MEASURES[measure]
    level = part * float(function(values))
    place = np.linspace(0.5, 3.0, 40_001)[:, None]
    ends = (place, place + level) if measure == "mpd" else ((1 - level) * place, place)
    far = (np.clip(values, *ends) - values) / errors
    at = int((far**2).sum(axis=1).argmin())
    best, bound = float((far[at] ** 2).sum()), int((np.abs(far[at]) > 1e-3).sum())
    points, faces, squares = clipped(cloud, function, np.array([level]))
    assert squares[0] == pytest.approx(best, rel=1e-4)
    assert faces.tolist() == [max(bound - 1, 1)]
    assert float(function(points[0])) <= level + 1e-9
    np.testing.assert_allclose((((points[0] - values) / errors) ** 2).sum(), best, rtol=1e-4)


def solved(values, errors, function, level):
    """The squared distance to groups at most so uneven, by a general solver from many starts."""
    best = np.inf
    for toward in (0.3, 0.9):
        start = values.mean() + toward * (values - values.mean())
        found = minimize(
            lambda x: (((x - values) / errors) ** 2).sum(),
            start,
            constraints={"type": "ineq", "fun": lambda x: level - float(function(np.abs(x)))},
            options={"ftol": 1e-12, "maxiter": 150},
        )
        if found.x.min() > 0 and function(found.x) <= level + 1e-7:
            best = min(best, float(found.fun))
    return best


@pytest.mark.parametrize("measure", ["gini", "pq"])
@pytest.mark.parametrize("part", [0.9, 0.5])
def test_the_nearest_groups_are_as_near_as_a_general_solver_finds(measure, part):
    values, errors = np.array([0.5, 0.9, 0.7, 1.3]), np.array([0.1, 0.2, 0.05, 0.15])
    cloud, function = straight(values, errors), eh.MEASURES[measure]
    level = part * float(function(values))
    search = EvennessSearch(cloud, function, 0.05)
    tail, square, faces = search.tail(level)
    expected = solved(values, errors, function, level)
    assert square == pytest.approx(expected, rel=0.02)  # a price is found to a hundredth
    near = search.nearest[0]
    assert float(function(near)) <= level + 1e-9
    if measure == "gini":
        ties = 4 - len(np.unique(near.round(9)))
        assert faces == (3 if ties == 3 else ties + 1)
        assert tail == pytest.approx(chi2.sf(square, faces))
    else:
        assert faces == 0
        assert tail == pytest.approx(curved_tail(cloud, near, level, square))


def test_to_no_inequality_it_is_as_far_as_to_a_common_value():
    cloud = straight([0.5, 0.9, 0.7], [0.1, 0.2, 0.05])
    for measure in MEASURES:
        tail, square, faces = EvennessSearch(cloud, eh.MEASURES[measure], 0.05).tail(0.0)
        assert (square, faces) == (cloud.heterogeneity, 0)
        assert tail == pytest.approx(chi2.sf(square, 2))


@pytest.mark.parametrize("groups", [3, 6])
@pytest.mark.parametrize("level", [0.02, 0.1])
def test_beside_a_round_cone_the_tail_is_that_of_its_curvature(groups, level):
    """With equal errors PQ's set is a cone around equality, of half-angle arccos(1 − level).

    At a distance r from its axis, groups − 2 of its principal curvatures are (1 − level) / r.
    """
    rng, error = np.random.default_rng(groups), 0.04
    away = rng.standard_normal(groups)
    away -= away.mean()
    away /= np.sqrt(away @ away)
    axis = np.full(groups, 1 / np.sqrt(groups))
    point = (1 - level) * axis + np.sqrt(1 - (1 - level) ** 2) * away
    assert float(PQ(point)) == pytest.approx(level)
    radius = np.sqrt(1 - (1 - level) ** 2) / error
    free, square = 1 + (groups - 2) * (1 - level), 3.7
    expected = ncx2.sf((radius + np.sqrt(square)) ** 2, free, radius**2)
    found = curved_tail(straight(point, error), point, level, square)
    assert found == pytest.approx(expected, rel=1e-6)


def test_values_at_a_price_of_inequality_cost_least():
    """Σ w (x − wish)² / 2 + price × what the Gini index is too large by, in the wishes' order."""
    wish, weight, level, price = np.array([0.4, 0.9, 0.6]), np.array([30.0, 10.0, 20.0]), 0.1, 0.8
    solve = fused(wish, weight, level, wish)
    fitted = solve(price)

    def cost(x):
        pairs = sum(abs(a - b) for i, a in enumerate(x) for b in x[:i])
        excess = pairs - 3 * level * x.sum()  # of d times the sum times the index
        return (weight * (x - wish) ** 2).sum() / 2 + price * excess

    rng = np.random.default_rng(0)
    others = [cost(fitted + step) for step in 0.02 * rng.standard_normal((3000, 3))]
    assert cost(fitted) <= min(others)
    assert solve(0.0) == pytest.approx(wish)
    assert np.ptp(solve(1e3)) == pytest.approx(0.0, abs=1e-12)


def test_values_at_a_price_of_pq_cost_least():
    """Σ w (x − wish)² / 2 + price × (Σ x² − (Σ x)² / ((1 − level)² d)) / 2."""
    wish, weight, level, price = np.array([0.4, 0.9, 0.6]), np.array([30.0, 10.0, 20.0]), 0.05, 9.0
    fitted = shrunk(wish, weight, level)(price)
    bound = 1 / ((1 - level) ** 2 * 3)

    def cost(x):
        return (weight * (x - wish) ** 2).sum() / 2 + price * (x @ x - bound * x.sum() ** 2) / 2

    assert approx_fprime(fitted, cost, 1e-7) == pytest.approx([0, 0, 0], abs=1e-4)
    assert shrunk(wish, weight, level)(0.0) == pytest.approx(wish)


@pytest.mark.parametrize("start", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("measure", ["gini", "pq"])
def test_the_price_is_the_least_that_meets_the_level_to_a_hundredth(measure, start):
    wish, weight = np.array([0.4, 0.9, 0.6, 0.5]), np.array([300.0, 100.0, 200.0, 50.0])
    function = eh.MEASURES[measure]
    level = 0.5 * float(function(wish))
    make = fused(wish, weight, level, wish) if measure == "gini" else shrunk(wish, weight, level)
    values, price = _priced(make, function, level, start)
    assert float(function(values)) <= level
    assert float(function(make(0.985 * price))) > level
    np.testing.assert_allclose(values, make(price))


def test_the_typical_weight_is_the_median_of_those_above_0():
    assert _typical(np.array([0.0, 4.0, 1.0, 9.0])) == 4.0
    assert _typical(np.zeros(3)) == 1.0


def test_a_group_is_moved_alone_as_little_as_makes_all_so_even():
    cloud = straight([0.5, 0.5, 0.5, 0.9], [0.01, 0.01, 0.01, 0.1])
    search = EvennessSearch(cloud, GINI, 0.05)
    moved = search.one_moved(0.05)
    assert moved[:3].tolist() == [0.5] * 3
    at = cloud.curves[:, 3]
    even = [v for v in at if GINI(np.array([0.5, 0.5, 0.5, v])) <= 0.05]
    assert moved[3] == max(v for v in even if v <= 0.9)
    least = search.one_moved(0.0)[3]  # none is as even as that: then the most even that it can be
    assert abs(least - 0.5) == np.abs(at - 0.5).min()


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_a_lower_limit_is_0_where_groups_may_be_alike_and_falls_with_the_error(measure):
    function = eh.MEASURES[measure]
    near = straight([0.50, 0.52, 0.51], 0.03)
    assert lower_limit(near, function, 0.05) == 0.0
    apart = straight([0.3, 0.6, 0.9], 0.03)
    limits = [lower_limit(apart, function, error) for error in (1e-6, 1e-3, 0.05, 0.5)]
    assert 0 < limits[0] < limits[1] < limits[2] < limits[3] < float(function(apart.values))
    known = lower_limit(apart, function, 0.05, beyond=0.5 * limits[2])
    assert known == pytest.approx(limits[2], rel=0.02)
    assert lower_limit(apart, function, 0.05, beyond=1.02 * limits[2]) == 0.0
    assert lower_limit(apart, function, 0.05, beyond=2.0) == 0.0


def test_the_lower_limit_of_two_groups_far_apart_is_the_textbooks():
    cloud = straight([0.3, 0.9], [0.03, 0.04])
    expected = 0.6 - norm.isf(0.025) * 0.05
    assert lower_limit(cloud, MPD, 0.05) == pytest.approx(expected, abs=0.6 / 2**7)
    assert upper_limit(cloud, MPD, norm.isf(0.025)) == pytest.approx(1.2 - expected, rel=1e-3)


# Paths


def test_a_path_is_read_between_its_points_and_held_at_its_ends():
    cloud, kept = straight([1.0, 2.0], 0.1), np.array([True, False, True])
    moves = np.array([[0.0, 0.0], [1.0, -1.0], [1.0, -1.0], [4.0, 0.0]])
    path = Path(cloud, kept, np.array([0.8, 0.6, 0.5, 0.0]), np.array([0.0, 2.0, 2.0, 4.0]), moves)
    levels, moved = path.at(np.array([0.0, 0.5, 2.0, 3.0, 4.0, 9.0]))
    assert levels.tolist() == pytest.approx([0.8, 0.75, 0.5, 0.25, 0.0, 0.0])
    assert moved[:, 1].tolist() == [0] * 6
    assert moved[:, 0].tolist() == pytest.approx([0, 0.25, 1, 2.5, 4, 4])
    assert moved[:, 2].tolist() == pytest.approx([0, -0.25, -1, -0.5, 0, 0])


def test_distances_to_faces_are_those_of_one_normal_variable():
    squares, free = np.array([3.0, 7.0, 0.0]), np.array([1.0, 3.0, 2.0])
    expected = np.maximum(norm.isf(chi2.sf(squares, free) * (1 - 0.5**free)), 0.0)
    np.testing.assert_allclose(_as_normal(squares, free, free), expected, rtol=1e-9)
    assert _as_normal(7.0, 3, 0) == pytest.approx([norm.isf(chi2.sf(7.0, 3))])
    assert _as_normal(0.1, 3, 0) == [0.0]
    assert np.isfinite(_as_normal(1e5, 3, 0)).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_a_path_goes_from_the_groups_observed_to_equal_ones(measure):
    cloud, function = straight([0.5, 0.9, 0.7], [0.05, 0.08, 0.02]), eh.MEASURES[measure]
    path = path_of(cloud, np.ones(3, bool), function)
    assert path.levels[0] == pytest.approx(float(function(cloud.values)))
    assert (path.scores[0], path.moves[0].tolist()) == (0.0, [0, 0, 0])
    assert path.levels[-1] == pytest.approx(0.0, abs=1e-6)
    even = int(np.flatnonzero(path.levels < 1e-9)[0])
    expected = norm.isf(chi2.sf(cloud.heterogeneity, 2))
    assert path.scores[even] == pytest.approx(expected, rel=0.05)  # prices go by steps
    assert (np.diff(path.levels) <= 0).all()
    assert (np.diff(path.scores) >= 0).all()
    near = np.abs(path.moves).max(axis=1) < 8.8  # as far as curves are known
    for level, move in zip(path.levels[near], path.moves[near], strict=True):
        assert float(function(cloud.at(move))) == pytest.approx(level, abs=1e-6)
    even = path_of(straight([0.5, 0.5], 0.1), np.ones(2, bool), function)
    assert (even.levels.tolist(), even.scores.tolist()) == ([0], [0])


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["gini", "pq"])
def test_points_of_a_path_cost_least_at_their_price(measure):
    values, errors = np.array([0.5, 0.9, 0.7, 0.75]), np.array([0.05, 0.08, 0.02, 0.04])
    cloud, weight = straight(values, errors), errors**-2.0
    points, free, squares = priced_path(cloud, eh.MEASURES[measure])
    np.testing.assert_allclose(squares, (((points - values) / errors) ** 2).sum(axis=1), rtol=1e-6)
    typical = float(np.median(weight))
    rng = np.random.default_rng(1)
    for point, part in zip(points, np.geomspace(3e-3, 30, 9), strict=True):

        def cost(x, part=part):
            near = (weight * (x - values) ** 2).sum() / 2
            if measure == "pq":
                return near + typical * part * ((x - x.mean()) ** 2).sum() / 2
            pairs = sum(abs(a - b) for i, a in enumerate(x) for b in x[:i])
            excess = pairs - 4 * float(GINI(values)) * x.sum()
            return near + typical * np.ptp(values) / 4 * part * excess

        steps = rng.standard_normal((400, 4))
        assert cost(point) <= min(cost(point + 0.01 * step) for step in steps) + 1e-12
    ties = [4 - len(np.unique(point.round(9))) for point in points]
    assert free.tolist() == [3 if tied == 3 else tied + 1 for tied in ties]


# Pairs of models


def test_the_reach_of_a_difference_leaves_a_tenth_of_the_error():
    assert reach_of(0.95) == pytest.approx(norm.isf(0.05 * (1 - BOX) / 2))
    far = np.array([1.0, 2.0])
    np.testing.assert_allclose(_with_error(far, 0.25), norm.isf(2 * norm.sf(far) * 0.25))


def test_a_p_value_is_the_error_at_which_the_nearer_limit_is_0():
    steps = np.array([0.0, 1.0, 2.0, 3.0])
    assert _p_value(steps, np.array([0.0, 0.1, 0.2, 0.3])) == 1.0
    found = _p_value(steps, np.array([-0.3, -0.1, 0.3, 0.5]))
    assert found == pytest.approx(2 * norm.sf(1.25) / (1 - BOX))
    exactly = _p_value(steps, np.array([-0.3, -0.1, 0.0, 0.5]))
    assert exactly == pytest.approx(2 * norm.sf(2.0) / (1 - BOX))
    beyond = _p_value(steps, np.array([-0.4, -0.3, -0.2, -0.1]))
    assert beyond == pytest.approx(2 * norm.sf(3.0) / (1 - BOX))
    assert _p_value(steps, np.array([-1e-9, 0.1, 0.2, 0.3])) == 1.0


def test_two_models_go_together_but_for_a_row_that_only_one_gets_right():
    found = correlated(
        np.array([0.02, 0.5, np.nan, 0.1, -9.0]),
        np.array([0.03, 0.1, 0.1, 0.0, 0.1]),
        np.array([0.05, 0.1, 0.1, 0.0, 0.1]),
        np.array([0.1, 0.0, 0.1, 0.0, 0.0]),
        np.array([0.2, 0.0, 0.1, 0.0, 0.0]),
    )
    first = 0.02 / np.sqrt((0.03 + 0.01) * (0.05 + 0.04))
    assert found.tolist() == pytest.approx([first, 1.0, 0.0, 0.0, -1.0])


def test_values_are_read_with_how_fast_they_grow():
    cloud = straight([1.0, 5.0], [0.2, 3.0])
    for z in (-9.5, -8.875, -3.3, 0.0, 2.71, 8.8, 9.5):
        values, rise = _read(cloud, np.full((1, 2), z))
        held = np.clip(z, DISTANCES[0], DISTANCES[-1])
        np.testing.assert_allclose(values, [[1 + 0.2 * held, 5 + 3 * held]])
        np.testing.assert_allclose(rise, [[0.2 * 0.25, 3 * 0.25]])


def test_steps_toward_the_nearest_groups_start_at_the_price_that_is_known():
    values, errors = np.array([0.5, 0.9, 0.7, 1.3]), np.array([0.1, 0.2, 0.05, 0.15])
    cloud, level = straight(values, errors), 0.1
    alone = EvennessSearch(cloud, PQ, 0.05).one_moved(level)
    first = _nearest(cloud, PQ, level, None, alone)
    again = _nearest(cloud, PQ, level, first, alone)
    far = [(cloud.distance(point[0]) ** 2).sum() for point in (first, again)]
    assert far[1] <= far[0] + 1e-12


def sample(hits, rows, **options):
    """What the rows of groups with so many hits tell of one model."""
    asked = eh.CRITERIA["statistical_parity"]
    parts = [part for h, n in zip(hits, rows, strict=True) for part in ([1] * h, [0] * (n - h))]
    y, group = np.concatenate(parts).astype(int), np.repeat(np.arange(len(rows)), rows)
    reading = asked.read(None, y, sensitive_features=group, favorable=1, **options)
    estimates = estimates_of(reading.source, asked, 1)
    p_value = homogeneity(reading.source, asked, estimates).p_value
    return Sample(reading.source, estimates, reading.settings, reading, p_value)


@pytest.mark.parametrize("measure", ["mpd", "gini", "ratio"])
def test_without_correlations_a_difference_has_the_ends_of_two_single_intervals(measure):
    first = sample([30, 60, 20], [60, 80, 70], measure=measure)
    second = sample([35, 45, 30], [60, 80, 70], measure=measure)
    found = difference(first, second, None, 0.95)
    one, two = first.interval(0.975), second.interval(0.975)
    assert found.value == pytest.approx(one.value - two.value)
    assert found.low == pytest.approx(one.low - two.high, abs=1e-9)
    assert found.high == pytest.approx(one.high - two.low, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "options"),
    [
        ([30, 58, 22], {"measure": "mpd"}),
        ([33, 45, 27], {"measure": "mpd"}),
        ([35, 45, 35], {"measure": "mpd"}),
        ([33, 45, 27], {"measure": "shortfall", "aggregate": "mean"}),
    ],
)
def test_a_difference_excludes_0_exactly_where_its_p_value_is_below_its_error(other, options):
    rows = [600, 800, 700]
    first = sample([300, 640, 180], rows, **options)
    second = sample([10 * h for h in other], rows, **options)
    p_values = []
    for confidence in (0.5, 0.8, 0.95, 0.999):
        for one, two in ((first, second), (second, first)):
            found = difference(one, two, None, confidence)
            excludes = found.low > 0 or found.high < 0
            assert excludes == (found.p_value < 1 - confidence)
            assert found.low <= found.value <= found.high
            if 0.01 < found.p_value < 0.4:
                p_values.append(found.p_value)
    assert not p_values or max(p_values) <= 1.6 * min(p_values)


def test_the_p_value_without_correlations_is_where_two_single_intervals_touch():
    first, second = (sample(h, [60, 80], measure="mpd") for h in ([50, 20], [32, 40]))

    def apart(error):
        return first.interval(1 - error / 2).low - second.interval(1 - error / 2).high

    error = brentq(apart, 1e-9, 0.9, xtol=1e-6)
    for confidence in (0.9, 0.95):
        found = difference(first, second, None, confidence)
        assert np.log(found.p_value) == pytest.approx(np.log(error), abs=0.3)


def test_cells_that_surely_are_not_the_worst_are_left_out():
    truth = np.repeat([1, 0, 1, 0], 400)
    rng, group = np.random.default_rng(0), np.repeat([0, 1], 800)
    for rates, expected in (
        ((0.8, 0.5, 0.3, 0.48), [False, True]),
        ((0.8, 0.5, 0.3, 0.0), [True] * 2),
    ):
        chosen = (rng.random(1600) < np.repeat(rates, 400)).astype(int)
        asked = eh.CRITERIA["equalized_odds"]
        ask = {"sensitive_features": group, "measure": "mpd", "favorable": 1}
        reading = asked.read(truth, chosen, **ask)
        estimates = estimates_of(reading.source, asked, 1)
        found = Sample(reading.source, estimates, reading.settings, reading, np.nan)
        worst = found.maybe_worst(np.array([1.0, 2.0]))
        gaps = np.ptp(estimates.values, axis=1)
        assert found.largest == int(gaps.argmax())
        assert worst[:, found.largest].all()
        if not expected[0]:
            assert worst.sum() == 2
        else:
            assert worst.sum() == 4


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("hits", [(2, 9, 5), (0, 4, 9), (1, 1, 2)])
def test_an_upper_limit_of_few_rows_is_the_largest_on_the_sphere_of_distances(measure, hits):
    hits, rows = np.array(hits, float), np.array([12.0, 15.0, 9.0])
    cloud = Cloud(hits / rows, np.maximum.accumulate(rate_curves(hits, rows), axis=0))
    function = eh.MEASURES[measure]
    for reach in (0.7, 1.9):
        expected = float(function(cloud.at(reach * sphere(3, 60_000))).max())
        found = upper_limit(cloud, function, reach)
        assert 0.985 * expected <= found <= 1.005 * expected
        within = most_uneven_within(cloud, function, np.array([reach]))[0]
        assert 0.95 * expected <= within <= 1.005 * expected  # which takes three steps
