"""Intervals hold the true value: for many groups, none apart, tiny ones, and ties."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import beta

import evenhand as eh
from evenhand._uncertainty.curves import rate_curves
from evenhand._uncertainty.geometry import Cloud, EvennessSearch, evenest, most_uneven, upper_limit
from evenhand._uncertainty.many_groups import many_groups_upper
from evenhand.measures import MEASURES, Measure, resolve
from lanes import one_in

NAMES = ["mpd", "gini", "pq", "shortfall"]


def counted(hits, rows):
    """A tally of groups with so many selected of so many rows."""
    group = np.repeat(np.arange(len(rows)), rows)
    y = np.concatenate([np.arange(n) < k for k, n in zip(hits, rows, strict=True)])
    return eh.tally(None, y, sensitive_features=group)


def drawn(rng, rates, rows):
    return counted(rng.binomial(rows, rates), rows)


def cloud(hits, rows):
    hits, rows = np.asarray(hits, float), np.asarray(rows, float)
    return Cloud(hits / rows, rate_curves(hits, rows))


def test_two_groups_by_mpd_have_about_the_interval_of_a_difference_of_proportions():
    found = eh.interval("statistical_parity", counted([300, 180], [500, 500]), measure="mpd")
    reach = 1.96 * np.sqrt(0.6 * 0.4 / 500 + 0.36 * 0.64 / 500)
    assert found.value == pytest.approx(0.24)
    assert found.low == pytest.approx(0.24 - reach, abs=0.01)
    assert found.high == pytest.approx(0.24 + reach, abs=0.01)


UGLY = {
    "one tiny": ([5000, 5000, 5], [0.01, 0.01, 0.10]),
    "twenty rows": ([5000, 5000, 20], [0.01, 0.01, 0.10]),
    "six and one": ([2000] * 6 + [5], [0.05] * 6 + [0.2]),
    "tied clusters": ([300] * 20, [0.2, 0.4] * 10),
    "all alike": ([100] * 30, [0.3] * 30),
    "one apart": ([100] * 30, [0.6] + [0.3] * 29),
    "gradient": ([100] * 30, np.linspace(0.2, 0.4, 30)),
    "Zipf": (np.maximum(2000 // np.arange(1, 41), 5), [0.05] * 40),
}


HELD = [(design, "mpd") for design in UGLY]
HELD += [(name, other) for name in ("one tiny", "tied clusters", "gradient") for other in NAMES[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("case", one_in(3, HELD))
def test_the_true_value_is_held_where_groups_are_unequal_tied_or_alike(case):
    """40 worlds of each design, so 35 is three deviations below 95 %."""
    design, measure = case
    rng = np.random.default_rng(3)
    rows, rates = map(np.asarray, UGLY[design])
    true, held = float(MEASURES[measure](rates)), 0
    for _ in range(40):
        counts = drawn(rng, rates, rows)
        found = eh.interval("statistical_parity", counts, measure=measure, favorable=True)
        held += found.low - 1e-9 <= true <= found.high + 1e-9
    assert held >= 35


def spread(values):
    return np.asarray(values).std(axis=-1)


def its_slope(values):
    apart = values - values.mean(axis=-1, keepdims=True)
    length = np.maximum(values.std(axis=-1, keepdims=True), 1e-12)
    return apart / (values.shape[-1] * length)


DEVIATION = Measure(spread, convex=True, slope=its_slope)


@pytest.mark.slow
@pytest.mark.parametrize("measure", [*NAMES, "PQ(0.5, 3)", DEVIATION], ids=str)
@given(data=st.data())
def test_no_plausible_vector_is_outside_a_guaranteed_interval(measure, data):
    groups = data.draw(st.integers(2, 16))
    low = np.array(data.draw(st.lists(st.floats(0, 0.9), min_size=groups, max_size=groups)))
    width = np.array(data.draw(st.lists(st.floats(0, 0.5), min_size=groups, max_size=groups)))
    high = np.minimum(low + width, 1.0)
    part = np.array(data.draw(st.lists(st.floats(0, 1), min_size=groups, max_size=groups)))
    function = resolve(measure)
    inside = float(function(low + part * (high - low)))
    assert evenest(low, high, function) <= inside + 1e-6
    assert most_uneven(low, high, function) >= inside - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["gini", "pq", DEVIATION], ids=str)
def test_the_extremes_of_few_groups_are_those_of_full_enumeration(measure):
    low, high = np.array([0.1, 0.2, 0.05, 0.3]), np.array([0.2, 0.5, 0.4, 0.35])
    function = resolve(measure)
    corners = [function(np.where(at, high, low)) for at in product([False, True], repeat=4)]
    assert most_uneven(low, high, function) == pytest.approx(max(corners))
    grid = [np.linspace(a, b, 12) for a, b in zip(low, high, strict=True)]
    inside = min(function(np.array(values)) for values in product(*grid))
    assert evenest(low, high, function) <= inside + 1e-9
    assert evenest(low, high, function) == pytest.approx(inside, abs=0.01)


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("measure", ["gini", "pq", "mpd", "shortfall"])
def test_the_nearest_even_groups_are_those_of_a_general_solver(measure):
    seen, function = cloud([40, 90, 110, 30], [200, 300, 300, 40]), MEASURES[measure]
    level = 0.4 * float(function(seen.values))
    square = EvennessSearch(seen, function, 0.05).tail(level)[1]

    def cost(values):
        return float((seen.distance(values) ** 2).sum())

    pooled = seen.pooled
    start = np.clip(pooled + 0.3 * (seen.values - pooled), 0.01, 0.99)
    found = minimize(
        cost,
        start,
        method="SLSQP",
        bounds=[(0.001, 0.999)] * 4,
        constraints={"type": "ineq", "fun": lambda x: level - float(function(x))},
        options={"maxiter": 500, "ftol": 1e-10},
    )
    allowed = [
        s for s in np.linspace(0, 1, 200) if function(pooled + s * (found.x - pooled)) <= level
    ]
    assert square <= 1.01 * cost(pooled + max(allowed) * (found.x - pooled))
    if function(found.x) <= level + 1e-6:
        assert square == pytest.approx(found.fun, rel=0.05)


@pytest.mark.parametrize("measure", ["gini", "pq", "mpd", "shortfall"])
def test_nothing_within_reach_is_more_uneven_than_the_upper_limit(measure):
    seen, function = cloud([4, 90, 110, 30], [20, 300, 300, 40]), MEASURES[measure]
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((20_000, 4))
    directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
    most = float(np.max(function(seen.at(1.96 * directions))))
    limit = upper_limit(seen, function, 1.96)
    assert most <= limit + 1e-9
    assert limit == pytest.approx(most, rel=0.05)


def test_curves_of_rates_lie_between_those_of_jeffreys_and_of_clopper_and_pearson():
    seen = cloud([3], [40])
    upper = float(seen.at(1.96)[0])
    jeffreys, exact = beta.ppf(0.975, 3.5, 37.5), beta.ppf(0.975, 4, 37)
    assert jeffreys < upper < exact
    assert float(seen.distance(np.array([upper]))[0]) == pytest.approx(1.96, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize(
    "criterion", ["equalized_odds", "equal_opportunity", "predictive_parity", "accuracy_parity"]
)
def test_every_criterion_of_counts_has_an_interval_and_the_same_counts_the_same(criterion, measure):
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 2, 2000), rng.integers(0, 4, 2000)
    p = np.where(rng.random(2000) < 0.7 + 0.1 * (group == 1), y, 1 - y)
    counts = eh.tally(y, p, sensitive_features=group)
    found = eh.interval(criterion, counts, measure=measure)
    sure = eh.interval(criterion, counts, measure=measure, method="guaranteed")
    assert 0 <= sure.low <= found.low <= found.value <= found.high <= sure.high <= 1
    assert found.high > found.low
    again = eh.interval(criterion, y, p, sensitive_features=group, measure=measure)
    assert again == found


@pytest.mark.slow
@pytest.mark.parametrize("g", ["f1", "auroc", "cross_entropy", "average_odds"])
@pytest.mark.parametrize("measure", ["mpd", "gini", "pq"])
def test_performance_of_any_kind_has_an_interval(g, measure):
    rng = np.random.default_rng(1)
    y, group = rng.integers(0, 2, 900), rng.choice([*"abc"], 900)
    score = np.clip(0.3 * y + 0.6 * rng.random(900), 0.01, 0.99)
    columns = {"sensitive_features": group, "y_score": score, "g": g, "measure": measure}
    found = eh.interval("performance_parity", y, score > 0.45, **columns)
    assert 0 <= found.low <= found.value <= found.high < 1


def test_f1_and_the_ratio_of_errors_have_exact_limits_of_a_share():
    y = np.repeat([1, 1, 0, 0], [30, 10, 20, 40])
    p = np.repeat([1, 0, 1, 0], [30, 10, 20, 40])
    group = np.repeat(["a", "b", "a", "b"], 25)
    found = eh.interval(
        "treatment_equality", y, p, sensitive_features=group, measure="mpd", method="guaranteed"
    )
    seen = eh.evaluate("treatment_equality", y, p, sensitive_features=group, measure="mpd")
    assert found.value == pytest.approx(seen)
    assert found.low <= found.value <= found.high


def test_many_classes_have_an_interval():
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 4, 3000), rng.integers(0, 3, 3000)
    p = np.where((rng.random(3000) < 0.5) & (group == 0), 0, y)
    found = eh.interval("equalized_odds", y, p, sensitive_features=group, measure="mpd")
    assert found.low > 0.38
    assert found.high < 0.65


@pytest.mark.slow
def test_more_rows_make_it_shorter():
    rates = np.linspace(0.2, 0.5, 6)
    widths = []
    for rows in (50, 500, 5000):
        counts = counted(np.rint(rates * rows).astype(int), [rows] * 6)
        found = eh.interval("statistical_parity", counts)
        widths.append(found.high - found.low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


@pytest.mark.parametrize("measure", ["mpd", "gini", "pq"])
def test_groups_that_look_equal_may_still_differ(measure):
    """As much as a two-sided test of two proportions could not exclude."""
    found = eh.interval("statistical_parity", counted([500, 500], [1000, 1000]), measure=measure)
    assert found.value == found.low == 0
    reach = -ndtri(0.025) * np.sqrt(2 * 0.25 / 1000)
    least = float(MEASURES[measure](np.array([0.5 - reach / 2, 0.5 + reach / 2])))
    assert found.high >= 0.9 * least


def test_an_undefined_value_has_no_interval():
    counts = eh.tally(None, [1, 0], sensitive_features=["a", "a"])
    with pytest.warns(eh.UndefinedWarning):
        assert np.isnan(eh.interval("statistical_parity", counts).low)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 95}, "between 0 and 1"),
        ({"method": "guarenteed"}, "Did you mean 'guaranteed'"),
        ({"method": "guaranteed", "measure": spread}, r"convex set, and 'spread'"),
    ],
)
def test_what_cannot_be_asked_of_an_interval_is_refused(options, message):
    with pytest.raises(eh.EvenhandError, match=message):
        eh.interval("statistical_parity", counted([1, 2], [4, 4]), **options)


def test_a_measure_of_ones_own_has_an_interval():
    found = eh.interval("statistical_parity", counted([30, 60], [100, 100]), measure=spread)
    assert found.value == pytest.approx(0.15)
    assert 0 < found.low < found.value < found.high


def test_the_noise_of_many_groups_is_taken_off_their_upper_limit():
    rng = np.random.default_rng(4)
    rows, rates = np.full(80, 500), np.full(80, 0.05)
    hits = rng.binomial(rows, rates)
    plain = upper_limit(cloud(hits, rows), MEASURES["pq"], 1.96)
    assert (
        many_groups_upper(hits.astype(float), rows.astype(float), MEASURES["pq"], 1.96) < plain / 2
    )


CROWDS = {
    "alike": ([500] * 40, [0.05] * 40),
    "Zipf, one apart": (np.maximum(4000 // np.arange(1, 31), 5), [0.05] * 29 + [0.15]),
    "gradient": ([200] * 25, np.linspace(0.1, 0.3, 25)),
    "small, tied": ([30] * 60, [0.2, 0.4] * 30),
}


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["gini", "pq"])
@pytest.mark.parametrize("design", CROWDS)
def test_the_limit_of_many_groups_is_seldom_below_the_truth(design, measure):
    rows, rates = (np.asarray(part) for part in CROWDS[design])
    truth, rng = MEASURES[measure](rates.astype(float)), np.random.default_rng(8)
    worlds = rng.binomial(rows, rates, (300, len(rows))).astype(float)
    sizes = rows.astype(float)
    limits = [many_groups_upper(hits, sizes, MEASURES[measure], 1.96) for hits in worlds]
    assert np.mean(np.array(limits) < truth - 1e-12) <= 0.05


def test_an_outcome_that_a_weighted_group_has_not_seen_weighs_what_it_weighs_elsewhere():
    group = np.repeat([*"ab"], [400, 8])
    y = np.append(np.arange(400) % 4 == 0, np.zeros(8, bool)).astype(int)
    heavy = np.where(y == 1, 10.0, 1.0)
    options = {"sensitive_features": group, "measure": "mpd", "favorable": 1}
    found = eh.interval("selection_rate_ratio", None, y, sample_weight=heavy, **options)
    share = 1 - 0.025 ** (1 / 8)  # the exact limit of no hit in eight rows
    assert found.high > 10 * share / (10 * share + 1 - share) - found.value
    assert found.low < 0.4  # a rate of 0.769 against one that may be 0.85


def test_ratios_of_errors_without_an_upper_end_have_an_interval_by_every_measure():
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(4), [2000, 900, 40, 6])
    y, p = rng.integers(0, 2, len(group)), (rng.random(len(group)) < 0.2).astype(int)
    options = {"sensitive_features": group, "favorable": 1}
    for measure in NAMES:
        found = eh.interval("treatment_equality", y, p, measure=measure, **options)
        assert 0 <= found.low <= found.value <= found.high, measure


@pytest.mark.parametrize("measure", ["mpd", "gini", "pq"])
def test_a_ratio_of_errors_that_weights_let_grow_without_end_has_an_interval(measure):
    y = np.repeat([0, 1, 1, 0], [2, 2, 10, 10])
    p = np.repeat([1, 0, 1, 0], [2, 2, 10, 10])
    light_alarms = np.repeat([1e-8, 1e8, 1.0], [2, 2, 20])
    found = eh.interval(
        "treatment_equality",
        np.tile(y, 2),
        np.tile(p, 2),
        sensitive_features=np.repeat([*"ab"], len(y)),
        sample_weight=np.append(np.ones(len(y)), light_alarms),
        measure=measure,
        favorable=1,
    )
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize("criterion", ["weak_parity", "performance_parity(mse)"])
def test_groups_of_single_rows_do_not_say_that_they_differ(criterion):
    rng = np.random.default_rng(4)
    y, predicted = rng.normal(size=(2, 20))
    for groups in (20, 18):
        given = {"sensitive_features": np.arange(20) % groups, "task": "regression"}
        found = eh.interval(criterion, y, predicted, measure="mpd", **given)
        assert found.low == 0 < found.value < found.high


@pytest.mark.parametrize(("groups", "rows", "draw"), [(30, 3, "normal"), (30, 8, "lognormal")])
def test_the_explained_variance_of_few_rows_does_not_say_that_groups_differ(groups, rows, draw):
    rng, found = np.random.default_rng(8), []
    for _ in range(20):
        predicted, noise = getattr(rng, draw)(size=(2, groups * rows))
        given = {"sensitive_features": np.arange(groups * rows) % groups}
        found.append(eh.interval("performance_parity(r2)", predicted + noise, predicted, **given))
    assert sum(one.low > 0 for one in found) <= 2
    predicted, group = rng.normal(size=400), np.arange(400) % 2
    noisy = predicted + np.where(group == 1, 3.0, 0.3) * rng.normal(size=400)
    told = eh.interval("performance_parity(r2)", noisy, predicted, sensitive_features=group)
    assert told.low > 0.5
