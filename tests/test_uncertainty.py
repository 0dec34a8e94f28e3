"""What chance alone shows: against formulas, exact enumeration and repeated fair worlds."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact

import evenhand as eh
from evenhand._uncertainty.models import _drawn as drawn_counts
from evenhand._uncertainty.models import counts_of
from lanes import one_in


def fair_world(rng, groups=10, rows=100, rate=0.25):
    group = np.repeat(np.arange(groups), rows)
    return eh.tally(None, rng.random(len(group)) < rate, sensitive_features=group)


def test_the_floor_of_pq_is_that_of_the_formula():
    """E(CV²) ≈ (1 − 1/d)(1 − r) / (r n), and PQ ≈ CV²/2."""
    counts = eh.tally(
        None, np.tile([1, 0, 0, 0], 50 * 25), sensitive_features=np.repeat(np.arange(50), 100)
    )
    found = eh.chance("statistical_parity", counts, measure="pq", favorable=1, random_state=0)
    assert found.value == 0
    assert found.p_value == 1
    assert found.floor == pytest.approx(0.98 * 0.75 / (2 * 0.25 * 100), rel=0.05)


def test_the_p_value_is_that_of_full_enumeration():
    """Two groups of 12 and 9 rows, 11 of 21 selected: all pairs of binomial counts."""
    p = np.repeat([1, 0, 1, 0], [9, 3, 2, 7])
    group = np.repeat(["a", "b"], [12, 9])
    share, observed = 11 / 21, abs(9 / 12 - 2 / 9)
    exact = sum(
        binom.pmf(i, 12, share) * binom.pmf(j, 9, share)
        for i, j in product(range(13), range(10))
        if abs(i / 12 - j / 9) >= observed - 1e-12
    )
    counts = eh.tally(None, p, sensitive_features=group)
    options = {"measure": "mpd", "replicates": 40_000, "random_state": 1}
    found = eh.chance("statistical_parity", counts, **options)
    assert found.p_value == pytest.approx(exact, abs=0.004)
    assert found.p_value == pytest.approx(fisher_exact([[9, 3], [2, 7]]).pvalue, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("measure", one_in(3, ["mpd", "gini", "pq"]))
def test_the_p_value_of_fair_models_is_uniform(measure):
    rng = np.random.default_rng(2)
    values = [
        eh.chance(
            "statistical_parity", fair_world(rng), measure=measure, replicates=199, random_state=rng
        ).p_value
        for _ in range(400)
    ]
    assert np.mean(values) == pytest.approx(0.5, abs=0.05)
    for level in (0.05, 0.1, 0.5):
        assert np.mean(np.array(values) <= level) == pytest.approx(level, abs=0.05)


def test_a_real_disparity_is_told_from_chance():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, 5000)
    p = rng.random(5000) < 0.2 + 0.15 * (group == 3)
    counts = eh.tally(None, p, sensitive_features=group)
    found = eh.chance("statistical_parity", counts, random_state=0)
    assert found.p_value < 0.001
    assert found.floor < found.high < found.value


@pytest.mark.parametrize("criterion", ["equalized_odds", "equal_opportunity", "average_odds"])
def test_what_is_given_stays_as_it_is(criterion):
    rng = np.random.default_rng(0)
    y, p, group = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    counts = eh.tally(y, p, sensitive_features=group)
    asked = eh.CRITERIA[criterion]
    rows = replace(counts_of(counts, asked), read=lambda drawn: drawn)
    (fair,) = rows.draw(np.broadcast_to(rows.pooled, rows.observed.shape), 50, rng)
    assert asked.statistic.conditions == ("y",)
    expected = counts.table("y", "group")
    assert (fair.sum(axis=-1) == expected).all()
    pooled = counts.table("y", "yhat") / counts.table("y", "yhat").sum(axis=1, keepdims=True)
    mean = fair.mean(axis=0)
    np.testing.assert_allclose(mean / expected[..., None], pooled[:, None] + 0 * mean, atol=0.05)


@pytest.mark.parametrize(
    ("criterion", "axes"),
    [
        ("statistical_parity", ()),
        ("conditional_statistical_parity", ("stratum",)),
        ("predictive_parity", ("yhat",)),
        ("false_omission_rate_parity", ("yhat",)),
        ("accuracy_parity", ()),
    ],
)
def test_each_criterion_knows_what_it_conditions_on(criterion, axes):
    assert eh.CRITERIA[criterion].statistic.conditions == axes


def test_the_cost_does_not_depend_on_the_rows():
    counts = eh.tally([1, 0, 1, 0], [1, 1, 0, 0], sensitive_features=[*"aabb"])
    huge = eh.Tally(counts.axes, counts.cells, {"rows": counts.sums["rows"] * 10**9})
    found = eh.chance("equalized_odds", huge, measure="mpd", random_state=0)
    assert found.floor < 1e-3


def test_an_expected_tally_is_refused():
    chances = [[0.5, 0.5], [0.2, 0.8]]
    counts = eh.tally([0, 1], chances, classes=[0, 1], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="Draw the labels"):
        eh.chance("statistical_parity", counts)


def test_equal_weights_change_nothing():
    rng = np.random.default_rng(0)
    p, group = rng.integers(0, 2, 400), rng.integers(0, 4, 400)
    plain = eh.tally(None, p, sensitive_features=group)
    twice = eh.tally(None, p, sensitive_features=group, sample_weight=np.full(400, 2.0))
    for measure in ("mpd", "gini", "pq"):
        options = {"measure": measure, "random_state": 0}
        assert eh.chance("statistical_parity", plain, **options) == eh.chance(
            "statistical_parity", twice, **options
        )


def test_unequal_weights_raise_the_floor_as_fewer_rows_would():
    """Weights 0 and 2 in turn: half of the rows count, and count as one each."""
    rng = np.random.default_rng(0)
    p, group = rng.integers(0, 2, 4000), np.repeat(np.arange(10), 400)
    weight = np.tile([0.0, 2.0], 2000)
    half = eh.tally(None, p[1::2], sensitive_features=group[1::2])
    whole = eh.tally(None, p, sensitive_features=group, sample_weight=weight)
    options = {"measure": "pq", "random_state": 0}
    found = [eh.chance("statistical_parity", one, **options).floor for one in (half, whole)]
    assert found[0] == pytest.approx(found[1])


def test_one_group_alone_has_no_chance_to_speak_of():
    counts = eh.tally(None, [1, 0], sensitive_features=["a", "a"])
    with pytest.warns(eh.UndefinedWarning):
        assert np.isnan(eh.chance("statistical_parity", counts, replicates=10).p_value)


def test_draws_with_rare_outcomes_have_the_moments_of_multinomial_ones():
    rng = np.random.default_rng(5)
    sizes, truth = np.array([20_000, 9_000]), rng.dirichlet(np.ones(8), 2)
    truth[:, :3] *= 1e-2
    truth /= truth.sum(axis=1, keepdims=True)
    shown = drawn_counts(sizes[None], truth[None], 40_000, rng)[:, 0]
    np.testing.assert_allclose(shown.sum(axis=-1), np.broadcast_to(sizes, (40_000, 2)))
    assert (shown[..., :3] == np.rint(shown[..., :3])).all()  # those that are rare are counts
    for group, (size, share) in enumerate(zip(sizes, truth, strict=True)):
        spread = np.sqrt(size * share * (1 - share))
        mean = shown[:, group].mean(axis=0)
        np.testing.assert_allclose(mean, size * share, atol=5 * spread.max() / 200)
        expected = size * (np.diag(share) - np.outer(share, share))
        scaled = (np.cov(shown[:, group].T) - expected) / np.outer(spread, spread)
        assert np.abs(scaled).max() < 0.04
