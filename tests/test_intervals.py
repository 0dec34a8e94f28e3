"""Intervals hold the true value, for many groups and for none apart."""

import numpy as np
import pytest

import evenhand as eh
from evenhand._uncertainty.interval import stories
from evenhand._uncertainty.models import counts_of


def world(rng, rates, rows):
    group = np.repeat(np.arange(len(rates)), rows)
    return eh.tally(None, rng.random(len(group)) < rates[group], sensitive_features=group)


def test_two_groups_by_mpd_have_about_the_interval_of_a_difference_of_proportions():
    y = np.repeat([1, 0, 1, 0], [300, 200, 180, 320])
    counts = eh.tally(None, y, sensitive_features=np.repeat(["a", "b"], 500))
    found = eh.interval(counts, "statistical_parity", measure="mpd", random_state=0)
    reach = 1.96 * np.sqrt(0.6 * 0.4 / 500 + 0.36 * 0.64 / 500)
    assert found.value == pytest.approx(0.24)
    assert found.low == pytest.approx(0.24 - reach, abs=0.01)
    assert found.high == pytest.approx(0.24 + reach, abs=0.01)


@pytest.mark.parametrize("measure", ["mpd", "gini", "pq"])
@pytest.mark.parametrize("shape", ["zero", "one apart", "spread"])
def test_the_true_value_is_held_where_the_bootstrap_fails(measure, shape):
    """Thirty groups of a hundred rows; 40 worlds, so 36 is two deviations below 95 %."""
    rng = np.random.default_rng(3)
    rates = {
        "zero": np.full(30, 0.3),
        "one apart": np.append(0.6, np.full(29, 0.3)),
        "spread": np.linspace(0.2, 0.4, 30),
    }[shape]
    true = max(float(eh.MEASURES[measure](r)) for r in (rates, 1 - rates))
    held = 0
    for _ in range(40):
        counts = world(rng, rates, 100)
        options = {"measure": measure, "replicates": 100, "random_state": rng}
        found = eh.interval(counts, "statistical_parity", **options)
        held += found.low - 1e-9 <= true <= found.high + 1e-9
    assert held >= 36


@pytest.mark.parametrize("measure", ["mpd", "gini", "pq", "shortfall"])
@pytest.mark.parametrize(
    "criterion", ["equalized_odds", "equal_opportunity", "predictive_parity", "accuracy_parity"]
)
def test_every_criterion_of_counts_has_an_interval(criterion, measure):
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 2, 2000), rng.integers(0, 4, 2000)
    p = np.where(rng.random(2000) < 0.7 + 0.1 * (group == 1), y, 1 - y)
    counts = eh.tally(y, p, sensitive_features=group)
    options = {"measure": measure, "replicates": 60, "random_state": 0}
    found = eh.interval(counts, criterion, **options)
    assert 0 <= found.low < found.high <= 1
    assert found.low <= found.value
    assert eh.interval(counts, criterion, **options) == found


def test_many_classes_have_an_interval():
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 4, 3000), rng.integers(0, 3, 3000)
    p = np.where((rng.random(3000) < 0.5) & (group == 0), 0, y)
    counts = eh.tally(y, p, sensitive_features=group)
    found = eh.interval(counts, "equalized_odds", measure="mpd", random_state=0)
    assert found.low > 0.4
    assert found.high < 0.6


def test_more_rows_make_it_shorter():
    rng = np.random.default_rng(0)
    rates = np.linspace(0.2, 0.5, 6)
    widths = []
    for rows in (50, 500, 5000):
        found = eh.interval(world(rng, rates, rows), "statistical_parity", random_state=0)
        widths.append(found.high - found.low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_stories_are_of_chances_and_the_first_begins_with_equal_groups():
    counts = world(np.random.default_rng(0), np.array([0.2, 0.3, 0.8]), 200)
    rows = counts_of(counts, eh.CRITERIA["statistical_parity"])
    told = list(stories(rows))
    assert len(told) == 3
    assert np.ptp(told[0][0], axis=1).max() < 1e-12
    for story in told:
        for chances in story:
            assert (chances >= 0).all()
            np.testing.assert_allclose(chances.sum(axis=-1), 1)


def test_groups_that_look_equal_may_still_differ():
    counts = eh.tally(None, [1, 0] * 40, sensitive_features=np.repeat(["a", "b"], 40))
    for measure in ("mpd", "gini", "pq"):
        found = eh.interval(counts, "statistical_parity", measure=measure, random_state=0)
        assert found.value == 0
        assert found.low == 0
        assert found.high > 0.005


def test_an_undefined_value_has_no_interval():
    counts = eh.tally(None, [1, 0], sensitive_features=["a", "a"])
    assert np.isnan(eh.interval(counts, "statistical_parity").low)


def test_the_estimate_takes_the_noise_out():
    """Fifty fair groups look uneven; the corrected estimate is far below the value, often 0."""
    rng = np.random.default_rng(0)
    found = [
        eh.interval(world(rng, np.full(50, 0.3), 100), "statistical_parity", random_state=0)
        for _ in range(10)
    ]
    assert np.median([one.value for one in found]) > 0.008
    assert np.median([one.estimate for one in found]) < 0.003


@pytest.mark.parametrize("measure", ["mpd", "gini", "pq"])
def test_the_estimate_of_clearly_different_groups_is_near_the_value(measure):
    counts = world(np.random.default_rng(0), np.array([0.2, 0.4, 0.6]), 5000)
    found = eh.interval(counts, "statistical_parity", measure=measure, random_state=0)
    assert found.estimate == pytest.approx(found.value, rel=0.05)
