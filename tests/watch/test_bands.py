"""Intervals at all looks at once."""

import numpy as np
import pytest
from scipy.stats import binom

import evenhand as eh
from evenhand.measures import MEASURES as KNOWN
from evenhand.watch.bands import band_of, log_likelihood, log_mixture, rate_limits
from evenhand.watch.boundary import SCALES, SHARES, squared_bound
from evenhand.watch.distances import Distances
from evenhand.watch.evalues import group_weights
from evenhand.watch.rates import Rates
from lanes import one_in

gini, mpd, pq, shortfall = (KNOWN[name] for name in ("gini", "mpd", "pq", "shortfall"))

MEASURES = (mpd, gini, pq, shortfall)


def rates(hits, sizes):
    hits, sizes = (np.atleast_2d(np.asarray(part, dtype=float)) for part in (hits, sizes))
    groups, cells = tuple(range(hits.shape[1])), tuple(range(hits.shape[0]))
    return Rates(hits, sizes, cells, groups, np.zeros(len(cells), np.intp))


def band(hits, sizes, measure, method="calibrated", error=0.05):
    found = rates(hits, sizes)
    weights = group_weights(np.zeros(len(found.groups), dtype=int))
    return band_of(found, measure, error, method, weights)


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("rows", [1, 7, 40])
def test_the_mixture_of_likelihood_ratios_is_one_on_average(rate, rows):
    hits = np.arange(rows + 1.0)
    sizes = np.full(hits.shape, float(rows))
    times = np.exp(
        log_mixture(hits, sizes) - log_likelihood(hits, sizes, np.full(hits.shape, rate))
    )
    assert (binom.pmf(hits, rows, rate) * times).sum() == pytest.approx(1.0)


def test_limits_of_a_rate_hold_the_rate_observed_and_narrow():
    low, high = rate_limits(np.array([0.0, 3.0, 300.0]), np.array([10.0, 10.0, 1000.0]), 0.05)
    assert low[0] == 0.0 < high[0] < 1.0
    assert (low[1:] < 0.3).all()
    assert (high[1:] > 0.3).all()
    assert high[2] - low[2] < high[1] - low[1]


def test_no_rows_say_nothing_of_a_rate():
    low, high = rate_limits(np.zeros(1), np.zeros(1), 0.05)
    assert (low[0], high[0]) == (0.0, 1.0)


@pytest.mark.parametrize("method", ["calibrated", "guaranteed"])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_band_holds_the_value(measure, method):
    found = band([30, 45, 52], [100, 100, 100], measure, method)
    assert 0 <= found.low <= found.value <= found.high
    assert found.value == pytest.approx(measure(np.array([0.3, 0.45, 0.52])))


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 10])
@pytest.mark.parametrize("measure", [mpd, gini, pq])
def test_a_band_is_wider_than_a_single_looks_interval_but_not_by_much(measure, groups):
    import pandas as pd

    rng = np.random.default_rng(groups)
    sizes = np.full(groups, 2000)
    hits = rng.binomial(sizes, np.linspace(0.2, 0.4, groups))
    lines = pd.DataFrame(
        {
            "group": np.repeat(np.arange(groups), 2),
            "decision": np.tile([0, 1], groups),
            "n": np.stack([sizes - hits, hits], axis=1).ravel(),
        }
    )
    counts = eh.tally(data=lines, rows="n", y_pred="decision", sensitive_features="group")
    once = eh.interval("statistical_parity", counts, measure=measure, favorable=1)
    always = band(hits, sizes, measure)
    ratio = (always.high - always.low) / (once.high - once.low)
    assert 1 < ratio <= 2.2


def test_a_guaranteed_band_is_wider_yet():
    calibrated, sure = (
        band([30, 45], [100, 100], mpd, how) for how in ("calibrated", "guaranteed")
    )
    assert sure.high - sure.low > calibrated.high - calibrated.low


@pytest.mark.slow
@pytest.mark.parametrize("rows", [100, 1000, 10_000])
def test_a_band_of_pq_of_two_groups_alike_is_not_much_wider_than_a_single_looks(rows):
    import pandas as pd

    rng, ratios = np.random.default_rng(1), []
    for hits in rng.binomial(rows, 0.3, size=(12, 2)):
        lines = pd.DataFrame(
            {
                "group": [*"aabb"],
                "decision": [0, 1] * 2,
                "n": np.stack([rows - hits, hits], axis=1).ravel(),
            }
        )
        counts = eh.tally(data=lines, rows="n", y_pred="decision", sensitive_features="group")
        once = eh.interval("statistical_parity", counts, measure=pq, favorable=1)
        always = band(hits, np.full(2, rows), pq)
        ratios.append((always.high - always.low) / (once.high - once.low))
    assert np.mean(ratios) <= 2.2


def test_of_several_cells_the_worst_counts():
    both = band([[30, 45], [10, 90]], [[100, 100], [100, 100]], mpd)
    assert both.value == pytest.approx(0.8)


def test_groups_without_rows_are_left_out():
    two = band([30, 45], [100, 100], mpd)
    three = band([30, 45, 0], [100, 100, 0], mpd)
    assert (two.low, two.value, two.high) == (three.low, three.value, three.high)
    assert np.isnan(band([30, 0], [100, 0], mpd).high)


