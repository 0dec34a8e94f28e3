"""Designs and their power beside hand arithmetic, textbook tails, and laws of scale."""

import numpy as np
import pytest
from scipy.stats import beta, binom, chi2, chi2_contingency, norm, t

import evenhand as eh
from evenhand._uncertainty import design as designs
from evenhand._uncertainty.curves import DISTANCES, Estimates
from evenhand._uncertainty.design import Means, Rates, _narrow, _rejections
from evenhand._uncertainty.monte_carlo import DRAWS, ENOUGH, SHARES
from evenhand._uncertainty.needed import crossing, lacking, limiting
from evenhand._uncertainty.normal_design import (
    NormalModel,
    Stratum,
    _cleared,
    _critical,
    _joint,
    _largest_gap,
    _questions,
    farthest,
)
from evenhand._uncertainty.power import _where_power_reaches
from evenhand._uncertainty.supposition import alike, one_group_shifted, place_of


def by_hand(hits, sizes):
    """Pearson's statistic, and the largest squared contrast of one group with all others."""
    square = chi2_contingency([hits, sizes - hits], correction=False).statistic
    others = [
        chi2_contingency(
            [[h, n - h], [hits.sum() - h, sizes.sum() - n - hits.sum() + h]], correction=False
        ).statistic
        for h, n in zip(hits, sizes, strict=True)
    ]
    return square, max(others)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[400.0] * 6, [30.0, 24.0, 18.0, 25.0, 36.0, 30.0]])
def test_beyond_all_draws_groups_are_told_apart_as_often_as_by_the_tails_of_their_tables(rows):
    """Below 1 / 2001 no draws reject: what is left are the tails of six groups and twelve cells."""
    sizes, level = np.array(rows), 4e-4
    rates = np.append(0.41 if sizes[0] > 99 else 0.8, np.full(5, 0.3))
    design = Rates(sizes, rates)
    totals = design.hits[:500].sum(axis=1)
    kept = (totals > 0) & (totals < sizes.sum())
    seen = np.array([by_hand(hits, sizes) for hits in design.hits[:500][kept]])
    tails = 2 * np.minimum(chi2.sf(seen[:, 0], 5), 12 * chi2.sf(seen[:, 1], 1))
    expected = float((tails <= level).mean())
    fewer = Rates(sizes, rates)
    fewer.__dict__["hits"] = design.hits[:500]
    found = fewer.detected(level) * (1 if sizes[0] > 99 else DRAWS / 500)
    assert 0.2 < expected < 0.9
    assert found == pytest.approx(expected, abs=0.004)


def test_given_their_total_few_rows_have_the_statistics_of_their_tables():
    sizes, hits = np.array([5.0, 9.0, 14.0]), np.array([[1.0, 5, 4], [0, 2, 8], [3, 3, 4]])
    squares, contrasts = Rates(sizes, np.full(3, 0.4))._statistics(hits, 10.0)
    expected = [by_hand(row, sizes) for row in hits]
    np.testing.assert_allclose(np.transpose([squares, contrasts]), expected, rtol=1e-12)


def test_a_hit_beyond_the_total_is_given_back_by_large_groups_alone():
    """A group with a fifth of the rows gives back its share of what is beyond; one of less none."""
    sizes = np.array([20.0, 60.0, 15.0, 5.0])  # shares 0.2, 0.6, 0.15 and 0.05
    hits, rate = np.array([[8.0, 20, 4, 2]]), 0.3
    gaps = hits[0] - sizes * rate - 4 * np.array([0.2, 0.6, 0.0, 0.0])
    squares = gaps**2 / (sizes * rate * (1 - rate))
    found = Rates(sizes, np.full(4, rate))._statistics(hits, 30.0)
    assert found[0] == pytest.approx([squares.sum()])
    assert found[1] == pytest.approx([(squares / (1 - sizes / 100)).max()])


@pytest.mark.parametrize("level", [0.05, 0.01, 0.0013])
def test_a_draw_is_rejected_as_often_as_so_few_of_2000_are_beyond_it(level):
    null = np.arange(1.0, 1001.0) / 1e4  # so small that no tail rejects
    value = np.array([0.0, 0.05, 0.0953, 0.0999, 0.1, 0.2])
    beyond = np.array([1000, 501, 48, 2, 1, 0]) / 1000
    found = _rejections((value, value), (null, null), 2, 6, level)
    allowed = np.floor(level * (DRAWS + 1) - 1)
    np.testing.assert_allclose(found, binom.cdf(allowed, DRAWS, beyond), rtol=1e-10)


