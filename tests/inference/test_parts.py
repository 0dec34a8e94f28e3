"""Parts of inference beside SciPy, brute force and hand arithmetic."""

import numpy as np
import pytest
from scipy.stats import binomtest, chi2, chi2_contingency, ks_2samp, norm

import evenhand as eh
from evenhand._uncertainty import replicates
from evenhand._uncertainty.clusters import Units
from evenhand._uncertainty.curves import DISTANCES, curve_at, rate_curves
from evenhand._uncertainty.design import Means
from evenhand._uncertainty.differences import Binomials, difference_bounds, rate_bounds
from evenhand._uncertainty.distributions import _largest_gaps
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.geometry import Cloud, curved_tail, evenest, most_uneven
from evenhand._uncertainty.homogeneity import (
    _as_shares,
    _count_tail,
    _enumerated,
    _merged,
    _observed,
    _statistics,
    _studentized,
)
from evenhand._uncertainty.interval import _counts, as_computed
from evenhand._uncertainty.models import shares
from evenhand._uncertainty.monte_carlo import SHARES, combined
from evenhand._uncertainty.needed import crossing, needed
from evenhand._uncertainty.paired import most_uneven_within
from evenhand._uncertainty.pooling import MOST_LEVELS, _places
from evenhand._uncertainty.rates import _weighed
from evenhand._uncertainty.reference import _combined, _compared_with_best
from evenhand._uncertainty.supposition import sizes_of
from evenhand.statistics import Ratio
from inference.small_designs import numbers, question

RNG = np.random.default_rng(4)


def known(name):
    """What is known of the groups of a design."""
    asked, columns = question(name)
    return estimates_of(asked.read(**columns).source, asked)


