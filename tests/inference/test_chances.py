"""Tests of equal groups, chance and pooling beside enumeration, moments and hand arithmetic."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.special import kolmogorov
from scipy.stats import anderson_ksamp, chi2, chi2_contingency, hypergeom, norm

import evenhand as eh
from evenhand._uncertainty import pooling
from evenhand._uncertainty.chance import Measurement, _compared
from evenhand._uncertainty.clusters import Units, amount_of
from evenhand._uncertainty.curves import DISTANCES, rate_curves
from evenhand._uncertainty.distributions import _cuts_table, _distribution_tail
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.geometry import Cloud
from evenhand._uncertainty.homogeneity import (
    _clouds,
    _count_tail,
    _dealt,
    _drawn,
    _enumerated,
    _independence,
    _merged,
    _normal,
    _ordered,
    _statistics,
    _studentized,
    homogeneity,
    verdict,
)
from evenhand._uncertainty.models import (
    Means,
    _errors,
    _multinomial,
    _variance,
    across_cuts,
    cuts_of,
    effective,
    effective_rows,
)
from evenhand._uncertainty.models import _normal as normal_counts
from evenhand._uncertainty.monte_carlo import DRAWS, SHARES, combined
from evenhand._uncertainty.replicates import amount

RNG = np.random.default_rng(21)


def question(value, more=0.0):
    return Measurement(None, value, more, lambda table: table)


# Chance


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_replicate_ties_with_the_value_up_to_its_last_digits(unit):
    draws = unit * np.array([1.0, 2.0, 3.0 * (1 - 1e-15), 3.0, 4.0])
    found = _compared(question(3 * unit), draws)
    assert found.p_value == pytest.approx(4 / 6)
    assert found.floor == pytest.approx(13 / 5 * unit)
    assert found.high == pytest.approx(float(np.quantile(draws, 0.95)))
    assert found.replicates == 5


def test_the_exact_value_is_shown_and_the_one_at_cut_points_is_compared():
    found = _compared(question(0.3, more=0.05), np.array([0.1, 0.3, np.nan, 0.32]))
    assert found.value == pytest.approx(0.35)
    assert (found.p_value, found.replicates) == (3 / 4, 4)
    assert np.isnan(_compared(question(np.nan), np.ones(3)).p_value)
    assert np.isnan(_compared(question(0.1), np.full(3, np.nan)).floor)


def test_normal_counts_have_the_moments_of_multinomial_ones():
    sizes, truth = np.array([[900, 400]]), np.array([[[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]])
    drawn = normal_counts(sizes, truth, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.sum(axis=-1), np.broadcast_to(sizes, (20_000, 1, 2)))
    for g in range(2):
        rows, share = sizes[0, g], truth[0, g]
        expected = rows * (np.diag(share) - np.outer(share, share))
        np.testing.assert_allclose(drawn[:, 0, g].mean(axis=0), rows * share, rtol=0.01)
        covariance = np.cov(drawn[:, 0, g].T)
        np.testing.assert_allclose(covariance, expected, atol=0.04 * expected.max())
    pair = normal_counts(np.array([[500]]), np.array([[[0.2, 0.8]]]), 20_000, RNG)
    np.testing.assert_allclose(pair.sum(axis=-1), 500)
    assert pair[..., 0].mean() == pytest.approx(100, rel=0.01)
    assert pair[..., 0].var() == pytest.approx(80, rel=0.05)
    np.testing.assert_allclose(_variance(np.array([500]), np.array([[0.2, 0.8]])), [[80, 80]])


def test_a_rare_outcome_is_drawn_exactly_and_common_ones_as_normal():
    sizes, truth = np.array([20_000, 30_000]), np.array([[0.0001, 0.3, 0.3, 0.3999]] * 2)
    drawn = _multinomial(sizes, truth, 4000, np.random.default_rng(0))
    assert (drawn[..., 0] == np.rint(drawn[..., 0])).all()
    assert not (drawn[..., 1] == np.rint(drawn[..., 1])).any()
    np.testing.assert_allclose(drawn.sum(axis=-1), np.broadcast_to(sizes, (4000, 2)))
    np.testing.assert_allclose(drawn.mean(axis=0), sizes[:, None] * truth, rtol=0.05)
    expected = _variance(sizes, truth)
    np.testing.assert_allclose(drawn.var(axis=0), expected, rtol=0.12)
    few = _multinomial(sizes, np.array([[0.0001, 0.4, 0.5999]] * 2), 10, np.random.default_rng(0))
    assert (few == np.rint(few)).all()


def test_effective_rows_are_kishs():
    weight = np.array([1.0, 2.0, 3.0])
    assert effective_rows(np.array([6.0, 0.0]), np.array([14.0, 0.0])).tolist() == [36 / 14, 0]
    assert effective(weight.sum()[None], (weight**2).sum()[None]).tolist() == [3]


def test_errors_of_means_are_lent_two_rows():
    mean, square, sizes = np.array([1.0, 2.0]), np.array([3.0, 4.5]), np.array([1.0, 9.0])
    variance = square - mean**2
    pooled = (variance * sizes).sum() / 10
    expected = (variance * sizes + 2 * pooled) / (sizes + 1) / sizes
    np.testing.assert_allclose(_errors(mean, square, sizes)[0, :, 0] ** 2, expected)


def test_means_are_drawn_around_the_truth_and_not_below_the_least():
    seen = np.array([[[0.2], [3.0]]])
    model = Means(
        seen, np.array([[1.0, 3.0]]), np.array([[[0.5], [0.1]]]), 0.0, lambda means: means
    )
    assert model.pooled.ravel().tolist() == pytest.approx([(0.2 + 9.0) / 4])
    (drawn,) = model.draw(seen, 5000, np.random.default_rng(0))
    assert drawn.min() == 0.0
    assert drawn[:, 0, 1, 0].mean() == pytest.approx(3.0, abs=0.01)
    assert drawn[:, 0, 1, 0].std() == pytest.approx(0.1, rel=0.05)


def test_cut_points_count_every_row_once_and_keep_those_at_tau():
    scores = eh.distribution(np.arange(8.0), sensitive_features=list("abababab"))
    model, edges = cuts_of(scores)
    assert model.counts.sum() == 8
    below = np.cumsum(model.pooled[0, 0])[:-1]
    expected = [(scores.values <= edge).mean() for edge in edges]
    np.testing.assert_allclose(below, expected)
    how = eh.CRITERIA["strong_parity"].settings("mpd", "worst", None, 0.5)
    cells = np.where(np.isclose(below, 0.5), 7.0, 1.0)
    assert np.isclose(below, 0.5).any()
    assert across_cuts(how, model, edges, np.array([0.0, 7.0])).aggregate(cells) == 7.0
    lower = np.where(below < 0.5 - 1e-9, 7.0, 1.0)
    assert across_cuts(how, model, edges, np.array([0.0, 7.0])).aggregate(lower) == 1.0


def test_an_integral_over_cut_points_is_that_of_the_steps_around_them():
    scores = eh.distribution(np.arange(8.0), sensitive_features=list("abababab"))
    model, edges = cuts_of(scores)
    how = eh.CRITERIA["wasserstein_parity"].settings("mpd", "integral", None, None)
    aggregate = across_cuts(how, model, edges, np.array([0.0, 7.0])).aggregate
    assert aggregate(np.ones(len(edges))) == pytest.approx(7.0)
    first = np.eye(len(edges))[0]
    assert aggregate(first) == pytest.approx((edges[0] + edges[1]) / 2)


# Homogeneity


def dealt(outcomes, sizes):
    """All tables of rows dealt to groups, each as often as it falls."""
    rows = np.repeat(np.arange(len(outcomes)), outcomes)
    ends = np.cumsum(sizes)[:-1]
    for order in set(permutations(rows.tolist())):
        parts = np.split(np.array(order), ends)
        yield np.array([[np.sum(part == c) for part in parts] for c in range(len(outcomes))], float)


@pytest.mark.parametrize(("outcomes", "sizes"), [((3, 5), (2, 3, 3)), ((2, 3, 2), (3, 2, 2))])
def test_dealt_tables_have_the_statistics_of_all_ways_to_deal(outcomes, sizes):
    tables = np.array(list(dealt(outcomes, sizes)))
    expected = _statistics(tables)
    drawn = _dealt(
        np.array(outcomes, float), np.array(sizes, float), DRAWS, np.random.default_rng(0)
    )
    for exact, found in zip(expected, drawn, strict=True):
        kinds = np.unique(exact.round(9))
        assert set(found.round(9)) <= set(kinds)
        for level in kinds:
            share = (exact >= level - 1e-6).mean()
            error = np.sqrt(share * (1 - share) / DRAWS)
            assert (found >= level - 1e-6).mean() == pytest.approx(share, abs=4 * error + 1e-9)


def test_normal_tables_keep_the_totals_and_are_chi_squared():
    share, sizes = np.array([0.2, 0.3, 0.5]), np.array([400.0, 300.0, 800.0])
    drawn = _normal(share, sizes, DRAWS, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.sum(axis=1), np.broadcast_to(sizes, (DRAWS, 3)))
    np.testing.assert_allclose(
        drawn.sum(axis=2), np.broadcast_to(1500 * share, (DRAWS, 3)), rtol=1e-9
    )
    squares = _statistics(drawn)[0]
    assert squares.mean() == pytest.approx(4, rel=0.06)
    assert (squares > chi2.isf(0.05, 4)).mean() == pytest.approx(0.05, abs=0.015)


def test_many_rows_are_drawn_as_normal_and_few_as_they_fall():
    many, few = np.full((2, 3), 25.0), np.array([[25.0, 25, 25], [25, 25, 24]])
    for counts, is_normal in ((many, True), (few, False)):
        squares, contrasts = _drawn(counts, DRAWS, np.random.default_rng(1))
        assert (len(squares), len(contrasts)) == (DRAWS, DRAWS)
        assert (len(np.unique(squares.round(9))) > DRAWS / 2) == is_normal
        assert (contrasts <= squares + 1e-9).all()


def test_few_tables_of_three_groups_have_the_p_value_of_all_ways_to_deal():
    """The smaller p-value of the two statistics, each relative to its share, is itself ranked."""
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 3.0]])
    exact = _statistics(np.array(list(dealt((4, 5), (3, 3, 3)))))
    seen = _statistics(counts[None])
    least, ours = np.inf, np.inf
    for values, value, share in zip(exact, seen, SHARES, strict=True):
        tails = (values[None] >= values[:, None] - 1e-9).mean(axis=1)
        least = np.minimum(least, tails / share)
        ours = min(ours, (values >= value - 1e-9).mean() / share)
    expected = float((least <= ours + 1e-9).mean())
    assert _independence([counts]).p_value == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("hits", "sizes"), [((2, 7), (9, 12)), ((0, 5), (4, 30)), ((3, 3), (6, 9))]
)
def test_the_p_value_of_two_groups_does_not_depend_on_names(hits, sizes):
    counts = np.array([hits, np.subtract(sizes, hits)], float)
    expected = _enumerated(counts)
    assert _enumerated(counts[:, ::-1]) == pytest.approx(expected)
    assert _enumerated(counts[::-1]) == pytest.approx(expected)
    assert _independence([counts]).p_value == expected


def test_tables_at_exactly_the_same_distance_count():
    """Of 10 rows 5 are hits; 4 of 5 in one group are as far as 1 of 5: both tails, 2 × 26 / 252."""
    assert _enumerated(np.array([[4.0, 1.0], [1.0, 4.0]])) == pytest.approx(2 * 26 / 252)
    assert _enumerated(np.array([[3.0, 3.0], [3.0, 3.0]])) == 1.0


def test_the_tail_of_counts_is_the_smaller_of_chi_squared_and_single_cells():
    counts = np.array([[30.0, 10.0, 12.0], [10.0, 40.0, 38.0]])
    square = chi2_contingency(counts, correction=False).statistic
    by_square = chi2.sf(square, 2) / SHARES[0]
    cells = []
    for hits in counts:
        for g in range(3):
            rest = hypergeom(counts.sum(), hits.sum(), counts[:, g].sum())
            cells.append(2 * min(rest.cdf(hits[g]), rest.sf(hits[g] - 1)))
    by_cell = 6 * min(cells) / SHARES[1]
    assert _count_tail([counts]) == pytest.approx(min(by_square, by_cell))
    even = np.full((2, 3), 20.0)
    assert _count_tail([even]) == 1.0
    both = _count_tail([counts, even])
    assert both == pytest.approx(min(chi2.sf(square, 4) / SHARES[0], 12 * min(cells) / SHARES[1]))


def test_rare_outcomes_and_small_groups_are_merged():
    counts = np.array([[150.0, 140, 4, 2], [130, 140, 5, 3], [5, 3, 0, 1], [3, 2, 0, 0]])
    assert _merged(counts).tolist() == [[150, 146], [130, 148], [8, 6]]  # 15 rows are too few
    exactly = np.array([[5.0, 5], [251, 251]])  # five rows are expected of either group
    assert _merged(exactly).tolist() == exactly.tolist()
    assert _merged(np.array([[3.0, 1], [1, 2]])) is None


def test_the_rarer_outcome_is_first_and_hits_are_as_good_as_misses():
    one, other = np.array([1.0, 2.0]), np.array([5.0, 1.0])
    assert _ordered(one, other).tolist() == [[1, 2], [5, 1]]
    assert _ordered(other, one).tolist() == [[1, 2], [5, 1]]
    same = np.array([2.0, 1.0])
    assert _ordered(one, same).tolist() == [[1, 2], [2, 1]]


def test_ties_count_in_a_combined_p_value_up_to_their_last_digits():
    draws = np.repeat([1.0, 2.0, 3.0], 33)
    near = 2.0 * (1 + 1e-13)
    assert combined((near, near), (draws, draws), lambda: 0.0).p_value == pytest.approx(67 / 100)
    large = 1e8 * draws
    found = combined((1e8 * near, 1e8 * near), (large, large), lambda: 0.0).p_value
    assert found == pytest.approx(67 / 100)


def test_two_values_with_errors_have_the_p_value_of_a_normal_test():
    cloud = Cloud(np.array([1.0, 2.0]), np.array([1.0, 2.0]) + 0.3 * DISTANCES[:, None])
    expected = 2 * norm.sf(1 / (0.3 * np.sqrt(2)))
    assert _studentized(cloud).p_value == pytest.approx(expected, abs=0.006)
    far = Cloud(np.array([1.0, 9.0]), np.array([1.0, 9.0]) + np.sqrt(0.5) * DISTANCES[:, None])
    tail = chi2.sf(64.0, 1)
    assert _studentized(far).p_value == pytest.approx(tail / SHARES[0], rel=1e-3)


def test_far_values_with_errors_have_the_tail_of_the_smaller_of_two_tests():
    values, errors = np.array([0.0, 0.0, 0.0, 6.0]), np.array([0.5, 0.6, 0.4, 0.7])
    cloud = Cloud(values, values + errors * DISTANCES[:, None])
    weight = errors**-2 / (errors**-2).sum()
    common = (weight * values).sum()
    squares = ((values - common) / errors) ** 2
    contrast = (squares / (1 - weight)).max()
    tails = chi2.sf(squares.sum(), 3) / SHARES[0], 4 * chi2.sf(contrast, 1) / SHARES[1]
    assert _studentized(cloud).p_value == pytest.approx(min(tails), rel=1e-3)


def test_of_two_complements_one_says_both():
    y, group = RNG.integers(0, 2, 200), RNG.integers(0, 3, 200)
    weight = RNG.choice([1.0, 2.0], 200)
    asked = eh.CRITERIA["statistical_parity"]
    source = asked.read(None, y, sensitive_features=group, sample_weight=weight).source
    assert len(_clouds(estimates_of(source, asked))) == 1
    odds = eh.CRITERIA["equalized_odds"]
    truth = RNG.integers(0, 2, 200)
    source = odds.read(truth, y, sensitive_features=group, sample_weight=weight).source
    assert len(_clouds(estimates_of(source, odds))) > 1


def test_the_smallest_of_several_p_values_counts_for_all():
    """A precision of every class is a question; Bonferroni's factor is their number."""
    asked = eh.CRITERIA["predictive_parity"]
    truth, chosen = RNG.integers(0, 3, 300), RNG.integers(0, 3, 300)
    group = RNG.integers(0, 2, 300)
    counts = eh.tally(truth, chosen, sensitive_features=group)
    estimates = estimates_of(counts, asked)
    hits, sizes = estimates.counts
    each = [
        _independence([_ordered(size - hit, hit)]).p_value
        for hit, size in zip(hits, sizes, strict=True)
    ]
    expected = min(1.0, len(each) * min(each))
    assert homogeneity(counts, asked, estimates).p_value == pytest.approx(expected)