def test_draws_end_where_none_of_2000_may_be_beyond():
    """At 1.5 / 2001 no draw may be beyond; at less draws never reject, and tails must."""
    null, value = np.zeros(1000), np.array([5.0])
    assert _rejections((value, value), (null, null), 1, 2, 1.5 / 2001) == [1.0]
    assert _rejections((value, value), (null, null), 1, 2, 0.5 / 2001) == [0.0]
    far = np.array([30.0])
    assert _rejections((far, far), (null, null), 1, 2, 0.5 / 2001) == [1.0]


@pytest.mark.parametrize("level", [1e-4, 3e-4])
def test_a_tail_rejects_where_fewer_than_ten_draws_are_beyond(level):
    """Twice the smaller of an omnibus tail and of a contrast's, for as many cells as there are."""
    null = np.arange(1.0, 1001.0) / 100
    for square, contrast in ((9.995, 19.0), (24.0, 9.995), (9.995, 9.995)):
        tail = 2 * min(chi2.sf(square, 3), 8 * chi2.sf(contrast, 1))
        # The smaller p-value counts, among draws whose two are alike.
        beyond = np.minimum((null >= square).sum(), (null >= contrast).sum()) / 1000
        expected = binom.cdf(ENOUGH - 1, DRAWS, beyond) * (tail <= level)
        found = _rejections((np.array([square]), np.array([contrast])), (null, null), 3, 8, level)
        assert found == pytest.approx([expected])


def test_draws_of_one_total_are_together_and_those_without_hits_or_misses_are_left_out():
    totals = np.array([3.0, 0, 5, 3, 9, 5, 3])
    assert [part.tolist() for part in _narrow(totals, 9.0)] == [[0, 3, 6], [2, 5]]
    assert _narrow(np.array([0.0, 9.0]), 9.0) == []


def test_many_totals_are_split_into_sixty_parts_of_equal_width():
    totals = np.arange(1.0, 601.0)
    parts = _narrow(totals, 1e6)
    assert len(parts) == 60
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(600))
    assert {len(part) for part in parts} <= {9, 10, 11}
    assert len(_narrow(np.repeat(np.arange(1.0, 61.0), 3), 1e6)) == 60
    assert all(len(part) == 3 for part in _narrow(np.repeat(np.arange(1.0, 61.0), 3), 1e6))


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.5, 0.9])
@pytest.mark.parametrize("sizes", [[12.0, 7.0], [3.0, 2.0], [5.0, 9.0, 3.0]])
def test_upper_ends_of_few_rows_are_the_farthest_pair_of_beta_quantiles(sizes, confidence):
    """A quarter of a row between Jeffreys' limits and Clopper and Pearson's, on every split."""
    sizes = np.asarray(sizes)
    design = Rates(sizes, np.linspace(0.2, 0.7, len(sizes)))
    hits, reach = design.hits[:30], norm.isf((1 - confidence) / 2)

    def limit(h, n, far):
        if far == 0:
            return h / n
        if (h == 0 and far < 0) or (h == n and far > 0):
            return float(far > 0)
        shift = 0.25 * np.sign(far)
        return beta.ppf(norm.cdf(far), h + 0.5 + shift, n - h + 0.5 - shift)

    angles = np.linspace(0, np.pi / 2, 13)
    splits = zip(np.cos(angles).round(12), np.sin(angles).round(12), strict=True)
    ups_and_downs = [(reach * up, -reach * down) for up, down in splits]
    expected = [
        max(
            limit(row[i], sizes[i], up) - limit(row[j], sizes[j], down)
            for up, down in ups_and_downs
            for i in range(len(sizes))
            for j in range(len(sizes))
            if i != j
        )
        for row in hits
    ]
    np.testing.assert_allclose(design.upper_ends(confidence)[:30], expected, rtol=1e-9)


