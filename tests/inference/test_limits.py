"""Limits of rates, means, areas and differences beside SciPy, statsmodels and hand arithmetic."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom, binomtest, chi2, norm, t

import evenhand as eh
from evenhand._data.areas import area_error as _area_error
from evenhand._uncertainty import clusters, many_groups, replicates
from evenhand._uncertainty.clusters import Units, amount_of, student_rows
from evenhand._uncertainty.curves import (
    DISTANCES,
    Estimates,
    curve_at,
    rate_curves,
    stretched,
    student_limits,
    widened,
)
from evenhand._uncertainty.differences import Binomials, difference_bounds, rate_bounds
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.influence import ErrorEstimates
from evenhand._uncertainty.rates import Draws, _linearized, _weighed
from evenhand._uncertainty.reference import (
    _compared,
    _compared_with_best,
    _distances,
    _limits,
    compare_rates,
    compare_values,
)
from evenhand.statistics import Ratio, Table
from later import Later

proportion = Later("statsmodels.stats.proportion")
weightstats = Later("statsmodels.stats.weightstats")

RNG = np.random.default_rng(11)


# Curves


@pytest.mark.parametrize(("hits", "rows"), [(0, 7), (3, 17), (17, 17), (40, 90), (2.5, 9.25)])
def test_limits_of_a_rate_are_a_quarter_of_a_row_wider_than_jeffreys(hits, rows):
    found = rate_curves(np.array([float(hits)]), np.array([float(rows)]))[:, 0]
    for z, limit in zip(DISTANCES, found, strict=True):
        shift = 0.25 * np.sign(z)
        expected = beta.ppf(norm.cdf(z), hits + 0.5 + shift, rows - hits + 0.5 - shift)
        if (hits == 0 and z < 0) or (hits == rows and z > 0):
            expected = float(z > 0)
        assert limit == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("hits", "rows"), [(0, 7), (3, 17), (9, 9)])
def test_limits_of_a_rate_lie_between_jeffreys_and_clopper_and_pearsons(hits, rows):
    curve = rate_curves(np.array([float(hits)]), np.array([float(rows)]))
    low, high = (float(curve_at(curve, z)[0]) for z in (-1.96, 1.96))
    exact = proportion.proportion_confint(hits, rows, method="beta")
    jeffreys = proportion.proportion_confint(hits, rows, method="jeffreys")
    assert exact[0] - 1e-3 <= low <= jeffreys[0] + 1e-3
    assert jeffreys[1] - 1e-3 <= high <= exact[1] + 1e-3


def test_limits_of_hits_are_those_of_misses_from_the_other_end():
    hits, rows = np.array([[0.0, 3.0], [5.0, 2.0]]), np.array([[4.0, 9.0], [5.0, 8.0]])
    one, other = rate_curves(hits, rows), rate_curves(rows - hits, rows)
    near = np.abs(DISTANCES) < 5  # beyond it 1 − Φ(z) loses digits
    np.testing.assert_allclose(one[near], 1 - other[::-1][near], rtol=1e-7, atol=1e-9)
    assert np.isnan(rate_curves(np.zeros(1), np.zeros(1))).all()


@pytest.mark.parametrize("free", [1.0, 4.0, 30.0])
def test_stretched_distances_are_exceeded_by_students_t_as_seldom(free):
    z = np.array([-3.0, -0.4, 0.0, 1.0, 2.5])
    np.testing.assert_allclose(stretched(z, np.array(free)), t.isf(norm.sf(z), free), atol=1e-9)
    assert float(widened(np.array(free))) == pytest.approx(t.isf(0.025, free) / norm.isf(0.025))
    assert np.isfinite(stretched(np.array([-60.0, 60.0]), np.array(free))).all()


def test_students_limits_are_the_textbooks_within_bounds_and_bent_where_rows_are_skewed():
    table = Table(np.array([[2.0, 3.0]]), ("all",), ("a", "b"))
    center, error = table.values, np.array([[0.5, 0.25]])
    free, none = np.array([[4.0, 9.0]]), np.zeros((1, 2))
    plain = student_limits(table, center, ErrorEstimates(error, free, none), (0.9, 3.5))
    low, high = plain.exact(0.05)
    reach = t.isf(0.025, free) * error
    np.testing.assert_allclose(low, np.clip(center - reach, 0.9, 3.5))
    np.testing.assert_allclose(high, np.clip(center + reach, 0.9, 3.5))
    assert plain.sizes.tolist() == [[5, 10]]
    skew = np.array([[0.3, 0.0]])
    bent = student_limits(table, center, ErrorEstimates(error, free, skew), (-np.inf, np.inf))
    low, high = bent.exact(0.05)
    z = t.isf(0.025, 4.0)
    upper, lower = z + 0.3 * z**2 / 3, 10 * (1 - np.cbrt(1 + 0.3 * z))  # Hall's, 3 / 0.3
    assert high[0, 0] == pytest.approx(2 + 0.5 * upper)
    assert low[0, 0] == pytest.approx(2 + 0.5 * lower)
    assert (low[0, 1], high[0, 1]) == pytest.approx((3 - reach[0, 1], 3 + reach[0, 1]))
    known = ErrorEstimates(error, free, none)
    unknown = student_limits(table, np.array([[np.nan, 3.0]]), known, (0.0, 9.0))
    assert np.isnan(unknown.curves[:, 0, 0]).all()


def test_all_at_once_the_error_is_shared_as_sidak_has_it():
    asked = []
    estimates = Estimates(
        np.array([[0.1, np.nan, 0.3], [0.4, 0.5, 0.6]]),
        np.zeros((len(DISTANCES), 2, 3)),
        ("x", "y"),
        ("a", "b", "c"),
        np.ones((2, 3)),
        np.zeros(2, np.intp),
        1.0,
        lambda error: (asked.append(error), (np.zeros(1), np.ones(1)))[1],
    )
    estimates.all_at_once(0.05)
    estimates.all_at_once(0.05)
    assert asked == pytest.approx([1 - 0.95 ** (1 / 5)])


# Differences


def test_a_part_of_a_hit_has_clopper_and_pearsons_bounds_too():
    low, high = rate_bounds(np.array([0.1, 0.9]), np.array([4.0, 4.0]), 0.1)
    expected_low = beta.ppf(0.05, np.array([0.4, 3.6]), np.array([4.6, 1.4]))
    expected_high = beta.ppf(0.95, np.array([1.4, 4.6]), np.array([3.6, 0.4]))
    np.testing.assert_allclose(low, expected_low)
    np.testing.assert_allclose(high, expected_high)


def binomials(hits, sizes, odds=1.0):
    hits = np.atleast_1d(np.asarray(hits, float))
    shape = np.broadcast_shapes(hits.shape, np.shape(sizes))
    return Binomials(*(np.broadcast_to(np.asarray(x, float), shape) for x in (hits, sizes, odds)))


PAIRS = [((9, 10), (1, 12)), ((30, 40), (5, 25)), ((80, 100), (30, 60)), ((12, 12), (2, 30))]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_a_sure_difference_is_the_same_in_either_order_and_of_misses(one, two):
    first, second = binomials(*one), binomials(*two)
    found = difference_bounds(first, second, 0.05)
    assert found[0] > 0
    np.testing.assert_allclose(difference_bounds(second, first, 0.05), found, rtol=1e-12)
    misses = binomials(one[1] - one[0], one[1]), binomials(two[1] - two[0], two[1])
    np.testing.assert_allclose(difference_bounds(*misses, 0.05), found, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("one", "two"), PAIRS)
@pytest.mark.parametrize("error", [0.2, 0.05, 1e-3])
def test_a_sure_difference_is_the_least_in_stouffers_confidence_set(one, two, error):
    """A grid of pairs of rates: w₁ z₁ + w₂ z₂ ≤ c, each within its own interval."""
    reach, box = norm.isf(error / 2 * 0.9), norm.isf(error / 2 * 0.1 / 4)
    far = np.linspace(-box, box, 1201)

    def supposed(hits, rows, side):
        shares = beta.ppf(norm.cdf(side * far), hits + (side > 0), rows - hits + (side < 0))
        if side < 0:
            shares = beta.ppf(norm.sf(far), hits, rows - hits + 1)
        else:
            shares = 1 - beta.ppf(norm.sf(far), rows - hits, hits + 1)
        return shares, np.sqrt(shares * (1 - shares) / rows)

    ours, noise = supposed(*one, -1)
    theirs, their_noise = supposed(*two, 1)
    combined = far[:, None] * noise[:, None] + far * their_noise
    inside = combined <= reach * np.hypot(noise[:, None], their_noise)
    expected = np.where(inside, ours[:, None] - theirs, np.inf).min()
    found = difference_bounds(binomials(*one), binomials(*two), error)[0]
    assert found == pytest.approx(max(expected, 0.0), abs=1.5e-3)


def test_a_sure_difference_grows_with_the_error_and_is_below_that_which_was_seen():
    first, second = binomials(*PAIRS[1][0]), binomials(*PAIRS[1][1])
    found = [difference_bounds(first, second, error)[0] for error in (1e-4, 0.01, 0.1, 0.5)]
    assert 0 < found[0] < found[1] < found[2] < found[3] < 30 / 40 - 5 / 25


def test_odds_change_the_rate_and_leave_the_sign():
    weighted = binomials([8.0], [10.0], 3.0)
    assert weighted.rate.tolist() == pytest.approx([3 * 0.8 / (0.2 + 3 * 0.8)])
    assert weighted.complement.rate.tolist() == pytest.approx([1 - weighted.rate[0]])
    other = binomials([2.0], [20.0], 0.5)
    one, two = difference_bounds(weighted, other, 0.05), difference_bounds(other, weighted, 0.05)
    assert one[0] == pytest.approx(two[0])
    assert 0 < one[0] < weighted.rate[0] - other.rate[0]


def test_a_sure_difference_errs_as_seldom_as_it_says():
    """All pairs of counts of small groups, with their chances: 3 % of samples exceed the truth."""
    rows, rates = (12, 9), (0.7, 0.3)
    first, second = np.divmod(np.arange(13 * 10), 10)
    chance = binom.pmf(first, rows[0], rates[0]) * binom.pmf(second, rows[1], rates[1])
    found = difference_bounds(binomials(first, rows[0]), binomials(second, rows[1]), 0.1)
    assert chance[found > 0.4 + 1e-12].sum() <= 0.05


# Groups compared with a reference


def test_against_a_group_the_limits_of_a_difference_share_the_error():
    values, errors = np.array([0.5, 0.4, 0.3, 0.6]), np.array([0.01, 0.02, 0.015, 0.01])
    curves = values + errors * DISTANCES[:, None]
    found = _compared(values, curves, np.ones(4), 1, "difference", 0.05)
    reach = norm.isf(0.05 / 3 / 2) * np.hypot(errors, errors[1])
    expected = values - values[1]
    for i in (0, 2, 3):
        assert found.low[i] == pytest.approx(expected[i] - reach[i], abs=2e-4)
        assert found.high[i] == pytest.approx(expected[i] + reach[i], abs=2e-4)
    assert (found.low[1], found.values[1], found.high[1]) == (0, 0, 0)


def test_against_everyone_a_group_is_a_part_of_them():
    values, errors = np.array([0.5, 0.4, 0.3]), np.array([0.01, 0.02, 0.015])
    sizes = np.array([10.0, 30.0, 60.0])
    share = sizes / sizes.sum()
    curves = values + errors * DISTANCES[:, None]
    found = _compared(values, curves, sizes, "overall", "difference", 0.05)
    np.testing.assert_allclose(found.values, values - share @ values)
    for i in range(3):
        rest = np.delete(share * errors, i)
        error = np.hypot((1 - share[i]) * errors[i], np.sqrt((rest**2).sum()))
        reach = norm.isf(0.05 / 3 / 2) * error
        assert found.low[i] == pytest.approx(found.values[i] - reach, abs=2e-4)
        assert found.high[i] == pytest.approx(found.values[i] + reach, abs=2e-4)


def test_a_ratio_to_a_group_has_limits_close_to_fiellers():
    values, errors = np.array([0.5, 0.8]), np.array([0.03, 0.05])
    curves = values + errors * DISTANCES[:, None]
    found = _compared(values, curves, np.ones(2), 1, "ratio", 0.05)
    z2 = norm.isf(0.025) ** 2
    a, b, c = 0.8**2 - z2 * 0.05**2, -2 * 0.5 * 0.8, 0.5**2 - z2 * 0.03**2
    roots = np.sort(np.roots([a, b, c]))
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(roots), abs=1e-3)
    assert (found.low[1], found.values[1], found.high[1]) == (1, 1, 1)


@pytest.mark.parametrize("how", ["difference", "ratio"])
def test_beside_the_best_limits_are_the_least_of_those_beside_each(how):
    values, errors = np.array([0.5, 0.4, 0.55]), np.array([0.01, 0.02, 0.03])
    curves = values + errors * DISTANCES[:, None]
    among = np.array([0, 2])
    found = _compared_with_best(values, curves, among, how, 0.1)
    low_reach, high_reach = norm.isf(0.1 / 3 / 2), norm.isf(0.1 / 4 / 2)  # two references
    low = _limits(curves, among, how, low_reach)[0]
    high = _limits(curves, among, how, high_reach)[1]
    for i in range(3):
        each = [_limits(curves, np.array([j]), how, low_reach)[0][i] for j in (0, 2)]
        assert low[i] == min(each)
    np.testing.assert_array_equal(found.low, np.minimum(low, found.values))
    np.testing.assert_array_equal(found.high, np.maximum(high, found.values))
    best = 0.55
    expected = values - best if how == "difference" else values / best
    np.testing.assert_allclose(found.values, expected)


def test_how_far_a_group_is_from_its_reference_in_either_direction():
    found = compare_values(
        np.array([0.5, np.nan, 0.8]),
        np.array([0.5, np.nan, 0.8]) + 0.01 * DISTANCES[:, None],
        np.ones(3),
        2,
        "difference",
        0.05,
    )
    assert np.isnan(found.values).tolist() == [False, True, False]
    least, most = _distances(found, "difference")
    reach = norm.isf(0.025) * np.hypot(0.01, 0.01)
    assert (least[0], most[0]) == pytest.approx((0.3 - reach, 0.3 + reach), abs=1e-4)
    ratios = type(found)(np.array([2.0, 0.5]), np.array([1.6, 0.4]), np.array([2.5, 0.625]))
    least, most = _distances(ratios, "ratio")  # twice as much and half as much are as far
    assert least.tolist() == pytest.approx([1 - 1 / 1.6, 1 - 0.625])
    assert most.tolist() == pytest.approx([0.6, 0.6])
    lone = compare_values(
        np.array([0.5, np.nan]), np.zeros((len(DISTANCES), 2)), np.ones(2), 0, "ratio", 0
    )
    assert np.isnan(lone.values).all()


def test_rates_without_rows_are_beside_nothing():
    found = compare_rates([4, 0, 6], [10, 0, 10], 0, "difference", 0.05)
    assert found.values.tolist() == pytest.approx([0.0, np.nan, 0.2], nan_ok=True)
    assert np.isnan(compare_rates([4, 0, 6], [10, 0, 10], 1, "difference", 0.05).values).all()


# Rates


def test_two_kinds_of_rows_make_a_ratio_that_rises_with_the_share_of_the_first():
    for statistic in (
        Ratio("tp", "tp + fn"),
        Ratio("fn", "tp + fn"),
        Ratio("2 tp", "2 tp + fp + fn"),
        Ratio("fn", "fp", bounds=(0.0, np.inf)),
        Ratio("correct", "all"),
        Ratio("wrong", "all"),
        Ratio("fp + fn", "2 tp + fp + fn"),
    ):
        assert (np.diff(statistic.of_share(np.linspace(0.01, 0.99, 9))) > 0).all()
    assert Ratio("tp + tn", "tp + 2 fp + 3 fn", bounds=(0.0, 9.0)).kinds is None


def test_weighted_rows_count_as_many_as_vary_as_much():
    """Hits of weights 1 and 3, misses that weigh 2: Kish's sizes, and the odds of their weights."""
    hits = np.array([[[2.0, 2.0]], [[4.0, 4.0]], [[10.0, 10.0]]])
    misses = np.array([[[3.0, 5.0]], [[6.0, 10.0]], [[12.0, 20.0]]])
    draws = _weighed(hits, hits + misses)
    np.testing.assert_allclose(draws.hits, [[1.6, 1.6]])
    np.testing.assert_allclose(draws.sizes, [[4.6, 6.6]])
    np.testing.assert_allclose(draws.odds, [[2.5 / 2, 2.5 / 2]])
    rate, rows = draws.counts[0] / draws.counts[1], draws.counts[1]
    np.testing.assert_allclose(rate, [[0.4, 4 / 14]])
    share = np.array([[1.6 / 4.6, 1.6 / 6.6]])
    slope = rate * (1 - rate) / (share * (1 - share))
    np.testing.assert_allclose(rows, np.array([[4.6, 6.6]]) / slope)