@pytest.mark.parametrize("step", [0.5, 1e-9], ids=["ties", "no ties"])
def test_the_largest_gaps_are_those_of_kolmogorov_and_smirnov(step):
    group = RNG.integers(0, 4, 120)
    values = np.round((RNG.normal(size=120) + 0.4 * group) / step) * step
    scores = eh.distribution(values, sensitive_features=group)
    ends = np.flatnonzero(np.append(scores.values[1:] != scores.values[:-1], True))
    found = _largest_gaps(scores, np.arange(1, 121) / 120, ends)
    expected = [ks_2samp(values[group == g], values[group != g]).statistic for g in range(4)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_statistic_of_counts_is_pearsons_and_a_contrast_is_one_cell_against_the_rest():
    counts = RNG.integers(5, 40, (3, 5)).astype(float)
    square, contrast = _statistics(counts[None])
    assert square[0] == pytest.approx(chi2_contingency(counts, correction=False).statistic)
    each = [
        chi2_contingency(
            [
                [counts[c, g], np.delete(counts[c], g).sum()],
                [np.delete(counts[:, g], c).sum(), np.delete(np.delete(counts, c, 0), g, 1).sum()],
            ],
            correction=False,
        ).statistic
        for c in range(3)
        for g in range(5)
    ]
    assert contrast[0] == pytest.approx(max(each))


def test_two_groups_have_the_p_value_of_all_tables_at_least_as_far_apart():
    from math import comb

    for hits, sizes in (((3, 9), (12, 15)), ((0, 4), (6, 20)), ((5, 5), (10, 10))):
        total, rows = sum(hits), sum(sizes)
        expected = total * sizes[0] / rows
        p_value = sum(
            comb(sizes[0], k) * comb(sizes[1], total - k) / comb(rows, total)
            for k in range(max(0, total - sizes[1]), min(total, sizes[0]) + 1)
            if abs(k - expected) >= abs(hits[0] - expected) - 1e-9
        )
        counts = np.array([hits, np.subtract(sizes, hits)], float)
        assert _enumerated(counts) == pytest.approx(p_value)


def test_the_smaller_of_two_p_values_counts_as_one_among_its_draws():
    draws = np.arange(1.0, 100.0)
    for value, p_value in ((200.0, 0.02), (50.5, 0.51), (50.0, 0.52), (0.0, 1.0)):
        found = combined((value, value), (draws, draws), lambda: 1.0).p_value
        assert found == pytest.approx(p_value)
    assert combined((200.0, 200.0), (draws, draws), lambda: 1e-7).p_value == 1e-7
    # 40 contrasts are larger: 41 / 0.4 is beyond 61 / 0.6 and not beyond 62 / 0.6.
    assert combined((0.0, 59.5), (draws, draws), lambda: 1.0).p_value == pytest.approx(0.62)


def test_groups_and_outcomes_that_do_not_occur_are_left_out():
    counts = np.array([[3.0, 0, 2], [0, 0, 0], [1, 0, 4]])
    assert _observed(counts).tolist() == [[3, 2], [1, 4]]
    assert _observed(np.array([[3.0, 2], [0, 0]])) is None
    assert _observed(np.array([[3.0, 0], [1, 0]])) is None


def test_small_groups_are_merged_until_five_rows_are_expected_of_each():
    counts = np.array([[60.0, 40, 3, 2], [40, 60, 2, 3]])
    assert _merged(counts).tolist() == [[60, 40, 5], [40, 60, 5]]
    large = np.array([[60.0, 40], [40, 60]])
    assert _merged(large).tolist() == large.tolist()


@pytest.mark.parametrize(("hits", "rows"), [(0, 31), (3, 17), (17, 17), (40, 90)])
def test_exact_bounds_of_a_rate_are_clopper_and_pearsons(hits, rows):
    low, high = rate_bounds(hits / rows, rows, 0.1)
    expected = binomtest(hits, rows).proportion_ci(0.9, "exact")
    assert (float(low), float(high)) == pytest.approx((expected.low, expected.high))


def test_without_rows_a_rate_can_be_anything():
    assert [float(end) for end in rate_bounds(np.nan, 0.0, 0.05)] == [0.0, 1.0]


def test_limits_of_means_are_those_of_students_t_in_large_groups():
    y = RNG.normal(2.0, 3.0, 4000)
    group = np.repeat(["a", "b"], 2000)
    low, high = (
        eh.contrasts("weak_parity", None, y, sensitive_features=group, to="a")[1][at]
        for at in (3, 4)
    )
    parts = y[:2000], y[2000:]
    error = np.sqrt(sum(part.var(ddof=1) / 2000 for part in parts))
    apart = parts[1].mean() - parts[0].mean()
    reach = norm.ppf(0.975) * error
    assert (low, high) == pytest.approx((apart - reach, apart + reach), abs=0.01 * error)


def test_a_curve_is_read_between_its_points_and_held_at_its_ends():
    line = np.linspace(-9, 9, 73)[:-1] + 0.125  # its value is its distance
    curves = np.stack([line, 2 * line], axis=1)
    for z in (-8.875, -3.3, -0.01, 0.0, 1.96, 8.8):
        np.testing.assert_allclose(curve_at(curves, z), [z, 2 * z], atol=1e-12)
    np.testing.assert_allclose(curve_at(curves, 50.0), curves[-1])
    np.testing.assert_allclose(curve_at(curves, -50.0), curves[0])
    bent = curves**3  # between the last two points it is their mean
    np.testing.assert_allclose(curve_at(bent, 8.75), (bent[-2] + bent[-1]) / 2)


def test_where_nothing_was_observed_all_outcomes_are_as_likely():
    counts = np.array([[[0, 0, 0], [1, 3, 0]]])
    np.testing.assert_allclose(shares(counts), [[[1 / 3] * 3, [0.25, 0.75, 0]]])


def test_a_tally_brings_its_rows_and_rates_to_power():
    y = [1] * 60 + [0] * 40 + [1] * 20 + [0] * 30
    selected = [1] * 30 + [0] * 70 + [1] * 5 + [0] * 45
    counts = eh.tally(y, selected, sensitive_features=["a"] * 100 + ["b"] * 50)
    groups, rows, seen, _ = sizes_of(counts, eh.CRITERIA["statistical_parity"], None)
    assert (groups, rows.tolist(), seen.values.tolist()) == (("a", "b"), [100, 50], [0.3, 0.1])
    groups, rows, seen, _ = sizes_of(counts, eh.CRITERIA["equal_opportunity"], 1)
    assert (groups, rows.tolist(), seen.values.tolist()) == (("a", "b"), [60, 20], [0.5, 0.25])
    with pytest.raises(eh.InputError, match="equalized_odds compares 4 rates of every group"):
        sizes_of(counts, eh.CRITERIA["equalized_odds"], None)


def test_units_are_added_up_by_group_where_groups_have_none():
    units = Units(np.array([1, 1, 2]), np.array([0, 1, 0]), 4)
    assert units.by_group(np.array([[1.0, 2.0, 5.0]])).tolist() == [[0, 3, 5, 0]]
    assert units.by_group(np.array([1.0, 2.0, 5.0])).tolist() == [0, 3, 5, 0]


def test_where_a_chance_reaches_its_target_is_found_by_halving():
    assert crossing(lambda x: x / 100, 0.3, (1.0, 100.0)) == pytest.approx(30.0, rel=1e-4)
    assert crossing(lambda x: x / 100, 0.3, (1.0, 20.0)) == np.inf
    assert crossing(lambda x: 1.0, 0.3, (1.0, 20.0)) == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("measure", ["mpd", "gini", "pq", "shortfall"])
def test_extremes_between_bounds_are_those_of_a_fine_grid(measure):
    low, high = np.array([0.1, 0.3, 0.2]), np.array([0.25, 0.5, 0.9])
    grid = np.stack(
        np.meshgrid(*(np.linspace(a, b, 31) for a, b in zip(low, high, strict=True))), axis=-1
    )
    seen = eh.MEASURES[measure](grid)
    assert most_uneven(low, high, eh.MEASURES[measure]) == pytest.approx(seen.max(), rel=1e-9)
    assert evenest(low, high, eh.MEASURES[measure]) == pytest.approx(seen.min(), abs=2e-3)
    assert evenest(low, np.full(3, 0.95), eh.MEASURES[measure]) == 0.0


def test_a_value_without_end_is_as_uneven_as_one_group_with_everything():
    low, high = np.array([0.1, 0.3, 0.2]), np.array([0.25, np.inf, 0.9])
    assert most_uneven(low, high, eh.MEASURES["mpd"]) == np.inf
    assert most_uneven(low, high, eh.MEASURES["gini"]) == pytest.approx(2 / 3)


def test_no_values_are_more_uneven_than_one_group_with_everything():
    low, high = np.zeros(15), np.ones(15)
    assert most_uneven(low, high, eh.MEASURES["gini"]) == pytest.approx(14 / 15)
    assert most_uneven(low, 0 * high, eh.MEASURES["gini"]) == 0.0


@pytest.mark.parametrize("measure", ["gini", "pq"])
def test_the_bound_of_many_groups_is_never_below_the_most_uneven(measure):
    low = RNG.uniform(0.0, 0.3, 15)
    high = low + RNG.uniform(0.05, 0.4, 15)
    chosen = np.where(RNG.random((4000, 15)) < 0.5, low, high)
    order = np.argsort(-(low + high))
    for k in range(16):  # the largest ones at their upper ends
        corner = low.copy()
        corner[order[:k]] = high[order[:k]]
        chosen = np.vstack([chosen, corner])
    most = float(np.max(eh.MEASURES[measure](chosen)))
    bound = most_uneven(low, high, eh.MEASURES[measure])
    assert most <= bound + 1e-12
    assert bound <= 1.35 * most


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-4, 1e5])
@pytest.mark.parametrize("design", ["few", "weighted", "clustered", "few clusters", "survey"])
def test_intervals_of_means_are_in_the_unit_of_the_values(design, unit):
    columns = numbers(design)
    ask = {"measure": "mpd", **{name: columns[name] for name in columns if name[:2] != "y_"}}
    one, other = (
        eh.interval("weak_parity", None, columns["y_pred"] * scale, **ask) for scale in (1, unit)
    )
    expected = (unit * one.value, unit * one.low, unit * one.high)
    assert (other.value, other.low, other.high) == pytest.approx(expected, rel=1e-4)