def test_distribution_functions_at_cuts_are_those_of_the_groups():
    values, codes = np.repeat(np.arange(6.0), 2), np.array([0, 1] * 6)
    weight = np.ones(12)
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    table = _cuts_table(codes, weight, ends, np.cumsum(weight) / 12, 2)
    cuts = np.unique(table[:, -1])
    np.testing.assert_allclose(table[:, 0], table[:, -1])
    np.testing.assert_allclose(table[:, 1], table[:, -1])
    assert len(cuts) == len(table)
    assert set(np.round(6 * table[:, -1]).astype(int)) == {1, 2, 3, 4, 5, 6}


def by_hand(largest, table, sizes, mass):
    """Kolmogorov's tail with Stephens' correction, and Anderson and Darling's by its series."""
    share = mass / mass.sum()
    root = np.sqrt(sizes * (1 - share))
    alone = len(sizes) * kolmogorov((root + 0.12 + 0.11 / root) * largest).min()
    pooled = table[:, -1]
    total = 0.0
    for i, level in enumerate(pooled):
        if 0 < level < 1:
            before = pooled[i - 1] if i else 0.0
            after = pooled[i + 1] if i + 1 < len(pooled) else 1.0
            gaps = (table[i, :-1] - level) ** 2 / (level * (1 - level))
            total += (after - before) / 2 * (gaps * sizes).sum()
    free = len(sizes) - 1
    terms = 1 / (np.arange(1, 60) * np.arange(2, 61))
    drawn = np.random.default_rng(99).chisquare(free, (40_000, 59)) @ terms
    return total, float((drawn >= total).mean()), min(alone, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.0, 0.15, 0.4])