def test_a_share_of_weights_has_the_linearized_variance():
    weight = RNG.exponential(1.0, 40)
    hit = RNG.random(40) < 0.4
    total, hits = weight.sum(), weight[hit].sum()
    share = hits / total
    variance = (weight**2 * (hit - share) ** 2).sum() / total**2
    parts = (hits, total, (weight[hit] ** 2).sum(), (weight**2).sum())
    amounts = _linearized(*(np.array([part]) for part in parts))
    assert amounts[1][0] == pytest.approx(share * (1 - share) / variance)
    assert amounts[0][0] == pytest.approx(share * amounts[1][0])
    kish = total**2 / (weight**2).sum()
    for hits, squares in ((0.0, 0.0), (total, (weight**2).sum())):  # none, and all
        found = _linearized(*(np.array([x]) for x in (hits, total, squares, (weight**2).sum())))
        assert found[1][0] == pytest.approx(kish)


def test_draws_of_equal_weight_are_what_they_are():
    draws = Draws(np.array([3.0]), np.array([9.0]), np.ones(1))
    assert not draws.is_weighted
    assert draws.counts == (draws.hits, draws.sizes)
    assert Draws(np.array([3.0]), np.array([9.0]), np.array([2.0])).is_weighted
    assert Draws(np.array([3.0]), np.array([9.0]), np.ones(1), np.array([4.0])).is_weighted


