"""Differences between models on the same rows: by hand, by formula, and in repeated worlds."""

import numpy as np
import pytest
from scipy.stats import norm

import evenhand as eh
from evenhand._columns import Column
from evenhand._compare.evidence import Labels, Numbers
from evenhand._compare.paired import difference, order_of, single
from evenhand._compare.question import Question
from evenhand._compare.tables import resampled


def two_models(rng, first, second, rows):
    """Predictions with these rates by group; in three of five rows by the same draw."""
    group = np.repeat(np.arange(len(first)), rows).astype(np.uint8)
    one, two = rng.random((2, len(group)))
    two = np.where(rng.random(len(group)) < 0.6, one, two)
    codes = [(one < first[group]).astype(np.uint8), (two < second[group]).astype(np.uint8)]
    whom = eh.Groups(group, tuple(range(len(first))), ("group",))
    return Labels(None, tuple(Column(each, (0, 1)) for each in codes), whom, None)


def asked(measure):
    return Question(eh.CRITERIA["statistical_parity"], measure)


@pytest.mark.parametrize("measure", ["mpd", "gini", "shortfall"])
def test_distances_are_linear_in_small_deviations(measure):
    assert order_of(eh.MEASURES[measure]) == 1


@pytest.mark.parametrize(("p", "q"), [(1, 2), (0.1, 2), (1, 1.1), (0.5, 2.5)])
def test_pq_is_quadratic_in_small_deviations(p, q):
    assert order_of(lambda values: eh.pq(values, p=p, q=q)) == 2


def test_two_large_groups_have_the_difference_of_differences():
    """MPD of two groups is |p₁ − p₂|; of a² − b² the error is 2 √(a² σ² + b² τ²), by a + b."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 20_000).astype(np.uint8)
    rates = np.array([[0.5, 0.2], [0.4, 0.3]])
    codes = [(rng.random(40_000) < rate[group]).astype(np.uint8) for rate in rates]
    whom = eh.Groups(group, (0, 1), ("group",))
    rows = Labels(None, tuple(Column(each, (0, 1)) for each in codes), whom, None)
    seen = asked("mpd").values(rows.observed({"predictions"}))
    drawn = resampled(rows, [asked("mpd")], 4000, rng)[:, 0]
    found = difference(tuple(seen), (drawn[:, 0], drawn[:, 1]), 1, 0.95)
    one, two = (rates * (1 - rates)).sum(axis=1) / 20_000
    error = 2 * np.sqrt(0.3**2 * one + 0.1**2 * two) / (0.3 + 0.1)
    assert found.value == pytest.approx(seen[0] - seen[1], abs=0.002)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.06)
    assert found.p_value < 1e-50


def test_the_quadratic_interval_by_hand():
    drawn = (np.array([0.04, 0.06, 0.05, 0.07]), np.array([0.01, 0.02, 0.03, 0.02]))
    found = difference((0.05, 0.015), drawn, 2, 0.9)
    center = 2 * 0.035 - np.mean([0.03, 0.04, 0.02, 0.05])
    error = np.std([0.03, 0.04, 0.02, 0.05], ddof=1)
    assert found.value == pytest.approx(center)
    assert found.low == pytest.approx(center - 1.6448536 * error)
    assert found.high == pytest.approx(center + 1.6448536 * error)
    assert found.p_value == pytest.approx(2 * norm.sf(center / error))


def test_a_difference_of_squares_is_read_as_a_difference():
    """a² − b² = (a − b)(a + b), with a = 0.5, b = 0.3 and draws that add no noise."""
    drawn = (np.array([0.5, 0.5]), np.array([0.3, 0.3]))
    found = difference((0.5, 0.3), drawn, 1, 0.95)
    assert (found.value, found.p_value) == (pytest.approx(0.2), 0.0)


def test_a_single_value_is_cleared_of_what_resampling_adds():
    """Drawn squares average 0.13, the observed one is 0.09: the noise is 0.04, the truth 0.05."""
    drawn = np.sqrt(np.array([0.11, 0.15]))
    found = single(0.3, drawn, 1, 0.95)
    assert found.value == pytest.approx(np.sqrt(0.05))
    reach = 1.959964 * np.std([0.11, 0.15], ddof=1)
    assert found.low == 0
    assert found.high == pytest.approx(np.sqrt(0.05 + reach))


def test_models_that_agree_everywhere_are_not_told_apart():
    rng = np.random.default_rng(0)
    rows = two_models(rng, np.full(4, 0.3), np.full(4, 0.3), 50)
    same = Labels(None, (rows.predicted[0],) * 2, rows.groups, None)
    drawn = resampled(same, [asked("gini")], 50, rng)[:, 0]
    seen = asked("gini").values(same.observed({"predictions"}))
    found = difference(tuple(seen), (drawn[:, 0], drawn[:, 1]), 1, 0.95)
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["mpd", "gini", "pq"])
def test_noise_is_not_taken_for_a_difference_where_the_plain_bootstrap_does(measure):
    """Fifty groups of 100 rows, both models fair, at rates 0.3 and 0.6: the truth is no difference.

    In 60 worlds, 8 false claims are three deviations above 5 %.
    """
    rng = np.random.default_rng(5)
    one = asked(measure)
    claimed, plainly = 0, 0
    for _ in range(60):
        rows = two_models(rng, np.full(50, 0.3), np.full(50, 0.6), 100)
        seen = one.values(rows.observed({"predictions"}))
        drawn = resampled(rows, [one], 150, rng)[:, 0]
        claimed += (
            difference(tuple(seen), (drawn[:, 0], drawn[:, 1]), one.order, 0.95).p_value <= 0.05
        )
        low, high = np.quantile(drawn[:, 0] - drawn[:, 1], [0.025, 0.975])
        plainly += not low <= 0 <= high
    assert claimed <= 8
    if measure != "mpd":
        assert plainly >= 20


def test_resampled_tables_have_the_moments_of_resampled_rows():
    """Means and covariances of the two models' counts, by the formula of the multinomial."""
    rng = np.random.default_rng(1)
    rows = two_models(rng, np.array([0.2, 0.5]), np.array([0.4, 0.5]), 30)
    (batch,) = rows.resampled({"predictions"}, 20_000, rng)
    one, two = (tally.table("yhat", "group")[:, 1, 0] for tally in batch["predictions"])
    first, second = (
        np.asarray(each.codes == 1) & (rows.groups.codes == 0) for each in rows.predicted
    )
    n = len(rows.groups)
    shares = [first.mean(), second.mean(), (first & second).mean()]
    assert one.mean() == pytest.approx(n * shares[0], rel=0.02)
    covariance = n * (shares[2] - shares[0] * shares[1])
    assert np.cov(one, two)[0, 1] == pytest.approx(covariance, rel=0.08)


@pytest.mark.slow
def test_resampled_numbers_have_the_moments_of_resampled_rows():
    rng = np.random.default_rng(2)
    values, group = rng.random(200), np.repeat([0, 1], 100).astype(np.uint8)
    rows = Numbers(None, (values,), eh.Groups(group, (0, 1), ("group",)), None)
    replicates = rows.resampled({"moments"}, 2000, rng)
    found = [
        (one["moments"][0].table("group", of="yhat") / one["moments"][0].table("group"))
        for one in replicates
    ]
    means = np.array(found)
    assert means.mean(axis=0) == pytest.approx([values[:100].mean(), values[100:].mean()], abs=5e-3)
    expected = [values[:100].std() / 10, values[100:].std() / 10]
    assert means.std(axis=0) == pytest.approx(expected, rel=0.08)