def test_equal_distributions_are_as_likely_as_by_both_tests(apart):
    levels = np.linspace(0.1, 1.0, 10)
    table = np.column_stack([np.clip(levels + apart * levels * (1 - levels), 0, 1), levels, levels])
    table = np.column_stack([table[:, 0], 2 * levels - table[:, 0], levels])
    sizes, mass = np.array([60.0, 60.0]), np.array([60.0, 60.0])
    largest = np.full(2, 2 * np.abs(table[:, 0] - levels).max())
    total, tail, alone = by_hand(largest, table, sizes, mass)
    found = _distribution_tail(largest, table, sizes, mass).p_value
    expected = min(1.0, tail / SHARES[0], alone / SHARES[1])
    assert found == pytest.approx(expected, abs=0.02)
    assert total >= 0


def test_distributions_far_apart_have_a_tail_beyond_all_draws():
    levels = np.linspace(0.1, 0.9, 9)
    low, high = np.clip(levels - 0.4, 0, 1), np.clip(levels + 0.4, 0, 1)
    table, sizes = np.column_stack([low, high, levels]), np.array([80.0, 80.0])
    total, *_ = by_hand(np.array([0.01, 0.01]), table, sizes, sizes)
    found = _distribution_tail(np.array([0.01, 0.01]), table, sizes, sizes).p_value
    # The first term of the series is a half; the others are on average what they add up to.
    assert found == pytest.approx(chi2.sf(2 * (total - 0.5), 1) / SHARES[0], rel=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_omnibus_test_of_distributions_is_anderson_and_darlings():
    rng = np.random.default_rng(3)
    values, group = (
        np.append(rng.normal(0, 1, 70), rng.normal(0.45, 1, 60)),
        np.repeat([0, 1], [70, 60]),
    )
    asked = eh.CRITERIA["strong_parity"]
    source = asked.read(None, values, sensitive_features=group).source
    found = homogeneity(source, asked, estimates_of(source, asked)).p_value
    expected = anderson_ksamp([values[:70], values[70:]]).pvalue
    assert 0.5 <= found / expected <= 1.1 / SHARES[0]


def test_a_verdict_differs_up_to_the_level_and_unknown_values_are_not_tested():
    assert verdict(0.1, 0.05) == "differs"
    assert verdict(0.1, 0.0501) == "cannot tell"
    assert verdict(0.1, np.nan) == "not tested"
    assert verdict(np.nan, np.nan) == "undefined"
    assert eh.CRITERIA["accuracy_parity"].statistic.hypothesis == "rows that are right"
    assert eh.CRITERIA["equal_opportunity"].statistic.hypothesis != "rows that are right"


def test_p_values_do_not_depend_on_the_order_of_groups_or_outcomes():
    counts = np.array([[8.0, 3, 5], [2, 9, 6]])
    found = [
        _independence([counts[list(rows)][:, list(columns)]]).p_value
        for rows, columns in product(permutations(range(2)), permutations(range(3)))
    ]
    assert np.ptp(found) < 0.04  # by draws


# Clusters, in any unit


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_what_clusters_amount_to_does_not_depend_on_the_unit_of_weights_or_values(unit):
    rng = np.random.default_rng(1)
    owner = np.sort(rng.integers(0, 3, 40))
    units = Units(owner, rng.integers(0, 12, 40), 3)
    weight = rng.uniform(1, 9, (1, 40))
    squares = weight * rng.uniform(1, 1.5, (1, 40))
    spread = rng.uniform(0.1, 0.3, (1, 3))
    residuals = rng.normal(0, 2, (1, 40)) * np.sqrt(weight)
    one = amount_of([(1, units.varied(residuals, weight, squares, spread))])
    for by_weight, by_value in ((unit, 1.0), (1.0, unit), (unit, unit)):
        varied = units.varied(
            by_weight * by_value * residuals,
            by_weight * weight,
            by_weight**2 * squares,
            by_value**2 * spread,
        )
        other = amount_of([(1, varied)])
        np.testing.assert_allclose(other.rows, one.rows, rtol=1e-9)
        np.testing.assert_allclose(other.free, one.free, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_what_replicates_amount_to_does_not_depend_on_the_unit_of_values(unit):
    rng = np.random.default_rng(1)
    moved, spread = rng.normal(0, 0.1, (9, 4)), rng.uniform(0.1, 0.3, 4)
    independent = np.array([5.0, 40.0, 100.0, 0.0])
    one, other = (
        amount(moved, spread, independent),
        amount(unit * moved, unit**2 * spread, independent),
    )
    np.testing.assert_allclose(other.rows, one.rows, rtol=1e-9)
    np.testing.assert_allclose(other.free, one.free, rtol=1e-9)
    assert one.rows[3] == 0


# Pooling


def test_cells_that_are_pooled_together_are_pooled_as_alone(monkeypatch):
    rng = np.random.default_rng(0)
    levels = np.array(np.unravel_index(np.arange(12), (3, 4)))
    values, variances = rng.normal(0, 1, (5, 12)), rng.uniform(0.1, 0.5, (5, 12))
    variances[1, 3] = np.inf
    variances[4, 1:] = np.inf  # of one known value there is nothing to pool
    together = pooling.shrunken(values, variances, levels)
    assert together[4].tolist() == values[4].tolist()
    monkeypatch.setattr(pooling, "MOST_ENTRIES", 1)
    alone = pooling.shrunken(values, variances, levels)
    np.testing.assert_allclose(together, alone, atol=2e-3)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_pooled_values_are_in_the_unit_of_the_values(unit):
    rng = np.random.default_rng(2)
    levels = np.array(np.unravel_index(np.arange(12), (3, 4)))
    values, variances = rng.normal(3, 1, (2, 12)), rng.uniform(0.1, 0.5, (2, 12))
    one = pooling.shrunken(values, variances, levels)
    other = pooling.shrunken(unit * values, unit**2 * variances, levels)
    np.testing.assert_allclose(other, unit * one, rtol=1e-6)
    shifted = pooling.shrunken(values + 5, variances, levels)
    np.testing.assert_allclose(shifted, one + 5, rtol=1e-3)


def test_totals_are_added_up_in_all_their_places():
    amounts = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    places = np.array([[0, 0, 0], [1, 2, 1]])
    assert pooling._totals(amounts, places, 4).tolist() == [[7, 5, 2, 0], [56, 40, 16, 0]]


# Calibration


def test_a_calibration_error_is_known_within_the_noise_of_its_bins():
    """One bin: |rate − score| goes up by the limit of the rate, and down by its distance."""
    rows, hits, score = 50, 32, 0.45
    y = np.repeat([1, 0], [hits, rows - hits])
    source = (
        eh.CRITERIA["calibration_within_groups"]
        .read(
            np.tile(y, 2),
            y_score=np.full(2 * rows, score),
            sensitive_features=np.repeat(["a", "b"], rows),
        )
        .source
    )
    asked = eh.CRITERIA["calibration_within_groups"]
    estimates = estimates_of(source, asked)
    gap = hits / rows - score
    assert estimates.values.ravel().tolist() == pytest.approx([gap, gap])
    assert estimates.sizes.tolist() == [[rows, rows]]
    limits = rate_curves(np.array([float(hits)]), np.array([float(rows)]))[:, 0]
    above = DISTANCES > 0
    expected = np.maximum(np.abs(limits - score), np.abs(limits[::-1] - score))[above]
    np.testing.assert_allclose(estimates.curves[above, 0, 0], np.maximum(expected, gap), rtol=1e-9)
    rate = (hits + 0.5) / (rows + 1)
    error = np.sqrt(rate * (1 - rate) / rows)
    at = int(np.flatnonzero(np.isclose(DISTANCES, -1.125))[0])
    assert estimates.curves[at, 0, 0] == pytest.approx(gap - 1.125 * error, abs=0.05 * error)
    assert (estimates.curves[-1.1 * gap / error > DISTANCES, 0, 0] == 0).all()


def test_draws_of_a_test_are_those_of_its_own_counts():
    counts = np.array([[8.0, 3, 5], [2, 9, 6]])
    assert _independence([counts]).p_value == _independence([counts.copy()]).p_value