@pytest.mark.parametrize("alone", [False, True])
def test_the_mean_of_two_rates_is_as_far_as_their_variances_add_up(alone):
    truth = RNG.integers(0, 2, 400)
    chosen = np.where(RNG.random(400) < 0.7, truth, 1 - truth)
    group = RNG.integers(0, 2, 400)
    asked = {"sensitive_features": group}
    if alone:
        asked["cluster"] = np.arange(400)  # of one row each, which are independent
    source = eh.CRITERIA["average_odds"].read(truth, chosen, **asked).source
    both = estimates_of(source, eh.CRITERIA["average_odds"], 1)
    parts = [
        estimates_of(source, eh.CRITERIA[name], 1)
        for name in ("equal_opportunity", "predictive_equality")
    ]
    at = int(np.searchsorted(DISTANCES, 1.9))
    moves = [part.curves[at, -1] - part.values[-1] for part in parts]
    reach = np.hypot(*moves) / 2
    np.testing.assert_allclose(both.curves[at, -1] - both.values[-1], reach, rtol=1e-9)


# Clusters and replicates


def test_rows_that_are_their_own_clusters_amount_to_themselves():
    """Every row is a unit: there is no correlation, and as many rows."""
    rng, owner = np.random.default_rng(3), np.repeat([0, 1], [40, 60])
    hits = (rng.random(100) < 0.4).astype(float)
    share = np.array([hits[:40].mean(), hits[40:].mean()])
    units = Units(owner, np.arange(100), 2)
    ones = np.ones((1, 100))
    amount = amount_of(
        [(1, units.varied((hits - share[owner])[None], ones, ones, (share * (1 - share))[None]))]
    )
    np.testing.assert_allclose(amount.rows, [[40, 60]], rtol=0.05)
    assert (amount.rows <= [[40, 60]]).all()
    sandwich = units.sandwich((hits - share[owner])[None], ones)
    np.testing.assert_allclose(sandwich, [share * (1 - share) / [39, 59]])