def test_upper_ends_of_means_are_the_farthest_pair_of_students_limits():
    design = Means(np.array([6.0, 11.0]), np.array([1.0, 1.3]), np.array([0.5, 0.9]))
    means, errors = (part[:30] for part in design.samples)
    free, reach = design.sizes - 1 + 2, norm.ppf(0.975)

    def limit(i, far):
        return means[:, i] + t.ppf(norm.cdf(far), free[i]) * errors[:, i]

    angles = np.linspace(0, np.pi / 2, 13)
    pairs = [
        limit(i, reach * np.cos(a)) - limit(1 - i, -reach * np.sin(a))
        for a in angles
        for i in (0, 1)
    ]
    np.testing.assert_allclose(design.upper_ends(0.95)[:30], np.max(pairs, axis=0), rtol=1e-9)


def test_means_vary_as_they_should_and_lend_two_rows_of_their_common_variance():
    design = Means(np.array([1.0, 2.0, 40.0]), np.array([3.0, 1.0, 2.0]), np.array([2.0, 0.5, 1.0]))
    means, errors = design.samples
    np.testing.assert_allclose(means.mean(axis=0), design.values, atol=0.12)
    np.testing.assert_allclose(means.std(axis=0), design.spread / np.sqrt(design.sizes), rtol=0.06)
    squares = np.array([0.0, 0.25, 39.0])  # (n − 1) s², on average; a single row has none
    pooled = squares.sum() / 43
    expected = (squares + 2 * pooled) / (np.array([0.0, 1.0, 39.0]) + 2) / design.sizes
    np.testing.assert_allclose((errors**2).mean(axis=0), expected, rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_power_of_means_does_not_depend_on_their_unit(unit):
    one = eh.power([40, 60, 25], sd=[1.0, 2.0, 0.5])
    other = eh.power([40, 60, 25], sd=[unit, 2 * unit, 0.5 * unit])
    assert other.difference == pytest.approx(unit * one.difference, rel=1e-6)
    assert other.power == one.power
    means = [1.0, 1.5, 1.2]
    one = eh.power([9, 12, 30], means=means, sd=0.8)
    other = eh.power([9, 12, 30], means=[unit * m for m in means], sd=0.8 * unit)
    assert (other.power, other.factor, other.at_least) == (one.power, one.factor, one.at_least)


def test_two_large_groups_of_means_are_told_apart_as_often_as_by_the_textbook():
    sizes, gap = 500, 0.2
    error = np.sqrt(2 / sizes)
    expected = norm.sf(norm.isf(0.025) - gap / error) + norm.cdf(-norm.isf(0.025) - gap / error)
    found = eh.power([sizes, sizes], means=[0.0, gap], sd=1.0)
    assert found.power == pytest.approx(expected, abs=0.03)
    least = (norm.isf(0.025) + norm.isf(0.2)) * error
    assert found.difference == pytest.approx(least, rel=0.06)


def test_rows_are_rounded_up_but_not_for_a_billionth_of_one():
    design = Rates(np.array([10.0, 20.0]), np.array([0.3, 0.4]))
    assert design.resized(np.array([3.0 + 1e-12, 4.2])).sizes.tolist() == [3, 5]
    assert design.resized(np.array([0.2, 0.0])).sizes.tolist() == [1, 1]
    assert design.spread == pytest.approx([np.sqrt(0.21), np.sqrt(0.24)])


def test_groups_that_are_alike_have_the_mean_of_all_rows():
    assert alike(Rates(np.array([10.0, 30.0]), np.array([0.4, 0.2]))).values.tolist() == [0.25] * 2
    even = alike(Means(np.array([10.0, 30.0]), np.array([4.0, 2.0]), np.array([1.0, 5.0])))
    assert (even.values.tolist(), even.spread.tolist()) == ([2.5, 2.5], [1, 5])


def test_one_group_apart_is_below_where_it_cannot_be_above():
    common = Rates(np.array([10.0, 30.0]), np.array([0.7, 0.7]))
    assert one_group_shifted(common, 0, 0.2).values.tolist() == pytest.approx([0.9, 0.7])
    assert one_group_shifted(common, 0, 0.4).values.tolist() == pytest.approx([0.3, 0.7])
    assert one_group_shifted(common, 1, -0.7).values.tolist() == pytest.approx([0.7, 0.0])
    half = Rates(np.array([10.0, 30.0]), np.array([0.5, 0.5]))
    assert one_group_shifted(half, 0, 0.5).values.tolist() == [1.0, 0.5]
    with pytest.raises(eh.InputError, match=r"No rate is 0\.8 from 0\.7"):
        one_group_shifted(common, 0, 0.8)
    means = Means(np.array([10.0, 30.0]), np.zeros(2), np.ones(2))
    assert one_group_shifted(means, 1, -3.0).values.tolist() == [0, -3]


def test_the_smallest_group_is_apart_unless_another_is_named():
    rows = np.array([5.0, 2.0, 9.0])
    assert place_of(("a", "b", "c"), rows, None) == 1
    assert place_of(("a", "b", "c"), rows, "c") == 2
    with pytest.raises(eh.InputError, match="There is no group 'd'"):
        place_of(("a", "b", "c"), rows, "d")


def test_a_stratum_of_rates_has_pearsons_statistic():
    sizes, hits = np.array([40.0, 60.0, 25.0]), np.array([10.0, 33.0, 5.0])
    shares = np.stack([hits, sizes - hits]) / sizes
    stratum = Stratum.of_rates(sizes, shares)
    square, contrast = by_hand(hits, sizes)
    assert (stratum.shift**2).sum() == pytest.approx(square)
    assert stratum.free == 2
    quiet = stratum._statistics(1.0, np.zeros((1, 2, 3)))
    assert (quiet[0][0], quiet[1][0]) == pytest.approx((square, contrast))
    more = stratum._statistics(2.0, np.zeros((1, 2, 3)))
    assert (more[0][0], more[1][0]) == pytest.approx((4 * square, 4 * contrast))


def test_a_stratum_of_values_has_the_chi_squared_of_values_with_errors():
    values, errors = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.3, 1.0])
    weight = errors**-2 / (errors**-2).sum()
    distances = (values - (weight * values).sum()) / errors
    stratum = Stratum.of_values(values, errors)
    np.testing.assert_allclose(stratum.shift, distances[None])
    np.testing.assert_allclose(stratum.weight**2, weight)
    assert stratum.free == 2
    quiet = stratum._statistics(1.0, np.zeros((1, 1, 3)))
    assert quiet[1][0] == pytest.approx((distances**2 / (1 - weight)).max())