def test_the_variance_of_a_mean_of_clusters_is_the_published_one_and_unknown_of_a_single_one():
    units = Units(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), 2)
    residuals, rows = np.array([[1.0, -3.0, 2.0, 0.0]]), np.array([[4.0, 6.0, 10.0, 5.0]])
    variance = units.sandwich(residuals, rows)
    assert variance[0, 0] == pytest.approx(3 / 2 * (1 + 9 + 4) / 20**2)
    assert np.isnan(variance[0, 1])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
def test_a_distance_is_the_same_in_every_unit(unit):
    values, errors = unit * np.array([1.0, 2.0, 4.0]), unit * np.array([0.5, 0.1, 0.2])
    cloud = Cloud(values, values + errors * DISTANCES[:, None])
    for z in (-4.3, -0.7, 0.2, 3.9):
        far, slope = cloud.located(values + z * errors)
        np.testing.assert_allclose(far, z, rtol=1e-6)
        np.testing.assert_allclose(slope, 1 / errors, rtol=1e-6)
        np.testing.assert_allclose(cloud.at(np.full(3, z)), values + z * errors, rtol=1e-9)


def test_near_equality_the_tail_of_a_curved_set_is_chi_squared():
    values = np.array([0.3, 0.3, 0.3, 0.3])
    cloud = Cloud(values, values + 0.02 * DISTANCES[:, None])
    assert curved_tail(cloud, values, 0.05, 6.0) == pytest.approx(chi2.sf(6.0, 3))