def test_clusters_of_alike_rows_amount_to_one_row_each():
    rng = np.random.default_rng(5)
    owner, size = np.repeat([0, 1, 2], 200), 4.0
    struck = size * (rng.random(600) < 0.5)
    weight = np.full((1, 600), size)
    share = np.array([struck[owner == g].sum() / (size * 200) for g in range(3)])
    units = Units(owner, np.arange(600), 3)
    residuals = (struck - share[owner] * size)[None]
    amount = amount_of([(1, units.varied(residuals, weight, weight, (share * (1 - share))[None]))])
    np.testing.assert_allclose(amount.rows, [[200] * 3], rtol=0.03)
    assert (amount.free > 100).all()


def test_a_single_cluster_in_every_group_is_known_as_one_row():
    units = Units(np.array([0, 1]), np.array([0, 1]), 2)
    amount = amount_of(
        [
            (
                1,
                units.varied(
                    np.zeros((1, 2)),
                    np.full((1, 2), 5.0),
                    np.full((1, 2), 5.0),
                    np.full((1, 2), 0.25),
                ),
            )
        ]
    )
    assert amount.rows.tolist() == [[1, 1]]
    assert amount.free.tolist() == [[clusters.INFINITE_FREEDOM] * 2]


def test_degrees_of_freedom_are_fewer_where_few_units_make_up_the_variance():
    units = Units(np.zeros(5, int), np.arange(5), 1)
    residuals, varied = np.array([[3.0, -1.0, -1.0, -0.5, -0.5]]), np.array([[1.0, 1, 1, 1, 2]])
    square = (residuals**2).sum(axis=1, keepdims=True)
    by_size = 36 / 8 - 1
    by_tail = 2 / ((residuals**4).sum() / square**2 - 1 / 5)
    found = units._free(residuals, square, varied)
    np.testing.assert_allclose(found, np.minimum(by_size, by_tail))