@pytest.mark.parametrize("outcomes", [2, 4])
def test_groups_that_are_alike_show_chi_squared_statistics(outcomes):
    shares = np.repeat(np.arange(1.0, outcomes + 1)[:, None], 3, axis=1)
    stratum = Stratum.of_rates(np.array([50.0, 80.0, 20.0]), shares / shares.sum(axis=0))
    squares, contrasts = stratum.null(4000)
    free = 2 * (outcomes - 1)
    assert stratum.free == free
    assert squares.mean() == pytest.approx(free, rel=0.05)
    assert squares.var() == pytest.approx(2 * free, rel=0.15)
    assert (contrasts <= squares + 1e-9).all()
    assert np.quantile(squares, 0.95) == pytest.approx(chi2.isf(0.05, free), rel=0.06)


def test_own_noise_of_a_rare_outcome_is_smaller():
    """Counts of a group vary with its own share s: s (1 − s) where all groups' is p (1 − p)."""
    sizes, rates = np.array([500.0, 500.0]), np.array([0.02, 0.5])
    stratum = Stratum.of_rates(sizes, np.stack([rates, 1 - rates]))
    noise = stratum._noise(6000, 1, is_null=False)
    gap = noise[:, 0, 0] * np.sqrt(2)  # what both groups share is taken off, a half of the square
    pooled = 0.26
    expected = (rates * (1 - rates)).mean() / pooled
    assert gap.var() == pytest.approx(expected, rel=0.06)


def test_differences_that_noise_explains_are_cleared():
    sizes, rates = np.array([50.0, 60.0, 70.0]), np.array([0.3, 0.5, 0.45])
    stratum = Stratum.of_rates(sizes, np.stack([rates, 1 - rates]))
    square = float((stratum.shift**2).sum())
    (cleared,) = _cleared((stratum,))
    assert (cleared.shift**2).sum() == pytest.approx(square - 1)  # two degrees of freedom less one
    twice = _cleared((stratum, stratum))
    assert sum((part.shift**2).sum() for part in twice) == pytest.approx(2 * square - 3)
    near = Stratum.of_rates(sizes, np.stack([rates * 0 + 0.4, rates * 0 + 0.6]))
    assert np.abs(_cleared((near,))[0].shift).max() < 1e-9
    two = Stratum.of_values(np.array([0.0, 1.0]), np.ones(2))
    np.testing.assert_array_equal(_cleared((two,))[0].shift, two.shift)


