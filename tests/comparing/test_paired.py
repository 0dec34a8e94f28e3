"""Differences between models on the same rows: laws, hand arithmetic, and repeated worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

import evenhand as eh
from comparing.models import labeled, numbered, rows
from evenhand._columns import Column
from evenhand._compare.design import Design
from evenhand._compare.labels import Labels
from evenhand._compare.numbers import Numbers
from evenhand._uncertainty.curves import rate_curves
from evenhand._uncertainty.geometry import Cloud
from evenhand._uncertainty.paired import correlated, farthest, reach_of
from evenhand._uncertainty.paths import path_of
from lanes import one_in

MEASURES = ("mpd", "gini", "pq", "shortfall")


def two_models(rng, first, second, size, shared=0.6):
    """Predictions with these rates by group; this share of the rows by the same draw."""
    group = np.repeat(np.arange(len(first)), size).astype(np.uint8)
    one, two = rng.random((2, len(group)))
    two = np.where(rng.random(len(group)) < shared, one, two)
    codes = [(one < first[group]).astype(np.uint8), (two < second[group]).astype(np.uint8)]
    whom = eh.Groups(group, tuple(range(len(first))), ("group",))
    return Labels(None, tuple(Column(each, (0, 1)) for each in codes), Design(whom))


def compared(models, group, y=None, **options):
    options = {"criteria": ["statistical_parity"], "measures": MEASURES, **options}
    return eh.compare(y, models, sensitive_features=group, **options)


def uneven(seed):
    """Three models of 900 rows in three groups: even, a little uneven, and steep."""
    rng = np.random.default_rng(seed)
    group, draw = np.repeat(np.arange(3), 300), rng.random(900)
    again = np.where(rng.random(900) < 0.8, draw, rng.random(900))
    made = {"even": draw < 0.4, "uneven": again < 0.35 + 0.05 * group}
    return {**made, "steep": again < 0.3 + 0.15 * group}, group


def assert_alike(row, other):
    assert row.keys() == other.keys()
    for name, cell in row.items():
        if isinstance(cell, float):
            assert cell == pytest.approx(other[name], rel=1e-9, nan_ok=True)
        else:
            assert cell == other[name]


def ends(counts, measure, confidence=0.95):
    """The interval of one cell, from counts (groups, 4) of both, first, second and neither."""
    size = counts.sum(axis=1).astype(float)
    hits = [(counts[:, 0] + counts[:, k]).astype(float) for k in (1, 2)]
    one, two = (each / size for each in hits)
    together = correlated(
        (counts[:, 0] / size - one * two) / size,
        *(each * (1 - each) / size for each in (one, two)),
        *(1 / size, 1 / size),
    )
    paths = [
        path_of(Cloud(each / size, rate_curves(each, size)), size > 0, eh.MEASURES[measure])
        for each in hits
    ]
    asked = (together, eh.MEASURES[measure], np.array([reach_of(confidence)]))
    return -farthest(paths[1], paths[0], *asked)[0], farthest(*paths, *asked)[0]


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000))
def test_the_other_way_round_a_difference_is_the_opposite(seed):
    y, made, group = labeled(seed, rows=150, models=2)
    options = {"y": y, "criteria": ["equalized_odds", "accuracy_parity"]}
    there = rows(compared(made, group, **options).differences)
    back = rows(compared(dict(reversed(made.items())), group, **options).differences)
    for one, two in zip(there, back, strict=True):
        assert one["difference"] == -two["difference"]
        assert (one["low"], one["high"]) == pytest.approx((-two["high"], -two["low"]), abs=1e-12)
        assert one["p_value"] == pytest.approx(two["p_value"])


@pytest.mark.slow
@pytest.mark.parametrize("made", [labeled, numbered])
def test_models_that_agree_everywhere_do_not_differ(made):
    y, models, group = made(models=1)
    found = eh.compare(
        y, {"a": models["model 0"], "b": models["model 0"]}, sensitive_features=group
    )
    for row in rows(found.differences):
        assert (row["difference"], row["p_value"]) == (0, 1)
        assert row["low"] < 0 < row["high"]  # they may disagree in the next row
        assert not row["beyond_chance"]


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_an_interval_excludes_zero_exactly_where_the_p_value_is_small(confidence):
    told = 0
    for seed in range(2):
        made, group = uneven(seed)
        found = compared(made, group, confidence=confidence, replicates=5)
        for row in rows(found.differences):
            excluded = row["low"] > 0 or row["high"] < 0
            assert excluded == (row["p_value"] < 1 - confidence)
            assert row["low"] <= row["difference"] <= row["high"]
            told += excluded
    assert told


@pytest.mark.slow
def test_the_p_value_is_the_error_at_which_the_interval_ends_at_zero():
    made, group = uneven(1)
    made = {name: made[name] for name in ("even", "steep")}
    for row in rows(compared(made, group).differences):
        held = []
        for error in (0.7 * row["p_value"], 1.4 * row["p_value"]):
            options = {"measures": [row["measure"]], "confidence": 1 - error}
            (again,) = rows(compared(made, group, **options).differences)
            held.append(again["low"] <= 0 <= again["high"])
        assert held == [True, False]


@pytest.mark.slow
def test_neither_the_order_of_rows_nor_the_seed_matters():
    y, made, group = labeled(rows=300, models=3)
    order = np.random.default_rng(0).permutation(300)
    one = eh.compare(y, made, sensitive_features=group, replicates=5)
    two = eh.compare(
        y[order],
        {name: each[order] for name, each in made.items()},
        sensitive_features=group[order],
        replicates=5,
        random_state=7,
    )
    for table in ("values", "differences"):
        for left, right in zip(rows(getattr(one, table)), rows(getattr(two, table)), strict=True):
            assert_alike(left, right)


def test_two_large_groups_have_the_difference_of_differences():
    """MPD of two groups is |p₁ − p₂|; far from 0 the variances of all four rates add up."""
    size, rates = 20_000, np.array([[0.5, 0.2], [0.4, 0.3]])
    both = rates[0] * rates[1]
    shares = np.stack(
        [both, rates[0] - both, rates[1] - both, 1 - rates.sum(axis=0) + both], axis=1
    )
    low, high = ends((size * shares).round(), "mpd")
    error = np.sqrt((rates * (1 - rates)).sum() / size)
    reach = norm.isf(0.05 * 0.9 / 2)
    assert (low, high) == pytest.approx((0.2 - reach * error, 0.2 + reach * error), abs=0.0004)


@pytest.mark.parametrize("shared", [0.5, 0.9])
def test_shared_rows_make_the_interval_shorter(shared):
    """Of two models that differ in a share of rows only, the errors go together."""
    rates = np.array([0.5, 0.2, 0.3])
    both = shared * rates + (1 - shared) * rates**2
    shares = np.stack([both, rates - both, rates - both, 1 - 2 * rates + both], axis=1)
    low, high = ends((4000 * shares).round(), "mpd")
    error = np.sqrt(2 * (1 - shared) * (rates * (1 - rates))[:2].sum() / 4000)
    assert high == pytest.approx(norm.isf(0.0225) * error, rel=0.1)
    assert low == pytest.approx(-high)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_the_limit_is_at_least_the_largest_difference_in_the_ball(measure):
    """By a general solver, over all rates of both models within the reach of independent ones."""
    rng = np.random.default_rng(3)
    counts = np.array([rng.multinomial(400, [0.1, 0.2, 0.1 * k, 0.7 - 0.1 * k]) for k in (1, 2, 3)])
    size, m = counts.sum(axis=1).astype(float), eh.MEASURES[measure]
    hits = [(counts[:, 0] + counts[:, k]).astype(float) for k in (1, 2)]
    clouds = [Cloud(each / size, rate_curves(each, size)) for each in hits]
    reach = reach_of(0.95)

    def gap(moves):
        return float(m(clouds[1].at(moves[3:])) - m(clouds[0].at(moves[:3])))

    best = -min(
        minimize(
            gap,
            reach * start / np.linalg.norm(start),
            constraints=[{"type": "ineq", "fun": lambda moves: reach**2 - moves @ moves}],
            method="SLSQP",
        ).fun
        for start in rng.standard_normal((12, 6))
    )
    paths = [path_of(cloud, size > 0, m) for cloud in clouds]
    found = farthest(*paths, np.zeros(3), m, np.array([reach]))[0]
    seen = float(m(clouds[0].values) - m(clouds[1].values))
    assert found - seen > 0.93 * (best - seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "shared", "first", "second"),
    [
        *((measure, 0.9, "gradient", "flat") for measure in MEASURES),
        *((measure, 0.0, "tied", "gradient") for measure in MEASURES),
    ],
)
def test_the_interval_holds_the_true_difference(measure, shared, first, second):
    """Groups of 10 to 2,000 rows; of 60 worlds, 9 misses are more than 5 % by three deviations."""
    sizes = np.array([2000, 2000, 300, 300, 10, 10])
    rates = {
        "gradient": np.linspace(0.1, 0.3, 6),
        "tied": np.array([0.1, 0.25] * 3),
        "flat": np.full(6, 0.2),
    }
    one, two = rates[first], rates[second]
    both = shared * np.minimum(one, two) + (1 - shared) * one * two
    shares = np.stack([both, one - both, two - both, 1 - one - two + both], axis=1)
    truth = float(eh.MEASURES[measure](one) - eh.MEASURES[measure](two))
    rng, missed = np.random.default_rng(5), 0
    for _ in range(60):
        low, high = ends(rng.multinomial(sizes, shares), measure)
        missed += not low - 1e-9 <= truth <= high + 1e-9
    assert missed <= 8


@pytest.mark.slow
@pytest.mark.parametrize("weighted", one_in(2, [True, False]))
def test_correlations_are_those_of_repeated_samples(weighted):
    """Of selection rates, true positive rates and precision, against draws of whole data sets."""
    rng = np.random.default_rng(4)
    asked = ["statistical_parity", "equal_opportunity", "predictive_parity"]
    draws = {name: [] for name in asked}
    found = {name: [] for name in asked}
    for _ in range(250):
        group = np.repeat([0, 1], [300, 200]).astype(np.uint8)
        y = (rng.random(500) < 0.5).astype(np.uint8)
        one = np.where(rng.random(500) < 0.7, y, rng.random(500) < 0.5).astype(np.uint8)
        two = np.where(rng.random(500) < 0.8, one, rng.random(500) < 0.4).astype(np.uint8)
        weight = rng.choice([1.0, 3.0], 500) if weighted else None
        columns = [Column(each, (0, 1)) for each in (y, one, two)]
        design = Design(eh.Groups(group, (0, 1), ("g",)), weight)
        data = Labels(columns[0], tuple(columns[1:]), design)
        for name in asked:
            criterion = eh.CRITERIA[name]
            sources = data.observed({criterion.statistic.needs})[criterion.statistic.needs]
            draws[name].append([criterion.table(source, 1).values[0] for source in sources])
            moved = data.influences(criterion, sources, 1)(0, 1)
            found[name].append(moved.correlations(2)[0, 0])
    for name in asked:
        values = np.array(draws[name])
        for group in (0, 1):
            expected = np.corrcoef(values[:, 0, group], values[:, 1, group])[0, 1]
            assert np.mean(found[name], axis=0)[group] == pytest.approx(expected, abs=0.12)


def test_correlations_of_means_are_those_of_the_rows():
    rng = np.random.default_rng(1)
    one = rng.normal(size=400)
    two = one + rng.normal(size=400)
    group = np.repeat([0, 1], 200).astype(np.uint8)
    data = Numbers(None, (one, two), Design(eh.Groups(group, (0, 1), ("g",))))
    sources = data.observed({"moments"})["moments"]
    found = data.influences(eh.CRITERIA["weak_parity"], sources, None)(0, 1).correlations(2)
    expected = [np.corrcoef(one[group == g], two[group == g])[0, 1] for g in (0, 1)]
    assert found[0, 0] == pytest.approx(expected, rel=0.01)
    assert data.influences(eh.CRITERIA["strong_parity"], (), None) is None


@pytest.mark.slow
def test_p_values_allow_for_models_and_criteria_but_not_for_measures():
    y, made, group = labeled(rows=500, models=3)
    few = eh.compare(y, made, sensitive_features=group, measures=["mpd"], replicates=5)
    many = eh.compare(y, made, sensitive_features=group, measures=MEASURES, replicates=5)
    for table in ("values", "differences"):
        expected = rows(getattr(few, table))
        for one, two in zip(expected, rows(getattr(many, table), measure="mpd"), strict=True):
            assert_alike(one, two)
    p_values = {(row["criterion"], row["model"]): row["p_value"] for row in rows(few.values)}
    for row in rows(many.values):
        assert row["p_value"] == p_values[row["criterion"], row["model"]]
    smallest = min(rows(few.values), key=lambda row: row["p_value"])
    assert smallest["p_adjusted"] == pytest.approx(min(1, 9 * smallest["p_value"]))


def test_criteria_that_state_one_hypothesis_are_tested_once():
    y, made, group = labeled(rows=500, models=2)
    options = {"measures": ["mpd"], "sensitive_features": group}
    one = eh.compare(y, made, criteria=["accuracy_parity"], **options)
    two = eh.compare(y, made, criteria=["accuracy_parity", "error_parity"], **options)
    adjusted = [row["p_adjusted"] for row in rows(one.values)]
    assert [row["p_adjusted"] for row in rows(two.values)] == adjusted * 2


@pytest.mark.long
def test_noise_is_not_taken_for_a_difference_where_the_plain_bootstrap_does():
    """Fifty groups of 100 rows, both models fair, at rates 0.3 and 0.6: the truth is no difference.

    In 40 worlds, 6 false claims are three deviations above 5 %.
    """
    rng = np.random.default_rng(5)
    shares = np.array([0.18, 0.12, 0.42, 0.28])
    claimed, plainly = dict.fromkeys(MEASURES, 0), 0
    for _ in range(40):
        counts = rng.multinomial(100, np.tile(shares, (50, 1)))
        for measure in MEASURES:
            low, high = ends(counts, measure)
            claimed[measure] += not low <= 0 <= high
        drawn = rng.multinomial(100, counts / 100, size=(200, 50))
        one, two = ((drawn[..., 0] + drawn[..., k]) / 100 for k in (1, 2))
        low, high = np.quantile(eh.gini(one) - eh.gini(two), [0.025, 0.975])
        plainly += not low <= 0 <= high
    assert max(claimed.values()) <= 5
    assert plainly >= 13


def test_resampled_tables_have_the_moments_of_resampled_rows():
    """Means and covariances of the two models' counts, by the formula of the multinomial."""
    rng = np.random.default_rng(1)
    data = two_models(rng, np.array([0.2, 0.5]), np.array([0.4, 0.5]), 30)
    (batch,) = data.resampled({"predictions"}, 20_000, rng)
    one, two = (tally.table("yhat", "group")[:, 1, 0] for tally in batch["predictions"])
    first, second = (
        np.asarray(each.codes == 1) & (data.groups.codes == 0) for each in data.predicted
    )
    n = len(data.groups)
    shares = [first.mean(), second.mean(), (first & second).mean()]
    assert one.mean() == pytest.approx(n * shares[0], rel=0.02)
    covariance = n * (shares[2] - shares[0] * shares[1])
    assert np.cov(one, two)[0, 1] == pytest.approx(covariance, rel=0.08)


@pytest.mark.slow
def test_resampled_numbers_have_the_moments_of_resampled_rows():
    rng = np.random.default_rng(2)
    values, group = rng.random(200), np.repeat([0, 1], 100).astype(np.uint8)
    data = Numbers(None, (values,), Design(eh.Groups(group, (0, 1), ("group",))))
    replicates = data.resampled({"moments"}, 2000, rng)
    found = [
        (one["moments"][0].table("group", of="yhat") / one["moments"][0].table("group"))
        for one in replicates
    ]
    means = np.array(found)
    assert means.mean(axis=0) == pytest.approx([values[:100].mean(), values[100:].mean()], abs=5e-3)
    expected = [values[:100].std() / 10, values[100:].std() / 10]
    assert means.std(axis=0) == pytest.approx(expected, rel=0.08)