def test_rows_that_are_less_well_known_count_as_fewer():
    known = student_rows(np.array([50.0]), np.array([6.0]), 0.05)
    assert known == pytest.approx(50 * (norm.isf(0.025) / t.isf(0.025, 6)) ** 2)


def test_replicates_that_all_move_a_group_alike_say_as_much_as_their_number():
    """Ten replicates move each of two groups by ±0.1: a variance of 0.1, beside 0.25 a row."""
    moved = 0.1 * np.array([[1.0, -1.0], [-1.0, 1.0]] * 5)
    found = replicates.amount(moved, np.full(2, 0.25), np.full(2, 50.0))
    np.testing.assert_allclose(found.alone, [2.5, 2.5])
    assert (found.rows < found.alone).all()  # groups that go against each other differ the more
    # 2 / (1 / 10 − 1 / 10) is cut at 2 / (2 / 10): ten; and eight more are lent.
    assert found.free.tolist() == [18, 18]


def test_replicates_that_hardly_differ_do_not_say_that_all_is_known():
    moved = 1e-6 * np.array([[1.0, -1.0], [-1.0, 1.0]] * 5)
    found = replicates.amount(moved, np.full(2, 0.25), np.array([50.0, 80.0]))
    np.testing.assert_allclose(found.alone, [1000.0, 1600.0])  # a design effect of 1 / 20