def test_beyond_its_draws_a_test_rejects_from_the_tails_on():
    stratum = Stratum.of_values(np.zeros(4), np.ones(4))
    square, contrast = _critical([stratum], 1e-3)
    assert square == pytest.approx(chi2.isf(1e-3 * SHARES[0], 3))
    assert contrast == pytest.approx(chi2.isf(1e-3 * SHARES[1] / 4, 1))
    both = _critical([stratum, stratum], 1e-3)
    assert both[0] == pytest.approx(chi2.isf(1e-3 * SHARES[0], 6))
    assert both[1] == pytest.approx(chi2.isf(1e-3 * SHARES[1] / 8, 1))


def test_the_two_limits_of_a_test_are_exceeded_by_its_level_together():
    stratum = Stratum.of_values(np.zeros(5), np.ones(5))
    for level in (0.05, 0.2):
        square, contrast = _critical([stratum], level)
        squares, contrasts = stratum.null(1000)
        beyond = ((squares >= square) | (contrasts >= contrast)).mean()
        assert beyond == pytest.approx(level, abs=0.004)
        parts = (squares >= square).mean(), (contrasts >= contrast).mean()
        assert parts[0] / parts[1] == pytest.approx(SHARES[0] / SHARES[1], rel=0.08)


def test_strata_are_tested_by_the_sum_of_squares_and_the_largest_contrast():
    one = np.array([1.0, 5.0]), np.array([0.5, 4.0])
    two = np.array([2.0, 1.0]), np.array([1.5, 0.5])
    squares, contrasts = _joint([one, two])
    assert (squares.tolist(), contrasts.tolist()) == ([3, 6], [1.5, 4])


def test_cells_of_one_distribution_are_one_question_and_others_are_their_own():
    sizes = np.array([[10.0, 20.0, 0.0], [10.0, 20.0, 0.0], [7.0, 8.0, 9.0], [7.0, 5.0, 0.0]])
    shares = np.array([[0.2, 0.5, 0.0], [0.3, 0.1, 0.0], [0.5, 0.25, 0.1], [0.5, 0.2, 0.0]])
    together, *alone = _questions(shares, sizes, np.array([0, 0, 1, 1]))
    (stratum,) = together
    expected = Stratum.of_rates(sizes[0, :2], np.array([[0.2, 0.5], [0.3, 0.1], [0.5, 0.4]]))
    np.testing.assert_allclose(stratum.shift, expected.shift)
    assert len(alone) == 2  # of which the rows differ: one of three groups, one of two
    assert [question[0].shift.shape for question in alone] == [(2, 3), (2, 2)]
    pair = Stratum.of_rates(sizes[2], np.stack([shares[2], 1 - shares[2]]))
    np.testing.assert_allclose(alone[0][0].shift, pair.shift)


def test_strata_that_are_each_a_distribution_are_one_question_together():
    sizes = np.array([[10.0, 20.0], [30.0, 5.0]])
    shares = np.array([[0.2, 0.5], [0.4, 0.4]])
    ((first, second),) = _questions(shares, sizes, np.array([0, 1]))
    assert (first.shift.shape, second.shift.shape) == ((2, 2), (2, 2))
    assert _questions(shares, np.array([[10.0, 0.0], [0.0, 5.0]]), np.array([0, 1])) == ()


def test_an_outcome_that_no_group_shows_is_left_out():
    ((stratum,),) = _questions(
        np.array([[0.2, 0.5], [0.8, 0.5]]), np.full((2, 2), 30.0), np.array([0, 0])
    )
    assert stratum.shift.shape == (2, 2)  # the rest of both is none


def test_the_largest_gap_is_between_two_different_groups():
    rng = np.random.default_rng(0)
    low = rng.random((200, 4))
    high = low + rng.random((200, 4))
    expected = [
        max(h[i] - g[j] for i in range(4) for j in range(4) if i != j)
        for h, g in zip(high, low, strict=True)
    ]
    np.testing.assert_allclose(_largest_gap(high, low), expected)


def test_the_farthest_pair_of_normal_values_is_their_gap_and_both_errors():
    """On the right split the reach is that of the difference: √(s₁² + s₂²) z."""
    values, errors = np.array([[1.0, 3.0]]), np.array([1.0, 1.0])
    found = farthest(lambda far: values + far * errors, 0.95)
    assert found == pytest.approx([2 + np.sqrt(2) * norm.isf(0.025)])