@pytest.mark.parametrize("error", [0.05, 0.001])
def test_a_brownian_motion_at_the_bound_makes_the_mixture_as_large_as_the_error_is_small(error):
    rows = np.array([3.0, 100.0, 5000.0])
    square = squared_bound(rows, error)[:, None]
    root = 1 / np.sqrt(1 + rows[:, None] / SCALES)
    grown = root * np.exp(square / 2 * rows[:, None] / (rows[:, None] + SCALES))
    assert (grown * SHARES).sum(axis=1) == pytest.approx(1 / error)


@pytest.mark.slow
def test_random_walks_hardly_ever_pass_the_bound():
    rng, steps = np.random.default_rng(0), np.unique(np.geomspace(1, 20_000, 60).astype(int))
    walks = np.cumsum(
        rng.standard_normal((2000, len(steps))) * np.sqrt(np.diff(steps, prepend=0)), axis=1
    )
    assert (walks**2 / steps > squared_bound(steps.astype(float), 0.05)).any(axis=1).mean() < 0.05


@pytest.mark.parametrize(
    ("hits", "sizes"), [(0, 12), (0, 1000), (1, 40), (5, 20), (40, 1000), (10_000, 20_000)]
)
def test_distances_are_normal_quantiles_of_a_beta_distribution(hits, sizes):
    from scipy.special import betainc, ndtri

    z = np.array([-4.5, -3.0, -1.0, -0.2, 0.2, 1.0, 3.0, 4.5])[:, None]
    z = z if hits else z[z > 0][:, None]
    shift = 0.25 * np.sign(z)
    groups = Distances(np.array([float(hits)]), np.array([float(sizes)]), np.ones(1))
    below = betainc(hits + 0.5 + shift, sizes - hits + 0.5 - shift, groups.at(z))
    assert ndtri(below) == pytest.approx(z, abs=0.06)


def test_distances_of_no_hits_end_at_zero_and_of_no_misses_at_one():
    groups = Distances(np.array([0.0, 9.0]), np.array([9.0, 9.0]), np.ones(2))
    low, high = groups.at(np.array([[-2.0, -2.0], [2.0, 2.0]]))
    assert (low[0], high[1]) == (0.0, 1.0)
    assert 0 < high[0] < 1
    assert 0 < low[1] < 1


@pytest.mark.parametrize("measure", MEASURES)
def test_many_groups_may_be_alike_or_have_no_hits_at_all(measure):
    alike = band(np.full(25, 30), np.full(25, 100), measure)
    assert (alike.low, alike.value) == (0.0, pytest.approx(0.0, abs=1e-12))
    assert alike.high > 0
    none = band(np.zeros(25), np.full(25, 100), measure)
    assert none.low == 0.0 < none.high


@pytest.mark.parametrize("rows", [100, 1000, 10_000])
@pytest.mark.parametrize("times", [1, 20])
def test_pq_of_many_groups_alike_has_the_noise_taken_off(rows, times):
    rng = np.random.default_rng(rows)
    shares = np.geomspace(1, times, 50)
    sizes = np.rint(50 * rows * shares / shares.sum())
    hits = rng.binomial(sizes.astype(int), 0.3)
    found = band(hits, sizes, pq)
    assert found.low == 0.0
    assert found.high < 2.5 * found.value


@pytest.mark.slow
@pytest.mark.parametrize("measure", one_in(2, [mpd, gini, pq]))
def test_bands_hold_the_truth_where_groups_have_unequal_sizes_that_change(measure):
    rng, streams, missed = np.random.default_rng(1), 25, 0
    true = np.array([0.05, 0.08, 0.04, 0.06])
    for _ in range(streams):
        hits, sizes, inside = np.zeros(4), np.zeros(4), True
        for look, rows in enumerate((40, 100, 400, 1600, 6400)):
            times = np.array([1.0, 3.0, 10.0, 30.0])[:: 1 if look < 3 else -1]
            more = rng.multinomial(rows, times / times.sum())
            hits, sizes = hits + rng.binomial(more, true), sizes + more
            seen = sizes > 0
            found = band(hits[seen], sizes[seen], measure)
            truth = float(measure(true[seen]))
            inside &= found.low - 1e-9 <= truth <= found.high + 1e-9
        missed += not inside
    assert missed <= 0.05 * streams + 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("true", "measure"),
    [
        ((0.3, 0.3), mpd),
        ((0.3, 0.4), gini),
        pytest.param((0.02, 0.05, 0.03), pq, marks=pytest.mark.long),
    ],
)
def test_bands_hold_the_truth_at_all_looks_at_once(true, measure):
    rng, streams, missed = np.random.default_rng(1), 40, 0
    truth = float(measure(np.array(true)))
    for _ in range(streams):
        hits, sizes, inside = np.zeros(len(true)), np.zeros(len(true)), True
        for rows in (20, 80, 200, 800, 3200):
            hits += rng.binomial(rows, true)
            sizes += rows
            found = band(hits, sizes, measure)
            inside &= found.low - 1e-9 <= truth <= found.high + 1e-9
        missed += not inside
    assert missed <= 0.05 * streams + 2