def test_replicates_that_move_nothing_leave_rows_as_they_are():
    found = replicates.amount(np.zeros((4, 2)), np.zeros(2), np.array([50.0, 80.0]))
    assert found.rows.tolist() == [50, 80]
    assert found.free.tolist() == [1, 1]


def test_few_rows_are_no_better_known_than_their_number():
    moved = 0.1 * np.array([[1.0, -1.0], [-1.0, 1.0]] * 5)
    found = replicates.amount(moved, np.full(2, 0.25), np.array([4.0, 50.0]))
    assert found.free.tolist() == [3 + 8, 10 + 3]


# Means and areas


def test_limits_of_weighted_means_of_many_rows_are_those_of_the_linearized_variance():
    rng = np.random.default_rng(0)
    weight, y = rng.exponential(1.0, 20_000) + 0.3, rng.normal(2.0, 1.5, 20_000)
    group = np.repeat(["a", "b"], 10_000)
    source = (
        eh.CRITERIA["weak_parity"]
        .read(None, y, sensitive_features=group, sample_weight=weight)
        .source
    )
    low, high = estimates_of(source, eh.CRITERIA["weak_parity"]).single(0.95)
    for at, name in enumerate("ab"):
        part = weightstats.DescrStatsW(y[group == name], weight[group == name])
        moves = weight[group == name] * (y[group == name] - part.mean)
        reach = norm.isf(0.025) * np.sqrt((moves**2).sum()) / weight[group == name].sum()
        assert low[0, at] == pytest.approx(part.mean - reach, abs=0.02 * reach)
        assert high[0, at] == pytest.approx(part.mean + reach, abs=0.02 * reach)


def test_the_error_of_an_area_is_hanley_and_mcneils():
    area, m, n = np.array([0.7, 0.9]), np.array([5.0, 1.0]), np.array([9.0, 4.0])
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)
    np.testing.assert_allclose(_area_error(area, m, n), np.sqrt(variance / (m * n)))
    assert _area_error(np.ones(1), m[:1], n[:1])[0] == pytest.approx(1e-9)


# Many groups


def test_groups_are_a_crowd_where_twelve_are_alike_in_size():
    assert many_groups.has_many_groups(np.full(12, 8.0))
    assert not many_groups.has_many_groups(np.full(11, 8.0))
    assert many_groups.has_many_groups(np.full(12, 2.0**-9))


def test_the_form_of_a_crowd_is_estimated_without_bias():
    """Σ θ² − (1 + c) (Σ θ)² / d, on average over samples of the rates θ."""
    rng, rates, sizes = np.random.default_rng(0), np.linspace(0.2, 0.6, 14), np.full(14, 8.0)
    forms = [
        many_groups.VariationTest(hits.astype(float), sizes)._form(0.3)[0]
        for hits in rng.binomial(8, rates, (6000, 14))
    ]
    expected = rates @ rates - 1.3 * rates.sum() ** 2 / 14
    error = np.std(forms) / np.sqrt(len(forms))
    assert np.mean(forms) == pytest.approx(expected, abs=4 * error)


def test_the_parts_of_a_crowds_form_are_those_of_the_text():
    hits, sizes = np.array([2.0, 5.0, 4.0]), np.array([10.0, 10.0, 8.0])
    test, level = many_groups.VariationTest(hits, sizes), 0.2
    rates = hits / sizes
    noise = (rates * (1 - rates) / (sizes - 1)).sum()
    form, away, supposed = test._form(level)
    part = 1.2 / 3
    assert form == pytest.approx(rates @ rates - part * rates.sum() ** 2 - (1 - part) * noise)
    np.testing.assert_allclose(away, rates - 1.2 * rates.mean())
    # Where the form is 0, Σ θ² = 1.2 d m², and Σ (θ − 1.2 m)² is 0.2 × 1.2 d m².
    assert supposed == pytest.approx(0.24 * 3 * rates.mean() ** 2)
    steadied = (hits + 2 * 11 / 28) / (sizes + 2)
    np.testing.assert_allclose(test.variance, steadied * (1 - steadied) / sizes)
    np.testing.assert_allclose(test.third, test.variance * (1 - 2 * steadied) / sizes)