def test_normal_groups_that_are_alike_have_the_errors_of_two_more_rows():
    model = NormalModel.of_rates(np.array([30.0, 50.0]), np.array([0.2, 0.4]))
    rows = np.array([60.0, 100.0])
    steadied = (np.array([0.2, 0.4]) * rows + 1) / (rows + 2)
    np.testing.assert_allclose(model._errors(2.0), np.sqrt(steadied * (1 - steadied) / rows)[None])
    means = NormalModel.of_means(np.array([1.0, 2.0]), np.array([0.5, 0.6]))
    np.testing.assert_allclose(means._errors(4.0), [[0.25, 0.3]])


def test_the_interval_of_normal_means_ends_within_the_margin_as_often_as_one_variable_does():
    """Two means that are alike: |x − y| + √2 s z ≤ margin."""
    model = NormalModel.of_means(np.zeros(2), np.array([1.0, 1.0]))
    scale, reach = np.sqrt(2), norm.isf(0.05)
    for margin in (3.0, 4.0, 5.0):
        left = margin / scale - reach
        expected = norm.cdf(left) - norm.cdf(-left)
        assert model.alike(margin, 0.9) == pytest.approx(expected, abs=0.06)
        fourfold = 2 * margin / scale - reach
        expected = norm.cdf(fourfold) - norm.cdf(-fourfold)
        assert model.alike(margin, 0.9, 4.0) == pytest.approx(expected, abs=0.06)


def test_a_normal_test_of_two_groups_rejects_as_often_as_the_textbooks():
    model = NormalModel.of_means(np.array([0.0, 2.0]), np.ones(2))
    detected = model.detector(0.05)
    for factor in (0.5, 1.0, 3.0):
        gap = 2 * np.sqrt(factor / 2)
        expected = norm.sf(norm.isf(0.025) - gap) + norm.cdf(-norm.isf(0.025) - gap)
        assert detected(factor) == pytest.approx(expected, abs=0.05)


def test_two_questions_are_each_tested_at_half_of_the_level():
    one = (Stratum.of_values(np.array([0.0, 3.0]), np.ones(2)),)
    two = NormalModel((one, one), np.zeros((2, 2)), np.ones((2, 2)))
    single = NormalModel((one,), np.zeros((1, 2)), np.ones((1, 2)))
    missed = 1 - single.detector(0.025)(1.0)
    assert two.detector(0.05)(1.0) == pytest.approx(1 - missed**2)


def test_a_crossing_is_where_the_target_is_reached_and_not_before():
    assert crossing(lambda x: x, 4.0, (1.0, 16.0), steps=1) == 4.0
    assert crossing(lambda x: x, 16.0, (1.0, 16.0), steps=0) == 16.0
    assert crossing(lambda x: float(x >= 5.0), 1.0, (1.0, 100.0)) == pytest.approx(5.0, rel=1e-4)


def test_groups_are_limiting_where_few_are_at_least_half_as_wide_as_the_widest():
    assert limiting(np.array([1.0, 0.2, 0.3, 0.1])) == [0]
    assert limiting(np.array([0.5, 0.2, 1.0, 0.1])) == [2, 0]
    assert limiting(np.array([0.5, 0.2, 1.0])) == []  # two of three are no few
    assert limiting(np.array([1.0, np.nan, 0.2, 0.3])) == [0]
    assert limiting(np.array([0.6, 0.7, 0.8, 0.9, *[0.1] * 9])) == [3, 2, 1]
    assert limiting(np.array([np.nan, np.nan])) == []


def test_lacking_rows_are_named_with_their_number_where_it_is_known():
    assert lacking([]) == ""
    assert lacking([("a", None)]) == " More rows of a are needed most."
    assert (
        lacking([("a", 1234.0), ("b", 5.0)]) == " More rows of a (1,234) and b (5) are needed most."
    )
    three = [("a", None), ("b", None), ("c", 7.0)]
    assert lacking(three) == " More rows of a, b and c (7) are needed most."