def test_ratios_without_end_are_compared_as_shares():
    shares_of = _as_shares(np.array([0.0, 0.25, 1.0, 3.0, np.inf]))
    assert shares_of.tolist() == pytest.approx([0.0, 0.2, 0.5, 0.75, 1.0])


def test_a_ratio_is_one_minus_a_shortfall_in_every_cell():
    asked, columns = question("odds of small groups")
    reading = asked.read(**columns, measure="ratio")
    other = as_computed(reading)
    np.testing.assert_allclose(other.cell_values, 1 - reading.cell_values)
    assert float(other) == pytest.approx(1 - float(reading))
    assert other.measure == "shortfall"


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ([-1.5, 0.0, 1.5], [1.0, 1.0, 1.0]),
        ([0.0, *[0.9] * 5], [0.2, *[1.0] * 5]),
        ([0.0, 1.0, 0.5, 2.8], [1.0, 0.5, 0.7, 1.2]),
    ],
)
def test_values_with_errors_are_alike_as_often_as_normal_ones_are_no_farther_apart(values, errors):
    values, errors = np.array(values), np.array(errors)
    cloud = Cloud(values, values + errors * DISTANCES[:, None])
    weights = errors**-2 / (errors**-2).sum()

    def statistics(rows):
        squares = ((rows - (rows * weights).sum(axis=-1, keepdims=True)) / errors) ** 2
        return squares.sum(axis=-1), (squares / (1 - weights)).max(axis=-1)

    drawn = statistics(errors * np.random.default_rng(1).standard_normal((60_000, len(values))))
    least, ours = np.full(60_000, np.inf), np.inf
    for seen, draws, share in zip(statistics(values), drawn, SHARES, strict=True):
        ranks = len(draws) - np.searchsorted(np.sort(draws), draws, side="left")
        least = np.minimum(least, ranks / len(draws) / share)
        ours = min(ours, float((draws >= seen).mean()) / share)
    assert _studentized(cloud).p_value == pytest.approx(float((least <= ours).mean()), abs=0.04)