@pytest.mark.parametrize("measure", ["gini", "pq"])
def test_a_crowds_limits_hold_the_value_of_many_rows(measure):
    rng, rates = np.random.default_rng(1), np.linspace(0.2, 0.6, 20)
    sizes = np.full(20, 4e4)
    hits = rng.binomial(40_000, rates).astype(float)
    function = eh.MEASURES[measure]
    high = many_groups.many_groups_upper(hits, sizes, function, 1.96)
    assert float(function(rates)) <= high <= 1.06 * float(function(rates))
    if measure == "pq":
        low = many_groups.many_groups_lower(hits, sizes, 1.96)
        assert 0.95 * float(function(rates)) <= low <= float(function(rates))
        wider = (
            many_groups.many_groups_lower(hits, sizes, 3.0),
            many_groups.many_groups_upper(hits, sizes, function, 3.0),
        )
        assert wider[0] < low < high < wider[1]


@pytest.mark.parametrize("reach", [1.5, 2.5])
def test_a_crowds_limits_are_where_its_test_ends(reach):
    rng = np.random.default_rng(4)
    sizes = rng.integers(8, 14, 16).astype(float)
    hits = rng.binomial(sizes.astype(int), np.linspace(0.1, 0.9, 16)).astype(float)
    test = many_groups.VariationTest(hits, sizes)
    high = many_groups.many_groups_upper(hits, sizes, eh.MEASURES["pq"], reach)
    low = many_groups.many_groups_lower(hits, sizes, reach)

    def level(value):
        return 1 / (1 - value) ** 2 - 1

    assert test.accepts(0.99 * level(high), reach)
    assert not test.accepts(1.01 * level(high), reach)
    assert test.exceeds(0.99 * level(low), reach)
    assert not test.exceeds(1.01 * level(low), reach)
    ratio = np.sqrt(level(high))
    expected = min(ratio * np.sqrt((16**2 - 1) / 3) / 16, 1 - 1 / 16)
    assert many_groups.many_groups_upper(hits, sizes, eh.MEASURES["gini"], reach) == pytest.approx(
        expected
    )


def test_rates_of_which_none_was_seen_may_be_as_uneven_as_can_be():
    none, sizes = np.zeros(15), np.full(15, 6.0)
    assert many_groups.many_groups_upper(none, sizes, eh.MEASURES["gini"], 1.96) == pytest.approx(
        14 / 15
    )
    expected = 1 - 1 / np.sqrt(15)
    assert many_groups.many_groups_upper(none, sizes, eh.MEASURES["pq"], 1.96) == pytest.approx(
        expected
    )


# Refusals and laws of the interval


def test_intervals_beside_a_reference_are_calibrated_ones_of_the_worst_cell():
    asked = {"sensitive_features": list("aabb") * 10, "to": "a", "measure": "mpd"}
    y = [1, 0, 1, 1] * 10
    with pytest.raises(eh.InputError, match="calibrated ones of the worst cell"):
        eh.interval("statistical_parity", None, y, method="guaranteed", **asked)
    with pytest.raises(eh.InputError, match="calibrated ones of the worst cell"):
        eh.interval("statistical_parity", None, y, aggregate="mean", **asked)
    assert eh.interval("statistical_parity", None, y, **asked).value == pytest.approx(0.5)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["mpd", "gini", "pq", "ratio"])
@pytest.mark.parametrize("method", ["calibrated", "guaranteed"])
def test_an_interval_does_not_depend_on_the_order_of_rows_or_the_names_of_groups(measure, method):
    rng = np.random.default_rng(6)
    group = rng.choice(["a", "b", "c"], 90, p=[0.5, 0.3, 0.2])
    y = (rng.random(90) < np.where(group == "a", 0.7, 0.3)).astype(int)
    ask = {"measure": measure, "method": method, "favorable": 1}
    one = eh.interval("statistical_parity", None, y, sensitive_features=group, **ask)
    order = rng.permutation(90)
    names = pd.Series(group).map({"a": "z", "b": "x", "c": "y"}).to_numpy()
    other = eh.interval(
        "statistical_parity", None, y[order], sensitive_features=names[order], **ask
    )
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high))


@pytest.mark.parametrize("method", ["calibrated", "guaranteed"])
def test_the_gap_of_misses_has_the_interval_of_the_gap_of_hits(method):
    y, group = np.repeat([1, 0, 1, 0], [30, 12, 9, 25]), np.repeat(["a", "b"], [42, 34])
    ask = {"sensitive_features": group, "measure": "mpd", "method": method, "favorable": 1}
    one = eh.interval("statistical_parity", None, y, **ask)
    other = eh.interval("statistical_parity", None, 1 - y, **ask)
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high))