def test_rates_in_steps_and_normal_ones_are_told_apart_about_as_often(monkeypatch):
    """Where every count is many, the exact draws and the normal noise are the same power."""
    design = Rates(np.array([300.0, 200.0, 250.0]), np.array([0.3, 0.4, 0.35]))
    normal = design.detected(0.05)
    monkeypatch.setattr(designs, "LARGE_COUNTS", 1e9)
    assert Rates(design.sizes, design.values).detected(0.05) == pytest.approx(normal, abs=0.03)


def test_rates_of_the_same_rows_that_add_up_to_more_than_1_are_no_distribution():
    shares = np.array([[0.8, 0.7], [0.6, 0.5]])
    alone = _questions(shares, np.full((2, 2), 30.0), np.array([0, 0]))
    assert [question[0].shift.shape for question in alone] == [(2, 2), (2, 2)]
    exactly = _questions(np.array([[0.8, 0.7], [0.2, 0.3]]), np.full((2, 2), 30.0), np.zeros(2))
    assert len(exactly) == 1


def known(values, errors):
    """Estimates of one cell, whose curves are lines."""
    values, errors = np.array([values], float), np.array([errors], float)
    return Estimates(
        values,
        values + errors * DISTANCES[:, None, None],
        ("all",),
        tuple(range(values.shape[1])),
        np.full(values.shape, 9.0),
        np.zeros(1, np.intp),
        1.0,
        lambda error: (values, values),
    )


def test_groups_without_an_error_are_left_out_of_normal_noise():
    assert NormalModel.of_estimates(known([1.0, 2.0], [0.0, 0.0])) is None
    assert NormalModel.of_estimates(known([1.0, 2.0, 3.0], [0.5, 0.0, np.nan])) is None
    model = NormalModel.of_estimates(known([1.0, 2.0, 3.0], [0.5, 0.0, 0.4]))
    ((stratum,),) = model.questions
    assert stratum.shift.shape == (1, 2)
    both = NormalModel.of_estimates(known([1.0, 3.0], [0.5, 0.4]))
    np.testing.assert_allclose(stratum.shift, both.questions[0][0].shift)
    np.testing.assert_allclose(model.upper_ends(0.9), both.upper_ends(0.9))


def test_groups_without_a_value_do_not_widen_the_limits_of_others():
    values, errors = np.array([[0.0, np.nan, 0.0, 0.0]]), np.array([[1.0, 2.0, 0.5, np.nan]])
    found = NormalModel((), values, errors).upper_ends(0.95)
    two = NormalModel((), values[:, [0, 2]], errors[:, [0, 2]]).upper_ends(0.95)
    np.testing.assert_allclose(found, two)
    alone = NormalModel((), values[:, :2], errors[:, :2])
    assert (alone.upper_ends(0.95) == 0).all()


def test_the_widest_twenty_groups_decide_where_the_limits_of_normal_noise_end():
    errors = np.append(np.full(20, 1.0), np.full(30, 1e-3))
    many = NormalModel((), np.zeros((1, 50)), errors[None]).upper_ends(0.95)
    twenty = NormalModel((), np.zeros((1, 20)), errors[None, :20]).upper_ends(0.95)
    np.testing.assert_allclose(many, twenty)


@pytest.mark.parametrize("shift", [0.0, 1.5, 3.0])
def test_where_a_power_reaches_its_target_is_found_by_one_that_is_a_constant_off(shift):
    found = _where_power_reaches(
        0.8, lambda x: norm.cdf(x - 5), lambda x: norm.cdf(x - 5 + shift), (0.1, 50.0)
    )
    assert norm.cdf(found - 5 + shift) == pytest.approx(0.8, abs=0.011)
    never = _where_power_reaches(0.8, lambda x: 0.5, lambda x: 0.5, (0.1, 50.0))
    assert never == np.inf


def test_a_power_that_is_certain_says_no_more_than_one_of_999_in_1000():
    """Three corrections of at most 3.09 + 3.09 on the scale of normal quantiles."""
    found = _where_power_reaches(0.8, lambda x: norm.cdf(x - 9), lambda x: 1.0, (0.1, 50.0))
    assert found == pytest.approx(9 + norm.isf(0.2) - 2 * norm.isf(1e-3), abs=1e-3)


@pytest.mark.slow
def test_no_number_of_rows_shows_a_difference_that_is_not_there():
    found = eh.power([50, 60], rates=[0.3, 0.3], power=0.02)  # less often than a test errs
    assert (found.factor, found.at_least) == (np.inf, np.inf)
