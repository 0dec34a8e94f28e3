"""Numbers of standards beside SciPy, statsmodels and brute force."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, fisher_exact

from evenhand.standards.adverse import (
    below,
    fisher,
    flips,
    pooled_shortfall,
    shortfall,
    standard_deviations,
    swaps,
)
from evenhand.standards.credit import (
    decile_cut_offs,
    mantel_haenszel,
    odds_ratios,
    standardized_mean_differences,
)
from evenhand.standards.rates import exact_interval, ratios_of
from evenhand.standards.sample import Scores
from later import Later

contingency = Later("statsmodels.stats.contingency_tables")
proportion = Later("statsmodels.stats.proportion")


@st.composite
def counted(draw, most=12, groups=4):
    sizes = draw(st.lists(st.integers(1, most), min_size=2, max_size=groups))
    return np.array([draw(st.integers(0, n)) for n in sizes]), np.array(sizes)


@st.composite
def compared(draw):
    """Counts, and which of the groups may have the highest rate; None is all."""
    hits, rows = draw(counted())
    flags = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)).filter(any))
    return hits, rows, draw(st.sampled_from([None, np.array(flags)]))


def highest_rate(hits, rows, among):
    rates = [Fraction(int(k), int(n)) for k, n in zip(hits, rows, strict=True)]
    return max(rate for at, rate in enumerate(rates) if among is None or among[at])


def is_below(hits, rows, at, among):
    return Fraction(int(hits[at]), int(rows[at])) < Fraction(4, 5) * highest_rate(hits, rows, among)


@given(compared())
def test_a_flag_is_a_rate_below_four_fifths_of_the_highest(counts):
    hits, rows, among = counts
    flags = [is_below(hits, rows, at, among) for at in range(len(rows))]
    assert below(hits, rows, among=among) == flags


@given(compared())
def test_a_shortfall_is_the_fewest_more_selections_that_reach_the_limit(counts):
    hits, rows, among = counts
    for limit in (Fraction(4, 5), Fraction(1)):
        highest = highest_rate(hits, rows, among)
        needed = [
            next(
                more for more in range(n + 1) if Fraction(int(k) + more, int(n)) >= limit * highest
            )
            for k, n in zip(hits.tolist(), rows.tolist(), strict=True)
        ]
        # A rate of those that are never the highest can be beyond it, and then lacks nobody.
        assert shortfall(hits, rows, limit, among) == needed


@given(compared())
def test_a_verdict_turns_exactly_if_some_single_decision_turns_it(counts):
    hits, rows, among = counts
    turned = [False] * len(rows)
    for at, (other, by) in product(range(len(rows)), product(range(len(rows)), (-1, 1))):
        changed = hits.copy()
        changed[other] += by
        if 0 <= changed[other] <= rows[other]:
            verdicts = [is_below(each, rows, at, among) for each in (changed, hits)]
            turned[at] |= verdicts[0] != verdicts[1]
    assert flips(hits, rows, among=among) == turned


@given(counted(most=60))
def test_fisher_and_standard_deviations_equal_scipy_and_statsmodels(counts):
    hits, rows = counts
    p, z = fisher(hits, rows, 0), standard_deviations(hits, rows, 0)
    assert np.isnan([p[0], z[0]]).all()
    for at in range(1, len(rows)):
        table = np.array([[hits[at], rows[at] - hits[at]], [hits[0], rows[0] - hits[0]]])
        assert p[at] == pytest.approx(fisher_exact(table)[1])
        if not 0 < hits[at] + hits[0] < rows[at] + rows[0]:
            assert np.isnan(z[at])
            continue
        assert z[at] == pytest.approx(
            proportion.proportions_ztest([hits[at], hits[0]], [rows[at], rows[0]])[0]
        )
        assert z[at] ** 2 == pytest.approx(chi2_contingency(table, correction=False)[0])


@given(counted(most=200))
def test_intervals_of_rates_are_those_of_binomtest(counts):
    hits, rows = counts
    low, high = exact_interval(hits, rows, 0.9)
    for at, (k, n) in enumerate(zip(hits.tolist(), rows.tolist(), strict=True)):
        exact = binomtest(k, n).proportion_ci(0.9, method="exact")
        assert (low[at], high[at]) == pytest.approx((exact.low, exact.high), abs=1e-9)


@given(counted(most=80))
def test_a_ratio_lies_in_its_interval_and_certainty_follows_from_it(counts):
    hits, rows = counts
    if not hits.any():
        assert np.isnan(ratios_of(hits, rows).values).all()
        return
    ratios = ratios_of(hits, rows)
    assert (ratios.low <= ratios.values + 1e-9).all()
    assert (ratios.values <= ratios.high + 1e-9).all()
    for low, high, word in zip(ratios.low, ratios.high, ratios.certainty(), strict=True):
        assert (word == "below") == (high < 0.8)
        assert (word == "above") == (low >= 0.8)


def test_odds_ratios_equal_statsmodels():
    hits, rows = np.array([12, 30, 7]), np.array([50, 60, 40])
    for at in (1, 2):
        table = contingency.Table2x2(
            [[hits[at], rows[at] - hits[at]], [hits[0], rows[0] - hits[0]]]
        )
        assert odds_ratios(hits, rows, 0)[at] == pytest.approx(table.oddsratio)


@pytest.mark.parametrize("seed", range(5))
def test_the_test_within_segments_equals_statsmodels(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(5, 60, (6, 2))
    hits = rng.binomial(rows, 0.4)
    tables = [
        np.array([[hits[k, j], rows[k, j] - hits[k, j]] for j in (0, 1)]) for k in range(len(rows))
    ]
    known = contingency.StratifiedTable(tables)
    test = known.test_null_odds(correction=False)
    found = mantel_haenszel(hits, rows, 0, 1)
    assert found.odds_ratio == pytest.approx(known.oddsratio_pooled)
    assert (found.statistic, found.p_value) == pytest.approx((test.statistic, test.pvalue))


def test_a_segment_without_one_of_the_groups_says_nothing():
    hits, rows = np.array([[3, 6], [2, 0]]), np.array([[10, 10], [5, 0]])
    assert mantel_haenszel(hits, rows, 0, 1) == mantel_haenszel(hits[:1], rows[:1], 0, 1)


def scores_of(values, codes):
    order = np.argsort(values, kind="stable")
    ones = np.ones(len(values), dtype=np.int64)
    return Scores(np.asarray(values, float)[order], np.asarray(codes)[order], ones, max(codes) + 1)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=3, max_size=60))
def test_scores_above_the_median_are_counted_strictly(rows):
    values, codes = map(np.array, zip(*rows, strict=True))
    scores = scores_of(values, [*codes.tolist()])
    median = np.median(values)
    assert scores.median == median
    above = [int((values[codes == g] > median).sum()) for g in range(max(codes) + 1)]
    assert scores.above(median).tolist() == above
    assert scores.at(median) == (values == median).sum()


@given(st.lists(st.integers(0, 30), min_size=10, max_size=80))
def test_deciles_approve_at_least_their_share_and_no_score_more_than_needed(values):
    scores = scores_of(values, [0, 1] * (len(values) // 2) + [0] * (len(values) % 2))
    for tenth, cut in enumerate(decile_cut_offs(scores), 1):
        approved = sum(value >= cut.score for value in values)
        assert cut.hits.sum() == approved >= len(values) * tenth / 10
        assert sum(value > cut.score for value in values) < len(values) * tenth / 10
        assert cut.share == pytest.approx(approved / len(values))


def test_a_standardized_mean_difference_is_cohens_d():
    rng = np.random.default_rng(0)
    a, b = rng.normal(1, 2, 40), rng.normal(0, 1, 70)
    found = standardized_mean_differences(scores_of([*a, *b], [0] * 40 + [1] * 70), 1)
    within = np.sqrt((39 * a.var(ddof=1) + 69 * b.var(ddof=1)) / 108)
    assert found[0] == pytest.approx((a.mean() - b.mean()) / within)
    assert np.isnan(found[1])


@given(compared())
def test_a_swap_turns_a_verdict_exactly_if_one_more_here_and_one_fewer_at_the_highest_do(counts):
    hits, rows, among = counts
    rates = [Fraction(int(k), int(n)) for k, n in zip(hits, rows, strict=True)]
    allowed = [at for at in range(len(rows)) if among is None or among[at]]
    found = swaps(hits, rows, among=among)
    tops = [at for at in allowed if rates[at] == highest_rate(hits, rows, among)]
    expected = []  # of two groups with the highest rate, either may be the other
    for best in tops:
        turned = []
        for at in range(len(rows)):
            verdict = is_below(hits, rows, at, among)
            by = 1 if verdict else -1
            changed = hits.copy()
            changed[at] += by
            changed[best] -= by
            possible = at != best and ((changed >= 0) & (changed <= rows)).all()
            turned.append(bool(possible and is_below(changed, rows, at, among) != verdict))
        expected.append(turned)
    assert found in expected


@given(counted())
def test_a_mid_p_counts_the_table_itself_by_half(counts):
    hits, rows = counts
    k, n = int(hits[0]), int(rows[0])
    found = fisher(hits, rows, 0, mid=True)
    for at in range(1, len(rows)):
        total, chosen = n + int(rows[at]), k + int(hits[at])
        ways = {
            x: comb(int(rows[at]), x) * comb(n, chosen - x)
            for x in range(max(0, chosen - n), min(chosen, int(rows[at])) + 1)
        }
        here = ways[int(hits[at])]
        exact = sum(one for one in ways.values() if one <= here)
        expected = Fraction(2 * exact - here, 2 * comb(total, chosen))
        assert found[at] == pytest.approx(float(expected), abs=1e-9)


@given(counted())
def test_shortfalls_of_the_pooled_rate_add_up_to_nothing(counts):
    hits, rows = counts
    short = pooled_shortfall(hits, rows)
    assert short.sum() == pytest.approx(0, abs=1e-9)
    rate = hits.sum() / rows.sum()
    assert short[0] == pytest.approx(rows[0] * rate - hits[0])


def test_a_mean_difference_is_over_the_deviation_within_or_that_of_everybody():
    rng = np.random.default_rng(5)
    values, codes = rng.normal(600, 40, 300).round(), rng.integers(0, 3, 300)
    order = np.argsort(values, kind="stable")
    scores = Scores(values[order], codes[order], np.ones(300, dtype=np.int64), 3)
    groups = [values[codes == at] for at in range(3)]
    for at in (1, 2):
        gap = groups[at].mean() - groups[0].mean()
        both = len(groups[at]) + len(groups[0]) - 2
        squares = sum(((part - part.mean()) ** 2).sum() for part in (groups[at], groups[0]))
        pooled = standardized_mean_differences(scores, 0, "pooled")[at]
        assert pooled == pytest.approx(gap / np.sqrt(squares / both))
        whole = standardized_mean_differences(scores, 0, "population")[at]
        assert whole == pytest.approx(gap / values.std())