def test_the_guaranteed_gap_of_two_groups_is_that_of_clopper_and_pearsons_bounds():
    hits, rows = (30, 9), (42, 34)
    y = np.repeat([1, 0, 1, 0], [30, 12, 9, 25])
    group = np.repeat(["a", "b"], rows)
    found = eh.interval(
        "statistical_parity",
        None,
        y,
        sensitive_features=group,
        measure="mpd",
        method="guaranteed",
        favorable=1,
    )
    error = 1 - 0.95 ** (1 / 2)
    bounds = [
        binomtest(h, n).proportion_ci(1 - error, "exact") for h, n in zip(hits, rows, strict=True)
    ]
    assert found.high == pytest.approx(bounds[0].high - bounds[1].low)
    least = difference_bounds(binomials(30, 42), binomials(9, 34), 0.05)[0]
    assert found.low == pytest.approx(bounds[0].low - bounds[1].high)
    assert found.low <= least


def test_a_calibrated_upper_limit_of_many_rows_is_the_textbooks():
    y = np.repeat([1, 0, 1, 0], [6000, 4000, 3000, 7000])
    group = np.repeat(["a", "b"], 10_000)
    found = eh.interval(
        "statistical_parity", None, y, sensitive_features=group, measure="mpd", favorable=1
    )
    error = np.sqrt((0.24 + 0.21) / 10_000)
    reach = norm.isf(0.025) * error
    assert found.high == pytest.approx(0.3 + reach, abs=0.02 * reach)
    assert found.low == pytest.approx(0.3 - reach, abs=0.3 / 2**8)
    assert chi2.sf((0.3 / error) ** 2, 1) < 1e-6


def test_no_correlation_within_clusters_is_above_1():
    """Ten units of four rows, each ±3 from the mean: more than rows that are all alike would be.

    Of itself a group knows 9 × 10 / 9 × 10 × 3² / 0.25 / 10 = 400 with nine degrees of freedom; as
    alike rows its units are 10 × 4² = 160, with eight that the other group lends.
    """
    owner = np.repeat([0, 1], 10)
    units = Units(owner, np.arange(20), 2)
    residuals = 3.0 * np.tile([1.0, -1.0], 10)[None]
    weight = np.full((1, 20), 4.0)
    found = amount_of([(1, units.varied(residuals, weight, weight, np.full((1, 2), 0.25)))])
    np.testing.assert_allclose(found.rows, 40**2 / ((9 * 400 + 8 * 160) / 17))
    np.testing.assert_allclose(found.free, 17)


def test_many_even_groups_of_many_rows_are_even_within_their_noise():
    """Fifteen rates of 0.5, each from a million rows: a CV of 0.001 is noise."""
    hits, sizes = np.full(15, 5e5), np.full(15, 1e6)
    assert many_groups.many_groups_lower(hits, sizes, 1.96) == 0.0
    for measure in ("gini", "pq"):
        assert 0 < many_groups.many_groups_upper(hits, sizes, eh.MEASURES[measure], 1.96) < 2e-3


def test_functions_of_a_rate_have_the_exact_limits_of_the_rate():
    """Odds of errors are s / (1 − s) with s = fn / (fn + fp); F1 is 2 s / (1 + s), s of tp."""
    tp, fp, fn, tn = 20, 6, 9, 30
    truth = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn])
    chosen = np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])
    counts = eh.tally(truth, chosen, sensitive_features=np.full(len(truth), "a"))
    f1 = eh.CRITERIA["performance_parity"].with_statistic("f1")
    for asked, hits, rows, link in (
        (eh.CRITERIA["treatment_equality"], fn, fn + fp, lambda s: s / (1 - s)),
        (f1, tp, tp + fp + fn, lambda s: 2 * s / (1 + s)),
    ):
        estimates = estimates_of(counts, asked, 1)
        bounds = binomtest(hits, rows).proportion_ci(0.9, "exact")
        low, high = (float(end.ravel()[-1]) for end in estimates.exact(0.1))
        assert (low, high) == pytest.approx((link(bounds.low), link(bounds.high)))
        at = int(np.flatnonzero(np.isclose(DISTANCES, 1.625))[0])
        limit = beta.ppf(norm.cdf(1.625), hits + 0.75, rows - hits + 0.25)
        assert estimates.curves[at].ravel()[-1] == pytest.approx(link(limit))


def test_a_small_group_with_every_pair_ranked_right_is_not_shown_to_differ():
    """Of the small group two or three are positive, and easy to find."""
    excluded, unlikely = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        group, y = np.repeat(["a", "b"], [1000, 50]), (rng.random(1050) < 0.05).astype(int)
        rows = {"y_true": y, "y_score": rng.normal(3 * y), "sensitive_features": group}
        if 0 < y[1000:].sum() < 50:
            asked = "performance_parity(auroc)"
            excluded += eh.interval(asked, **rows, favorable=1).low > 0
            unlikely += eh.chance(asked, **rows, favorable=1, replicates=200).p_value < 0.05
    assert excluded <= 5
    assert unlikely <= 5