def test_average_odds_are_known_as_well_as_the_rarer_outcome_lets_them():
    truth = [1] * 30 + [0] * 12 + [1] * 9 + [0] * 40
    counts = eh.tally(truth, [1, 0] * 45 + [1], sensitive_features=["a"] * 42 + ["b"] * 49)
    asked = eh.CRITERIA["average_odds"]
    assert estimates_of(counts, asked, 1).sizes.tolist() == [[12.0, 9.0]]


def test_columns_have_effects_where_several_have_levels_and_not_too_many():
    two, three, one = [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2], [7] * 6
    places, sizes = _places(np.array([two, one, three]))
    assert sizes == [2, 3]
    assert places.tolist() == [[0] * 6, [1, 2, 1, 2, 1, 2], [3, 3, 4, 4, 5, 5]]
    assert _places(np.array([two, one]))[1] == []
    many = np.arange(MOST_LEVELS)
    assert _places(np.array([many // 2, many % 2]))[1] == [MOST_LEVELS // 2, 2]
    assert _places(np.array([many, many % 2]))[1] == []


def test_a_single_row_has_its_own_weight():
    """Rows, weights and squared weights: one hit that weighs 3, and other rows that weigh 1."""
    hits = np.array([[[1.0, 4.0]], [[3.0, 4.0]], [[9.0, 4.0]]])
    misses = np.array([[[2.0, 3.0]]] * 3)
    draws = _weighed(hits, hits + misses)
    assert draws.hits.tolist() == [[1, 4]]
    assert draws.sizes.tolist() == [[3, 7]]
    assert draws.odds.tolist() == [[3, 1]]


def test_an_outcome_that_a_group_lacks_has_the_weight_that_it_has_elsewhere():
    hits = np.array([[[0.0, 4.0]], [[0.0, 8.0]], [[0.0, 16.0]]])
    misses = np.array([[[2.0, 3.0]]] * 3)
    assert _weighed(hits, hits + misses).odds.tolist() == [[2, 2]]


def test_a_ratio_of_three_kinds_of_rows_has_the_error_of_the_delta_method():
    tp, fp, fn, tn = 3000, 2000, 1000, 4000
    truth = [1] * (tp + fn) + [0] * (fp + tn)
    chosen = [1] * tp + [0] * fn + [1] * fp + [0] * tn
    counts = eh.tally(truth, chosen, sensitive_features=["a"] * len(truth))
    asked = eh.Criterion("mixed", Ratio("tp + tn", "tp + 2 fp + 3 fn", bounds=(0.0, 9.0)))
    estimates = estimates_of(counts, asked, 1)
    below = tp + 2 * fp + 3 * fn
    value = (tp + tn) / below
    moves = {tp: 1 - value, fp: -2 * value, fn: -3 * value, tn: 1.0}
    error = np.sqrt(sum(rows * move**2 for rows, move in moves.items())) / below
    low, high = estimates.single(0.95)
    reach = norm.ppf(0.975) * error
    assert estimates.values.ravel()[-1] == pytest.approx(value)
    assert low.ravel()[-1] == pytest.approx(value - reach, abs=2e-3 * reach)
    assert high.ravel()[-1] == pytest.approx(value + reach, abs=2e-3 * reach)


def test_counts_are_of_rates_alone():
    odds, rates = known("error odds"), known("two rates")
    assert odds.counts is not None
    assert _counts(odds, 0) is None
    hits, sizes = _counts(rates, 0)
    np.testing.assert_allclose(hits / sizes, rates.values[0])


def test_a_vague_group_may_be_the_farthest_though_precise_ones_are_seen_beyond_it():
    values = np.array([0.5, 0.55, 0.55, 0.55, 0.1, 0.1])
    errors = np.array([0.2, 0.01, 0.01, 0.01, 0.01, 0.01])
    cloud = Cloud(values, values + errors * DISTANCES[:, None])
    most = most_uneven_within(cloud, eh.MEASURES["mpd"], np.array([2.0]))
    assert most[0] == pytest.approx(0.4 + 2 * np.hypot(0.2, 0.01), abs=1e-3)


def test_nothing_is_sure_beside_a_group_without_rows():
    one = Binomials(np.array([9.0, 10.0]), np.array([10.0, 10.0]), np.ones(2))
    none = Binomials(np.zeros(2), np.zeros(2), np.ones(2))
    assert difference_bounds(one, none, 0.05).tolist() == [0, 0]
    assert difference_bounds(none, one, 0.05).tolist() == [0, 0]


def test_a_tail_beyond_all_draws_counts_every_cell_as_a_test():
    """Eight hits of eight rows, where 8 of 14 rows are hits: one of C(14, 8) ways, in six cells."""
    counts = np.array([[8.0, 0, 0], [0, 3, 3]])
    assert _count_tail([counts]) == pytest.approx(2 * 6 / SHARES[1] / 3003)


def test_a_value_at_the_end_of_its_curve_has_the_slope_beyond_it():
    curve = np.maximum(0.1 * DISTANCES, 0.0)
    cloud = Cloud(np.array([0.0]), curve[:, None])
    at = int(np.searchsorted(DISTANCES, 0.0))
    far, slope = cloud.located(np.array([0.0]))
    assert far.tolist() == [0]
    expected = (DISTANCES[at] - DISTANCES[at - 1]) / (curve[at] - curve[at - 1])
    assert slope.tolist() == pytest.approx([expected])


def test_groups_are_resized_to_whole_rows_and_at_least_one():
    design = Means(np.array([10.0, 20.0]), np.zeros(2), np.ones(2))
    assert design.resized(np.array([0.4, 1.2])).sizes.tolist() == [1, 2]


def test_rows_that_are_lacking_are_counted_of_rates_alone():
    for name, lacking in (
        ("odds of three classes", ((2, 7.0),)),
        ("squared errors", ((3, None), (2, None))),
    ):
        assert needed(known(name), 0.05, 0.1).lacking == lacking


def test_the_best_is_compared_at_levels_that_share_the_error():
    values = np.array([0.5, 0.4, 0.3])
    curves = values + 0.01 * DISTANCES[:, None]
    found = _compared_with_best(values, curves, np.array([0]), "difference", 0.05)
    error = np.hypot(0.01, 0.01)
    assert found.low[1] == pytest.approx(-0.1 - norm.isf(0.05 / 3 / 2) * error)
    assert found.high[1] == pytest.approx(-0.1 + norm.isf(0.05 / 2 / 2) * error)


def test_nothing_beside_nothing_is_alike():
    assert _combined(0.0, 0.0, "ratio") == 1.0
    assert _combined(0.1, 0.0, "ratio") == np.inf
    assert _combined(0.2, 0.5, "ratio") == pytest.approx(0.4)


def test_a_group_that_no_replicate_moves_has_the_effect_of_the_others():
    """One replicate moves one group by 2, whose 10 rows of variance 8 then say as much as 2."""
    found = replicates.amount(np.array([[2.0, 0.0]]), np.full(2, 8.0), np.full(2, 10.0))
    assert found.rows.tolist() == [2, 2]


def test_groups_of_the_same_counts_keep_what_few_clusters_leave_unknown():
    hits, sizes, free = np.array([3.0, 3.0]), np.array([10.0, 10.0]), np.array([5.0, 4.0])
    together = rate_curves(hits, sizes, free)
    alone = [rate_curves(hits[[i]], sizes[[i]], free[[i]])[:, 0] for i in range(2)]
    np.testing.assert_array_equal(together, np.column_stack(alone))
    assert curve_at(together, 1.96)[0] > curve_at(rate_curves(hits, sizes), 1.96)[0] + 0.05
